package table_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// countRows returns the number of rows under a search key of an index, and what
// finding them cost in the index's file.
func countRows(t *testing.T, db *tabletest.DB, d *table.Desc, ix *catalog.Index, key int64) (rows int, keys int64) {
	t.Helper()
	db.Tx(func(tx table.Txn) error {
		var st kv.Stats
		tx.SetStats(&st)
		spec := &table.ScanSpec{Index: ix, Ranges: []types.Range{{Eq: []types.Datum{types.Int(types.TInt4, key)}}}, Cols: []int{0}, IndexOnly: true}
		rows = len(tabletest.Rows(t, d, tx, spec))
		for _, sp := range st.Spaces() {
			if sp.File == ix.File {
				keys = st.File(sp).KeysRead.Load()
			}
		}
		return nil
	})
	return rows, keys
}

func insertInts(t *testing.T, d *table.Desc, tx table.Txn, from, n int, k int64) {
	t.Helper()
	rows := make([][]types.Datum, n)
	for i := range rows {
		rows[i] = []types.Datum{types.Int(types.TInt4, int64(from+i)), types.Int(types.TInt4, k)}
	}
	if _, err := d.NewWriter(tx).Insert(ctx, tabletest.Batch(d, rows...), nil, table.InsertOpt{}); err != nil {
		t.Fatal(err)
	}
}

func TestLongPostingList(t *testing.T) {
	const n = 40_000
	db := tabletest.Open(t)
	ix := tabletest.Inverted("p_k", 1)
	d := db.Create("p", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("k", types.TInt4)}, []int{0}, ix)
	db.Tx(func(tx table.Txn) error {
		for i := 0; i < n; i += 1000 {
			insertInts(t, d, tx, i, 1000, 7)
		}
		return nil
	})
	if err := d.Fold(ctx); err != nil {
		t.Fatal(err)
	}
	rows, keys := countRows(t, db, d, ix, 7)
	if rows != n || keys > n/100 {
		t.Fatalf("%d rows in %d keys, want %d in at most %d", rows, keys, n, n/100)
	}
	// Rows that go write one key each, and folding touches their chunk alone.
	db.Tx(func(tx table.Txn) error {
		var st kv.Stats
		tx.SetStats(&st)
		key := keyVec([]string{string(appendInt4(17_123))})
		old := tabletest.Batch(d, []types.Datum{types.Int(types.TInt4, 17_123), types.Int(types.TInt4, 7)})
		if err := d.NewWriter(tx).Delete(ctx, key, old, nil, nil, table.LockOpt{}); err != nil {
			t.Fatal(err)
		}
		for _, sp := range st.Spaces() {
			if w := st.File(sp).KeysWritten.Load(); w != 1 {
				t.Errorf("a deletion writes %d keys of %s", w, sp.File)
			}
		}
		return nil
	})
	if rows, _ := countRows(t, db, d, ix, 7); rows != n-1 {
		t.Fatalf("%d rows after a deletion", rows)
	}
	if err := d.Fold(ctx); err != nil {
		t.Fatal(err)
	}
	if rows, _ := countRows(t, db, d, ix, 7); rows != n-1 {
		t.Fatalf("%d rows after folding the deletion", rows)
	}
}

// appendInt4 is the row key of a table whose primary key is an int4.
// TestLongListsAreBuiltAsChunks builds an index of more entries than are sorted at
// once: its lists are chunks all the same, each of many rows.
func TestLongListsAreBuiltAsChunks(t *testing.T) {
	const rows, elements = 11_000, 100
	elems := make([]types.Datum, elements)
	for i := range elems {
		elems[i] = types.Int(types.TInt4, int64(i))
	}
	tags := types.NewArray(types.TInt4, []int{elements}, []int{1}, elems)
	db := tabletest.Open(t)
	d := db.Create("p", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("tags", tags.T)}, []int{0})
	db.Tx(func(tx table.Txn) error {
		for i := 0; i < rows; i += 1000 {
			batch := make([][]types.Datum, 1000)
			for k := range batch {
				batch[k] = []types.Datum{types.Int(types.TInt4, int64(i+k)), tags}
			}
			if _, err := d.NewWriter(tx).Insert(ctx, tabletest.Batch(d, batch...), nil, table.InsertOpt{}); err != nil {
				return err
			}
		}
		return nil
	})
	ix := tabletest.Inverted("p_tags", 1)
	ix.OID, ix.Space, ix.File = 20_000, 1000, "p_tags"
	tab := *d.Table
	tab.Indexes = append(slices.Clone(tab.Indexes), ix)
	wide, err := db.For(&tab)
	if err != nil {
		t.Fatal(err)
	}
	db.Tx(func(tx table.Txn) error {
		if err := wide.CreateIndex(tx, ix); err != nil {
			return err
		}
		if err := wide.BuildIndex(ctx, tx, ix, nil); err != nil {
			return err
		}
		return db.DB.Check(ctx, tx, []*catalog.Table{&tab}, nil, func(p table.Problem) { t.Error(p) })
	})
	got, keys := countRows(t, db, wide, ix, 7)
	if got != rows || keys > rows/100 {
		t.Errorf("a list of %d rows has %d in %d keys", rows, got, keys)
	}
	db.Tx(func(tx table.Txn) error { return wide.DropIndex(tx, ix) })
}

func appendInt4(v int32) []byte {
	u := uint32(v) ^ 1<<31
	return []byte{byte(u >> 24), byte(u >> 16), byte(u >> 8), byte(u)}
}

// Transactions that insert under the same key, and foldings in between, neither
// wait for each other nor lose anything.
func TestConcurrentPostings(t *testing.T) {
	const workers, each = 4, 60
	db := tabletest.Open(t)
	ix := tabletest.Inverted("q_k", 1)
	d := db.Create("q", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("k", types.TInt4)}, []int{0}, ix)
	var wg sync.WaitGroup
	errs := make(chan error, workers+1)
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range each {
				id := w*each + i
				errs2 := db.TryTx(func(tx table.Txn) error {
					rows := tabletest.Batch(d, []types.Datum{types.Int(types.TInt4, int64(id)), types.Int(types.TInt4, 1)})
					_, err := d.NewWriter(tx).Insert(ctx, rows, nil, table.InsertOpt{})
					return err
				})
				if errs2 == nil && i%3 == 0 {
					errs2 = db.TryTx(func(tx table.Txn) error {
						key := keyVec([]string{string(appendInt4(int32(id)))})
						if _, err := d.LockRows(ctx, tx, key.B, table.LockOpt{Wait: kv.WaitForever}); err != nil {
							return err
						}
						old := tabletest.Batch(d, []types.Datum{types.Int(types.TInt4, int64(id)), types.Int(types.TInt4, 1)})
						return d.NewWriter(tx).Delete(ctx, key, old, nil, nil, table.LockOpt{})
					})
				}
				if errs2 != nil {
					errs <- fmt.Errorf("worker %d, row %d: %w", w, i, errs2)
					return
				}
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for range 20 {
			if err := d.Fold(ctx); err != nil {
				errs <- err
			}
		}
	}()
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if rows, _ := countRows(t, db, d, ix, 1); rows != workers*each*2/3 {
		t.Fatalf("%d rows, want %d", rows, workers*each*2/3)
	}
}

// TestCheckComparesPostings takes a posting out of a list, adds one of a row that
// has another key, and one of a row that does not exist.
func TestCheckComparesPostings(t *testing.T) {
	db := tabletest.Open(t)
	db.NoCheck = true
	ix := tabletest.Inverted("p_k", 1)
	d := db.Create("p", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("k", types.TInt4)}, []int{0}, ix)
	db.Tx(func(tx table.Txn) error {
		insertInts(t, d, tx, 0, 3000, 7)
		insertInts(t, d, tx, 3000, 3000, 8)
		return nil
	})
	if err := d.Fold(ctx); err != nil {
		t.Fatal(err)
	}
	sp := kv.Space{ID: uint64(ix.Space), DB: table.DBName(d.Table.DB), File: ix.File}
	delta := func(k, id int32) []byte { // of the list of k: see posting.go
		return append(append(append([]byte{codec.ValueTag}, appendInt4(k)...), 1), appendInt4(id)...)
	}
	for _, tt := range []struct {
		name string
		do   func(tx table.Txn) error
		want []string // ends of the faults' texts
	}{
		{"none", func(tx table.Txn) error { return nil }, nil},
		{"a row is missing", func(tx table.Txn) error {
			key := delta(7, 1500)
			return tx.Put(sp, key, codec.AppendBlob(nil, key, codec.FormatGone, nil))
		}, []string{"5999 postings for 6000 rows", "a row is not in the list of index \"p_k\""}},
		{"a row is in two lists", func(tx table.Txn) error {
			key := delta(8, 1500)
			return tx.Put(sp, key, codec.AppendEntry(nil, key, nil, nil, nil, 0))
		}, []string{"6001 postings for 6000 rows", "posting without a row, or twice"}},
		{"a row is in another list", func(tx table.Txn) error {
			gone, key := delta(7, 1500), delta(8, 1500)
			if err := tx.Put(sp, gone, codec.AppendBlob(nil, gone, codec.FormatGone, nil)); err != nil {
				return err
			}
			return tx.Put(sp, key, codec.AppendEntry(nil, key, nil, nil, nil, 0))
		}, []string{"posting without a row, or twice", "a row is not in the list of index \"p_k\""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_ = db.TryTx(func(tx table.Txn) error {
				if err := tt.do(tx); err != nil {
					t.Fatal(err)
				}
				var got []string
				if err := db.DB.Check(ctx, tx, []*catalog.Table{d.Table}, nil, func(p table.Problem) { got = append(got, p.Text) }); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("faults %q, want %q", got, tt.want)
				}
				return errRollback
			})
		})
	}
}
