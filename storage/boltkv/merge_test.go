package boltkv_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

// spread stores rows with room for others between them, in a store that hands each
// commit to the data file at once.
func spread(t *testing.T, dir string, rows, apart int) (kv.Store, map[uint64][]byte) {
	t.Helper()
	st := open(t, dir, boltkv.Options{NoSync: true, Log: walkv.Options{DirectBytes: 1, MemBytes: 1 << 20}})
	model := map[uint64][]byte{}
	must(t, update(st, func(tx kv.Txn) error {
		if err := tx.CreateSpace(table); err != nil {
			return err
		}
		for i := range rows {
			k := uint64((i + 1) * apart)
			model[k] = bytes.Repeat([]byte{byte(i)}, 60)
			if err := tx.Put(table, number(k), model[k]); err != nil {
				return err
			}
		}
		return nil
	}))
	return st, model
}

// TestMergeIntoLeaves writes stretches of rows between, over and in front of what is
// there, over the ends of leaves and with deletions among them, and compares with a map.
func TestMergeIntoLeaves(t *testing.T) {
	const rows, apart = 30_000, 1000
	st, model := spread(t, t.TempDir(), rows, apart)
	r := rand.New(rand.NewPCG(1, 9))
	for step := range 40 {
		must(t, update(st, func(tx kv.Txn) error {
			for range 1 + r.IntN(4) {
				from, by := r.Uint64N(rows*apart), 1+r.Uint64N(2*apart)
				if step%4 == 0 {
					from = 0 // before the first row, too
				}
				deletes := r.IntN(3) == 0
				for k := from; k < from+by*(1+r.Uint64N(400)); k += by {
					if deletes && r.IntN(20) == 0 {
						delete(model, k)
						if err := tx.Delete(table, number(k)); err != nil {
							return err
						}
						continue
					}
					model[k] = bytes.Repeat([]byte{byte(step)}, 1+r.IntN(100))
					if err := tx.Put(table, number(k), model[k]); err != nil {
						return err
					}
				}
			}
			return nil
		}))
		if step%10 == 9 {
			sameAs(t, st, model)
		}
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

// TestScatteredWrites deletes and changes rows all over the leaves, so that the bucket is
// written anew, in turn with changes to a few leaves, and compares with a map.
func TestScatteredWrites(t *testing.T) {
	const rows, apart = 30_000, 1000
	st, model := spread(t, t.TempDir(), rows, apart)
	r := rand.New(rand.NewPCG(3, 5))
	for step := range 12 {
		must(t, update(st, func(tx kv.Txn) error {
			every, most := uint64(6+r.IntN(12)), uint64(rows)
			if step%3 == 2 {
				most = rows / 20
			}
			for i := r.Uint64N(every); i < most; i += every {
				k := (i + 1) * apart
				if r.IntN(3) == 0 {
					model[k] = bytes.Repeat([]byte{byte(step)}, 1+r.IntN(100))
					if err := tx.Put(table, number(k), model[k]); err != nil {
						return err
					}
					continue
				}
				delete(model, k)
				if err := tx.Delete(table, number(k)); err != nil {
					return err
				}
			}
			return nil
		}))
		sameAs(t, st, model)
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}
