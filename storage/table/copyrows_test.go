package table_test

import (
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// TestCopyAgainstModel moves tables of every kind to files of the other layout, a few rows
// at a time, with random changes in between: the copy has the rows, and the old indexes
// lead to them.
func TestCopyAgainstModel(t *testing.T) {
	for name, open := range tabletest.Engines {
		t.Run(name, func(t *testing.T) {
			db := tabletest.OpenStore(t, open(t))
			for n, d := range shapes(db) {
				m := &model{t: t, r: rand.New(rand.NewPCG(11, uint64(n))), db: db, d: d, rows: map[string][]types.Datum{}}
				for range 2 {
					for range 8 {
						m.transaction()
					}
					m.move()
				}
				m.transaction()
			}
		})
	}
}

// move copies the table of the model, with transactions in between.
func (m *model) move() {
	m.t.Helper()
	must := func(err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
	}
	was := m.d
	w, err := m.db.Store().Watch(ctx, was.RowFiles()...)
	must(err)
	defer w.Close()
	to := m.db.Moved(was)
	m.db.Tx(func(tx table.Txn) error { return to.CreateScratch(ctx, tx) })
	last, more := []byte(nil), true
	for more {
		m.db.Tx(func(tx table.Txn) (err error) {
			last, err = to.CopyRows(ctx, tx, was, last, 20+m.r.IntN(80))
			more = last != nil
			return err
		})
		m.transaction()
	}
	changed := func(tx table.Txn) [][]byte {
		byFile, err := w.Take(tx.Seq())
		must(err)
		keys, err := was.RowKeys(byFile)
		must(err)
		return keys
	}
	for range m.r.IntN(3) {
		m.db.Tx(func(tx table.Txn) error { return to.CopyChanged(ctx, tx, was, changed(tx)) })
		m.transaction()
	}
	m.db.Tx(func(tx table.Txn) error { return to.TakeFiles(ctx, tx, was, changed(tx)) })
	m.db.Replace(was, to)
	m.d = to
	s, err := m.db.Store().Snapshot(ctx)
	must(err)
	defer s.Close()
	m.verify(s)
}

// TestScratchLeft has a copy end half-way, as a crash ends it: the files belong to no
// table, which is no fault, and are dropped.
func TestScratchLeft(t *testing.T) {
	for name, open := range tabletest.Engines {
		t.Run(name, func(t *testing.T) {
			db := tabletest.OpenStore(t, open(t))
			d := shapes(db)[0]
			m := &model{t: t, r: rand.New(rand.NewPCG(1, 1)), db: db, d: d, rows: map[string][]types.Datum{}}
			for range 5 {
				m.transaction()
			}
			to := db.Moved(d)
			db.Tx(func(tx table.Txn) error { return to.CreateScratch(ctx, tx) })
			db.Tx(func(tx table.Txn) error {
				_, err := to.CopyRows(ctx, tx, d, nil, 5)
				return err
			})
			db.Check()
			files := func() int {
				s, err := db.Store().Snapshot(ctx)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				all, err := s.Spaces(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return len(all)
			}
			before := files()
			last, err := db.DropScratch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if want := to.RowFiles(); last != want[len(want)-1].ID {
				t.Errorf("the last space is number %d, not %d", last, want[len(want)-1].ID)
			}
			if got := before - files(); got != len(to.RowFiles()) {
				t.Errorf("%d files were dropped, not %d", got, len(to.RowFiles()))
			}
			for _, sp := range to.RowFiles() {
				db.Tx(func(tx table.Txn) error {
					if has, err := tx.HasSpace(sp); has || err != nil {
						t.Errorf("%v: %t, %v", sp, has, err)
					}
					return nil
				})
			}
			if last, err := db.DropScratch(ctx); last != 0 || err != nil {
				t.Errorf("a second time: %d, %v", last, err)
			}
		})
	}
}
