package keysort

import (
	"bytes"
	"encoding/binary"
	"fmt"
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
		alphabet, pieces, most := 1+r.IntN(256), 1+r.IntN(4), r.IntN(25)
		fixed := r.IntN(2) == 0
		keys := make([][]byte, n)
		for i := range keys {
			for range pieces {
				keys[i] = append(keys[i], common...)
				length := most
				if !fixed {
					length = r.IntN(most + 1)
				}
				for range length {
					keys[i] = append(keys[i], byte(r.IntN(alphabet)))
				}
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

// BenchmarkItems sorts keys of an index entry: a number of few values, and the
// number of the row.
func BenchmarkItems(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(2, 2))
	keys := make([]byte, 0, 17*n)
	for i := range n {
		keys = append(keys, 0x10)
		keys = binary.BigEndian.AppendUint64(keys, 1<<63|r.Uint64N(1000))
		keys = binary.BigEndian.AppendUint64(keys, 1<<63|uint64(i))
	}
	for b.Loop() {
		Items(n, func(i int) []byte { return keys[17*i : 17*i+17] })
	}
}

// BenchmarkItemsOfBatch sorts the keys of a batch of rows: two numbers of few bytes that differ.
func BenchmarkItemsOfBatch(b *testing.B) {
	for _, n := range []int{256, 512, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(2, 2))
			keys := make([]byte, 0, 14*n)
			for i := range n {
				if i%10 == 0 {
					keys = append(keys, 0x10)
					keys = binary.BigEndian.AppendUint32(keys, r.Uint32N(40_000_000))
				} else {
					keys = append(keys, keys[len(keys)-14:len(keys)-9]...)
				}
				keys = append(keys, 0x20)
				keys = binary.BigEndian.AppendUint64(keys, 8e17+uint64(r.IntN(56*24))*3600e6)
			}
			var s Sorter
			for b.Loop() {
				s.Items(n, func(i int) []byte { return keys[14*i : 14*i+14] })
			}
		})
	}
}
