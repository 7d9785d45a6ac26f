package kvtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"kvsqld/storage/kv"
)

var forever = kv.LockOpt{Wait: kv.WaitForever}

func testRowLocks(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	holder := begin(t, st, kv.BeginOpt{})
	if r, err := lock(holder, sp, kv.LockOpt{}, "k"); err != nil || string(r.Val) != "1" || r.Changed {
		t.Fatalf("lock result is %+v, %v", r, err)
	}
	if r, err := lock(holder, sp, kv.LockOpt{}, "absent"); err != nil || r.Val != nil {
		t.Fatalf("lock result of an absent key is %+v, %v", r, err)
	}

	tx := begin(t, st, kv.BeginOpt{})
	_, err := lock(tx, sp, kv.LockOpt{}, "k")
	wantErr(t, err, kv.ErrLockTimeout)
	_, err = lock(tx, sp, kv.LockOpt{}, "absent")
	wantErr(t, err, kv.ErrLockTimeout)
	_, err = lock(tx, sp, kv.LockOpt{Wait: time.Millisecond}, "k")
	wantErr(t, err, kv.ErrLockTimeout)
	rs, err := tx.LockKeys(ctx, sp, kv.LockOpt{Wait: kv.WaitForever, SkipLocked: true}, []byte("free"), []byte("k"))
	must(t, err)
	if rs[0].Skipped || !rs[1].Skipped {
		t.Fatalf("SKIP LOCKED gives %+v", rs)
	}
	_, err = lock(tx, sp, kv.LockOpt{Mode: kv.ForShare}, "k")
	wantErr(t, err, kv.ErrLockTimeout)
	cctx, cancel := context.WithCancel(ctx)
	ch := async(t, st, func() error {
		_, err := tx.LockKeys(cctx, sp, forever, []byte("k"))
		return err
	})
	waiting(t, ch)
	cancel()
	wantErr(t, result(t, ch), context.Canceled)
	holder.Rollback()
	_, err = lock(tx, sp, kv.LockOpt{}, "k")
	must(t, err)
	tx.Rollback()

	// Shared locks.
	a, b, c := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	shared := kv.LockOpt{Mode: kv.ForShare}
	_, err = lock(a, sp, shared, "k")
	must(t, err)
	_, err = lock(b, sp, shared, "k")
	must(t, err)
	_, err = lock(c, sp, kv.LockOpt{}, "k")
	wantErr(t, err, kv.ErrLockTimeout)
	wantErr(t, a.Put(sp, []byte("k"), []byte("a")), kv.ErrConflict)
	b.Rollback()
	must(t, a.Put(sp, []byte("k"), []byte("a"))) // the only sharer may write
	_, err = lock(c, sp, shared, "k")
	wantErr(t, err, kv.ErrLockTimeout)
	must(t, a.Commit(ctx))
	if n := st.Stats().RowLocks; n != 0 {
		t.Errorf("%d row locks are left", n)
	}
}

func testLockResults(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	for _, k := range []string{"changed", "deleted", "same"} {
		put(t, st, sp, k, "1")
	}
	rc := begin(t, st, kv.BeginOpt{})
	rr := begin(t, st, kv.BeginOpt{Isolation: kv.RepeatableRead})
	wantValue(t, rc, sp, "same", "1")
	wantValue(t, rr, sp, "same", "1")
	update(t, st, func(tx kv.Txn) {
		must(t, tx.Put(sp, []byte("changed"), []byte("2")))
		must(t, tx.Delete(sp, []byte("deleted")))
		must(t, tx.Put(sp, []byte("new"), []byte("1")))
	})
	for _, tt := range []struct {
		key, val string
		changed  bool
	}{
		{"changed", "2", true}, {"deleted", "", true}, {"new", "1", true}, {"same", "1", false}, {"absent", "", false},
	} {
		r, err := lock(rc, sp, kv.LockOpt{}, tt.key)
		must(t, err)
		if string(r.Val) != tt.val || r.Changed != tt.changed {
			t.Errorf("lock of %s gives value %q and changed %t, want %q and %t", tt.key, r.Val, r.Changed, tt.val, tt.changed)
		}
	}
	wantValue(t, rc, sp, "changed", "1") // the snapshot stays what it was
	must(t, rc.Put(sp, []byte("changed"), []byte("3")))
	r, err := lock(rc, sp, kv.LockOpt{}, "changed")
	must(t, err)
	if string(r.Val) != "3" {
		t.Errorf("lock of an own write gives %q", r.Val)
	}
	if r, err = lock(rc, sp, kv.LockOpt{NoValue: true}, "changed"); err != nil || r.Val != nil || r.Changed {
		t.Errorf("lock without value gives %+v, %v", r, err)
	}
	rc.Rollback()

	_, err = lock(rr, sp, kv.LockOpt{AtSnapshot: true}, "same")
	must(t, err)
	_, err = lock(rr, sp, kv.LockOpt{AtSnapshot: true}, "changed")
	wantErr(t, err, kv.ErrConflict)
	_, err = lock(rr, sp, kv.LockOpt{AtSnapshot: true}, "new")
	wantErr(t, err, kv.ErrConflict)
	rr.Rollback()

	// The statement pattern of READ COMMITTED: no update is lost.
	put(t, st, sp, "n", "0")
	const clients, each = 4, 25
	var wg sync.WaitGroup
	errs := make(chan error, clients*each)
	for range clients {
		wg.Go(func() {
			for range each {
				errs <- increment(st, sp)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		must(t, err)
	}
	if got, want := len(current(t, st, sp, "n")), 1+clients*each; got != want {
		t.Errorf("counter has length %d, want %d", got, want)
	}
}

// increment makes the value of n one byte longer.
func increment(st kv.Store, sp kv.Space) error {
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for {
		sv := tx.Savepoint()
		v, err := tx.Get(ctx, sp, []byte("n"))
		if err != nil {
			return err
		}
		r, err := lock(tx, sp, kv.LockOpt{Wait: kv.WaitForever, NoValue: true}, "n")
		if err != nil {
			return err
		}
		if r.Changed {
			tx.RollbackTo(sv)
			if err := tx.Refresh(ctx); err != nil {
				return err
			}
			continue
		}
		if err := tx.Put(sp, []byte("n"), append(append([]byte(nil), v...), 'x')); err != nil {
			return err
		}
		return tx.Commit(ctx)
	}
}

func testLockQueue(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "0")
	first := begin(t, st, kv.BeginOpt{})
	_, err := lock(first, sp, forever, "k")
	must(t, err)
	var chans []<-chan error
	var txs []kv.Txn
	for range 3 {
		tx := begin(t, st, kv.BeginOpt{})
		txs = append(txs, tx)
		chans = append(chans, async(t, st, func() error { _, err := lock(tx, sp, forever, "k"); return err }))
	}
	late := begin(t, st, kv.BeginOpt{})
	first.Rollback()
	for i := range txs { // first come, first served
		must(t, result(t, chans[i]))
		for _, ch := range chans[i+1:] {
			waiting(t, ch)
		}
		_, err := lock(late, sp, kv.LockOpt{}, "k")
		wantErr(t, err, kv.ErrLockTimeout)
		txs[i].Rollback()
	}
	_, err = lock(late, sp, kv.LockOpt{}, "k")
	must(t, err)
	late.Rollback()

	// Who conflicts with no holder does not wait for those who do.
	s1, x, s2 := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	_, err = lock(s1, sp, kv.LockOpt{Mode: kv.ForShare}, "k")
	must(t, err)
	cctx, cancel := context.WithCancel(ctx)
	xch := async(t, st, func() error { _, err := x.LockKeys(cctx, sp, forever, []byte("k")); return err })
	waiting(t, xch)
	_, err = lock(s2, sp, kv.LockOpt{Mode: kv.ForShare}, "k")
	must(t, err)
	s1.Rollback()
	waiting(t, xch)

	// Somebody who gives up does not hold up those behind.
	s3 := begin(t, st, kv.BeginOpt{})
	ch := async(t, st, func() error { _, err := lock(s3, sp, forever, "k"); return err })
	waiting(t, ch)
	cancel()
	wantErr(t, result(t, xch), context.Canceled)
	waiting(t, ch)
	s2.Rollback()
	must(t, result(t, ch))
	s3.Rollback()
}

func testDeadlock(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	t.Run("two", func(t *testing.T) {
		a, b := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		_, err := lock(a, sp, forever, "x")
		must(t, err)
		_, err = lock(b, sp, forever, "y")
		must(t, err)
		ch := async(t, st, func() error { _, err := lock(a, sp, forever, "y"); return err })
		waiting(t, ch)
		_, err = lock(b, sp, forever, "x")
		wantErr(t, err, kv.ErrDeadlock)
		waiting(t, ch)
		b.Rollback()
		must(t, result(t, ch))
		a.Rollback()
	})
	t.Run("upgrades of a shared lock", func(t *testing.T) {
		a, b := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		for _, tx := range []kv.Txn{a, b} {
			_, err := lock(tx, sp, kv.LockOpt{Mode: kv.ForShare}, "x")
			must(t, err)
		}
		ch := async(t, st, func() error { _, err := lock(a, sp, forever, "x"); return err })
		_, err := lock(b, sp, forever, "x")
		wantErr(t, err, kv.ErrDeadlock)
		b.Rollback()
		must(t, result(t, ch))
		must(t, a.Put(sp, []byte("x"), []byte("a")))
		must(t, a.Commit(ctx))
	})
	t.Run("over row and table", func(t *testing.T) {
		a, b, c := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
		must(t, a.LockSpace(ctx, sp, kv.RowExclusive, forever))
		_, err := lock(b, sp, forever, "y")
		must(t, err)
		_, err = lock(c, sp, forever, "z")
		must(t, err)
		ach := async(t, st, func() error { _, err := lock(a, sp, forever, "y"); return err })
		bch := async(t, st, func() error { _, err := lock(b, sp, forever, "z"); return err })
		wantErr(t, c.LockSpace(ctx, sp, kv.Share, forever), kv.ErrDeadlock)
		c.Rollback()
		must(t, result(t, bch))
		b.Rollback()
		must(t, result(t, ach))
		a.Rollback()
	})
	t.Run("many at random never hang", func(t *testing.T) {
		var wg sync.WaitGroup
		errs := make(chan error, 64)
		for g := range 6 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 9))
				for range 60 {
					tx, err := st.Begin(ctx, kv.BeginOpt{})
					if err != nil {
						errs <- err
						return
					}
					for range 1 + r.IntN(4) {
						o := kv.LockOpt{Wait: kv.WaitForever, Mode: sharedIf(r.IntN(3) == 0)}
						if r.IntN(8) == 0 {
							err = tx.LockSpace(ctx, sp, kv.TableLockMode(r.IntN(kv.NumTableLockModes)), o)
						} else {
							_, err = tx.LockKeys(ctx, sp, o, key(r.IntN(4)))
						}
						if err != nil {
							break
						}
					}
					if err != nil && !errors.Is(err, kv.ErrDeadlock) {
						errs <- err
					}
					tx.Rollback()
				}
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			t.Error(err)
		}
	})
	if n := st.Stats().RowLocks; n != 0 {
		t.Errorf("%d row locks are left", n)
	}
}

func testEscalation(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "zz", "1")
	const n = 25_000
	reader := begin(t, st, kv.BeginOpt{Isolation: kv.RepeatableRead})
	wantValue(t, reader, sp, "zz", "1")
	bulk := begin(t, st, kv.BeginOpt{})
	for i := range n {
		must(t, bulk.Put(sp, key(i), []byte("bulk")))
	}
	other := begin(t, st, kv.BeginOpt{})
	wantErr(t, other.Put(sp, key(0), []byte("x")), kv.ErrConflict)
	wantErr(t, other.Put(sp, key(n-1), []byte("x")), kv.ErrConflict)
	ch := async(t, st, func() error {
		r, err := other.LockKeys(ctx, sp, forever, key(n-1))
		if err == nil && (!r[0].Changed || string(r[0].Val) != "bulk") {
			t.Errorf("lock after the bulk write gives %+v", r[0])
		}
		return err
	})
	waiting(t, ch)
	must(t, bulk.Commit(ctx))
	must(t, result(t, ch))
	other.Rollback()
	_, err := lock(reader, sp, kv.LockOpt{AtSnapshot: true}, string(key(n-1)))
	wantErr(t, err, kv.ErrConflict)
	reader.Rollback()
	if got := st.Stats().RowLocks; got != 0 {
		t.Errorf("%d row locks are left", got)
	}

	// Two large writers of different keys do not get into each other's way.
	a, b := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	for i := range n {
		must(t, a.Put(sp, append(key(i), 'a'), []byte("a")))
		if i < 100 {
			must(t, b.Put(sp, append(key(i), 'b'), []byte("b")))
		}
	}
	must(t, a.Commit(ctx))
	must(t, b.Commit(ctx))
}

// testLockAll clears a space under the locks of all its keys, which are had only if
// nobody else has one, and nobody has written since the snapshot.
func testLockAll(t *testing.T, st kv.Store) {
	const many = 1_000_000
	sp := newSpace(t, st)
	put(t, st, sp, "a", "1")
	wants := func(tx kv.Txn, n int, want bool) {
		t.Helper()
		if got, err := tx.LockAll(sp, n); err != nil || got != want {
			t.Fatalf("LockAll is %t, %v, wanted %t", got, err, want)
		}
	}
	reader := begin(t, st, kv.BeginOpt{Isolation: kv.RepeatableRead})
	wantValue(t, reader, sp, "a", "1")
	old := begin(t, st, kv.BeginOpt{Isolation: kv.RepeatableRead})
	wantValue(t, old, sp, "a", "1")
	put(t, st, sp, "b", "2")
	wants(old, many, false)
	old.Rollback()

	other, tx := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	_, err := lock(other, sp, kv.LockOpt{Mode: kv.ForKeyShare}, "a")
	must(t, err)
	wants(tx, many, false)
	other.Rollback()
	wants(tx, 1, false)
	wants(tx, many, true)
	other = begin(t, st, kv.BeginOpt{})
	wantErr(t, other.Put(sp, []byte("c"), []byte("3")), kv.ErrConflict)
	other.Rollback()
	point, mark := tx.Savepoint(), tx.LockMark()
	wants(tx, many, true)
	must(t, tx.ClearSpace(sp))
	wantValue(t, tx, sp, "a", "")
	tx.RollbackTo(point)
	tx.UnlockTo(mark)
	wantValue(t, tx, sp, "a", "1")
	wants(tx, many, true)
	must(t, tx.ClearSpace(sp))
	must(t, tx.Put(sp, []byte("d"), []byte("4")))
	other = begin(t, st, kv.BeginOpt{})
	wantValue(t, other, sp, "a", "1")
	var r kv.LockResult
	ch := async(t, st, func() (err error) {
		r, err = lock(other, sp, forever, "a")
		return err
	})
	waiting(t, ch)
	must(t, tx.Commit(ctx))
	must(t, result(t, ch))
	if !r.Changed || r.Val != nil {
		t.Errorf("a key that is gone: %+v", r)
	}
	other.Rollback()
	wantValue(t, reader, sp, "a", "1")
	_, err = lock(reader, sp, kv.LockOpt{AtSnapshot: true}, "b")
	wantErr(t, err, kv.ErrConflict)
	reader.Rollback()
	after := begin(t, st, kv.BeginOpt{})
	if got := all(t, after, sp, kv.Range{}, kv.ScanOpt{}); len(got) != 1 {
		t.Errorf("after the commit there is %q", got)
	}
	after.Rollback()
	if n := st.Stats().RowLocks; n != 0 {
		t.Errorf("%d row locks are left", n)
	}
}

func testTableLocks(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	for a := kv.AccessShare; a <= kv.AccessExclusive; a++ {
		for b := kv.AccessShare; b <= kv.AccessExclusive; b++ {
			ta, tb := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
			must(t, ta.LockSpace(ctx, sp, a, kv.LockOpt{}))
			must(t, ta.LockSpace(ctx, sp, a, kv.LockOpt{}))
			err := tb.LockSpace(ctx, sp, b, kv.LockOpt{})
			if conflict := a.Conflicts()&(1<<b) != 0; conflict != errors.Is(err, kv.ErrLockTimeout) || err != nil && !conflict {
				t.Errorf("%s after %s gives %v, conflict in the matrix: %t", b, a, err, conflict)
			}
			must(t, ta.LockSpace(ctx, sp, kv.AccessShare, kv.LockOpt{}))
			ta.Rollback()
			must(t, tb.LockSpace(ctx, sp, kv.AccessExclusive, kv.LockOpt{}))
			tb.Rollback()
		}
	}
	// A waiting exclusive locker is not overtaken by later readers, but whoever
	// holds a lock may take a stronger one past it.
	reader, ddl, late := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	must(t, reader.LockSpace(ctx, sp, kv.AccessShare, forever))
	ch := async(t, st, func() error { return ddl.LockSpace(ctx, sp, kv.AccessExclusive, forever) })
	wantErr(t, late.LockSpace(ctx, sp, kv.AccessShare, kv.LockOpt{}), kv.ErrLockTimeout)
	must(t, reader.LockSpace(ctx, sp, kv.RowExclusive, forever))
	lch := async(t, st, func() error { return late.LockSpace(ctx, sp, kv.AccessShare, forever) })
	waiting(t, ch)
	reader.Rollback()
	must(t, result(t, ch))
	waiting(t, lch)
	ddl.Rollback()
	must(t, result(t, lch))
}

func sharedIf(shared bool) kv.RowLockMode {
	if shared {
		return kv.ForShare
	}
	return kv.ForUpdate
}
