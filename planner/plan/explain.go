package plan

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"kvsqld/catalog"
)

// shownRanges is the number of a scan's ranges that are shown one by one.
const shownRanges = 8

// ExplainOptions choose what EXPLAIN prints.
type ExplainOptions struct {
	Costs   bool // estimates
	Analyze bool // actual rows, loops and time
	KV      bool // gets, scans, keys and bytes per file
	Verbose bool // output columns
	Timing  bool
	// Spell is how expressions are written: what types that users made are called.
	Spell DeparseOptions
}

// NodeActual is what a node did, for EXPLAIN ANALYZE.
type NodeActual struct {
	Rows, Loops  int64
	Time         time.Duration
	Mem, Spilled int64
	Files        []FileActual
	Regions      []string // visited, of a region-clustered table
	Narrowed     string   // what was read instead of the whole table
	Turned       int64    // left rows that a lookup join had when it turned to a hash table; 0: it did not
}

// FileActual is what a node read of and wrote to one file.
type FileActual struct {
	File                    string
	Gets, Scans, Keys       int64
	BytesRead, BytesWritten int64
}

// stepNames are the five steps in their order.
var stepNames = []string{"filter", "join order", "join", "group by", "sort"}

// Explain prints a plan: first the five steps with what each of them chose,
// then the tree of operators.
func Explain(q *Query, o ExplainOptions, actual map[int]NodeActual) []string {
	x := &explainer{speller: speller{o.Spell}, o: o, actual: actual}
	x.out = append(x.out, "Steps:")
	texts := stepTexts(q)
	for i, name := range stepNames {
		text := "nothing to do"
		if len(texts[name]) > 0 {
			text = strings.Join(texts[name], "; ")
		}
		x.out = append(x.out, fmt.Sprintf("  %d %s: %s", i+1, name, text))
	}
	x.out = append(x.out, "Plan:")
	for _, c := range q.CTEs {
		x.out = append(x.out, "  CTE "+c.Name)
		x.node(c.Plan, 2)
		if c.Step != nil {
			x.out = append(x.out, "    recursive term")
			x.node(c.Step, 3)
		}
	}
	x.node(q.Root, 1)
	return x.out
}

// stepTexts says what each of the five steps did, read off the finished plan,
// and from the planner's notes what the plan does not show.
func stepTexts(q *Query) map[string][]string {
	out := map[string][]string{}
	add := func(step, text string) {
		for _, t := range out[step] {
			if t == text {
				return
			}
		}
		out[step] = append(out[step], text)
	}
	for _, s := range q.Steps {
		add(s.Step, s.Text)
	}
	var walk func(n Node)
	walk = func(n Node) {
		if n == nil {
			return
		}
		// inputs first: the order in which rows flow
		for _, c := range n.Children() {
			walk(c)
		}
		switch n := n.(type) {
		case *Scan:
			t := aliased(n.Table.Name, n.Alias) + ": " + n.Access.String()
			if n.Index != nil {
				t += " " + n.Index.Name
			}
			if n.IndexOnly {
				t += ", index only"
			}
			add("filter", t)
		case *ClusterScan:
			for _, l := range n.Levels {
				add("filter", l.Table.Name+": cluster scan")
			}
			add("join", "by the order of the keys, without an operator")
		case *VirtualScan:
			add("filter", aliased(n.Rel.Name, n.Alias)+": from the catalog")
		case *IndexUnion:
			how := "union"
			if n.All {
				how = "intersection"
			}
			add("filter", aliased(n.Table.Name, n.Alias)+": "+how+" of indexes")
		case *HashJoin:
			add("join", "hash join ("+n.Kind.String()+")")
		case *LookupJoin:
			how := "key"
			if n.Index != nil {
				how = n.Index.Name
			}
			add("join", aliased(n.Table.Name, n.Alias)+" by "+how+" lookups ("+n.Kind.String()+")")
		case *MergeJoin:
			add("join", "merge join ("+n.Kind.String()+")")
		case *LoopJoin:
			add("join", "loop join ("+n.Kind.String()+")")
		case *Apply:
			add("join", "apply ("+n.Kind.String()+")")
		case *Group, *Distinct, *SetOp, *Window:
			add("group by", strings.ToLower(title(n)))
		case *Sort:
			add("sort", strings.TrimPrefix(strings.ToLower(title(n)), "sort, "))
		}
		MapExprs(n, func(e Expr) Expr {
			Visit(e, func(y Expr) bool {
				if s, ok := y.(*SubPlan); ok {
					walk(s.Plan)
				}
				return true
			})
			return e
		})
	}
	for _, c := range q.CTEs {
		walk(c.Plan)
		walk(c.Step)
	}
	walk(q.Root)
	return out
}

type explainer struct {
	speller
	o      ExplainOptions
	actual map[int]NodeActual
	out    []string
}

func (x *explainer) line(depth int, format string, args ...any) {
	x.out = append(x.out, strings.Repeat("  ", depth)+fmt.Sprintf(format, args...))
}

// node prints a node, its details, and its inputs one level deeper.
func (x *explainer) node(n Node, depth int) {
	b := n.Base()
	head := "-> " + title(n)
	if x.o.Costs {
		head += fmt.Sprintf("  (cost=%.0f rows=%.0f)", math.Ceil(b.Cost), math.Max(1, math.Round(b.Rows)))
	}
	a, ran := x.actual[b.ID]
	if x.o.Analyze {
		if ran && a.Loops > 0 {
			head += fmt.Sprintf(" (actual rows=%d loops=%d", a.Rows, a.Loops)
			if x.o.Timing {
				head += fmt.Sprintf(" time=%.3f ms", float64(a.Time.Microseconds())/1000)
			}
			head += ")"
		} else {
			head += " (never executed)"
		}
	}
	x.line(depth, "%s", head)
	d := depth + 2
	for _, s := range x.details(n) {
		x.line(d, "%s", s)
	}
	for _, s := range b.Notes {
		x.line(d, "%s", s)
	}
	if x.o.Verbose && len(b.Cols) > 0 {
		x.line(d, "Output: %s", strings.Join(x.outputs(n), ", "))
	}
	if x.o.Analyze && a.Spilled > 0 {
		x.line(d, "Spilled: %d bytes", a.Spilled)
	}
	if x.o.Analyze && a.Narrowed != "" {
		x.line(d, "Narrowed by the join: %s", a.Narrowed)
	}
	if x.o.Analyze && a.Turned > 0 {
		x.line(d, "Turned to a hash table: at %d rows", a.Turned)
	}
	if x.o.Analyze && len(a.Regions) > 0 {
		x.line(d, "Regions visited: %s", regionList(a.Regions))
	}
	if x.o.KV {
		for _, f := range a.Files {
			x.line(d, "KV %s: gets=%d scans=%d keys=%d read=%d written=%d bytes", f.File, f.Gets, f.Scans, f.Keys, f.BytesRead, f.BytesWritten)
		}
	}
	for _, c := range n.Children() {
		x.node(c, depth+1)
	}
	MapExprs(n, func(e Expr) Expr {
		Visit(e, func(y Expr) bool {
			if s, ok := y.(*SubPlan); ok {
				x.line(d, "%s", subPlanName(s))
				x.node(s.Plan, depth+3)
			}
			return true
		})
		return e
	})
}

// aliased is a relation's name with the one that the query gives it, if that is another.
func aliased(name, alias string) string {
	if alias == "" || alias == name {
		return name
	}
	return name + " " + alias
}

func title(n Node) string {
	switch n := n.(type) {
	case *Scan:
		s := "Scan " + aliased(n.Table.Name, n.Alias)
		if n.Index != nil {
			s += " by " + n.Index.Name
		}
		s += ", " + n.Access.String()
		if n.IndexOnly {
			s += ", index only"
		}
		if n.Reverse {
			s += ", backward"
		}
		return s
	case *ClusterScan:
		return clusterTitle(n)
	case *VirtualScan:
		return "Scan " + aliased(n.Rel.Name, n.Alias) + ", from the catalog"
	case *SequenceScan:
		return "Scan sequence " + n.Seq.Name
	case *Values:
		return fmt.Sprintf("Values, %d rows", len(n.Rows))
	case *FuncScan:
		return "Function scan"
	case *Kept:
		if n.Cond != nil {
			return "Kept rows, by hash"
		}
		return "Kept rows"
	case *HashJoin:
		s := "Hash join, " + n.Kind.String()
		if n.NullAware {
			s += ", null-aware"
		}
		return s
	case *LookupJoin:
		s := "Lookup join, " + n.Kind.String() + ", into " + aliased(n.Table.Name, n.Alias)
		if n.Index != nil {
			s += " by " + n.Index.Name
		}
		return s
	case *MergeJoin:
		return "Merge join, " + n.Kind.String()
	case *LoopJoin:
		return "Loop join, " + n.Kind.String()
	case *Apply:
		return "Apply, " + n.Kind.String()
	case *Group:
		switch {
		case len(n.Keys) == 0:
			return "Aggregate"
		case n.Ordered:
			return "Group, ordered"
		}
		return "Group, hash"
	case *IndexUnion:
		if n.All {
			return "Intersection of indexes of " + aliased(n.Table.Name, n.Alias)
		}
		return "Union of indexes of " + aliased(n.Table.Name, n.Alias)
	case *Distinct:
		if n.Ordered {
			return "Distinct, ordered"
		}
		return "Distinct"
	case *Window:
		return "Window"
	case *Append:
		if n.Keys != nil {
			return "Merge Append"
		}
		return "Append"
	case *Sort:
		name := "Sort"
		if n.Presorted > 0 {
			name = "Incremental Sort"
		}
		if n.Limit != nil {
			name += ", top-N"
		}
		return name
	case *SetOp:
		if n.All {
			return n.Op + " ALL"
		}
		return n.Op
	case *CTEScan:
		return "Scan CTE " + n.CTE.Name
	case *WorkScan:
		return "Scan working table of " + n.CTE.Name
	case *Insert:
		return "Insert into " + n.Table.Name
	case *Update:
		return "Update " + n.Table.Name
	case *Delete:
		return "Delete from " + n.Table.Name
	case *Merge:
		return "Merge into " + n.Table.Name
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan.")
}

// details are the lines below a node's title.
func (w speller) details(n Node) []string {
	own := w // for what reads the rows of n alone
	w = w.inputsOf(n)
	var out []string
	add := func(label, s string) {
		if s != "" {
			out = append(out, label+": "+s)
		}
	}
	cond := func(label string, e Expr) {
		if e != nil {
			add(label, w.text(e))
		}
	}
	switch n := n.(type) {
	case *Scan:
		for i := range n.Ranges[:min(len(n.Ranges), shownRanges)] {
			add("Key", w.rangeText(n, &n.Ranges[i]))
		}
		if more := len(n.Ranges) - shownRanges; more > 0 {
			add("Key", fmt.Sprint(more, " more"))
		}
		if n.Loose > 0 {
			name := keyNames(n.Table, n.Index)
			first := strings.Join(firstNames(n.Loose, name), ", ")
			if n.LooseValue {
				first += " with " + name(n.Loose) + " not NULL, if any"
			}
			add("First of each", first)
		}
		if n.Cursor != "" {
			add("Cursor", n.Cursor)
		}
		if n.Area != nil {
			add("Regions", w.areaText(n.Area))
		}
		w.nearestDetails(n.Nearest, add)
		if n.Sample != nil {
			add("Sample", "blocks of "+w.text(n.Sample.Percent)+" %")
		}
		add("Elements", partText(n.Table, n.Parts, w.text))
		cond("Filter on entries", n.EntryFilter)
		cond("Filter", n.Filter)
	case *ClusterScan:
		w.clusterDetails(n, add)
	case *IndexUnion:
		add("Elements", partText(n.Table, n.Parts, w.text))
		cond("Filter", n.Filter)
	case *VirtualScan:
		if n.AnyOf {
			add("Any key", w.texts(n.KeyVals))
		} else {
			add("Key", w.texts(n.KeyVals))
		}
		cond("Filter", n.Filter)
	case *FuncScan:
		add("Call", w.texts(n.Funcs))
	case *Append:
		add("Keys", w.sortTexts(n.Keys))
		if n.Table != nil {
			add("Tables", fmt.Sprintf("%d of %d", len(n.Inputs), n.Total))
			if n.Prune != nil {
				add("At the start", n.Prune.Cond.text(n.Prune.Set, w))
			}
		}
	case *Filter:
		cond("Filter", n.Cond)
	case *Kept:
		cond("Key", n.Cond)
	case *HashJoin:
		var eqs []string
		for i := range n.LeftKeys {
			eqs = append(eqs, w.text(n.LeftKeys[i])+" = "+w.among(n.Right).text(n.RightKeys[i]))
		}
		add("On", strings.Join(eqs, " AND "))
		cond("Filter", n.Residual)
	case *LookupJoin:
		add("Key", w.lookupText(n))
		add("Elements", partText(n.Table, n.Parts, w.text))
		add("Filter on entries", own.optional(n.EntryFilter))
		add("Filter", own.over(n.right()).optional(n.Filter))
		cond("Join filter", n.Residual)
	case *MergeJoin:
		add("On", w.texts(n.LeftKeys)+" = "+w.among(n.Right).texts(n.RightKeys))
		cond("Filter", n.Residual)
	case *LoopJoin:
		cond("On", n.Cond)
	case *Apply:
		cond("On", n.Cond)
	case *Group:
		telling := len(n.Keys) - n.Given
		add("Keys", w.texts(n.Keys[:telling]))
		add("Given by them", w.texts(n.Keys[telling:]))
		if n.Sets != nil {
			add("Sets", fmt.Sprint(len(n.Sets)))
		}
	case *Window:
		add("Partition", w.texts(n.Partition))
		add("Order", w.sortTexts(n.OrderBy))
		cond("Run Condition", n.Stop)
	case *Sort:
		add("Keys", w.sortTexts(n.Keys))
		add("Presorted", w.sortTexts(n.Keys[:n.Presorted]))
		if n.First > 0 {
			add("Wanted", fmt.Sprintf("first %d by %s", n.First, w.sortTexts(n.Keys[:n.FirstOf])))
		}
		cond("Limit", n.Limit)
	case *Limit:
		cond("Count", n.Count)
		cond("Offset", n.Offset)
	}
	return out
}

// partText names the elements that are read of columns stored by elements.
func partText(t *catalog.Table, parts []Part, text func(Expr) string) string {
	var out []string
	for _, p := range parts {
		name := t.Columns[p.Col].Name
		if len(p.Keys) == 0 {
			out = append(out, name+" without elements")
		}
		for _, k := range p.Keys {
			switch s := text(k.X); k.How {
			case PartFirst:
				out = append(out, name+" #> "+s)
			case PartEach, PartMembers:
				out = append(out, name+" ?& "+s)
			default:
				out = append(out, name+"["+s+"]")
			}
		}
	}
	return strings.Join(out, ", ")
}

// rangeText prints a key range over the names of the key's columns.
func (w speller) rangeText(n *Scan, r *KeyRange) string {
	if n.Access == ByCtid {
		return w.rangeOf(r, func(int) string { return "ctid" })
	}
	return w.rangeOf(r, keyNames(n.Table, n.Index))
}

// lookupText is rangeText for the keys that a join looks for.
func (w speller) lookupText(n *LookupJoin) string {
	name, of := keyNames(n.Table, n.Index), cmp.Or(n.Alias, n.Table.Name)
	return w.inputsOf(n).rangeOf(&KeyRange{Eq: n.Keys}, func(i int) string {
		if i < len(n.Keys) && !strings.Contains(name(i), "(") {
			return of + "." + name(i)
		}
		return name(i)
	})
}

// firstNames are the names of the first n columns.
func firstNames(n int, name func(int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = name(i)
	}
	return out
}

// keyNames returns the names of the columns of an index, or of the table's key.
func keyNames(t *catalog.Table, ix *catalog.Index) func(i int) string {
	return func(i int) string {
		switch {
		case ix != nil && i < len(ix.Keys):
			if c := ix.Keys[i].Col; c >= 0 {
				return t.Columns[c].Name
			}
			return ix.Keys[i].Expr
		case ix == nil && i < len(t.PK):
			return t.Columns[t.PK[i]].Name
		}
		return "?"
	}
}

// rangeOf describes a range; name gives the names of the key's columns.
func (w speller) rangeOf(r *KeyRange, name func(i int) string) string {
	var out []string
	for i, e := range r.Eq {
		out = append(out, name(i)+" = "+w.text(e))
	}
	next := name(len(r.Eq) + r.ElemKey)
	op := func(inc bool, s string) string {
		if inc {
			return " " + s + "= "
		}
		return " " + s + " "
	}
	switch {
	case r.Elems != nil && r.ElemOp == "=":
		out = append(out, w.text(r.Elems)+" = ANY "+next)
	case r.Elems != nil:
		out = append(out, next+" "+r.ElemOp+" "+w.text(r.Elems))
	case r.Test != nil:
		out = append(out, next+" "+r.TestOp+" "+w.text(r.Test))
	case r.EqAny != nil:
		out = append(out, next+" = ANY "+w.text(r.EqAny))
	case r.IsNull:
		out = append(out, next+" IS NULL")
	case r.NotNull:
		out = append(out, next+" IS NOT NULL")
	case r.Like != nil:
		out = append(out, next+" has the prefix of "+w.text(r.Like))
	}
	side := func(x Expr, rest []Expr, op string) {
		if x == nil {
			return
		}
		if len(rest) == 0 {
			out = append(out, next+op+w.text(x))
			return
		}
		names := next
		for i := range rest {
			names += ", " + name(len(r.Eq)+1+i)
		}
		out = append(out, "("+names+")"+op+"("+w.text(x)+", "+w.texts(rest)+")")
	}
	side(r.Lo, r.LoRest, op(r.LoInc, ">"))
	side(r.Hi, r.HiRest, op(r.HiInc, "<"))
	return strings.Join(out, " AND ")
}
