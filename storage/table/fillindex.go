package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// An index that is made while writers go on has an empty file at first. They keep it up
// to date from then on, for the rows that they write; the others get their entries a few
// at a time, each under a lock of its row, so that its entries are those of the row as
// it is. A row that somebody else has locked gets its entries without a lock, in a commit
// that fails if the row has changed since it was read: who changes it afterwards, perhaps
// the one who has it locked, takes these entries away.

// fillRows is how many rows get their entries in one transaction.
const fillRows = 500

// Fillable reports whether FillIndex can fill an index.
func (d *Desc) Fillable(ix *catalog.Index) bool {
	x, err := d.index(ix)
	return err == nil && x != nil && !x.master && !x.inverted && !x.deferred && d.Revisable() && !ix.ByElements(d.Table)
}

// InMaster reports whether an index is the order of the rows' own file.
func (d *Desc) InMaster(ix *catalog.Index) bool {
	x, err := d.index(ix)
	return err == nil && x == nil
}

// AwaitWriters waits for those who write to the table, or have kept others from it,
// since before the call.
func (d *Desc) AwaitWriters(ctx context.Context, tx Txn, o LockOpt) error {
	return tx.AwaitHolders(ctx, d.space, kv.Share, o)
}

// FillKeys lists row keys, above one of them, that are to be given to FillIndex; none
// at the table's end.
func (d *Desc) FillKeys(ctx context.Context, tx Txn, above []byte) ([][]byte, error) {
	var low []byte
	if above != nil {
		low = append(bytes.Clone(above), 0)
	}
	return keysIn(ctx, tx, d.space, kv.Range{Lo: low}, fillRows, false, nil)
}

// FillIndex gives rows their entries in an index; tx is a transaction that has done
// nothing else and is to be committed, or rolled back after an error. In READ COMMITTED
// the rows are locked; with o.SkipLocked those that others have locked are returned: they
// are to be filled later, each in a transaction of its own. In SERIALIZABLE rows are not
// locked, and the commit fails with kv.ErrConflict if one has changed. vals is that of
// BuildIndex. 23505 (could not create unique index) on duplicates.
func (d *Desc) FillIndex(ctx context.Context, tx Txn, ix *catalog.Index, keys [][]byte, o LockOpt, vals func(live *vec.Batch) (IndexVals, error)) (busy [][]byte, err error) {
	x, err := d.index(ix)
	if err != nil {
		return nil, err
	}
	mine := keys
	if tx.Isolation() == kv.ReadCommitted {
		if mine, busy, err = d.lockToFill(ctx, tx, keys, o); err != nil {
			return nil, err
		}
	}
	var batch vec.Batch
	if mine, err = d.present(ctx, tx, mine, &batch); err != nil {
		return nil, err
	}
	if len(mine) == 0 {
		return busy, nil
	}
	var m image
	i, err := d.imageOf(&m, x, &batch, vals)
	if err != nil {
		return nil, err
	}
	b := &builder{d: d, x: x, tx: tx}
	rows := &vec.Vec{B: mine}
	if err := b.add(ctx, &m, i, rows, len(mine)); err != nil {
		return nil, err
	}
	o.Mode, o.NoValue, o.SkipLocked = kv.ForUpdate, false, false
	for _, e := range b.entries {
		key, val := b.key(e), b.buf[e.val:e.end]
		if !e.distinct {
			if err := tx.Put(x.space, key, val, kv.Covered); err != nil {
				return nil, err
			}
			continue
		}
		held, err := tx.LockKeys(ctx, x.space, o, key)
		switch {
		case err != nil:
			return nil, err
		case held[0].Val == nil:
			if err := tx.Put(x.space, key, val, kv.Newest); err != nil {
				return nil, err
			}
		case bytes.Equal(held[0].Val, val):
		case held[0].Changed && tx.Isolation() != kv.ReadCommitted: // perhaps the row has lost it to another one
			return nil, kv.ErrConflict
		default: // another row has it
			return nil, b.duplicate(key)
		}
	}
	return busy, nil
}

// present reads those of the rows that there are, and returns their keys.
func (d *Desc) present(ctx context.Context, r Reader, keys [][]byte, out *vec.Batch) ([][]byte, error) {
	if err := d.GetRows(ctx, r, keys, d.Live, nil, out); err != nil || out.Sel == nil {
		return keys, err
	}
	kept := make([][]byte, len(out.Sel))
	for i, row := range out.Sel {
		kept[i] = keys[row]
	}
	*out = vec.Batch{}
	return kept, d.GetRows(ctx, r, kept, d.Live, nil, out)
}

// imageOf makes the image of rows in an index and returns the index's number.
func (d *Desc) imageOf(m *image, x *index, rows *vec.Batch, vals func(live *vec.Batch) (IndexVals, error)) (i int, err error) {
	i = slices.Index(d.indexes, x)
	var all []IndexVals
	if vals != nil {
		all = make([]IndexVals, len(d.indexes))
		if all[i], err = vals(rows); err != nil {
			return 0, err
		}
	}
	return i, m.set(d, rows, all)
}

// lockToFill locks rows, and makes the transaction see them as they are now.
func (d *Desc) lockToFill(ctx context.Context, tx Txn, keys [][]byte, o LockOpt) (mine, busy [][]byte, err error) {
	o.Mode, o.NoValue = kv.ForShare, true
	res, err := tx.LockKeys(ctx, d.space, o, keys...)
	if err != nil {
		return nil, nil, err
	}
	for i := range res {
		if res[i].Skipped {
			busy = append(busy, keys[i])
		} else {
			mine = append(mine, keys[i])
		}
	}
	return mine, busy, tx.Refresh(ctx)
}

// ClearIndex takes all entries from an index, for who builds it anew.
func (d *Desc) ClearIndex(tx Txn, ix *catalog.Index) error {
	x, err := d.index(ix)
	if err != nil || x == nil || x.master {
		return err
	}
	return tx.ClearSpace(x.space)
}
