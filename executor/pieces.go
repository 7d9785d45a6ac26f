package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
)

// pieceBytes is what an operator takes of its input at a time: it copies a batch
// before it accounts for it.
const pieceBytes = 8 << 20

// pieces cuts an input's batches where they refer to much memory, or where the
// operator computes long values from them.
type pieces struct {
	lengthy bool // the operator computes values of any length
	pace    expr.Pace
	begun   bool
	b       *vec.Batch // the batch under way, of which the first at rows are passed
	at      int
	sel     []uint32
	view    vec.Batch
	few     vec.Extract
}

// open forgets what is left of the run before.
func (p *pieces) open() { p.b, p.begun = nil, false }

// next returns the next rows of the input, nil at its end.
func (p *pieces) next(input Operator) (*vec.Batch, error) {
	if p.begun {
		p.pace.End()
		p.begun = false
	}
	if p.b == nil {
		b, err := input.Next()
		if b == nil || err != nil {
			return nil, err
		}
		p.b, p.at = b, 0
	}
	left := p.b.Rows() - p.at
	n := p.fit(left)
	if p.lengthy {
		n, p.begun = p.pace.Begin(n), true
	}
	if n == left && p.at == 0 {
		b := p.b
		p.b = nil
		return b, nil
	}
	p.sel = p.sel[:0]
	for i := p.at; i < p.at+n; i++ {
		p.sel = append(p.sel, uint32(p.b.Row(i)))
	}
	b := p.b
	if p.at += n; n == left {
		p.b = nil
	}
	if p.lengthy {
		return p.few.Rows(b, p.sel), nil
	}
	p.view = vec.Batch{Cols: b.Cols, N: b.N, Sel: p.sel}
	return &p.view, nil
}

// fit is the number of the next left rows that refer to pieceBytes at most; one
// always fits.
func (p *pieces) fit(left int) int {
	n := left
	for n > 1 && bytesOf(p.b, p.at, n) > pieceBytes {
		n = (n + 1) / 2
	}
	return n
}

// bytesOf is what n of a batch's rows, from its row at on, refer to.
func bytesOf(b *vec.Batch, at, n int) int64 {
	size := 0
	for _, c := range b.Cols {
		if c != nil && c.T.Rep() == types.RepBytes {
			size += sizeOf(c, b, at, n)
		}
	}
	return int64(size)
}

// sizeOf is what n values of a column from row at on refer to. Values of NULLs may
// be of any length, and count for nothing.
func sizeOf(c *vec.Vec, b *vec.Batch, at, n int) int {
	if c.Const {
		if len(c.B) == 0 || c.IsNull(0) {
			return 0
		}
		return n * len(c.B[0])
	}
	size := 0
	if !c.Nulls.Any() && b.Sel == nil {
		for _, v := range c.B[at : at+n] {
			size += len(v)
		}
		return size
	}
	for i := at; i < at+n; i++ {
		if r := b.Row(i); !c.Nulls.Get(r) {
			size += len(c.B[r])
		}
	}
	return size
}
