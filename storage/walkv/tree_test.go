package walkv

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTree puts random writes into a tree and compares it, and all its earlier views, with
// maps.
func TestTree(t *testing.T) {
	type state struct {
		v    view
		want map[string]string
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		keys := []int{5, 40, 3000}[seed%3]
		var tr tree
		want := make(map[string]string)
		states := []state{{tr.snap(), maps.Clone(want)}}
		for range 40 {
			base := r.IntN(keys)
			for i := range r.IntN(3 * keys / 10) {
				n := r.IntN(keys)
				if seed%4 == 1 { // a sorted batch
					n = min(base+i*(1+int(seed%5))+r.IntN(2), keys-1)
				}
				if seed%2 == 0 { // mostly ascending
					n = min(len(want), keys-1-r.IntN(keys/5))
				}
				key, val := fmt.Sprintf("%05d", n), fmt.Sprint(r.IntN(1000))
				rec := append([]byte(key), byte(len(val)+1))
				rec = append(rec, val...)
				tr.set(writeOf(rec[:len(key)], rec[len(key)+1:]))
				want[key] = val
			}
			states = append(states, state{tr.snap(), maps.Clone(want)})
		}
		for _, s := range states {
			compareTree(t, r, s.v, s.want, keys)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func compareTree(t *testing.T, r *rand.Rand, v view, want map[string]string, keys int) {
	t.Helper()
	all := slices.Sorted(maps.Keys(want))
	if v.count != len(all) {
		t.Errorf("%d writes counted of %d", v.count, len(all))
	}
	for _, key := range all {
		if w, ok := v.get([]byte(key)); !ok || string(w.val()) != want[key] {
			t.Errorf("%s has %q, not %q", key, w.val(), want[key])
		}
	}
	c := cursor{v: v}
	var got []string
	for ok := c.first(); ok; ok = c.next() {
		w := c.write()
		got = append(got, string(w.keyBytes()))
		if string(w.val()) != want[got[len(got)-1]] {
			t.Errorf("%s has %q", w.keyBytes(), w.val())
		}
	}
	if !slices.Equal(got, all) {
		t.Errorf("forward: %v, not %v", got, all)
	}
	got = got[:0]
	for ok := c.last(); ok; ok = c.prev() {
		got = append(got, string(c.write().keyBytes()))
	}
	if slices.Reverse(got); !slices.Equal(got, all) {
		t.Errorf("backward: %v, not %v", got, all)
	}
	for range 50 {
		key := fmt.Sprintf("%05d", r.IntN(keys+2)-1)
		at, found := slices.BinarySearch(all, key)
		if _, ok := v.get([]byte(key)); ok != found {
			t.Errorf("%s: found is %v", key, ok)
		}
		ok := c.seek([]byte(key))
		if ok != (at < len(all)) {
			t.Errorf("seek %s answers %v", key, ok)
		}
		for n := 0; ok && n < 30; n++ { // to and fro
			if !bytes.Equal(c.write().keyBytes(), []byte(all[at])) {
				t.Fatalf("from %s: at %s, not at %s", key, c.write().keyBytes(), all[at])
			}
			if r.IntN(2) == 0 {
				at++
				ok = c.next()
			} else {
				at--
				ok = c.prev()
			}
			if ok != (at >= 0 && at < len(all)) {
				t.Fatalf("from %s: there is a next one: %v", key, ok)
			}
		}
	}
}
