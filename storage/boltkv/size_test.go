package boltkv_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
)

// TestSpaceIsReused updates the same rows for long while short reads go on:
// the pages of old versions are used again, because neither finished reads nor
// the cached snapshot keep them.
func TestSpaceIsReused(t *testing.T) {
	st := open(t, t.TempDir(), boltkv.Options{NoSync: true})
	must(t, create(st))
	const rows = 500
	val := make([]byte, 1000)
	key := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i%rows)) }
	must(t, update(st, func(tx kv.Txn) error {
		for i := range rows {
			if err := tx.Put(table, key(i), val); err != nil {
				return err
			}
		}
		return nil
	}))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				value(t, st, string(key(i)))
			}
		}
	})
	var early int64
	for i := range 6000 {
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, key(i*7), val) }))
		if i == 500 {
			early = st.Stats().FileBytes
		}
	}
	close(stop)
	wg.Wait()
	s := st.Stats()
	if s.FileBytes > 2*early {
		t.Errorf("the file grew from %d to %d bytes", early, s.FileBytes)
	}
	if s.OpenSnapshots != 0 || s.Commits != 6002 {
		t.Errorf("stats are %+v", s)
	}
}
