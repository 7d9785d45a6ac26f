package planner

import (
	"math"
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// Costs in units of one row read in key order. The ratios come from measured
// figures: a cursor step with decoding takes some 50 ns, a get in a batch of
// sorted keys 25 times as long where the table is much larger than the processor's
// caches and its order is not the index's (half of that where it is small), a hash
// insert or probe about as long as a step.
const (
	costGet   = 25.0 // one get of a row by its key
	costEntry = 1.0  // one index entry
	// One row of a posting list, of which several hundred are read at a time.
	costPosting = 0.4
	costHash    = 1.0   // one probe
	costBuild   = 2.0   // one row put into a hash table
	costPair    = 0.05  // one pair tested by a loop join
	costStart   = 5.0   // opening a cursor
	costHead    = 160.0 // passing over the entries of one value of the columns before a tail
	// one test of an array's elements or a document's, which are taken apart for it
	costElements = 6.0
)

// pairCost is what testing conditions on one pair costs. What they compute of it costs
// several times as much as a comparison of columns.
func pairCost(on []plan.Expr) float64 {
	sum := 0.0
	for _, c := range on {
		sum += costPair * (1 + 4*max(exprCost(c)-1, 0))
	}
	return sum
}

// lookupCost is what a lookup of a table costs by a path: a get for each row that it
// finds, unless these lie together, in the master file or in an index that has all that is
// needed of them.
func (p *planner) lookupCost(s *state, u *unit, x *path) float64 {
	r, need := u.rel, s.need[u.rel.id]
	if x.index != nil && p.covers(r.table, x.index, need) {
		// Conditions on the table alone are looked at in its rows, unless the entries have it.
		var onRow []plan.Expr
		for _, c := range u.local {
			if !x.answers(c) && !p.onEntry(r, x, c) {
				onRow = append(onRow, c)
			}
		}
		need = withTested(r, onRow, nil, need)
	}
	if x.index == nil || p.covers(r.table, x.index, need) {
		return costStart + costGet + max(1, x.rows)
	}
	return costStart + costGet*max(1, x.rows)
}

// lookupCostOf is lookupCost of a join's lookups. Semi and anti joins read the entries of
// each up to the first row that fulfils all conditions.
func (p *planner) lookupCostOf(s *state, kind plan.JoinKind, u *unit, on []plan.Expr, x *path) float64 {
	if kind != plan.Semi && kind != plan.Anti {
		return p.lookupCost(s, u, x)
	}
	onEntry, onRow, further := 1.0, 1.0, false
	for _, c := range slices.Concat(on, u.local) {
		switch {
		case x.answers(c):
		case p.onEntry(u.rel, x, c):
			onEntry, further = onEntry*p.selectivity(c, s.b.rels), true
		default:
			onRow, further = onRow*p.selectivity(c, s.b.rels), true
		}
	}
	if !further {
		return costStart + costGet + 1
	}
	y := *x
	y.rows = untilFirst(x.rows*onEntry, onRow)
	return p.lookupCost(s, u, &y)
}

// untilFirst is how many of so many rows are read until one passes a condition.
func untilFirst(rows, sel float64) float64 {
	sel = min(max(sel, 1e-6), 1)
	return (1 - math.Pow(1-sel, rows)) / sel
}

// Selectivities where nothing is known.
const (
	selEq    = 0.005
	selRange = 0.3333
	selSpan  = 0.005 // between two bounds
	selLike  = 0.02
	selBool  = 0.5
	selNull  = 0.01
)

// colStats returns the statistics of a table column, or nil.
func (p *planner) colStats(r *rel, col int) *catalog.ColStats {
	if r == nil || r.table == nil || col < 0 {
		return nil
	}
	st := p.Snap.Stats(r.table.OID)
	if st == nil || col >= len(st.Cols) {
		return nil
	}
	return &st.Cols[col]
}

// distinct estimates the number of distinct values of an expression.
func (p *planner) distinct(e plan.Expr, rels map[int]*rel, rows float64) float64 {
	for {
		switch x := e.(type) {
		case *plan.Relabel:
			e = x.X
			continue
		case *plan.CoerceMod:
			e = x.X
			continue
		}
		break
	}
	v, ok := e.(*plan.Var)
	if !ok {
		return max(1, min(rows, 200))
	}
	r := rels[v.Rel]
	if r != nil && r.query != nil {
		return p.queryDistinct(r.query, v.Col, rows)
	}
	if r == nil || r.table == nil {
		return max(1, rows*0.5)
	}
	if v.Col == plan.ColCtid || len(r.table.PK) == 1 && r.table.PK[0] == v.Col {
		return p.tableRows(r.table)
	}
	for _, ix := range r.table.Indexes {
		if ix.Unique && len(ix.Keys) == 1 && ix.Keys[0].Col == v.Col {
			return p.tableRows(r.table)
		}
	}
	if c := p.colStats(r, v.Col); c != nil {
		if d := c.Distinct(p.tableRows(r.table)); d > 0 {
			return d
		}
	}
	return max(1, min(200, rows))
}
