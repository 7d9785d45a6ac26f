package kvtest

import (
	"fmt"
	"slices"
	"testing"

	"kvsqld/storage/kv"
)

// testViews reads what a transaction saw at one moment, while it and others go on.
func testViews(t *testing.T, st kv.Store) {
	for _, iso := range []kv.Isolation{kv.ReadCommitted, kv.RepeatableRead, kv.Serializable} {
		sp, cleared := newSpace(t, st), newSpace(t, st)
		for i := range 3000 {
			if i%1000 == 0 {
				put(t, st, cleared, fmt.Sprint(i), "old")
			}
		}
		update(t, st, func(tx kv.Txn) {
			for i := range 3000 {
				must(t, tx.Put(sp, fmt.Appendf(nil, "k%04d", i), []byte("old")))
			}
		})
		tx := begin(t, st, kv.BeginOpt{Isolation: iso})
		must(t, tx.Put(sp, []byte("k0001"), []byte("mine")))
		must(t, tx.Delete(sp, []byte("k0002")))
		must(t, tx.Put(sp, []byte("k0001a"), []byte("mine")))
		v, err := tx.View()
		must(t, err)
		want := all(t, tx, sp, kv.Range{}, kv.ScanOpt{})
		it := v.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
		got := pairsOf(t, it)

		put(t, st, sp, "k0003", "theirs")
		put(t, st, sp, "k0003a", "theirs")
		must(t, tx.Refresh(ctx))
		for _, k := range []string{"k0001", "k0002", "k0004", "k0005"} {
			must(t, tx.Put(sp, []byte(k), []byte("later")))
		}
		must(t, tx.ClearSpace(cleared))
		mark := tx.Savepoint()
		must(t, tx.Put(sp, []byte("k2999"), []byte("undone")))
		must(t, tx.Delete(sp, []byte("k0001a")))
		if !v.Rewritten(sp, []byte("k0001a")) {
			t.Error("a delete is no change")
		}
		tx.RollbackTo(mark)
		must(t, tx.Put(sp, []byte("k2998"), []byte("later")))

		for more := pairsOf(t, it); len(more) > 0; more = pairsOf(t, it) {
			got = append(got, more...)
		}
		it.Close()
		if !slices.Equal(got, want) {
			t.Errorf("an open iterator has found %d pairs, want %d", len(got), len(want))
		}
		if got := all(t, v, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, want) {
			t.Errorf("the view has %d pairs, want %d", len(got), len(want))
		}
		wantValue(t, v, sp, "k0001", "mine")
		wantValue(t, v, sp, "k0002", "")
		wantValue(t, v, sp, "k0003", "old")
		wantValue(t, v, sp, "k0004", "old")
		wantValue(t, tx, sp, "k0004", "later")
		wantValue(t, v, cleared, "1000", "old")
		wantValue(t, tx, cleared, "1000", "")
		for k, want := range map[string]bool{"k0000": false, "k0001": true, "k0001a": false, "k0002": true, "k0003": false, "k0004": true, "k2998": true, "k2999": false} {
			if v.Rewritten(sp, []byte(k)) != want {
				t.Errorf("rewritten(%s) is not %v", k, want)
			}
		}
		if !v.Rewritten(cleared, []byte("1000")) {
			t.Error("a cleared key is not rewritten")
		}
		if iso == kv.ReadCommitted {
			must(t, v.Renew())
			wantValue(t, v, sp, "k0003", "theirs")
			wantValue(t, v, sp, "k0001", "mine")
			wantValue(t, v, sp, "k0004", "old")
			must(t, tx.Commit(ctx)) // with an open view
		} else {
			tx.Rollback()
		}
		_, err = v.Get(ctx, sp, []byte("k0000"))
		wantErr(t, err, kv.ErrTxnDone)
		v.Close()
	}
	if n := st.Stats().OpenSnapshots; n != 0 {
		t.Errorf("%d snapshots are open", n)
	}
}

// pairsOf returns the next chunk, as all has it.
func pairsOf(t *testing.T, it kv.Iter) (out []string) {
	t.Helper()
	ps, err := it.Next()
	must(t, err)
	for _, p := range ps {
		out = append(out, string(p.Key)+"="+string(p.Val))
	}
	return out
}

// testEnteredView has a transaction lock and write as of a view.
func testEnteredView(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	for _, k := range []string{"a", "b", "c", "d"} {
		put(t, st, sp, k, "old")
	}
	tx := begin(t, st, kv.BeginOpt{})
	must(t, tx.Put(sp, []byte("b"), []byte("mine")))
	v, err := tx.View()
	must(t, err)
	defer v.Close()
	put(t, st, sp, "c", "theirs")
	must(t, tx.Refresh(ctx))
	must(t, tx.Put(sp, []byte("d"), []byte("later")))
	for _, k := range []string{"a", "c"} {
		if r, err := lock(tx, sp, kv.LockOpt{}, k); err != nil || r.Changed {
			t.Errorf("%s: %v, %v", k, r, err)
		}
	}
	leave := v.Enter()
	for k, want := range map[string]bool{"a": false, "b": false, "c": true} {
		if r, err := lock(tx, sp, kv.LockOpt{NoValue: true}, k); err != nil || r.Changed != want {
			t.Errorf("as of the view %s: %v, %v", k, r, err)
		}
	}
	wantValue(t, tx, sp, "d", "old")
	mark := tx.Savepoint()
	must(t, tx.Put(sp, []byte("c"), []byte("theirs"), kv.Private))
	r := tx.Detach(mark)
	tx.Release(mark)
	want := []string{"a=old", "b=mine", "c=theirs", "d=old"}
	if got := all(t, r, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, want) {
		t.Errorf("the reader sees %q", got)
	}
	leave()
	must(t, tx.Put(sp, []byte("e"), []byte("later")))
	if got := all(t, r, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, want) {
		t.Errorf("behind the view the reader sees %q", got)
	}
	want[2] = "c=old"
	if got := all(t, v, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, want) {
		t.Errorf("the view is %q", got)
	}
	if got := all(t, tx, sp, kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, []string{"a=old", "b=mine", "c=theirs", "d=later", "e=later"}) {
		t.Errorf("the transaction sees %q", got)
	}
	must(t, tx.Commit(ctx))
	if got := current(t, st, sp, "d"); got != "later" {
		t.Errorf("d is %q", got)
	}
}
