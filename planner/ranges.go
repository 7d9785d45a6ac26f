package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Ranges. Given CREATE INDEX i ON stay USING gist (room, during):
//
//	WHERE room = 5 AND during && '[2024-05-01,2024-05-03)'    the entries of room 5 that may overlap
//	WHERE room = 5 AND during @> date '2024-05-01'            … that may contain the day
//	WHERE during && '[2024-05-01,2024-05-03)'                 i does not help: its first column is free
//
// The entries of a room are kept by the length of their ranges; those of each length are
// read between two keys. The conjunct is tested on what is found.

// rangeTest reports whether an operator between ranges of type c and a value is one that
// an index of ranges kept by length answers.
func rangeTest(c, x types.T, op string) bool {
	if !types.KeptByLength(c) {
		return false
	}
	elem, _ := types.RangeElem(c)
	switch op {
	case "&&", "<@":
		return x.OID == c.OID
	case "@>":
		return x.OID == c.OID || x.OID == elem.OID
	}
	return false
}

// keptByLength reports whether an index has the ranges of a column by their length.
func keptByLength(r *rel, ix *catalog.Index, col int) bool {
	return ix != nil && ix.ByLength && col >= 0 && types.KeptByLength(r.colType(&plan.Var{Rel: r.id, Col: col}))
}

// rangesBy reports whether a table has an index that begins with a column of ranges,
// kept by their length.
func (p *planner) rangesBy(r *rel, col int) bool {
	return slices.ContainsFunc(r.table.Indexes, func(ix *catalog.Index) bool {
		return ix.Where == "" && ix.Keys[0].Col == col && keptByLength(r, ix, col) && p.readable(ix)
	})
}

// matchRange restricts a key column of ranges that are kept by length, and returns the
// number of columns that it restricted.
func (p *planner) matchRange(kr *plan.KeyRange, x *path, known bounds, col int, rels map[int]*rel) int {
	if b := known.find(col, "range"); b != nil {
		kr.Test, kr.TestOp = b.x, b.op
		x.rows *= p.selectivity(b.conj, rels)
		return 1
	}
	if b := known.find(col, "not null"); b != nil {
		kr.NotNull = true
		x.used = append(x.used, b.conj)
		x.rows *= p.selectivity(b.conj, rels)
		return 1
	}
	return 0
}

// overlapSel is the fraction of rows for which &&, @> or <@ holds: for ranges that of the
// column's common values and of its histogram's.
func (p *planner) overlapSel(x *plan.Call, rels map[int]*rel) float64 {
	op, at := x.Op, 0
	v, ok := bareVar(x.Args[0])
	if !ok {
		if v, ok = bareVar(x.Args[1]); !ok {
			return selElements
		}
		at = 1
		op = map[string]string{"&&": "&&", "@>": "<@", "<@": "@>"}[op]
	}
	st := p.colStats(rels[v.Rel], v.Col)
	if st != nil && len(st.Elems) > 0 {
		return p.elementSel(st, op, x.Args[1-at])
	}
	if st == nil || x.Args[at].Type().Kind() != types.KRange || len(st.Histogram) < 10 {
		return selElements
	}
	var tests []types.RangeValue
	if val, known := p.estimate(x.Args[1-at]); known {
		q, ok := rangeOrPoint(val)
		if !ok {
			return selElements
		}
		tests = append(tests, q)
	} else { // a value like the column's own
		for i := 0; i < len(st.Histogram); i += max(1, len(st.Histogram)/16) {
			if q, ok := rangeOrPoint(st.Histogram[i]); ok {
				tests = append(tests, q)
			}
		}
	}
	share := func(q types.RangeValue) float64 {
		common, left := 0.0, 1-st.NullFrac
		for i, m := range st.MCV {
			left -= st.MCF[i]
			if rangeHolds(m, op, q) {
				common += st.MCF[i]
			}
		}
		hits, n := 0.0, float64(len(st.Histogram))
		for _, h := range st.Histogram {
			if rangeHolds(h, op, q) {
				hits++
			}
		}
		return common + max(left, 0)*min(max(hits, 0.1), n)/n
	}
	sum := 0.0
	for _, q := range tests {
		sum += share(q)
	}
	return min(1, max(sum/float64(max(len(tests), 1)), 1e-6))
}

// rangeOrPoint is a range, or the range of one value.
func rangeOrPoint(d types.Datum) (types.RangeValue, bool) {
	if d.Null {
		return types.RangeValue{}, false
	}
	if d.T.Kind() != types.KRange {
		return types.RangeValue{Lo: &d, Hi: &d, LoInc: true, HiInc: true}, true
	}
	q, err := types.DecodeRange(d)
	return q, err == nil
}

// rangeHolds reports whether d op q holds.
func rangeHolds(d types.Datum, op string, q types.RangeValue) bool {
	r, ok := rangeOrPoint(d)
	switch {
	case !ok:
		return false
	case op == "<@":
		return types.RangeContains(q, r)
	case op == "&&":
		return types.RangesOverlap(r, q)
	}
	return types.RangeContains(r, q)
}
