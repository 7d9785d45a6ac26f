package plane

import "math"

// Path goes from point to point, of which there is one at least, and back to the
// first if it is closed.
type Path struct {
	Closed bool
	Points []Point
}

// segments calls f with each segment, the closing one first, until it returns false.
func (p Path) segments(f func(s Lseg) bool) {
	n := len(p.Points)
	for i, to := range p.Points {
		if i == 0 && !p.Closed {
			continue
		}
		if !f(Lseg{p.Points[(i+n-1)%n], to}) {
			return
		}
	}
}

// PathLength is the sum of the segments' lengths.
func (c *Calc) PathLength(p Path) float64 {
	sum := 0.0
	p.segments(func(s Lseg) bool {
		sum = c.Add(sum, c.Length(s))
		return true
	})
	return sum
}

// PathArea is the area within a closed path that does not cross itself, by the
// shoelace formula.
func (c *Calc) PathArea(p Path) float64 {
	sum := 0.0
	for i, a := range p.Points {
		b := p.Points[(i+1)%len(p.Points)]
		sum = c.Add(sum, c.Mul(a.X, b.Y))
		sum = c.Sub(sum, c.Mul(a.Y, b.X))
	}
	return c.Div(math.Abs(sum), 2)
}

// PathsMeet reports whether a segment of one meets one of the other.
func (c *Calc) PathsMeet(p, q Path) (meet bool) {
	if !Bounds(p.Points).Overlaps(Bounds(q.Points)) {
		return false
	}
	p.segments(func(s Lseg) bool {
		q.segments(func(t Lseg) bool {
			_, meet = c.LsegsMeet(s, t)
			return !meet
		})
		return !meet
	})
	return meet
}

// PathDistance is the least distance of segments; false where a path has none.
func (c *Calc) PathDistance(p, q Path) (dist float64, ok bool) {
	p.segments(func(s Lseg) bool {
		q.segments(func(t Lseg) bool {
			if _, d := c.LsegNearestLseg(s, t); !ok || less(d, dist) {
				dist, ok = d, true
			}
			return true
		})
		return c.err == nil
	})
	return dist, ok
}

// PathPointDistance is the least distance of a segment; zero where there is none.
func (c *Calc) PathPointDistance(p Path, at Point) float64 {
	dist, any := 0.0, false
	p.segments(func(s Lseg) bool {
		if _, d := c.LsegNearest(s, at); !any || less(d, dist) {
			dist, any = d, true
		}
		return true
	})
	return dist
}

// OnPath reports whether p lies on an open path, or within a closed one.
func (c *Calc) OnPath(path Path, p Point) bool {
	if path.Closed {
		return c.Inside(path.Points, p)
	}
	before := c.Distance(p, path.Points[0])
	for i, q := range path.Points[1:] {
		d := c.Distance(p, q)
		if Eq(c.Add(before, d), c.Distance(path.Points[i], q)) {
			return true
		}
		before = d
	}
	return false
}
