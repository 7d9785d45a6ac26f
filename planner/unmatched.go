package planner

import (
	"slices"

	"kvsqld/planner/plan"
)

// unmatched makes an anti join of a left join of which only the rows without a match are
// wanted:
//
//	FROM orders o LEFT JOIN notes n ON n.ord = o.id WHERE n.ord IS NULL
//
// are the orders without notes. It is an anti join where the column is NULL in no matched
// row and nothing else reads the other side. l and r are the sides; false: it stays a left join.
func (p *planner) unmatched(s *state, j, l, r *joinItem) bool {
	if p.NoOptimizer || s.part || s.lead != nil || s.b.lateral() || j.kind != plan.Left && j.kind != plan.Right ||
		r.rel == nil || r.rel.table == nil || r.rel.tree != nil || r.rel.table.Cluster != nil {
		return false
	}
	ids, beside := r.ids(), l.ids()
	joins := false
	for _, c := range j.on {
		if hasSub(c) || volatileCall(c) {
			return false
		}
		joins = joins || reads(c, ids) && reads(c, beside)
	}
	at := slices.IndexFunc(s.conj, func(c plan.Expr) bool { return p.isUnmatched(c, r.rel, j.on) })
	on := func(c plan.Expr) bool { return reads(c, ids) }
	rest := slices.Clone(s.conj)
	if !joins || at < 0 || slices.ContainsFunc(slices.Delete(rest, at, at+1), on) || slices.ContainsFunc(s.above, on) ||
		slices.ContainsFunc(s.b.semis, func(m *semi) bool { return slices.ContainsFunc(m.conds, on) }) || neededBeside(s, j, r.rel) {
		return false
	}
	s.conj = slices.Delete(slices.Clone(s.conj), at, at+1)
	m := p.leftSide(s, j, l, r)
	m.kind, m.beside = plan.Anti, relSet{}
	s.b.semis = append(s.b.semis[:len(s.b.semis):len(s.b.semis)], m)
	return true
}

// neededBeside reports whether more of the block reads the entry than a join's conditions
// and WHERE do.
func neededBeside(s *state, j *joinItem, r *rel) bool {
	own := j.on
	defer func() { j.on = own }()
	j.on = nil
	all := &state{q: s.q, b: s.b, need: map[int]map[int]bool{}}
	blockNeeds(all)
	return len(all.need[r.id]) > 0
}

// isUnmatched reports whether c is true of no row of the entry that fulfils the conditions
// on of its join: it wants a column to be NULL that is NOT NULL, or that they need.
func (p *planner) isUnmatched(c plan.Expr, r *rel, on []plan.Expr) bool {
	x, ok := c.(*plan.Is)
	if !ok || x.Test != plan.IsNull || x.Not {
		return false
	}
	v, ok := x.X.(*plan.Var)
	if !ok || v.Rel != r.id || v.Col < 0 {
		return false
	}
	needs := func(c plan.Expr) bool {
		l, r, ok := equality(c)
		return ok && c.(*plan.Call).Proc.Strict && (isColumn(l, v) || isColumn(r, v))
	}
	return r.table.Columns[v.Col].NotNull || slices.ContainsFunc(on, needs)
}

func isColumn(e plan.Expr, v *plan.Var) bool {
	x, ok := e.(*plan.Var)
	return ok && x.Rel == v.Rel && x.Col == v.Col
}
