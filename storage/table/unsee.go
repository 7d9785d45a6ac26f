package table

import (
	"context"
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// A transaction that keeps its snapshot may insert a row under a key whose row others
// have deleted since: uniqueness is about the newest state. The row of the snapshot is
// then out of its sight, and what else is stored of it, entries and attributes, has to
// be as well, or it would be taken for the new row's.

// noteGone remembers master keys that new rows take, that are free, and that others
// have changed since the snapshot.
func (w *Writer) noteGone(res []LockResult, keys [][]byte) {
	if w.tx.Isolation() == kv.ReadCommitted {
		return
	}
	for i := range res {
		if res[i].Changed && res[i].Val == nil {
			w.gone = append(w.gone, keys[i])
		}
	}
}

// unsee calls Replaced for the keys that were noted and that rows take: those of list,
// but for the ones at the places that are left out.
func (w *Writer) unsee(list [][]byte, skip []bool) error {
	gone := w.gone
	w.gone = nil
	if len(gone) == 0 || w.Replaced == nil {
		return nil
	}
	if skip != nil {
		taken := make(map[string]bool, len(list))
		for i, key := range list {
			taken[string(key)] = taken[string(key)] || !skip[i]
		}
		gone = slices.DeleteFunc(gone, func(key []byte) bool { return !taken[string(key)] })
		if len(gone) == 0 {
			return nil
		}
	}
	return w.Replaced(gone)
}

// Revise replaces, for the transaction alone, rows of its snapshot by what they are in
// a newer state: it is undone by kv.Txn.Detach. old and now have their live columns by
// number of the key; one that is not selected is not there. The keys are locked.
func (w *Writer) Revise(ctx context.Context, keys [][]byte, old, now *vec.Batch, oldIx, nowIx []IndexVals) error {
	w.private = true
	defer func() { w.private = false }()
	if err := w.Unsee(keys, old, oldIx); err != nil {
		return err
	}
	for _, row := range w.selection(old) {
		if err := w.hide(w.d.space, keys[row]); err != nil {
			return err
		}
	}
	m := &w.new
	if err := m.set(w.d, now, nowIx); err != nil {
		return err
	}
	sel := w.selection(now)
	m.list = m.list[:0]
	for _, row := range sel {
		m.list = append(m.list, keys[row])
		if err := w.putRow(int(row), keys[row], nil, private...); err != nil {
			return err
		}
	}
	if err := w.putGroups(ctx, sel, m.list, nil, nil, nil); err != nil {
		return err
	}
	for i, x := range w.d.indexes {
		if x.master {
			continue
		}
		if err := w.insertEntries(i, sel, nil); err != nil {
			return err
		}
	}
	return nil
}

// Unsee hides from the transaction what its snapshot has of rows beside their master
// pairs. old has their keys, by row number, and their live columns.
func (w *Writer) Unsee(keys [][]byte, old *vec.Batch, ix []IndexVals) error {
	d, m := w.d, &w.old
	if err := m.set(d, old, ix); err != nil {
		return err
	}
	for _, row := range w.selection(old) {
		key := keys[row]
		for _, g := range d.groups {
			if !g.elements {
				if err := w.hide(g.space, key); err != nil {
					return err
				}
				continue
			}
			var pairs valuePairs
			if err := g.takeApart(&pairs, key, m.value(g.cols[0], int(row))); err != nil {
				return err
			}
			for i := range pairs.keys.Len() {
				if err := w.hide(g.space, pairs.keys.Key(i)); err != nil {
					return err
				}
			}
		}
		for i, x := range d.indexes {
			if err := w.hideEntries(i, x, int(row), key); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideEntries hides the entries of a row of the old image in an index.
func (w *Writer) hideEntries(i int, x *index, row int, master []byte) error {
	if x.master {
		return nil
	}
	cols, pred, err := w.old.indexed(i)
	if err != nil || !isTrue(pred, row) {
		return err
	}
	w.entries.Reset()
	if err := x.entryKeys(&w.entries, cols, row, master); err != nil {
		return err
	}
	for i := range w.entries.Len() {
		key := w.entries.Key(i)
		if x.inverted && !w.tx.Wrote(x.space, key) {
			w.valBuf = codec.AppendBlob(w.valBuf[:0], key, codec.FormatGone, nil)
			err = w.tx.Put(x.space, key, w.valBuf, kv.Private)
		} else {
			err = w.hide(x.space, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hide hides a key that is not the transaction's own.
func (w *Writer) hide(sp kv.Space, key []byte) error {
	if w.tx.Wrote(sp, key) {
		return nil
	}
	return w.tx.Delete(sp, key, kv.Private)
}
