package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// assignments binds a SET list to columns of the table, which is entry r.
func (p *planner) assignments(set []ast.Assign, d *destination, r *rel, b *binder) ([]int, []plan.Expr) {
	t := d.shape
	var cols []int
	var xs []plan.Expr
	parts := map[int]bool{} // columns of which parts are assigned
	add := func(a *ast.AssignTarget, x plan.Expr, isDefault bool, off int) {
		if isDefault {
			noDefault(a)
		}
		pl := b.assignPlace(t, a)
		c := pl.col
		p.dest.Need |= catalog.PrivUpdate
		p.dest.Update = append(p.dest.Update, c)
		at := slices.Index(cols, c)
		if at >= 0 && (len(a.Path) == 0 || !parts[c]) {
			failf(sqlerr.SyntaxError, -1, "multiple assignments to same column \"%s\"", a.Col)
		}
		col := d.descriptor(c)
		if isDefault {
			if col.Generated && !d.givesNull(c) {
				return
			}
			x = p.updateDefault(d, c)
		}
		if !isDefault || d.givesNull(c) {
			if col.Generated {
				fail(generatedError(col))
			}
			if col.Identity == 'a' {
				fail(sqlerr.New(sqlerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", col.Name).
					WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", col.Name))
			}
		}
		if !isDefault {
			x = pl.value(p, t, x, off)
		}
		if len(a.Path) > 0 {
			parts[c] = true
			if at >= 0 {
				xs[at] = pl.into(p, t, xs[at], x)
				return
			}
			x = pl.into(p, t, &plan.Var{At: plan.At{T: t.Columns[c].Type, Off: -1}, Rel: r.id, Col: c, Name: a.Col}, x)
		}
		cols = append(cols, c)
		xs = append(xs, x)
	}
	// What is assigned is bound before any of it is converted: a parameter that it has twice
	// is told its type by the first column.
	for _, v := range b.assigned(set) {
		add(v.to, v.x, v.x == nil, v.off)
	}
	return cols, xs
}

// assigned is what a SET list assigns to one place.
type assigned struct {
	to  *ast.AssignTarget
	x   plan.Expr // nil: DEFAULT
	off int
}

// assigned binds what a SET list assigns, a value for each place.
func (b *binder) assigned(set []ast.Assign) (out []assigned) {
	for i := range set {
		switch a := &set[i]; {
		case a.Multi:
			out = append(out, b.assignedTogether(a)...)
		case isDefault(a.X):
			out = append(out, assigned{&a.Targets[0], nil, a.Pos()})
		default:
			out = append(out, assigned{&a.Targets[0], b.expr(a.X), a.X.Pos()})
		}
	}
	return out
}

// assignedTogether is assigned for several places with one source.
func (b *binder) assignedTogether(a *ast.Assign) []assigned {
	switch x := a.X.(type) {
	case *ast.Row:
		return b.assignedRow(a, x)
	case *ast.Subquery:
		return b.assignedQuery(a, x)
	}
	failf(sqlerr.FeatureNotSupported, a.X.Pos(), "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
	return nil
}

// assignedRow is assigned for (a, b) = (x, y).
func (b *binder) assignedRow(a *ast.Assign, row *ast.Row) (out []assigned) {
	for _, el := range row.Elems {
		if isDefault(el) {
			out = append(out, assigned{x: nil, off: a.Pos()})
			continue
		}
		for _, v := range b.spread(el) {
			out = append(out, assigned{x: v, off: el.Pos()})
		}
	}
	if len(out) != len(a.Targets) {
		failf(sqlerr.SyntaxError, row.Pos(), "number of columns does not match number of values")
	}
	for k := range out {
		out[k].to = &a.Targets[k]
	}
	return out
}

// assignedQuery is assigned for (a, b) = (SELECT …).
func (b *binder) assignedQuery(a *ast.Assign, x *ast.Subquery) (out []assigned) {
	q := b.subselect(x.Query, x.Pos())
	if len(q.cols) != len(a.Targets) {
		failf(sqlerr.SyntaxError, x.Pos(), "number of columns does not match number of values")
	}
	row := &subquery{At: plan.At{T: types.TRecord, Off: x.Pos()}, kind: plan.SubRow, q: q}
	for k := range a.Targets {
		off := max(b.colOff(q, k), x.Pos())
		out = append(out, assigned{&a.Targets[k], &plan.FieldOf{At: plan.At{T: q.cols[k].T, Off: off}, X: row, Idx: k}, off})
	}
	return out
}

// changeNames binds what UPDATE or DELETE names but for SET and RETURNING: the entry of
// the table that changes, others beside it, and the condition. inner sees them all.
func (p *planner) changeNames(ref *ast.TableRef, from []ast.FromItem, where ast.Expr, d *destination, sc *scope) (r *rel, inner *scope, others []*nsItem) {
	bl := &block{rels: map[int]*rel{}}
	r = p.entry(d, ref.Alias)
	r.target = true
	if d.tree != nil && d.views == nil {
		r.tree = p.treeOf(d.table, d.only)
	}
	p.watch(r, d.right)
	bl.rels[r.id] = r
	bl.from = []*joinItem{{rel: r}}
	inner = &scope{parent: sc, block: bl}
	it := p.ownNames(r, d.shape, ref.Alias)
	p.addNames(inner, []*nsItem{it})
	n := len(inner.items)
	it.lateralBad = true // FROM does not see the table that changes
	p.fromList(from, inner, bl)
	it.lateralBad = false
	others = append([]*nsItem(nil), inner.items[n:]...)
	wb := &binder{planner: p, scope: inner, what: "WHERE", noAgg: true, noWin: true}
	bl.where = wb.cond(where)
	return r, inner, others
}

// change is what changeInput finds for UPDATE or DELETE.
type change struct {
	in      plan.Node
	setCols []int
	parts   []plan.Part // columns of which old and new value are in part
	unread  []int       // columns for which NULL stands
	ret     *boundReturning
	extra   layout // the columns of other entries that RETURNING reads
}

// changeInput plans the rows that UPDATE or DELETE works on: the row key, the
// live columns, the new values, then the columns of other entries that
// RETURNING needs.
// With cursor there is no condition but that the row is the one that the cursor
// stands on.
func (p *planner) changeInput(ref *ast.TableRef, from []ast.FromItem, where ast.Expr, cursor string, d *destination, verb string,
	sc *scope, set []ast.Assign, list []ast.Target) *change {
	r, inner, others := p.changeNames(ref, from, where, d, sc)
	bl := inner.block
	out := &change{extra: layout{}, ret: p.bindReturning(list, d, ref.Alias, bl, others, sc)}
	returning := out.ret != nil
	var setCols []int
	var values []plan.Expr
	if set != nil {
		sb := &binder{planner: p, scope: inner, what: "UPDATE", noAgg: true, noWin: true}
		setCols, values = p.assignments(set, d, r, sb)
	}
	p.ready(d, verb, setCols)
	named := r
	r, replace, conds := p.through(d, named)
	if d.tree != nil {
		r.tree = p.treeOf(d.table, d.only)
	}
	r.needKey, r.target, r.cursor = true, true, cursor
	p.secureTarget(d, r, verb, returning)
	if replace != nil {
		if cursor != "" {
			failf(sqlerr.FeatureNotSupported, -1, "WHERE CURRENT OF on a view is not implemented")
		}
		delete(bl.rels, named.id)
		bl.rels[r.id], bl.from[0] = r, &joinItem{rel: r}
		values = replaceIn(values, replace)
		mapQuery(&query{block: bl}, replace)
		bl.where = d.filterThrough(bl.where, conds)
		setCols = d.columns(setCols)
	}
	t := d.table
	p.foldNulls(bl)
	live := liveCols(t)
	addVar := func(rel *rel, col int, ty types.T) {
		bl.targets = append(bl.targets, target{x: &plan.Var{At: plan.At{T: ty, Off: -1}, Rel: rel.id, Col: col}})
	}
	addVar(r, plan.ColRowKey, types.TBytea)
	for _, c := range live {
		addVar(r, c, t.Columns[c].Type)
	}
	switch {
	case returning || r.tree != nil || d.tree != nil:
	case set == nil:
		out.unread = p.undeleted(t)
	case d.views == nil:
		out.unread = p.unread(t, setCols)
	}
	for _, c := range out.unread {
		bl.targets[1+slices.Index(live, c)].x = nullConst(t.Columns[c].Type)
	}
	if set != nil {
		for _, x := range values {
			bl.targets = append(bl.targets, target{x: x})
		}
		if !returning && d.views == nil {
			p.partAssigned(r, setCols, values)
		}
	}
	if returning {
		xs := make([]plan.Expr, len(out.ret.bl.targets))
		for i, t := range out.ret.bl.targets {
			xs[i] = t.x
		}
		for i, v := range columnsRead(xs, bl) {
			out.extra[[2]int{v.Rel, v.Col}] = i
			addVar(bl.rels[v.Rel], v.Col, v.T)
		}
	}
	if r.tree != nil {
		addVar(r, plan.ColTableOID, types.TOid)
	}
	bl.ncols = len(bl.targets)
	q := &query{rel: p.newRel(), block: bl}
	for i := range bl.targets {
		q.cols = append(q.cols, plan.OutCol{T: bl.targets[i].x.Type()})
	}
	out.in, out.setCols = p.planQuery(q), setCols
	out.parts = p.partsOf(r, setCols)
	return out
}

func (p *planner) planUpdate(s *ast.Update, outer *scope) plan.Node {
	sc, defs := outer, []*cteDef(nil)
	if s.With != nil {
		sc, defs = p.with(s.With, s, outer)
	}
	d := p.destination(&s.Table.Name, s.Table.Only, "UPDATE")
	c := p.changeInput(s.Table, s.From, s.Where, s.Current, d, "UPDATE", sc, s.Set, s.Returning)
	u := &plan.Update{Table: d.table, Tree: d.tree, Input: c.in, SetCols: c.setCols, Parts: c.parts, Unread: c.unread, Extra: len(c.extra), HasReturning: c.ret != nil}
	u.Common.Rows, u.Cost = c.in.Base().Rows, c.in.Base().Cost
	u.Returning, u.Cols, u.System = p.planReturning(c.ret, d, c.extra)
	u.Checks = append(p.updateChecks(d, s.Returning != nil), p.viewChecks(d, liveCols(d.table))...)
	d.grant()
	p.prepareCTEs(defs)
	return u
}

func (p *planner) planDelete(s *ast.Delete, outer *scope) plan.Node {
	sc, defs := outer, []*cteDef(nil)
	if s.With != nil {
		sc, defs = p.with(s.With, s, outer)
	}
	d := p.destination(&s.Table.Name, s.Table.Only, "DELETE")
	c := p.changeInput(s.Table, s.Using, s.Where, s.Current, d, "DELETE", sc, nil, s.Returning)
	del := &plan.Delete{Table: d.table, Tree: d.tree, Input: c.in, Unread: c.unread, Extra: len(c.extra), HasReturning: c.ret != nil}
	del.Common.Rows, del.Cost = c.in.Base().Rows, c.in.Base().Cost
	del.Returning, del.Cols, del.System = p.planReturning(c.ret, d, c.extra)
	d.grant()
	p.prepareCTEs(defs)
	return del
}

func aliasOf(r *ast.TableRef) string {
	if r.Alias != "" {
		return r.Alias
	}
	return r.Name.Last()
}
