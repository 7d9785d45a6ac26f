package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// rowStore keeps rows as columns, each in one growing vector, with the bytes of
// variable-width values copied into an arena (X1). Rows are numbered from 0 in
// the order of their arrival.
type rowStore struct {
	cols  []*vec.Vec
	n     int
	arena arena
	size  int64 // bytes held, approximately
}

// newRowStore returns an empty store of rows with the given column types.
func newRowStore(ts []types.T) *rowStore {
	s := &rowStore{cols: make([]*vec.Vec, len(ts))}
	for i, t := range ts {
		s.cols[i] = &vec.Vec{T: t}
	}
	return s
}

// reset empties the store and keeps its columns' memory for the next use.
func (s *rowStore) reset() {
	for _, c := range s.cols {
		c.Nulls.Clear()
	}
	s.n, s.size = 0, 0
	s.arena = arena{}
}

// keepBytes is the most memory that is kept for the next run of a statement.
const keepBytes = 16 << 10

// recycle empties the store. The memory of a small store is kept for the next
// rows, the bytes of values included, which nobody may look at any more.
func (s *rowStore) recycle() {
	if s.size > keepBytes {
		s.release()
		return
	}
	for _, c := range s.cols {
		c.Nulls.Clear()
		clear(c.B)
		clear(c.Dec)
	}
	s.n, s.size = 0, 0
	s.arena.buf = s.arena.buf[:0]
}

// release empties the store and gives its memory back.
func (s *rowStore) release() {
	for i, c := range s.cols {
		s.cols[i] = &vec.Vec{T: c.T}
	}
	s.n, s.size = 0, 0
	s.arena = arena{}
}

// drop forgets the first k rows and numbers the others anew.
func (s *rowStore) drop(k int) {
	old, n := s.cols, s.n-k
	s.cols = make([]*vec.Vec, len(old))
	for i, c := range old {
		s.cols[i] = &vec.Vec{T: c.T}
	}
	s.n, s.size, s.arena = 0, 0, arena{}
	s.appendCols(old, rowNumbers(nil, k, k+n), n)
}

// append adds the selected rows of the batch.
func (s *rowStore) append(b *vec.Batch) { s.appendCols(b.Cols, b.Sel, b.Rows()) }

// appendCols adds n rows: those that sel lists, or 0 … n-1 when sel is nil.
func (s *rowStore) appendCols(cols []*vec.Vec, sel []uint32, n int) {
	for i, c := range s.cols {
		s.size += appendVec(c, s.n, cols[i], sel, n, &s.arena)
	}
	s.n += n
}

// appendDatums adds one row.
func (s *rowStore) appendDatums(row []types.Datum) {
	for i, c := range s.cols {
		d := row[i]
		if !d.Null && d.B != nil {
			d.B = s.arena.copy(d.B)
			s.size += int64(len(d.B))
		}
		growVec(c, s.n+1)
		c.Set(s.n, d)
		s.size += 8
	}
	s.n++
}

// window makes the batch a view of the rows lo … hi-1, without copying.
func (s *rowStore) window(b *vec.Batch, lo, hi int) {
	if len(b.Cols) != len(s.cols) {
		b.Cols = make([]*vec.Vec, len(s.cols))
		for i := range b.Cols {
			b.Cols[i] = new(vec.Vec)
		}
	}
	for i, c := range s.cols {
		viewVec(b.Cols[i], c, lo, hi)
	}
	b.N, b.Sel = hi-lo, nil
}

// viewVec makes dst the rows lo … hi-1 of src, sharing its values.
func viewVec(dst, src *vec.Vec, lo, hi int) {
	dst.T, dst.Const, dst.Scale = src.T, false, src.Scale
	dst.Nulls.Clear()
	switch src.T.Rep() {
	case types.RepBool:
		dst.Bool = src.Bool[lo:hi]
	case types.RepInt:
		dst.I64 = src.I64[lo:hi]
	case types.RepFloat:
		dst.F64 = src.F64[lo:hi]
	case types.RepDec:
		if src.Dec == nil {
			dst.Dec, dst.I64 = nil, src.I64[lo:hi]
		} else {
			dst.Dec = src.Dec[lo:hi]
		}
	case types.RepInterval:
		dst.Iv = src.Iv[lo:hi]
	case types.RepBytes:
		dst.B = src.B[lo:hi]
	}
	if src.Nulls.Any() {
		for r := lo; r < hi; r++ {
			if src.Nulls.Get(r) {
				dst.Nulls.Set(r - lo)
			}
		}
	}
}

// arena keeps copies of byte strings until it is dropped.
type arena struct{ buf []byte }

const (
	arenaFirst = 1 << 10
	arenaChunk = 64 << 10
)

// copy returns a copy of b; b itself from no arena.
func (a *arena) copy(b []byte) []byte {
	if a == nil {
		return b
	}
	if len(b) > cap(a.buf)-len(a.buf) {
		next := min(max(2*cap(a.buf), arenaFirst), arenaChunk)
		a.buf = make([]byte, 0, max(next, len(b)))
	}
	n := len(a.buf)
	a.buf = append(a.buf, b...)
	return a.buf[n:len(a.buf):len(a.buf)]
}

// growVec makes room for n rows. A numeric vector keeps its form.
func growVec(v *vec.Vec, n int) { v.Grow(n) }

// appendVec writes n rows of src (those of sel, or the first n) to dst from row
// at on, which is dst's present length, and returns the bytes that takes.
func appendVec(dst *vec.Vec, at int, src *vec.Vec, sel []uint32, n int, a *arena) int64 {
	if n == 0 {
		return 0
	}
	if src.Const && src.Nulls.Any() && src.Nulls.Get(0) {
		growVec(dst, at+n)
		for i := range n {
			dst.Nulls.Set(at + i)
		}
		return 8 * int64(n)
	}
	appendNulls(dst, at, src, sel, n)
	size := 8 * int64(n)
	switch dst.T.Rep() {
	case types.RepBool:
		growVec(dst, at+n)
		pick(dst.Bool[at:at+n], src.Bool, sel, src.Const)
	case types.RepInt:
		growVec(dst, at+n)
		pick(dst.I64[at:at+n], src.I64, sel, src.Const)
	case types.RepFloat:
		growVec(dst, at+n)
		pick(dst.F64[at:at+n], src.F64, sel, src.Const)
	case types.RepDec:
		size += appendDec(dst, at, src, sel, n)
	case types.RepInterval:
		growVec(dst, at+n)
		pick(dst.Iv[at:at+n], src.Iv, sel, src.Const)
		size *= 2
	case types.RepBytes:
		growVec(dst, at+n)
		out := dst.B[at : at+n]
		pick(out, src.B, sel, src.Const)
		nulls := src.Nulls.Any()
		for i, b := range out {
			if nulls && dst.Nulls.Get(at+i) {
				out[i] = nil
				continue
			}
			out[i] = a.copy(b)
			size += int64(len(b)) + 16
		}
	}
	return size
}

func appendNulls(dst *vec.Vec, at int, src *vec.Vec, sel []uint32, n int) {
	if !src.Nulls.Any() {
		return
	}
	for i := range n {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if src.IsNull(r) {
			dst.Nulls.Set(at + i)
		}
	}
}

// appendDec appends numerics: in the narrow form as long as all have one scale.
func appendDec(dst *vec.Vec, at int, src *vec.Vec, sel []uint32, n int) int64 {
	if at == 0 {
		if src.Dec == nil {
			dst.Dec, dst.Scale = nil, src.Scale
		} else if dst.Dec == nil {
			dst.Dec = make([]types.Decimal, 0, n)
		}
	}
	if dst.Dec == nil && (src.Dec != nil || src.Scale != dst.Scale) {
		wide := make([]types.Decimal, at, max(2*at, at+n))
		for i := range wide {
			wide[i] = types.NewDecimal(dst.I64[i], dst.Scale)
		}
		dst.Dec = wide
	}
	growVec(dst, at+n)
	if dst.Dec == nil {
		pick(dst.I64[at:at+n], src.I64, sel, src.Const)
		return 0
	}
	out := dst.Dec[at : at+n]
	if src.Dec != nil {
		pick(out, src.Dec, sel, src.Const)
		size := int64(0)
		for _, d := range out {
			size += d.Size()
		}
		return size
	}
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		out[i] = types.NewDecimal(src.I64[src.Idx(r)], src.Scale)
	}
	return int64(n) * types.Decimal{}.Size()
}

// pick sets dst[i] to src's row sel[i] (row i when sel is nil, row 0 always
// when src is constant).
func pick[E any](dst, src []E, sel []uint32, constant bool) {
	switch {
	case constant:
		for i := range dst {
			dst[i] = src[0]
		}
	case sel == nil:
		copy(dst, src)
	default:
		for i := range dst {
			dst[i] = src[sel[i]]
		}
	}
}
