package spatial

import (
	"testing"

	"pgregory.net/rapid"
)

// A window holds the codes of the positions of its box, and few others; Next never
// passes over one of them.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGrid(t)
		lat, lon := anyLat.Draw(t, "lat"), anyLon.Draw(t, "lon")
		b := Around(lat, lon, rapid.SampledFrom([]float64{0, 1, 2000, 50000, 5e6}).Draw(t, "metres"))
		w := g.Window(b)
		lat2, lon2 := anyLat.Draw(t, "lat2"), anyLon.Draw(t, "lon2")
		if rapid.Bool().Draw(t, "near") {
			lat2 = max(-90, min(90, lat+rapid.Float64Range(-0.1, 0.1).Draw(t, "dlat")))
			lon2 = max(-180, min(180, lon+rapid.Float64Range(-0.1, 0.1).Draw(t, "dlon")))
		}
		code := g.Code(lat2, lon2)
		in := w.Contains(code)
		if b.Contains(lat2, lon2) && !in {
			t.Fatalf("%v does not have %v,%v", b, lat2, lon2)
		}
		dlat, dlon := g.LatSize/(1<<bitsIn), g.LonSize/(1<<bitsIn)
		wide := Box{b.South - dlat, b.West - dlon, b.North + dlat, b.East + dlon}
		if in && !wide.Contains(lat2, lon2) {
			t.Fatalf("%v has %v,%v", b, lat2, lon2)
		}
		next := w.Next(code)
		switch {
		case in && next != code:
			t.Fatalf("%x is in the window, the next one is %x", code, next)
		case next < code || next != NullCode && !w.Contains(next):
			t.Fatalf("the next one from %x on is %x", code, next)
		}
		// Nothing between is in the window: the codes of other positions are not.
		other := g.Code(max(-90, min(90, lat+rapid.Float64Range(-1, 1).Draw(t, "y"))), max(-180, min(180, lon+rapid.Float64Range(-1, 1).Draw(t, "x"))))
		if w.Contains(other) && other >= code && other < next {
			t.Fatalf("%x is in the window, the next one from %x on is %x", other, code, next)
		}
	})
	w := Grid{1, 1}.Window(Box{1, 0, 0, 0})
	if w.Contains(0) || w.Contains(NullCode) || w.Next(0) != NullCode {
		t.Error("an empty window has codes")
	}
}
