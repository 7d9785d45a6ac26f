package executor

import (
	"sort"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// KeptRows keeps the rows of a result beyond the end of its run, to be read in any
// order: those of a cursor. Beyond the work memory they go to a temporary file.
type KeptRows struct {
	env  Env // of which the file uses TempDir and Mem
	rows *rowStore
	acct account
	file *spillFile
	n    int64

	marks []keptMark // of the batches in the file
	batch *vec.Batch // the one read last
	first int64      // its first row
	view  vec.Batch
}

// keptMark says where a batch of the file begins, and with which row.
type keptMark struct{ row, off int64 }

// NewKeptRows returns an empty store of rows with the given column types. mem is
// its own: its limits are set and nothing is taken. Files are counted in the tally.
func NewKeptRows(ts []types.T, workMem int64, tempDir string, mem *Memory, tally *Tally) *KeptRows {
	k := &KeptRows{rows: newRowStore(ts)}
	k.env.WorkMem, k.env.TempDir, k.env.Mem, k.env.Tally = workMem, tempDir, mem, tally
	k.acct.open(&k.env)
	return k
}

// Rows returns the number of rows.
func (k *KeptRows) Rows() int64 { return k.n }

// Add copies the selected rows of a batch.
func (k *KeptRows) Add(b *vec.Batch) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	return inBlocks(b.Cols, b.Sel, n, func(sel []uint32, n int) error { return k.add(b.Cols, sel, n) })
}

func (k *KeptRows) add(cols []*vec.Vec, sel []uint32, n int) error {
	if err := k.env.Mem.roomFor(cols, sel, n); err != nil {
		return err
	}
	if k.file != nil {
		return k.write(cols, sel, n)
	}
	k.rows.appendCols(cols, sel, n)
	k.n += int64(n)
	if err := k.acct.set(k.rows.size); err != nil || !k.acct.over() {
		return err
	}
	ts := make([]types.T, len(k.rows.cols))
	for i, c := range k.rows.cols {
		ts[i] = c.T
	}
	k.file, k.n = newSpillFile(ts), 0
	var view vec.Batch
	for at := 0; at < k.rows.n; at += vec.BatchSize {
		k.rows.window(&view, at, min(at+vec.BatchSize, k.rows.n))
		if err := k.write(view.Cols, nil, view.N); err != nil {
			return err
		}
	}
	k.rows.release()
	return k.acct.set(0)
}

func (k *KeptRows) write(cols []*vec.Vec, sel []uint32, n int) error {
	return inBlocks(cols, sel, n, func(sel []uint32, n int) error {
		k.marks = append(k.marks, keptMark{row: k.n, off: k.file.bytes})
		k.n += int64(n)
		return k.file.writeBlock(&k.env, cols, sel, n)
	})
}

// At returns a batch that has the row, counted from 0, and its number there. It is
// valid until the next call of a method.
func (k *KeptRows) At(row int64) (*vec.Batch, int, error) {
	if k.file == nil {
		lo := row - row%vec.BatchSize
		k.rows.window(&k.view, int(lo), int(min(lo+vec.BatchSize, k.n)))
		return &k.view, int(row - lo), nil
	}
	if k.batch == nil || row < k.first || row >= k.first+int64(k.batch.N) {
		if err := k.file.flush(); err != nil {
			return nil, 0, err
		}
		i := sort.Search(len(k.marks), func(i int) bool { return k.marks[i].row > row }) - 1
		b, err := k.file.readerAt(k.marks[i].off).next()
		if err != nil {
			return nil, 0, err
		}
		k.batch, k.first = b, k.marks[i].row
	}
	return k.batch, int(row - k.first), nil
}

// Close gives memory and file back. It may be called more than once.
func (k *KeptRows) Close() {
	if k == nil {
		return
	}
	k.file.close()
	k.acct.close()
	k.rows.release()
	k.batch, k.n = nil, 0
}
