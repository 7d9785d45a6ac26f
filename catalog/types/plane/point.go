package plane

import "math"

// Point is a position, or a vector from the origin, or a complex number.
type Point struct{ X, Y float64 }

// Equal reports whether both coordinates are. Where one is NaN it compares exactly.
func (p Point) Equal(q Point) bool {
	if p.X != p.X || p.Y != p.Y || q.X != q.X || q.Y != q.Y {
		return same(p.X, q.X) && same(p.Y, q.Y)
	}
	return Eq(p.X, q.X) && Eq(p.Y, q.Y)
}

// same is exact equality; NaN is the same as NaN.
func same(a, b float64) bool { return a == b || a != a && b != b }

// Distance between two points.
func (c *Calc) Distance(p, q Point) float64 { return c.Hypot(c.Sub(p.X, q.X), c.Sub(p.Y, q.Y)) }

// Slope of the line through two points: infinite if it is vertical.
func (c *Calc) Slope(p, q Point) float64 {
	switch {
	case Eq(p.X, q.X):
		return math.Inf(1)
	case Eq(p.Y, q.Y):
		return 0
	}
	return c.Div(c.Sub(p.Y, q.Y), c.Sub(p.X, q.X))
}

// crossSlope is the slope of the lines perpendicular to that through two points.
func (c *Calc) crossSlope(p, q Point) float64 {
	switch {
	case Eq(p.X, q.X):
		return 0
	case Eq(p.Y, q.Y):
		return math.Inf(1)
	}
	return c.Div(c.Sub(p.X, q.X), c.Sub(q.Y, p.Y))
}

// Move adds the vector by.
func (c *Calc) Move(p, by Point) Point { return Point{c.Add(p.X, by.X), c.Add(p.Y, by.Y)} }

// MoveBack subtracts the vector by.
func (c *Calc) MoveBack(p, by Point) Point { return Point{c.Sub(p.X, by.X), c.Sub(p.Y, by.Y)} }

// Turn is the product of complex numbers, which turns and scales p.
func (c *Calc) Turn(p, by Point) Point {
	return Point{
		c.Sub(c.Mul(p.X, by.X), c.Mul(p.Y, by.Y)),
		c.Add(c.Mul(p.X, by.Y), c.Mul(p.Y, by.X)),
	}
}

// TurnBack is the quotient of complex numbers.
func (c *Calc) TurnBack(p, by Point) Point {
	norm := c.Add(c.Mul(by.X, by.X), c.Mul(by.Y, by.Y))
	return Point{
		c.Div(c.Add(c.Mul(p.X, by.X), c.Mul(p.Y, by.Y)), norm),
		c.Div(c.Sub(c.Mul(p.Y, by.X), c.Mul(p.X, by.Y)), norm),
	}
}

// Middle of two points.
func (c *Calc) Middle(p, q Point) Point {
	return Point{c.Div(c.Add(p.X, q.X), 2), c.Div(c.Add(p.Y, q.Y), 2)}
}
