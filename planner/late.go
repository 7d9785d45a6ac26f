package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A select list is computed as late as PostgreSQL does it: above LIMIT where
// nothing is sorted; above the sort, DISTINCT ON and LIMIT those of its expressions that
// are volatile, and those that are costly if there is a LIMIT. Given
//
//	SELECT id, (SELECT count(*) FROM b WHERE b.x = a.id) FROM a ORDER BY y LIMIT 20
//
// the subquery runs twenty times.

// costlyTarget is the cost from which an expression is computed above a LIMIT.
const costlyTarget = 10

// lateTargets tells which targets are computed above sort and LIMIT, nil if none
// are. All of them: the rows of the input go there as they are.
func (p *planner) lateTargets(s *state, sorted bool) []bool {
	b, q := s.b, s.q
	limited := q.limit != nil || q.offset != nil
	if b.hasSRF || b.distinct && b.distinctOn == nil || q.ties || len(q.locks) > 0 {
		return nil
	}
	late := make([]bool, len(b.targets))
	switch {
	case b.distinctOn != nil:
		if len(q.sort) == q.added { // without ORDER BY all is computed below
			return nil
		}
	case len(q.sort) == 0 || sorted:
		if !limited {
			return nil
		}
		for i := range late {
			late[i] = true
		}
		return late
	}
	for i, t := range b.targets[:b.ncols] {
		late[i] = hasEffect(t.x) || limited && exprCost(t.x) > costlyTarget
	}
	for _, k := range q.sort {
		late[k.target] = false
	}
	for _, t := range b.distinctOn {
		late[t] = false
	}
	if !slices.Contains(late, true) {
		return nil
	}
	return late
}

// earlyPart projects what is needed below late targets: the others, and the
// columns that late ones read. at is where the others are, lay where the columns.
func (p *planner) earlyPart(s *state, late []bool) (n plan.Node, at []int, lay layout) {
	b, in := s.b, s.cur
	if !slices.Contains(late, false) {
		return in.node, nil, in.lay
	}
	pr := &plan.Project{Input: in.node}
	pr.Rows, pr.Cost = in.rows, in.cost
	add := func(x plan.Expr, c plan.OutCol) int {
		pr.Exprs, pr.Cols = append(pr.Exprs, x), append(pr.Cols, c)
		return len(pr.Exprs) - 1
	}
	at, lay = make([]int, len(b.targets)), layout{}
	need := map[int]map[int]bool{}
	for i, t := range b.targets {
		if late[i] {
			needOf(t.x, need)
			continue
		}
		x := p.place(t.x, in.lay)
		at[i] = add(x, t.out(x))
	}
	cols := in.node.Base().Cols
	for _, rel := range slices.Sorted(maps.Keys(need)) {
		for _, col := range inOrder(need[rel]) {
			k := [2]int{rel, col}
			if i, ok := in.lay[k]; ok {
				lay[k] = add(&plan.Col{At: plan.At{T: cols[i].T, Off: -1}, Idx: i, Name: cols[i].Name}, cols[i])
			}
		}
	}
	return pr, at, lay
}

// out describes a target that x computes.
func (t *target) out(x plan.Expr) plan.OutCol {
	return plan.OutCol{Name: t.name, T: x.Type(), Table: t.tbl, AttNum: t.attnum}
}

// latePart computes the select list above n, which has the early part.
func (p *planner) latePart(s *state, n plan.Node, late []bool, at []int, lay layout) plan.Node {
	b := s.b
	pr := &plan.Project{Input: n}
	add := func(i int) {
		t := &b.targets[i]
		var x plan.Expr
		if late[i] {
			x = p.place(t.x, lay)
		} else {
			x = &plan.Col{At: plan.At{T: t.x.Type(), Off: -1}, Idx: at[i], Name: t.name}
		}
		c := t.out(x)
		c.Hidden = i >= b.ncols
		pr.Exprs, pr.Cols = append(pr.Exprs, x), append(pr.Cols, c)
	}
	for i := range b.ncols {
		add(i)
	}
	p.placeHidden(s, &pr.Cols, add)
	pr.Rows, pr.Cost = n.Base().Rows, n.Base().Cost
	if same(pr, n) {
		n.Base().Cols = pr.Cols
		return n
	}
	return pr
}

// skipLate has OFFSET pass over rows whose late targets are computed, where these
// have effects: the LIMIT below counts them. It puts OFFSET above what it is given.
func (p *planner) skipLate(q *query, late []bool) func(plan.Node) plan.Node {
	effects := false
	for i, is := range late {
		effects = effects || is && hasEffect(q.block.targets[i].x)
	}
	offset := q.offset
	if !effects || offset == nil {
		return func(n plan.Node) plan.Node { return n }
	}
	if q.limit != nil {
		b := &binder{planner: p}
		none := &plan.Const{At: plan.At{T: types.TInt8, Off: -1}, Val: types.Int(types.TInt8, 0)}
		skipped := &plan.Coalesce{At: plan.At{T: types.TInt8, Off: -1}, Args: []plan.Expr{offset, none}}
		q.limit = b.operator("", "+", q.limit, skipped, -1)
	}
	q.offset = nil
	return func(n plan.Node) plan.Node {
		l := &plan.Limit{Input: n, Offset: p.place(offset, nil)}
		l.Rows, l.Cost, l.Cols = n.Base().Rows, n.Base().Cost, n.Base().Cols
		return l
	}
}

// same reports whether a projection passes its input's columns as they are.
func same(pr *plan.Project, n plan.Node) bool {
	for i, x := range pr.Exprs {
		if c, ok := x.(*plan.Col); !ok || c.Idx != i {
			return false
		}
	}
	return len(pr.Exprs) == len(n.Base().Cols)
}

// placeHidden adds the columns that tell where a cursor stands behind those of cols.
func (p *planner) placeHidden(s *state, cols *[]plan.OutCol, add func(i int)) {
	if s.q != p.cursorQuery {
		return
	}
	for i := range p.places {
		add(p.places[i].Col)
		p.places[i].Col = len(*cols) - 1
		if p.places[i].Tree != nil {
			add(p.places[i].OIDCol)
			p.places[i].OIDCol = len(*cols) - 1
		}
	}
}
