package executor

import (
	"fmt"
	"sort"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// narrow has the scan read the range that the key filters leave, by the file that
// makes it cheapest, instead of the whole table. It is called before the first
// row, when all filters have come in.
func (op *scan) narrow() {
	best := op.node.Common.Cost
	for _, f := range op.filters {
		if !f.ints || f.min > f.max {
			continue
		}
		for i := range op.node.Narrow {
			n := &op.node.Narrow[i]
			if n.Out != f.col {
				continue
			}
			share := 1.0
			if n.Stats != nil {
				share = shareBetween(n.Stats, f.min, f.max)
			}
			// The master's range is never more than the whole; an index is taken
			// when it pays even if the estimate is half as large as the truth.
			cost := op.node.Common.Cost * share * n.RowCost
			if n.Index != nil && 2*cost > best || n.Index == nil && cost > best {
				continue
			}
			best = cost
			op.points = nil
			t := op.types[n.Out]
			bound := func(v int64) *types.Datum { return &types.Datum{T: t, I: v} }
			op.spec.Index, op.spec.IndexOnly = n.Index, n.IndexOnly
			op.spec.Ranges = []types.Range{{Lo: bound(f.min), LoInc: true, Hi: bound(f.max), HiInc: true}}
			op.narrowed, op.cost = n, cost
		}
	}
	op.pick(best)
}

// lookupCost is what finding the rows of one value costs beside them, in the
// planner's unit.
const lookupCost = 8

// pick has the scan look up the values of a key filter that has few, where that is
// cheaper than best.
func (op *scan) pick(best float64) {
	for _, f := range op.filters {
		count := max(len(f.few), f.rows)
		if count == 0 {
			continue
		}
		for i := range op.node.Narrow {
			n := &op.node.Narrow[i]
			if n.Out != f.col {
				continue
			}
			rows := 1.0
			ctids := op.node.Cols[n.Out] == plan.ColCtid
			if n.Index != nil || len(op.node.Table.PK) > 1 && !ctids {
				if n.Stats == nil || n.Stats.NDistinct == 0 {
					continue
				}
				rows = max(1, op.node.Common.Cost/n.Stats.Distinct(op.node.Common.Cost))
			}
			cost := float64(count) * (lookupCost + 2*rows*n.RowCost)
			if cost >= best {
				continue
			}
			best = cost
			op.spec.Index, op.spec.IndexOnly = n.Index, n.IndexOnly
			op.points = f.values(op.types[n.Out])
			op.spec.Ranges = make([]types.Range, len(op.points))
			for i := range op.points {
				op.spec.Ranges[i].Eq = op.points[i : i+1]
			}
			if ctids {
				op.spec.Ranges = op.desc.TidRanges(op.spec.Ranges)
			}
			op.narrowed, op.cost = n, cost
		}
	}
}

// narrowedTo describes the range that is read instead of the table, for EXPLAIN.
func (op *scan) narrowedTo() string {
	if op.narrowed == nil {
		return ""
	}
	file := "key"
	if op.narrowed.Index != nil {
		file = op.narrowed.Index.Name
	}
	if op.narrowed.IndexOnly {
		file += ", index only"
	}
	if op.points != nil {
		return fmt.Sprintf("%s, %d values", file, len(op.points))
	}
	r := &op.spec.Ranges[0]
	return fmt.Sprintf("%s, %s to %s", file, types.AppendText(nil, *r.Lo, types.DefaultFmt), types.AppendText(nil, *r.Hi, types.DefaultFmt))
}

// shareBetween estimates the part of a column's rows whose value is from lo to
// hi, all of which are integers inside.
func shareBetween(st *catalog.ColStats, lo, hi int64) float64 {
	share, left := 0.0, 1-st.NullFrac
	for i, v := range st.MCV {
		left -= st.MCF[i]
		if lo <= v.I && v.I <= hi {
			share += st.MCF[i]
		}
	}
	h := st.Histogram
	if len(h) < 2 {
		return min(1, share+max(left, 0))
	}
	below := func(v int64) float64 {
		i := sort.Search(len(h), func(i int) bool { return h[i].I >= v })
		if i == 0 || i == len(h) {
			return float64(min(i, 1))
		}
		a, b := float64(h[i-1].I), float64(h[i].I)
		return (float64(i-1) + (float64(v)-a)/(b-a)) / float64(len(h)-1)
	}
	return share + max(left, 0)*(below(hi)-below(lo))
}
