package table_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// damage flips one bit of every stored value of a file in turn and calls f.
func damage(t *testing.T, db *tabletest.DB, sp kv.Space, f func(tx table.Txn)) {
	t.Helper()
	tx, err := db.Store().Begin(ctx, kv.BeginOpt{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	it := tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	found, err := it.Next()
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing to damage: %v", err)
	}
	found = slices.Clone(found)
	it.Close()
	for _, p := range found {
		for bit := range 8 * len(p.Val) {
			mark := tx.Savepoint()
			bad := bytes.Clone(p.Val)
			bad[bit/8] ^= 1 << (bit % 8)
			if err := tx.Put(sp, p.Key, bad); err != nil {
				t.Fatal(err)
			}
			f(tx)
			tx.RollbackTo(mark)
		}
	}
}

func TestFlippedBitsAreReported(t *testing.T) {
	db := tabletest.Open(t)
	db.NoCheck = true
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("a")), row(i4(2), types.Null(types.TText)))
		return err
	})
	master := kv.Space{ID: uint64(d.Table.Space), DB: table.DBName(d.Table.DB), File: d.Table.File}
	ix := d.Table.Indexes[1]
	index := kv.Space{ID: uint64(ix.Space), DB: master.DB, File: ix.File}
	for sp, spec := range map[kv.Space]*table.ScanSpec{
		master: {Cols: []int{0, 1}}, index: {Index: ix, Cols: []int{1}, IndexOnly: true},
	} {
		damage(t, db, sp, func(tx table.Txn) {
			s, err := d.Scan(ctx, tx, spec)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var b vec.Batch
			if err := s.Next(&b); !errors.Is(err, kv.ErrCorrupt) || sqlerr.CodeOf(err) != sqlerr.DataCorrupted || !strings.Contains(err.Error(), sp.File) {
				t.Errorf("scan of a damaged file: %v", err)
			}
			faults := 0
			if err := db.DB.Check(ctx, tx, []*catalog.Table{d.Table}, nil, func(table.Problem) { faults++ }); err != nil || faults == 0 {
				t.Errorf("Check of a damaged file: %d faults, %v", faults, err)
			}
		})
	}
}

func TestCheckFindsWhatIsMissing(t *testing.T) {
	db := tabletest.Open(t)
	db.NoCheck = true
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("a")), row(i4(2), types.Text("b")))
		return err
	})
	ix := d.Table.Indexes[1]
	for _, sp := range []kv.Space{
		{ID: uint64(d.Table.Space), DB: table.DBName(d.Table.DB), File: d.Table.File},
		{ID: uint64(ix.Space), DB: table.DBName(d.Table.DB), File: ix.File},
	} {
		_ = db.TryTx(func(tx table.Txn) error {
			it := tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
			found, err := it.Next()
			if err != nil {
				t.Fatal(err)
			}
			key := bytes.Clone(found[0].Key)
			it.Close()
			if err := tx.Delete(sp, key); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := db.DB.Check(ctx, tx, []*catalog.Table{d.Table}, nil, func(p table.Problem) { got = append(got, p.String()) }); err != nil {
				t.Fatal(err)
			}
			if len(got) != 2 {
				t.Errorf("%s without its first key: %v", sp.File, got)
			}
			return errRollback
		})
	}
}

func TestCheckFiles(t *testing.T) {
	db := tabletest.Open(t)
	pairs(db)
	other := db.Create("other", []catalog.Column{tabletest.Col("a", types.TInt4)}, nil)
	db.NoCheck = true
	db.Tx(func(tx table.Txn) error { return other.Drop(tx) })
	var got []string
	report := func(p table.Problem) { got = append(got, p.String()) }
	if err := db.DB.CheckFiles(ctx, []*catalog.Table{other.Table}, report); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{
		"table , file db5/pairs.kv: belongs to no table", "table , file db5/pairs_name_key.ind: belongs to no table",
		"table other, file db5/other.kv: is missing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("CheckFiles = %q, want %q", got, want)
	}
}
