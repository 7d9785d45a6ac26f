package walkv_test

import (
	"encoding/binary"
	"fmt"
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

// BenchmarkCommitMany is the commit of one transaction that puts 10,000 rows and
// their entries in an index, all over its 500,000 keys, by the log and at once.
func BenchmarkCommitMany(b *testing.B) {
	for _, direct := range []int{512 << 10, 4 << 20} {
		b.Run(fmt.Sprintf("direct=%dKiB", direct>>10), func(b *testing.B) {
			st := open(b, b.TempDir(), boltkv.Options{NoSync: true, MmapBytes: 1 << 30, Log: walkv.Options{DirectBytes: direct}})
			rows, index := kv.Space{ID: 1, DB: "db", File: "rows"}, kv.Space{ID: 2, DB: "db", File: "index"}
			must(b, update(st, func(tx kv.Txn) error {
				if err := tx.CreateSpace(rows); err != nil {
					return err
				}
				return tx.CreateSpace(index)
			}))
			row, entry := make([]byte, 40), make([]byte, 5)
			put := func(from, n int) {
				must(b, update(st, func(tx kv.Txn) error {
					for i := from; i < from+n; i++ {
						id := binary.BigEndian.AppendUint64(nil, uint64(i))
						if err := tx.Put(rows, id, row); err != nil {
							return err
						}
						a := binary.BigEndian.AppendUint32(nil, uint32(i*7919%10007))
						if err := tx.Put(index, append(a, id...), entry); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			put(0, 500_000)
			for n := 500_000; b.Loop(); n += 10_000 {
				put(n, 10_000)
			}
		})
	}
}
