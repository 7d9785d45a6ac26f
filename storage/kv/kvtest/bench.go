package kvtest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"kvsqld/storage/kv"
)

// Bench runs the benchmarks. The space has rows of 8-byte keys and 100-byte
// values; open is that of Run.
func Bench(b *testing.B, open func(b *testing.B) kv.Store) {
	for _, bb := range []struct {
		name string
		f    func(b *testing.B, st kv.Store)
	}{
		{"Get", benchGet},
		{"GetInTxn", benchGetInTxn},
		{"BatchGet", benchBatchGet},
		{"Scan", benchScan},
		{"ScanOverlay", benchScanOverlay},
		{"TableLock", benchTableLock},
		{"Put", benchPut},
		{"PutLocked", benchPutLocked},
		{"Commit1", func(b *testing.B, st kv.Store) { benchCommit(b, st, 1) }},
		{"Commit8", func(b *testing.B, st kv.Store) { benchCommit(b, st, 8) }},
		{"BulkLoad", benchBulkLoad},
	} {
		b.Run(bb.name, func(b *testing.B) { bb.f(b, open(b)) })
	}
}

const benchRows = 200_000

var benchValue = make([]byte, 100)

func intKey(buf []byte, i int) []byte { return binary.BigEndian.AppendUint64(buf[:0], uint64(i)) }

// fill makes a space with benchRows rows.
func fill(b *testing.B, st kv.Store) kv.Space {
	b.Helper()
	sp := newSpace(b, st)
	var buf [8]byte
	update(b, st, func(tx kv.Txn) {
		for i := range benchRows {
			must(b, tx.Put(sp, intKey(buf[:], i), benchValue, kv.Covered))
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	return sp
}

// benchGet reads one random row in a transaction of its own.
func benchGet(b *testing.B, st kv.Store) {
	sp := fill(b, st)
	r := rand.New(rand.NewPCG(1, 1))
	var buf [8]byte
	for b.Loop() {
		tx, err := st.Begin(ctx, kv.BeginOpt{ReadOnly: true})
		must(b, err)
		_, err = tx.Get(ctx, sp, intKey(buf[:], r.IntN(benchRows)))
		must(b, err)
		tx.Rollback()
	}
}

func benchGetInTxn(b *testing.B, st kv.Store) {
	sp := fill(b, st)
	r := rand.New(rand.NewPCG(1, 1))
	var buf [8]byte
	tx := begin(b, st, kv.BeginOpt{ReadOnly: true})
	for b.Loop() {
		_, err := tx.Get(ctx, sp, intKey(buf[:], r.IntN(benchRows)))
		must(b, err)
	}
	tx.Rollback()
}

// benchBatchGet reads 512 rows out of 2,048 neighbours, in order; one op is
// one row.
func benchBatchGet(b *testing.B, st kv.Store) {
	sp := fill(b, st)
	tx := begin(b, st, kv.BeginOpt{ReadOnly: true})
	keys := make([][]byte, 512)
	for i := range keys {
		keys[i] = intKey(nil, 50_000+4*i)
	}
	for n := 0; n < b.N; n += len(keys) {
		_, err := tx.BatchGet(ctx, sp, keys)
		must(b, err)
	}
	tx.Rollback()
}

// scanRows reads all rows again and again until n are read.
func scanRows(b *testing.B, tx kv.Txn, sp kv.Space) {
	sum := 0
	for n := 0; n < b.N; {
		it := tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
		for {
			ps, err := it.Next()
			must(b, err)
			if len(ps) == 0 {
				break
			}
			for i := range ps {
				sum += int(ps[i].Val[0])
			}
			n += len(ps)
		}
		it.Close()
	}
	tx.Rollback()
}

// benchScan touches one byte of each value; one op is one row.
func benchScan(b *testing.B, st kv.Store) {
	sp := fill(b, st)
	scanRows(b, begin(b, st, kv.BeginOpt{ReadOnly: true}), sp)
}

// benchScanOverlay is the same with every tenth row changed by the
// transaction.
func benchScanOverlay(b *testing.B, st kv.Store) {
	sp := fill(b, st)
	tx := begin(b, st, kv.BeginOpt{})
	var buf [8]byte
	for i := 0; i < benchRows; i += 10 {
		must(b, tx.Put(sp, intKey(buf[:], i), benchValue, kv.Covered))
	}
	b.ResetTimer()
	scanRows(b, tx, sp)
}

func benchTableLock(b *testing.B, st kv.Store) {
	sp := newSpace(b, st)
	b.ReportAllocs()
	for b.Loop() {
		tx, err := st.Begin(ctx, kv.BeginOpt{ReadOnly: true})
		must(b, err)
		must(b, tx.LockSpace(ctx, sp, kv.AccessShare, forever))
		tx.Rollback()
	}
}

// benchPut buffers a row and an unsorted index entry per op and reads the
// index once at the end; nothing is committed.
func benchPut(b *testing.B, st kv.Store) {
	table, index := newSpace(b, st), newSpace(b, st)
	tx := begin(b, st, kv.BeginOpt{})
	r := rand.New(rand.NewPCG(1, 1))
	var k, x [8]byte
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		must(b, tx.Put(table, intKey(k[:], i), benchValue, kv.Covered))
		must(b, tx.Put(index, intKey(x[:], r.IntN(math.MaxInt)), k[:], kv.Covered))
	}
	get(b, tx, index, "absent")
	tx.Rollback()
}

// benchPutLocked buffers rows under their own locks.
func benchPutLocked(b *testing.B, st kv.Store) {
	sp := newSpace(b, st)
	tx := begin(b, st, kv.BeginOpt{})
	var k [8]byte
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		must(b, tx.Put(sp, intKey(k[:], i), benchValue))
	}
	tx.Rollback()
}

// benchCommit commits single random rows from several clients.
func benchCommit(b *testing.B, st kv.Store, clients int) {
	sp := fill(b, st)
	var wg sync.WaitGroup
	for c := range clients {
		n := b.N / clients
		if c < b.N%clients {
			n++
		}
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			var buf [8]byte
			for range n {
				tx, err := st.Begin(ctx, kv.BeginOpt{})
				if err == nil {
					k := intKey(buf[:], r.IntN(benchRows))
					if _, err = tx.LockKeys(ctx, sp, kv.LockOpt{Wait: kv.WaitForever}, k); err == nil {
						err = tx.Put(sp, k, benchValue)
					}
				}
				if err == nil {
					err = tx.Commit(ctx)
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := st.Stats()
	b.ReportMetric(float64(s.Commits)/float64(s.Batches), "commits/batch")
}

// benchBulkLoad commits rows and their unsorted index entries in transactions
// of 500,000 rows; one op is one row with its entry.
func benchBulkLoad(b *testing.B, st kv.Store) {
	table, index := newSpace(b, st), newSpace(b, st)
	r := rand.New(rand.NewPCG(1, 1))
	var k, x [8]byte
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; {
		update(b, st, func(tx kv.Txn) {
			for range min(500_000, b.N-i) {
				must(b, tx.Put(table, intKey(k[:], i), benchValue, kv.Covered))
				must(b, tx.Put(index, intKey(x[:], r.IntN(math.MaxInt)), k[:], kv.Covered))
				i++
			}
		})
	}
}
