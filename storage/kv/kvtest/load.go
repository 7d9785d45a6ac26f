package kvtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"kvsqld/storage/kv"
)

// testBulk loads a table and an index in one transaction: ascending rows,
// unsorted covered index entries, some of them overwritten.
func testBulk(t *testing.T, st kv.Store) {
	table, index := newSpace(t, st), newSpace(t, st)
	const n = 20_000
	perm := rand.New(rand.NewPCG(5, 6)).Perm(n)
	check := func(r kv.Reader, what string) {
		t.Helper()
		for sp, name := range map[kv.Space]string{table: "row", index: "entry"} {
			i := 0
			it := r.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
			for {
				ps, err := it.Next()
				must(t, err)
				if len(ps) == 0 {
					break
				}
				for _, p := range ps {
					if want := fmt.Sprintf("%s%d", name, i); string(p.Key) != string(key(i)) || string(p.Val) != want {
						t.Fatalf("%s: pair %d is %q=%q, want value %q", what, i, p.Key, p.Val, want)
					}
					i++
				}
			}
			it.Close()
			if i != n {
				t.Fatalf("%s: %d pairs, want %d", what, i, n)
			}
		}
	}
	tx := begin(t, st, kv.BeginOpt{})
	for i := range n {
		must(t, tx.Put(table, key(i), fmt.Appendf(nil, "row%d", i), kv.Covered))
		if i%10 == 0 {
			must(t, tx.Put(index, key(perm[i]), []byte("overwritten"), kv.Covered))
		}
		must(t, tx.Put(index, key(perm[i]), fmt.Appendf(nil, "entry%d", perm[i]), kv.Covered))
	}
	check(tx, "before the commit")
	must(t, tx.Commit(ctx))
	snap, err := st.Snapshot(ctx)
	must(t, err)
	defer snap.Close()
	check(snap, "after the commit")
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

// testSameKeyOrder commits the same key from many transactions; the value that
// is left is that of the commit that was answered last.
func testSameKeyOrder(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	var order []int // under the lock of the key
	const clients, each = 8, 20
	var wg sync.WaitGroup
	errs := make(chan error, clients)
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				tx, err := st.Begin(ctx, kv.BeginOpt{})
				if err == nil {
					_, err = lock(tx, sp, kv.LockOpt{Wait: kv.WaitForever, NoValue: true}, "k")
				}
				if err == nil {
					n := c*each + i
					order = append(order, n)
					err = tx.Put(sp, []byte("k"), fmt.Appendf(nil, "%d", n))
				}
				if err == nil {
					err = tx.Commit(ctx)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if len(order) != clients*each {
		t.Fatalf("%d commits", len(order))
	}
	if got, want := current(t, st, sp, "k"), fmt.Sprint(order[len(order)-1]); got != want {
		t.Errorf("value is %s, the last commit wrote %s", got, want)
	}
}

const (
	accounts = 20
	balance  = 100
)

// testBank moves money with and without explicit locks while checkers add up
// all accounts in snapshots: the sum never changes.
func testBank(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	update(t, st, func(tx kv.Txn) {
		for i := range accounts {
			must(t, tx.Put(sp, key(i), binary.BigEndian.AppendUint64(nil, balance)))
		}
	})
	var moving, checking sync.WaitGroup
	var stop atomic.Bool
	var moved atomic.Int64
	errs := make(chan error, 100)
	for c := range 6 {
		moving.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			for range 60 {
				err := transfer(st, sp, r, c%3)
				switch {
				case err == nil:
					moved.Add(1)
				case !errors.Is(err, kv.ErrConflict) && !errors.Is(err, kv.ErrDeadlock):
					errs <- err
					return
				}
			}
		})
	}
	for range 2 {
		checking.Go(func() {
			for !stop.Load() {
				if err := checkSum(st, sp); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	moving.Wait()
	stop.Store(true)
	checking.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	must(t, checkSum(st, sp))
	if moved.Load() == 0 {
		t.Error("no transfer succeeded")
	}
}

func checkSum(st kv.Store, sp kv.Space) error {
	tx, err := st.Begin(ctx, kv.BeginOpt{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	it := tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{Batch: 3})
	defer it.Close()
	sum := uint64(0)
	for {
		ps, err := it.Next()
		if err != nil {
			return err
		}
		if len(ps) == 0 {
			break
		}
		for _, p := range ps {
			sum += binary.BigEndian.Uint64(p.Val)
		}
	}
	if sum != accounts*balance {
		return fmt.Errorf("sum is %d, want %d", sum, accounts*balance)
	}
	return nil
}

// transfer moves one unit: optimistically (0), with locks at READ COMMITTED
// (1), or with locks at REPEATABLE READ (2).
func transfer(st kv.Store, sp kv.Space, r *rand.Rand, how int) error {
	o := kv.BeginOpt{}
	if how == 2 {
		o.Isolation = kv.RepeatableRead
	}
	tx, err := st.Begin(ctx, o)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	tx.SetDurability(kv.Durability(r.IntN(3)))
	tx.SetAhead(r.IntN(2) == 0)
	a := r.IntN(accounts)
	keys := [][]byte{key(a), key((a + 1 + r.IntN(accounts-1)) % accounts)}
	if how > 0 {
		if r.IntN(2) == 0 {
			slices.SortFunc(keys, slices.Compare)
		}
		rs, err := tx.LockKeys(ctx, sp, kv.LockOpt{Wait: kv.WaitForever, AtSnapshot: how == 2}, keys...)
		if err != nil {
			return err
		}
		if rs[0].Changed || rs[1].Changed {
			if err := tx.Refresh(ctx); err != nil {
				return err
			}
		}
	}
	vs, err := tx.BatchGet(ctx, sp, keys)
	if err != nil {
		return err
	}
	from, to := binary.BigEndian.Uint64(vs[0]), binary.BigEndian.Uint64(vs[1])
	if from == 0 {
		return nil
	}
	if err := tx.Put(sp, keys[0], binary.BigEndian.AppendUint64(nil, from-1)); err != nil {
		return err
	}
	if err := tx.Put(sp, keys[1], binary.BigEndian.AppendUint64(nil, to+1)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// testCompact gives free space back while others write: nothing is lost, an
// older snapshot goes on, numbers rise.
func testCompact(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	update(t, st, func(tx kv.Txn) {
		for i := range 2000 {
			must(t, tx.Put(sp, fmt.Appendf(nil, "%05d", i), make([]byte, 200)))
		}
	})
	old, err := st.Snapshot(ctx)
	must(t, err)
	defer old.Close()
	update(t, st, func(tx kv.Txn) {
		for i := range 2000 {
			if i%100 > 0 {
				must(t, tx.Delete(sp, fmt.Appendf(nil, "%05d", i)))
			}
		}
	})
	done := make(chan error, 1)
	go func() { done <- st.Compact(ctx, nil) }()
	last := st.Stats().Seq
	for i := range 50 {
		put(t, st, sp, fmt.Sprintf("new %02d", i), "v")
		if n := st.Stats().Seq; n <= last {
			t.Fatalf("number %d after %d", n, last)
		} else {
			last = n
		}
	}
	must(t, <-done)
	must(t, st.Compact(ctx, nil))
	tx := begin(t, st, kv.BeginOpt{})
	defer tx.Rollback()
	if n := len(all(t, tx, sp, kv.Range{}, kv.ScanOpt{})); n != 20+50 {
		t.Errorf("%d pairs after two compactions, want 70", n)
	}
	if n := len(all(t, old, sp, kv.Range{}, kv.ScanOpt{})); n != 2000 {
		t.Errorf("the old snapshot has %d pairs, want 2000", n)
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}
