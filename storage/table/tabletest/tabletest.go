// Package tabletest opens stores with tables for tests.
//
// In: a test and descriptors of tables. Out: an open table.DB over an engine in
// memory or on disk. Invariant: when the test ends, every table that was made
// through the package passes table.Check.
package tabletest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/boltkv"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/memkv"
	"kvsqld/storage/table"
	"kvsqld/storage/txn"
)

// DB is a store with tables that is checked and closed when the test ends.
type DB struct {
	*table.DB
	t      testing.TB
	space  catalog.SpaceID
	oid    types.OID
	tables []*catalog.Table
	// NoCheck leaves out the check at the end, for tests that damage the store.
	NoCheck bool
}

// Engines are the engines that tests run on.
var Engines = map[string]func(t testing.TB) kv.Store{
	"mem": func(testing.TB) kv.Store { return memkv.Open(txn.Options{}) },
	"bolt": func(t testing.TB) kv.Store {
		st, err := boltkv.Open(t.TempDir(), boltkv.Options{NoSync: true, MmapBytes: 64 << 20, Check: codec.Check})
		if err != nil {
			t.Fatal(err)
		}
		return st
	},
}

// Open returns tables over a new store of an engine in memory.
func Open(t testing.TB) *DB {
	t.Helper()
	return OpenStore(t, Engines["mem"](t))
}

// OpenStore returns tables over an open store, which it closes at the end.
func OpenStore(t testing.TB, st kv.Store) *DB {
	t.Helper()
	db := &DB{DB: table.NewDB(st), t: t, space: 1, oid: types.FirstUserOID}
	if err := db.Init(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !db.NoCheck {
			db.Check()
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Check reports every fault of the tables as a test error.
func (db *DB) Check() {
	db.t.Helper()
	snap, err := db.Store().Snapshot(context.Background())
	if err != nil {
		db.t.Error(err)
		return
	}
	defer snap.Close()
	report := func(p table.Problem) { db.t.Error(p) }
	if err := db.DB.Check(context.Background(), snap, db.tables, nil, report); err != nil {
		db.t.Error(err)
	}
	if err := db.DB.CheckFiles(context.Background(), db.tables, report); err != nil {
		db.t.Error(err)
	}
}

// Col describes a column: Col("a", types.TInt4).
func Col(name string, t types.T) catalog.Column { return catalog.Column{Name: name, Type: t} }

// Index describes an index on columns; unique ones belong to a constraint of
// their name.
func Index(name string, unique bool, cols ...int) *catalog.Index {
	ix := &catalog.Index{Name: name, Unique: unique, Kind: "btree"}
	for _, c := range cols {
		ix.Keys = append(ix.Keys, catalog.IndexKey{Col: c})
	}
	return ix
}

// Inverted describes an inverted index on columns.
func Inverted(name string, cols ...int) *catalog.Index {
	ix := Index(name, false, cols...)
	ix.Kind = catalog.KindInverted
	return ix
}

// CreateDeferrable is Create with deferrable constraints for the unique indexes.
func (db *DB) CreateDeferrable(name string, cols []catalog.Column, indexes ...*catalog.Index) *table.Desc {
	db.t.Helper()
	t := &catalog.Table{Columns: cols, Layout: catalog.LayoutRow}
	for _, ix := range indexes {
		if ix.Unique {
			ix.OID = db.nextOID()
			t.Uniques = append(t.Uniques, &catalog.Unique{OID: db.nextOID(), Name: ix.Name, Index: ix.OID, Deferrable: true})
		}
	}
	return db.create(t, name, indexes)
}

// Create makes a table with its files and returns its descriptor. pk lists the
// primary key's columns; indexes get their numbers, files and key types here.
func (db *DB) Create(name string, cols []catalog.Column, pk []int, indexes ...*catalog.Index) *table.Desc {
	db.t.Helper()
	return db.create(&catalog.Table{Columns: cols, PK: pk, Layout: catalog.LayoutRow}, name, indexes)
}

// CreateColumns is Create with the column layout. groups are the column groups;
// all other columns outside of the primary key have one of their own, by elements if
// their storage is.
func (db *DB) CreateColumns(name string, groups [][]int, cols []catalog.Column, pk []int, indexes ...*catalog.Index) *table.Desc {
	db.t.Helper()
	t := &catalog.Table{Columns: cols, PK: pk, Layout: catalog.LayoutColumn}
	for _, g := range groups {
		t.Groups = append(t.Groups, catalog.ColumnGroup{Cols: g})
	}
	for c := range cols {
		if t.GroupOf(c) < 0 && !slices.Contains(pk, c) && !cols[c].Dropped {
			t.Groups = append(t.Groups, catalog.ColumnGroup{Cols: []int{c}, Elements: cols[c].Storage == catalog.StorageElements})
		}
	}
	for i := range t.Groups {
		t.Groups[i].Space, t.Groups[i].File = db.nextSpace(), fmt.Sprintf("%s.%d.col", name, i)
	}
	return db.create(t, name, indexes)
}

func (db *DB) create(t *catalog.Table, name string, indexes []*catalog.Index) *table.Desc {
	db.t.Helper()
	cols, pk := t.Columns, t.PK
	t.File = name + ".kv"
	t.OID, t.Name, t.Schema, t.DB = db.nextOID(), name, "public", 5
	t.Space = db.nextSpace()
	if len(pk) > 0 {
		p := Index(name+"_pkey", true, pk...)
		p.Primary = true
		indexes = append([]*catalog.Index{p}, indexes...)
	}
	for _, ix := range indexes {
		if ix.OID == 0 {
			ix.OID = db.nextOID()
		}
		if !ix.Primary {
			ix.Space, ix.File = db.nextSpace(), ix.Name+".ind"
		}
		for i, k := range ix.Keys {
			if k.Col >= 0 {
				ix.Keys[i].Type = cols[k.Col].Type
			}
		}
	}
	t.Indexes = indexes
	d, err := db.For(t)
	if err != nil {
		db.t.Fatal(err)
	}
	db.Tx(func(tx table.Txn) error { return d.Create(tx) })
	db.tables = append(db.tables, t)
	return d
}

// Moved describes a table with the other layout and row files of other names, which the
// test is to make.
func (db *DB) Moved(d *table.Desc) *table.Desc {
	db.t.Helper()
	t := *d.Table
	t.Space, t.File = db.nextSpace(), "moved."+t.File
	t.Groups = nil
	if t.Layout == catalog.LayoutColumn {
		t.Layout = catalog.LayoutRow
	} else {
		t.Layout = catalog.LayoutColumn
		for c := range t.Columns {
			if !slices.Contains(t.PK, c) && !t.Columns[c].Dropped {
				g := catalog.ColumnGroup{Cols: []int{c}, Space: db.nextSpace(), File: fmt.Sprintf("moved.%s.%d.col", t.Name, c)}
				t.Groups = append(t.Groups, g)
			}
		}
	}
	to, err := db.For(&t)
	if err != nil {
		db.t.Fatal(err)
	}
	return to
}

// Replace has a table checked at the end as another descriptor describes it.
func (db *DB) Replace(was, is *table.Desc) {
	db.tables[slices.Index(db.tables, was.Table)] = is.Table
}

func (db *DB) nextOID() types.OID { db.oid++; return db.oid - 1 }

func (db *DB) nextSpace() catalog.SpaceID { db.space++; return db.space - 1 }

// Tx runs f in a transaction that is committed; an error of f ends the test.
func (db *DB) Tx(f func(tx table.Txn) error) {
	db.t.Helper()
	if err := db.TryTx(f); err != nil {
		db.t.Fatal(err)
	}
}

// TryTx runs f in a transaction, which is committed if f succeeds and rolled back
// otherwise.
func (db *DB) TryTx(f func(tx table.Txn) error) error {
	ctx := context.Background()
	tx, err := db.Store().Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// Batch makes a batch of rows of the table's live columns.
func Batch(d *table.Desc, rows ...[]types.Datum) *vec.Batch {
	b := &vec.Batch{N: len(rows)}
	for i, c := range d.Live {
		v := codec.NewVec(d.Table.Columns[c].Type, len(rows))
		for r, row := range rows {
			v.Set(r, row[i])
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

// Rows reads a whole scan as datums, by row.
func Rows(t testing.TB, d *table.Desc, r table.Reader, spec *table.ScanSpec) [][]types.Datum {
	t.Helper()
	s, err := d.Scan(context.Background(), r, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out [][]types.Datum
	var b vec.Batch
	for {
		if err := s.Next(&b); err != nil {
			t.Fatal(err)
		}
		if b.N == 0 {
			return out
		}
		out = append(out, Datums(&b)...)
	}
}

// Datums returns a batch's selected rows as datums.
func Datums(b *vec.Batch) [][]types.Datum {
	out := make([][]types.Datum, b.Rows())
	for i := range out {
		out[i] = make([]types.Datum, len(b.Cols))
		for c, v := range b.Cols {
			out[i][c] = v.Get(b.Row(i))
		}
	}
	return out
}
