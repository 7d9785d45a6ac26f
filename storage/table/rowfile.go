package table

import (
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
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
	check func(ps []kv.Pair) error // verifies pairs of the master file
	rowKeys
	key    *codec.KeyCodec // takes a row key apart
	keyPos []int           // by column: position in the row key, or -1
	// integer tells that the row key is an integer, the whole primary key.
	integer bool

	row     *codec.RowCodec // the master value
	attrOf  []int           // by column: attribute of the master value, or -1
	missing []types.Datum   // by column: value in rows older than the column

	groups  []*groupFile
	groupOf []int  // by column: attribute file, or -1
	gone    []bool // by column: dropped, and not in the master value either
}

// groupFile is an attribute file: it has some columns of all rows as one value
// under the row's key. A row without a value there has NULL in each of them.
type groupFile struct {
	space kv.Space
	check func(ps []kv.Pair) error // verifies pairs of the file
	cols  []int                    // columns of the table, by attribute
	row   *codec.RowCodec
	// always tells that every row written has a value, because an absent one
	// means something else than NULL: rows older than a column have its default.
	always bool
	// full tells that every row has a value as long as the table's NOT NULL
	// constraints hold: one of the columns has been NOT NULL for all rows there are.
	full bool
	// elements tells that the only column has a key for each of its elements
	// (elements.go); row is then the codec of one element.
	elements bool
}

// newRowFile derives the mapping of a table's rows from its descriptor.
func newRowFile(db *DB, t *catalog.Table) (rowFile, error) {
	f := rowFile{
		space:   kv.Space{ID: uint64(t.Space), DB: DBName(t.DB), File: fileName(t.File, t.Space)},
		attrOf:  make([]int, len(t.Columns)),
		groupOf: make([]int, len(t.Columns)),
		gone:    make([]bool, len(t.Columns)),
		missing: make([]types.Datum, len(t.Columns)),
	}
	var cols []codec.KeyCol
	var err error
	if f.rowKeys, cols, f.keyPos, err = newRowKeys(db, t); err != nil {
		return rowFile{}, err
	}
	f.integer = t.KeyIsRowKey() && t.CtidTellsKey()
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
	for i := range t.Groups {
		f.addGroup(t, &t.Groups[i])
	}
	var attrs []types.T
	for c := range t.Columns {
		if f.groupOf[c] < 0 && !f.gone[c] && (f.keyPos[c] < 0 || codec.LossyKey(t.Columns[c].Type)) {
			f.attrOf[c] = len(attrs)
			attrs = append(attrs, t.Columns[c].Type)
		}
	}
	f.row = codec.NewRowCodec(attrs)
	f.check = check(f.space)
	return f, nil
}

// addGroup derives an attribute file. A group of dropped columns has none.
func (f *rowFile) addGroup(t *catalog.Table, cat *catalog.ColumnGroup) {
	if cat.Space == 0 {
		for _, c := range cat.Cols {
			f.gone[c] = true
		}
		return
	}
	g := &groupFile{space: kv.Space{ID: uint64(cat.Space), DB: f.space.DB, File: fileName(cat.File, cat.Space)}, cols: cat.Cols}
	g.check = check(g.space)
	ts := make([]types.T, len(g.cols))
	for a, c := range g.cols {
		ts[a] = t.Columns[c].Type
		f.groupOf[c] = len(f.groups)
		g.always = g.always || !f.missing[c].Null
		g.full = g.full || t.Columns[c].NotNull && !t.Columns[c].Dropped && f.missing[c].Null
	}
	if g.elements = cat.Elements; g.elements {
		ts[0], _ = types.ElementKeyType(ts[0])
		g.full = false // an empty array has a header of its own, but a row has many keys
	}
	g.row = codec.NewRowCodec(ts)
	f.groups = append(f.groups, g)
}

// attrIn returns the attribute of a column in the group's values.
func (g *groupFile) attrIn(col int) int { return slices.Index(g.cols, col) }

// stored reports whether a row of the image has a value in the file.
func (g *groupFile) stored(m *image, row int) bool {
	if g.always {
		return true
	}
	for _, c := range g.cols {
		if v := m.cols[c]; v != nil && !v.IsNull(row) {
			return true
		}
	}
	return false
}

// known reports whether none of the group's columns is among those unread.
func (g *groupFile) known(unread []int) bool {
	return len(unread) == 0 || !slices.ContainsFunc(g.cols, func(c int) bool { return slices.Contains(unread, c) })
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

// putRow stores a row of the writer's new image in the master file, under a key
// that is locked or covered; the attribute files follow by putGroups. changed lists the columns that differ from those of the old image,
// which is stored under the same key; nil: the row is new there.
func (w *Writer) putRow(row int, key []byte, changed []int, flags ...kv.Flag) error {
	d, m := w.d, &w.new
	if changed == nil || d.changesMaster(changed) {
		w.valBuf = d.row.Append(w.valBuf[:0], m.attrs, row, key)
		if err := w.tx.Put(d.space, key, w.valBuf, flags...); err != nil {
			return tooLarge(err, d.space, key, w.valBuf)
		}
	} else if err := w.tx.Touch(d.space, key); err != nil {
		return err
	}
	return nil
}

// putGroups stores values of rows of the writer's new image in the attribute
// files, file by file so that each gets its keys in a row: row sel[p] under the
// key list[p], but for those with skip[p]. fresh tells which rows are new under
// their keys, nil: all; changed lists the columns in which the others differ from
// the old image.
func (w *Writer) putGroups(ctx context.Context, sel []uint32, list [][]byte, skip []bool, changed []int, fresh func(p int) bool) error {
	for i, g := range w.d.groups {
		differs := slices.ContainsFunc(changed, func(c int) bool { return w.d.groupOf[c] == i })
		for p, row := range sel {
			if skip != nil && skip[p] {
				continue
			}
			isNew := fresh == nil || fresh(p)
			if !isNew && !differs {
				continue
			}
			if err := w.putGroup(ctx, i, int(row), list[p], isNew); err != nil {
				return tooLarge(err, g.space, list[p], w.valBuf)
			}
		}
	}
	return nil
}

// putGroup stores a row's value in attribute file i. The row's lock covers it.
func (w *Writer) putGroup(ctx context.Context, i, row int, key []byte, fresh bool) error {
	g, m := w.d.groups[i], &w.new
	if g.elements {
		return w.putElements(ctx, g, row, key, fresh)
	}
	if !g.stored(m, row) {
		if fresh || g.known(w.unread) && !g.stored(&w.old, row) {
			return nil
		}
		return w.tx.Delete(g.space, key, kv.Covered)
	}
	w.valBuf = g.row.Append(w.valBuf[:0], m.groups[i], row, key)
	return w.tx.Put(g.space, key, w.valBuf, kv.Covered)
}

// changesMaster reports whether one of the columns is in the master value, or
// there is nothing else that it could be in.
func (f *rowFile) changesMaster(cols []int) bool {
	return len(f.groups) == 0 || slices.ContainsFunc(cols, func(c int) bool { return f.attrOf[c] >= 0 })
}

// deleteRows removes rows sel[p] of the old image, whose keys list[p] are locked,
// file by file. The image has their columns, but for those in unread: what their
// attribute files have is not known.
func (w *Writer) deleteRows(ctx context.Context, sel []uint32, list [][]byte, unread []int) error {
	for _, key := range list {
		if err := w.tx.Delete(w.d.space, key); err != nil {
			return err
		}
	}
	for _, g := range w.d.groups {
		known := g.known(unread)
		for p, row := range sel {
			var err error
			switch {
			case known && !g.stored(&w.old, int(row)):
			case g.elements:
				err = w.deleteElements(ctx, g, int(row), list[p], known)
			default:
				err = w.tx.Delete(g.space, list[p], kv.Covered)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
