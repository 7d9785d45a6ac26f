package kvtest

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"kvsqld/storage/kv"
)

func testBasics(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	update(t, st, func(tx kv.Txn) {
		for _, k := range []string{"b", "a", "c"} {
			must(t, tx.Put(sp, []byte(k), []byte("v"+k)))
		}
		wantValue(t, tx, sp, "a", "va")
		must(t, tx.Put(sp, []byte("a"), []byte("va2")))
		must(t, tx.Delete(sp, []byte("b")))
		must(t, tx.Delete(sp, []byte("absent")))
		wantValue(t, tx, sp, "a", "va2")
		wantValue(t, tx, sp, "b", "")
	})
	tx := begin(t, st, kv.BeginOpt{ReadOnly: true})
	if got, want := strings.Join(all(t, tx, sp, kv.Range{}, kv.ScanOpt{}), " "), "a=va2 c=vc"; got != want {
		t.Fatalf("scan gives %q, want %q", got, want)
	}
	vs, err := tx.BatchGet(ctx, sp, [][]byte{[]byte("c"), []byte("b"), []byte("a"), []byte("a"), []byte("zz"), []byte("c")})
	must(t, err)
	if want := [][]byte{[]byte("vc"), nil, []byte("va2"), []byte("va2"), nil, []byte("vc")}; !reflect.DeepEqual(vs, want) {
		t.Fatalf("BatchGet gives %q, want %q", vs, want)
	}
	wantErr(t, tx.Put(sp, []byte("a"), []byte("x")), kv.ErrReadOnly)
	_, err = lock(tx, sp, kv.LockOpt{}, "a")
	wantErr(t, err, kv.ErrReadOnly)

	allowed := begin(t, st, kv.BeginOpt{ReadOnly: true, Isolation: kv.Serializable})
	wantValue(t, allowed, sp, "a", "va2")
	allowed.AllowWrites()
	must(t, allowed.Put(sp, []byte("d"), []byte("vd")))
	must(t, allowed.Commit(ctx))
	update(t, st, func(tx kv.Txn) {
		wantValue(t, tx, sp, "d", "vd")
		must(t, tx.Delete(sp, []byte("d")))
	})

	w := begin(t, st, kv.BeginOpt{})
	wantErr(t, w.Put(sp, nil, []byte("x")), kv.ErrTooLarge)
	wantErr(t, w.Put(sp, []byte("x"), nil), kv.ErrTooLarge)
	wantErr(t, w.Put(sp, make([]byte, 1<<20), []byte("x")), kv.ErrTooLarge)
	wantErr(t, w.Insert(sp, []byte("x"), nil), kv.ErrTooLarge)

	// Buffers given to the store may be reused at once.
	k, v := []byte("buf"), []byte("one")
	must(t, w.Put(sp, k, v))
	copy(k, "xxx")
	copy(v, "yyy")
	wantValue(t, w, sp, "buf", "one")
	must(t, w.Commit(ctx))
	if got := current(t, st, sp, "buf"); got != "one" {
		t.Fatalf("committed value is %q", got)
	}
}

func testSnapshots(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	old, err := st.Snapshot(ctx)
	must(t, err)
	defer old.Close()
	put(t, st, sp, "k", "2")
	put(t, st, sp, "l", "1")
	wantValue(t, old, sp, "k", "1")
	wantValue(t, old, sp, "l", "")
	now, err := st.Snapshot(ctx)
	must(t, err)
	wantValue(t, now, sp, "k", "2")
	if now.Seq() <= old.Seq() {
		t.Errorf("later snapshot has number %d, the older one %d", now.Seq(), old.Seq())
	}
	if got := all(t, now, sp, kv.Range{}, kv.ScanOpt{}); len(got) != 2 {
		t.Errorf("scan gives %q", got)
	}
	now.Close()
	now.Close()
	_, err = now.Get(ctx, sp, []byte("k"))
	wantErr(t, err, kv.ErrTxnDone)
}

func testIsolation(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	rc := begin(t, st, kv.BeginOpt{})
	rr := begin(t, st, kv.BeginOpt{Isolation: kv.RepeatableRead})
	wantValue(t, rc, sp, "k", "1")
	wantValue(t, rr, sp, "k", "1")
	put(t, st, sp, "k", "2")
	wantValue(t, rc, sp, "k", "1")
	must(t, rc.Refresh(ctx))
	must(t, rr.Refresh(ctx))
	wantValue(t, rc, sp, "k", "2")
	wantValue(t, rr, sp, "k", "1")
	if rc.Isolation() != kv.ReadCommitted || rr.Isolation() != kv.RepeatableRead {
		t.Error("the isolation level was forgotten")
	}
	must(t, rc.Put(sp, []byte("k"), []byte("3")))
	wantErr(t, rr.Put(sp, []byte("k"), []byte("3")), kv.ErrConflict)
	must(t, rc.Commit(ctx))
	wantErr(t, rr.Put(sp, []byte("k"), []byte("3")), kv.ErrConflict)
	wantValue(t, rr, sp, "k", "1")
}

func testSerializable(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "a", "on")
	put(t, st, sp, "b", "on")
	ser := kv.BeginOpt{Isolation: kv.Serializable}
	// skewed commits a write by a transaction that has read "sum", which the other one
	// is about to write.
	skewed := func(key, val string, f ...kv.Flag) {
		t.Helper()
		tx := begin(t, st, ser)
		_, err := tx.Get(ctx, sp, []byte("sum"))
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			t.Fatal(err)
		}
		must(t, tx.Put(sp, []byte(key), []byte(val), f...))
		must(t, tx.Commit(ctx))
	}

	t.Run("write skew over a range", func(t *testing.T) {
		t1, t2 := begin(t, st, ser), begin(t, st, ser)
		all(t, t1, sp, kv.Range{}, kv.ScanOpt{})
		all(t, t2, sp, kv.Range{}, kv.ScanOpt{})
		must(t, t1.Put(sp, []byte("a"), []byte("off")))
		must(t, t2.Put(sp, []byte("b"), []byte("off")))
		must(t, t1.Commit(ctx))
		wantErr(t, t2.Commit(ctx), kv.ErrConflict)
	})
	t.Run("an absent key counts as read", func(t *testing.T) {
		t1 := begin(t, st, ser)
		wantValue(t, t1, sp, "new", "")
		must(t, t1.Put(sp, []byte("sum"), []byte("0")))
		skewed("new", "1")
		wantErr(t, t1.Commit(ctx), kv.ErrConflict)
	})
	t.Run("other keys do not matter", func(t *testing.T) {
		t1 := begin(t, st, ser)
		wantValue(t, t1, sp, "b", "on")
		must(t, t1.Put(sp, []byte("sum"), []byte("1")))
		skewed("c", "1")
		must(t, t1.Commit(ctx))
	})
	t.Run("who wrote nothing comes before a write", func(t *testing.T) {
		t1 := begin(t, st, ser)
		wantValue(t, t1, sp, "b", "on")
		skewed("b", "off")
		must(t, t1.Commit(ctx))
		put(t, st, sp, "b", "on")
	})
	t.Run("who overwrites what nobody has read comes before a write", func(t *testing.T) {
		t1 := begin(t, st, ser)
		wantValue(t, t1, sp, "b", "on")
		put(t, st, sp, "b", "off")
		must(t, t1.Put(sp, []byte("sum"), []byte("1")))
		must(t, t1.Commit(ctx))
		put(t, st, sp, "b", "on")
	})
	t.Run("unless what it has read is to stay as it is", func(t *testing.T) {
		t1 := begin(t, st, kv.BeginOpt{Isolation: kv.Serializable, Unchanged: true})
		wantValue(t, t1, sp, "b", "on")
		put(t, st, sp, "b", "off")
		must(t, t1.Put(sp, []byte("sum"), []byte("1")))
		wantErr(t, t1.Commit(ctx), kv.ErrConflict)
		put(t, st, sp, "b", "on")
	})
	// The pivot reads b, which another overwrites, and writes a. Whoever sees the one
	// write and not the other sees a state of no order.
	pivot := func() kv.Txn {
		tx := begin(t, st, ser)
		wantValue(t, tx, sp, "b", "on")
		must(t, tx.Put(sp, []byte("a"), []byte("off")))
		put(t, st, sp, "b", "off")
		return tx
	}
	restore := func() {
		put(t, st, sp, "a", "on")
		put(t, st, sp, "b", "on")
	}
	restore()
	t.Run("a pivot fails beside a reader", func(t *testing.T) {
		t1 := pivot()
		t2 := begin(t, st, ser)
		wantValue(t, t2, sp, "a", "on")
		wantErr(t, t1.Commit(ctx), kv.ErrConflict)
		wantValue(t, t2, sp, "b", "off")
		must(t, t2.Commit(ctx))
		restore()
	})
	t.Run("a pivot fails after a reader", func(t *testing.T) {
		t1 := pivot()
		t2 := begin(t, st, ser)
		wantValue(t, t2, sp, "a", "on")
		wantValue(t, t2, sp, "b", "off")
		must(t, t2.Commit(ctx))
		wantErr(t, t1.Commit(ctx), kv.ErrConflict)
		restore()
	})
	t.Run("who reads after the commit of a pivot fails", func(t *testing.T) {
		t1 := pivot()
		t2 := begin(t, st, ser)
		wantValue(t, t2, sp, "b", "off")
		must(t, t1.Commit(ctx))
		wantValue(t, t2, sp, "a", "on")
		wantErr(t, t2.Commit(ctx), kv.ErrConflict)
		restore()
	})
	t.Run("READ ONLY never fails", func(t *testing.T) {
		t1 := pivot()
		t2 := begin(t, st, kv.BeginOpt{ReadOnly: true, Isolation: kv.Serializable})
		wantValue(t, t2, sp, "b", "off")
		wantErr(t, t1.Commit(ctx), kv.ErrConflict)
		wantValue(t, t2, sp, "a", "on")
		must(t, t2.Commit(ctx))
		restore()
	})
	t.Run("a reader from before both sees neither", func(t *testing.T) {
		for _, o := range []kv.BeginOpt{ser, {ReadOnly: true, Isolation: kv.Serializable}} {
			t2 := begin(t, st, o)
			wantValue(t, t2, sp, "b", "on")
			t1 := pivot()
			must(t, t1.Commit(ctx))
			wantValue(t, t2, sp, "a", "on")
			must(t, t2.Commit(ctx))
			restore()
		}
	})
	t.Run("a pivot has looked at nothing newer", func(t *testing.T) {
		for _, look := range []bool{false, true} {
			t1 := pivot()
			if look {
				newest, err := t1.Newest()
				must(t, err)
				wantValue(t, newest, sp, "b", "off")
				newest.Close()
				wantErr(t, t1.Commit(ctx), kv.ErrConflict)
			} else {
				must(t, t1.Commit(ctx))
			}
			restore()
		}
	})
	t.Run("a lock counts as a read", func(t *testing.T) {
		t1, t2 := begin(t, st, ser), begin(t, st, ser)
		wantValue(t, t1, sp, "b", "on")
		_, err := lock(t2, sp, kv.LockOpt{AtSnapshot: true}, "a")
		must(t, err)
		must(t, t2.Put(sp, []byte("b"), []byte("off")))
		must(t, t2.Commit(ctx))
		must(t, t1.Put(sp, []byte("a"), []byte("off")))
		wantErr(t, t1.Commit(ctx), kv.ErrConflict)
		restore()
	})
	t.Run("covered writes count", func(t *testing.T) {
		t1 := begin(t, st, ser)
		all(t, t1, sp, kv.Prefix([]byte("i/")), kv.ScanOpt{})
		must(t, t1.Put(sp, []byte("sum"), []byte("2")))
		skewed("i/1", "x", kv.Covered)
		wantErr(t, t1.Commit(ctx), kv.ErrConflict)
	})
	t.Run("a scan that ended early read only so far", func(t *testing.T) {
		for _, o := range []kv.ScanOpt{{Limit: 1}, {Limit: 1, Reverse: true}} {
			t1 := begin(t, st, ser)
			if got := all(t, t1, sp, kv.Range{Lo: []byte("a"), Hi: []byte("c")}, o); len(got) != 1 {
				t.Fatalf("scan gives %q", got)
			}
			must(t, t1.Put(sp, []byte("sum"), []byte("3")))
			skewed("ax", "1") // between a and b
			must(t, t1.Commit(ctx))

			t2 := begin(t, st, ser)
			all(t, t2, sp, kv.Range{Lo: []byte("a"), Hi: []byte("c")}, o)
			must(t, t2.Put(sp, []byte("sum"), []byte("4")))
			skewed(map[bool]string{false: "a", true: "b"}[o.Reverse], "on")
			wantErr(t, t2.Commit(ctx), kv.ErrConflict)
		}
	})
	t.Run("every range of an iterator counts", func(t *testing.T) {
		for _, k := range []string{"r1", "r5", "r9"} {
			t1 := begin(t, st, ser)
			it := t1.Scan(ctx, sp, kv.Prefix([]byte("r1")), kv.ScanOpt{})
			for _, g := range []string{"r5", "r9"} {
				if x, ok := it.(kv.Rescanner); !ok || !x.Rescan(kv.Prefix([]byte(g))) {
					it.Close()
					it = t1.Scan(ctx, sp, kv.Prefix([]byte(g)), kv.ScanOpt{})
				}
				_, err := it.Next()
				must(t, err)
			}
			it.Close()
			must(t, t1.Put(sp, []byte("sum"), []byte("5")))
			skewed(k, "1")
			wantErr(t, t1.Commit(ctx), kv.ErrConflict)
		}
	})
	t.Run("one of many in a batch", func(t *testing.T) {
		const n = 8
		txs := make([]kv.Txn, n)
		for i := range txs {
			txs[i] = begin(t, st, ser)
			wantValue(t, txs[i], sp, "counter", "")
			must(t, txs[i].Put(sp, key(i), []byte("x")))
			must(t, txs[i].Put(sp, []byte("counter"), []byte("x"), kv.Covered))
		}
		var wg sync.WaitGroup
		errs := make([]error, n)
		for i := range txs {
			wg.Go(func() { errs[i] = txs[i].Commit(ctx) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, kv.ErrConflict) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d transactions committed, want 1", won)
		}
	})
}

func testConflicts(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")

	t1, t2 := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	wantValue(t, t2, sp, "k", "1")
	must(t, t1.Put(sp, []byte("k"), []byte("t1")))
	wantErr(t, t2.Put(sp, []byte("k"), []byte("t2")), kv.ErrConflict)
	wantErr(t, t2.Delete(sp, []byte("k")), kv.ErrConflict)
	must(t, t1.Commit(ctx))
	wantErr(t, t2.Put(sp, []byte("k"), []byte("t2")), kv.ErrConflict)
	must(t, t2.Put(sp, []byte("other"), []byte("t2")))
	must(t, t2.Commit(ctx))
	if got := current(t, st, sp, "k"); got != "t1" {
		t.Fatalf("value is %q, want t1", got)
	}

	// After a rollback the key is free and unchanged.
	t3, t4 := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	wantValue(t, t4, sp, "k", "t1")
	must(t, t3.Put(sp, []byte("k"), []byte("t3")))
	t3.Rollback()
	must(t, t4.Put(sp, []byte("k"), []byte("t4")))
	must(t, t4.Commit(ctx))

	// A locker and a writer without a lock: the writer may not slip through.
	t5, t6 := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	_, err := lock(t5, sp, kv.LockOpt{}, "k")
	must(t, err)
	wantErr(t, t6.Put(sp, []byte("k"), []byte("t6")), kv.ErrConflict)
	must(t, t5.Commit(ctx)) // locked only: nothing has changed
	must(t, t6.Put(sp, []byte("k"), []byte("t6")))
	must(t, t6.Commit(ctx))
}

func testInsert(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	tx := begin(t, st, kv.BeginOpt{})
	wantErr(t, tx.Insert(sp, []byte("k"), []byte("2")), kv.ErrExists)
	must(t, tx.Delete(sp, []byte("k")))
	must(t, tx.Insert(sp, []byte("k"), []byte("2")))
	wantErr(t, tx.Insert(sp, []byte("k"), []byte("3")), kv.ErrExists)
	must(t, tx.Insert(sp, []byte("l"), []byte("1")))
	must(t, tx.Commit(ctx))
	if got := current(t, st, sp, "k"); got != "2" {
		t.Fatalf("value is %q, want 2", got)
	}

	// The race for one key has one winner; a second inserter that waits for
	// the lock finds the row.
	a, b := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	must(t, a.Insert(sp, []byte("race"), []byte("a")))
	wantErr(t, b.Insert(sp, []byte("race"), []byte("b")), kv.ErrConflict)
	ch := async(t, st, func() error {
		r, err := lock(b, sp, kv.LockOpt{Wait: kv.WaitForever}, "race")
		if err == nil && (!r.Changed || string(r.Val) != "a") {
			t.Errorf("lock result is %+v, want changed with value a", r)
		}
		return err
	})
	waiting(t, ch)
	must(t, a.Commit(ctx))
	must(t, result(t, ch))
	wantErr(t, b.Insert(sp, []byte("race"), []byte("b")), kv.ErrExists)

	const n = 16
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			tx, err := st.Begin(ctx, kv.BeginOpt{})
			if err != nil {
				errs[i] = err
				return
			}
			defer tx.Rollback()
			if err = tx.Insert(sp, []byte("many"), []byte{byte(i + 1)}); err == nil {
				err = tx.Commit(ctx)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, kv.ErrConflict) && !errors.Is(err, kv.ErrExists):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d inserts of one key succeeded", won)
	}
}
