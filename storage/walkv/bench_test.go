package walkv_test

import (
	"encoding/binary"
	"fmt"
	"math"
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

// BenchmarkCommitDeletes is the commit, on disk, of one transaction that deletes 60,000
// rows of 600,000, each of 200 bytes and from all over the file, with their entries in
// three indexes: at once, and by the log.
func BenchmarkCommitDeletes(b *testing.B) {
	const all, part = 600_000, 10
	for _, direct := range []int{512 << 10, 4 << 20} {
		b.Run(fmt.Sprintf("direct=%dKiB", direct>>10), func(b *testing.B) {
			st := open(b, b.TempDir(), boltkv.Options{MmapBytes: min(4<<30, math.MaxInt/2), Log: walkv.Options{DirectBytes: direct}})
			var spaces []kv.Space
			for i := range 4 {
				spaces = append(spaces, kv.Space{ID: uint64(i + 1), DB: "db", File: fmt.Sprint("file", i)})
				must(b, update(st, func(tx kv.Txn) error { return tx.CreateSpace(spaces[i]) }))
			}
			key := func(i, file int) []byte {
				id := binary.BigEndian.AppendUint64(nil, uint64(i))
				if file == 0 {
					return id
				}
				return append(binary.BigEndian.AppendUint64(nil, uint64(i*[]int{7919, 104729, 31}[file-1]%all)), id...)
			}
			row, entry := make([]byte, 200), make([]byte, 5)
			fill := func() {
				must(b, update(st, func(tx kv.Txn) error {
					for i := range all {
						for k, sp := range spaces {
							val := entry
							if k == 0 {
								val = row
							}
							if err := tx.Put(sp, key(i, k), val); err != nil {
								return err
							}
						}
					}
					return nil
				}))
			}
			fill()
			for n := 0; b.Loop(); n++ {
				if n > 0 && n%(part-1) == 0 {
					b.StopTimer()
					fill()
					b.StartTimer()
				}
				must(b, update(st, func(tx kv.Txn) error {
					for i := n % (part - 1); i < all; i += part {
						for k, sp := range spaces {
							if err := tx.Delete(sp, key(i, k)); err != nil {
								return err
							}
						}
					}
					return nil
				}))
			}
		})
	}
}
