package planner

import (
	"cmp"
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// Conditions of which each leaves many rows, and few together, are read from their
// indexes at once: given indexes on tags and on words,
//
//	WHERE tags @> '{7}' AND words @> '{x}'    row keys of both, then the rows that both have

// fewGets is the cost of a path below which it is not worth it to look for others beside.
const fewGets = 20 * costGet

// armCost is what reading the row keys of a path costs, and bringing them into order.
func armCost(x *path) float64 {
	per := 1.5 * costEntry
	if x.byElems || x.index.Kind == catalog.KindInverted || x.index.Kind == catalog.KindGin {
		per = costPosting
	}
	return costStart*float64(len(x.ranges)) + x.rows*per
}

// intersectionOf finds paths by which a table is read together, nil if one alone, or none,
// is cheaper. Each further one has to save more gets than its entries cost.
func (p *planner) intersectionOf(r *rel, conj []plan.Expr) (arms []path, cost float64) {
	if p.NoOptimizer || r.cursor != "" || r.table.Cluster != nil || len(conj) < 2 {
		return nil, 0
	}
	need := map[int]bool{plan.ColRowKey: true}
	list := slices.DeleteFunc(p.paths(r, conj, need, need), func(x path) bool {
		return x.index == nil || len(x.ranges) == 0 || x.single || x.area != nil
	})
	slices.SortStableFunc(list, func(a, b path) int { return cmp.Compare(a.rows, b.rows) })
	all := p.tableRows(r.table)
	rows := all
	for _, x := range list {
		if slices.ContainsFunc(arms, func(y path) bool { return p.sameGround(r, &x, &y) }) {
			continue
		}
		left := max(1, rows*x.rows/all)
		if len(arms) > 0 && (rows-left)*costGet <= armCost(&x) {
			continue
		}
		arms, rows = append(arms, x), left
		cost += armCost(&x)
	}
	if len(arms) < 2 {
		return nil, 0
	}
	return arms, cost + costStart + rows*costGet
}

// sameGround reports whether two paths are of one conjunct or column.
func (p *planner) sameGround(r *rel, x, y *path) bool {
	if x.byElems || y.byElems {
		return x.elems == y.elems
	}
	cols := restricted(r, x)
	return slices.ContainsFunc(restricted(r, y), func(c int) bool { return slices.Contains(cols, c) })
}

// restricted are the columns of which a path's range knows something.
func restricted(r *rel, x *path) (cols []int) {
	n := 0
	for i := range x.ranges {
		n = max(n, restrictedBy(&x.ranges[i]))
	}
	for i, k := range x.index.Keys[:min(n, len(x.index.Keys))] {
		cols = append(cols, r.keyCol(x.index, i, k))
	}
	return cols
}

// restrictedBy is the number of key columns that a range restricts.
func restrictedBy(kr *plan.KeyRange) int {
	n := len(kr.Eq)
	if kr.EqAny != nil || kr.IsNull || kr.NotNull || kr.Lo != nil || kr.Hi != nil || kr.Like != nil || kr.Test != nil {
		n++
	}
	return n
}
