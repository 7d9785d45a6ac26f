package spatial

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

var (
	anyLat = rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, 90, 0, 89.9999, -89.9999}))
	anyLon = rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, 180, 0, 179.9999, -179.9999}))
	sizes  = []string{"0.5 x 0.5", "1 x 2", "0.01 x 0.01", "180 x 360", "7 x 11", "0.1 x 0.3"}
)

func anyGrid(t *rapid.T) Grid {
	g, err := ParseGrid(rapid.SampledFrom(sizes).Draw(t, "size"))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func holds(rs []Range, code uint64) bool {
	for _, r := range rs {
		if r.Lo <= code && code <= r.Hi {
			return true
		}
	}
	return false
}

// Every position within the radius lies in the box around it, and its code in the
// box's cover.
func TestAroundAndCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGrid(t)
		lat, lon := anyLat.Draw(t, "lat"), anyLon.Draw(t, "lon")
		near := rapid.Bool().Draw(t, "near")
		lat2, lon2 := anyLat.Draw(t, "lat2"), anyLon.Draw(t, "lon2")
		if near {
			lat2 = min(90, max(-90, lat+rapid.Float64Range(-1, 1).Draw(t, "dlat")))
			lon2 = lon + rapid.Float64Range(-1, 1).Draw(t, "dlon")
			if lon2 > 180 {
				lon2 -= 360
			} else if lon2 < -180 {
				lon2 += 360
			}
		}
		d := Distance(lat, lon, lat2, lon2)
		b := Around(lat, lon, d)
		if !b.Contains(lat2, lon2) && !(math.Abs(lon2) == 180 && b.Contains(lat2, -lon2)) {
			t.Fatalf("box %v around %v,%v within %v m does not have %v,%v", b, lat, lon, d, lat2, lon2)
		}
		if rs := g.Cover(b); !holds(rs, g.Code(lat2, lon2)) {
			t.Fatalf("cover %x of %v does not have %x of %v,%v", rs, b, g.Code(lat2, lon2), lat2, lon2)
		}
		if b.Contains(lat2, lon2) && g.touched(b) < 1 {
			t.Fatal("no cell touched")
		}
	})
}

// A box's cover has the codes of the box's positions (S1) and is sorted.
func TestCoverOfBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGrid(t)
		b := Box{anyLat.Draw(t, "south"), anyLon.Draw(t, "west"), anyLat.Draw(t, "north"), anyLon.Draw(t, "east")}
		lat, lon := anyLat.Draw(t, "lat"), anyLon.Draw(t, "lon")
		rs := g.Cover(b)
		if b.Contains(lat, lon) && !holds(rs, g.Code(lat, lon)) {
			t.Fatalf("%v: %v,%v is missing", b, lat, lon)
		}
		for i, r := range rs {
			if r.Lo > r.Hi || i > 0 && rs[i-1].Hi >= r.Lo {
				t.Fatalf("ranges %x", rs)
			}
		}
	})
}

// A region of any depth holds exactly the codes that begin like it, lies in its
// parent and has its positions in its box.
func TestRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGrid(t)
		lat, lon := anyLat.Draw(t, "lat"), anyLon.Draw(t, "lon")
		depth := rapid.IntRange(0, MaxDepth-1).Draw(t, "depth")
		code := g.Code(lat, lon)
		r := RegionOf(code, depth)
		if !holds([]Range{r.Range()}, code) {
			t.Fatalf("%v does not hold %x", r, code)
		}
		b := g.Box(r)
		const eps = 1e-9
		if lat < b.South-eps || lat > b.North+eps || lon < b.West-eps || lon > b.East+eps {
			t.Fatalf("%v,%v not in %v", lat, lon, b)
		}
		found := 0
		next := r.Range().Lo
		for _, q := range r.Quarters() {
			if q.Range().Lo != next {
				t.Fatalf("quarters of %v do not follow each other", r)
			}
			next = q.Range().Hi + 1
			if holds([]Range{q.Range()}, code) {
				found++
			}
		}
		if found != 1 || next-1 != r.Range().Hi {
			t.Fatalf("quarters of %v do not divide it", r)
		}
	})
}

func TestSubtract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []Range {
			var rs []Range
			for _, v := range rapid.SliceOfN(rapid.Uint64Range(0, 60), 0, 8).Draw(t, name) {
				rs = append(rs, Range{v, v + rapid.Uint64Range(0, 9).Draw(t, "len")})
			}
			return mergeRanges(rs)
		}
		a, b := draw("a"), draw("b")
		got := Subtract(a, b)
		for v := range uint64(80) {
			if want := holds(a, v) && !holds(b, v); holds(got, v) != want {
				t.Fatalf("%v minus %v is %v: %d", a, b, got, v)
			}
			if want := holds(a, v) && holds(b, v); holds(Intersect(a, b), v) != want {
				t.Fatalf("%v and %v is %v: %d", a, b, Intersect(a, b), v)
			}
		}
	})
}

// A box no wider than a cell touches four cells at most.
func TestFourRegions(t *testing.T) {
	g, _ := ParseGrid("0.5 x 0.5")
	rapid.Check(t, func(t *rapid.T) {
		lat, lon := rapid.Float64Range(-60, 60).Draw(t, "lat"), anyLon.Draw(t, "lon")
		if n := g.touched(Around(lat, lon, 13000)); n > 4 {
			t.Fatalf("%d cells at %v,%v", n, lat, lon)
		}
	})
}

func TestParseGrid(t *testing.T) {
	for _, s := range []string{"", "1", "0 x 1", "-1 x 1", "1 x 0", "1 x -2", "a x b", "NaN x 1", "0.001 x 1", "181 x 1", "1 x 361",
		"1_0 x 5", "0x1 x 5", "1 x 0x5", "Inf x 5", "1e1 x 5", "+1 x 5", "1. x 1,5", ". x 1", "1 x 2 x 3", "--1 x 1", "1 x 1°"} {
		if g, err := ParseGrid(s); err == nil {
			t.Errorf("%q is taken as %v", s, g)
		}
	}
	g, err := ParseGrid(" 0.25X1 ")
	if err != nil || g != (Grid{0.25, 1}) || g.String() != "0.25 x 1" {
		t.Errorf("%v, %v", g, err)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct{ lat1, lon1, lat2, lon2, want float64 }{
		{0, 0, 0, 1, 111195.0802},
		{0, 179.5, 0, -179.5, 111195.0802},
		{90, 0, -90, 0, math.Pi * EarthRadius},
		{90, 0, 90, 120, 0},
		{46.77, 23.59, 46.77, 23.59, 0},
		{46.77, 23.59, 47.4979, 19.0402, 353499.3},
	} {
		if d := Distance(c.lat1, c.lon1, c.lat2, c.lon2); math.Abs(d-c.want) > math.Abs(c.want)*1e-6+1e-6 {
			t.Errorf("%v: %v", c, d)
		}
	}
}

// What is the same place has the same distances, to the last bit from itself.
func TestSamePlace(t *testing.T) {
	for _, c := range [][4]float64{{0, 180, 0, -180}, {51.25, -180, 51.25, 180}, {90, 0, 90, 123}, {-90, -180, -90, 17.5}} {
		if d := Distance(c[0], c[1], c[2], c[3]); d != 0 {
			t.Errorf("%v: %v", c, d)
		}
	}
	for _, c := range [][4]float64{{0, 0, 0, 180}, {0, 0, 0, -180}, {45, 10, -45, -170}, {90, 3, -90, 77}} {
		if d := Distance(c[0], c[1], c[2], c[3]); d != math.Pi*EarthRadius {
			t.Errorf("%v: %v", c, d)
		}
	}
}

// The distance is within a micrometre of the angle between the positions' vectors,
// which is well conditioned everywhere, and the same from both ends.
func TestDistanceRounding(t *testing.T) {
	vector := func(lat, lon float64) [3]float64 {
		sin, cos := math.Sincos(lat * rad)
		sinLon, cosLon := math.Sincos(lon * rad)
		return [3]float64{cos * cosLon, cos * sinLon, sin}
	}
	rapid.Check(t, func(t *rapid.T) {
		lat, lon := anyLat.Draw(t, "lat"), anyLon.Draw(t, "lon")
		lat2, lon2 := anyLat.Draw(t, "lat2"), anyLon.Draw(t, "lon2")
		if place := rapid.IntRange(0, 2).Draw(t, "place"); place > 0 {
			d := math.Pow(10, -rapid.Float64Range(0, 14).Draw(t, "digits"))
			lat2, lon2 = min(90, max(-90, lat+rapid.Float64Range(-d, d).Draw(t, "dlat"))), lon
			if place == 2 {
				lat2, lon2 = -lat2, lon+180
			}
			if lon2 += rapid.Float64Range(-d, d).Draw(t, "dlon"); lon2 > 180 {
				lon2 -= 360
			} else if lon2 < -180 {
				lon2 += 360
			}
		}
		a, b := vector(lat, lon), vector(lat2, lon2)
		cross := math.Hypot(math.Hypot(a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2]), a[0]*b[1]-a[1]*b[0])
		want := EarthRadius * math.Atan2(cross, a[0]*b[0]+a[1]*b[1]+a[2]*b[2])
		got := Distance(lat, lon, lat2, lon2)
		if math.Abs(got-want) > 1e-6 || got != Distance(lat2, lon2, lat, lon) {
			t.Fatalf("%v, %v from %v, %v: %v and %v, not %v", lat, lon, lat2, lon2, got, Distance(lat2, lon2, lat, lon), want)
		}
	})
}

func BenchmarkCover(b *testing.B) {
	g, _ := ParseGrid("0.5 x 0.5")
	n := 0
	for i := range b.N {
		n += len(g.Cover(Around(46.77+float64(i%100)/100, 23.59, 2000)))
	}
	b.ReportMetric(float64(n)/float64(b.N), "ranges")
}

// touched counts the cells of the grid that a box overlaps.
func (g Grid) touched(b Box) int {
	if b.South > b.North {
		return 0
	}
	rows := int(g.latFixed(b.North)>>bitsIn) - int(g.latFixed(b.South)>>bitsIn) + 1
	cols := func(west, east float64) int { return int(g.lonFixed(east)>>bitsIn) - int(g.lonFixed(west)>>bitsIn) + 1 }
	if b.West > b.East {
		return rows * min(cols(-180, 180), cols(b.West, 180)+cols(-180, b.East))
	}
	return rows * cols(b.West, b.East)
}
