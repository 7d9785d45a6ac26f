package spatial

// Window tells codes inside a box from those outside without a position: exactly
// to the grid's steps inside a cell, wherefore a code at the edge is inside.
type Window struct {
	y0, y1 uint32
	x0, x1 uint32
	around bool // over the date line: x from x0 on or up to x1
}

// Window returns the window of a box.
func (g Grid) Window(b Box) Window {
	w := Window{y0: g.latFixed(b.South), y1: g.latFixed(b.North), x0: g.lonFixed(b.West), x1: g.lonFixed(b.East), around: b.West > b.East}
	if b.South > b.North {
		w.y0, w.y1 = 1, 0
	}
	return w
}

// Contains reports whether the position of a code may lie in the box. NullCode is
// in no window.
func (w *Window) Contains(code uint64) bool {
	if code == NullCode {
		return false
	}
	in := code & (1<<32 - 1)
	y := uint32(code>>48)<<bitsIn | gather(in>>1)
	if y < w.y0 || y > w.y1 {
		return false
	}
	x := uint32(code>>32)&0xffff<<bitsIn | gather(in)
	if w.around {
		return x >= w.x0 || x <= w.x1
	}
	return x >= w.x0 && x <= w.x1
}

// Next returns the smallest code from a given one on that the window contains;
// NullCode if there is none.
func (w *Window) Next(code uint64) uint64 {
	if !w.around {
		return nextIn(code, w.y0, w.y1, w.x0, w.x1)
	}
	return min(nextIn(code, w.y0, w.y1, 0, w.x1), nextIn(code, w.y0, w.y1, w.x0, 1<<32-1))
}

// nextIn is Next for a box in fixed coordinates.
func nextIn(code uint64, y0, y1, x0, x1 uint32) uint64 {
	if y0 > y1 || x0 > x1 || code == NullCode {
		return NullCode
	}
	row, col, in := uint32(code>>48), uint32(code>>32)&0xffff, code&(1<<32-1)
	for {
		switch {
		case row > y1>>bitsIn:
			return NullCode
		case row < y0>>bitsIn:
			row, col, in = y0>>bitsIn, x0>>bitsIn, 0
		case col < x0>>bitsIn:
			col, in = x0>>bitsIn, 0
		case col > x1>>bitsIn:
			row, col, in = row+1, x0>>bitsIn, 0
		default:
			q := quads{cell: cellCode(row, col)}
			q.y0, q.y1 = clip(y0, y1, row)
			q.x0, q.x1 = clip(x0, x1, col)
			if next := q.next(in, 0, 0, 1<<bitsIn); next != NullCode {
				return next
			}
			col, in = col+1, 0
		}
	}
}

// next finds the smallest code of the box from in on in a square of the cell.
func (q *quads) next(in uint64, y, x, side uint32) uint64 {
	lo := interleave(y, x)
	if lo+uint64(side)*uint64(side) <= in || y > q.y1 || x > q.x1 || y+side-1 < q.y0 || x+side-1 < q.x0 {
		return NullCode
	}
	if y >= q.y0 && y+side-1 <= q.y1 && x >= q.x0 && x+side-1 <= q.x1 {
		return q.cell | max(in, lo)
	}
	side >>= 1
	for i := range uint32(4) {
		if next := q.next(in, y+i>>1*side, x+i&1*side, side); next != NullCode {
			return next
		}
	}
	return NullCode
}
