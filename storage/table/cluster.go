package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Region-clustered tables. The root's rows lie in the order of a grid over the
// Earth, each followed by the rows of the tables stored with it:
//
//	row key of the root    8 bytes code of the position (spatial.Grid.Code),
//	                       primary key
//	row key of a child     parent's row key, 2 bytes tag, primary key without the
//	                       columns of the foreign key
//
// A parent's key is a proper prefix of its children's, so a row with everything
// below it is one range of keys, and so is a region however far it is divided.
// All tables of a cluster share the root's master file; each has its primary key
// as an index file of its own. Columns of a child's foreign key are read from its
// row key, where the parent's primary key has them.
//
// Concurrency. Who inserts a child holds the parent's primary key entry shared;
// who moves or removes a row holds its entry, and the rows below it, exclusively.

// tagLen is the number of bytes of a tag.
const tagLen = 2

// clusterKeys are the row keys of one table of a cluster.
type clusterKeys struct {
	cols []int           // that the key follows from
	own  []int           // primary key columns that the part of this table has
	tail *codec.KeyCodec // of own
	tags []clusterTag    // of this table and its parents, from the top
	// width is the length of every row key if it is always the same, else -1; then
	// the tags are at the same places.
	width int
	root  *catalog.Cluster // of a root, else nil
	// of a child
	parent *Desc
	fk     []int // columns by key column of the parent's primary key index
	tag    [tagLen]byte
}

// clusterTag is a tag's place in the row key.
type clusterTag struct {
	col int // column of the key codec
	at  int // place in a key of fixed width
	tag [tagLen]byte
}

func (k *clusterKeys) columns() []int { return k.cols }
func (k *clusterKeys) primary() bool  { return false }

// newClusterKeys derives the row keys of a table of a cluster.
func newClusterKeys(db *DB, t *catalog.Table, keyPos []int) (rowKeys, []codec.KeyCol, []int, error) {
	k := &clusterKeys{}
	var cols []codec.KeyCol
	if t.Cluster.Parent == 0 {
		k.root = t.Cluster
		k.cols = append(k.cols, t.Cluster.Lat, t.Cluster.Lon)
		k.own = t.PK
		cols = []codec.KeyCol{{T: types.TInt8}}
	} else {
		p, err := db.For(t.Cluster.ParentTable())
		if err != nil {
			return nil, nil, nil, err
		}
		k.parent = p
		for i := range p.key.Len() {
			cols = append(cols, p.key.Col(i))
		}
		k.tags = append(k.tags, p.rowKeys.(*clusterKeys).tags...)
		binary.BigEndian.PutUint16(k.tag[:], uint16(t.Cluster.Tag)^1<<15)
		k.tags = append(k.tags, clusterTag{col: len(cols), tag: k.tag})
		cols = append(cols, codec.KeyCol{T: types.TInt2})
		if fk := t.ClusterKey(); fk != nil {
			k.fk = make([]int, len(p.Table.PK))
			for i, pk := range p.Table.PK {
				for j, ref := range fk.RefCols {
					if ref == pk {
						k.fk[i] = fk.Cols[j]
						keyPos[fk.Cols[j]] = p.keyPos[pk]
					}
				}
			}
		}
		k.cols = append(k.cols, k.fk...)
		for _, c := range t.PK {
			if keyPos[c] < 0 {
				k.own = append(k.own, c)
			}
		}
	}
	var tail []codec.KeyCol
	for _, c := range k.own {
		keyPos[c] = len(cols)
		col := codec.KeyCol{T: t.Columns[c].Type}
		cols, tail = append(cols, col), append(tail, col)
		k.cols = append(k.cols, c)
	}
	var err error
	if k.tail, err = codec.NewKeyCodec(tail); err != nil {
		return nil, nil, nil, noOrder(err)
	}
	whole, err := codec.NewKeyCodec(cols)
	if err != nil {
		return nil, nil, nil, noOrder(err)
	}
	if k.width = whole.FixedWidth(); k.width >= 0 {
		for i := range k.tags {
			k.tags[i].at = whole.Offset(k.tags[i].col)
		}
	}
	return k, cols, keyPos, nil
}

// cluster returns the table's place in a cluster, nil for other tables.
func (d *Desc) cluster() *clusterKeys {
	k, _ := d.rowKeys.(*clusterKeys)
	return k
}

// assign makes the row keys; those of children under their parents' newest keys.
// A parent that does not exist is 23503, at once or, where the image keeps orphans,
// when adopted finds that nothing has left the row out.
func (k *clusterKeys) assign(ctx context.Context, d *Desc, m *image, sel []uint32) (bool, error) {
	m.keyCols = m.keyCols[:0]
	for _, c := range k.own {
		m.keyCols = append(m.keyCols, m.cols[c])
	}
	var parents [][]byte
	if k.root == nil {
		var err error
		if parents, err = k.parents(ctx, d, m, sel); err != nil {
			return false, err
		}
	}
	m.keys.Reset()
	for i, row := range sel {
		var code uint64
		if k.root != nil {
			var err error
			if code, err = k.code(d.Table, m, int(row)); err != nil {
				return false, err
			}
		}
		m.keys.Add(func(dst []byte) []byte {
			if k.root != nil {
				dst = binary.BigEndian.AppendUint64(dst, code)
			} else if parents[i] != nil {
				dst = append(append(dst, parents[i]...), k.tag[:]...)
			}
			return k.tail.Append(dst, m.keyCols, int(row))
		})
	}
	m.list = m.keys.Keys(m.list[:0])
	return false, nil
}

// code returns the code of a row's position. What is known of one must be in range,
// also where the other half of it is not known.
func (k *clusterKeys) code(t *catalog.Table, m *image, row int) (uint64, error) {
	var at [2]float64
	known := true
	for i, half := range []struct {
		col  int
		most float64
	}{{k.root.Lat, 90}, {k.root.Lon, 180}} {
		v := m.cols[half.col]
		if v.IsNull(row) {
			known = false
			continue
		}
		if at[i] = v.F64[v.Idx(row)]; !(math.Abs(at[i]) <= half.most) {
			name := t.Columns[half.col].Name
			return 0, sqlerr.Raise(sqlerr.Error{Code: sqlerr.NumericValueOutOfRange,
				Message: fmt.Sprintf("%s %s is not between -%g and %g", name, types.FloatText(at[i]), half.most, half.most),
				Schema:  t.Schema, Table: t.Name, Column: name})
		}
	}
	if !known {
		return spatial.NullCode, nil
	}
	return k.root.Grid.Code(at[0], at[1]), nil
}

// adopted is the error of a row that assign found no parent for, if there is one
// beside those that are left out.
func (k *clusterKeys) adopted(d *Desc, m *image, sel []uint32, skip []bool) error {
	if k.root != nil {
		return nil
	}
	for i, parent := range m.found.masters {
		if parent == nil && (skip == nil || !skip[i]) {
			return k.orphan(d, k.parentVals(m), int(sel[i]))
		}
	}
	return nil
}

// parentVals are the vectors of the parent's key.
func (k *clusterKeys) parentVals(m *image) []*vec.Vec {
	vals := make([]*vec.Vec, len(k.fk))
	for i, c := range k.fk {
		vals[i] = m.cols[c]
	}
	return vals
}

// parents returns the row keys of the parents of the image's rows, nil for a parent that
// does not exist, valid until the next call.
func (k *clusterKeys) parents(ctx context.Context, d *Desc, m *image, sel []uint32) ([][]byte, error) {
	x := k.parent.primaryIndex()
	vals := k.parentVals(m)
	// Rows of one parent often come one after the other: they look for it once.
	f := &m.found
	f.reset()
	for _, row := range sel {
		for _, c := range k.fk {
			if m.cols[c].IsNull(int(row)) {
				return nil, notNull(d.Table, c)
			}
		}
		f.buf = x.key.Append(f.buf[:0], vals, int(row))
		f.add(row)
	}
	f.list = f.keys.Keys(f.list[:0])
	if err := f.find(ctx, m, x.space); err != nil {
		return nil, err
	}
	for i, val := range f.entries {
		if val == nil {
			if !m.orphans {
				return nil, k.orphan(d, vals, int(f.first[i]))
			}
			continue
		}
		e, err := codec.OpenEntry(f.list[i], val)
		if err != nil {
			return nil, corrupt(x.space, f.list[i], err)
		}
		f.entries[i] = e.Master
	}
	for _, n := range f.of {
		f.masters = append(f.masters, f.entries[n])
	}
	return f.masters, nil
}

// parentKeys are the keys of the parents of a batch of rows.
type parentKeys struct {
	keys    codec.KeyBuf
	list    [][]byte // keys
	first   []uint32 // by key, the first row that has it
	of      []int32  // by row, its key
	entries [][]byte // by key, what the parents' index has
	masters [][]byte // by row
	buf     []byte
	sorter  keySorter
}

func (f *parentKeys) reset() {
	f.keys.Reset()
	f.first, f.of, f.masters = f.first[:0], f.of[:0], f.masters[:0]
}

// add takes the key in buf as that of the next row.
func (f *parentKeys) add(row uint32) {
	if n := f.keys.Len(); n == 0 || !bytes.Equal(f.keys.Key(n-1), f.buf) {
		f.keys.Add(func(dst []byte) []byte { return append(dst, f.buf...) })
		f.first = append(f.first, row)
	}
	f.of = append(f.of, int32(f.keys.Len()-1))
}

// find looks the keys up: under locks where there is a transaction.
func (f *parentKeys) find(ctx context.Context, m *image, sp kv.Space) (err error) {
	if m.tx == nil {
		f.entries, err = m.r.BatchGet(ctx, sp, f.list)
		return err
	}
	// Not key share: the parent must not move to another region meanwhile.
	o := LockOpt{Wait: m.lock.Wait, Mode: kv.ForShare, AtSnapshot: m.tx.Isolation() != kv.ReadCommitted, IfPresent: true}
	sorted, at := f.sorter.distinct(f.list)
	res, err := m.tx.LockKeys(ctx, sp, o, sorted...)
	if err != nil {
		return err
	}
	f.entries = f.entries[:0]
	for i := range f.list {
		k := i
		if at != nil {
			k = int(at[i])
		}
		if res[k].Val == nil && res[k].Changed && o.AtSnapshot {
			return kv.ErrConflict // it may have been there at the snapshot
		}
		f.entries = append(f.entries, res[k].Val)
	}
	return nil
}

// orphan is the error of a row without a parent.
func (k *clusterKeys) orphan(d *Desc, vals []*vec.Vec, row int) error {
	t, fk := d.Table, d.Table.ClusterKey()
	key := &KeyError{
		form: "Key %s is not present in table \"" + strings.ReplaceAll(k.parent.Table.Name, "%", "%%") + "\".",
		keys: [][]types.Datum{make([]types.Datum, len(fk.Cols))},
	}
	for i, c := range fk.Cols {
		key.names = append(key.names, t.Columns[c].Name)
		for j, have := range k.fk {
			if have == c {
				v := vals[j].Get(row)
				v.B = bytes.Clone(v.B)
				key.keys[0][i] = v
			}
		}
	}
	return keyError(sqlerr.Raise(sqlerr.Error{
		Code:    sqlerr.ForeignKeyViolation,
		Message: fmt.Sprintf("insert or update on table \"%s\" violates foreign key constraint \"%s\"", t.Name, fk.Name),
		Schema:  t.Schema, Table: t.Name, Constraint: fk.Name,
	}), key)
}

// primaryIndex returns the primary key's index.
func (d *Desc) primaryIndex() *index {
	for _, x := range d.indexes {
		if x.cat.Primary {
			return x
		}
	}
	return nil
}

// owns reports whether a key of the shared master file is one of this table's:
// it has all of this table's tags and nothing after its columns.
func (k *clusterKeys) owns(d *Desc, key []byte) bool {
	if k.width >= 0 {
		return len(key) == k.width && k.tagged(key)
	}
	n, ok := k.level(d, key)
	return ok && n == len(key)
}

// tagged reports whether a key that is not shorter than the table's, which all have
// one width, has the table's tags.
func (k *clusterKeys) tagged(key []byte) bool {
	for i := range k.tags {
		if t := &k.tags[i]; [tagLen]byte(key[t.at:t.at+tagLen]) != t.tag {
			return false
		}
	}
	return true
}

// level returns the length of the part of a key that is a row key of this table:
// the whole key, or that of the row's parent in this table.
func (k *clusterKeys) level(d *Desc, key []byte) (int, bool) {
	if k.width >= 0 {
		return k.width, len(key) >= k.width && k.tagged(key)
	}
	rest, tags := key, k.tags
	for i := range d.key.Len() {
		if len(tags) > 0 && tags[0].col == i {
			if !bytes.HasPrefix(rest, tags[0].tag[:]) {
				return 0, false
			}
			tags = tags[1:]
		}
		var err error
		if rest, err = d.key.SkipCol(i, rest); err != nil {
			return 0, false
		}
	}
	return len(key) - len(rest), true
}

// keep filters pairs of a shared file in place.
func (d *Desc) keep(pairs []kv.Pair) []kv.Pair {
	k := d.cluster()
	if k == nil {
		return pairs
	}
	out := make([]kv.Pair, 0, len(pairs))
	for _, p := range pairs {
		if k.owns(d, p.Key) {
			out = append(out, p)
		}
	}
	return out
}

// clear removes the rows of a child from the shared file. The caller holds the
// AccessExclusive lock.
func (k *clusterKeys) clear(d *Desc, tx Txn) error {
	if has, err := tx.HasSpace(d.space); !has || err != nil {
		return err // dropped with the root before
	}
	var keys [][]byte
	it := tx.Scan(context.Background(), d.space, kv.Range{}, kv.ScanOpt{KeysOnly: true})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			if k.owns(d, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	it.Close()
	for _, key := range keys {
		if err := tx.Delete(d.space, key, covered...); err != nil {
			return err
		}
	}
	return nil
}

// Moved returns the keys of rows stored below a row whose key has changed.
func Moved(key, from, to []byte) []byte {
	return append(append(make([]byte, 0, len(to)+len(key)-len(from)), to...), key[len(from):]...)
}

// Move gives locked rows, whose columns stay, other row keys: to, by row number.
// keys, rows and ix are as the old ones of Update.
func (w *Writer) Move(ctx context.Context, keys *vec.Vec, to [][]byte, rows *vec.Batch, ix []IndexVals, o LockOpt) error {
	if err := w.old.set(w.d, rows, ix); err != nil {
		return err
	}
	if err := w.new.set(w.d, rows, ix); err != nil {
		return err
	}
	sel := w.selection(rows)
	w.old.list, w.new.list = w.old.list[:0], w.new.list[:0]
	for _, row := range sel {
		w.old.list = append(w.old.list, keys.B[keys.Idx(int(row))])
		w.new.list = append(w.new.list, to[row])
	}
	_, err := w.replace(ctx, sel, rows.N, nil, true, o)
	return err
}
