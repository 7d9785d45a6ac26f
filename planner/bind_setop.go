package planner

import (
	"fmt"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

func (p *planner) bindValues(s *ast.Select, outer *scope) *query {
	bl := &block{rels: map[int]*rel{}}
	b := &binder{planner: p, scope: &scope{parent: outer}, what: "VALUES", noAgg: true, noWin: true, srf: false}
	var cols [][]plan.Expr
	for i, row := range s.Values {
		var xs []plan.Expr
		for _, x := range row {
			xs = append(xs, b.spread(x)...)
		}
		if i == 0 {
			cols = make([][]plan.Expr, len(xs))
		} else if len(xs) != len(cols) {
			failf(sqlerr.SyntaxError, row[0].Pos(), "VALUES lists must all be the same length")
		}
		for i, x := range xs {
			cols[i] = append(cols[i], x)
		}
	}
	width := len(cols)
	if len(s.Locking) > 0 {
		failf(sqlerr.FeatureNotSupported, -1, "FOR %s cannot be applied to VALUES", s.Locking[0].Strength)
	}
	q := &query{rel: p.newRel(), block: bl}
	vrel := &rel{id: p.newRel(), alias: valuesName}
	for i := range cols {
		xs, t := p.toCommon("VALUES", cols[i])
		cols[i] = xs
		for _, x := range xs {
			if x.Type().Mod != t.Mod {
				t.Mod = -1
			}
		}
		vrel.cols = append(vrel.cols, plan.OutCol{Name: fmt.Sprintf("column%d", i+1), T: t})
	}
	bl.values = make([][]plan.Expr, len(s.Values))
	for r := range s.Values {
		row := make([]plan.Expr, width)
		for i := range row {
			row[i] = cols[i][r]
		}
		bl.values[r] = row
	}
	bl.rels[vrel.id] = vrel
	bl.from = []*joinItem{{rel: vrel}}
	sc := &scope{parent: outer, block: bl, items: []*nsItem{p.relNames(vrel, nil)}}
	for _, c := range sc.items[0].cols {
		bl.targets = append(bl.targets, target{x: c.x, name: c.name})
	}
	bl.ncols = len(bl.targets)
	ob := &binder{planner: p, scope: sc, what: "ORDER BY", noAgg: true, noWin: true}
	for _, o := range s.OrderBy {
		q.sort = append(q.sort, p.orderTarget(o, ob, bl))
	}
	p.limits(q, s, sc)
	for i := 0; i < bl.ncols; i++ {
		q.cols = append(q.cols, plan.OutCol{Name: bl.targets[i].name, T: bl.targets[i].x.Type()})
	}
	return q
}

// unionType is the type of a column of a set operation.
func (p *planner) unionType(name string, l, r *query, i int) types.T {
	a := &plan.Const{At: plan.At{T: l.cols[i].T, Off: p.colOff(l, i)}, Val: types.Null(l.cols[i].T)}
	c := &plan.Const{At: plan.At{T: r.cols[i].T, Off: p.colOff(r, i)}, Val: types.Null(r.cols[i].T)}
	return p.commonType(name, []plan.Expr{a, c})
}

// startOfQuery is the offset of the first expression of a select list.
func startOfQuery(s *ast.Select) int {
	if len(s.Targets) > 0 {
		return startOf(s.Targets[0].X)
	}
	return -1
}

func (p *planner) bindSetOp(s *ast.Select, outer *scope) *query {
	for _, arm := range []*ast.Select{s.SetOp.L, s.SetOp.R} {
		noLocksInSetOp(arm)
	}
	// A chain of set operations leans to the left and is no nesting to its writer: a
	// member of it counts as one level.
	p.depth -= queryDepth - 1
	l := p.bindSelect(s.SetOp.L, outer)
	p.depth += queryDepth - 1
	r := p.bindSelect(s.SetOp.R, outer)
	name := s.SetOp.Op
	if len(l.cols) != len(r.cols) {
		failf(sqlerr.SyntaxError, startOfQuery(s.SetOp.R), "each %s query must have the same number of columns", name)
	}
	q := &query{rel: p.newRel(), setop: &setop{op: name, all: s.SetOp.All, l: l, r: r}}
	for i := range l.cols {
		t := p.unionType(name, l, r, i)
		for _, side := range []*query{l, r} {
			if off := p.colOff(side, i); p.canCoerce(side.cols[i].T.OID, t.OID, implicit) {
				p.castColumn(side, i, t)
			} else {
				failf(sqlerr.CannotCoerce, off, "%s could not convert type %s to %s", name, p.bareName(side.cols[i].T.OID), p.bareName(t.OID))
			}
		}
		if !s.SetOp.All || name != "UNION" {
			p.needEquality(&plan.Const{At: plan.At{T: t}}, p.colOff(l, i))
		}
		q.cols = append(q.cols, plan.OutCol{Name: l.cols[i].Name, T: t})
	}
	// ORDER BY of a set operation sees the output columns only
	for _, o := range s.OrderBy {
		k := sortKey{target: -1}
		switch x := o.X.(type) {
		case *ast.ColumnRef:
			for i, c := range q.cols {
				if len(x.Parts) == 1 && c.Name == x.Parts[0] {
					k.target = i
					break
				}
			}
			if k.target < 0 {
				b := &binder{planner: p, scope: &scope{parent: outer, block: &block{rels: leafRels(q)}}}
				if n := len(x.Parts); n > 1 {
					fail(b.noRelation(x.Parts[n-2], x.Pos()))
				}
				fail(b.noColumn("", x.Parts[len(x.Parts)-1], x.Pos()))
			}
		case *ast.Const:
			k.target = listPosition(x, len(q.cols), "ORDER BY")
		default:
			p.noSetOpKey(q, o.X, outer)
		}
		col := &plan.Const{At: plan.At{T: q.cols[k.target].T, Off: -1}, Val: types.Null(q.cols[k.target].T)}
		k.desc, k.nullsFirst = p.direction(o, col)
		k.using = usingOther(o)
		q.sort = append(q.sort, k)
	}
	p.limits(q, s, &scope{parent: outer})
	noLocksInSetOp(s)
	return q
}

// noSetOpKey refuses an expression as a key of a set operation's ORDER BY, behind what is
// wrong with the expression itself.
func (p *planner) noSetOpKey(q *query, x ast.Expr, outer *scope) {
	result := &nsItem{colsVisible: true}
	for i, c := range q.cols {
		result.cols = append(result.cols, nsCol{name: c.Name, x: &plan.Var{At: plan.At{T: c.T, Off: -1}, Rel: q.rel, Col: i, Name: c.Name}})
	}
	b := &binder{planner: p, scope: &scope{parent: outer, block: &block{rels: leafRels(q)}, items: []*nsItem{result}}, what: "ORDER BY", srf: true}
	b.expr(x)
	fail(sqlerr.New(sqlerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").At(startOf(x)).
		WithDetail("Only result column names can be used, not expressions or functions.").
		WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause."))
}

// noLocksInSetOp refuses FOR UPDATE of a set operation and of its parts.
func noLocksInSetOp(s *ast.Select) {
	if len(s.Locking) > 0 {
		failf(sqlerr.FeatureNotSupported, -1, "FOR %s is not allowed with UNION/INTERSECT/EXCEPT", s.Locking[0].Strength)
	}
}

// colOff is the position of a query's output column, that of the first member of a
// set operation; -1 where it has none.
func (p *planner) colOff(q *query, i int) int {
	if q.setop != nil {
		return p.colOff(q.setop.l, i)
	}
	if q.block != nil && i < len(q.block.targets) {
		return leftmost(q.block.targets[i].x)
	}
	return -1
}

// convertedName is what a query is called in the one that converts its columns.
const convertedName = "*SELECT*"

// castColumn makes a query's output column have the type.
func (p *planner) castColumn(q *query, i int, t types.T) {
	if q.cols[i].T == t {
		return
	}
	if q.setop == nil && q.block != nil && q.block.values == nil && !q.block.distinguishes(i) && !sortsBy(q, i) {
		x := q.block.targets[i].x
		y := p.coerce(x, t, implicit)
		if y == nil {
			failf(sqlerr.CannotCoerce, x.Pos(), "could not convert type %s to %s", p.bareName(x.Type().OID), p.bareName(t.OID))
		}
		q.block.targets[i].x = y
		q.cols[i].T = t
		return
	}
	// wrap: select casts from the query
	inner := *q
	inner.rel = p.newRel()
	r := p.queryRel(&inner, convertedName)
	bl := &block{rels: map[int]*rel{r.id: r}, from: []*joinItem{{rel: r}}}
	for k, c := range inner.cols {
		var x plan.Expr = &plan.Var{At: plan.At{T: c.T, Off: -1}, Rel: r.id, Col: k, Name: c.Name}
		if k == i {
			if x = p.coerce(x, t, implicit); x == nil {
				failf(sqlerr.CannotCoerce, -1, "could not convert type %s to %s", p.bareName(c.T.OID), p.bareName(t.OID))
			}
		}
		bl.targets = append(bl.targets, target{x: x, name: c.Name})
	}
	bl.ncols = len(bl.targets)
	*q = query{rel: q.rel, block: bl, cols: append([]plan.OutCol(nil), inner.cols...)}
	q.cols[i].T = t
}

func sortsBy(q *query, target int) bool {
	for _, k := range q.sort {
		if k.target == target {
			return true
		}
	}
	return false
}

// resolveUnknowns gives output columns that are still unknown the type text.
func (p *planner) resolveUnknowns(q *query) {
	for i := range q.cols {
		if q.cols[i].T.OID == types.OUnknown {
			p.castColumn(q, i, types.TText)
		}
	}
}

// leafRels are the members of a set operation by the names that hints have for
// them.
func leafRels(q *query) map[int]*rel {
	out := map[int]*rel{}
	var add func(q *query)
	add = func(q *query) {
		if q.setop != nil && q.sort == nil && q.limit == nil {
			add(q.setop.l)
			add(q.setop.r)
			return
		}
		n := len(out) + 1
		r := &rel{id: n, alias: fmt.Sprintf("*SELECT* %d", n)}
		for _, c := range q.cols {
			r.names = append(r.names, nsCol{name: c.Name})
		}
		out[n] = r
	}
	add(q)
	return out
}
