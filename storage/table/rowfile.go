package table

import (
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// rowFile is the seam between rows and keys: it says under which key a row is
// kept, and which value has which column. Everything else of the package speaks
// of row keys and columns.
//
// The master file has one pair for each row, whatever the layout: it says that
// the row exists, it is what a row lock is held on, and its number of pairs is
// the table's number of rows. Its value has the attributes that no attribute
// file has. Attribute files have the others, under the same row key.
type rowFile struct {
	space kv.Space
	rowKeys
	key    *codec.KeyCodec // takes a row key apart
	keyPos []int           // by column: position in the row key, or -1

	row     *codec.RowCodec // the master value
	attrOf  []int           // by column: attribute of the master value, or -1
	missing []types.Datum   // by column: value in rows older than the column

	groups  []*groupFile
	groupOf []int // by column: attribute file, or -1
}

// groupFile is an attribute file: it has some columns of all rows as one value
// under the row's key. A row without a value there has NULL in each of them.
type groupFile struct {
	space kv.Space
	cols  []int // columns of the table, by attribute
	row   *codec.RowCodec
	// always tells that every row written has a value, because an absent one
	// means something else than NULL: rows older than a column have its default.
	always bool
}

// newRowFile derives the mapping of a table's rows from its descriptor.
func newRowFile(t *catalog.Table) (rowFile, error) {
	f := rowFile{
		space:   kv.Space{ID: uint64(t.Space), DB: DBName(t.DB), File: fileName(t.File, t.Space)},
		attrOf:  make([]int, len(t.Columns)),
		groupOf: make([]int, len(t.Columns)),
		missing: make([]types.Datum, len(t.Columns)),
	}
	var cols []codec.KeyCol
	f.rowKeys, cols, f.keyPos = newRowKeys(t)
	var err error
	if f.key, err = codec.NewKeyCodec(cols); err != nil {
		return f, noOrder(err)
	}
	for c := range t.Columns {
		f.attrOf[c], f.groupOf[c] = -1, -1
		f.missing[c] = types.Null(t.Columns[c].Type)
		if m := t.Columns[c].Missing; m != nil {
			f.missing[c] = *m
		}
	}
	var attrs []types.T
	for c := range t.Columns {
		if f.groupOf[c] < 0 && (f.keyPos[c] < 0 || codec.LossyKey(t.Columns[c].Type)) {
			f.attrOf[c] = len(attrs)
			attrs = append(attrs, t.Columns[c].Type)
		}
	}
	f.row = codec.NewRowCodec(attrs)
	return f, nil
}

// files returns the files that hold the table's rows, the master first.
func (f *rowFile) files() []kv.Space {
	out := []kv.Space{f.space}
	for _, g := range f.groups {
		out = append(out, g.space)
	}
	return out
}

// whole is the number of leading key columns that name one row; 0 if none do.
func (f *rowFile) whole() int {
	if !f.primary() {
		return 0
	}
	return f.key.Len()
}

// putRow stores a row of the writer's new image under a key that is locked or
// covered. changed lists the columns that differ from what is stored; nil: all,
// the row is new there.
func (w *Writer) putRow(row int, key []byte, changed []int, flags ...kv.Flag) error {
	d, m := w.d, &w.new
	if changed == nil || d.changesMaster(changed) {
		w.valBuf = d.row.Append(w.valBuf[:0], m.attrs, row, key)
		if err := w.tx.Put(d.space, key, w.valBuf, flags...); err != nil {
			return tooLarge(err, d.space, key, w.valBuf)
		}
	}
	return nil
}

// changesMaster reports whether one of the columns is in the master value.
func (f *rowFile) changesMaster(cols []int) bool {
	return len(f.groups) == 0 || slices.ContainsFunc(cols, func(c int) bool { return f.attrOf[c] >= 0 })
}

// deleteRow removes a row that is locked.
func (w *Writer) deleteRow(key []byte) error {
	return w.tx.Delete(w.d.space, key)
}

// rows decodes rows, given as pairs of the master file, into rows base … of b;
// what else their columns need is read from r. vals may be nil if x.values is
// false.
func (x *decoder) rows(ctx context.Context, r Reader, b *vec.Batch, base int, keys, vals [][]byte) error {
	return x.master(b, base, keys, vals)
}
