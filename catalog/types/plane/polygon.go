package plane

// Polygon is a closed path as an area. It has one point at least.
type Polygon []Point

// SamePoints reports whether polygons have the same corners in the same order,
// from any first corner and in any direction.
func (p Polygon) SamePoints(q Polygon) bool {
	n := len(p)
	if n != len(q) {
		return false
	}
	runs := func(from, step int) bool {
		for i := range p {
			if !q[((from+step*i)%n+n)%n].Equal(p[i]) {
				return false
			}
		}
		return true
	}
	for i := range q {
		if q[i].Equal(p[0]) && (runs(i, 1) || runs(i, -1)) {
			return true
		}
	}
	return false
}

// path is the polygon's border.
func (p Polygon) path() Path { return Path{Closed: true, Points: p} }

// onBorder is what crossing returns for an edge through the origin.
const onBorder = 1 << 30

// Inside reports whether at is within the polygon or on its border: a ray from at
// to the right crosses edges upwards and downwards, and the difference is the
// winding number.
func (c *Calc) Inside(corners []Point, at Point) bool {
	first := c.MoveBack(corners[0], at)
	winding, from := 0, first
	for i := 1; i <= len(corners); i++ {
		to := first
		if i < len(corners) {
			to = c.MoveBack(corners[i], at)
		}
		k := c.crossing(from, to)
		if k == onBorder {
			return true
		}
		winding += k
		from = to
	}
	return winding != 0
}

// crossing counts how an edge crosses the positive half of the x axis: 2 upwards
// and -2 downwards, half of it where the edge begins or ends on the axis.
func (c *Calc) crossing(from, to Point) int {
	if Zero(to.Y) {
		switch {
		case Zero(to.X):
			return onBorder
		case Gt(to.X, 0):
			switch {
			case !Zero(from.Y):
				if Lt(from.Y, 0) {
					return 1
				}
				return -1
			case Gt(from.X, 0):
				return 0
			}
			return onBorder
		case Zero(from.Y) && !Lt(from.X, 0):
			return onBorder
		}
		return 0
	}
	up := -1
	if Gt(to.Y, 0) {
		up = 1
	}
	switch {
	case Zero(from.Y):
		if Lt(from.X, 0) {
			return 0
		}
		return up
	case up < 0 && Lt(from.Y, 0), up > 0 && Gt(from.Y, 0):
		return 0 // both ends on one side
	case Ge(to.X, 0) && Gt(from.X, 0):
		return 2 * up
	case Lt(to.X, 0) && Le(from.X, 0):
		return 0
	}
	side := c.Sub(c.Mul(c.Sub(to.X, from.X), to.Y), c.Mul(c.Sub(to.Y, from.Y), to.X))
	switch {
	case Zero(side):
		return onBorder
	case up < 0 && Lt(side, 0), up > 0 && Gt(side, 0):
		return 0
	}
	return 2 * up
}

// PolygonsOverlap reports whether borders meet, or one polygon is within the other.
func (c *Calc) PolygonsOverlap(p, q Polygon) bool {
	return Bounds(p).Overlaps(Bounds(q)) && (c.PathsMeet(p.path(), q.path()) || c.Inside(q, p[0]) || c.Inside(p, q[0]))
}

// PolygonContains reports whether every edge of q is within p.
func (c *Calc) PolygonContains(p, q Polygon) bool {
	if !Bounds(p).Contains(Bounds(q)) {
		return false
	}
	within := true
	q.path().segments(func(s Lseg) bool {
		within = c.lsegInside(s, p, 0) && c.err == nil
		return within
	})
	return within
}

// lsegInside reports whether a segment is within a polygon. It is parted where it
// meets an edge from the given one on, and its parts are tried with the edges
// behind that one; what meets no edge is within if its middle is.
func (c *Calc) lsegInside(t Lseg, p Polygon, edge int) bool {
	within, parted := true, false
	from := p[(edge+len(p)-1)%len(p)]
	for i := edge; i < len(p) && within; i++ {
		s := Lseg{from, p[i]}
		on0, on1 := c.OnLseg(s, t[0]), c.OnLseg(s, t[1])
		switch {
		case on0 && on1:
			return true
		case on0:
			within = c.touchedInside(t[0], t[1], s, p, i+1)
		case on1:
			within = c.touchedInside(t[1], t[0], s, p, i+1)
		default:
			if at, ok := c.LsegsMeet(t, s); ok {
				parted = true
				within = c.lsegInside(Lseg{t[0], at}, p, i+1) && c.lsegInside(Lseg{t[1], at}, p, i+1)
			}
		}
		from = p[i]
	}
	if within && !parted {
		within = c.Inside(p, c.Middle(t[0], t[1]))
	}
	return within
}

// touchedInside is lsegInside of a segment from a, which lies on the edge s, to b,
// which does not: what is behind an end of s that the segment goes through is tried
// on.
func (c *Calc) touchedInside(a, b Point, s Lseg, p Polygon, edge int) bool {
	t := Lseg{a, b}
	rest := func(end Point) (tried, within bool) {
		if !c.OnLseg(t, end) {
			return false, true
		}
		return true, c.lsegInside(Lseg{b, end}, p, edge)
	}
	switch {
	case a.Equal(s[0]):
		_, within := rest(s[1])
		return within
	case a.Equal(s[1]):
		_, within := rest(s[0])
		return within
	}
	for _, end := range s {
		if tried, within := rest(end); tried {
			return within
		}
	}
	return true
}

// PolygonDistance is zero where polygons overlap, else that of their borders.
func (c *Calc) PolygonDistance(p, q Polygon) (float64, bool) {
	if c.PolygonsOverlap(p, q) {
		return 0, true
	}
	return c.PathDistance(p.path(), q.path())
}

// PolygonPointDistance is zero within, else that of the nearest edge.
func (c *Calc) PolygonPointDistance(p Polygon, at Point) float64 {
	if c.Inside(p, at) {
		return 0
	}
	_, dist := c.LsegNearest(Lseg{p[0], p[len(p)-1]}, at)
	for i := range p[1:] {
		if _, d := c.LsegNearest(Lseg{p[i], p[i+1]}, at); less(d, dist) {
			dist = d
		}
	}
	return dist
}

// PolygonCircle has the mean of the corners as its center and their mean distance
// from it as its radius.
func (c *Calc) PolygonCircle(p Polygon) Circle {
	var k Circle
	n := float64(len(p))
	for _, q := range p {
		k.Center = c.Move(k.Center, q)
	}
	k.Center = Point{c.Div(k.Center.X, n), c.Div(k.Center.Y, n)}
	for _, q := range p {
		k.Radius = c.Add(k.Radius, c.Distance(q, k.Center))
	}
	k.Radius = c.Div(k.Radius, n)
	return k
}

// Polygon has the corners of a box, from the lower left one on clockwise.
func (b Box) Polygon() Polygon {
	return Polygon{b.Low, {b.Low.X, b.High.Y}, b.High, {b.High.X, b.Low.Y}}
}
