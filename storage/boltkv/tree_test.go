package boltkv

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// treeOf opens a bucket of n keys, 8 bytes each, of the even numbers from 2 on.
func treeOf(t testing.TB, n int) bucket {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		if err != nil {
			return err
		}
		b.FillPercent = 1
		for i := range n {
			if err := b.Put(number(2*i+2), []byte("a value of some length")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	})
	b, ok := newPager(db, tx).top().sub([]byte("b"))
	if !ok {
		t.Fatal("no bucket")
	}
	return b
}

func number(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// TestSeekFromAnywhere seeks and walks with one cursor, near and far, and compares
// with the keys that there are.
func TestSeekFromAnywhere(t *testing.T) {
	for _, n := range []int{0, 1, 50, 400, 60_000} {
		c := cursor{b: treeOf(t, n)}
		r := rand.New(rand.NewPCG(uint64(n), 1))
		at := 0 // the number that the cursor stands on, or above all
		check := func(ok bool, did string) {
			t.Helper()
			if want := at >= 2 && at <= 2*n; ok != want {
				t.Fatalf("%d keys: %s: %v, at %d", n, did, ok, at)
			}
			if ok && !bytes.Equal(c.pair().Key, number(at)) {
				t.Fatalf("%d keys: %s: at %x, want %d", n, did, c.pair().Key, at)
			}
		}
		for range 20_000 {
			switch inside := at >= 2 && at <= 2*n; {
			case inside && r.IntN(4) == 0:
				at += 2
				check(c.next(), "next")
			case inside && r.IntN(4) == 0:
				at -= 2
				check(c.prev(), "prev")
			default:
				to := r.IntN(2*n + 4)
				if r.IntN(2) == 0 {
					to = max(0, at+r.IntN(600)-300) // near
				}
				at = max(2, to+to%2)
				check(c.seek(number(to)), "seek")
			}
		}
	}
}

// BenchmarkSeek seeks keys that lie far from each other, and in groups of four that
// lie together.
func BenchmarkSeek(b *testing.B) {
	const n = 1_000_000
	c := cursor{b: treeOf(b, n)}
	keys := make([][]byte, 1<<16)
	for _, near := range []bool{false, true} {
		name := map[bool]string{false: "far", true: "near"}[near]
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			at := 0
			for i := range keys {
				at += 50
				if !near || i%4 == 0 {
					at = r.IntN(2 * n)
				}
				keys[i] = number(at)
			}
			for i := 0; b.Loop(); i++ {
				c.seek(keys[i&(1<<16-1)])
			}
		})
	}
}
