package planner

import (
	"kvsqld/planner/plan"
)

// ctidPath reads the rows whose ctids the conjuncts name, where a ctid tells the row's
// key:
//
//	WHERE ctid = '(0,7)'                         one row
//	WHERE ctid = ANY ($1)                        a row for each
//	WHERE ctid >= '(3,0)' AND ctid < '(4,0)'     a range of the master file
//
// nil: they name none. The conjuncts stay: among integers of a key some have no number
// of their own.
func (p *planner) ctidPath(r *rel, known bounds, rows float64) *path {
	if !known.has(plan.ColCtid) || !r.table.CtidTellsKey() {
		return nil
	}
	x := &path{access: plan.ByCtid, order: masterOrder(r)}
	var kr plan.KeyRange
	eq, any := known.find(plan.ColCtid, "eq"), known.find(plan.ColCtid, "any")
	lo, hi := known.find(plan.ColCtid, "lo"), known.find(plan.ColCtid, "hi")
	switch {
	case eq != nil:
		kr.Eq = []plan.Expr{eq.x}
		x.rows, x.single = 1, true
	case any != nil:
		kr.EqAny = any.x
		x.rows = min(rows, arrayCount(any.x))
	case lo != nil || hi != nil:
		rels := map[int]*rel{r.id: r}
		x.rows = rows
		if lo != nil {
			kr.Lo, kr.LoInc = lo.x, lo.inc || lo.rest != nil
			x.rows *= p.selectivity(lo.conj, rels)
		}
		if hi != nil {
			kr.Hi, kr.HiInc = hi.x, hi.inc || hi.rest != nil
			x.rows *= p.selectivity(hi.conj, rels)
		}
		x.rows = max(x.rows, 1)
	default:
		return nil
	}
	x.ranges = []plan.KeyRange{kr}
	x.cost = costStart + x.rows
	return x
}

// arrayCount estimates the number of an array's elements.
func arrayCount(x plan.Expr) float64 {
	if a, ok := x.(*plan.ArrayCtor); ok {
		return float64(len(a.Elems))
	}
	return 10
}
