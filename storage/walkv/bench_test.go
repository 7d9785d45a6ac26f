package walkv_test

import (
	"encoding/binary"
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

// BenchmarkCommit is the commit of one transaction that changes a row in each of
// four spaces, on trees with 100,000 keys, without waiting for the disk.
func BenchmarkCommit(b *testing.B) {
	st := open(b, b.TempDir(), boltkv.Options{NoSync: true, MmapBytes: 1 << 30, Log: walkv.Options{MemBytes: 1 << 30}})
	var spaces []kv.Space
	for i := range 4 {
		spaces = append(spaces, kv.Space{ID: uint64(i + 1), DB: "db", File: string(rune('a' + i))})
	}
	val := make([]byte, 100)
	key := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)*2654435761) }
	must(b, update(st, func(tx kv.Txn) error {
		for _, sp := range spaces {
			if err := tx.CreateSpace(sp); err != nil {
				return err
			}
		}
		return nil
	}))
	for n := 0; n < 100_000; n += 500 {
		must(b, update(st, func(tx kv.Txn) error {
			for i := range 500 {
				if err := tx.Put(spaces[i%4], key(n+i), val); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		must(b, update(st, func(tx kv.Txn) error {
			for _, sp := range spaces {
				if err := tx.Put(sp, key(n%100_000), val); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}
