package executor

import (
	"math"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// noRow in a list of rows stands for a row of NULLs.
const noRow = math.MaxUint32

// gather makes dst the rows of src in the given order; noRow gives NULL. Bytes
// are shared.
func gather(dst, src *vec.Vec, rows []uint32, outer bool) {
	n := len(rows)
	dst.Reset(src.T, n)
	if src.Const && src.Nulls.Any() && src.Nulls.Get(0) {
		setAllNull(dst, n)
		return
	}
	if outer {
		for i, r := range rows {
			if r == noRow {
				dst.Nulls.Set(i)
			}
		}
	}
	if src.Nulls.Any() {
		for i, r := range rows {
			if r != noRow && src.IsNull(int(r)) {
				dst.Nulls.Set(i)
			}
		}
	}
	if src.Len() == 0 { // an empty build side: every row is noRow
		setAllNull(dst, n)
		return
	}
	switch src.T.Rep() {
	case types.RepBool:
		take(dst.Bool, src.Bool, rows, src.Const, outer)
	case types.RepInt:
		take(dst.I64, src.I64, rows, src.Const, outer)
	case types.RepFloat:
		take(dst.F64, src.F64, rows, src.Const, outer)
	case types.RepDec:
		if src.Dec == nil {
			dst.SetNarrow(n, src.Scale)
			take(dst.I64, src.I64, rows, src.Const, outer)
		} else {
			take(dst.Dec, src.Dec, rows, src.Const, outer)
		}
	case types.RepInterval:
		take(dst.Iv, src.Iv, rows, src.Const, outer)
	case types.RepBytes:
		take(dst.B, src.B, rows, src.Const, outer)
	}
}

func take[E any](dst, src []E, rows []uint32, constant, outer bool) {
	switch {
	case constant:
		for i := range rows {
			dst[i] = src[0]
		}
	case outer:
		for i, r := range rows {
			if r != noRow {
				dst[i] = src[r]
			} else {
				dst[i] = *new(E)
			}
		}
	default:
		for i, r := range rows {
			dst[i] = src[r]
		}
	}
}

// setAllNull makes the first n rows NULL, with values that are safe to read.
func setAllNull(v *vec.Vec, n int) {
	clear(v.B)
	for i := range n {
		v.Nulls.Set(i)
	}
}

// gatherBatch gathers all columns of a batch or store.
func gatherBatch(dst []*vec.Vec, src []*vec.Vec, rows []uint32, outer bool) {
	for i, c := range src {
		gather(dst[i], c, rows, outer)
	}
}

// newVecs returns empty vectors of the given types.
func newVecs(ts []types.T) []*vec.Vec {
	out := make([]*vec.Vec, len(ts))
	for i, t := range ts {
		out[i] = &vec.Vec{T: t}
	}
	return out
}

// constVec makes dst a constant vector of one datum; bytes are shared.
func constVec(dst *vec.Vec, d types.Datum) {
	dst.Reset(d.T, 1)
	dst.Const = true
	dst.Set(0, d)
}

// selectedRows returns the batch's selected row numbers, using buf when there
// is no selection.
func selectedRows(b *vec.Batch, buf []uint32) []uint32 {
	if b.Sel != nil {
		return b.Sel
	}
	for len(buf) < b.N {
		buf = append(buf, uint32(len(buf)))
	}
	return buf[:b.N]
}
