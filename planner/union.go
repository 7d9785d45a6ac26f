package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A disjunction whose arms different indexes answer is read from these indexes:
// given indexes on a and on b,
//
//	WHERE a = 1 OR b = 2    row keys of a = 1 and of b = 2, then the rows, once each

// maxUnion bounds the arms of a disjunction that is read arm by arm.
const maxUnion = 64

// costArm is what opening the scan of an arm costs. Arms of one index are cheaper as
// ranges of one scan.
const costArm = 50.0

// unionOf finds the cheapest disjunction among the conjuncts that is read arm by
// arm, with the path of each arm; nil if there is none. best is a path that was found:
// where its ranges are the arms already, they are not looked at again.
func (p *planner) unionOf(r *rel, conj []plan.Expr, best *path) (arms []path, cost float64) {
	if p.NoOptimizer || r.cursor != "" || r.table.Cluster != nil {
		return nil, 0
	}
	for _, c := range conj {
		or, ok := c.(*plan.Or)
		if !ok || len(or.Args) > maxUnion || len(best.ranges) == len(or.Args) || hasSub(c) || volatileCall(c) {
			continue
		}
		need := map[int]bool{plan.ColRowKey: true}
		var list []path
		sum := 0.0
		for _, a := range or.Args {
			var best *path
			for _, x := range p.paths(r, conjuncts(a, nil), need, need) {
				if len(x.ranges) > 0 && !x.byElems && x.area == nil && (best == nil || x.cost < best.cost) {
					best = &x
				}
			}
			if best == nil {
				break
			}
			list = append(list, *best)
			sum += costArm + best.cost + best.rows*costGet
		}
		if len(list) == len(or.Args) && (arms == nil || sum < cost) {
			arms, cost = list, sum
		}
	}
	return arms, cost
}

// planUnion reads a table by the arms of a disjunction or, with all, by paths that each
// find all of its rows. All conjuncts are tested on these.
func (p *planner) planUnion(s *state, u *unit, arms []path, all bool, rows, cost float64) *pnode {
	r := u.rel
	n := &plan.IndexUnion{Table: r.table, Alias: r.alias, All: all}
	out := &pnode{lay: layout{}, rels: u.rels, rows: rows, cost: cost}
	n.Cols, n.Common.Cols = scanCols(r, withTested(r, u.local, nil, s.need[r.id]), out.lay)
	n.Parts = p.partsOf(r, n.Cols)
	for _, x := range arms {
		sc := &plan.Scan{Table: r.table, Index: x.index, Access: x.access, IndexOnly: true, Ranges: p.placeRanges(x.ranges), Cols: []int{plan.ColRowKey}}
		sc.Common.Cols = []plan.OutCol{{Name: "rowkey", T: types.TBytea, Hidden: true}}
		sc.Rows, sc.Cost = x.rows, x.cost
		n.Scans = append(n.Scans, sc)
	}
	n.Filter = p.place(conjunction(byCost(u.local)), out.lay)
	n.Rows, n.Cost, n.Step = rows, cost, "filter"
	if r.table.KeyIsRowKey() {
		out.order = masterOrder(r)
	}
	out.node = n
	return out
}

// scanCols lists the wanted columns of a table as a scan passes them, and notes in
// lay where they are.
func scanCols(r *rel, wanted map[int]bool, lay layout) (cols []int, out []plan.OutCol) {
	cols = inOrder(wanted)
	out = slices.Grow(out, len(cols))
	for i, c := range cols {
		lay[[2]int{r.id, c}] = i
		out = append(out, outCol(r, c))
	}
	return cols, out
}
