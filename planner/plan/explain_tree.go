package plan

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Property is one entry of an explained plan: a key and a string, bool, int64,
// Millis, Cost, a []string, an Object or an []Object.
type Property struct {
	Key   string
	Value any
}

// Object is a list of properties in the order in which they are printed.
type Object []Property

// Millis and Cost are numbers with the digits that EXPLAIN gives them.
type (
	Millis float64
	Cost   float64
)

func (o *Object) add(key string, v any) { *o = append(*o, Property{key, v}) }

// text adds a property unless it is empty.
func (o *Object) text(key, v string) {
	if v != "" {
		o.add(key, v)
	}
}

// ExplainTree describes a plan for the formats that programs read, with
// PostgreSQL's names of nodes and properties where they mean the same: a
// Project is part of the node below it, and a join by lookups is a nested loop
// over an index scan. "Steps" says what the five steps did.
func ExplainTree(q *Query, o ExplainOptions, actual map[int]NodeActual) Object {
	x := &treeExplainer{speller: speller{o.Spell}, o: o, actual: actual}
	root := x.node(q.Root, "")
	var ctes []Object
	for _, c := range q.CTEs {
		p := x.node(c.Plan, "InitPlan")
		if c.Step != nil {
			p = x.recursion(c.Plan, c.Step)
		}
		ctes = append(ctes, insertAfter(p, "Parent Relationship", Property{"Subplan Name", "CTE " + c.Name}))
	}
	if ctes != nil {
		root = withPlans(root, ctes)
	}
	out := Object{{"Plan", root}}
	var steps []Object
	texts := stepTexts(q)
	for _, name := range stepNames {
		if len(texts[name]) > 0 {
			steps = append(steps, Object{{"Step", name}, {"Done", texts[name]}})
		}
	}
	if steps != nil {
		out.add("Steps", steps)
	}
	return out
}

// recursion describes a recursive query: its first rows, and its step, which is done again
// and again.
func (x *treeExplainer) recursion(first, step Node) Object {
	o := Object{{"Node Type", "Recursive Union"}, {"Parent Relationship", "InitPlan"},
		{"Parallel Aware", false}, {"Async Capable", false}}
	a, b := first.Base(), step.Base()
	if x.o.Costs {
		o.add("Startup Cost", Cost(0))
		o.add("Total Cost", Cost(a.Cost+b.Cost))
		o.add("Plan Rows", int64(math.Max(1, math.Round(a.Rows+b.Rows))))
		o.add("Plan Width", width(a.Cols))
	}
	if x.o.Analyze {
		did, then := x.actual[a.ID], x.actual[b.ID]
		if x.o.Timing {
			o.add("Actual Startup Time", Millis(0))
			o.add("Actual Total Time", Millis(float64((did.Time+then.Time).Microseconds())/1000))
		}
		o.add("Actual Rows", did.Rows+then.Rows)
		o.add("Actual Loops", min(1, did.Loops))
	}
	o.add("Plans", []Object{x.node(first, "Outer"), x.node(step, "Inner")})
	return o
}

// insertAfter puts a property behind the one of a key.
func insertAfter(o Object, key string, p Property) Object {
	for i := range o {
		if o[i].Key == key {
			return append(o[:i+1:i+1], append(Object{p}, o[i+1:]...)...)
		}
	}
	return append(o, p)
}

// withPlans puts further plans before the inputs of a node.
func withPlans(o Object, list []Object) Object {
	for i := range o {
		if o[i].Key == "Plans" {
			o[i].Value = append(list, o[i].Value.([]Object)...)
			return o
		}
	}
	return append(o, Property{"Plans", list})
}

type treeExplainer struct {
	speller
	o      ExplainOptions
	actual map[int]NodeActual
}

// node describes a node and what is below it; role is its Parent Relationship.
func (x *treeExplainer) node(n Node, role string) Object {
	shown := n
	for {
		p, ok := shown.(*Project)
		if !ok {
			break
		}
		shown = p.Input
	}
	var o Object
	nodeType(shown, &o)
	o.text("Parent Relationship", role)
	o.add("Parallel Aware", false)
	o.add("Async Capable", false)
	x.nodeProperties(shown, &o, x.o.Verbose)
	b := n.Base()
	if x.o.Costs {
		o.add("Startup Cost", Cost(0))
		o.add("Total Cost", Cost(b.Cost))
		o.add("Plan Rows", int64(math.Max(1, math.Round(b.Rows))))
		o.add("Plan Width", width(b.Cols))
	}
	x.actuals(n, shown, &o)
	if x.o.Verbose && len(b.Cols) > 0 {
		o.add("Output", x.outputs(n))
	}
	if notes := shown.Base().Notes; len(notes) > 0 {
		o.add("Notes", notes)
	}
	var plans []Object
	for m := n; ; m = m.(*Project).Input {
		plans = append(plans, x.subPlans(m)...)
		if m == shown {
			break
		}
	}
	for i, c := range shown.Children() {
		plans = append(plans, x.node(c, relationship(shown, i)))
	}
	if l, ok := shown.(*LookupJoin); ok {
		plans = append(plans, x.lookup(l))
	}
	if plans != nil {
		o.add("Plans", plans)
	}
	return o
}

// actuals adds what the node did.
func (x *treeExplainer) actuals(n, shown Node, o *Object) {
	if !x.o.Analyze {
		return
	}
	a := x.actual[n.Base().ID]
	if a.Loops == 0 {
		a.Time = 0
	}
	if x.o.Timing {
		per := Millis(float64(a.Time.Microseconds()) / 1000 / math.Max(1, float64(a.Loops)))
		o.add("Actual Startup Time", Millis(0))
		o.add("Actual Total Time", per)
	}
	o.add("Actual Rows", a.Rows/max(1, a.Loops))
	o.add("Actual Loops", a.Loops)
	s := x.actual[shown.Base().ID]
	if s.Spilled > 0 {
		o.add("Spilled Bytes", s.Spilled)
	}
	o.text("Narrowed by the Join", s.Narrowed)
	if s.Turned > 0 {
		o.add("Turned to a Hash Table", s.Turned)
	}
	if len(s.Regions) > 0 {
		o.add("Regions Visited", s.Regions)
	}
	if x.o.KV && len(s.Files) > 0 {
		var files []Object
		for _, f := range s.Files {
			files = append(files, Object{{"File", f.File}, {"Gets", f.Gets}, {"Scans", f.Scans}, {"Keys", f.Keys},
				{"Bytes Read", f.BytesRead}, {"Bytes Written", f.BytesWritten}})
		}
		o.add("KV", files)
	}
}

func (x *treeExplainer) subPlans(n Node) []Object {
	var out []Object
	MapExprs(n, func(e Expr) Expr {
		Visit(e, func(y Expr) bool {
			if s, ok := y.(*SubPlan); ok {
				out = append(out, insertAfter(x.node(s.Plan, "SubPlan"), "Parent Relationship", Property{"Subplan Name", subPlanName(s)}))
			}
			return true
		})
		return e
	})
	return out
}

// lookup describes the inner side of a join by lookups.
func (x *treeExplainer) lookup(l *LookupJoin) Object {
	var o Object
	typ := "Index Scan"
	if l.IndexOnly {
		typ = "Index Only Scan"
	}
	o.add("Node Type", typ)
	o.add("Parent Relationship", "Inner")
	o.add("Parallel Aware", false)
	o.add("Async Capable", false)
	o.add("Scan Direction", "Forward")
	o.text("Index Name", indexName(l.Table, l.Index))
	o.add("Relation Name", l.Table.Name)
	if x.o.Verbose {
		o.add("Schema", l.Table.Schema)
	}
	o.add("Alias", cmp.Or(l.Alias, l.Table.Name))
	o.text("Index Cond", x.lookupText(l))
	x.condText(&o, "Filter", l.Filter)
	x.lookupCosts(l, &o)
	return o
}

// lookupCosts adds what one lookup costs and did, which is what the join adds to its
// input, by the input's rows.
func (x *treeExplainer) lookupCosts(l *LookupJoin, o *Object) {
	join, outer := l.Base(), l.Children()[0].Base()
	if x.o.Costs {
		loops := math.Max(1, outer.Rows)
		o.add("Startup Cost", Cost(0))
		o.add("Total Cost", Cost(math.Max(0, join.Cost-outer.Cost)/loops))
		o.add("Plan Rows", int64(math.Max(1, math.Round(join.Rows/loops))))
		o.add("Plan Width", max(0, width(join.Cols)-width(outer.Cols)))
	}
	if !x.o.Analyze {
		return
	}
	all, in := x.actual[join.ID], x.actual[outer.ID]
	loops := max(1, in.Rows)
	if x.o.Timing {
		o.add("Actual Startup Time", Millis(0))
		o.add("Actual Total Time", Millis(float64(max(0, all.Time-in.Time).Microseconds())/1000/float64(loops)))
	}
	o.add("Actual Rows", all.Rows/loops)
	o.add("Actual Loops", in.Rows)
}

func relationship(n Node, i int) string {
	switch n.(type) {
	case *Append, *SetOp:
		return "Member"
	}
	if i == 0 {
		return "Outer"
	}
	return "Inner"
}

// width estimates the bytes of a row as PostgreSQL does without statistics.
func width(cols []OutCol) int64 {
	var w int64
	for _, c := range cols {
		if in := types.Lookup(c.T.OID); in != nil && in.Len > 0 {
			w += int64(in.Len)
		} else {
			w += 32
		}
	}
	return w
}

func (w speller) condText(o *Object, key string, e Expr) {
	if e != nil {
		o.text(key, w.text(e))
	}
}

// nodeType adds the node's type and the choices that belong to it.
func nodeType(n Node, o *Object) {
	t := func(name string, more ...string) {
		o.add("Node Type", name)
		for i := 0; i+1 < len(more); i += 2 {
			o.add(more[i], more[i+1])
		}
	}
	switch n := n.(type) {
	case *Scan:
		switch {
		case n.IndexOnly:
			t("Index Only Scan")
		case n.Access == FullScan && n.Index == nil:
			t("Seq Scan")
		case n.Access == ByCtid && n.Ranges[0].Lo == nil && n.Ranges[0].Hi == nil:
			t("Tid Scan")
		case n.Access == ByCtid:
			t("Tid Range Scan")
		default:
			t("Index Scan")
		}
	case *IndexUnion:
		t("Bitmap Heap Scan")
	case *VirtualScan, *SequenceScan:
		t("Seq Scan")
	case *ClusterScan:
		t("Custom Scan", "Custom Plan Provider", "Cluster Scan")
	case *Values:
		if len(n.Rows) == 1 {
			t("Result")
		} else {
			t("Values Scan")
		}
	case *FuncScan:
		t("Function Scan")
	case *Filter:
		t("Result")
	case *Kept:
		t("Materialize")
	case *HashJoin:
		t("Hash Join")
	case *MergeJoin:
		t("Merge Join")
	case *LookupJoin, *LoopJoin, *Apply:
		t("Nested Loop")
	case *Group:
		how := "Hashed"
		switch {
		case len(n.Keys) == 0:
			how = "Plain"
		case n.Ordered:
			how = "Sorted"
		case n.Sets != nil:
			how = "Mixed"
		}
		t("Aggregate", "Strategy", how, "Partial Mode", "Simple")
	case *Distinct:
		if n.Ordered {
			t("Unique")
		} else {
			t("Aggregate", "Strategy", "Hashed", "Partial Mode", "Simple")
		}
	case *Window:
		t("WindowAgg")
	case *SetOp:
		t("SetOp", "Strategy", "Hashed", "Command", strings.TrimSpace(n.Op+map[bool]string{true: " ALL"}[n.All]))
	case *CTEScan:
		t("CTE Scan")
	case *WorkScan:
		t("WorkTable Scan")
	case *Insert:
		t("ModifyTable", "Operation", "Insert")
	case *Update:
		t("ModifyTable", "Operation", "Update")
	case *Delete:
		t("ModifyTable", "Operation", "Delete")
	case *Merge:
		t("ModifyTable", "Operation", "Merge")
	case *Sort:
		if n.Presorted > 0 {
			t("Incremental Sort")
		} else {
			t("Sort")
		}
	case *Append:
		if n.Keys != nil {
			t("Merge Append")
		} else {
			t("Append")
		}
	default: // Limit, ProjectSet, …
		t(strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan."))
	}
}

// nodeProperties adds what PostgreSQL tells of a node of the type.
func (w speller) nodeProperties(n Node, o *Object, verbose bool) {
	w = w.inputsOf(n)
	relation := func(schema, name, alias string) {
		o.add("Relation Name", name)
		if verbose {
			o.text("Schema", schema)
		}
		o.add("Alias", cmp.Or(alias, name))
	}
	join := func(k JoinKind) {
		s := k.String()
		o.add("Join Type", strings.ToUpper(s[:1])+s[1:])
	}
	pairs := func(l, r []Expr, right Node) string {
		var eqs []string
		for i := range l {
			eqs = append(eqs, "("+w.text(l[i])+" = "+w.among(right).text(r[i])+")")
		}
		return strings.Join(eqs, " AND ")
	}
	list := func(key string, l []Expr) {
		var out []string
		for _, e := range l {
			out = append(out, w.text(e))
		}
		if out != nil {
			o.add(key, out)
		}
	}
	switch n := n.(type) {
	case *Scan:
		if n.Access != FullScan && n.Access != ByCtid || n.Index != nil {
			dir := "Forward"
			if n.Reverse {
				dir = "Backward"
			}
			o.add("Scan Direction", dir)
			o.text("Index Name", indexName(n.Table, n.Index))
		}
		relation(n.Table.Schema, n.Table.Name, n.Alias)
		var keys []string
		for i := range n.Ranges {
			keys = append(keys, w.rangeText(n, &n.Ranges[i]))
		}
		cond := "Index Cond"
		if n.Access == ByCtid {
			cond = "TID Cond"
		}
		o.text(cond, strings.Join(keys, " OR "))
		w.condText(o, "Filter", n.Filter)
	case *IndexUnion:
		relation(n.Table.Schema, n.Table.Name, n.Alias)
		w.condText(o, "Filter", n.Filter)
	case *VirtualScan:
		relation(n.Rel.Schema, n.Rel.Name, n.Alias)
		w.condText(o, "Filter", n.Filter)
	case *SequenceScan:
		relation(n.Seq.Schema, n.Seq.Name, "")
	case *ClusterScan:
		for _, s := range w.details(n) {
			if k, v, ok := strings.Cut(s, ": "); ok {
				o.add(k, v)
			}
		}
	case *FuncScan:
		list("Function Call", n.Funcs)
	case *Filter:
		w.condText(o, "Filter", n.Cond)
	case *Kept:
		w.condText(o, "Filter", n.Cond)
	case *HashJoin:
		join(n.Kind)
		o.text("Hash Cond", pairs(n.LeftKeys, n.RightKeys, n.Right))
		w.condText(o, "Join Filter", n.Residual)
	case *MergeJoin:
		join(n.Kind)
		o.text("Merge Cond", pairs(n.LeftKeys, n.RightKeys, n.Right))
		w.condText(o, "Join Filter", n.Residual)
	case *LookupJoin:
		join(n.Kind)
		w.condText(o, "Join Filter", n.Residual)
	case *LoopJoin:
		join(n.Kind)
		w.condText(o, "Join Filter", n.Cond)
	case *Apply:
		join(n.Kind)
		w.condText(o, "Join Filter", n.Cond)
	case *Group:
		list("Group Key", n.Keys)
	case *Sort:
		var keys []string
		for i := range n.Keys {
			keys = append(keys, w.sortTexts(n.Keys[i:i+1]))
		}
		o.add("Sort Key", keys)
		if n.Presorted > 0 {
			o.add("Presorted Key", keys[:n.Presorted])
		}
	case *CTEScan:
		o.add("CTE Name", n.CTE.Name)
		o.add("Alias", n.CTE.Name)
	case *WorkScan:
		o.add("CTE Name", n.CTE.Name)
		o.add("Alias", n.CTE.Name)
	case *Insert:
		relation(n.Table.Schema, n.Table.Name, "")
	case *Update:
		relation(n.Table.Schema, n.Table.Name, "")
	case *Delete:
		relation(n.Table.Schema, n.Table.Name, "")
	case *Merge:
		relation(n.Table.Schema, n.Table.Name, "")
	}
}

// indexName is the name of the index that a table is read by: that of the primary key
// where it is read by the master file's keys.
func indexName(t *catalog.Table, ix *catalog.Index) string {
	if ix == nil {
		ix = t.PrimaryIndex()
	}
	if ix == nil {
		return ""
	}
	return ix.Name
}
