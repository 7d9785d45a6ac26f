package spatial

import (
	"cmp"
	"slices"
)

// Range is a range of codes, both ends included.
type Range struct{ Lo, Hi uint64 }

const (
	// fineCells is the number of cells up to which a cover looks inside them.
	fineCells = 16
	// maxRows is the number of rows of cells up to which each has its own range.
	maxRows = 1024
)

// Cover returns sorted ranges without overlaps that hold the codes of all
// positions of the box. A small box gets a handful of ranges inside the cells it
// touches, a large one a range per row of cells.
func (g Grid) Cover(b Box) []Range { return g.AppendCover(nil, b) }

// AppendCover appends what Cover returns.
func (g Grid) AppendCover(dst []Range, b Box) []Range {
	if b.South > b.North {
		return dst
	}
	own := dst[len(dst):]
	if b.West > b.East {
		own = g.cover(g.cover(own, b.South, b.West, b.North, 180), b.South, -180, b.North, b.East)
	} else {
		own = g.cover(own, b.South, b.West, b.North, b.East)
	}
	return append(dst, mergeRanges(own)...)
}

func (g Grid) cover(out []Range, south, west, north, east float64) []Range {
	y0, y1 := g.latFixed(south), g.latFixed(north)
	x0, x1 := g.lonFixed(west), g.lonFixed(east)
	r0, r1, c0, c1 := y0>>bitsIn, y1>>bitsIn, x0>>bitsIn, x1>>bitsIn
	const within = 1<<32 - 1
	if r1-r0 >= maxRows {
		return append(out, Range{cellCode(r0, c0), cellCode(r1, c1) | within})
	}
	fine := (r1-r0+1)*(c1-c0+1) <= fineCells
	for r := r0; r <= r1; r++ {
		if !fine {
			out = append(out, Range{cellCode(r, c0), cellCode(r, c1) | within})
			continue
		}
		for c := c0; c <= c1; c++ {
			q := quads{cell: cellCode(r, c), side: 1 << bitsIn}
			q.y0, q.y1 = clip(y0, y1, r)
			q.x0, q.x1 = clip(x0, x1, c)
			for q.side > 1 && q.side > max(q.y1-q.y0, q.x1-q.x0)+1 {
				q.side >>= 1
			}
			out = q.divide(out, 0, 0, 1<<bitsIn)
		}
	}
	return out
}

// clip returns the part of a range of fixed coordinates inside a cell.
func clip(lo, hi, cell uint32) (uint32, uint32) {
	const last = 1<<bitsIn - 1
	from, to := uint32(0), uint32(last)
	if lo>>bitsIn == cell {
		from = lo & last
	}
	if hi>>bitsIn == cell {
		to = hi & last
	}
	return from, to
}

// quads divides a cell into squares that touch the box y0 … y1, x0 … x1. Squares
// of the given side are not divided further.
type quads struct {
	cell           uint64
	y0, y1, x0, x1 uint32
	side           uint32
}

func (q *quads) divide(out []Range, y, x, side uint32) []Range {
	if y > q.y1 || x > q.x1 || y+side-1 < q.y0 || x+side-1 < q.x0 {
		return out
	}
	inside := y >= q.y0 && y+side-1 <= q.y1 && x >= q.x0 && x+side-1 <= q.x1
	if inside || side <= q.side {
		lo := q.cell | interleave(y, x)
		hi := lo + uint64(side)*uint64(side) - 1
		if n := len(out); n > 0 && out[n-1].Hi+1 == lo {
			out[n-1].Hi = hi
			return out
		}
		return append(out, Range{lo, hi})
	}
	side >>= 1
	out = q.divide(out, y, x, side)
	out = q.divide(out, y, x+side, side)
	out = q.divide(out, y+side, x, side)
	return q.divide(out, y+side, x+side, side)
}

// mergeRanges sorts ranges and joins those that touch.
func mergeRanges(rs []Range) []Range {
	slices.SortFunc(rs, func(a, b Range) int { return cmp.Compare(a.Lo, b.Lo) })
	out := rs[:0]
	for _, r := range rs {
		if n := len(out); n > 0 && r.Lo <= out[n-1].Hi+1 {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Subtract returns what of a is not in b. Both are sorted and without overlaps,
// as the result is.
func Subtract(a, b []Range) []Range {
	var out []Range
	for _, r := range a {
		for len(b) > 0 && b[0].Hi < r.Lo {
			b = b[1:]
		}
		gone := false
		for _, s := range b {
			if s.Lo > r.Hi {
				break
			}
			if s.Lo > r.Lo {
				out = append(out, Range{r.Lo, s.Lo - 1})
			}
			if s.Hi >= r.Hi {
				gone = true
				break
			}
			r.Lo = s.Hi + 1
		}
		if !gone {
			out = append(out, r)
		}
	}
	return out
}

// Intersect returns what is in both a and b, which are sorted and without
// overlaps, as the result is.
func Intersect(a, b []Range) []Range {
	var out []Range
	for len(a) > 0 && len(b) > 0 {
		lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi)
		if lo <= hi {
			out = append(out, Range{lo, hi})
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}
