package walkv_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

// TestLargeBatchIsMovedSoon: a large batch does not stay in the log as long as others,
// also behind a small one.
func TestLargeBatchIsMovedSoon(t *testing.T) {
	st := open(t, t.TempDir(), boltkv.Options{NoSync: true, Log: walkv.Options{Interval: time.Hour, LargeBytes: 1000, LargeInterval: time.Millisecond}})
	sp := kv.Space{ID: 1, DB: "db", File: "t"}
	put := func(key string, size int) {
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(sp, []byte(key), make([]byte, size)) }))
	}
	must(t, update(st, func(tx kv.Txn) error { return tx.CreateSpace(sp) }))
	for n := range uint64(3) {
		put("small", 10)
		put("large", 1000)
		for st.Stats().Checkpoints.Timed <= n {
			runtime.Gosched() // until the timer has done it, or the test takes too long
		}
	}
	put("small", 20)
	sn, err := st.Snapshot(ctx)
	must(t, err)
	defer sn.Close()
	if v, err := sn.Get(ctx, sp, []byte("large")); err != nil || len(v) != 1000 {
		t.Errorf("%d bytes, %v", len(v), err)
	}
}

// TestPassedDeletionsAreMovedSoon: a scan that passes many deletions has them moved, also
// when a scan of an older state came by them before, and one that passes few does not.
func TestPassedDeletionsAreMovedSoon(t *testing.T) {
	st := open(t, t.TempDir(), boltkv.Options{NoSync: true, Log: walkv.Options{Interval: time.Hour, LargeInterval: time.Millisecond}})
	sp := kv.Space{ID: 1, DB: "db", File: "t"}
	must(t, update(st, func(tx kv.Txn) error { return tx.CreateSpace(sp) }))
	key := func(i int) []byte { return fmt.Appendf(nil, "key%05d", i) }
	const rows = 2000
	must(t, update(st, func(tx kv.Txn) error {
		for i := range rows {
			must(t, tx.Put(sp, key(i), []byte("value")))
		}
		return nil
	}))
	first := func(sn kv.Snapshot) string {
		t.Helper()
		sc := sn.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{Limit: 1})
		defer sc.Close()
		ps, err := sc.Next()
		must(t, err)
		return string(ps[0].Key)
	}
	take := func(from, to int) {
		for i := from; i < to; i++ {
			must(t, update(st, func(tx kv.Txn) error { return tx.Delete(sp, key(i)) }))
		}
	}
	newest := func() kv.Snapshot {
		sn, err := st.Snapshot(ctx)
		must(t, err)
		return sn
	}
	var old kv.Snapshot
	for n := range uint64(3) {
		from := int(n) * 500
		take(from, from+100)
		sn := newest()
		first(sn)
		sn.Close()
		if got := st.Stats().Checkpoints.Timed; got != n {
			t.Fatalf("%d moves after few deletions, want %d", got, n)
		}
		take(from+100, from+500)
		sn = newest()
		if old != nil {
			first(old) // of trees that have been moved
			old.Close()
		}
		if got, want := first(sn), string(key(from+500)); got != want {
			t.Errorf("the first key is %s, want %s", got, want)
		}
		for st.Stats().Checkpoints.Timed <= n {
			runtime.Gosched() // until the timer has done it, or the test takes too long
		}
		old = sn
	}
	old.Close()
}
