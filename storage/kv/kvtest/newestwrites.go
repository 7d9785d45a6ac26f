package kvtest

import (
	"slices"
	"testing"

	"kvsqld/storage/kv"
)

// testNewestWrites has a transaction that keeps its snapshot write keys that others
// have changed since.
func testNewestWrites(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	for _, k := range []string{"a", "a/entry", "b"} {
		put(t, st, sp, k, "old")
	}
	tx := begin(t, st, kv.BeginOpt{Isolation: kv.RepeatableRead})
	defer tx.Rollback()
	wantValue(t, tx, sp, "a", "old")
	update(t, st, func(tx kv.Txn) {
		must(t, tx.Delete(sp, []byte("a")))
		must(t, tx.Put(sp, []byte("a/entry"), []byte("of another")))
	})
	r, err := lock(tx, sp, kv.LockOpt{IfAbsent: true}, "a")
	if err != nil || r.Val != nil || !r.Changed {
		t.Fatalf("lock of a key that has been deleted: %+v, %v", r, err)
	}
	wantErr(t, tx.Put(sp, []byte("a"), []byte("new")), kv.ErrConflict)
	mark := tx.Savepoint()
	must(t, tx.Put(sp, []byte("a"), []byte("new"), kv.Newest))
	if r, err := lock(tx, sp, kv.LockOpt{AtSnapshot: true}, "a"); err != nil || string(r.Val) != "new" || r.Changed {
		t.Fatalf("lock of an own write: %+v, %v", r, err)
	}
	must(t, tx.Delete(sp, []byte("a")))
	must(t, tx.Put(sp, []byte("a"), []byte("newer")))

	// What is hidden is so for the transaction alone.
	must(t, tx.Delete(sp, []byte("a/entry"), kv.Private))
	must(t, tx.Delete(sp, []byte("b"), kv.Private))
	if tx.Wrote(sp, []byte("a/entry")) {
		t.Error("a private write counts as one")
	}
	if got := all(t, tx, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, []string{"a=newer"}) {
		t.Errorf("the transaction sees %q", got)
	}
	must(t, tx.Put(sp, []byte("b"), []byte("shown")))
	tx.RollbackTo(mark)
	wantValue(t, tx, sp, "a/entry", "old")
	must(t, tx.Put(sp, []byte("a"), []byte("newer"), kv.Newest))
	must(t, tx.Delete(sp, []byte("a/entry"), kv.Private))
	must(t, tx.Delete(sp, []byte("b"), kv.Private))
	must(t, tx.Commit(ctx))
	for k, want := range map[string]string{"a": "newer", "a/entry": "of another", "b": "old"} {
		if got := current(t, st, sp, k); got != want {
			t.Errorf("%s is %q, want %q", k, got, want)
		}
	}

	// Private writes alone are nothing to commit.
	tx = begin(t, st, kv.BeginOpt{Isolation: kv.RepeatableRead})
	must(t, tx.Put(sp, []byte("c"), []byte("mine"), kv.Private))
	wantValue(t, tx, sp, "c", "mine")
	commits := st.Stats().Commits
	must(t, tx.Commit(ctx))
	if n := st.Stats().Commits; n != commits {
		t.Errorf("%d commits for private writes", n-commits)
	}
	if got := current(t, st, sp, "c"); got != "" {
		t.Errorf("a private write was committed: %q", got)
	}
}

// testOwnReads has a SERIALIZABLE transaction read what it has written itself: nobody
// else's change of that matters.
func testOwnReads(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "x", "1")
	tx := begin(t, st, kv.BeginOpt{Isolation: kv.Serializable})
	defer tx.Rollback()
	wantValue(t, tx, sp, "x", "1")
	put(t, st, sp, "k", "1")
	update(t, st, func(tx kv.Txn) { must(t, tx.Delete(sp, []byte("k"))) })
	if _, err := lock(tx, sp, kv.LockOpt{IfAbsent: true}, "k"); err != nil {
		t.Fatal(err)
	}
	must(t, tx.Put(sp, []byte("k"), []byte("2"), kv.Newest))
	wantValue(t, tx, sp, "k", "2")
	must(t, tx.Commit(ctx))

	// A read of the state before the write is one of what others committed.
	tx = begin(t, st, kv.BeginOpt{Isolation: kv.Serializable})
	defer tx.Rollback()
	wantValue(t, tx, sp, "x", "1")
	put(t, st, sp, "l", "1")
	update(t, st, func(tx kv.Txn) { must(t, tx.Delete(sp, []byte("l"))) })
	if _, err := lock(tx, sp, kv.LockOpt{IfAbsent: true}, "l"); err != nil {
		t.Fatal(err)
	}
	before := tx.Before()
	must(t, tx.Put(sp, []byte("l"), []byte("2"), kv.Newest))
	_, err := before.Get(ctx, sp, []byte("l"))
	wantErr(t, err, kv.ErrNotFound)
	wantErr(t, tx.Commit(ctx), kv.ErrConflict)
}

// testDetach reads writes that were undone, beside what is written then.
func testDetach(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	for _, k := range []string{"a", "b", "c"} {
		put(t, st, sp, k, "old")
	}
	tx := begin(t, st, kv.BeginOpt{})
	defer tx.Rollback()
	must(t, tx.Put(sp, []byte("b"), []byte("mine")))
	put(t, st, sp, "c", "newest")
	newest, err := tx.Newest()
	must(t, err)
	wantValue(t, newest, sp, "c", "newest")
	wantValue(t, newest, sp, "b", "old")
	newest.Close()
	mark := tx.Savepoint()
	must(t, tx.Put(sp, []byte("c"), []byte("revised"), kv.Private))
	must(t, tx.Delete(sp, []byte("a"), kv.Private))
	r := tx.Detach(mark)
	must(t, tx.Put(sp, []byte("d"), []byte("later")))
	must(t, tx.Put(sp, []byte("e"), []byte("later")))
	wantValue(t, r, sp, "c", "revised")
	if got := all(t, r, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, []string{"b=mine", "c=revised"}) {
		t.Errorf("the reader sees %q", got)
	}
	if got := all(t, tx, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, []string{"a=old", "b=mine", "c=old", "d=later", "e=later"}) {
		t.Errorf("the transaction sees %q", got)
	}
	must(t, tx.Commit(ctx))
	if got := current(t, st, sp, "c"); got != "newest" {
		t.Errorf("c is %q", got)
	}
}
