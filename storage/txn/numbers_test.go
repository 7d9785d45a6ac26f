package txn

import (
	"slices"
	"testing"

	"kvsqld/storage/kv"
)

// TestNumbers: numbers ascend, a snapshot knows those that it does not contain, and
// each transaction's outcome is known afterwards.
func TestNumbers(t *testing.T) {
	_, st := newFake(t, Options{})
	begin := func(client int32) kv.Txn {
		tx, err := st.Begin(ctx, kv.BeginOpt{Client: client})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	number := func(tx kv.Txn, want uint64) {
		t.Helper()
		if n, err := tx.Number(); n != want || err != nil || tx.Assigned() != want {
			t.Fatalf("number %d, %v, assigned %d, want %d", n, err, tx.Assigned(), want)
		}
	}
	early := begin(1)
	number(early, 0) // nobody has said where they come from
	early.Rollback()
	var next uint64 = 98
	st.NumberFrom(func() (first, last uint64, err error) {
		next += 2
		return next, next + 1, nil
	})
	running := func(seq, low, high uint64, list ...uint64) {
		t.Helper()
		r, err := st.Running(seq)
		if err != nil || r.Min != low || r.Max != high || !slices.Equal(r.List, list) {
			t.Fatalf("running at %d is %v, %v, want %d:%d:%v", seq, r, err, low, high, list)
		}
	}
	outcome := func(n uint64, want kv.Outcome) {
		t.Helper()
		if o, err := st.Outcome(n); o != want || err != nil {
			t.Fatalf("outcome of %d is %d, %v, want %d", n, o, err, want)
		}
	}
	running(0, 100, 100)

	maker, nobody := begin(1), begin(0)
	if err := maker.Put(sp, []byte("c"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	number(maker, 100)
	number(nobody, 0)
	nobody.Rollback()
	running(0, 100, 100)
	if err := maker.Commit(ctx); err != nil {
		t.Fatal(err)
	}

	old := begin(2)
	before := old.Seq()
	open, gone, locks, done := begin(3), begin(4), begin(5), begin(6)
	if _, err := open.LockKeys(ctx, sp, kv.LockOpt{}, []byte("a")); err != nil {
		t.Fatal(err)
	}
	number(open, 101)
	number(gone, 102)
	number(locks, 103)
	if err := done.Put(sp, []byte("b"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	outcome(104, kv.OutcomeRunning)
	gone.Rollback()
	for _, tx := range []kv.Txn{locks, done} {
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	running(before, 101, 104, 101)
	after := begin(7)
	running(after.Seq(), 101, 105, 101)
	outcome(99, kv.OutcomeForgotten)
	outcome(100, kv.OutcomeCommitted)
	outcome(101, kv.OutcomeRunning)
	outcome(102, kv.OutcomeAborted)
	outcome(103, kv.OutcomeCommitted)
	outcome(104, kv.OutcomeCommitted)
	outcome(105, kv.OutcomeFuture)
	if old.Assigned() != 0 {
		t.Error("a reader has a number")
	}
	if seq, ok := old.Reading(); !ok || seq != before {
		t.Errorf("reads %d, %v", seq, ok)
	}
	for _, tx := range []kv.Txn{old, open, after} {
		tx.Rollback()
	}
}

// TestNumbersAreForgotten: memory holds the outcomes of the newest transactions, and of
// all since the oldest snapshot.
func TestNumbersAreForgotten(t *testing.T) {
	_, st := newFake(t, Options{})
	st.NumberFrom(func() (first, last uint64, err error) { return 1, 1 << 40, nil })
	for range 200_000 {
		tx, err := st.Begin(ctx, kv.BeginOpt{Client: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Number(); err != nil {
			t.Fatal(err)
		}
		tx.Rollback()
	}
	for n, want := range map[uint64]kv.Outcome{1: kv.OutcomeForgotten, 150_000: kv.OutcomeAborted, 200_000: kv.OutcomeAborted} {
		if o, err := st.Outcome(n); o != want || err != nil {
			t.Errorf("outcome of %d is %d, %v, want %d", n, o, err, want)
		}
	}
	if r, err := st.Running(0); err != nil || r.Max != 200_001 || r.Min != 200_001 {
		t.Errorf("running is %v, %v", r, err)
	}
}
