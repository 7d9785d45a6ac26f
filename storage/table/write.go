package table

import (
	"context"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Writer writes to one table for the length of a statement. It reuses buffers
// and belongs to one goroutine.
type Writer struct {
	d  *Desc
	tx Txn

	old, new image
	sel      []uint32
	out      [][]byte // row keys by row number

	// Replaced is called, before new rows are written, with their keys as far as others
	// have deleted a row there since the transaction's snapshot. It has to call Unsee for
	// those that the snapshot has. It is needed above READ COMMITTED.
	Replaced func(keys [][]byte) error
	regions  regionWriter
	keyBuf   []byte       // of one index entry
	entries  codec.KeyBuf // of one row in one index
	after    codec.KeyBuf
	valBuf   []byte
	unique   codec.KeyBuf // of all rows in one unique index
	sorter   keySorter
	list     [][]byte // of the keys in unique
	deferred []*DeferredKeys
	gone     [][]byte // see noteGone
	private  bool     // see Revise
	moves    bool     // CountMoves was called
	parts    []*Part  // of the columns that the images of an update have in part
	unread   []int    // columns that the old image of an update lacks
}

// NewWriter returns a writer for the table in the transaction.
func (d *Desc) NewWriter(tx Txn) *Writer { return &Writer{d: d, tx: tx} }

// keepBytes is the most memory that a writer keeps for the next statement.
const keepBytes = 64 << 10

// Renew makes the writer one of another transaction, for another statement. What
// it has returned before is no longer valid.
func (w *Writer) Renew(tx Txn) {
	kept := cap(w.keyBuf) + cap(w.valBuf) + w.entries.Cap() + w.after.Cap() + w.old.keys.Cap() + w.new.keys.Cap() + w.unique.Cap()
	if kept > keepBytes {
		*w = Writer{d: w.d, tx: tx}
		return
	}
	w.tx, w.deferred, w.unread, w.moves = tx, nil, nil, false
	w.regions.forget()
	clear(w.parts)
	w.parts = w.parts[:0]
	for _, m := range []*image{&w.old, &w.new} {
		m.ix, m.r, m.tx, m.found = nil, nil, nil, parentKeys{}
	}
}

// image is one state of a batch of rows, ready to be encoded.
type image struct {
	d      *Desc
	cols   []*vec.Vec   // by column of the table; nil for dropped ones
	attrs  []*vec.Vec   // by attribute of the master value
	groups [][]*vec.Vec // by attribute file, by its attributes
	ix     []IndexVals
	keyImage
}

// set prepares the image for a batch of live columns.
func (m *image) set(d *Desc, live *vec.Batch, ix []IndexVals) error {
	if len(live.Cols) < len(d.Live) {
		return sqlerr.New(sqlerr.InternalError, "batch of %d columns for the %d of table \"%s\"", len(live.Cols), len(d.Live), d.Table.Name)
	}
	m.d, m.ix = d, ix
	if m.cols == nil {
		m.cols = make([]*vec.Vec, len(d.Table.Columns))
		m.attrs = make([]*vec.Vec, d.row.Len())
		for _, g := range d.groups {
			m.groups = append(m.groups, make([]*vec.Vec, len(g.cols)))
		}
	}
	for i, c := range d.Live {
		m.cols[c] = live.Cols[i]
		if a := d.attrOf[c]; a >= 0 {
			m.attrs[a] = live.Cols[i]
		}
		if g := d.groupOf[c]; g >= 0 {
			m.groups[g][d.groups[g].attrIn(c)] = live.Cols[i]
		}
	}
	return nil
}

// indexCols returns the vectors of an index's search key; i is its position in
// Table.Indexes.
func (m *image) indexCols(i int) ([]*vec.Vec, error) {
	x := m.d.indexes[i]
	out := make([]*vec.Vec, x.n)
	for k, key := range x.cat.Keys {
		switch {
		case key.Col >= 0:
			out[k] = m.cols[key.Col]
		case i < len(m.ix) && k < len(m.ix[i].Keys):
			out[k] = m.ix[i].Keys[k]
		}
		if out[k] == nil {
			return nil, sqlerr.New(sqlerr.InternalError, "key %d of index \"%s\" was not computed", k+1, x.cat.Name)
		}
	}
	return out, nil
}

// inIndex returns the predicate's outcome for the batch, nil if all rows are in.
func (m *image) inIndex(i int) (*vec.Vec, error) {
	x := m.d.indexes[i]
	if x.cat.Where == "" || x.master {
		return nil, nil
	}
	if i >= len(m.ix) || m.ix[i].Pred == nil {
		return nil, sqlerr.New(sqlerr.InternalError, "predicate of index \"%s\" was not computed", x.cat.Name)
	}
	return m.ix[i].Pred, nil
}

// indexed returns what indexCols and inIndex return of index i.
func (m *image) indexed(i int) (cols []*vec.Vec, pred *vec.Vec, err error) {
	if cols, err = m.indexCols(i); err != nil {
		return nil, nil, err
	}
	pred, err = m.inIndex(i)
	return cols, pred, err
}

func isTrue(pred *vec.Vec, row int) bool {
	return pred == nil || !pred.IsNull(row) && pred.Bool[pred.Idx(row)]
}

// includes returns the vectors of the included columns.
func (m *image) includes(x *index) []*vec.Vec {
	if x.include == nil {
		return nil
	}
	out := make([]*vec.Vec, len(x.cat.Include))
	for i, c := range x.cat.Include {
		out[i] = m.cols[c]
	}
	return out
}

// distinct reports whether the row's search key can occur only once: the index is
// unique and NULL, if the key has one, counts as a value.
func (x *index) distinct(cols []*vec.Vec, row int) bool {
	return x.unique && (x.cat.NullsNotDistinct || !anyNull(cols, row))
}

func anyNull(cols []*vec.Vec, row int) bool {
	for _, v := range cols {
		if v.IsNull(row) {
			return true
		}
	}
	return false
}

// entryKey appends the key of a row's index entry.
func (x *index) entryKey(dst []byte, cols []*vec.Vec, row int, master []byte) []byte {
	dst = x.key.Append(dst, cols, row)
	if x.inverted {
		dst = append(dst, tagDelta)
	}
	if !x.distinct(cols, row) {
		dst = append(dst, master...)
	}
	return dst
}

// entryKeys adds the keys of all of a row's entries, which are several in an index
// by elements, in ascending order.
func (x *index) entryKeys(buf *codec.KeyBuf, cols []*vec.Vec, row int, master []byte) error {
	if !x.elements {
		buf.Add(func(dst []byte) []byte { return x.entryKey(dst, cols, row, master) })
		return nil
	}
	for i, c := range cols {
		elems, _, err := types.ElementKeys(c.Get(row))
		if err != nil {
			return err
		}
		for _, e := range elems {
			buf.Add(func(dst []byte) []byte { return append(append(x.appendElement(dst, i, e), tagDelta), master...) })
		}
	}
	return nil
}

// removeEntry removes an index entry: its key, or the row from a posting list.
func (w *Writer) removeEntry(x *index, key []byte, flags ...kv.Flag) error {
	if !x.inverted {
		return w.tx.Delete(x.space, key, flags...)
	}
	w.valBuf = codec.AppendBlob(w.valBuf[:0], key, codec.FormatGone, nil)
	w.d.db.postingWritten(w.tx, w.d, x)
	return w.tx.Put(x.space, key, w.valBuf, flags...)
}

// entryValue appends the stored value of a row's index entry.
func (x *index) entryValue(dst, key []byte, include []*vec.Vec, row int, master []byte) []byte {
	if !x.unique {
		master = nil
	}
	return codec.AppendEntry(dst, key, master, x.include, include, row)
}

// selection returns the selected rows of a batch.
func (w *Writer) selection(b *vec.Batch) []uint32 {
	if b.Sel != nil {
		return b.Sel
	}
	w.sel = w.sel[:0]
	for i := range b.N {
		w.sel = append(w.sel, uint32(i))
	}
	return w.sel
}

// result makes room for row keys by row number.
func (w *Writer) result(n int) [][]byte {
	if cap(w.out) < n {
		w.out = make([][]byte, n)
	}
	w.out = w.out[:n]
	clear(w.out)
	return w.out
}

// Insert stores the batch's rows (live columns in order; selected rows only). ix
// is aligned with Table.Indexes, nil when all are plain. Uniqueness is checked
// against the newest committed state, the transaction's own writes and the rows
// of the batch before; a violation is 23505 unless reported.
func (w *Writer) Insert(ctx context.Context, rows *vec.Batch, ix []IndexVals, o InsertOpt) (*InsertResult, error) {
	d, m := w.d, &w.new
	if err := m.set(d, rows, ix); err != nil {
		return nil, err
	}
	sel := w.selection(rows)
	res := &InsertResult{Keys: w.result(rows.N)}
	if len(sel) == 0 {
		return res, nil
	}
	var flags []kv.Flag
	m.tx, m.lock, m.orphans = w.tx, o.Lock, o.Conflict != ConflictError
	fresh, err := d.assign(ctx, d, m, sel)
	if err != nil {
		return nil, err
	}
	if fresh {
		flags = covered
	}
	if !fresh && !d.primary() {
		if err := w.lockNew(ctx, o.Lock); err != nil {
			return nil, err
		}
	}
	w.gone = nil // an attempt before may have failed
	skip, err := w.checkInsert(ctx, sel, o, res)
	if err != nil {
		return nil, err
	}
	if k := d.cluster(); k != nil && m.orphans {
		if err := k.adopted(d, m, sel, skip); err != nil {
			return nil, err
		}
	}
	if err := w.unsee(m.list[:len(sel)], skip); err != nil {
		return nil, err
	}
	if !fresh && d.primary() {
		flags = newest
	}
	for i, row := range sel {
		if skip != nil && skip[i] {
			continue
		}
		key := m.list[i]
		if err := w.putRow(int(row), key, nil, flags...); err != nil {
			return nil, err
		}
		res.Keys[row] = key
		res.Inserted++
	}
	if err := w.putGroups(ctx, sel, m.list, skip, nil, nil); err != nil {
		return nil, err
	}
	for i, x := range d.indexes {
		if x.master {
			continue
		}
		if err := w.lockDeferred(ctx, i, sel, skip, o.Lock); err != nil {
			return nil, err
		}
		if err := w.insertEntries(i, sel, skip); err != nil {
			return nil, err
		}
		if err := w.deferKeys(i, sel, skip); err != nil {
			return nil, err
		}
	}
	return res, w.countRegions(ctx, sel, skip)
}

// lockNew locks the new image's row keys where no index's check does. Others find
// out by the locks that a row has appeared.
func (w *Writer) lockNew(ctx context.Context, o LockOpt) error {
	if w.tx.AllLocked(w.d.space) {
		return nil
	}
	sorted, _ := w.sorter.distinct(w.new.list)
	_, err := w.tx.LockKeys(ctx, w.d.space, LockOpt{Wait: o.Wait, NoValue: true}, sorted...)
	return err
}

var (
	covered = []kv.Flag{kv.Covered}
	newest  = []kv.Flag{kv.Newest}
	private = []kv.Flag{kv.Private}
)

// insertEntries adds the new image's entries to an index.
func (w *Writer) insertEntries(i int, sel []uint32, skip []bool) error {
	m, x := &w.new, w.d.indexes[i]
	if x.cat.Unready {
		return nil
	}
	cols, pred, err := m.indexed(i)
	if err != nil {
		return err
	}
	include := m.includes(x)
	for j, row := range sel {
		if skip != nil && skip[j] || !isTrue(pred, int(row)) {
			continue
		}
		if err := w.putEntry(x, cols, include, int(row), m.list[j]); err != nil {
			return err
		}
	}
	return nil
}

// putEntry writes one index entry.
func (w *Writer) putEntry(x *index, cols, include []*vec.Vec, row int, master []byte) error {
	if x.inverted {
		w.entries.Reset()
		if err := x.entryKeys(&w.entries, cols, row, master); err != nil {
			return err
		}
		for i := range w.entries.Len() {
			if err := w.putPosting(x, w.entries.Key(i)); err != nil {
				return err
			}
		}
		return nil
	}
	w.keyBuf = x.entryKey(w.keyBuf[:0], cols, row, master)
	w.valBuf = x.entryValue(w.valBuf[:0], w.keyBuf, include, row, master)
	err := w.tx.Put(x.space, w.keyBuf, w.valBuf, w.flags(x, cols, row)...)
	return tooLarge(err, x.space, w.keyBuf, w.valBuf)
}

// putPosting adds a row to a posting list.
func (w *Writer) putPosting(x *index, key []byte) error {
	w.valBuf = codec.AppendEntry(w.valBuf[:0], key, nil, nil, nil, 0)
	w.d.db.postingWritten(w.tx, w.d, x)
	return tooLarge(w.tx.Put(x.space, key, w.valBuf, kv.Covered), x.space, key, w.valBuf)
}

// flags returns how an entry is written: a key that can occur only once has been
// locked, every other is covered by its row's lock (B3). Entries of deferrable
// constraints have locks of their own, which tell VerifyUnique their newest state. What
// others did to the key since the snapshot does not matter: where it counts the row's
// lock says so.
func (w *Writer) flags(x *index, cols []*vec.Vec, row int) []kv.Flag {
	if w.private {
		return private
	}
	if x.deferred || x.distinct(cols, row) {
		return newest
	}
	return covered
}

// Delete removes rows that the caller has locked. old has their live columns, but
// for those in unread, which no index has: all columns of an attribute file or none.
func (w *Writer) Delete(ctx context.Context, keys *vec.Vec, old *vec.Batch, unread []int, ix []IndexVals, o LockOpt) error {
	d, m := w.d, &w.old
	if err := m.set(d, old, ix); err != nil {
		return err
	}
	sel := w.selection(old)
	list := make([][]byte, len(sel))
	for p, row := range sel {
		list[p] = keys.B[keys.Idx(int(row))]
	}
	if err := w.deleteRows(ctx, sel, list, unread); err != nil {
		return err
	}
	for i, x := range d.indexes {
		if x.master {
			continue
		}
		cols, pred, err := m.indexed(i)
		if err != nil {
			return err
		}
		if x.cat.Unique || x.deferred {
			if err := w.lockSearchKeys(ctx, x, cols, pred, sel, list, o); err != nil {
				return err
			}
		}
		for _, row := range sel {
			if !isTrue(pred, int(row)) {
				continue
			}
			master := keys.B[keys.Idx(int(row))]
			w.entries.Reset()
			if err := x.entryKeys(&w.entries, cols, int(row), master); err != nil {
				return err
			}
			for i := range w.entries.Len() {
				if own, err := w.owns(ctx, x, w.entries.Key(i), master, o); err != nil {
					return err
				} else if !own {
					continue
				}
				if err := w.removeEntry(x, w.entries.Key(i), w.flags(x, cols, int(row))...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// lockSearchKeys locks the unique keys of rows about to be removed, so that who
// inserts or verifies one of them waits for the outcome; and the entries of a deferrable
// constraint, at which who verifies it may be looking (living).
func (w *Writer) lockSearchKeys(ctx context.Context, x *index, cols []*vec.Vec, pred *vec.Vec, sel []uint32, masters [][]byte, o LockOpt) error {
	var keys codec.KeyBuf
	for p, row := range sel {
		if isTrue(pred, int(row)) && (x.deferred || x.distinct(cols, int(row))) {
			keys.Add(func(dst []byte) []byte { return x.key.Append(dst, cols, int(row)) })
			if x.deferred {
				keys.Add(func(dst []byte) []byte { return x.entryKey(dst, cols, int(row), masters[p]) })
			}
		}
	}
	o = LockOpt{Wait: o.Wait, NoValue: true}
	_, err := lockSorted(ctx, w.tx, x.space, o, keys.Keys(nil))
	return err
}
