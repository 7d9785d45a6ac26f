package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

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
			done <- d.VerifyUnique(ctx, second, b[0], table.LockOpt{Wait: kv.WaitForever})
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
	key := insertOne(db, d, r)
	remover, keeper := begin(t, db, kv.ReadCommitted), begin(t, db, kv.ReadCommitted)
	if _, err := d.LockRows(ctx, remover, [][]byte{key}, table.LockOpt{}); err != nil {
		t.Fatal(err)
	}
	if err := d.NewWriter(remover).Delete(ctx, &vec.Vec{B: [][]byte{key}}, tabletest.Batch(d, r), nil, nil, table.LockOpt{}); err != nil {
		t.Fatal(err)
	}
	k := write(keeper, 51, "gone")
	done := make(chan error)
	go func() { done <- d.VerifyUnique(ctx, keeper, k[0], table.LockOpt{Wait: kv.WaitForever}) }()
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
				_, err := insert(tx, d, table.InsertOpt{Lock: table.LockOpt{Wait: kv.WaitForever}}, row(i4(2), types.Text("x")))
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
	key := insertOne(db, d, r)
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
		key := insertOne(db, d, old)
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
		res, err := insert(late, d, table.InsertOpt{Conflict: table.ConflictReport}, row(i4(5), types.Text("y")))
		if iso == kv.ReadCommitted { // the caller may take the row as it is now
			if err != nil || len(res.Conflicts) != 1 || !res.Conflicts[0].Newer {
				t.Errorf("ON CONFLICT with a row that is too new: %+v, %v", res, err)
			}
		} else if !errors.Is(err, want) {
			t.Errorf("ON CONFLICT with a row that is too new: %v, want %v", err, want)
		}
		late.Rollback()
	}
}

func TestForeignKeyLocks(t *testing.T) {
	db := tabletest.Open(t)
	d := pairs(db)
	r := row(i4(1), types.Text("x"))
	key := insertOne(db, d, r)
	child := begin(t, db, kv.ReadCommitted)
	probe := vec.New(types.TInt8, 3)
	probe.I64[0], probe.I64[1] = 1, 2
	probe.Nulls.Set(2)
	hits, err := d.ExistsLocked(ctx, child, d.Table.Indexes[0], []*vec.Vec{probe}, 3, nil, true, table.LockOpt{Mode: kv.ForShare})
	if err != nil || !slices.Equal(hits, []bool{true, false, false}) {
		t.Fatalf("ExistsLocked = %v, %v", hits, err)
	}
	names := vec.New(types.TText, 1)
	names.B[0] = []byte("x")
	if hits, err := d.ExistsLocked(ctx, child, d.Table.Indexes[1], []*vec.Vec{names}, 1, nil, true, table.LockOpt{Mode: kv.ForShare}); err != nil || !hits[0] {
		t.Fatalf("ExistsLocked by a unique index = %v, %v", hits, err)
	}
	parent := begin(t, db, kv.ReadCommitted)
	if _, err := d.LockRows(ctx, parent, [][]byte{key}, table.LockOpt{}); !errors.Is(err, kv.ErrLockTimeout) {
		t.Errorf("the referenced row could be locked: %v", err)
	}
}
