package boltkv_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

// TestBulk loads behind, between and over what is there, with pairs of all sizes, and
// deletes, all in commits small and large, and compares with a map.
func TestBulk(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { t.Parallel(); bulkRound(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func bulkRound(t *testing.T, r *rand.Rand) {
	dir := t.TempDir()
	opt := boltkv.Options{NoSync: true, Log: walkv.Options{DirectBytes: 2000 + r.IntN(30_000), MemBytes: 5000}}
	st := open(t, dir, opt)
	must(t, create(st))
	model := map[uint64][]byte{}
	next := uint64(1 << 20)
	for step := range 60 {
		change := maps.Clone(model)
		must(t, update(st, func(tx kv.Txn) error {
			if r.IntN(12) == 0 {
				clear(change)
				if err := tx.ClearSpace(table); err != nil {
					return err
				}
			}
			n, size := 1+r.IntN(2000), 1+r.IntN(200)
			if r.IntN(5) == 0 {
				n, size = 1+r.IntN(30), 1+r.IntN(20_000)
			}
			inside := r.IntN(4) == 0
			for range n {
				k := next
				if next++; inside || r.IntN(500) == 0 {
					k = r.Uint64N(next)
				}
				if r.IntN(10) == 0 && step > 5 {
					delete(change, k)
					if err := tx.Delete(table, number(k)); err != nil {
						return err
					}
					continue
				}
				v := bytes.Repeat([]byte{byte(k)}, 1+r.IntN(size))
				change[k] = v
				if err := tx.Put(table, number(k), v); err != nil {
					return err
				}
			}
			if r.IntN(8) == 0 { // most of what there is
				for k := range change {
					if r.IntN(10) > 0 {
						delete(change, k)
						if err := tx.Delete(table, number(k)); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}))
		model = change
		if step%10 == 9 {
			st = reopened(t, st, dir, opt)
		}
		if step%20 == 15 {
			must(t, st.Compact(ctx, nil))
		}
		sameAs(t, st, model)
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

// TestLoadBehindDeleted loads rows in the transaction of the engine that takes the
// deletion of all others over from the log: every page that it meets is empty.
func TestLoadBehindDeleted(t *testing.T) {
	const rows, part, first = 4000, 500, 1 << 20
	dir := t.TempDir()
	st := open(t, dir, boltkv.Options{NoSync: true, Log: walkv.Options{DirectBytes: 40 * part, MemBytes: 1 << 20}})
	must(t, create(st))
	put := func(from, n int) map[uint64][]byte {
		model := map[uint64][]byte{}
		must(t, update(st, func(tx kv.Txn) error {
			for k := from; k < from+n; k++ {
				model[uint64(k)] = bytes.Repeat([]byte{byte(k)}, 50)
				if err := tx.Put(table, number(uint64(k)), model[uint64(k)]); err != nil {
					return err
				}
			}
			return nil
		}))
		return model
	}
	put(first, rows)
	for from := first; from < first+rows; from += part {
		must(t, update(st, func(tx kv.Txn) error {
			for k := from; k < from+part; k++ {
				if err := tx.Delete(table, number(uint64(k))); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	sameAs(t, st, put(first+rows, rows))
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

func number(k uint64) []byte { return binary.BigEndian.AppendUint64(nil, k) }

func reopened(t *testing.T, st kv.Store, dir string, opt boltkv.Options) kv.Store {
	t.Helper()
	must(t, st.Close())
	return open(t, dir, opt)
}

// sameAs compares the table with a map, forwards.
func sameAs(t *testing.T, st kv.Store, want map[uint64][]byte) {
	t.Helper()
	sn, err := st.Snapshot(ctx)
	must(t, err)
	defer sn.Close()
	it := sn.Scan(ctx, table, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	keys := slices.Sorted(maps.Keys(want))
	for {
		pairs, err := it.Next()
		must(t, err)
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			if len(keys) == 0 || !bytes.Equal(p.Key, number(keys[0])) {
				t.Fatalf("key %x, %d are left", p.Key, len(keys))
			}
			if !bytes.Equal(p.Val, want[keys[0]]) {
				t.Fatalf("key %x has a value of %d bytes, want %d", p.Key, len(p.Val), len(want[keys[0]]))
			}
			keys = keys[1:]
		}
	}
	if len(keys) > 0 {
		t.Fatalf("%d keys are missing from %d on", len(keys), keys[0])
	}
}
