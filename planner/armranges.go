package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// The arms of a disjunction that one file answers are ranges of it. Given
// CREATE INDEX i ON t (a, b):
//
//	WHERE (a, b) IN ((1, 2), (3, 4))      ranges a = 1, b = 2 and a = 3, b = 4
//	WHERE a = 1 AND b > 5 OR a = 7        ranges a = 1, b > 5 and a = 7
//	WHERE a = 1 AND (b < 2 OR b > 9)      ranges a = 1, b < 2 and a = 1, b > 9
//	WHERE a = 1 OR c = 2                  i does not help: an arm leaves its first column free
//
// Storage joins ranges that overlap.

// maxArmRanges bounds the arms of a disjunction that are ranges of one file.
const maxArmRanges = 10000

// orBounds are a disjunction and what each of its arms says about columns, together with
// the other conjuncts.
type orBounds struct {
	or   plan.Expr
	arms []armBounds
}

type armBounds struct {
	conj   []plan.Expr
	bounds bounds
}

// orsOf are the conjuncts that are disjunctions of which each arm bounds a column. outer
// is what the conjuncts that are none say.
func (p *planner) orsOf(r *rel, conj []plan.Expr, outer bounds) []orBounds {
	var out []orBounds
	none := relSet.empty
	for _, c := range conj {
		or, ok := c.(*plan.Or)
		if !ok || len(or.Args) > maxArmRanges || hasSub(or) || volatileCall(or) {
			continue
		}
		if len(p.boundsOf(r, []plan.Expr{or}, none)) > 0 {
			continue // a comparison of rows, which is one range
		}
		o := orBounds{or: or}
		for _, a := range or.Args {
			arm := armBounds{conj: conjuncts(a, nil)}
			if arm.bounds = p.boundsOf(r, arm.conj, none); len(arm.bounds) == 0 {
				break
			}
			arm.bounds = append(arm.bounds, outer...)
			o.arms = append(o.arms, arm)
		}
		if len(o.arms) == len(or.Args) {
			out = append(out, o)
		}
	}
	return out
}

// matchArms builds for each disjunction the ranges that its arms are of a file whose key
// columns are keys. Those are left out whose arms know no more of the key than the other
// conjuncts do.
func (p *planner) matchArms(r *rel, ix *catalog.Index, keys []catalog.IndexKey, unique bool, ors []orBounds, rows float64) []*path {
	var out []*path
next:
	for _, o := range ors {
		x := &path{index: ix}
		whole := true // every arm is answered by its range
		for i, arm := range o.arms {
			y := p.match(r, ix, keys, unique, arm.bounds, rows)
			if y == nil || y.tail != nil || !armBound(r, ix, keys, &y.ranges[0], arm) {
				continue next
			}
			x.ranges = append(x.ranges, y.ranges[0])
			x.rows += y.rows
			whole = whole && all(arm.conj, func(c plan.Expr) bool { return y.answers(c) })
			if i == 0 {
				x.used = y.used
			} else {
				x.used = slices.DeleteFunc(x.used, func(c plan.Expr) bool { return !y.answers(c) })
			}
		}
		if x.rows = min(x.rows, rows); whole {
			x.used = append(x.used, o.or)
		}
		out = append(out, x)
	}
	return out
}

// armBound reports whether one of the key columns that a range restricts is one that the
// arm says something about.
func armBound(r *rel, ix *catalog.Index, keys []catalog.IndexKey, kr *plan.KeyRange, arm armBounds) bool {
	for i := range keys[:min(restrictedBy(kr), len(keys))] {
		col := r.keyCol(ix, i, keys[i])
		if slices.ContainsFunc(arm.bounds, func(b bound) bool { return b.col == col && slices.Contains(arm.conj, b.conj) }) {
			return true
		}
	}
	return false
}
