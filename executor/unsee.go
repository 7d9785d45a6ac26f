package executor

import (
	"kvsqld/catalog/types/vec"
)

// unsee hides rows of the transaction's snapshot that others have deleted since and
// whose keys are about to be given to new rows. Nothing of this counts as read: whether
// the old rows were there decides nothing.
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
	ix, err := w.storedIndexVals(&old, true)
	if err != nil {
		return err
	}
	return w.desc.NewWriter(w.env.Txn).Unsee(keys, &old, ix)
}
