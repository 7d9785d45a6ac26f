package plane

// Lseg is a line segment, by its ends.
type Lseg [2]Point

// Length of a segment.
func (c *Calc) Length(s Lseg) float64 { return c.Distance(s[0], s[1]) }

// LsegSlope is the slope of the line that the segment is of.
func (c *Calc) LsegSlope(s Lseg) float64 { return c.Slope(s[0], s[1]) }

// LsegCrossSlope is the slope of what is perpendicular to the segment.
func (c *Calc) LsegCrossSlope(s Lseg) float64 { return c.crossSlope(s[0], s[1]) }

// OnLseg reports whether p lies on the segment: its distances to the ends add up
// to the length.
func (c *Calc) OnLseg(s Lseg, p Point) bool {
	return Eq(c.Distance(p, s[0])+c.Distance(p, s[1]), c.Distance(s[0], s[1]))
}

// LsegMeetsLine is the point that a segment and a line have in common. Near an end
// it is the end.
func (c *Calc) LsegMeetsLine(s Lseg, l Line) (Point, bool) {
	at, ok := c.Cross(c.LineAt(s[0], c.LsegSlope(s)), l)
	if !ok || !c.OnLseg(s, at) {
		return Point{}, false
	}
	for _, end := range s {
		if end.Equal(at) {
			return end, true
		}
	}
	return at, true
}

// LsegsMeet is the point that two segments have in common.
func (c *Calc) LsegsMeet(s, t Lseg) (Point, bool) {
	at, ok := c.LsegMeetsLine(s, c.LineAt(t[0], c.LsegSlope(t)))
	if !ok || !c.OnLseg(t, at) {
		return Point{}, false
	}
	return at, true
}

// LsegNearestLine is the segment's point that is next to a line: a common one, or
// an end.
func (c *Calc) LsegNearestLine(s Lseg, l Line) (Point, float64) {
	if at, ok := c.LsegMeetsLine(s, l); ok {
		return at, 0
	}
	_, d0 := c.LineNearest(l, s[0])
	_, d1 := c.LineNearest(l, s[1])
	if d0 < d1 {
		return s[0], d0
	}
	return s[1], d1
}

// LsegNearest is the segment's point that is next to p.
func (c *Calc) LsegNearest(s Lseg, p Point) (Point, float64) {
	at, _ := c.LsegNearestLine(s, c.LineAt(p, c.crossSlope(s[0], s[1])))
	return at, c.Distance(at, p)
}

// LsegNearestLseg is the point of on that is next to the segment to: a common one,
// or one of on that is next to an end of to, or an end of on.
func (c *Calc) LsegNearestLseg(on, to Lseg) (Point, float64) {
	if at, ok := c.LsegsMeet(on, to); ok {
		return at, 0
	}
	at, dist := c.LsegNearest(on, to[0])
	if p, d := c.LsegNearest(on, to[1]); less(d, dist) {
		at, dist = p, d
	}
	for _, end := range on {
		if _, d := c.LsegNearest(to, end); less(d, dist) {
			at, dist = end, d
		}
	}
	return at, dist
}
