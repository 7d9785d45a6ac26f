// Package vec has the vectors that storage fills, the executor computes on and
// the wire empties: typed columns of up to BatchSize rows.
//
// In: rows decoded from storage or computed by kernels. Out: typed slices.
// Invariant: a Vec's slice of its type's representation (types.Rep) is as long
// as the batch or longer; entries at NULL rows are unspecified but safe to
// read; entries at rows outside a batch's selection are unspecified.
package vec

import "kvsqld/catalog/types"

// BatchSize is the usual number of rows of a batch. A batch may hold fewer,
// and more only where an operator says so.
const BatchSize = 1024

// Vec is one column of a batch.
//
// Numbers of type numeric have two forms. Narrow: Dec is nil, row i is
// I64[i] / 10^Scale, displayed with Scale fractional digits (numeric(p,s) with
// p <= 18, and results that fit). Wide: Dec[i], any precision, NaN, infinity.
// Readers that do not care call Decimals().
type Vec struct {
	T     types.T
	Const bool  // one value for all rows: only index 0 is valid
	Nulls Nulls // bitmap of NULL rows
	Bool  []bool
	I64   []int64
	F64   []float64
	B     [][]byte // may alias the snapshot's memory until the statement ends
	Iv    []types.Interval
	Dec   []types.Decimal
	Scale int32
}

// Batch is a set of equally long columns. Sel, when not nil, lists the row
// numbers that count, in ascending order; otherwise rows 0 … N-1 do.
type Batch struct {
	Cols []*Vec
	N    int
	Sel  []uint32
}

// Rows returns the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// Row returns the row number of the i-th selected row.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// First returns the batch with its first n columns alone.
func (b *Batch) First(n int) *Batch {
	if n >= len(b.Cols) {
		return b
	}
	return &Batch{Cols: b.Cols[:n], N: b.N, Sel: b.Sel}
}

// New returns a vector with room for n rows of type t.
func New(t types.T, n int) *Vec {
	v := &Vec{T: t}
	v.Reset(t, n)
	return v
}

// Reset makes v a vector of type t with room for n rows and no NULLs, reusing
// its memory. Values are unspecified. Numerics start in the wide form; a
// kernel that fills I64 and Scale sets Dec to nil (see SetNarrow).
func (v *Vec) Reset(t types.T, n int) {
	v.T, v.Const, v.Scale = t, false, 0
	v.Nulls.Clear()
	switch t.Rep() {
	case types.RepBool:
		v.Bool = grow(v.Bool, n)
	case types.RepInt:
		v.I64 = grow(v.I64, n)
	case types.RepFloat:
		v.F64 = grow(v.F64, n)
	case types.RepDec:
		v.Dec = grow(v.Dec, n)
	case types.RepInterval:
		v.Iv = grow(v.Iv, n)
	case types.RepBytes:
		if n < len(v.B) { // what is not seen is not kept alive either
			clear(v.B[n:])
		}
		v.B = grow(v.B, n)
	}
}

// SetNarrow puts a numeric vector into the narrow form with room for n rows.
func (v *Vec) SetNarrow(n int, scale int32) {
	v.Dec, v.Scale = nil, scale
	v.I64 = grow(v.I64, n)
}

// Narrow reports whether a numeric vector is in the narrow form.
func (v *Vec) Narrow() bool { return v.Dec == nil }

// Len is the number of rows there is room for (1 for a constant).
func (v *Vec) Len() int {
	switch v.T.Rep() {
	case types.RepBool:
		return len(v.Bool)
	case types.RepInt:
		return len(v.I64)
	case types.RepFloat:
		return len(v.F64)
	case types.RepDec:
		if v.Dec == nil {
			return len(v.I64)
		}
		return len(v.Dec)
	case types.RepInterval:
		return len(v.Iv)
	default:
		return len(v.B)
	}
}

// Idx maps a row number to the index that holds its value.
func (v *Vec) Idx(row int) int {
	if v.Const {
		return 0
	}
	return row
}

// IsNull reports whether the row is NULL.
func (v *Vec) IsNull(row int) bool { return v.Nulls.any && v.Nulls.Get(v.Idx(row)) }

func grow[E any](s []E, n int) []E {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]E, n)
}

// Get returns the row's value as a datum, which shares the vector's bytes.
func (v *Vec) Get(row int) types.Datum {
	i := v.Idx(row)
	d := types.Datum{T: v.T}
	if v.Nulls.any && v.Nulls.Get(i) {
		d.Null = true
		return d
	}
	switch v.T.Rep() {
	case types.RepBool:
		if v.Bool[i] {
			d.I = 1
		}
	case types.RepInt:
		d.I = v.I64[i]
	case types.RepFloat:
		d.F = v.F64[i]
	case types.RepDec:
		if v.Dec == nil {
			d.Dec = types.NewDecimal(v.I64[i], v.Scale)
		} else {
			d.Dec = v.Dec[i]
		}
	case types.RepInterval:
		d.Iv = v.Iv[i]
	default:
		d.B = v.B[i]
	}
	return d
}

// Set stores a datum of the vector's type at row; bytes are not copied. A
// narrow numeric vector that cannot hold the value becomes wide.
func (v *Vec) Set(row int, d types.Datum) {
	if d.Null {
		v.Nulls.Set(row)
		return
	}
	v.Nulls.Unset(row)
	switch v.T.Rep() {
	case types.RepBool:
		v.Bool[row] = d.I != 0
	case types.RepInt:
		v.I64[row] = d.I
	case types.RepFloat:
		v.F64[row] = d.F
	case types.RepDec:
		if v.Dec == nil {
			if c, s, ok := d.Dec.Small(); ok && s == v.Scale {
				v.I64[row] = c
				return
			}
			v.Widen()
		}
		v.Dec[row] = d.Dec
	case types.RepInterval:
		v.Iv[row] = d.Iv
	default:
		v.B[row] = d.B
	}
}

// Widen puts a numeric vector into the wide form.
func (v *Vec) Widen() {
	if v.Dec != nil {
		return
	}
	dec := make([]types.Decimal, len(v.I64))
	for i, c := range v.I64 {
		dec[i] = types.NewDecimal(c, v.Scale)
	}
	v.Dec = dec
}

// Decimals returns the values of a numeric vector in the wide form, without
// changing v when it is narrow.
func (v *Vec) Decimals() []types.Decimal {
	if v.Dec != nil {
		return v.Dec
	}
	dec := make([]types.Decimal, len(v.I64))
	for i, c := range v.I64 {
		dec[i] = types.NewDecimal(c, v.Scale)
	}
	return dec
}

// NewConst returns a constant vector of one datum.
func NewConst(d types.Datum) *Vec {
	v := New(d.T, 1)
	v.Const = true
	v.Set(0, d)
	return v
}
