package table

import (
	"context"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
)

// rowKeys says how the rows of a table get their keys. A row key is opaque above
// this: only the codec of the row file takes it apart, for the columns that it
// has (rowFile.keyPos).
type rowKeys interface {
	// columns lists the columns of the table that a row key follows from: a row
	// whose change leaves them alone stays under its key.
	columns() []int
	// primary tells that the row key is the primary key, so that the master file
	// serves as the primary key's index. A table of any other row keys has its
	// primary key as a unique index with a file of its own.
	primary() bool
	// assign puts the row keys of the image's selected rows into m.list. fresh
	// tells that nobody else can know the keys, so that they need no lock.
	assign(ctx context.Context, d *Desc, m *image, sel []uint32) (fresh bool, err error)
}

// primaryRowKeys are row keys that are the primary key.
type primaryRowKeys []int

func (k primaryRowKeys) columns() []int { return k }
func (k primaryRowKeys) primary() bool  { return true }

func (k primaryRowKeys) assign(_ context.Context, d *Desc, m *image, sel []uint32) (bool, error) {
	m.keyCols = m.keyCols[:0]
	for _, c := range k {
		v := m.cols[c]
		m.keyCols = append(m.keyCols, v)
		if !v.Nulls.Any() {
			continue
		}
		for _, row := range sel {
			if v.IsNull(int(row)) {
				return false, notNull(d.Table, c)
			}
		}
	}
	m.keys.Reset()
	d.key.AppendRows(&m.keys, m.keyCols, 0, sel)
	m.list = m.keys.Keys(m.list[:0])
	return false, nil
}

// numberRowKeys are row numbers, drawn when a row is inserted.
type numberRowKeys struct{}

func (numberRowKeys) columns() []int { return nil }
func (numberRowKeys) primary() bool  { return false }

func (numberRowKeys) assign(ctx context.Context, d *Desc, m *image, sel []uint32) (bool, error) {
	first, err := d.takeRowIDs(ctx, len(sel))
	if err != nil {
		return false, err
	}
	m.keys.Reset()
	for i := range sel {
		m.keys.Add(func(dst []byte) []byte { return appendRowNumber(dst, first+uint64(i)) })
	}
	m.list = m.keys.Keys(m.list[:0])
	return true, nil
}

// newRowKeys decides what the rows of a table have as keys and returns the types
// of a key's columns, with the position that each column of the table has there.
func newRowKeys(db *DB, t *catalog.Table) (keys rowKeys, cols []codec.KeyCol, keyPos []int, err error) {
	keyPos = make([]int, len(t.Columns))
	for i := range keyPos {
		keyPos[i] = -1
	}
	if t.Cluster != nil {
		return newClusterKeys(db, t, keyPos)
	}
	if !t.KeyIsRowKey() {
		return numberRowKeys{}, []codec.KeyCol{{T: types.TInt8}}, keyPos, nil
	}
	for pos, c := range t.PK {
		keyPos[c] = pos
		cols = append(cols, codec.KeyCol{T: t.Columns[c].Type})
	}
	return primaryRowKeys(t.PK), cols, keyPos, nil
}

// keyImage are the parts of an image that row keys are made in.
type keyImage struct {
	keyCols []*vec.Vec // by column of the row key
	keys    codec.KeyBuf
	list    [][]byte // row keys by position in the selection
	found   parentKeys
	orphans bool // rows without a parent get keys of their own: a conflict may leave them out

	// Where the keys of other rows are looked up: a transaction, whose locks are
	// taken as lock says, or else r.
	r    Reader
	tx   Txn
	lock LockOpt
}
