package planner

import (
	"cmp"
	"slices"

	"kvsqld/planner/plan"
)

// orderWindows puts the windows into the order in which PostgreSQL computes them:
// without an ORDER BY the rows come as the last one that sorts has left them. Sort
// expressions are numbered in the order of ORDER BY, GROUP BY, WINDOW and OVER.
// Windows with higher numbers come first, and of two where one goes on after the
// other's keys, the longer one.
func (q *query) orderWindows() {
	b := q.block
	if len(b.wins) < 2 {
		return
	}
	number := map[string]int{}
	note := func(x plan.Expr) {
		if k := exprKey(x); number[k] == 0 {
			number[k] = len(number) + 1
		}
	}
	for _, k := range q.sort {
		note(b.targets[k.target].x)
	}
	if b.grouped {
		for i := range b.keys {
			note(&plan.Var{Rel: b.grpRel, Col: i})
		}
	}
	slices.SortStableFunc(b.wins, func(x, y *winGroup) int { return cmp.Compare(x.named, y.named) })
	for _, w := range b.wins {
		for _, k := range w.order {
			note(k.X)
		}
		for _, x := range w.partition {
			note(x)
		}
	}
	slices.SortStableFunc(b.wins, func(x, y *winGroup) int {
		xs, ys := x.sortKeys(), y.sortKeys()
		for i := range min(len(xs), len(ys)) {
			a, b := xs[i], ys[i]
			if c := cmp.Compare(number[exprKey(b.X)], number[exprKey(a.X)]); c != 0 {
				return c
			}
			switch {
			case a.Desc != b.Desc && a.Desc, a.Desc == b.Desc && a.NullsFirst && !b.NullsFirst:
				return -1
			case a.Desc != b.Desc || a.NullsFirst != b.NullsFirst:
				return 1
			}
		}
		return len(ys) - len(xs)
	})
}

// sortKeys is what the rows of a window are sorted by: its partitions, then its order.
func (w *winGroup) sortKeys() []plan.SortKey {
	var out []plan.SortKey
	for _, x := range w.partition {
		out = append(out, plan.SortKey{X: x})
	}
	for _, k := range w.order {
		has := func(o plan.SortKey) bool {
			return o.Desc == k.Desc && o.NullsFirst == k.NullsFirst && exprKey(o.X) == exprKey(k.X)
		}
		if !slices.ContainsFunc(out, has) {
			out = append(out, k)
		}
	}
	return out
}

// noteOrder remembers the order in which a query's windows leave its rows, for who reads
// the query: given
//
//	SELECT sum(gap) OVER (PARTITION BY a ORDER BY b) FROM
//	  (SELECT a, b, b - lag(b) OVER (PARTITION BY a ORDER BY b) AS gap FROM t) x
//
// the rows of t are sorted once.
func (p *planner) noteOrder(s *state) {
	b := s.b
	if len(b.wins) == 0 || b.distinct || b.hasSRF || len(s.q.sort) > 0 || p.NoOptimizer {
		return
	}
	var out []orderCol
	for _, o := range s.cur.order {
		at := slices.IndexFunc(b.targets[:b.ncols], func(t target) bool {
			v, ok := t.x.(*plan.Var)
			return ok && v.Level == 0 && v.Rel == o.rel && v.Col == o.col
		})
		if at < 0 {
			break
		}
		o.col = at
		out = append(out, o)
	}
	if len(out) > 0 {
		if p.orders == nil {
			p.orders = map[*query][]orderCol{}
		}
		p.orders[s.q] = out
	}
}

// orderOf is the order of a derived table's rows, in terms of its columns.
func (p *planner) orderOf(r *rel) []orderCol {
	q := r.query
	if q.ref != nil && p.inlined(q.ref) {
		q = q.ref.q
	}
	out := slices.Clone(p.orders[q])
	for i := range out {
		out[i].rel = r.id
	}
	return out
}
