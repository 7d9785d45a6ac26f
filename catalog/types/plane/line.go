package plane

import "math"

// Line has the points with Ax + By + C = 0; A and B are not both zero.
type Line struct{ A, B, C float64 }

// LineAt is the line through p with a slope.
func (c *Calc) LineAt(p Point, slope float64) Line {
	switch {
	case math.IsInf(slope, 0):
		return Line{A: -1, C: p.X}
	case slope == 0:
		return Line{B: -1, C: p.Y}
	}
	return Line{A: slope, B: -1, C: positiveZero(c.Sub(p.Y, c.Mul(slope, p.X)))}
}

// positiveZero has no minus before a zero.
func positiveZero(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

// Vertical lines have no y.
func (l Line) Vertical() bool { return Zero(l.B) }

// Horizontal lines have no x.
func (l Line) Horizontal() bool { return Zero(l.A) }

// Slope of a line.
func (c *Calc) LineSlope(l Line) float64 {
	switch {
	case Zero(l.A):
		return 0
	case Zero(l.B):
		return math.Inf(1)
	}
	return c.Div(l.A, -l.B)
}

// lineCrossSlope is the slope of the lines perpendicular to l.
func (c *Calc) lineCrossSlope(l Line) float64 {
	switch {
	case Zero(l.A):
		return math.Inf(1)
	case Zero(l.B):
		return 0
	}
	return c.Div(l.B, l.A)
}

// Perpendicular reports whether two lines meet at a right angle.
func (c *Calc) Perpendicular(l, m Line) bool {
	switch {
	case Zero(l.A):
		return Zero(m.B)
	case Zero(m.A):
		return Zero(l.B)
	case Zero(l.B):
		return Zero(m.A)
	case Zero(m.B):
		return Zero(l.A)
	}
	return Eq(c.Div(c.Mul(l.A, m.A), c.Mul(l.B, m.B)), -1)
}

// LinesEqual reports whether the factors of two lines are proportional.
func (c *Calc) LinesEqual(l, m Line) bool {
	for _, f := range []float64{l.A, l.B, l.C, m.A, m.B, m.C} {
		if f != f {
			return same(l.A, m.A) && same(l.B, m.B) && same(l.C, m.C)
		}
	}
	ratio := 1.0
	switch {
	case !Zero(m.A):
		ratio = c.Div(l.A, m.A)
	case !Zero(m.B):
		ratio = c.Div(l.B, m.B)
	case !Zero(m.C):
		ratio = c.Div(l.C, m.C)
	}
	return Eq(l.A, c.Mul(ratio, m.A)) && Eq(l.B, c.Mul(ratio, m.B)) && Eq(l.C, c.Mul(ratio, m.C))
}

// Cross is the point where two lines meet; false if they are parallel. The
// system of both equations is solved for x, and y follows from the line that is
// not vertical.
func (c *Calc) Cross(l, m Line) (Point, bool) {
	switch {
	case !Zero(l.B):
	case !Zero(m.B):
		l, m = m, l
	default:
		return Point{}, false
	}
	if Eq(m.A, c.Mul(l.A, c.Div(m.B, l.B))) {
		return Point{}, false
	}
	x := c.Div(c.Sub(c.Mul(l.B, m.C), c.Mul(m.B, l.C)), c.Sub(c.Mul(l.A, m.B), c.Mul(m.A, l.B)))
	y := c.Div(-c.Add(c.Mul(l.A, x), l.C), l.B)
	return Point{positiveZero(x), positiveZero(y)}, true
}

// LineDistance between lines: zero where they meet, else the difference of the
// constants once the factors of both are brought to one length.
func (c *Calc) LineDistance(l, m Line) float64 {
	if _, meet := c.Cross(l, m); meet {
		return 0
	}
	usable := func(a, b float64) bool { return !Zero(a) && a == a && !Zero(b) && b == b }
	ratio := 1.0
	switch {
	case usable(l.A, m.A):
		ratio = c.Div(l.A, m.A)
	case usable(l.B, m.B):
		ratio = c.Div(l.B, m.B)
	}
	return c.Div(math.Abs(c.Sub(l.C, c.Mul(ratio, m.C))), c.Hypot(l.A, l.B))
}

// LineNearest is the foot of the perpendicular from p, and how far it is; NaN
// where there is none.
func (c *Calc) LineNearest(l Line, p Point) (Point, float64) {
	foot, ok := c.Cross(c.LineAt(p, c.lineCrossSlope(l)), l)
	if !ok {
		return p, math.NaN()
	}
	return foot, c.Distance(foot, p)
}

// OnLine reports whether the line goes through p.
func (c *Calc) OnLine(l Line, p Point) bool {
	return Zero(c.Add(c.Add(c.Mul(l.A, p.X), c.Mul(l.B, p.Y)), l.C))
}
