package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Update replaces rows: keys by row number, old and new live columns of the same
// row numbers. changed lists the indexes into Table.Columns that may differ. The
// caller has locked the rows (LockRows), for update where a unique key changes.
// parts are those of columns that both images have in part; the other elements of
// their values stay as they are stored. unread are columns that old does not have the
// values of: no index that changed concerns has them, and of an attribute file it has
// all columns or none.
// Unique keys are checked row by row, those of deferrable constraints are left to
// TakeDeferred. It returns the row keys by
// row number, which differ from keys where the primary key changed; they are valid
// until the next call.
func (w *Writer) Update(ctx context.Context, keys *vec.Vec, old, new *vec.Batch, changed []int, parts []Part, unread []int, oldIx, newIx []IndexVals, o LockOpt) ([][]byte, error) {
	d := w.d
	w.parts = w.parts[:0]
	for i := range parts {
		w.parts = append(w.parts, sortedPart(&parts[i]))
	}
	if err := w.old.set(d, old, oldIx); err != nil {
		return nil, err
	}
	if err := w.new.set(d, new, newIx); err != nil {
		return nil, err
	}
	sel := w.selection(new)
	w.old.list = w.old.list[:0]
	for _, row := range sel {
		w.old.list = append(w.old.list, keys.B[keys.Idx(int(row))])
	}
	mayMove := slices.ContainsFunc(d.columns(), func(c int) bool { return slices.Contains(changed, c) })
	if mayMove {
		w.new.tx, w.new.lock, w.new.orphans = w.tx, o, false
		if _, err := d.assign(ctx, d, &w.new, sel); err != nil {
			return nil, err
		}
	} else {
		w.new.list = append(w.new.list[:0], w.old.list...)
	}
	w.unread = unread
	out, err := w.replace(ctx, sel, new.N, changed, mayMove, o)
	w.unread = nil
	if err == nil && mayMove {
		err = w.countRegions(ctx, sel, nil)
	}
	return out, err
}

// replace writes the new image's rows, of a batch of n, in place of the old one's.
func (w *Writer) replace(ctx context.Context, sel []uint32, n int, changed []int, mayMove bool, o LockOpt) ([][]byte, error) {
	d := w.d
	if mayMove && !d.primary() {
		if err := w.lockNew(ctx, o); err != nil {
			return nil, err
		}
	}
	w.gone = nil // an attempt before may have failed
	var parts []*indexUpdate
	for i := range d.indexes {
		u, err := w.indexUpdate(i, changed, mayMove)
		if err != nil {
			return nil, err
		}
		if u == nil {
			continue
		}
		switch {
		case u.x.unique && !u.x.cat.Unready:
			err = w.checkUpdate(ctx, u, sel, o)
		case u.x.deferred:
			err = w.lockSearchKeys(ctx, u.x, u.oldCols, u.oldPred, sel, w.old.list, o)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, u)
	}
	if err := w.unsee(w.new.list, nil); err != nil {
		return nil, err
	}
	// All that goes, then all that comes: a key may move from row to row.
	moved := func(p int) bool { return mayMove && !bytes.Equal(w.old.list[p], w.new.list[p]) }
	for p := range sel {
		if !moved(p) {
			continue
		}
		w.CountMoves()
		if err := w.deleteRows(ctx, sel[p:p+1], w.old.list[p:p+1], nil); err != nil {
			return nil, err
		}
	}
	for _, u := range parts {
		if err := w.deleteChanged(ctx, u, sel, o); err != nil {
			return nil, err
		}
	}
	out := w.result(n)
	for p, row := range sel {
		key := w.new.list[p]
		in, flags := changed, []kv.Flag(nil)
		if moved(p) {
			in = nil
			if d.primary() {
				flags = newest
			}
		}
		if err := w.putRow(int(row), key, in, flags...); err != nil {
			return nil, err
		}
		out[row] = key
	}
	if err := w.putGroups(ctx, sel, w.new.list, nil, changed, moved); err != nil {
		return nil, err
	}
	for _, u := range parts {
		if err := w.lockDeferred(ctx, u.i, sel, nil, o); err != nil {
			return nil, err
		}
		if err := w.insertChanged(u, sel); err != nil {
			return nil, err
		}
		if err := w.deferKeys(u.i, sel, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// indexUpdate is an index whose entries may change.
type indexUpdate struct {
	i        int
	x        *index
	oldCols  []*vec.Vec
	newCols  []*vec.Vec
	oldPred  *vec.Vec
	newPred  *vec.Vec
	includes bool // an included column changes
	// added are the keys that rows get in an inverted index.
	added codec.KeyBuf
}

// indexUpdate returns nil for an index that the update does not concern.
func (w *Writer) indexUpdate(i int, changed []int, mayMove bool) (*indexUpdate, error) {
	x := w.d.indexes[i]
	concerned, includes := mayMove, false
	if !x.master {
		concerned = concerned || x.cat.Where != ""
		for _, k := range x.cat.Keys {
			concerned = concerned || k.Col < 0 || slices.Contains(changed, k.Col)
		}
		for _, c := range x.cat.Include {
			includes = includes || slices.Contains(changed, c)
		}
	}
	if !concerned && !includes {
		return nil, nil
	}
	u := &indexUpdate{i: i, x: x, includes: includes}
	var err error
	if u.oldCols, err = w.old.indexCols(i); err != nil {
		return nil, err
	}
	if u.newCols, err = w.new.indexCols(i); err != nil {
		return nil, err
	}
	if u.oldPred, err = w.old.inIndex(i); err != nil {
		return nil, err
	}
	u.newPred, err = w.new.inIndex(i)
	return u, err
}

// searchKeys returns the unique search keys of a row before and after, nil where
// the row has none.
func (u *indexUpdate) searchKeys(w *Writer, p, row int) (before, after []byte) {
	if u.x.master {
		return w.old.list[p], w.new.list[p]
	}
	if isTrue(u.oldPred, row) && u.x.distinct(u.oldCols, row) {
		before = u.x.key.Append(nil, u.oldCols, row)
	}
	if isTrue(u.newPred, row) && u.x.distinct(u.newCols, row) {
		after = u.x.key.Append(nil, u.newCols, row)
	}
	return before, after
}

// checkUpdate locks the unique keys that rows leave and get, and fails with 23505
// when a key that a row gets is there already.
func (w *Writer) checkUpdate(ctx context.Context, u *indexUpdate, sel []uint32, o LockOpt) error {
	type move struct {
		row           int
		master        []byte // of the row before
		before, after []byte
	}
	var moves, keeps []move
	var left, kept, rows [][]byte
	for p, row := range sel {
		before, after := u.searchKeys(w, p, int(row))
		if bytes.Equal(before, after) {
			if after != nil && !u.x.master && (u.includes || !bytes.Equal(w.old.list[p], w.new.list[p])) {
				kept = append(kept, after) // the entry's value is written again
				keeps = append(keeps, move{row: int(row), master: w.old.list[p]})
			}
			continue
		}
		moves = append(moves, move{int(row), w.old.list[p], before, after})
		rows = append(rows, w.old.list[p])
		if before != nil && !u.x.master {
			left = append(left, before) // the caller holds the lock of a master key
		}
	}
	unproven := u.x.cat.Invalid && !u.x.master // another row may have the entry, see owns
	held, err := lockSorted(ctx, w.tx, w.d.fileOf(u.x), LockOpt{Wait: o.Wait, Mode: kv.ForNoKeyUpdate, NoValue: !unproven}, kept)
	if err != nil {
		return err
	}
	if unproven {
		for i := range held {
			if own, err := u.x.entryOf(kept[i], held[i].Val, keeps[i].master); err != nil {
				return err
			} else if !own {
				return w.d.uniqueViolation(u.x, u.newCols, keeps[i].row)
			}
		}
	}
	if len(moves) == 0 {
		return nil
	}
	// Who wants a key that one of the rows has waits for the transaction's end while this waits
	// for a key that is to become the row's. The caller has locked the rows.
	as := LockOpt{Wait: o.Wait, Mode: kv.ForNoKeyUpdate, NoValue: true, AsWritten: true}
	if _, err := w.tx.LockKeys(ctx, w.d.space, as, rows...); err != nil {
		return err
	}
	exists := make(map[string]bool, 2*len(moves))
	vals := make(map[string][]byte)
	lock := func(keys [][]byte, o LockOpt) error {
		res, err := lockSorted(ctx, w.tx, w.d.fileOf(u.x), o, keys)
		if err != nil {
			return err
		}
		if u.x.master {
			w.noteGone(res, keys)
		}
		for i, k := range keys {
			exists[string(k)] = res[i].Val != nil
			if unproven || o.IfAbsent && res[i].Val != nil {
				vals[string(k)] = res[i].Val
			} else {
				delete(vals, string(k)) // it was there before a wait
			}
		}
		return nil
	}
	if err := lock(left, LockOpt{Wait: o.Wait}); err != nil {
		return err
	}
	// As with new rows, a key that another row has is not locked.
	var got [][]byte
	for _, m := range moves {
		if _, locked := exists[string(m.after)]; m.after != nil && !locked {
			got = append(got, m.after)
		}
	}
	for again := true; again; {
		if err := lock(got, LockOpt{Wait: o.Wait, IfAbsent: true}); err != nil {
			return err
		}
		if again, err = w.awaitTaken(ctx, u.x, got, vals, o); err != nil {
			return err
		}
	}
	for _, m := range moves {
		if m.before != nil {
			own := true
			if unproven {
				if own, err = u.x.entryOf(m.before, vals[string(m.before)], m.master); err != nil {
					return err
				}
			}
			if own {
				exists[string(m.before)] = false
			}
		}
		if m.after == nil {
			continue
		}
		if exists[string(m.after)] {
			return w.d.uniqueViolation(u.x, u.newCols, m.row)
		}
		exists[string(m.after)] = true
	}
	return nil
}

// awaitTaken waits for who is writing the row that has one of the keys of a secondary index
// by its stored entries, and reports whether there was somebody: who may have taken the key
// from the row.
func (w *Writer) awaitTaken(ctx context.Context, x *index, keys [][]byte, entries map[string][]byte, o LockOpt) (waited bool, err error) {
	if x.master {
		return false, nil
	}
	for _, k := range keys {
		val := entries[string(k)]
		if val == nil {
			continue
		}
		row, _, err := w.beingWritten(ctx, x, k, val)
		if err != nil {
			return false, err
		}
		if row != nil {
			_, err := w.tx.LockKeys(ctx, w.d.space, LockOpt{Wait: o.Wait, IfWritten: true}, row)
			return true, err
		}
	}
	return false, nil
}

// unchanged reports whether the row's entry stays as it is.
func (u *indexUpdate) unchanged(w *Writer, p int, oldKey, newKey []byte) bool {
	return !u.includes && bytes.Equal(oldKey, newKey) && bytes.Equal(w.old.list[p], w.new.list[p])
}

// entryKeys returns the keys of a row's entries before and after, nil where the
// index has none. The first aliases the writer's buffer.
func (u *indexUpdate) entryKeys(w *Writer, p, row int) (before, after []byte) {
	buf := w.keyBuf[:0]
	if isTrue(u.oldPred, row) {
		buf = u.x.entryKey(buf, u.oldCols, row, w.old.list[p])
		before = buf
	}
	n := len(buf)
	if isTrue(u.newPred, row) {
		buf = u.x.entryKey(buf, u.newCols, row, w.new.list[p])
		after = buf[n:]
	}
	w.keyBuf = buf
	// The buffer may have moved while it grew.
	if before != nil {
		before = buf[:n:n]
	}
	return before, after
}

// movePostings removes the keys that a row has in an index by elements before the update
// but not after it, and notes those that it has only after it: they are put when the keys
// of all rows are removed, one of which may get the key of another.
func (u *indexUpdate) movePostings(w *Writer, p, row int) error {
	w.entries.Reset()
	w.after.Reset()
	if isTrue(u.oldPred, row) {
		if err := u.x.entryKeys(&w.entries, u.oldCols, row, w.old.list[p]); err != nil {
			return err
		}
	}
	if isTrue(u.newPred, row) {
		if err := u.x.entryKeys(&w.after, u.newCols, row, w.new.list[p]); err != nil {
			return err
		}
	}
	before, after := w.entries.Keys(nil), w.after.Keys(nil)
	for _, key := range before {
		if _, stays := slices.BinarySearchFunc(after, key, bytes.Compare); stays {
			continue
		}
		if err := w.removeEntry(u.x, key, kv.Covered); err != nil {
			return err
		}
	}
	for _, key := range after {
		if _, was := slices.BinarySearchFunc(before, key, bytes.Compare); !was {
			u.added.Add(func(dst []byte) []byte { return append(dst, key...) })
		}
	}
	return nil
}

func (w *Writer) deleteChanged(ctx context.Context, u *indexUpdate, sel []uint32, o LockOpt) error {
	if u.x.master {
		return nil
	}
	if u.x.inverted {
		for p, row := range sel {
			if err := u.movePostings(w, p, int(row)); err != nil {
				return err
			}
		}
		return nil
	}
	for p, row := range sel {
		before, after := u.entryKeys(w, p, int(row))
		if before == nil || bytes.Equal(before, after) && !(u.x.cat.Unready && u.includes) {
			continue
		}
		if own, err := w.owns(ctx, u.x, before, w.old.list[p], o); err != nil {
			return err
		} else if !own {
			continue
		}
		if err := w.tx.Delete(u.x.space, before, w.flags(u.x, u.oldCols, int(row))...); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) insertChanged(u *indexUpdate, sel []uint32) error {
	if u.x.master || u.x.cat.Unready {
		return nil
	}
	if u.x.inverted {
		for i := range u.added.Len() {
			if err := w.putPosting(u.x, u.added.Key(i)); err != nil {
				return err
			}
		}
		return nil
	}
	include := w.new.includes(u.x)
	for p, row := range sel {
		before, after := u.entryKeys(w, p, int(row))
		if after == nil || u.unchanged(w, p, before, after) {
			continue
		}
		flags := w.flags(u.x, u.newCols, int(row))
		w.valBuf = u.x.entryValue(w.valBuf[:0], after, include, int(row), w.new.list[p])
		if err := w.tx.Put(u.x.space, after, w.valBuf, flags...); err != nil {
			return tooLarge(err, u.x.space, after, w.valBuf)
		}
	}
	return nil
}
