package executor

import (
	"kvsqld/catalog/types/vec"
)

// unsee hides rows of the transaction's snapshot that others have deleted since and
// whose keys are about to be given to new rows. Nothing of this counts as read: whether
// the old rows were there decides nothing.
//
// The values of the new rows' indexes are in use meanwhile: those of the old ones are
// computed by another writer.
func (w *tableWriter) unsee(keys [][]byte) error {
	sn, err := w.env.Txn.Export()
	if err != nil {
		return err
	}
	defer sn.Close()
	var old vec.Batch
	if err := w.desc.GetRows(w.env.Ctx, sn, keys, w.live, nil, &old); err != nil {
		return err
	}
	if old.Rows() == 0 {
		return nil
	}
	other, err := newTableWriter(w.table, w.env)
	if err != nil {
		return err
	}
	other.env = w.env
	ix, err := other.storedIndexVals(&old, false)
	if err != nil {
		return err
	}
	return w.desc.NewWriter(w.env.Txn).Unsee(keys, &old, ix)
}
