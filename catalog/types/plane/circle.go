package plane

import "math"

// Circle has a radius that is not negative, unless it was computed so.
type Circle struct {
	Center Point
	Radius float64
}

// CircleArea is r²π.
func (c *Calc) CircleArea(k Circle) float64 { return c.Mul(c.Mul(k.Radius, k.Radius), math.Pi) }

// Gap is the distance between a circle's line and what is dist away from its
// center: zero within.
func (c *Calc) Gap(dist, radius float64) float64 {
	if d := c.Sub(dist, radius); !(d < 0) {
		return d
	}
	return 0
}

// Edge is how far a circle reaches from a coordinate of its center.
func (c *Calc) Edge(center, radius float64) (low, high float64) {
	return c.Sub(center, radius), c.Add(center, radius)
}

// CircleBox is the box with its corners on the circle.
func (c *Calc) CircleBox(k Circle) Box {
	d := c.Div(k.Radius, math.Sqrt2)
	return Box{Point{c.Add(k.Center.X, d), c.Add(k.Center.Y, d)}, Point{c.Sub(k.Center.X, d), c.Sub(k.Center.Y, d)}}
}

// BoxCircle is the circle through the corners of a box.
func (c *Calc) BoxCircle(b Box) Circle {
	center := c.BoxCenter(b)
	return Circle{center, c.Distance(center, b.High)}
}

// CirclePolygon has n corners on the circle, from the left on clockwise.
func (c *Calc) CirclePolygon(n int, k Circle, sin, cos func(float64) float64) Polygon {
	p := make(Polygon, n)
	step := c.Div(2*math.Pi, float64(n))
	for i := range p {
		a := c.Mul(step, float64(i))
		p[i] = Point{c.Sub(k.Center.X, c.Mul(k.Radius, cos(a))), c.Add(k.Center.Y, c.Mul(k.Radius, sin(a)))}
	}
	return p
}
