package vec

import "kvsqld/catalog/types"

// Arena keeps copies of byte strings that live as long as the arena does.
type Arena struct{ buf []byte }

const arenaChunk = 64 << 10

// Copy returns a copy of b that stays unchanged until the arena is reset.
func (a *Arena) Copy(b []byte) []byte {
	if len(b) > cap(a.buf)-len(a.buf) {
		a.buf = make([]byte, 0, max(arenaChunk, len(b)))
	}
	n := len(a.buf)
	a.buf = append(a.buf, b...)
	return a.buf[n:len(a.buf):len(a.buf)]
}

// Reset forgets everything copied; the memory may be used again.
func (a *Arena) Reset() { a.buf = a.buf[:0] }

// CopyRow sets row dr of dst to row sr of src, of the same type. Bytes are shared.
func CopyRow(dst *Vec, dr int, src *Vec, sr int) { dst.Set(dr, src.Get(sr)) }

// Gather makes dst the rows of src in the given order. Bytes are shared.
func Gather(dst, src *Vec, rows []uint32) {
	dst.Reset(src.T, len(rows))
	for i, r := range rows {
		CopyRow(dst, i, src, int(r))
	}
}

// AppendFrom appends row sr of src as row n of dst (dst grows), copying bytes into the arena.
func AppendFrom(dst *Vec, n int, src *Vec, sr int, a *Arena) {
	d := src.Get(sr)
	if d.B != nil && !d.Null {
		d.B = a.Copy(d.B)
	}
	dst.Grow(n + 1)
	dst.Set(n, d)
}

// Grow makes room for n rows, keeping values.
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
	for cap(s) < n {
		s = append(s[:cap(s)], *new(E))
	}
	if len(s) < n {
		s = s[:n]
	}
	return s
}

// AppendText appends the row's text form; the row must not be NULL.
func AppendText(buf []byte, v *Vec, row int, o *types.FmtOpts) []byte {
	return types.AppendText(buf, v.Get(row), o)
}

// AppendBinary appends the row's binary form; the row must not be NULL.
func AppendBinary(buf []byte, v *Vec, row int) []byte { return types.AppendBinary(buf, v.Get(row)) }

// Hash combines each selected row's hash into out (out[i] belongs to the i-th
// selected row, or to row i when sel is nil; len(out) rows).
func Hash(v *Vec, sel []uint32, out []uint64) {
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		out[i] = out[i]*0x9E3779B97F4A7C15 + types.Hash(v.Get(r))
	}
}

// EqualRows reports whether two rows are not distinct (NULL equals NULL).
func EqualRows(a *Vec, ar int, b *Vec, br int) bool {
	x, y := a.Get(ar), b.Get(br)
	if x.Null || y.Null {
		return x.Null && y.Null
	}
	return types.Equal(x, y)
}

// Builder builds a batch row by row from datums.
type Builder struct {
	Batch Batch
	arena Arena
}

// NewBuilder returns a builder of batches with the given column types.
func NewBuilder(cols []types.T) *Builder {
	b := &Builder{}
	b.Batch.Cols = make([]*Vec, len(cols))
	for i, t := range cols {
		b.Batch.Cols[i] = New(t, 0)
	}
	return b
}

// Append adds a row; bytes are copied.
func (b *Builder) Append(row []types.Datum) {
	n := b.Batch.N
	for i, d := range row {
		c := b.Batch.Cols[i]
		if d.B != nil && !d.Null {
			d.B = b.arena.Copy(d.B)
		}
		c.Grow(n + 1)
		c.Set(n, d)
	}
	b.Batch.N++
}

// Len is the number of rows so far.
func (b *Builder) Len() int { return b.Batch.N }

// Finish returns the batch and starts a new one with new memory.
func (b *Builder) Finish() *Batch {
	out := b.Batch
	cols := make([]types.T, len(out.Cols))
	for i, c := range out.Cols {
		cols[i] = c.T
	}
	*b = *NewBuilder(cols)
	return &out
}
