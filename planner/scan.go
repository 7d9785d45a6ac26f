package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// The access path of one base table: part of step 1.

// planScan chooses the access path of a base table: the cheapest, or the one
// that delivers a wanted order when that is cheaper than sorting.
func (p *planner) planScan(s *state, u *unit, force *path) *pnode {
	r := u.rel
	// columns that come out, and with those that the conjuncts may need
	need := s.need[r.id]
	all := map[int]map[int]bool{r.id: maps.Clone(need)}
	for _, c := range u.local {
		if hasSub(c) {
			needOf(c, s.need) // correlated subqueries read the row, and maybe others
		}
		needOf(c, all)
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
	var best *path
	if force != nil {
		best = force
	} else {
		want := p.wantedOrder(s, r)
		limit := p.limitOf(s)
		paths := p.paths(r, u.local, all[r.id])
		bestCost := 0.0
		for i := range paths {
			x := &paths[i]
			cost := x.cost
			if want != nil {
				ok, rev := delivers(x, want)
				if ok {
					x.reverse = rev
					if limit > 0 && rows > limit {
						cost = costStart + x.cost*limit/rows
					}
				} else {
					cost += rows * 2
				}
			}
			if best == nil || cost < bestCost {
				best, bestCost = x, cost
			}
		}
	}
	sc := &plan.Scan{Table: r.table, Cursor: r.cursor, Index: best.index, Access: best.access, IndexOnly: best.only, Reverse: best.reverse, Ordered: best.reverse}
	n := &pnode{lay: layout{}, rels: u.rels, base: r, cost: best.cost, order: best.order}
	wanted := map[int]map[int]bool{r.id: maps.Clone(need)}
	var rest, entry []plan.Expr
	for _, c := range u.local {
		switch {
		case best.used[c]:
		case p.onEntry(r, best, c):
			entry = append(entry, c)
		default:
			rest = append(rest, c)
			needOf(c, wanted)
		}
	}
	sc.EntryFilter, sc.EntryCols = p.entryFilter(r, entry)
	for i, c := range slices.Sorted(maps.Keys(wanted[r.id])) {
		n.lay[[2]int{r.id, c}] = i
		sc.Cols = append(sc.Cols, c)
		switch {
		case c >= 0:
			sc.Common.Cols = append(sc.Common.Cols, r.cols[c])
		case c == plan.ColRowKey:
			sc.Common.Cols = append(sc.Common.Cols, plan.OutCol{Name: "rowkey", T: types.TBytea, Hidden: true})
		case c == plan.ColTableOID:
			sc.Common.Cols = append(sc.Common.Cols, plan.OutCol{Name: "tableoid", T: types.TOid})
		default:
			sc.Common.Cols = append(sc.Common.Cols, plan.OutCol{Name: "ctid", T: types.Of(types.OTid)})
		}
	}
	sc.Parts = p.partsOf(r, sc.Cols)
	sc.Area = p.placeArea(best.area)
	sc.Ranges = p.placeRanges(best.ranges)
	if best.tail != nil && best.index != nil && best.index.Kind == catalog.KindBtree && (best.access == plan.IndexRange) {
		sc.Tail, sc.TailAt = &p.placeRanges([]plan.KeyRange{*best.tail})[0], best.tailAt
	}
	if x := conjunction(byCost(rest)); x != nil {
		sc.Filter = p.place(x, n.lay)
	}
	if best.reverse {
		o := slices.Clone(n.order)
		for i := range o {
			o[i].desc, o[i].nullsFirst = !o[i].desc, !o[i].nullsFirst
		}
		n.order = o
	}
	if len(best.ranges) == 1 {
		n.order = p.pinned(r, best, n.order)
	}
	n.unique = best.single
	if best.single {
		rows = min(rows, 1)
	}
	n.rows = rows
	sc.Rows, sc.Cost, sc.Step = rows, best.cost, "filter"
	n.node = sc
	return n
}

// placeRanges makes the bounds of ranges, which have no columns, part of a plan.
func (p *planner) placeRanges(list []plan.KeyRange) []plan.KeyRange {
	var out []plan.KeyRange
	for _, kr := range list {
		kr.Eq = p.planExprs(kr.Eq, nil)
		one := func(e plan.Expr) plan.Expr {
			if e == nil {
				return nil
			}
			return p.place(e, nil)
		}
		kr.EqAny, kr.Lo, kr.Hi, kr.Like, kr.Elems = one(kr.EqAny), one(kr.Lo), one(kr.Hi), one(kr.Like), one(kr.Elems)
		out = append(out, kr)
	}
	return out
}

// pinned drops leading order columns that the range fixes to one value: what
// follows them orders the rows.
func (p *planner) pinned(r *rel, x *path, order []orderCol) []orderCol {
	k := len(x.ranges[0].Eq)
	if x.ranges[0].EqAny != nil {
		// several ranges, in key order
		return order
	}
	for i := range order {
		if i < k {
			order[i].rel = -order[i].rel // fixed
		}
	}
	return order
}

// wantedOrder is the block's ORDER BY in terms of r's columns, when the block
// is a scan of r and nothing between changes the order.
func (p *planner) wantedOrder(s *state, r *rel) []orderCol {
	b := s.b
	if p.NoOptimizer || len(s.q.sort) == 0 || b.grouped || b.distinct || len(b.wins) > 0 || b.hasSRF || len(b.rels) != 1 || len(b.semis) > 0 {
		return nil
	}
	var out []orderCol
	for _, k := range s.q.sort {
		v, ok := b.targets[k.target].x.(*plan.Var)
		if !ok || v.Rel != r.id || v.Col < 0 {
			return nil
		}
		out = append(out, orderCol{rel: r.id, col: v.Col, desc: k.desc, nullsFirst: k.nullsFirst})
	}
	return out
}

func (p *planner) limitOf(s *state) float64 {
	c, ok := s.q.limit.(*plan.Const)
	if !ok {
		if _, prm := s.q.limit.(*plan.Param); prm {
			return 20
		}
		return 0
	}
	if c.Val.Null {
		return 0
	}
	n := float64(c.Val.I)
	if o, ok := s.q.offset.(*plan.Const); ok && !o.Val.Null {
		n += float64(o.Val.I)
	}
	return max(n, 1)
}

// delivers reports whether a path's order answers want, possibly read backwards.
func delivers(x *path, want []orderCol) (ok, reverse bool) {
	if len(x.ranges) > 1 || len(x.ranges) == 1 && x.ranges[0].EqAny != nil {
		return false, false
	}
	fixed := map[int]bool{}
	if len(x.ranges) == 1 {
		for i := range x.ranges[0].Eq {
			if i < len(x.order) {
				fixed[x.order[i].col] = true
			}
		}
	}
	i, dir := 0, 0
	for _, w := range want {
		if fixed[w.col] {
			continue
		}
		for i < len(x.order) && fixed[x.order[i].col] && x.order[i].col != w.col {
			i++
		}
		if i >= len(x.order) || x.order[i].col != w.col {
			return false, false
		}
		o := x.order[i]
		d := 1
		if o.desc != w.desc {
			d = -1
		}
		// NOT NULL master keys have no NULLs to place
		if x.index != nil && (o.nullsFirst == w.nullsFirst) != (d == 1) {
			return false, false
		}
		if dir != 0 && dir != d {
			return false, false
		}
		dir = d
		i++
	}
	return true, dir == -1
}
