package txn

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	"kvsqld/storage/kv"
)

func randomEntries(r *rand.Rand, a *arena, n int, long bool) []entry {
	es := make([]entry, n)
	for i := range es {
		k := fmt.Appendf(nil, "common/%d", r.IntN(n))
		if long {
			k = fmt.Appendf(nil, "%x/0123456789/%d", r.IntN(3), r.IntN(n))
		}
		if r.IntN(20) == 0 {
			k = append(k, 0)
		}
		es[i] = a.entry(k, fmt.Appendf(nil, "v%d", i), 0)
	}
	return es
}

func TestSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var a arena
	for _, n := range []int{0, 1, 2, 3, 50, 2047, 2048, 10_000} {
		for _, long := range []bool{false, true} {
			in := randomEntries(r, &a, n, long)
			want := map[string]string{}
			for _, e := range in {
				want[string(e.key())] = string(e.val())
			}
			out := sorted(in)
			if len(out) != len(want) {
				t.Fatalf("%d entries sort into %d, want %d", n, len(out), len(want))
			}
			for i, e := range out {
				if i > 0 && bytes.Compare(out[i-1].key(), e.key()) >= 0 {
					t.Fatalf("key %q does not come after %q", e.key(), out[i-1].key())
				}
				if string(e.val()) != want[string(e.key())] {
					t.Fatalf("key %q has value %q, want the last one, %q", e.key(), e.val(), want[string(e.key())])
				}
			}
		}
	}
}

func TestArenaEntries(t *testing.T) {
	var a arena
	for _, n := range []int{1, arenaFirst, arenaBlock, 3 * arenaBlock} {
		e := a.entry(bytes.Repeat([]byte{'k'}, 65535), bytes.Repeat([]byte{'v'}, n), 0)
		if len(e.key()) != 65535 || len(e.val()) != n || e.val()[n-1] != 'v' || cap(e.key()) != 65535 {
			t.Fatalf("entry with a value of %d bytes has key and value of %d and %d bytes", n, len(e.key()), len(e.val()))
		}
	}
	if e := a.entry([]byte("k"), nil, flagDelete); e.val() != nil {
		t.Error("a delete has a value")
	}
}

// TestAscendingIsNotSorted keeps the promise of the bulk path: rows that come
// in order are neither copied nor sorted, also across savepoints.
func TestAscendingIsNotSorted(t *testing.T) {
	var a arena
	var l layer
	for i := range 10_000 {
		l.add(a.entry(fmt.Appendf(nil, "%06d", i), []byte("v"), 0))
		if i%1000 == 0 {
			if _, ok := l.get(fmt.Appendf(nil, "%06d", i/2), i); !ok {
				t.Fatalf("key %d is not found", i/2)
			}
		}
	}
	l.truncate(9000)
	if len(l.runs) != 1 || l.runs[0].ents != nil || len(l.final(nil)) != 1 || l.final(nil)[0].len() != 9000 {
		t.Fatalf("%d runs", len(l.runs))
	}
}

// TestRunsStayFew writes at random with a read after each write.
func TestRunsStayFew(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var a arena
	var l layer
	for i := range 20_000 {
		k := fmt.Appendf(nil, "%06d", r.IntN(1_000_000))
		l.add(a.entry(k, []byte("v"), 0))
		l.windows(kv.Range{Lo: k}, 0)
		if len(l.runs) > 20 {
			t.Fatalf("%d runs after %d writes", len(l.runs), i+1)
		}
	}
}

func TestTruncate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		var a arena
		var l layer
		var log []string
		mark := 0
		for range 300 {
			switch r.IntN(12) {
			case 0:
				n := r.IntN(len(log) + 1)
				mark = min(mark, n)
				l.truncate(n)
				log = log[:n]
			case 1:
				mark = len(log)
			case 2:
				l.settle(mark)
			default:
				k := fmt.Sprint(r.IntN(100))
				l.add(a.entry([]byte(k), fmt.Append(nil, len(log)+1), 0))
				log = append(log, k)
			}
		}
		want := map[string]string{}
		for i, k := range log {
			want[k] = fmt.Sprint(i + 1)
		}
		for k := range 100 {
			e, ok := l.get(fmt.Append(nil, k), mark)
			if v := want[fmt.Sprint(k)]; ok != (v != "") || ok && string(e.val()) != v {
				t.Fatalf("key %d: found %t, want %q", k, ok, v)
			}
		}
		var keys []string
		for k := range want {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		it := newOverlayIter(l.windows(kv.Range{}, mark), false)
		for _, k := range keys {
			if !it.valid || string(it.cur.key()) != k || string(it.cur.val()) != want[k] {
				t.Fatalf("iterator is at %q, want %q", it.cur.key(), k)
			}
			it.next()
		}
		if it.valid {
			t.Fatalf("iterator goes on to %q", it.cur.key())
		}
	}
}

// A layer large enough for a filter finds what a map has, also after going back.
func TestFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var a arena
	var l layer
	want := map[string]string{}
	var keys []string // by position in the log
	check := func() {
		for range 2000 {
			k := fmt.Sprintf("key/%d", r.IntN(12*filterMin))
			e, ok := l.get([]byte(k), 0)
			if v, has := want[k]; ok != has || ok && string(e.val()) != v {
				t.Fatalf("%q: %v, want %v %q", k, ok, has, v)
			}
		}
	}
	for round := range 60 {
		for range filterMin / 4 {
			k, v := fmt.Sprintf("key/%d", r.IntN(12*filterMin)), fmt.Sprint(round)
			if _, has := want[k]; has {
				continue // so that truncation is removal
			}
			l.add(a.entry([]byte(k), []byte(v), 0))
			want[k] = v
			keys = append(keys, k)
		}
		check()
		if round%7 == 6 {
			n := r.IntN(len(keys))
			l.truncate(n)
			for _, k := range keys[n:] {
				delete(want, k)
			}
			keys = keys[:n]
			check()
		}
	}
}
