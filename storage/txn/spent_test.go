package txn

import (
	"errors"
	"testing"

	"kvsqld/storage/kv"
)

// TestSpent looks which transactions another one is made of: those that have ended and
// did nothing but read.
func TestSpent(t *testing.T) {
	_, st := newFake(t, Options{})
	begin := func(o kv.BeginOpt) *Txn {
		t.Helper()
		tx, err := st.Begin(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return tx.(*Txn)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(tx *Txn) {
		t.Helper()
		must(tx.LockSpace(ctx, sp, kv.AccessShare, kv.LockOpt{}))
		if _, err := tx.Get(ctx, sp, []byte("k")); !errors.Is(err, kv.ErrNotFound) { // the engine has no data
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		opt  kv.BeginOpt
		do   func(tx *Txn)
		open bool // the transaction has not ended
		want bool
	}{
		{name: "nothing", do: func(*Txn) {}, want: true},
		{name: "reading", do: read, want: true},
		{name: "reading, not ended", do: read, open: true},
		{name: "reading, serializable", opt: kv.BeginOpt{Isolation: kv.Serializable}, do: read},
		{name: "writing", do: func(tx *Txn) { must(tx.Put(sp, []byte("k"), []byte("v"))) }},
		{name: "row lock", do: func(tx *Txn) {
			_, err := tx.LockKeys(ctx, sp, kv.LockOpt{}, []byte("k"))
			must(err)
		}},
	} {
		old := begin(tt.opt)
		tt.do(old)
		if !tt.open {
			old.Rollback()
		}
		tx := begin(kv.BeginOpt{Client: 7, Spent: old})
		if got := tx == old; got != tt.want {
			t.Errorf("%s: made of it: %v", tt.name, got)
		}
		if tx.done.Load() || tx.client != 7 || tx.opt.Spent != nil || len(tx.tables) != 0 {
			t.Errorf("%s: something is left of the old transaction", tt.name)
		}
		read(tx)
		must(tx.Commit(ctx))
		old.Rollback()
		other := begin(kv.BeginOpt{})
		if err := other.LockSpace(ctx, sp, kv.AccessExclusive, kv.LockOpt{}); err != nil {
			t.Errorf("%s: a lock is left: %v", tt.name, err)
		}
		other.Rollback()
	}
}
