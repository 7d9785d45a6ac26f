package executor

import "kvsqld/catalog/types/vec"

// firstFailure returns the error that a statement gives which handles one row after the
// other: a batch has failed with err, and rows before the first one that fails a test are
// handled, and may fail by something else, before that one's turn. handle is nil where the
// test itself handles the rows.
func firstFailure(b *vec.Batch, err error, test, handle func(*vec.Batch) error) error {
	rows := selectedRows(b, nil)
	for i := range rows {
		one := &vec.Batch{Cols: b.Cols, N: b.N, Sel: rows[i : i+1]}
		failed := test(one)
		if failed == nil {
			continue
		}
		if i > 0 && handle != nil {
			before := &vec.Batch{Cols: b.Cols, N: b.N, Sel: rows[:i]}
			if err := handle(before); err != nil {
				return err
			}
		}
		return failed
	}
	return err
}
