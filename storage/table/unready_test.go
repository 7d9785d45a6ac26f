package table_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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

// TestIndexMadeBesideWriters makes indexes in the steps of CREATE INDEX CONCURRENTLY. In
// each step some writers know of the one before, and others of this one; the rows get
// their entries while the last of them write. Then the index is that of the rows, unless
// it is to be unique and there are two of a key: that is found, and ends when one goes.
func TestIndexMadeBesideWriters(t *testing.T) {
	for seed := range uint64(1500) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { makeBesideWriters(t, rand.New(rand.NewPCG(seed, 1)), seed%2 == 0, seed%3 == 0) })
	}
}

func makeBesideWriters(t *testing.T, r *rand.Rand, unique, include bool) {
	db := tabletest.Open(t)
	ix := tabletest.Index("i", unique, 1)
	if include {
		ix.Include = []int{2}
	}
	valid := db.Create("t", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("v", types.TInt4), tabletest.Col("n", types.TInt4)}, []int{0}, ix)
	step := func(indexes ...*catalog.Index) *table.Desc {
		tab := *valid.Table
		tab.Indexes = append(slices.Clone(tab.Indexes[:1]), indexes...)
		d, err := db.For(&tab)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	unready, ready := *ix, *ix
	unready.Invalid, unready.Unready = true, true
	ready.Invalid = true
	steps := []*table.Desc{step(), step(&unready), step(&ready)}
	m := rowsModel{t: t, db: db, r: r, rows: map[int64][2]int64{}}
	for i := range 3 {
		for range 20 {
			m.change(steps[max(0, i-r.IntN(2))])
		}
	}
	d := steps[2]
	fill := func(ids []int64) error {
		var keys [][]byte
		for _, id := range ids {
			keys = append(keys, appendInt4(int32(id)))
		}
		return db.TryTx(func(tx table.Txn) error {
			_, err := d.FillIndex(ctx, tx, &ready, keys, table.LockOpt{SkipLocked: true}, nil)
			return err
		})
	}
	ids := slices.Sorted(maps.Keys(m.rows))
	for len(ids) > 0 {
		n := min(len(ids), 1+r.IntN(4))
		if err := fill(ids[:n]); sqlerr.CodeOf(err) == sqlerr.UniqueViolation {
			m.removeTwin(d)
			ids = slices.Sorted(maps.Keys(m.rows)) // as a new statement begins
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		ids = ids[n:]
		for range 5 {
			m.change(d)
		}
	}
}

// TestFillMeetsMovedKey fills a unique index with a row without a lock that loses its key to
// another one before the entry is there: that is a conflict, and no duplicate.
func TestFillMeetsMovedKey(t *testing.T) {
	st := tabletest.Engines["mem"](t)
	db := tabletest.OpenStore(t, st)
	d := db.Create("t", []catalog.Column{tabletest.Col("id", types.TInt4), tabletest.Col("v", types.TInt4)}, []int{0}, tabletest.Index("i", true, 1))
	row := func(id, v int64) *vec.Batch {
		return tabletest.Batch(d, []types.Datum{types.Int(types.TInt4, id), types.Int(types.TInt4, v)})
	}
	key := func(id int32) *vec.Vec { return keyVec([]string{string(appendInt4(id))}) }
	db.Tx(func(tx table.Txn) error {
		_, err := d.NewWriter(tx).Insert(ctx, row(1, 4), nil, table.InsertOpt{})
		return err
	})
	tx, err := st.Begin(ctx, kv.BeginOpt{Isolation: kv.Serializable, Unchanged: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	tx.Seq() // it sees the row with the key
	db.Tx(func(tx table.Txn) error {
		w := d.NewWriter(tx)
		if _, err := w.Update(ctx, key(1), row(1, 4), row(1, 5), []int{1}, nil, nil, nil, nil, table.LockOpt{}); err != nil {
			return err
		}
		_, err := w.Insert(ctx, row(2, 4), nil, table.InsertOpt{})
		return err
	})
	if _, err := d.FillIndex(ctx, tx, d.Table.Indexes[1], [][]byte{appendInt4(1)}, table.LockOpt{}, nil); !errors.Is(err, kv.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

// rowsModel is what the rows of a table are: v and n by id.
type rowsModel struct {
	t    *testing.T
	db   *tabletest.DB
	r    *rand.Rand
	rows map[int64][2]int64
}

func (m *rowsModel) batch(d *table.Desc, id int64, row [2]int64) *vec.Batch {
	return tabletest.Batch(d, []types.Datum{types.Int(types.TInt4, id), types.Int(types.TInt4, row[0]), types.Int(types.TInt4, row[1])})
}

// change makes, changes or removes a row. A key that is there twice is an error of the
// change, which is undone.
func (m *rowsModel) change(d *table.Desc) {
	id, row := int64(m.r.IntN(8)), [2]int64{int64(m.r.IntN(8)), int64(m.r.IntN(2))}
	old, there := m.rows[id]
	if there && m.r.IntN(2) == 0 {
		row[0] = old[0]
	}
	key := keyVec([]string{string(appendInt4(int32(id)))})
	remove := m.r.IntN(2) == 0
	err := m.db.TryTx(func(tx table.Txn) error {
		w := d.NewWriter(tx)
		var err error
		switch {
		case !there:
			_, err = w.Insert(ctx, m.batch(d, id, row), nil, table.InsertOpt{})
		case remove:
			err = w.Delete(ctx, key, m.batch(d, id, old), nil, nil, table.LockOpt{})
		default:
			_, err = w.Update(ctx, key, m.batch(d, id, old), m.batch(d, id, row), []int{1, 2}, nil, nil, nil, nil, table.LockOpt{})
		}
		return err
	})
	switch {
	case sqlerr.CodeOf(err) == sqlerr.UniqueViolation:
	case err != nil:
		m.t.Fatal(err)
	case there && remove:
		delete(m.rows, id)
	default:
		m.rows[id] = row
	}
}

// removeTwin removes one of two rows with the same key.
func (m *rowsModel) removeTwin(d *table.Desc) {
	m.t.Helper()
	first := map[int64]bool{}
	for _, id := range slices.Sorted(maps.Keys(m.rows)) {
		if v := m.rows[id][0]; !first[v] {
			first[v] = true
			continue
		}
		m.db.Tx(func(tx table.Txn) error {
			return d.NewWriter(tx).Delete(ctx, keyVec([]string{string(appendInt4(int32(id)))}), m.batch(d, id, m.rows[id]), nil, nil, table.LockOpt{})
		})
		delete(m.rows, id)
		return
	}
	m.t.Fatal("a duplicate was found where there is none")
}
