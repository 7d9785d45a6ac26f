package planner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// recorder keeps what the binder found out about the clauses of a query, from
// which the query's text is made anew: PostgreSQL prints the analysed query.
type recorder struct {
	selects map[*ast.Select]*selectNote
	queries map[*query]*ast.Select
	froms   map[ast.FromItem]*rel
	on      map[*ast.Join][]plan.Expr
	using   map[*ast.Join][]string
	exprs   map[ast.Expr]plan.Expr // GROUP BY, LIMIT, windows, functions in FROM
	merged  map[plan.Expr]string   // columns of USING that are no column of either side
	rows    map[*plan.RowCtor]*rel // whole rows
}

// selectNote is a SELECT core before grouping and windows change it.
type selectNote struct {
	block         *block
	targets       []target
	where, having []plan.Expr
	sort          []sortKey
	distinctOn    []int
}

// record remembers what an expression of a clause was bound to, and returns it.
func (p *planner) record(x ast.Expr, e plan.Expr) plan.Expr {
	if p.rec != nil && x != nil {
		p.rec.exprs[x] = e
	}
	return e
}

func newRecorder() *recorder {
	return &recorder{selects: map[*ast.Select]*selectNote{}, queries: map[*query]*ast.Select{}, froms: map[ast.FromItem]*rel{},
		on: map[*ast.Join][]plan.Expr{}, using: map[*ast.Join][]string{}, exprs: map[ast.Expr]plan.Expr{}, merged: map[plan.Expr]string{},
		rows: map[*plan.RowCtor]*rel{}}
}

// ViewTree binds a view's query and takes it apart.
func ViewTree(c *Context, v *catalog.View) (t *catalog.QueryTree, err error) {
	s, err := c.Texts.ParseQuery(v.Query)
	if err != nil {
		return nil, err
	}
	unfolded := *c
	unfolded.Consts = nil
	p := newPlanner(&unfolded)
	defer p.recover(&err)
	p.inView = 1
	p.rec = newRecorder()
	q := p.bindSelect(s, nil)
	p.resolveUnknowns(q)
	w := &treeWriter{planner: p, refs: map[int]string{}, taken: map[string]bool{"old": true, "new": true}}
	var cols []string
	for i := range v.Columns {
		cols = append(cols, v.Columns[i].Name)
	}
	return w.query(q, s, cols, true), nil
}

// treeWriter makes the tree of a query; the names of its entries are unlike
// those of the queries around it.
type treeWriter struct {
	*planner
	refs  map[int]string // names of entries
	taken map[string]bool
	// pieces of the expression that is being written
	pieces [][]catalog.TreePart
}

// giveUp refuses a query that has no tree.
func giveUp(what string) { unsupported(-1, "the text of a query with %s", what) }

// query takes a bound query apart. cols are the names of a view's columns;
// visible tells that all output names are shown.
func (w *treeWriter) query(q *query, s *ast.Select, cols []string, visible bool) *catalog.QueryTree {
	in := *w
	in.taken = maps.Clone(w.taken)
	out := &catalog.QueryTree{}
	for _, f := range s.From {
		in.nameEntries(f)
	}
	if s.With != nil {
		in.with(s.With, out)
	}
	switch {
	case s.SetOp != nil:
		if q.setop == nil {
			giveUp("a converted set operation")
		}
		out.SetOp, out.All = s.SetOp.Op, s.SetOp.All
		out.L = in.query(in.boundOf(s.SetOp.L), s.SetOp.L, cols, visible)
		out.R = in.query(in.boundOf(s.SetOp.R), s.SetOp.R, cols, false)
		for _, k := range q.sort {
			out.OrderBy = append(out.OrderBy, catalog.SortTree{Num: k.target + 1, Desc: k.desc, NullsFirst: k.nullsFirst})
		}
	case s.Values != nil:
		for _, row := range q.block.values {
			var l []catalog.TreeExpr
			for _, x := range row {
				l = append(l, in.expr(x, true))
			}
			out.Values = append(out.Values, l)
		}
		for _, k := range q.sort {
			out.OrderBy = append(out.OrderBy, catalog.SortTree{Num: k.target + 1, Desc: k.desc, NullsFirst: k.nullsFirst})
		}
	default:
		in.core(s, q, out, cols, visible)
	}
	opt := func(x ast.Expr, e plan.Expr) *catalog.TreeExpr {
		if x == nil {
			return nil
		}
		if e == nil {
			giveUp("a converted LIMIT")
		}
		t := in.expr(e, false)
		return &t
	}
	out.Limit, out.Offset, out.WithTies = opt(s.Limit, q.limit), opt(s.Offset, q.offset), s.WithTies
	for i := range s.Locking {
		out.Locking = append(out.Locking, in.locking(&s.Locking[i], s.From)...)
	}
	return out
}

// locking is a clause for each entry of FROM that it locks.
func (w *treeWriter) locking(l *ast.Locking, from []ast.FromItem) []catalog.LockTree {
	wait := ""
	switch {
	case l.NoWait:
		wait = "NOWAIT"
	case l.SkipLocked:
		wait = "SKIP LOCKED"
	}
	var out []catalog.LockTree
	var each func(f ast.FromItem)
	each = func(f ast.FromItem) {
		if j, ok := f.(*ast.Join); ok {
			each(j.L)
			each(j.R)
			return
		}
		r := w.rec.froms[f]
		named := slices.ContainsFunc(l.Of, func(n ast.Name) bool { return n.Last() == r.alias })
		if named || len(l.Of) == 0 && notLockable(r) == "" {
			out = append(out, catalog.LockTree{Strength: l.Strength, Of: []string{w.refs[r.id]}, Wait: wait})
		}
	}
	for _, f := range from {
		each(f)
	}
	return out
}

func (w *treeWriter) with(s *ast.With, out *catalog.QueryTree) {
	out.Recursive = s.Recursive
	for i := range s.CTEs {
		c := &s.CTEs[i]
		sel, ok := c.Stmt.(*ast.Select)
		if !ok {
			giveUp("a data-modifying WITH")
		}
		t := catalog.WithTree{Name: c.Name, Cols: c.Cols, Materialized: c.Materialized}
		if q := w.boundOf(sel); q != nil {
			t.Query = w.query(q, sel, nil, true)
		} else if sel.SetOp != nil { // a recursive one: its sides are bound apart
			t.Query = &catalog.QueryTree{SetOp: sel.SetOp.Op, All: sel.SetOp.All}
			t.Query.L = w.query(w.boundOf(sel.SetOp.L), sel.SetOp.L, nil, true)
			t.Query.R = w.query(w.boundOf(sel.SetOp.R), sel.SetOp.R, nil, false)
		} else {
			giveUp("this WITH")
		}
		out.With = append(out.With, t)
	}
}

func (w *treeWriter) boundOf(s *ast.Select) *query {
	for o, os := range w.rec.queries {
		if os == s {
			return o
		}
	}
	return nil
}

// core takes a SELECT core apart.
func (w *treeWriter) core(s *ast.Select, q *query, out *catalog.QueryTree, cols []string, visible bool) {
	n := w.rec.selects[s]
	for _, f := range s.From {
		out.From = append(out.From, w.from(f))
	}
	final := func(i int) plan.Expr {
		x := n.targets[i].x
		if x.Type().OID == types.OUnknown && q.block != nil && i < len(q.block.targets) {
			return q.block.targets[i].x // a literal that has got its type
		}
		return x
	}
	for i := range n.block.ncols {
		t := catalog.TreeTarget{X: w.expr(final(i), true), Name: n.targets[i].name}
		if r, ok := final(i).(*plan.RowCtor); ok && w.rec.rows[r] != nil {
			last := t.X.Pieces[len(t.X.Pieces)-1]
			last[0].Lit += "::" + w.Snap.FormatType(r.T, w.DB, w.SearchPath)
		}
		if i < len(cols) {
			t.Name = cols[i]
		}
		if !visible && !t.X.Var && t.Name == "?column?" || t.X.Var && t.X.Name == t.Name {
			t.Name = ""
		}
		out.Targets = append(out.Targets, t)
	}
	out.Distinct = s.Distinct && len(s.DistinctOn) == 0
	for _, i := range n.distinctOn {
		out.On = append(out.On, w.expr(final(i), true))
	}
	out.Where, out.Having = w.cond(n.where), w.cond(n.having)
	out.GroupDis = s.GroupDist
	for i := range s.GroupBy {
		out.Group = append(out.Group, w.group(&s.GroupBy[i]))
	}
	for i := range s.Windows {
		d := w.window(&s.Windows[i])
		d.Def = true
		out.Windows = append(out.Windows, d)
	}
	for _, k := range n.sort {
		out.OrderBy = append(out.OrderBy, catalog.SortTree{X: w.expr(final(k.target), true), Desc: k.desc, NullsFirst: k.nullsFirst})
	}
}

func (w *treeWriter) cond(list []plan.Expr) *catalog.TreeExpr {
	x := conjunction(list)
	if x == nil {
		return nil
	}
	t := w.expr(x, false)
	return &t
}

func (w *treeWriter) noted(x ast.Expr) plan.Expr {
	e := w.rec.exprs[x]
	if e == nil {
		giveUp("this clause")
	}
	return e
}

func (w *treeWriter) group(g *ast.GroupItem) catalog.GroupTree {
	element := func(x ast.Expr) catalog.GroupTree {
		if r, ok := x.(*ast.Row); ok {
			l := catalog.GroupTree{Kind: "LIST"}
			for _, e := range r.Elems {
				l.Sets = append(l.Sets, catalog.GroupTree{X: w.expr(w.noted(e), true)})
			}
			return l
		}
		return catalog.GroupTree{X: w.expr(w.noted(x), true)}
	}
	if g.Kind == "" {
		return element(g.Exprs[0])
	}
	out := catalog.GroupTree{Kind: g.Kind}
	for _, x := range g.Exprs {
		out.Sets = append(out.Sets, element(x))
	}
	for i := range g.Sets {
		out.Sets = append(out.Sets, w.group(&g.Sets[i]))
	}
	return out
}

func (w *treeWriter) window(x *ast.Window) catalog.WindowTree {
	out := catalog.WindowTree{Name: x.Name, Base: x.Base}
	for _, e := range x.PartitionBy {
		out.Partition = append(out.Partition, w.expr(w.noted(e), true))
	}
	for _, o := range x.OrderBy {
		k := catalog.SortTree{X: w.expr(w.noted(o.X), true), Desc: o.Desc || o.Using == ">"}
		if k.NullsFirst = k.Desc; o.NullsFirst != nil {
			k.NullsFirst = *o.NullsFirst
		}
		out.Order = append(out.Order, k)
	}
	if f := x.Frame; f != nil {
		bound := func(b ast.Bound) catalog.WindowBound {
			out := catalog.WindowBound{Kind: b.Kind}
			if b.X != nil {
				t := w.expr(w.noted(b.X), false)
				out.X = &t
			}
			return out
		}
		out.Frame, out.Between, out.Exclude = f.Mode, true, f.Exclude
		out.Start, out.End = bound(f.Start), bound(f.End)
	}
	return out
}

// nameEntries gives the entries of FROM names that differ from those around.
func (w *treeWriter) nameEntries(f ast.FromItem) {
	if j, ok := f.(*ast.Join); ok {
		w.nameEntries(j.L)
		w.nameEntries(j.R)
		if j.Alias != "" {
			giveUp("an alias of a join")
		}
		return
	}
	r := w.rec.froms[f]
	if r == nil {
		giveUp("this FROM")
	}
	name := r.alias
	if t, ok := f.(*ast.TableRef); ok && t.Alias == "" {
		if rel := r.relation(); rel != nil {
			_, name = rel.RelName()
		}
	}
	base := name
	for i := 1; w.taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	w.taken[name] = true
	w.refs[r.id] = name
}

// relation is the catalog's relation of an entry, or nil.
func (r *rel) relation() catalog.Relation {
	switch {
	case r.view != nil:
		return r.view
	case r.table != nil:
		return r.table
	case r.virt != nil:
		return r.virt
	case r.seq != nil:
		return r.seq
	}
	return nil
}

// colName is what a column of an entry is called in the text.
func (w *treeWriter) colName(r *rel, col int) string {
	name := ""
	if col < len(r.cols) {
		name = r.cols[col].Name
	}
	if rel := r.relation(); rel != nil {
		name = rel.RelColumns()[col].Name
	}
	for _, c := range r.names {
		if v, ok := c.x.(*plan.Var); ok && v.Col == col && c.name != name {
			return c.name // by an alias
		}
	}
	return name
}

func (w *treeWriter) from(f ast.FromItem) catalog.FromTree {
	if j, ok := f.(*ast.Join); ok {
		l, r := w.from(j.L), w.from(j.R)
		out := catalog.FromTree{L: &l, R: &r, Using: w.rec.using[j], UseAs: j.UsingAlias}
		on := w.rec.on[j]
		switch j.Kind {
		case "INNER", "CROSS":
			if out.Kind = "JOIN"; len(on) == 0 && len(out.Using) == 0 {
				out.Kind = "CROSS JOIN"
			}
		default:
			out.Kind = j.Kind + " JOIN"
		}
		if len(out.Using) > 0 {
			w.checkUsing(j, out.Using)
		} else {
			out.On = w.cond(on)
		}
		return out
	}
	r := w.rec.froms[f]
	out := catalog.FromTree{Alias: w.refs[r.id]}
	switch f := f.(type) {
	case *ast.TableRef:
		out.Only = f.Only
		if rel := r.relation(); rel != nil {
			out.Schema, out.Table = rel.RelName()
			changed := false
			var cols []string
			for i, c := range rel.RelColumns() {
				if !c.Dropped {
					name := w.colName(r, i)
					cols = append(cols, name)
					changed = changed || name != rel.RelColumns()[i].Name
				}
			}
			if changed {
				out.Cols = cols
			} else if f.Alias == "" && out.Alias == out.Table {
				out.Alias = ""
			}
			break
		}
		out.Table = f.Name.Last()
		out.Cols = slices.Clone(f.Cols)
		if f.Alias == "" && out.Alias == out.Table {
			out.Alias = ""
		}
	case *ast.SubqueryRef:
		out.Lateral = f.Lateral
		q := w.boundOf(f.Query)
		if q == nil {
			giveUp("this subquery")
		}
		out.Query = w.query(q, f.Query, nil, true)
		if len(f.Cols) > 0 {
			for _, c := range r.names {
				out.Cols = append(out.Cols, c.name)
			}
		} else if f.Query.Values != nil {
			for _, c := range r.names {
				out.Cols = append(out.Cols, c.name)
			}
		}
	case *ast.FuncRef:
		out.Lateral, out.Ordinality, out.RowsFrom = f.Lateral, f.Ordinality, f.RowsFrom || len(r.funcs) > 1
		for _, x := range r.funcs {
			out.Funcs = append(out.Funcs, w.expr(x, true))
		}
		for _, c := range f.Calls {
			if len(c.Cols) > 0 {
				giveUp("column definitions of a function")
			}
		}
		if len(f.Cols) > 0 && f.Cols[0].Type != nil {
			for i, c := range f.Cols {
				out.Cols = append(out.Cols, catalog.QuoteIdent(c.Name)+" "+w.typeText(r.cols[i].T))
			}
			out.Kind = "DEFS"
			break
		}
		for _, c := range r.names {
			out.Cols = append(out.Cols, c.name)
		}
	default:
		giveUp("this FROM")
	}
	return out
}

// checkUsing gives up when the columns of USING have come to have other names.
func (w *treeWriter) checkUsing(j *ast.Join, using []string) {
	var each func(f ast.FromItem)
	each = func(f ast.FromItem) {
		if in, ok := f.(*ast.Join); ok {
			each(in.L)
			each(in.R)
			return
		}
		if r := w.rec.froms[f]; r != nil && r.relation() != nil {
			for _, c := range r.names {
				if v, ok := c.x.(*plan.Var); ok && slices.Contains(using, c.name) && w.colName(r, v.Col) != c.name {
					giveUp("USING over a renamed column")
				}
			}
		}
	}
	each(j.L)
	each(j.R)
}

// typeText names a type with its schema unless it is built in.
func (w *treeWriter) typeText(t types.T) string {
	return w.Snap.FormatType(t, w.DB, []string{catalog.SchemaPgCatalog})
}

// expr writes a bound expression; implicit shows conversions at its top.
func (w *treeWriter) expr(e plan.Expr, implicit bool) catalog.TreeExpr {
	in := *w
	in.pieces = nil
	opt := deparseOptions(w.Context)
	opt.Other = in.other
	opt.Literal = func(t types.T, text string) string {
		full, _ := w.qualifyLiteral(t, text)
		return full
	}
	out := catalog.TreeExpr{}
	switch x := e.(type) {
	case *plan.Var:
		out.Var = true
		if r := in.entryOf(x); r != nil && x.Col >= 0 {
			out.Name = in.colName(r, x.Col)
		} else {
			out.Name = x.Name
		}
	case *aggRef:
		out.Call = true
	case *plan.Call:
		out.Call = x.Op == ""
	case *plan.Const:
		out.Simple = true
	}
	out.Simple = out.Simple || out.Var
	out.Text = plan.DeparseTop(e, implicit, opt)
	out.Pieces = in.pieces
	return out
}

func (w *treeWriter) entryOf(v *plan.Var) *rel {
	for _, r := range w.rec.froms {
		if r.id == v.Rel {
			return r
		}
	}
	return nil
}

// other writes what plan.Deparse does not know, or not under the names here.
func (w *treeWriter) other(e plan.Expr, sub func(plan.Expr, bool) string) (string, bool) {
	if name, ok := w.rec.merged[e]; ok {
		return catalog.QuoteIdent(name), true
	}
	switch x := e.(type) {
	case *plan.Var:
		r := w.entryOf(x)
		ref, known := w.refs[x.Rel]
		if r == nil || !known {
			giveUp("this column")
		}
		name := x.Name
		if x.Col >= 0 {
			name = w.colName(r, x.Col)
		}
		return catalog.QuoteIdent(ref) + "." + catalog.QuoteIdent(name), true
	case *plan.RowCtor:
		if r := w.rec.rows[x]; r != nil {
			return w.piece(catalog.TreePart{Lit: catalog.QuoteIdent(w.refs[r.id]) + ".*"}), true
		}
		return "", false
	case *aggRef:
		return w.aggregate(x), true
	case *subquery:
		return w.subquery(x), true
	case *plan.FieldOf:
		x0 := sub(x.X, true)
		switch x.X.(type) {
		case *plan.FieldOf, *plan.Subscript:
		default:
			x0 = "(" + x0 + ")"
		}
		if x.Name == "" {
			giveUp("a field of a row without names")
		}
		return x0 + "." + catalog.QuoteIdent(x.Name), true
	case *plan.Call, *plan.Const, *plan.Param, *plan.And, *plan.Or, *plan.Not, *plan.Is, *plan.Case, *plan.CaseVal, *plan.Coalesce, *plan.NullIf,
		*plan.MinMax, *plan.IsDistinct, *plan.InList, *plan.AnyArray, *plan.ArrayCtor, *plan.Subscript, *plan.CoerceIO, *plan.Relabel,
		*plan.CoerceMod, *plan.CoerceDomain, *plan.CoerceArray:
		return "", false
	}
	if g, ok := e.(*groupingRef); ok {
		var l []string
		for _, a := range g.args {
			l = append(l, sub(a, true))
		}
		return "GROUPING(" + strings.Join(l, ", ") + ")", true
	}
	giveUp(fmt.Sprintf("a %T", e))
	return "", false
}

// piece keeps parts and returns what stands for them in the text.
func (w *treeWriter) piece(parts ...catalog.TreePart) string {
	w.pieces = append(w.pieces, parts)
	return catalog.PieceMark + strconv.Itoa(len(w.pieces)-1) + catalog.PieceMark
}

func lit(s string) catalog.TreePart { return catalog.TreePart{Lit: s} }

func (w *treeWriter) exprPart(e plan.Expr, implicit bool) catalog.TreePart {
	t := w.expr(e, implicit)
	return catalog.TreePart{Expr: &t}
}

func (w *treeWriter) aggregate(a *aggRef) string {
	ag := &a.agg
	name := catalog.QuoteIdent(ag.Proc.Name)
	if f := ag.Proc.SQL; f != nil && !slices.Contains(w.SearchPath, f.Schema) {
		name = catalog.QualifiedIdent(f.Schema, f.Name)
	}
	parts := []catalog.TreePart{lit(name + "(")}
	add := func(p ...catalog.TreePart) { parts = append(parts, p...) }
	call := a.call
	args := ag.Args
	order := func() {
		for i, k := range ag.OrderBy {
			if i > 0 {
				add(lit(", "))
			}
			t := catalog.SortTree{X: w.expr(k.X, true), Desc: k.Desc, NullsFirst: k.NullsFirst}
			add(catalog.TreePart{Sort: &t})
		}
	}
	if ag.Distinct {
		add(lit("DISTINCT "))
	}
	if ag.Direct > 0 || call.WithinGrp {
		args = args[:ag.Direct]
	}
	if ag.Star {
		add(lit("*"))
	}
	for i, x := range args {
		if i > 0 {
			add(lit(", "))
		}
		if call.Variadic && i == len(args)-1 {
			add(lit("VARIADIC "))
		}
		add(w.exprPart(x, true))
	}
	switch {
	case call.WithinGrp:
		add(lit(") WITHIN GROUP (ORDER BY "))
		order()
	case len(ag.OrderBy) > 0:
		add(lit(" ORDER BY "))
		order()
	}
	add(lit(")"))
	if ag.Filter != nil {
		add(lit(" FILTER (WHERE "), w.exprPart(ag.Filter, false), lit(")"))
	}
	if call.Over != nil {
		over := w.window(call.Over)
		add(lit(" OVER "), catalog.TreePart{Window: &over})
	}
	return w.piece(parts...)
}

func (w *treeWriter) subquery(x *subquery) string {
	s := w.rec.queries[x.q]
	if s == nil {
		giveUp("this subquery")
	}
	q := catalog.TreePart{Query: w.query(x.q, s, nil, false)}
	switch x.kind {
	case plan.SubExists:
		out := w.piece(lit("(EXISTS ("), q, lit("))"))
		if x.not {
			return "(NOT " + out + ")"
		}
		return out
	case plan.SubScalar:
		return w.piece(lit("("), q, lit(")"))
	case plan.SubArray:
		return w.piece(lit("ARRAY("), q, lit(")"))
	case plan.SubAny:
		if !x.eq || len(x.x) == 0 {
			giveUp("op ANY (query)")
		}
		if len(x.x) > 1 {
			giveUp("a row IN (query)")
		}
		out := w.piece(lit("("), w.exprPart(x.x[0], true), lit(" IN ("), q, lit("))"))
		if x.not {
			return "(NOT " + out + ")"
		}
		return out
	}
	giveUp("this kind of subquery")
	return ""
}
