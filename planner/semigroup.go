package planner

import (
	"math"
	"slices"

	"kvsqld/planner/plan"
)

// groupedSemi makes a semi or anti join of EXISTS over a query that groups by keys and is
// correlated by equalities: these become keys as well. Rows that equal a row of the block
// make the same groups then as they made alone. Without a key there is a group also where
// there are no rows.
func (p *planner) groupedSemi(s *state, m *semi) *semi {
	q := m.q
	if q.ref != nil || q.dml != nil || q.setop != nil || len(q.ctes) > 0 || q.offset != nil || len(q.locks) > 0 || dropConstLimit(q) != nil {
		return nil
	}
	b := q.block
	if len(b.keys) == 0 || b.sets != nil || len(b.wins) > 0 || b.hasSRF || slices.ContainsFunc(b.targets, func(t target) bool { return hasEffect(t.x) || hasSub(t.x) }) ||
		slices.ContainsFunc(b.having, func(x plan.Expr) bool { return hasSub(x) || volatileCall(x) }) {
		return nil
	}
	before := b.targets
	b.targets = nil // whatever they are
	link := p.keysOf(s, q)
	if link == nil || p.fewRuns(s, q, link.inner, math.Inf(1)) {
		b.targets = before
		return nil
	}
	b.where = link.local
	at := p.alsoBy(b, link.inner)
	q.limit, q.sort, q.cols = nil, nil, nil
	b.distinct, b.distinctOn = false, nil
	for i, c := range link.conds {
		x := link.inner[i]
		key := exprKey(x)
		b.targets = append(b.targets, target{x: &plan.Var{At: plan.At{T: x.Type(), Off: -1}, Rel: b.grpRel, Col: at[i]}, name: "key"})
		q.cols = append(q.cols, plan.OutCol{Name: "key", T: x.Type()})
		call := *(c.(*plan.Call))
		call.Args = slices.Clone(call.Args)
		for k := range call.Args {
			if exprKey(call.Args[k]) == key {
				call.Args[k] = &plan.Var{At: plan.At{T: x.Type(), Off: -1}, Rel: q.rel, Col: i, Name: "key"}
				break
			}
		}
		m.conds = append(m.conds, &call)
	}
	b.ncols = len(b.targets)
	return m
}

// alsoBy has a block group by further keys, and returns the places of these in the
// grouping's output.
func (p *planner) alsoBy(b *block, keys []plan.Expr) []int {
	at := make([]int, len(keys))
	n := len(b.keys)
	for i, k := range keys {
		at[i] = slices.IndexFunc(b.keys, func(x plan.Expr) bool { return exprKey(x) == exprKey(k) })
		if at[i] < 0 {
			at[i] = len(b.keys)
			b.keys = append(b.keys, k)
		}
	}
	// aggregates come behind the keys
	shift := func(x plan.Expr) plan.Expr {
		if v, ok := x.(*plan.Var); ok && v.Rel == b.grpRel && v.Col >= n {
			c := *v
			c.Col += len(b.keys) - n
			return &c
		}
		return x
	}
	for i, h := range b.having {
		b.having[i] = plan.Map(h, shift)
	}
	for i := range b.targets {
		b.targets[i].x = plan.Map(b.targets[i].x, shift)
	}
	return at
}
