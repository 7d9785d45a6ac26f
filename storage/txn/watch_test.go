package txn

import (
	"errors"
	"fmt"
	"testing"

	"kvsqld/storage/kv"
)

// TestWatchTooMany has commits change more keys than a watch keeps: it tells nothing any
// more, rather than a part.
func TestWatchTooMany(t *testing.T) {
	_, st := newFake(t, Options{})
	w, err := st.Watch(ctx, sp)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.(*watch).limit = 10 * (2 + keyOverhead)
	put := func(from, to int) {
		t.Helper()
		tx, err := st.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for i := from; i < to; i++ {
			if err := tx.Put(sp, fmt.Appendf(nil, "%02d", i), []byte("v")); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // what was taken does not count
		put(0, 10)
		keys, err := w.Take(st.snaps.applied())
		if err != nil || len(keys[0]) != 10 {
			t.Fatalf("%d keys, %v", len(keys[0]), err)
		}
	}
	put(0, 6)
	put(6, 11)
	if _, err := w.Take(0); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("Take after too many keys: %v", err)
	}
	if n := w.(*watch).bytes; n != 0 {
		t.Errorf("%d bytes are kept in vain", n)
	}
	w.Close()
	if st.watches.list.Load() != nil {
		t.Error("the store still has a watch")
	}
}
