package kvtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kvsqld/storage/kv"
)

func hasSpace(t testing.TB, tx kv.Txn, sp kv.Space, want bool) {
	t.Helper()
	has, err := tx.HasSpace(sp)
	must(t, err)
	if has != want {
		t.Fatalf("HasSpace is %t, want %t", has, want)
	}
}

func owns(t testing.TB, tx kv.Txn, sp kv.Space, want bool) {
	t.Helper()
	if tx.Owns(sp) != want {
		t.Fatalf("Owns is %t, want %t", !want, want)
	}
}

// spaces lists the spaces of the newest state and reads each by the ID it has.
func spaces(t *testing.T, st kv.Store) []kv.Space {
	t.Helper()
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	sps, err := s.Spaces(ctx)
	must(t, err)
	for _, sp := range sps {
		it := s.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
		if ps, err := it.Next(); err != nil || len(ps) == 0 {
			t.Errorf("space %v read by its ID has %d pairs and %v", sp, len(ps), err)
		}
		it.Close()
	}
	return sps
}

func testSpaces(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	tx := begin(t, st, kv.BeginOpt{})
	hasSpace(t, tx, sp, true)
	wantErr(t, tx.CreateSpace(sp), kv.ErrExists)
	none := kv.Space{ID: spaceIDs.Add(1), DB: "nodb", File: "none"}
	hasSpace(t, tx, none, false)
	wantErr(t, tx.DropSpace(none), kv.ErrNotFound)
	wantErr(t, tx.ClearSpace(none), kv.ErrNotFound)
	wantValue(t, tx, none, "k", "")
	if got := all(t, tx, none, kv.Range{}, kv.ScanOpt{}); got != nil {
		t.Errorf("scan of no space gives %q", got)
	}

	must(t, tx.Put(sp, []byte("j"), []byte("1")))
	owns(t, tx, sp, false)
	mark := tx.Savepoint()
	must(t, tx.ClearSpace(sp))
	owns(t, tx, sp, true)
	tx.RollbackTo(mark)
	owns(t, tx, sp, false)
	must(t, tx.ClearSpace(sp))
	wantValue(t, tx, sp, "k", "")
	must(t, tx.Put(sp, []byte("l"), []byte("1")))
	if got := all(t, tx, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, []string{"l=1"}) {
		t.Errorf("scan of a cleared space gives %q", got)
	}
	if got := current(t, st, sp, "k"); got != "1" {
		t.Errorf("others see the clearing before its commit: %q", got)
	}
	owns(t, tx, none, false)
	must(t, tx.CreateSpace(none))
	owns(t, tx, none, true)
	must(t, tx.Put(none, []byte("k"), []byte("1")))
	must(t, tx.Commit(ctx))
	if got := current(t, st, sp, "k") + current(t, st, sp, "l") + current(t, st, none, "k"); got != "11" {
		t.Errorf("after clearing and creating: %q", got)
	}
	names := spaces(t, st)
	if !slices.ContainsFunc(names, func(s kv.Space) bool { return s.DB == none.DB && s.File == none.File }) {
		t.Errorf("spaces are %v", names)
	}

	update(t, st, func(tx kv.Txn) {
		must(t, tx.DropSpace(none))
		hasSpace(t, tx, none, false)
		wantValue(t, tx, none, "k", "")
	})
	if names = spaces(t, st); len(names) != 1 {
		t.Errorf("spaces after the drop are %v", names)
	}
	// Created and dropped, dropped and created, in one transaction.
	update(t, st, func(tx kv.Txn) {
		must(t, tx.CreateSpace(none))
		must(t, tx.Put(none, []byte("k"), []byte("1")))
		must(t, tx.DropSpace(none))
		must(t, tx.DropSpace(sp))
		must(t, tx.CreateSpace(sp))
		must(t, tx.Put(sp, []byte("again"), []byte("1")))
	})
	tx = begin(t, st, kv.BeginOpt{})
	hasSpace(t, tx, none, false)
	if got := all(t, tx, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, []string{"again=1"}) {
		t.Errorf("scan gives %q", got)
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

func testSpacesRollback(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	fresh := kv.Space{ID: spaceIDs.Add(1), DB: "db", File: "fresh"}
	tx := begin(t, st, kv.BeginOpt{})
	must(t, tx.Put(sp, []byte("l"), []byte("own")))
	s := tx.Savepoint()
	must(t, tx.ClearSpace(sp))
	must(t, tx.Put(sp, []byte("m"), []byte("1")))
	must(t, tx.CreateSpace(fresh))
	must(t, tx.DropSpace(sp))
	hasSpace(t, tx, sp, false)
	tx.RollbackTo(s)
	hasSpace(t, tx, sp, true)
	hasSpace(t, tx, fresh, false)
	if got := all(t, tx, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, []string{"k=1", "l=own"}) {
		t.Errorf("scan after RollbackTo gives %q", got)
	}
	must(t, tx.DropSpace(sp))
	tx.Rollback()
	if got := current(t, st, sp, "k") + current(t, st, sp, "l"); got != "1" {
		t.Errorf("after the rollback: %q", got)
	}
}

func testFailedCommit(t *testing.T, st kv.Store) {
	sp, gone := newSpace(t, st), newSpace(t, st)
	tx := begin(t, st, kv.BeginOpt{})
	must(t, tx.Put(gone, []byte("k"), []byte("1")))
	must(t, tx.Put(sp, []byte("k"), []byte("1")))
	update(t, st, func(tx kv.Txn) { must(t, tx.DropSpace(gone)) })
	good := begin(t, st, kv.BeginOpt{})
	must(t, good.Put(sp, []byte("good"), []byte("1")))
	ch := make(chan error, 1)
	go func() { ch <- good.Commit(ctx) }()
	wantErr(t, tx.Commit(ctx), kv.ErrNotFound)
	must(t, result(t, ch))
	if got := current(t, st, sp, "k") + current(t, st, sp, "good"); got != "1" {
		t.Errorf("after the failed commit: %q", got)
	}
	put(t, st, sp, "k", "2") // the lock is free
}

func testHooks(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	var ran []string
	hook := func(s string) func() { return func() { ran = append(ran, s) } }
	tx := begin(t, st, kv.BeginOpt{})
	tx.OnCommit(hook("empty"))
	must(t, tx.Commit(ctx))
	tx = begin(t, st, kv.BeginOpt{})
	tx.OnCommit(hook("rolled back"))
	must(t, tx.Put(sp, []byte("k"), []byte("1")))
	tx.Rollback()
	tx = begin(t, st, kv.BeginOpt{})
	tx.OnCommit(hook("first"))
	tx.OnCommit(hook("second"))
	must(t, tx.Put(sp, []byte("k"), []byte("1")))
	must(t, tx.Commit(ctx))
	if want := []string{"empty", "first", "second"}; !slices.Equal(ran, want) {
		t.Errorf("hooks that ran: %q, want %q", ran, want)
	}

	// Whoever waited for the lock finds the hook done.
	a, b := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	must(t, a.LockSpace(ctx, sp, kv.AccessExclusive, forever))
	must(t, a.Put(sp, []byte("k"), []byte("2")))
	published := false
	a.OnCommit(func() { published = true })
	ch := async(t, st, func() error { return b.LockSpace(ctx, sp, kv.AccessShare, forever) })
	must(t, a.Commit(ctx))
	must(t, result(t, ch))
	if !published {
		t.Error("the lock was granted before the hook ran")
	}
	wantValue(t, b, sp, "k", "2")
	b.Rollback()

	// A panic in a hook is the caller's, and leaves nothing locked.
	tx = begin(t, st, kv.BeginOpt{})
	must(t, tx.Put(sp, []byte("k"), []byte("3")))
	tx.OnCommit(func() { panic("hook") })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of the hook was lost")
			}
		}()
		_ = tx.Commit(ctx)
	}()
	put(t, st, sp, "k", "4")
}

func testCounters(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	update(t, st, func(tx kv.Txn) {
		var s kv.Stats
		tx.SetStats(&s)
		for i := range 100 {
			must(t, tx.Put(sp, key(i), []byte("value")))
		}
		f := s.File(sp)
		if w, b := f.KeysWritten.Load(), f.BytesWritten.Load(); w != 100 || b != 1300 {
			t.Errorf("counted %d keys and %d bytes written, want 100 and 1300", w, b)
		}
	})
	var s kv.Stats
	tx := begin(t, st, kv.BeginOpt{ReadOnly: true})
	get(t, tx, sp, "absent")
	tx.SetStats(&s)
	get(t, tx, sp, string(key(1)))
	get(t, tx, sp, "absent")
	_, err := tx.BatchGet(ctx, sp, [][]byte{key(1), key(2)})
	must(t, err)
	all(t, tx, sp, kv.Range{}, kv.ScanOpt{})
	tx.SetStats(nil)
	get(t, tx, sp, "absent")
	f := s.File(sp)
	got := [4]int64{f.Gets.Load(), f.Scans.Load(), f.KeysRead.Load(), f.BytesRead.Load()}
	if want := [4]int64{4, 1, 103, 103 * 13}; got != want {
		t.Errorf("gets, scans, keys and bytes read are %v, want %v", got, want)
	}
	if sps := s.Spaces(); !slices.Equal(sps, []kv.Space{sp}) {
		t.Errorf("touched spaces are %v", sps)
	}
}

func testEnded(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	tx := begin(t, st, kv.BeginOpt{})
	wantValue(t, tx, sp, "k", "1")
	it := tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	must(t, tx.Commit(ctx))
	tx.Rollback()
	wantErr(t, tx.Commit(ctx), kv.ErrTxnDone)
	wantErr(t, tx.Put(sp, []byte("k"), []byte("2")), kv.ErrTxnDone)
	wantErr(t, tx.Refresh(ctx), kv.ErrTxnDone)
	wantErr(t, tx.LockSpace(ctx, sp, kv.AccessShare, forever), kv.ErrTxnDone)
	_, err := tx.Get(ctx, sp, []byte("k"))
	wantErr(t, err, kv.ErrTxnDone)
	_, err = it.Next()
	wantErr(t, err, kv.ErrTxnDone)
	it.Close()
	it.Close()
	_, err = tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{}).Next()
	wantErr(t, err, kv.ErrTxnDone)
	if n := st.Stats().OpenSnapshots; n != 0 {
		t.Errorf("%d snapshots are open", n)
	}
}

func testContext(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "1")
	cctx, cancel := context.WithCancel(ctx)
	tx := begin(t, st, kv.BeginOpt{})
	must(t, tx.Put(sp, []byte("k"), []byte("2")))
	it := tx.Scan(cctx, sp, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	cancel()
	_, err := it.Next()
	wantErr(t, err, context.Canceled)
	wantErr(t, tx.Commit(cctx), context.Canceled)
	if got := current(t, st, sp, "k"); got != "1" {
		t.Errorf("a cancelled commit wrote %q", got)
	}
	put(t, st, sp, "k", "3")
	_, err = st.Begin(cctx, kv.BeginOpt{})
	wantErr(t, err, context.Canceled)
}

func testClose(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	holder, waiter, reader := begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{}), begin(t, st, kv.BeginOpt{})
	wantValue(t, reader, sp, "k", "")
	must(t, holder.Put(sp, []byte("k"), []byte("1")))
	ch := async(t, st, func() error {
		_, err := lock(waiter, sp, forever, "k")
		waiter.Rollback()
		return err
	})
	done := make(chan error, 1)
	go func() { done <- st.Close() }()
	wantErr(t, result(t, ch), kv.ErrUnavailable)
	wantErr(t, holder.Commit(ctx), kv.ErrUnavailable)
	until(t, "reads to be refused", func() bool {
		_, err := reader.Get(ctx, sp, []byte("k"))
		return err != nil && !errors.Is(err, kv.ErrNotFound)
	})
	reader.Rollback()
	must(t, result(t, done))
	must(t, st.Close())
	_, err := st.Begin(ctx, kv.BeginOpt{})
	wantErr(t, err, kv.ErrUnavailable)
	_, err = st.Snapshot(ctx)
	wantErr(t, err, kv.ErrUnavailable)
	wantErr(t, st.Check(ctx, func(string) {}), kv.ErrUnavailable)
	_ = st.Stats() // may be asked for after the end
}
