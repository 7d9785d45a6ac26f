package table

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// maxDescs bounds the descriptors that are remembered; all are forgotten when
// there are more, which only costs deriving them again.
const maxDescs = 4096

// DB is the tables of one open store. It keeps what belongs to the store and not
// to a transaction: row number allocators, reserved sequence values. It may be
// used by several goroutines.
type DB struct {
	store kv.Store

	descs  sync.Map     // *catalog.Table → *Desc; each statement looks
	ndescs atomic.Int64 // about as many

	moves   atomic.Uint64 // see Moves
	seqGens atomic.Uint64 // see NewSeqGen

	mu struct {
		sync.Mutex
		rowIDs map[uint64]*rowIDs // by space
		seqs   map[types.OID]*seqState
		// regions has the rows of regions by Regions file, as far as they were counted.
		regions map[uint64]map[spatial.Region]int
		folds   map[uint64]*foldState // by space
	}
}

// NewDB returns the tables of a store.
func NewDB(st kv.Store) *DB {
	db := &DB{store: st}
	db.mu.rowIDs = make(map[uint64]*rowIDs)
	db.mu.seqs = make(map[types.OID]*seqState)
	db.mu.regions = make(map[uint64]map[spatial.Region]int)
	db.mu.folds = make(map[uint64]*foldState)
	return db
}

// Store returns the engine.
func (db *DB) Store() kv.Store { return db.store }

// Moves counts the commits that gave rows other keys. Who finds the number unchanged
// since before it opened a snapshot knows that a row of it which is gone was deleted.
func (db *DB) Moves() uint64 { return db.moves.Load() }

// CountMoves has the transaction's commit counted by DB.Moves.
func (w *Writer) CountMoves() {
	if !w.moves {
		w.moves = true
		db := w.d.db
		w.tx.OnCommit(func() { db.moves.Add(1) })
	}
}

// DBName returns the name under which the files of a database are kept. It does
// not change when the database is renamed.
func DBName(db types.OID) string { return "db" + strconv.FormatUint(uint64(db), 10) }

// fileName is a file's name; those of temporary tables have none of their own.
func fileName(name string, space catalog.SpaceID) string {
	if name == "" {
		return "temp." + strconv.FormatUint(uint64(space), 10)
	}
	return name
}

// For returns what is derived from a table's descriptor, which must not change
// afterwards; it is remembered by the descriptor's address. The error is 0A000
// for layouts, index kinds and key types that are not supported, 42704 for key
// columns of types that have no order.
func (db *DB) For(t *catalog.Table) (*Desc, error) {
	if d, ok := db.descs.Load(t); ok {
		return d.(*Desc), nil
	}
	d, err := newDesc(db, t)
	if err != nil {
		return nil, err
	}
	if db.ndescs.Add(1) > maxDescs {
		db.descs.Clear()
		db.ndescs.Store(1)
	}
	db.descs.Store(t, d)
	return d, nil
}

// Desc is a table with its codecs.
type Desc struct {
	Table *catalog.Table
	Live  []int // live columns: indexes into Table.Columns

	db     *DB
	liveOf []int // by column: position among the live columns, or -1
	rowFile
	indexes []*index // aligned with Table.Indexes
	scratch sync.Pool
}

// index is an index file, or the primary key's index where the master file
// serves as such.
type index struct {
	cat   *catalog.Index
	space kv.Space
	check func(ps []kv.Pair) error // verifies pairs of the file
	// master tells that the index has no file of its own: see rowKeys.primary.
	master bool
	// inverted tells that the file has posting lists (posting.go); elements that
	// there is a list for each element of the key columns.
	inverted, elements bool
	// lists are the codecs of elements by key column, where there are several. Their
	// search keys begin with a byte, the column's number.
	lists []*codec.KeyCodec
	// n is the number of search key columns. The codec of the primary key's index
	// is the master's.
	n       int
	key     *codec.KeyCodec
	tails   []*codec.KeyCodec // of the key from column i on, nil for i = 0
	include *codec.RowCodec   // nil: nothing included
	// unique tells that the file has a search key once. The file of a deferrable
	// constraint may have it several times: see VerifyUnique.
	unique, deferred bool
}

// fileOf returns the space of the index's file.
func (d *Desc) fileOf(x *index) kv.Space {
	if x == nil || x.master {
		return d.space
	}
	return x.space
}

// checkOf returns what verifies the pairs of the index's file.
func (d *Desc) checkOf(x *index) func(ps []kv.Pair) error {
	if x == nil || x.master {
		return d.check
	}
	return x.check
}

func newDesc(db *DB, t *catalog.Table) (*Desc, error) {
	d := &Desc{Table: t, db: db, liveOf: make([]int, len(t.Columns))}
	var err error
	if d.rowFile, err = newRowFile(db, t); err != nil {
		return nil, err
	}
	for c := range t.Columns {
		d.liveOf[c] = -1
		if !t.Columns[c].Dropped {
			d.liveOf[c] = len(d.Live)
			d.Live = append(d.Live, c)
		}
	}
	for _, ix := range t.Indexes {
		x, err := d.newIndex(ix)
		if err != nil {
			return nil, err
		}
		d.indexes = append(d.indexes, x)
	}
	d.scratch.New = func() any { return new(scratch) }
	return d, nil
}

// unordered reports whether PostgreSQL's indexes of a kind keep no order, so that they
// hold values of types that have none.
func unordered(kind string) bool {
	return kind == catalog.KindGist || kind == catalog.KindSpgist || kind == catalog.KindBrin
}

func (d *Desc) newIndex(ix *catalog.Index) (*index, error) {
	x := &index{cat: ix, n: len(ix.Keys), deferred: d.Table.Deferrable(ix) || d.Table.Exclusion(ix) != nil, tails: make([]*codec.KeyCodec, len(ix.Keys))}
	x.unique = ix.Unique && !x.deferred
	if ix.Primary && d.primary() {
		x.key, x.master = d.key, true
		return x, nil
	}
	switch ix.Kind {
	case "", catalog.KindBtree, catalog.KindHash, catalog.KindGist, catalog.KindSpgist, catalog.KindBrin:
	case catalog.KindInverted, catalog.KindGin:
		x.inverted = true
	default:
		return nil, sqlerr.Unsupported(-1, "access method \"%s\"", ix.Kind)
	}
	x.space = kv.Space{ID: uint64(ix.Space), DB: d.space.DB, File: fileName(ix.File, ix.Space)}
	x.check = check(x.space)
	cols := make([]codec.KeyCol, len(ix.Keys))
	for i, k := range ix.Keys {
		cols[i] = codec.KeyCol{T: k.Type, Nullable: true, Desc: k.Desc, NullsFirst: k.NullsFirst, Unordered: unordered(ix.Kind)}
		if k.Col >= 0 {
			cols[i].T = d.Table.Columns[k.Col].Type
		}
		cols[i].ByLength = ix.ByLength && types.KeptByLength(cols[i].T)
		if t, ok := types.ElementKeyType(cols[i].T); ok && x.inverted {
			x.elements = true
			cols[i] = codec.KeyCol{T: t}
		}
	}
	var err error
	if x.key, err = codec.NewKeyCodec(cols); err != nil {
		return nil, noOrder(err)
	}
	for i := 0; x.elements && len(cols) > 1 && i < len(cols); i++ {
		c, err := codec.NewKeyCodec(cols[i : i+1])
		if err != nil {
			return nil, noOrder(err)
		}
		x.lists = append(x.lists, c)
	}
	for i := 1; i < len(cols) && !x.inverted; i++ {
		if x.tails[i], err = codec.NewKeyCodec(cols[i:]); err != nil {
			return nil, noOrder(err)
		}
	}
	if len(ix.Include) > 0 {
		ts := make([]types.T, len(ix.Include))
		for i, c := range ix.Include {
			ts[i] = d.Table.Columns[c].Type
		}
		x.include = codec.NewRowCodec(ts)
	}
	return x, nil
}

// index returns the derived form of an index of the table; nil for the master
// file.
func (d *Desc) index(ix *catalog.Index) (*index, error) {
	if ix == nil {
		return nil, nil
	}
	for _, x := range d.indexes {
		if x.cat == ix || x.cat.OID == ix.OID {
			if x.master {
				return nil, nil
			}
			return x, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "index \"%s\" of table \"%s\" does not exist", ix.Name, d.Table.Name)
}

// noOrder turns a codec's refusal of a key column into PostgreSQL's error.
func noOrder(err error) error {
	var e *codec.NoOrderError
	if !errors.As(err, &e) {
		return err
	}
	switch e.T.Kind() {
	case types.KJSON, types.KGeometry, types.KVoid, types.KPseudo, types.KInvalid:
	default:
		// Types that have an order, but no encoding that keeps it.
		if e.T.Kind() == types.KRecord {
			return sqlerr.Unsupported(-1, "an index on a column of a composite type")
		}
		if e.T.OID >= types.FirstUserOID && e.T.Kind() == types.KArray {
			return sqlerr.Unsupported(-1, "an index on a column of an array of a user-defined type")
		}
		return sqlerr.Unsupported(-1, "an index on a column of type %s", types.FormatType(e.T))
	}
	return sqlerr.New(sqlerr.UndefinedObject,
		"data type %s has no default operator class for access method \"btree\"", types.FormatType(e.T)).
		WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
}
