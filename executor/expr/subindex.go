package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// rowIndex finds the rows of an uncorrelated x IN (subquery) by hash, for row values
// and for types that valueSet does not hold. Rows with a NULL, which may be equal to
// any, are beside it.
type rowIndex struct {
	first  map[uint64]int32 // row + 1 of the first row with a hash
	next   []int32          // row + 1 of the next one with the same, 0 at the end
	rows   []*vec.Batch     // all full but for the last
	nulled *vec.Builder     // rows with a NULL, until they are all there
	some   subRows          // and then
}

// indexable reports whether values of the two types can be found by hash.
func indexable(a, b types.T) bool {
	if sameFamily(a, b) {
		return true
	}
	switch a.Kind() {
	case types.KRecord, types.KJSON, types.KGeometry, types.KInvalid:
		return false
	}
	return a.OID == b.OID
}

func newRowIndex(cols []types.T) *rowIndex {
	return &rowIndex{first: make(map[uint64]int32), nulled: vec.NewBuilder(cols)}
}

// add takes a row, which is the next one of the subquery.
func (x *rowIndex) add(row []types.Datum) {
	h, ok := hashOf(row)
	x.next = append(x.next, 0)
	if !ok {
		x.nulled.Append(row)
		if x.nulled.Len() == vec.BatchSize {
			x.some.batches = append(x.some.batches, x.nulled.Finish())
		}
		return
	}
	n := len(x.next)
	x.next[n-1], x.first[h] = x.first[h], int32(n)
}

func (x *rowIndex) finish(rows []*vec.Batch) {
	x.rows = rows
	if x.nulled.Len() > 0 {
		x.some.batches = append(x.some.batches, x.nulled.Finish())
	}
}

// hashOf hashes a row; false when it has a NULL.
func hashOf(row []types.Datum) (uint64, bool) {
	h := uint64(0)
	for _, d := range row {
		if d.Null {
			return 0, false
		}
		h = types.CombineHash(h, types.Hash(d))
	}
	return h, true
}

// has reports whether a row equal to this one, which has no NULL, is there.
func (x *rowIndex) has(row []types.Datum, hash uint64) bool {
candidates:
	for n := x.first[hash]; n != 0; n = x.next[n-1] {
		b, i := x.rows[int(n-1)/vec.BatchSize], int(n-1)%vec.BatchSize
		for k, d := range row {
			if !types.Equal(d, b.Cols[k].Get(i)) {
				continue candidates
			}
		}
		return true
	}
	return false
}

// among tests one row's left values against the rows of the subquery, by hash
// unless one of them is NULL.
func (e *subEval) among(env *Env, xs []*vec.Vec, i int, rows *subRows) (types.Datum, error) {
	e.probe = e.probe[:0]
	for _, x := range xs {
		e.probe = append(e.probe, x.Get(i))
	}
	h, ok := hashOf(e.probe)
	switch {
	case !ok:
		return e.quantified(env, xs, i, rows)
	case rows.index.has(e.probe, h):
		return types.Bool(!e.plan.Not), nil
	case len(rows.index.some.batches) > 0:
		return e.quantified(env, xs, i, &rows.index.some)
	}
	return types.Bool(e.plan.Not), nil
}

// indexes reports whether the rows of the subquery are looked up by hash.
func (e *subEval) indexes() bool {
	if e.hash || !e.plan.Hash || e.plan.Kind != plan.SubAny || !e.steady || len(e.plan.X) != len(e.cols) {
		return false
	}
	for k, x := range e.plan.X {
		if !indexable(x.Type(), e.cols[k]) {
			return false
		}
	}
	return true
}
