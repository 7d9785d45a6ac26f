package planner

import (
	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// The access path of one base table: part of step 1.

// planScan chooses the access path of a base table: the cheapest, or the one
// that delivers a wanted order when that is cheaper than sorting.
func (p *planner) planScan(s *state, u *unit, force *path) *pnode {
	r := u.rel
	// columns that come out, and with those that the conjuncts may need
	need := s.need[r.id]
	all := withTested(r, u.local, nil, need)
	for _, c := range u.local {
		if hasSub(c) {
			needOf(c, s.need) // correlated subqueries read the row, and maybe others
		}
	}
	if need == nil {
		need = s.need[r.id]
	}
	rels := s.b.rels
	out := p.jointSelectivity(u.local, rels)
	rows := max(1, p.tableRows(r.table)*out)
	if r.cursor != "" {
		rows = 1
	}
	best, loose := force, looseness{}
	if best == nil {
		want := p.wantedOrder(s, r, rows)
		var cost float64
		best, cost = p.bestPath(r, u.local, all, need, rows, want)
		sort := 0.0
		if len(want.cols) > 0 {
			sort = rows * costSort
		}
		if x, l := p.loosePath(s, u, all, need, rows, want); x != nil && x.cost < cost {
			best, loose, rows, cost = x, l, l.groups, x.cost
		}
		arms, c := p.unionOf(r, u.local, best)
		all := false
		if cost > fewGets && !best.single {
			if both, c2 := p.intersectionOf(r, u.local); both != nil && (arms == nil || c2 < c) {
				arms, c, all = both, c2, true
			}
		}
		if arms != nil && !best.single && c+sort < cost {
			return p.planUnion(s, u, arms, all, rows, c)
		}
	}
	sc := &plan.Scan{Table: r.table, Alias: r.alias, Cursor: r.cursor, Index: best.index, Access: best.access, IndexOnly: best.only, Reverse: best.reverse, Ordered: best.reverse || loose.cols > 0, Loose: loose.cols, LooseValue: loose.value}
	n := &pnode{lay: layout{}, rels: u.rels, base: r, cost: best.cost}
	var rest, entry []plan.Expr
	for _, c := range u.local {
		switch {
		case best.answers(c):
		case p.onEntry(r, best, c):
			entry = append(entry, c)
		default:
			rest = append(rest, c)
		}
	}
	wanted := all
	if len(rest) < len(u.local) {
		wanted = withTested(r, rest, nil, need)
	}
	sc.EntryFilter, sc.EntryCols = p.entryFilter(r, entry)
	sc.Cols, sc.Common.Cols = scanCols(r, wanted, n.lay)
	sc.Parts = p.partsOf(r, sc.Cols)
	sc.Area = p.placeArea(best.area)
	sc.Below = r.table.Cluster != nil && len(p.Snap.ClusterChildren(r.table)) > 0
	sc.Ranges = p.placeRanges(best.ranges)
	if best.tail != nil && best.index != nil && best.index.Kind == catalog.KindBtree && (best.access == plan.IndexRange) {
		sc.Tail, sc.TailAt = &p.placeRanges([]plan.KeyRange{*best.tail})[0], best.tailAt
	}
	if x := conjunction(byCost(rest)); x != nil {
		sc.Filter = p.place(x, n.lay)
	}
	if best.access == plan.FullScan {
		var share float64
		sc.Sample, share = p.sampleOf(r.table, rest)
		n.cost *= share
	}
	if len(best.order) > 0 || len(s.q.sort) > 0 && best.access != plan.CurrentRow {
		n.order = pathOrder(r, best, fixedCols(p.boundsOf(r, u.local, relSet.empty)))
	}
	if best.reverse {
		n.order = backwards(n.order)
	}
	n.unique = best.single
	if best.single {
		rows = min(rows, 1)
	}
	n.rows = rows
	sc.Rows, sc.Cost, sc.Step = rows, n.cost, "filter"
	n.node = sc
	return n
}

// placeRanges makes the bounds of ranges, which have no columns, part of a plan.
func (p *planner) placeRanges(list []plan.KeyRange) []plan.KeyRange {
	var out []plan.KeyRange
	for _, kr := range list {
		kr.Eq = p.planExprs(kr.Eq, nil)
		kr.LoRest, kr.HiRest = p.planExprs(kr.LoRest, nil), p.planExprs(kr.HiRest, nil)
		one := func(e plan.Expr) plan.Expr {
			if e == nil {
				return nil
			}
			return p.place(e, nil)
		}
		kr.EqAny, kr.Lo, kr.Hi, kr.Like, kr.Elems, kr.Test = one(kr.EqAny), one(kr.Lo), one(kr.Hi), one(kr.Like), one(kr.Elems), one(kr.Test)
		out = append(out, kr)
	}
	return out
}
