package txn

import (
	"context"
	"testing"

	"kvsqld/storage/kv"
)

// TestWriters counts the transactions that have written and have not ended, however
// they end: the only one does not give way to others before it syncs.
func TestWriters(t *testing.T) {
	_, st := newFake(t, Options{})
	begin := func() kv.Txn {
		t.Helper()
		tx, err := st.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	want := func(when string, n int32) {
		t.Helper()
		if got := st.sync.writers.Load(); got != n {
			t.Errorf("%s: %d transactions count as writing, want %d", when, got, n)
		}
	}
	put := func(tx kv.Txn, key string) {
		t.Helper()
		if err := tx.Put(sp, []byte(key), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := begin(), begin(), begin()
	want("nothing written", 0)
	put(a, "a1")
	put(a, "a2")
	want("one has written twice", 1)
	put(b, "b")
	put(c, "c")
	want("three have written", 3)
	if err := a.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	want("one has committed", 2)
	b.Rollback()
	b.Rollback()
	want("one is undone", 1)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := c.Commit(gone); err == nil {
		t.Fatal("a cancelled commit succeeded")
	}
	want("one could not commit", 0)
}
