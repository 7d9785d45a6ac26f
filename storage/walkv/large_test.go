package walkv_test

import (
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
