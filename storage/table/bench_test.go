package table_test

import (
	"errors"
	"fmt"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

func benchColumns() []catalog.Column {
	return []catalog.Column{
		tabletest.Col("id", types.TInt8), tabletest.Col("name", types.TText), tabletest.Col("amount", numeric(12, 2)),
		tabletest.Col("day", types.TDate), tabletest.Col("note", types.TText),
	}
}

// benchBatch has n rows with ids from first.
func benchBatch(b *vec.Batch, first, n int) {
	if b.Cols == nil {
		for _, c := range benchColumns() {
			b.Cols = append(b.Cols, codec.NewVec(c.Type, n))
		}
		for i := range n {
			b.Cols[1].B[i] = fmt.Appendf(nil, "name %d", i*7919%n)
			b.Cols[2].I64[i] = int64(i * 100)
			b.Cols[3].I64[i] = int64(i % 3000)
			b.Cols[4].B[i] = []byte("a note of an ordinary length")
		}
	}
	b.N = n
	for i := range n {
		b.Cols[0].I64[i] = int64(first + i)
	}
}

// load inserts rows in transactions of 100,000.
func load(b *testing.B, db *tabletest.DB, d *table.Desc, rows int) {
	const chunk = 1024
	var batch vec.Batch
	for done := 0; done < rows; {
		db.Tx(func(tx table.Txn) error {
			w := d.NewWriter(tx)
			for end := min(rows, done+100_000); done < end; done += chunk {
				benchBatch(&batch, done, chunk)
				if _, err := w.Insert(ctx, &batch, nil, table.InsertOpt{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func BenchmarkInsert(b *testing.B) {
	for _, tt := range []struct {
		name  string
		pk    []int
		index bool
	}{{"heap", nil, false}, {"heap and index", nil, true}, {"key", []int{0}, false}, {"key and index", []int{0}, true}} {
		b.Run(tt.name, func(b *testing.B) {
			db := tabletest.Open(b)
			db.NoCheck = true
			var ixs []*catalog.Index
			if tt.index {
				ixs = append(ixs, tabletest.Index("by_name", false, 1))
			}
			d := db.Create("t", benchColumns(), tt.pk, ixs...)
			b.ResetTimer()
			load(b, db, d, b.N)
		})
	}
}

// discard is a transaction whose writes go nowhere: what remains is the cost of
// this package.
type discard struct{ kv.Txn }

func (discard) Put(kv.Space, []byte, []byte, ...kv.Flag) error { return nil }

func BenchmarkInsertWithoutEngine(b *testing.B) {
	db := tabletest.Open(b)
	d := db.Create("t", benchColumns(), nil, tabletest.Index("by_name", false, 1))
	var batch vec.Batch
	db.Tx(func(tx table.Txn) error {
		w := d.NewWriter(discard{tx})
		b.ResetTimer()
		for i := 0; i < b.N; i += 1024 {
			benchBatch(&batch, i, 1024)
			if _, err := w.Insert(ctx, &batch, nil, table.InsertOpt{}); err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkScan(b *testing.B) {
	const rows = 200 * 1024
	for name, open := range tabletest.Engines {
		db := tabletest.OpenStore(b, open(b))
		db.NoCheck = true
		d := db.Create("t", benchColumns(), []int{0}, tabletest.Index("by_day", false, 3))
		load(b, db, d, rows)
		snap, err := db.Store().Snapshot(ctx)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(snap.Close)
		for what, spec := range map[string]*table.ScanSpec{
			"two columns": {Cols: []int{2, 3}}, "count": {}, "index": {Index: d.Table.Indexes[1], Cols: []int{2, 3}},
			"index only": {Index: d.Table.Indexes[1], Cols: []int{3}, IndexOnly: true},
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				for n := 0; n < b.N; {
					s, err := d.Scan(ctx, snap, spec)
					if err != nil {
						b.Fatal(err)
					}
					var batch vec.Batch
					for {
						if err := s.Next(&batch); err != nil {
							b.Fatal(err)
						}
						if n += batch.N; batch.N == 0 || n >= b.N {
							break
						}
					}
					s.Close()
				}
			})
		}
		b.Run(name+"/point", func(b *testing.B) {
			b.ReportAllocs()
			var batch vec.Batch
			key := []types.Datum{types.Int(types.TInt8, 0)}
			for i := range b.N {
				key[0].I = int64(i*7919) % rows
				if ok, err := d.PointGet(ctx, snap, nil, key, []int{0, 1, 2}, nil, &batch); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkBuildIndex(b *testing.B) {
	const rows = 400 * 1024
	db := tabletest.Open(b)
	db.NoCheck = true
	ix := tabletest.Index("by_amount", false, 2)
	d := db.Create("t", benchColumns(), []int{0}, ix)
	load(b, db, d, rows)
	undo := errors.New("not to be kept")
	b.ResetTimer()
	for n := 0; n < b.N; n += rows {
		if err := db.TryTx(func(tx table.Txn) error {
			if err := d.BuildIndex(ctx, tx, ix, nil); err != nil {
				return err
			}
			return undo
		}); !errors.Is(err, undo) {
			b.Fatal(err)
		}
	}
}

// BenchmarkEntryFilter reads a range of two columns' index, and few of its rows.
func BenchmarkEntryFilter(b *testing.B) {
	const rows = 100 * 1024
	db := tabletest.Open(b)
	db.NoCheck = true
	ix := tabletest.Index("by_day_and_amount", false, 3, 2)
	d := db.Create("t", benchColumns(), []int{0}, ix)
	load(b, db, d, rows)
	snap, err := db.Store().Snapshot(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(snap.Close)
	spec := &table.ScanSpec{Index: ix, Cols: []int{0, 1}, EntryCols: []int{3, 2}, EntryFilter: func(e *vec.Batch) error {
		e.Sel = e.Sel[:0]
		for i, v := range e.Cols[1].I64[:e.N] {
			if v%10_000 == 0 {
				e.Sel = append(e.Sel, uint32(i))
			}
		}
		if e.Sel == nil {
			e.Sel = []uint32{}
		}
		return nil
	}}
	b.ResetTimer()
	for n := 0; n < b.N; n += rows {
		s, err := d.Scan(ctx, snap, spec)
		if err != nil {
			b.Fatal(err)
		}
		var batch vec.Batch
		for more := true; more; more = batch.N > 0 {
			if err := s.Next(&batch); err != nil {
				b.Fatal(err)
			}
		}
		s.Close()
	}
}
