package boltkv_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/zeebo/xxh3"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
)

// BenchmarkCheckedScan scans pairs of 9 and 64 bytes with the checksum of a row: not
// compared, compared for each pair, and by the engine, which compares those of pages
// where all pairs have passed long ago, and none where they have just now.
func BenchmarkCheckedScan(b *testing.B) {
	const n = 100_000
	st := open(b, b.TempDir(), boltkv.Options{NoSync: true})
	must(b, create(st))
	must(b, update(st, func(tx kv.Txn) error {
		for i := range uint64(n) {
			key := binary.BigEndian.AppendUint64([]byte{1}, i)
			val := fmt.Appendf(nil, "%060d", i)
			val = binary.LittleEndian.AppendUint32(val, uint32(xxh3.HashSeed(val, xxh3.Hash(key))))
			if err := tx.Put(table, key, val); err != nil {
				return err
			}
		}
		return nil
	}))
	check := func(ps []kv.Pair) error {
		for _, p := range ps {
			body := p.Val[:len(p.Val)-4]
			if uint32(xxh3.HashSeed(body, xxh3.Hash(p.Key))) != binary.LittleEndian.Uint32(p.Val[len(body):]) {
				return kv.ErrCorrupt
			}
		}
		return nil
	}
	nothing := func([]kv.Pair) error { return nil }
	s, err := st.Snapshot(ctx)
	must(b, err)
	defer s.Close()
	for _, m := range []struct {
		name     string
		own, opt func([]kv.Pair) error
		later    bool
	}{
		{"none", nothing, nil, false},
		{"pairs", check, nil, false},
		{"again", nothing, check, false},
		{"later", nothing, check, true},
	} {
		b.Run(m.name, func(b *testing.B) {
			for b.Loop() {
				if m.later {
					boltkv.PassTime(kv.CheckAgain)
				}
				it := s.Scan(ctx, table, kv.Range{}, kv.ScanOpt{Check: m.opt})
				for {
					ps, err := it.Next()
					must(b, err)
					must(b, m.own(ps))
					if len(ps) == 0 {
						break
					}
				}
				it.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/pair")
		})
	}
}
