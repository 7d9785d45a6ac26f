package txn

import (
	"fmt"
	"runtime"
	"testing"

	"kvsqld/storage/kv"
)

// TestPruneBesideChanges: old changes are forgotten while a snapshot is opened and a key
// changes, in a shard that the pruning comes to after that. Who has the snapshot must
// learn of the change (T5).
func TestPruneBesideChanges(t *testing.T) {
	_, st := newFake(t, Options{})
	last := &st.locks.shards[numShards-1]
	var key []byte
	for n := 0; key == nil || &st.locks.shards[st.locks.hash(sp.ID, key)%numShards] != last; n++ {
		key = fmt.Append(nil, n)
	}
	for range 50 {
		changeBesidePrune(t, st, key)
	}
}

func changeBesidePrune(t *testing.T, st *Store, key []byte) {
	st.locks.shards[0].mu.Lock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		st.locks.prune() // waits for the first shard
	}()
	for range 20 {
		runtime.Gosched()
	}
	reader, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	reader.Seq()
	if err := commitOne(st, string(key)); err != nil {
		t.Fatal(err)
	}
	st.locks.shards[0].mu.Unlock()
	<-done
	res, err := reader.LockKeys(ctx, sp, kv.LockOpt{NoValue: true}, key)
	if err != nil {
		t.Fatal(err)
	}
	if !res[0].Changed {
		t.Fatal("the change was forgotten")
	}
}
