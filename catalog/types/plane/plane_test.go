package plane

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomPoint has small whole coordinates, so that points meet often.
func randomPoint(r *rand.Rand) Point { return Point{float64(r.IntN(9) - 4), float64(r.IntN(9) - 4)} }

// near allows for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(a)) }

func TestPointsTurnForthAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		p, by := randomPoint(r), randomPoint(r)
		if by == (Point{}) {
			continue
		}
		var c Calc
		if back := c.TurnBack(c.Turn(p, by), by); !back.Equal(p) || c.Err() != nil {
			t.Fatalf("%v turned by %v and back is %v, %v", p, by, back, c.Err())
		}
		if back := c.MoveBack(c.Move(p, by), by); back != p {
			t.Fatalf("%v moved by %v and back is %v", p, by, back)
		}
	}
}

// What is nearest lies on the shape, is as far away as is told, and no other point
// that is tried is nearer.
func TestNearestPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var c Calc
		p, s := randomPoint(r), Lseg{randomPoint(r), randomPoint(r)}
		at, d := c.LsegNearest(s, p)
		if !c.OnLseg(s, at) || !near(c.Distance(at, p), d) {
			t.Fatalf("the point of %v next to %v is %v, %v away", s, p, at, d)
		}
		for k := range 11 {
			f := float64(k) / 10
			q := Point{s[0].X + f*(s[1].X-s[0].X), s[0].Y + f*(s[1].Y-s[0].Y)}
			if c.Distance(p, q) < d-Epsilon {
				t.Fatalf("%v of %v is nearer to %v than %v", q, s, p, at)
			}
		}
		o := Lseg{randomPoint(r), randomPoint(r)}
		_, there := c.LsegNearestLseg(s, o)
		_, back := c.LsegNearestLseg(o, s)
		if !near(there, back) {
			t.Fatalf("%v is %v away from %v, which is %v away from it", s, there, o, back)
		}
		if _, meet := c.LsegsMeet(s, o); meet && there != 0 {
			t.Fatalf("%v and %v meet, %v away", s, o, there)
		}
		b := NewBox(randomPoint(r), randomPoint(r))
		at, d = c.BoxNearest(b, p)
		dx := math.Max(0, math.Max(b.Low.X-p.X, p.X-b.High.X))
		dy := math.Max(0, math.Max(b.Low.Y-p.Y, p.Y-b.High.Y))
		if !near(d, math.Hypot(dx, dy)) || !near(c.Distance(at, p), d) {
			t.Fatalf("the point of %v next to %v is %v, %v away", b, p, at, d)
		}
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// A box as a polygon contains, overlaps and measures as the box does.
func TestBoxesAreTheirPolygons(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var c Calc
		a, b, p := NewBox(randomPoint(r), randomPoint(r)), NewBox(randomPoint(r), randomPoint(r)), randomPoint(r)
		if c.BoxArea(a) == 0 || c.BoxArea(b) == 0 {
			continue
		}
		pa, pb := a.Polygon(), b.Polygon()
		if got := c.PathArea(pa.path()); got != c.BoxArea(a) {
			t.Fatalf("%v: area %v, of its polygon %v", a, c.BoxArea(a), got)
		}
		if got := c.Inside(pa, p); got != a.ContainsPoint(p) {
			t.Fatalf("%v contains %v: %v, its polygon %v", a, p, !got, got)
		}
		if got := c.PolygonsOverlap(pa, pb); got != a.Overlaps(b) {
			t.Fatalf("%v overlaps %v: %v, the polygons %v", a, b, !got, got)
		}
		if got := c.PolygonContains(pa, pb); got != a.Contains(b) {
			t.Fatalf("%v contains %v: %v, the polygons %v", a, b, !got, got)
		}
		k := r.IntN(4)
		turned := append(append(Polygon{}, pa[k:]...), pa[:k]...)
		if !pa.SamePoints(turned) || pa.SamePoints(pb) != (a == b) {
			t.Fatalf("%v, from corner %d on %v, beside %v", pa, k, turned, pb)
		}
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFaultsStay(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func(c *Calc)
		want string
	}{
		{"sum", func(c *Calc) { c.Add(math.MaxFloat64, math.MaxFloat64) }, "value out of range: overflow"},
		{"product", func(c *Calc) { c.Mul(1e300, 1e300) }, "value out of range: overflow"},
		{"small product", func(c *Calc) { c.Mul(1e-300, 1e-300) }, "value out of range: underflow"},
		{"quotient", func(c *Calc) { c.Div(1, 0) }, "division by zero"},
		{"the first fault", func(c *Calc) { c.Div(1, 0); c.Mul(1e300, 1e300) }, "division by zero"},
		{"infinite operands", func(c *Calc) { c.Add(math.Inf(1), 1); c.Mul(math.Inf(1), 2); c.Div(math.Inf(1), 2) }, ""},
	} {
		var c Calc
		tt.f(&c)
		got := ""
		if err := c.Err(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
