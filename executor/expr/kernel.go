package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// identity lists row numbers, for loops that want a selection when there is none.
var identity = func() []uint32 {
	s := make([]uint32, 4*vec.BatchSize)
	for i := range s {
		s[i] = uint32(i)
	}
	return s
}()

// allRows returns the row numbers 0 … n-1; the slice is shared and read-only.
func allRows(n int) []uint32 {
	if n <= len(identity) {
		return identity[:n]
	}
	s := make([]uint32, n)
	for i := range s {
		s[i] = uint32(i)
	}
	return s
}

// rowsOf returns the batch's selected rows; the slice is read-only.
func rowsOf(b *vec.Batch) []uint32 {
	if b.Sel != nil {
		return b.Sel
	}
	return allRows(b.N)
}

// mask is and-ed with a row number to get a vector's index: 0 for constants.
func mask(v *vec.Vec) int {
	if v.Const {
		return 0
	}
	return -1
}

// value is the set of Go types that represent SQL values.
type value interface {
	bool | int64 | float64 | []byte | types.Decimal | types.Interval
}

// column returns the vector's slice for the representation A. A narrow numeric
// is spread into scratch, for the given rows alone.
func column[A value](v *vec.Vec, rows []uint32, scratch *[]types.Decimal) []A {
	var zero A
	switch any(zero).(type) {
	case bool:
		return *any(&v.Bool).(*[]A)
	case int64:
		return *any(&v.I64).(*[]A)
	case float64:
		return *any(&v.F64).(*[]A)
	case types.Interval:
		return *any(&v.Iv).(*[]A)
	case types.Decimal:
		if v.Dec != nil {
			return *any(&v.Dec).(*[]A)
		}
		wide(v, rows, scratch)
		return *any(scratch).(*[]A)
	default:
		return *any(&v.B).(*[]A)
	}
}

// wide spreads the given rows of a narrow numeric into scratch.
func wide(v *vec.Vec, rows []uint32, scratch *[]types.Decimal) {
	s := resize(*scratch, len(v.I64))
	if v.Const {
		s[0] = types.NewDecimal(v.I64[0], v.Scale)
	} else {
		for _, i := range rows {
			s[i] = types.NewDecimal(v.I64[i], v.Scale)
		}
	}
	*scratch = s
}

// resize returns s with length n, its contents unspecified.
func resize[E any](s []E, n int) []E {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]E, n, max(n, 2*cap(s)))
}

// nonNull appends to dst the rows that are not NULL in v.
func nonNull(dst []uint32, v *vec.Vec, rows []uint32) []uint32 {
	if v.Const {
		if v.IsNull(0) {
			return dst
		}
		return append(dst, rows...)
	}
	for _, i := range rows {
		if !v.Nulls.Get(int(i)) {
			dst = append(dst, i)
		}
	}
	return dst
}

// setNull makes a vector that is NULL in every row.
func setNull(out *vec.Vec, t types.T) *vec.Vec {
	out.Reset(t, 1)
	out.Const = true
	out.Nulls.Set(0)
	return out
}

// unionNulls adds v's NULLs to out's, both n rows long.
func unionNulls(out, v *vec.Vec, n int) {
	if !v.Nulls.Any() {
		return
	}
	if !v.Const {
		out.Nulls.Or(&v.Nulls)
		return
	}
	if v.Nulls.Get(0) {
		for i := range n {
			out.Nulls.Set(i)
		}
	}
}

// scatter copies the given rows of src to the same rows of dst, which has room
// for them and the same representation.
func scatter(dst, src *vec.Vec, rows []uint32) {
	m := mask(src)
	switch dst.T.Rep() {
	case types.RepBool:
		scatterRows(dst.Bool, src.Bool, rows, m)
	case types.RepInt:
		scatterRows(dst.I64, src.I64, rows, m)
	case types.RepFloat:
		scatterRows(dst.F64, src.F64, rows, m)
	case types.RepInterval:
		scatterRows(dst.Iv, src.Iv, rows, m)
	case types.RepDec:
		scatterDec(dst, src, rows, m)
	default:
		scatterRows(dst.B, src.B, rows, m)
	}
	copyNulls(dst, src, rows)
}

func scatterRows[E any](dst, src []E, rows []uint32, m int) {
	for _, i := range rows {
		dst[i] = src[int(i)&m]
	}
}

func scatterDec(dst, src *vec.Vec, rows []uint32, m int) {
	if dst.Dec == nil {
		if src.Dec == nil && src.Scale == dst.Scale {
			scatterRows(dst.I64, src.I64, rows, m)
			return
		}
		dst.Widen()
	}
	if src.Dec != nil {
		scatterRows(dst.Dec, src.Dec, rows, m)
		return
	}
	for _, i := range rows {
		dst.Dec[i] = types.NewDecimal(src.I64[int(i)&m], src.Scale)
	}
}

// narrowForm returns a numeric vector's values as integers of one scale: a
// narrow vector's own, or a small constant.
func narrowForm(v *vec.Vec, scratch *[1]int64) ([]int64, int32, bool) {
	if v.Dec == nil {
		return v.I64, v.Scale, true
	}
	if v.Const && !v.Nulls.Get(0) {
		if c, s, ok := v.Dec[0].Small(); ok {
			scratch[0] = c
			return scratch[:], s, true
		}
	}
	return nil, 0, false
}

// isTrue returns the rows of a boolean vector that are true.
func isTrue(dst []uint32, v *vec.Vec, rows []uint32) []uint32 {
	if v.Const {
		if v.IsNull(0) || !v.Bool[0] {
			return dst
		}
		return append(dst, rows...)
	}
	if v.Nulls.Any() {
		for _, i := range rows {
			if v.Bool[i] && !v.Nulls.Get(int(i)) {
				dst = append(dst, i)
			}
		}
		return dst
	}
	for _, i := range rows {
		if v.Bool[i] {
			dst = append(dst, i)
		}
	}
	return dst
}

// minus appends to dst the rows of all that are not in part; both ascend.
func minus(dst, all, part []uint32) []uint32 {
	k := 0
	for _, i := range all {
		if k < len(part) && part[k] == i {
			k++
			continue
		}
		dst = append(dst, i)
	}
	return dst
}

// merge appends to dst the union of two ascending disjoint lists.
func merge(dst, a, b []uint32) []uint32 {
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst, a = append(dst, a[0]), a[1:]
		} else {
			dst, b = append(dst, b[0]), b[1:]
		}
	}
	return append(append(dst, a...), b...)
}
