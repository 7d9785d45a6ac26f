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
