package table

import (
	"bytes"
	"context"

	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// SweepIndex looks at up to fillRows entries of an index, above one of them, while others
// write, and takes away those that are not of the rows they lead to; what an entry holds
// beside its key is put right. With FillIndex it makes an index right of which rows and
// entries do not agree. tx and vals are those of FillIndex, tx in READ COMMITTED. It
// returns the last entry, nil at the index's end.
func (d *Desc) SweepIndex(ctx context.Context, tx Txn, ix *catalog.Index, above []byte, o LockOpt, vals func(live *vec.Batch) (IndexVals, error)) (last []byte, err error) {
	x, err := d.index(ix)
	if err != nil {
		return nil, err
	}
	var low []byte
	if above != nil {
		low = append(bytes.Clone(above), 0)
	}
	keys, err := keysIn(ctx, tx, x.space, kv.Range{Lo: low}, fillRows, false, nil)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	last = keys[len(keys)-1]
	// An entry of a key that can occur only once may be another row's by the time the
	// locks are there: it is that row's turn then.
	before, _, err := d.mastersOf(ctx, tx, x, keys)
	if err != nil {
		return nil, err
	}
	o.SkipLocked = false
	rows, _ := new(keySorter).distinct(before)
	if rows, _, err = d.lockToFill(ctx, tx, rows, o); err != nil {
		return nil, err
	}
	now, stored, err := d.mastersOf(ctx, tx, x, keys)
	if err != nil {
		return nil, err
	}
	var batch vec.Batch
	if rows, err = d.present(ctx, tx, rows, &batch); err != nil {
		return nil, err
	}
	var m image
	i, err := d.imageOf(&m, x, &batch, vals)
	if err != nil {
		return nil, err
	}
	cols, pred, err := m.indexed(i)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(rows))
	for row, key := range rows {
		at[string(key)] = row
	}
	include := m.includes(x)
	for n, master := range now {
		if master == nil || !bytes.Equal(master, before[n]) {
			continue
		}
		var val []byte // what the entry should have, nil: it should not be there
		if row, there := at[string(master)]; there && isTrue(pred, row) {
			if key := x.entryKey(nil, cols, row, master); bytes.Equal(key, keys[n]) {
				val = x.entryValue(nil, key, include, row, master)
			}
		}
		if bytes.Equal(val, stored[n]) {
			continue
		}
		if err := d.setEntry(ctx, tx, x, keys[n], master, val, o); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// setEntry gives an entry of a row another value, or removes it if that is nil.
func (d *Desc) setEntry(ctx context.Context, tx Txn, x *index, key, master, val []byte, o LockOpt) error {
	flags := covered
	if x.unique {
		// Under the lock of its key, which rows that have it hold: it may be another's.
		o.Mode, o.NoValue = kv.ForUpdate, false
		held, err := tx.LockKeys(ctx, x.space, o, key)
		if err != nil || held[0].Val == nil {
			return err
		}
		e, err := codec.OpenEntry(key, held[0].Val)
		if err != nil {
			return corrupt(x.space, key, err)
		}
		if owner, err := x.masterKey(key, e); err != nil || !bytes.Equal(owner, master) {
			return err
		}
		flags = newest
	}
	if val == nil {
		return tx.Delete(x.space, key, flags...)
	}
	return tx.Put(x.space, key, val, flags...)
}

// mastersOf reads entries and whose they are; nil for those that are gone.
func (d *Desc) mastersOf(ctx context.Context, r Reader, x *index, keys [][]byte) (out, vals [][]byte, err error) {
	vals, err = r.BatchGet(ctx, x.space, keys)
	if err != nil {
		return nil, nil, err
	}
	out = make([][]byte, len(keys))
	for i, val := range vals {
		if val == nil {
			continue
		}
		e, err := codec.OpenEntry(keys[i], val)
		if err != nil {
			return nil, nil, corrupt(x.space, keys[i], err)
		}
		master, err := x.masterKey(keys[i], e)
		if err != nil {
			return nil, nil, corrupt(x.space, keys[i], err)
		}
		out[i] = bytes.Clone(master)
	}
	return out, vals, nil
}
