package table

import (
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// A row that is locked FOR KEY SHARE may be changed by others meanwhile, in all but its
// keys. So it does not matter either if they have done so since the snapshot.

// shareKeys is LockRows for kv.ForKeyShare.
func (d *Desc) shareKeys(ctx context.Context, tx Txn, keys [][]byte, o LockOpt) ([]LockResult, error) {
	o.NoValue = true
	res, err := lockSorted(ctx, tx, d.space, o, keys)
	if err != nil {
		return nil, err
	}
	var at []int
	var changed [][]byte
	for i := range res {
		if res[i].Changed && !res[i].Skipped {
			at, changed = append(at, i), append(changed, keys[i])
		}
	}
	if changed == nil {
		return res, nil
	}
	same, there, err := d.sameKeys(ctx, tx, changed)
	if err != nil {
		return nil, err
	}
	var moved [][]byte
	for i, k := range changed {
		switch {
		case same[i]:
			res[at[i]].Changed = false
		case tx.Isolation() != kv.ReadCommitted:
			return nil, &kv.ConflictError{Deleted: !there[i], Detail: "a row's keys have changed"}
		default:
			moved = append(moved, k)
		}
	}
	if moved != nil {
		return res, &ChangedError{Keys: moved}
	}
	return res, nil
}

// sameKeys reports which rows have now the keys that they have in the transaction's
// snapshot, and which are there at all.
func (d *Desc) sameKeys(ctx context.Context, tx Txn, keys [][]byte) (same, there []bool, err error) {
	newest, err := tx.Newest()
	if err != nil {
		return nil, nil, err
	}
	defer newest.Close()
	cols := d.keyColumns()
	var was, is vec.Batch
	if err := d.GetRows(ctx, tx, keys, cols, nil, &was); err != nil {
		return nil, nil, err
	}
	if err := d.GetRows(ctx, newest, keys, cols, nil, &is); err != nil {
		return nil, nil, err
	}
	same, there = make([]bool, len(keys)), found(&is)
	for i, had := range found(&was) {
		same[i] = had && there[i]
		for c := 0; same[i] && c < len(cols); c++ {
			a, b := was.Cols[c].Get(i), is.Cols[c].Get(i)
			same[i] = a.Null == b.Null && (a.Null || types.Equal(a, b))
		}
	}
	return same, there, nil
}

// found tells which rows of what GetRows returned are there.
func found(b *vec.Batch) []bool {
	out := make([]bool, b.N)
	for i := range b.Rows() {
		out[b.Row(i)] = true
	}
	return out
}

// keyColumns are the columns of the unique indexes that foreign keys could refer to, but
// for those of the row's own key.
func (d *Desc) keyColumns() []int {
	var cols []int
	for _, ix := range d.Table.Indexes {
		if ix.Primary || !ix.Unique || ix.Where != "" || slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col < 0 }) {
			continue
		}
		for _, k := range ix.Keys {
			if !slices.Contains(cols, k.Col) {
				cols = append(cols, k.Col)
			}
		}
	}
	return cols
}
