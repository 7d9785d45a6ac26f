package vec

import "kvsqld/catalog/types"

const (
	arenaChunk    = 256 // the first one: many hold the values of one row
	arenaMaxChunk = 1 << 20
)

// Arena keeps copies of byte strings. A copy stays unchanged until the arena is
// reset, or for good when it never is; copies keep their chunk of the arena
// alive, not all of it.
type Arena struct {
	buf  []byte
	next int // size of the next chunk
}

// Copy returns a copy of b.
func (a *Arena) Copy(b []byte) []byte {
	if len(b) == 0 {
		return []byte{}
	}
	if len(b) > cap(a.buf)-len(a.buf) {
		a.next = min(max(2*a.next, arenaChunk), arenaMaxChunk)
		a.buf = make([]byte, 0, max(a.next, len(b)))
	}
	n := len(a.buf)
	a.buf = append(a.buf, b...)
	return a.buf[n:len(a.buf):len(a.buf)]
}

// Reset forgets the copies; their memory is used again.
func (a *Arena) Reset() { a.buf = a.buf[:0] }

// Grow makes room for n rows, keeping the values of the rows there were.
func (v *Vec) Grow(n int) {
	switch v.T.Rep() {
	case types.RepBool:
		v.Bool = regrow(v.Bool, n)
	case types.RepInt:
		v.I64 = regrow(v.I64, n)
	case types.RepFloat:
		v.F64 = regrow(v.F64, n)
	case types.RepDec:
		if v.Dec == nil {
			v.I64 = regrow(v.I64, n)
		} else {
			v.Dec = regrow(v.Dec, n)
		}
	case types.RepInterval:
		v.Iv = regrow(v.Iv, n)
	default:
		v.B = regrow(v.B, n)
	}
}

func regrow[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:max(n, len(s))]
	}
	out := make([]E, n, max(n, 2*cap(s)))
	copy(out, s)
	return out
}

// CopyRow sets row dr of dst, which is not constant, to row sr of src, of the
// same type. Bytes are shared with src.
func CopyRow(dst *Vec, dr int, src *Vec, sr int) {
	i := src.Idx(sr)
	if src.Nulls.Any() && src.Nulls.Get(i) {
		dst.Nulls.Set(dr)
		return
	}
	dst.Nulls.Unset(dr)
	switch src.T.Rep() {
	case types.RepBool:
		dst.Bool[dr] = src.Bool[i]
	case types.RepInt:
		dst.I64[dr] = src.I64[i]
	case types.RepFloat:
		dst.F64[dr] = src.F64[i]
	case types.RepDec:
		copyDecimal(dst, dr, src, i)
	case types.RepInterval:
		dst.Iv[dr] = src.Iv[i]
	default:
		dst.B[dr] = src.B[i]
	}
}

// copyDecimal copies a numeric between any two of the narrow and wide forms.
func copyDecimal(dst *Vec, dr int, src *Vec, i int) {
	if src.Dec != nil && dst.Dec != nil {
		dst.Dec[dr] = src.Dec[i]
		return
	}
	var coef int64
	var scale int32
	ok := true
	if src.Dec == nil {
		coef, scale = src.I64[i], src.Scale
	} else {
		coef, scale, ok = src.Dec[i].Small()
	}
	if dst.Dec == nil {
		if ok && scale == dst.Scale {
			dst.I64[dr] = coef
			return
		}
		dst.Widen()
	}
	if src.Dec != nil {
		dst.Dec[dr] = src.Dec[i]
	} else {
		dst.Dec[dr] = types.NewDecimal(coef, scale)
	}
}

// Gather makes dst the rows of src in the order of rows; dst must not be src.
// Bytes are shared with src. A constant stays one.
func Gather(dst, src *Vec, rows []uint32) {
	if src.Const {
		n := min(1, src.Len())
		dst.like(src, n)
		dst.Const = true
		if n > 0 {
			CopyRow(dst, 0, src, 0)
		}
		return
	}
	dst.like(src, len(rows))
	if src.Nulls.Any() {
		for i, r := range rows {
			if src.Nulls.Get(int(r)) {
				dst.Nulls.Set(i)
			}
		}
	}
	switch src.T.Rep() {
	case types.RepBool:
		gather(dst.Bool, src.Bool, rows)
	case types.RepInt:
		gather(dst.I64, src.I64, rows)
	case types.RepFloat:
		gather(dst.F64, src.F64, rows)
	case types.RepDec:
		if src.Dec == nil {
			gather(dst.I64, src.I64, rows)
		} else {
			gather(dst.Dec, src.Dec, rows)
		}
	case types.RepInterval:
		gather(dst.Iv, src.Iv, rows)
	default:
		gather(dst.B, src.B, rows)
	}
}

// like resets v to the type and form of src with room for n rows.
func (v *Vec) like(src *Vec, n int) {
	v.Reset(src.T, n)
	if src.T.Rep() == types.RepDec && src.Dec == nil {
		v.SetNarrow(n, src.Scale)
	}
}

func gather[E any](dst, src []E, rows []uint32) {
	for i, r := range rows {
		dst[i] = src[r]
	}
}

// Extract makes rows of a batch a batch of their own. What is computed of it has its
// size, and so keeps nothing of what was computed of other rows.
type Extract struct {
	batch Batch
	cols  []Vec
}

// Rows returns the given rows of b, whose bytes are shared. A column that b lacks stays
// nil. The batch is valid until the next call.
func (x *Extract) Rows(b *Batch, rows []uint32) *Batch {
	if len(x.cols) < len(b.Cols) {
		x.cols = make([]Vec, len(b.Cols))
	}
	x.batch.Cols, x.batch.N, x.batch.Sel = x.batch.Cols[:0], len(rows), nil
	for i, c := range b.Cols {
		var v *Vec
		if c != nil {
			v = &x.cols[i]
			Gather(v, c, rows)
		}
		x.batch.Cols = append(x.batch.Cols, v)
	}
	return &x.batch
}

// AppendFrom makes row n of dst, which has n rows, a copy of row sr of src, of
// the same type, and copies bytes into the arena.
func AppendFrom(dst *Vec, n int, src *Vec, sr int, a *Arena) {
	dst.Grow(n + 1)
	CopyRow(dst, n, src, sr)
	if src.T.Rep() == types.RepBytes && !dst.IsNull(n) {
		dst.B[n] = a.Copy(dst.B[n])
	}
}

// Builder builds a batch row by row from datums. Bytes are copied, so that the
// batch depends on nothing that went in.
type Builder struct {
	types []types.T
	batch *Batch
	arena Arena
	size  int // bytes copied
}

// builderBytes is the size of values from which a builder counts as full.
const builderBytes = 1 << 20

// NewBuilder returns a builder of batches with the given column types.
func NewBuilder(cols []types.T) *Builder {
	b := &Builder{types: cols}
	b.start()
	return b
}

func (b *Builder) start() {
	b.batch = &Batch{Cols: make([]*Vec, len(b.types))}
	for i, t := range b.types {
		b.batch.Cols[i] = New(t, 0)
	}
	b.arena, b.size = Arena{}, 0
}

// Append adds a row, which has one datum for each column.
func (b *Builder) Append(row []types.Datum) {
	n := b.batch.N
	for i, d := range row {
		c := b.batch.Cols[i]
		if d.B != nil && !d.Null {
			d.B = b.Copy(d.B)
		}
		c.Grow(n + 1)
		c.Set(n, d)
	}
	b.batch.N++
}

// Len is the number of rows so far.
func (b *Builder) Len() int { return b.batch.N }

// Batch is the rows so far, which are the builder's: they last until Reset.
func (b *Builder) Batch() *Batch { return b.batch }

// Reset empties the builder and uses its memory again.
func (b *Builder) Reset() {
	for i, t := range b.types {
		b.batch.Cols[i].Reset(t, 0)
	}
	b.batch.N, b.batch.Sel = 0, nil
	b.arena.Reset()
	b.size = 0
}

// Extend adds a row for the caller to fill, NULL in no column, and returns its
// number. Bytes that are not the caller's to give away go through Copy.
func (b *Builder) Extend() int {
	n := b.batch.N
	for _, c := range b.batch.Cols {
		c.Grow(n + 1)
	}
	b.batch.N++
	return n
}

// Col is the i-th column of the rows so far.
func (b *Builder) Col(i int) *Vec { return b.batch.Cols[i] }

// Copy keeps bytes for as long as the rows.
func (b *Builder) Copy(p []byte) []byte {
	b.size += len(p)
	return b.arena.Copy(p)
}

// Full reports whether the rows are enough for a batch.
func (b *Builder) Full() bool { return b.batch.N >= BatchSize || b.size >= builderBytes }

// Finish returns the batch, which is the caller's, and starts a new one.
func (b *Builder) Finish() *Batch {
	out := b.batch
	b.start()
	return out
}
