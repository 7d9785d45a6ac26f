package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// planMerge binds and plans MERGE: the source is joined with the table, and
// each row of that goes to the first WHEN clause that takes it.
//
//	MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN … WHEN NOT MATCHED THEN INSERT …
//	s LEFT JOIN t ON t.id = s.id, a row without a key of t being NOT MATCHED
func (p *planner) planMerge(s *ast.Merge) plan.Node {
	sc, defs := (*scope)(nil), []*cteDef(nil)
	if s.With != nil {
		if s.With.Recursive {
			failf(sqlerr.SyntaxError, -1, "WITH RECURSIVE is not supported for MERGE statement")
		}
		sc, defs = p.with(s.With, s, nil)
	}
	n := p.mergeNames(s, sc)
	t, r, bl := n.d.table, n.rel, n.bl
	r.needKey = true
	p.secure(r, t, 'r')
	m := &plan.Merge{Table: t, Tree: p.dmlTree(t, s.Table.Only)}
	var read []plan.Expr
	for i := range s.Whens {
		w := p.mergeWhen(&s.Whens[i], n)
		m.Whens = append(m.Whens, w)
		read = append(append(read, w.Values...), w.Cond)
	}
	kind := plan.Inner
	if slices.ContainsFunc(s.Whens, func(w ast.MergeWhen) bool { return w.Action == "INSERT" }) {
		kind = plan.Left
	}
	bl.from = []*joinItem{{kind: kind, l: n.item, r: &joinItem{rel: r}, on: n.on}}
	live := liveCols(t)
	lay := layout{}
	addVar := func(id, col int, ty types.T) {
		if k := [2]int{id, col}; len(bl.targets) > 0 {
			lay[k] = len(bl.targets) - 1
		}
		bl.targets = append(bl.targets, target{x: &plan.Var{At: plan.At{T: ty, Off: -1}, Rel: id, Col: col}})
	}
	addVar(r.id, plan.ColRowKey, types.TBytea)
	for _, c := range live {
		addVar(r.id, c, t.Columns[c].Type)
	}
	for _, v := range columnsRead(read, bl) {
		if v.Rel != r.id || v.Col == plan.ColCtid || v.Col == plan.ColXmin {
			addVar(v.Rel, v.Col, v.T)
		}
	}
	if r.tree != nil {
		addVar(r.id, plan.ColTableOID, types.TOid)
	}
	bl.ncols = len(bl.targets)
	q := &query{rel: p.newRel(), block: bl}
	for i := range bl.targets {
		q.cols = append(q.cols, plan.OutCol{T: bl.targets[i].x.Type()})
	}
	for i := range m.Whens {
		w := &m.Whens[i]
		w.Values = p.planExprs(w.Values, lay)
		w.Cond = p.planExprs([]plan.Expr{w.Cond}, lay)[0]
	}
	p.mergeChecks(t, m.Whens)
	m.Input = p.planQuery(q)
	m.Common.Rows, m.Cost = m.Input.Base().Rows, m.Input.Base().Cost
	p.prepareCTEs(defs)
	return m
}

// mergeNames is what MERGE names but for its actions.
type mergeNames struct {
	d            *destination
	rel          *rel
	bl           *block
	item         *joinItem // of the source
	on           []plan.Expr
	both, source *scope // of rows that match, and of the others
}

// mergeNames binds the table, the source and ON.
func (p *planner) mergeNames(s *ast.Merge, sc *scope) *mergeNames {
	reachable(s.Whens)
	t := p.mergeTable(s.Table)
	for i := range s.Whens {
		w := &s.Whens[i]
		if w.Action == "NOTHING" { // some right there must be
			p.dest.Need |= catalog.PrivSelect
		}
		p.dest.Need |= dmlPrivs[w.Action]
	}
	bl := &block{rels: map[int]*rel{}}
	r := p.tableRel(t, aliasOf(s.Table))
	r.target, r.tree = true, p.treeOf(t, s.Table.Only)
	p.watch(r, p.dest)
	bl.rels[r.id] = r
	n := &mergeNames{d: &destination{shape: t, table: t, right: p.dest}, rel: r, bl: bl, both: &scope{parent: sc, block: bl}}
	it := p.ownNames(r, t, s.Table.Alias)
	p.addNames(n.both, []*nsItem{it})
	it.lateralBad, it.hidden = true, true // the source does not see the table that changes
	item, others := p.fromItem(s.Using, n.both, bl)
	it.lateralBad, it.hidden = false, false
	for _, o := range others {
		if o.relVisible && o.name == it.name {
			fail(sqlerr.New(sqlerr.DuplicateAlias, "name \"%s\" specified more than once", o.name).
				WithDetail("The name is used both as MERGE target table and data source."))
		}
	}
	p.addNames(n.both, others)
	n.item, n.source = item, &scope{parent: sc, block: bl, items: others}
	on := &binder{planner: p, scope: n.both, what: "JOIN/ON", noAgg: true, noWin: true}
	n.on = on.cond(s.On)
	bl.from = []*joinItem{item, {rel: r}} // whoever reads columns of the table has a row of it
	return n
}

// of is the scope of a WHEN clause: one of rows that are not matched sees the source alone.
func (n *mergeNames) of(w *ast.MergeWhen) *scope {
	if w.Matched {
		return n.both
	}
	return n.source
}

// mergeTable finds the table that MERGE changes.
func (p *planner) mergeTable(ref *ast.TableRef) *catalog.Table {
	obj := p.mustRelation(&ref.Name)
	if v, ok := obj.(*catalog.View); ok {
		what := "views"
		if v.Materialized != nil {
			what = "materialized views"
		}
		fail(sqlerr.New(sqlerr.FeatureNotSupported, "cannot execute MERGE on relation \"%s\"", v.Name).WithDetail("This operation is not supported for %s.", what))
	}
	return p.dmlTable(&ref.Name, ref.Only, "MERGE")
}

// whenAnd is the condition of a WHEN clause.
const whenAnd = "WHEN"

// mergeWhen binds a WHEN clause.
func (p *planner) mergeWhen(w *ast.MergeWhen, n *mergeNames) plan.MergeWhen {
	out := plan.MergeWhen{Matched: w.Matched}
	b := &binder{planner: p, scope: n.of(w), what: whenAnd, noAgg: true, noWin: true}
	if w.Cond != nil {
		out.Cond = conjunctionOr(b.cond(w.Cond))
	}
	switch w.Action {
	case "UPDATE":
		out.Action = plan.MergeUpdate
		b.what = "UPDATE"
		out.Cols, out.Values = p.assignments(w.Set, n.d, n.rel, b)
	case "DELETE":
		out.Action = plan.MergeDelete
	case "INSERT":
		out.Action = plan.MergeInsert
		b.what = "VALUES"
		out.Values = p.mergeInsert(w, n.d.table, b)
	}
	return out
}

// mergeInsert binds the values of an INSERT clause for all live columns.
func (p *planner) mergeInsert(w *ast.MergeWhen, t *catalog.Table, b *binder) []plan.Expr {
	live := liveCols(t)
	places := b.insertPlaces(w.Cols, t)
	values, bound := b.spreadRow(w.Values)
	for i, x := range values { // before any of it is converted, as in SET
		if bound[i] == nil && !isDefault(x) {
			bound[i] = b.expr(x)
		}
	}
	switch {
	case w.Default:
	case len(values) > len(places):
		failf(sqlerr.SyntaxError, values[len(places)].Pos(), "INSERT has more expressions than target columns")
	case len(values) < len(places) && w.Cols != nil:
		failf(sqlerr.SyntaxError, w.Cols[len(values)].Pos(), "INSERT has more target columns than expressions")
	}
	width := make([]plan.Expr, len(t.Columns))
	for i, x := range values {
		c := &t.Columns[places[i].col]
		p.dest.Insert = append(p.dest.Insert, places[i].col)
		byDefault := isDefault(x)
		if byDefault {
			noDefault(places[i].a)
		}
		if byDefault || c.Identity != 0 && w.Overriding == "USER" {
			continue
		}
		insertable(c, w.Overriding)
		places[i].put(p, t, width, places[i].value(p, t, bound[i], x.Pos()))
	}
	out := make([]plan.Expr, len(live))
	for i, c := range live {
		if out[i] = width[c]; out[i] == nil {
			out[i] = p.columnDefault(t, c)
		}
	}
	return out
}

// reachable fails if a WHEN clause follows one of its kind without a condition.
func reachable(whens []ast.MergeWhen) {
	final := map[bool]bool{}
	for i := range whens {
		if final[whens[i].Matched] {
			failf(sqlerr.SyntaxError, -1, "unreachable WHEN clause specified after unconditional WHEN clause")
		}
		final[whens[i].Matched] = whens[i].Cond == nil
	}
}
