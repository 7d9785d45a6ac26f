package planner

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRelSet(t *testing.T) {
	for _, c := range []struct {
		a, b                   []int
		union                  []int
		within, meets, isEmpty bool
	}{
		{nil, nil, nil, true, false, true},
		{nil, []int{1}, []int{1}, true, false, true},
		{[]int{1}, nil, []int{1}, false, false, false},
		{[]int{63}, []int{63, 64}, []int{63, 64}, true, true, false},
		{[]int{64}, []int{63, 64}, []int{63, 64}, true, true, false},
		{[]int{1, 200}, []int{1, 65}, []int{1, 65, 200}, false, true, false},
		{[]int{200}, []int{65}, []int{65, 200}, false, false, false},
		{[]int{65}, []int{200}, []int{65, 200}, false, false, false},
		{[]int{65, 200}, []int{65, 200}, []int{65, 200}, true, true, false},
		{[]int{-1}, []int{-2, 1}, []int{0, 1}, true, true, false}, // placeholders are one
	} {
		a, b := relSetOf(c.a...), relSetOf(c.b...)
		if got := slices.Collect(a.union(b).all()); !slices.Equal(got, c.union) {
			t.Errorf("%v and %v: union %v", c.a, c.b, got)
		}
		if got := a.within(b); got != c.within {
			t.Errorf("%v within %v: %v", c.a, c.b, got)
		}
		if got := a.meets(b); got != c.meets || b.meets(a) != got {
			t.Errorf("%v meets %v: %v", c.a, c.b, got)
		}
		if got := a.empty(); got != c.isEmpty {
			t.Errorf("%v is empty: %v", c.a, got)
		}
	}
}

// TestRelSetCopies changes copies of sets and compares each with a map of its own.
func TestRelSetCopies(t *testing.T) {
	type pair struct {
		set relSet
		is  map[int]bool
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		top := []int{64, 70, 300}[seed%3]
		all := []pair{{is: map[int]bool{}}}
		for range 100 {
			from, other := all[r.IntN(len(all))], all[r.IntN(len(all))]
			x := pair{from.set, maps.Clone(from.is)}
			switch r.IntN(4) {
			case 0, 1:
				id := r.IntN(top)
				x.set.add(id)
				x.is[id] = true
			case 2:
				x.set.addAll(other.set)
				maps.Copy(x.is, other.is)
			case 3:
				odd := func(id int) bool { return id%2 == 1 }
				x.set = x.set.keep(odd)
				maps.DeleteFunc(x.is, func(id int, _ bool) bool { return !odd(id) })
			}
			all = append(all, x)
		}
		for _, x := range all {
			if got, want := slices.Collect(x.set.all()), slices.Sorted(maps.Keys(x.is)); !slices.Equal(got, want) || x.set.len() != len(want) || x.set.empty() != (len(want) == 0) {
				t.Fatalf("seed %d: %v is not %v", seed, got, want)
			}
			for id := range top {
				if x.set.has(id) != x.is[id] {
					t.Fatalf("seed %d: has(%d) is %v", seed, id, !x.is[id])
				}
			}
			y := all[r.IntN(len(all))]
			within, meets := true, false
			for id := range x.is {
				within, meets = within && y.is[id], meets || y.is[id]
			}
			if x.set.within(y.set) != within || x.set.meets(y.set) != meets {
				t.Fatalf("seed %d: %v and %v: within is %v, meets %v", seed, x.is, y.is, !within, !meets)
			}
		}
	}
}
