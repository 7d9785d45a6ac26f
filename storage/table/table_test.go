package table_test

import (
	"bytes"
	"errors"
	"fmt"
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

func i4(v int64) types.Datum { return types.Int(types.TInt4, v) }

// pairs is a table (id int4 primary key, name text) with a unique index on name.
func pairs(db *tabletest.DB) *table.Desc {
	return db.Create("pairs", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("name", types.TText)},
		[]int{0}, tabletest.Index("pairs_name_key", true, 1))
}

func insert(tx table.Txn, d *table.Desc, o table.InsertOpt, rows ...[]types.Datum) (*table.InsertResult, error) {
	return d.NewWriter(tx).Insert(ctx, tabletest.Batch(d, rows...), nil, o)
}

func row(ds ...types.Datum) []types.Datum { return ds }

func begin(t *testing.T, db *tabletest.DB, iso kv.Isolation) table.Txn {
	t.Helper()
	tx, err := db.Store().Begin(ctx, kv.BeginOpt{Isolation: iso})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tx.Rollback)
	if err := tx.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Fragments(ctx, tx); err != nil { // opens the snapshot
		t.Fatal(err)
	}
	return tx
}

func TestViolationsNameTheConstraint(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("one")), row(i4(2), types.Null(types.TText)), row(i4(3), types.Null(types.TText)))
		return err
	})
	tests := []struct {
		row                        []types.Datum
		code                       sqlerr.Code
		message, detail, constrain string
	}{
		{row(i4(1), types.Text("x")), sqlerr.UniqueViolation, `duplicate key value violates unique constraint "pairs_pkey"`, "Key (id)=(1) already exists.", "pairs_pkey"},
		{row(i4(9), types.Text("one")), sqlerr.UniqueViolation, `duplicate key value violates unique constraint "pairs_name_key"`, "Key (name)=(one) already exists.", "pairs_name_key"},
		{row(types.Null(types.TInt4), types.Text("x")), sqlerr.NotNullViolation, `null value in column "id" of relation "pairs" violates not-null constraint`, "", ""},
	}
	for _, tt := range tests {
		err := db.TryTx(func(tx table.Txn) error {
			_, err := insert(tx, d, table.InsertOpt{}, tt.row)
			return err
		})
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Code != tt.code || e.Message != tt.message || e.Detail != tt.detail || e.Constraint != tt.constrain || e.Table != "pairs" {
			t.Errorf("insert of %v: %+v", tt.row, err)
		}
	}
}

// deferrablePairs is pairs without a primary key, and with a deferrable name.
func deferrablePairs(db *tabletest.DB) *table.Desc {
	return db.CreateDeferrable("pairs", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("name", types.TText)},
		tabletest.Index("pairs_name_key", true, 1))
}

func TestUpdateChecksRowByRowUnlessDeferrable(t *testing.T) {
	for _, deferrable := range []bool{false, true} {
		db := tabletest.Open(t)
		make := pairs
		if deferrable {
			make = deferrablePairs
		}
		d := make(db)
		old := [][]types.Datum{row(i4(1), types.Text("a")), row(i4(2), types.Text("b"))}
		next := [][]types.Datum{row(i4(1), types.Text("b")), row(i4(2), types.Text("c"))}
		var keys [][]byte
		db.Tx(func(tx table.Txn) error {
			res, err := insert(tx, d, table.InsertOpt{}, old...)
			for _, k := range res.Keys {
				keys = append(keys, bytes.Clone(k))
			}
			return err
		})
		err := db.TryTx(func(tx table.Txn) error {
			if _, err := d.LockRows(ctx, tx, keys, table.LockOpt{}); err != nil {
				return err
			}
			v := &vec.Vec{T: types.TBytea, B: keys}
			w := d.NewWriter(tx)
			if _, err := w.Update(ctx, v, tabletest.Batch(d, old...), tabletest.Batch(d, next...), []int{1}, nil, nil, nil, nil, table.LockOpt{}); err != nil {
				return err
			}
			for _, k := range w.TakeDeferred() {
				if err := d.VerifyUnique(ctx, tx, k, table.LockOpt{}); err != nil {
					return err
				}
			}
			return nil
		})
		if got := sqlerr.CodeOf(err); deferrable && err != nil || !deferrable && got != sqlerr.UniqueViolation {
			t.Errorf("deferrable %v: %v", deferrable, err)
		}
	}
}

// Of two transactions that wrote the same key the later one to check it fails.
func TestDeferredUniqueSeesOthers(t *testing.T) {
	db := tabletest.Open(t)
	d := deferrablePairs(db)
	write := func(tx table.Txn, id int64, name string) []*table.DeferredKeys {
		w := d.NewWriter(tx)
		if _, err := w.Insert(ctx, tabletest.Batch(d, row(i4(id), types.Text(name))), nil, table.InsertOpt{}); err != nil {
			t.Fatal(err)
		}
		return w.TakeDeferred()
	}
	for n, iso := range []kv.Isolation{kv.ReadCommitted, kv.RepeatableRead} {
		first, second := begin(t, db, iso), begin(t, db, iso)
		name := fmt.Sprint("both", n)
		a, b := write(first, int64(n)*10+1, name), write(second, int64(n)*10+2, name)
		if err := d.VerifyUnique(ctx, first, a[0], table.LockOpt{}); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			done <- d.VerifyUnique(ctx, second, b[0], table.LockOpt{Wait: table.WaitForever})
		}()
		if err := first.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-done; sqlerr.CodeOf(err) != sqlerr.UniqueViolation {
			t.Errorf("isolation %v: %v", iso, err)
		}
		second.Rollback()
	}
	// A row that its holder removes does not count.
	r := row(i4(50), types.Text("gone"))
	var key []byte
	db.Tx(func(tx table.Txn) error {
		res, err := insert(tx, d, table.InsertOpt{}, r)
		key = bytes.Clone(res.Keys[0])
		return err
	})
	remover, keeper := begin(t, db, kv.ReadCommitted), begin(t, db, kv.ReadCommitted)
	if _, err := d.LockRows(ctx, remover, [][]byte{key}, table.LockOpt{}); err != nil {
		t.Fatal(err)
	}
	if err := d.NewWriter(remover).Delete(ctx, &vec.Vec{B: [][]byte{key}}, tabletest.Batch(d, r), nil, nil, table.LockOpt{}); err != nil {
		t.Fatal(err)
	}
	k := write(keeper, 51, "gone")
	done := make(chan error)
	go func() { done <- d.VerifyUnique(ctx, keeper, k[0], table.LockOpt{Wait: table.WaitForever}) }()
	if err := remover.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the key of a removed row: %v", err)
	}
}

func TestInsertWaitsForTheHolderOfAKey(t *testing.T) {
	for _, commit := range []bool{false, true} {
		db := tabletest.Open(t)
		d := pairs(db)
		first := begin(t, db, kv.ReadCommitted)
		if _, err := insert(first, d, table.InsertOpt{}, row(i4(1), types.Text("x"))); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			done <- db.TryTx(func(tx table.Txn) error {
				_, err := insert(tx, d, table.InsertOpt{Lock: table.LockOpt{Wait: table.WaitForever}}, row(i4(2), types.Text("x")))
				return err
			})
		}()
		if commit {
			if err := first.Commit(ctx); err != nil {
				t.Fatal(err)
			}
		} else {
			first.Rollback()
		}
		if err := <-done; commit && sqlerr.CodeOf(err) != sqlerr.UniqueViolation || !commit && err != nil {
			t.Errorf("committed %v: %v", commit, err)
		}
	}
}

func TestDeleteHoldsItsUniqueKeys(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	r := row(i4(1), types.Text("x"))
	var key []byte
	db.Tx(func(tx table.Txn) error {
		res, err := insert(tx, d, table.InsertOpt{}, r)
		key = bytes.Clone(res.Keys[0])
		return err
	})
	tx := begin(t, db, kv.ReadCommitted)
	if _, err := d.LockRows(ctx, tx, [][]byte{key}, table.LockOpt{}); err != nil {
		t.Fatal(err)
	}
	if err := d.NewWriter(tx).Delete(ctx, &vec.Vec{B: [][]byte{key}}, tabletest.Batch(d, r), nil, nil, table.LockOpt{}); err != nil {
		t.Fatal(err)
	}
	other := begin(t, db, kv.ReadCommitted)
	if _, err := insert(other, d, table.InsertOpt{}, row(i4(2), types.Text("x"))); !errors.Is(err, kv.ErrLockTimeout) {
		t.Errorf("insert of a key that is being deleted: %v", err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := insert(other, d, table.InsertOpt{}, row(i4(2), types.Text("x"))); err != nil {
		t.Errorf("after the delete: %v", err)
	}
	if err := other.Commit(ctx); err != nil {
		t.Error(err)
	}
}

func TestChangedRowsAskForAnotherRun(t *testing.T) {
	for _, iso := range []kv.Isolation{kv.ReadCommitted, kv.RepeatableRead} {
		want := table.ErrChanged
		if iso != kv.ReadCommitted {
			want = kv.ErrConflict
		}
		db := tabletest.Open(t)
		d := pairs(db)
		old, changed := row(i4(1), types.Text("x")), row(i4(1), types.Text("y"))
		var key []byte
		db.Tx(func(tx table.Txn) error {
			res, err := insert(tx, d, table.InsertOpt{}, old)
			key = bytes.Clone(res.Keys[0])
			return err
		})
		tx := begin(t, db, iso)
		late := begin(t, db, iso)
		db.Tx(func(tx table.Txn) error {
			if _, err := d.LockRows(ctx, tx, [][]byte{key}, table.LockOpt{}); err != nil {
				return err
			}
			_, err := d.NewWriter(tx).Update(ctx, &vec.Vec{B: [][]byte{key}}, tabletest.Batch(d, old), tabletest.Batch(d, changed), []int{1}, nil, nil, nil, nil, table.LockOpt{})
			return err
		})
		if _, err := d.LockRows(ctx, tx, [][]byte{key}, table.LockOpt{}); !errors.Is(err, want) {
			t.Errorf("LockRows of a changed row: %v, want %v", err, want)
		}
		tx.Rollback()
		_, err := insert(late, d, table.InsertOpt{Conflict: table.ConflictReport}, row(i4(5), types.Text("y")))
		if !errors.Is(err, want) {
			t.Errorf("ON CONFLICT with a row that is too new: %v, want %v", err, want)
		}
		late.Rollback()
	}
}

func TestForeignKeyLocks(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	r := row(i4(1), types.Text("x"))
	var key []byte
	db.Tx(func(tx table.Txn) error {
		res, err := insert(tx, d, table.InsertOpt{}, r)
		key = bytes.Clone(res.Keys[0])
		return err
	})
	child := begin(t, db, kv.ReadCommitted)
	probe := vec.New(types.TInt8, 3)
	probe.I64[0], probe.I64[1] = 1, 2
	probe.Nulls.Set(2)
	hits, err := d.ExistsLocked(ctx, child, d.Table.Indexes[0], []*vec.Vec{probe}, 3, nil, table.LockOpt{Mode: kv.ForShare})
	if err != nil || !slices.Equal(hits, []bool{true, false, false}) {
		t.Fatalf("ExistsLocked = %v, %v", hits, err)
	}
	names := vec.New(types.TText, 1)
	names.B[0] = []byte("x")
	if hits, err := d.ExistsLocked(ctx, child, d.Table.Indexes[1], []*vec.Vec{names}, 1, nil, table.LockOpt{Mode: kv.ForShare}); err != nil || !hits[0] {
		t.Fatalf("ExistsLocked by a unique index = %v, %v", hits, err)
	}
	parent := begin(t, db, kv.ReadCommitted)
	if _, err := d.LockRows(ctx, parent, [][]byte{key}, table.LockOpt{}); !errors.Is(err, kv.ErrLockTimeout) {
		t.Errorf("the referenced row could be locked: %v", err)
	}
}

func TestAddedAndDroppedColumns(t *testing.T) {
	db := tabletest.Open(t)
	db.NoCheck = true // by the old descriptor
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("one")))
		return err
	})
	tab := *d.Table
	missing := types.Datum{T: numeric(5, 1), Dec: types.NewDecimal(15, 1)}
	tab.Columns = append(slices.Clone(tab.Columns), catalog.Column{Name: "added", Type: numeric(5, 1), Missing: &missing}, catalog.Column{Name: "empty", Type: types.TInt8})
	wide, err := db.For(&tab)
	if err != nil {
		t.Fatal(err)
	}
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, wide, table.InsertOpt{}, row(i4(2), types.Text("two"), types.Datum{T: numeric(5, 1), Dec: types.NewDecimal(7, 1)}, types.Int(types.TInt8, 8)))
		if err != nil {
			return err
		}
		got := showAll(tabletest.Rows(t, wide, tx, &table.ScanSpec{Cols: []int{0, 1, 2, 3, table.ColTableOID}}))
		if want := []string{`1 "one" 1.5 NULL 16384 `, `2 "two" 0.7 8 16384 `}; !slices.Equal(got, want) {
			t.Errorf("rows %q, want %q", got, want)
		}
		return db.DB.Check(ctx, tx, []*catalog.Table{&tab}, func(p table.Problem) { t.Error(p) })
	})
}

func TestExpressionAndPartialIndexes(t *testing.T) {
	db := tabletest.Open(t)
	lower := &catalog.Index{Name: "lower_key", Unique: true, Kind: "btree", Where: "id > 0",
		Keys: []catalog.IndexKey{{Col: -1, Expr: "lower(name)", Type: types.TText}}}
	d := db.Create("people", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("name", types.TText)}, nil, lower)
	compute := func(b *vec.Batch) []table.IndexVals {
		key, pred := vec.New(types.TText, b.N), vec.New(types.TBool, b.N)
		for i := range b.N {
			key.B[i] = bytes.ToLower(b.Cols[1].B[i])
			pred.Bool[i] = b.Cols[0].I64[i] > 0
		}
		return []table.IndexVals{{Keys: []*vec.Vec{key}, Pred: pred}}
	}
	add := func(tx table.Txn, rows ...[]types.Datum) error {
		b := tabletest.Batch(d, rows...)
		_, err := d.NewWriter(tx).Insert(ctx, b, compute(b), table.InsertOpt{})
		return err
	}
	db.Tx(func(tx table.Txn) error {
		return add(tx, row(i4(1), types.Text("Ann")), row(i4(-1), types.Text("ANN")), row(i4(2), types.Text("Bob")))
	})
	err := db.TryTx(func(tx table.Txn) error { return add(tx, row(i4(3), types.Text("aNN"))) })
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Detail != "Key (lower(name))=(ann) already exists." {
		t.Errorf("duplicate of an expression: %v", err)
	}
	db.Tx(func(tx table.Txn) error {
		cols := []int{0, 1, table.ColRowKey}
		found := tabletest.Rows(t, d, tx, &table.ScanSpec{Index: lower, Cols: cols, Ranges: []types.Range{{Eq: []types.Datum{types.Text("ann")}}}})
		if len(found) != 1 || found[0][0].I != 1 {
			t.Fatalf("found %v", found)
		}
		// The row leaves the index.
		key := bytes.Clone(found[0][2].B)
		old, changed := tabletest.Batch(d, found[0][:2]), tabletest.Batch(d, row(i4(-5), types.Text("Ann")))
		if _, err := d.NewWriter(tx).Update(ctx, &vec.Vec{B: [][]byte{key}}, old, changed, []int{0}, nil, nil, compute(old), compute(changed), table.LockOpt{}); err != nil {
			return err
		}
		if rows := tabletest.Rows(t, d, tx, &table.ScanSpec{Index: lower, Cols: cols}); len(rows) != 1 {
			t.Errorf("%d entries, want Bob's", len(rows))
		}
		return add(tx, row(i4(3), types.Text("aNN")))
	})
}

func TestBuildIndex(t *testing.T) {
	db := tabletest.Open(t)
	d := db.Create("t", []catalog.Column{tabletest.Col("a", types.TInt4), tabletest.Col("b", types.TText)}, nil)
	db.Tx(func(tx table.Txn) error {
		var rows [][]types.Datum
		for i := range int64(3000) {
			rows = append(rows, row(i4(i*7%3000), types.Text("same")))
		}
		_, err := insert(tx, d, table.InsertOpt{}, rows...)
		return err
	})
	build := func(ix *catalog.Index) error {
		ix.OID, ix.Space, ix.File = 20000+types.OID(ix.Keys[0].Col), 1000+catalog.SpaceID(ix.Keys[0].Col), ix.Name
		tab := *d.Table
		tab.Indexes = []*catalog.Index{ix}
		wide, err := db.For(&tab)
		if err != nil {
			return err
		}
		return db.TryTx(func(tx table.Txn) error {
			if err := wide.CreateIndex(tx, ix); err != nil {
				return err
			}
			if err := wide.BuildIndex(ctx, tx, ix, nil); err != nil {
				return err
			}
			if err := db.DB.Check(ctx, tx, []*catalog.Table{&tab}, func(p table.Problem) { t.Error(p) }); err != nil {
				return err
			}
			return wide.DropIndex(tx, ix)
		})
	}
	if err := build(tabletest.Index("t_a_key", true, 0)); err != nil {
		t.Error(err)
	}
	var e *sqlerr.Error
	if err := build(tabletest.Index("t_b_key", true, 1)); !errors.As(err, &e) || e.Code != sqlerr.UniqueViolation ||
		e.Message != `could not create unique index "t_b_key"` || e.Detail != "Key (b)=(same) is duplicated." {
		t.Errorf("unique index over duplicates: %v", err)
	}
}

func TestTruncateAndRowNumbers(t *testing.T) {
	db := tabletest.Open(t)
	d := db.Create("t", []catalog.Column{tabletest.Col("a", types.TInt4)}, nil, tabletest.Index("t_a", false, 0))
	seen := map[string]bool{}
	add := func() {
		db.Tx(func(tx table.Txn) error {
			res, err := insert(tx, d, table.InsertOpt{}, row(i4(1)), row(i4(2)))
			for _, k := range res.Keys {
				if seen[string(k)] {
					t.Errorf("row number %x was given out twice", k)
				}
				seen[string(k)] = true
			}
			return err
		})
	}
	add()
	db.Tx(func(tx table.Txn) error { return d.Truncate(tx) })
	add()
	// Another server on the same store goes on after the greatest number.
	again, err := table.NewDB(db.Store()).For(d.Table)
	if err != nil {
		t.Fatal(err)
	}
	d = again
	add()
	db.Tx(func(tx table.Txn) error {
		if n := len(tabletest.Rows(t, d, tx, &table.ScanSpec{})); n != 4 {
			t.Errorf("%d rows after TRUNCATE and two inserts", n)
		}
		return nil
	})
}

func TestUnsupportedKeysAreNamed(t *testing.T) {
	db := tabletest.Open(t)
	col := []catalog.Column{tabletest.Col("a", types.Of(types.OJSON))}
	for _, tt := range []struct {
		t    catalog.Table
		code sqlerr.Code
		text string
	}{
		{catalog.Table{Columns: col, Indexes: []*catalog.Index{{Kind: "gist"}}}, sqlerr.FeatureNotSupported, `access method "gist" is not supported`},
		{catalog.Table{Columns: []catalog.Column{tabletest.Col("a", types.Of(types.OJSONB))}, PK: []int{0}}, sqlerr.FeatureNotSupported,
			"an index on a column of type jsonb is not supported"},
		{catalog.Table{Columns: col, PK: []int{0}}, sqlerr.UndefinedObject, `data type json has no default operator class for access method "btree"`},
	} {
		if _, err := db.For(&tt.t); sqlerr.CodeOf(err) != tt.code || err.Error() != tt.text {
			t.Errorf("For: %v, want %s", err, tt.text)
		}
	}
}

func TestGetRowsMarksTheMissing(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		res, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("a")), row(i4(2), types.Text("b")), row(i4(3), types.Text("c")))
		if err != nil {
			return err
		}
		keys := [][]byte{res.Keys[2], []byte("none"), res.Keys[0], res.Keys[1], []byte("no")}
		var b vec.Batch
		if err := d.GetRows(ctx, tx, keys, []int{1, 0}, nil, &b); err != nil {
			return err
		}
		if got, want := showAll(tabletest.Datums(&b)), []string{`"c" 3 `, `"a" 1 `, `"b" 2 `}; !slices.Equal(got, want) || !slices.Equal(b.Sel, []uint32{0, 2, 3}) {
			t.Errorf("GetRows = %v, %v", got, b.Sel)
		}
		return nil
	})
}

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
			if err := db.DB.Check(ctx, tx, []*catalog.Table{d.Table}, func(table.Problem) { faults++ }); err != nil || faults == 0 {
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
			if err := db.DB.Check(ctx, tx, []*catalog.Table{d.Table}, func(p table.Problem) { got = append(got, p.String()) }); err != nil {
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

func TestLongKeysAreRefused(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	long := types.Text(strings.Repeat("long", 10_000))
	err := db.TryTx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), long))
		return err
	})
	if sqlerr.CodeOf(err) != sqlerr.ProgramLimitExceeded {
		t.Errorf("key of 40,000 bytes: %v", err)
	}
}

func TestInspect(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		_, err := insert(tx, d, table.InsertOpt{}, row(i4(1), types.Text("a")), row(i4(2), types.Null(types.TText)))
		if err != nil {
			return err
		}
		for ix, want := range map[*catalog.Index][]string{
			nil:                {"/1 → (name=\"a\")", "/2 → (name=NULL)", "pairs.kv: 2 pairs, 8 bytes of keys"},
			d.Table.Indexes[1]: {"/\"a\" → /1", "/NULL +/2 → /2", "pairs_name_key.ind: 2 pairs"},
		} {
			var out strings.Builder
			if err := d.Inspect(ctx, tx, ix, table.InspectOpt{}, &out); err != nil {
				return err
			}
			for _, w := range want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("Inspect without %q:\n%s", w, out.String())
				}
			}
		}
		return nil
	})
}

func TestFragments(t *testing.T) {
	db := tabletest.Open(t)
	db.Tx(func(tx table.Txn) error {
		for _, oid := range []types.OID{70000, 5, 16384} {
			if err := table.PutFragment(tx, table.Fragment{OID: oid, XML: []byte("<x/>")}); err != nil {
				return err
			}
		}
		return table.DropFragment(tx, 16384)
	})
	db.Tx(func(tx table.Txn) error {
		got, err := table.Fragments(ctx, tx)
		if err != nil || len(got) != 2 || got[0].OID != 5 || got[1].OID != 70000 || string(got[1].XML) != "<x/>" {
			t.Errorf("Fragments = %v, %v", got, err)
		}
		return nil
	})
}

func TestSequences(t *testing.T) {
	db := tabletest.Open(t)
	q := &catalog.Sequence{Common: catalog.Common{OID: 20000, Name: "s"}, Start: 5, Inc: 2, Min: 1, Max: 100}
	next := func(db *table.DB) int64 {
		t.Helper()
		v, err := db.NextVal(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if last, called, err := db.SeqState(ctx, q); last != 5 || called || err != nil {
		t.Errorf("SeqState of a new sequence = %d, %v, %v", last, called, err)
	}
	for want := int64(5); want <= 9; want += 2 {
		if got := next(db.DB); got != want {
			t.Errorf("NextVal = %d, want %d", got, want)
		}
	}
	// After a crash values may be missing, but none comes twice.
	after := table.NewDB(db.Store())
	got := next(after)
	if got <= 9 || got > 9+2*32 {
		t.Errorf("NextVal after a crash = %d", got)
	}
	if err := after.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if v := next(table.NewDB(db.Store())); v != got+2 {
		t.Errorf("NextVal after an orderly end = %d, want %d", v, got+2)
	}
	if err := db.SetVal(ctx, q, 98, true); err != nil {
		t.Fatal(err)
	}
	if got := next(db.DB); got != 100 {
		t.Errorf("NextVal after 98 = %d, want the maximum", got)
	}
	if _, err := db.NextVal(ctx, q); sqlerr.CodeOf(err) != sqlerr.SequenceLimitExceeded ||
		err.Error() != `nextval: reached maximum value of sequence "s" (100)` {
		t.Errorf("NextVal past the maximum: %v", err)
	}
	cycle := *q
	cycle.Cycle = true
	if v, err := db.NextVal(ctx, &cycle); v != 1 || err != nil {
		t.Errorf("NextVal of a cycling sequence = %d, %v", v, err)
	}
	if err := db.SetVal(ctx, q, 101, true); sqlerr.CodeOf(err) != sqlerr.NumericValueOutOfRange {
		t.Errorf("SetVal out of bounds: %v", err)
	}
	down := &catalog.Sequence{Common: catalog.Common{OID: 20001, Name: "d"}, Start: -1, Inc: -1, Min: -2, Max: -1}
	for _, want := range []int64{-1, -2} {
		if v, err := db.NextVal(ctx, down); v != want || err != nil {
			t.Errorf("NextVal of a descending sequence = %d, %v", v, err)
		}
	}
	if _, err := db.NextVal(ctx, down); err == nil || err.Error() != `nextval: reached minimum value of sequence "d" (-2)` {
		t.Errorf("NextVal past the minimum: %v", err)
	}
}

func TestRangesOfOtherWidths(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	db.Tx(func(tx table.Txn) error {
		for i := range int64(10) {
			if _, err := insert(tx, d, table.InsertOpt{}, row(i4(i), types.Text(string(rune('a'+i))))); err != nil {
				return err
			}
		}
		bound := func(v int64) *types.Datum { d := types.Int(types.TInt8, v); return &d }
		for _, tt := range []struct {
			r    types.Range
			want int
		}{
			{types.Range{Hi: bound(1 << 40)}, 10}, {types.Range{Lo: bound(1 << 40)}, 0},
			{types.Range{Lo: bound(-1 << 40)}, 10}, {types.Range{Hi: bound(-1 << 40)}, 0},
			{types.Range{Eq: []types.Datum{*bound(1 << 40)}}, 0}, {types.Range{Lo: bound(3), LoInc: true, Hi: bound(5)}, 2},
		} {
			if got := len(tabletest.Rows(t, d, tx, &table.ScanSpec{Ranges: []types.Range{tt.r}})); got != tt.want {
				t.Errorf("range %+v: %d rows, want %d", tt.r, got, tt.want)
			}
		}
		return nil
	})
}
