package plane

// Box has sides parallel to the axes. High is its upper right corner, Low the
// lower left one.
type Box struct{ High, Low Point }

// NewBox is the box with two opposite corners.
func NewBox(p, q Point) Box {
	b := Box{q, p}
	if less(q.X, p.X) {
		b.High.X, b.Low.X = p.X, q.X
	}
	if less(q.Y, p.Y) {
		b.High.Y, b.Low.Y = p.Y, q.Y
	}
	return b
}

// Bounds is the smallest box around points, of which there is one at least.
func Bounds(ps []Point) Box {
	b := Box{ps[0], ps[0]}
	for _, p := range ps[1:] {
		b = Box{Point{greatest(p.X, b.High.X), greatest(p.Y, b.High.Y)}, Point{least(p.X, b.Low.X), least(p.Y, b.Low.Y)}}
	}
	return b
}

// Union is the smallest box around both.
func (b Box) Union(o Box) Box {
	return Box{
		Point{greatest(b.High.X, o.High.X), greatest(b.High.Y, o.High.Y)},
		Point{least(b.Low.X, o.Low.X), least(b.Low.Y, o.Low.Y)},
	}
}

// Overlaps reports whether boxes have a point in common.
func (b Box) Overlaps(o Box) bool {
	return Le(b.Low.X, o.High.X) && Le(o.Low.X, b.High.X) && Le(b.Low.Y, o.High.Y) && Le(o.Low.Y, b.High.Y)
}

// Intersection is what boxes have in common.
func (b Box) Intersection(o Box) (Box, bool) {
	if !b.Overlaps(o) {
		return Box{}, false
	}
	return Box{
		Point{least(b.High.X, o.High.X), least(b.High.Y, o.High.Y)},
		Point{greatest(b.Low.X, o.Low.X), greatest(b.Low.Y, o.Low.Y)},
	}, true
}

// Contains reports whether the whole of o is within b.
func (b Box) Contains(o Box) bool {
	return Ge(b.High.X, o.High.X) && Le(b.Low.X, o.Low.X) && Ge(b.High.Y, o.High.Y) && Le(b.Low.Y, o.Low.Y)
}

// ContainsPoint compares exactly.
func (b Box) ContainsPoint(p Point) bool {
	return b.High.X >= p.X && b.Low.X <= p.X && b.High.Y >= p.Y && b.Low.Y <= p.Y
}

// sides are the left, the upper, the lower and the right one, each from the
// corner Low or High.
func (b Box) sides() [4]Lseg {
	upperLeft, lowerRight := Point{b.Low.X, b.High.Y}, Point{b.High.X, b.Low.Y}
	return [4]Lseg{{b.Low, upperLeft}, {b.High, upperLeft}, {b.Low, lowerRight}, {b.High, lowerRight}}
}

// Width of a box.
func (c *Calc) Width(b Box) float64 { return c.Sub(b.High.X, b.Low.X) }

// Height of a box.
func (c *Calc) Height(b Box) float64 { return c.Sub(b.High.Y, b.Low.Y) }

// BoxArea is width by height.
func (c *Calc) BoxArea(b Box) float64 { return c.Mul(c.Width(b), c.Height(b)) }

// BoxCenter is the middle of the corners.
func (c *Calc) BoxCenter(b Box) Point { return c.Middle(b.High, b.Low) }

// BoxNearest is the point of a box that is next to p: p itself, or one of a side.
func (c *Calc) BoxNearest(b Box, p Point) (Point, float64) {
	if b.ContainsPoint(p) {
		return p, 0
	}
	sides := b.sides()
	at, dist := c.LsegNearest(sides[0], p)
	for _, s := range sides[1:] {
		if q, d := c.LsegNearest(s, p); less(d, dist) {
			at, dist = q, d
		}
	}
	return at, dist
}

// BoxMeetsLseg reports whether a segment has a point within a box.
func (c *Calc) BoxMeetsLseg(b Box, s Lseg) bool {
	if !Bounds(s[:]).Overlaps(b) {
		return false
	}
	if b.ContainsPoint(s[0]) || b.ContainsPoint(s[1]) {
		return true
	}
	for _, side := range b.sides() {
		if _, ok := c.LsegsMeet(side, s); ok {
			return true
		}
	}
	return false
}

// BoxNearestLseg is the point of a box that is next to a segment. Where they meet
// it is the segment's point next to the center.
func (c *Calc) BoxNearestLseg(b Box, s Lseg) (Point, float64) {
	if c.BoxMeetsLseg(b, s) {
		at, _ := c.LsegNearest(s, c.BoxCenter(b))
		return at, 0
	}
	sides := b.sides()
	at, dist := c.LsegNearestLseg(sides[0], s)
	for _, side := range sides[1:] {
		if q, d := c.LsegNearestLseg(side, s); less(d, dist) {
			at, dist = q, d
		}
	}
	return at, dist
}

// BoxMeetsLine reports whether a line goes through a box: through one of its sides.
func (c *Calc) BoxMeetsLine(b Box, l Line) bool {
	upperLeft, lowerRight := Point{b.Low.X, b.High.Y}, Point{b.High.X, b.Low.Y}
	for _, side := range [4]Lseg{{b.Low, upperLeft}, {b.High, upperLeft}, {b.High, lowerRight}, {b.Low, lowerRight}} {
		if _, ok := c.LsegMeetsLine(side, l); ok {
			return true
		}
	}
	return false
}
