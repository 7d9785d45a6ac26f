package table_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/boltkv"
	"kvsqld/storage/codec"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// BenchmarkLayout reads and writes the same rows in the row layout and in the column
// layout: of nine columns, 60 bytes each, and of 61 columns, 500 bytes. cpu-ns/row is
// the thread's processor time.
func BenchmarkLayout(b *testing.B) {
	benchLayout(b, "narrow", 4, 100*1024)
	benchLayout(b, "wide", 30, 20*1024)
}

// benchLayout measures tables with a key and as many numbers and texts, NOT NULL.
func benchLayout(b *testing.B, name string, pairs, rows int) {
	cols := []catalog.Column{tabletest.Col("id", types.TInt8)}
	var all []int
	for i := range pairs {
		cols = append(cols, tabletest.Col(fmt.Sprint("n", i), types.TInt4), tabletest.Col(fmt.Sprint("c", i), types.TText))
	}
	for c := range cols {
		cols[c].NotNull = true
		all = append(all, c)
	}
	batch := func(out *vec.Batch, first, n int) {
		if out.Cols == nil {
			for _, c := range cols {
				out.Cols = append(out.Cols, codec.NewVec(c.Type, n))
			}
			for c := 1; c < len(cols); c++ {
				for i := range n {
					if v := out.Cols[c]; cols[c].Type == types.TText {
						v.B[i] = fmt.Appendf(nil, "text %d", i*7919%n)
					} else {
						v.I64[i] = int64(i * c)
					}
				}
			}
		}
		out.N = n
		for i := range n {
			out.Cols[0].I64[i] = int64(first + i)
		}
	}
	for _, layout := range []string{"row", "column"} {
		st, err := boltkv.Open(b.TempDir(), boltkv.Options{NoSync: true}) // with a server's room for the mapped file
		if err != nil {
			b.Fatal(err)
		}
		db := tabletest.OpenStore(b, st)
		db.NoCheck = true
		var d *table.Desc
		if layout == "row" {
			d = db.Create("t", cols, []int{0})
		} else {
			d = db.CreateColumns("t", nil, cols, []int{0})
		}
		db.Tx(func(tx table.Txn) error {
			w := d.NewWriter(tx)
			var in vec.Batch
			for done := 0; done < rows; done += 1024 {
				batch(&in, done, 1024)
				if _, err := w.Insert(ctx, &in, nil, table.InsertOpt{}); err != nil {
					return err
				}
			}
			return nil
		})
		snap, err := db.Store().Snapshot(ctx)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(snap.Close)
		measure := func(what string, f func(n int) int) {
			b.Run(name+"/"+layout+"/"+what, func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				b.ReportAllocs()
				began := clock(b, unix.CLOCK_THREAD_CPUTIME_ID)
				n := 0
				for n < b.N {
					n += f(b.N - n)
				}
				b.ReportMetric(float64(clock(b, unix.CLOCK_THREAD_CPUTIME_ID)-began)/float64(n), "cpu-ns/row")
			})
		}
		for _, tt := range []struct {
			name string
			cols []int
		}{{"scan of one column", []int{3}}, {"scan of two columns", []int{3, 6}}, {"scan of all columns", all}} {
			measure(tt.name, func(most int) (n int) {
				s, err := d.Scan(ctx, snap, &table.ScanSpec{Cols: tt.cols, NotNull: true})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				var out vec.Batch
				for {
					if err := s.Next(&out); err != nil {
						b.Fatal(err)
					}
					if n += out.N; out.N == 0 || n >= most {
						return n
					}
				}
			})
		}
		key := []types.Datum{types.Int(types.TInt8, 0)}
		var out vec.Batch
		for _, tt := range []struct {
			name string
			cols []int
		}{{"row of two columns", []int{3, 6}}, {"row of all columns", all}} {
			measure(tt.name, func(most int) int {
				for i := range most {
					key[0].I = int64(i * 7919 % rows)
					if ok, err := d.PointGet(ctx, snap, nil, key, tt.cols, nil, &out); !ok || err != nil {
						b.Fatal(ok, err)
					}
				}
				return most
			})
		}
		loaded := rows
		measure("load", func(most int) (n int) {
			db.Tx(func(tx table.Txn) error {
				w := d.NewWriter(tx)
				var in vec.Batch
				for n < min(most, rows) {
					batch(&in, loaded, 1024)
					if _, err := w.Insert(ctx, &in, nil, table.InsertOpt{}); err != nil {
						return err
					}
					n, loaded = n+1024, loaded+1024
				}
				return nil
			})
			return n
		})
	}
}

// clock reads a clock of the system.
func clock(b testing.TB, id int32) time.Duration {
	b.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
