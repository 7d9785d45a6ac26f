package keysort

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestItems(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := r.IntN(30)
		if r.IntN(4) == 0 {
			n = radixMin + r.IntN(2000)
		}
		common := bytes.Repeat([]byte("c"), r.IntN(12))
		alphabet := 1 + r.IntN(256)
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = bytes.Clone(common)
			for range r.IntN(14) {
				keys[i] = append(keys[i], byte(r.IntN(alphabet)))
			}
		}
		want := make([]uint32, n)
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return bytes.Compare(keys[a], keys[b]) })
		got := Items(n, func(i int) []byte { return keys[i] })
		if len(got) != n {
			t.Fatalf("%d items of %d keys", len(got), n)
		}
		for i, it := range got {
			if it.Pos != want[i] {
				t.Fatalf("%d keys: place %d has key %d %x, want %d %x", n, i, it.Pos, keys[it.Pos], want[i], keys[want[i]])
			}
			if i > 0 && it.Prefix < got[i-1].Prefix {
				t.Fatalf("prefixes of places %d and %d do not ascend", i-1, i)
			}
		}
	}
}

func BenchmarkItems(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(2, 2))
	keys := make([]byte, 9*n)
	for i := range keys {
		keys[i] = byte(r.Uint32())
		if i%9 == 0 {
			keys[i] = 0x10
		}
	}
	for b.Loop() {
		Items(n, func(i int) []byte { return keys[9*i : 9*i+9] })
	}
}
