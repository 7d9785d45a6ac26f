package catalog

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLayered: copies of a map, changed each for itself, have what maps that are copied
// as a whole have, and tell where they differ.
func TestLayered(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type pair struct {
		m    *layered[int, int]
		want map[int]int
	}
	pairs := []pair{{&layered[int, int]{}, map[int]int{}}}
	for step := range 4000 {
		p := pairs[r.IntN(len(pairs))]
		switch k := r.IntN(800); r.IntN(8) {
		case 0:
			c := p.m.copy()
			c.settle()
			q := pair{&c, maps.Clone(p.want)}
			if len(pairs) < 8 {
				pairs = append(pairs, q)
			} else {
				pairs[r.IntN(len(pairs))] = q
			}
		case 1, 2:
			p.m.delete(k)
			delete(p.want, k)
		case 3:
			for range r.IntN(300) {
				k := r.IntN(800)
				p.m.set(k, step)
				p.want[k] = step
			}
		default:
			p.m.set(k, step)
			p.want[k] = step
		}
		p = pairs[r.IntN(len(pairs))]
		if got := maps.Collect(p.m.all()); !maps.Equal(got, p.want) || p.m.n != len(p.want) {
			t.Fatalf("step %d: %v, not %v", step, got, p.want)
		}
		k := r.IntN(800)
		v, ok := p.m.lookup(k)
		if w, has := p.want[k]; v != w || ok != has || p.m.get(k) != w {
			t.Fatalf("step %d: %d is %d, %v", step, k, v, ok)
		}
		q := pairs[r.IntN(len(pairs))]
		keys := slices.Sorted(p.m.differ(q.m))
		if len(slices.Compact(slices.Clone(keys))) != len(keys) {
			t.Fatalf("step %d: a key twice in %v", step, keys)
		}
		for k := range 800 {
			v, ok := p.want[k]
			w, has := q.want[k]
			if _, found := slices.BinarySearch(keys, k); (v != w || ok != has) && !found {
				t.Fatalf("step %d: %d differs", step, k)
			}
		}
	}
}

// BenchmarkManyTables creates a table beside many others.
func BenchmarkManyTables(b *testing.B) {
	c := New(nil)
	ch := NewChange(c.Current(), OIDPostgres, "postgres", []string{"public"}, c)
	for i := range 5000 {
		benchTable(b, ch, "t"+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676)))
	}
	if err := c.Publish(ch.Delta()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		benchTable(b, NewChange(c.Current(), OIDPostgres, "postgres", []string{"public"}, c), "new")
	}
}
