package executor

import (
	"bytes"

	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// findBelow is find for a child that is stored with its parent.
func (f *childFinder) findBelow(desc *table.Desc, r table.Reader, cols []int, n int, yield func(b *vec.Batch, probes []uint32) (bool, error)) error {
	for i := range n {
		more, err := f.scanBelow(desc, r, cols, uint32(i), yield)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (f *childFinder) scanBelow(desc *table.Desc, r table.Reader, cols []int, probe uint32, yield func(b *vec.Batch, probes []uint32) (bool, error)) (bool, error) {
	sc, err := desc.Scan(f.env.Ctx, r, &table.ScanSpec{Cols: cols, Under: f.under[probe]})
	if err != nil {
		return false, err
	}
	defer sc.Close()
	var b vec.Batch
	for {
		if err := ctxErr(f.env.Ctx); err != nil {
			return false, err
		}
		b.Sel = nil
		if err := sc.Next(&b); err != nil || b.N == 0 {
			return true, err
		}
		probes := make([]uint32, b.N)
		for i := range probes {
			probes[i] = probe
		}
		if more, err := yield(&b, probes); err != nil || !more {
			return false, err
		}
	}
}

// moveBelow moves what is stored with rows whose row keys have changed (from keys
// to now, by row number). Rows whose primary key has changed keep what is below
// them: it is the foreign key's action that decides about it.
func (w *tableWriter) moveBelow(keys *vec.Vec, now [][]byte, old, new *vec.Batch) error {
	pk := w.table.PK
	eq := newKeyEq(columnTypes(w.table, pk))
	was, is := w.pickCols(old, pk), w.pickCols(new, pk)
	var from, to [][]byte
	for i := range new.Rows() {
		row := new.Row(i)
		key := keys.B[keys.Idx(row)]
		if !bytes.Equal(key, now[row]) && eq.equal(was, row, is, row) {
			from, to = append(from, bytes.Clone(key)), append(to, bytes.Clone(now[row]))
		}
	}
	return w.moveChildren(from, to)
}

// moveChildren moves the rows stored below row keys that have changed.
func (w *tableWriter) moveChildren(from, to [][]byte) error {
	if len(from) == 0 {
		return nil
	}
	for _, t := range w.env.Snap.ClusterChildren(w.table) {
		cw, err := w.env.run.writer(t)
		if err != nil {
			return err
		}
		if err := cw.moveRows(t, from, to); err != nil {
			return err
		}
	}
	return nil
}

// moveRows moves this table's rows, and what is below them, from below some row
// keys to below others.
func (w *tableWriter) moveRows(t *catalog.Table, from, to [][]byte) error {
	f := newChildFinder(w.env, t, t.ClusterKey())
	f.under = from
	var wentFrom, wentTo [][]byte
	err := f.find(w.env.Txn, nil, len(from), func(b *vec.Batch, probes []uint32) (bool, error) {
		keys := b.Cols[0]
		if err := w.lockRows(keys, b, kv.ForUpdate); err != nil {
			return false, err
		}
		now := make([][]byte, b.N)
		for i := range b.N {
			p := probes[i]
			now[i] = table.Moved(keys.B[i], from[p], to[p])
			wentFrom, wentTo = append(wentFrom, bytes.Clone(keys.B[i])), append(wentTo, now[i])
		}
		rows := &vec.Batch{Cols: b.Cols[1 : 1+len(w.live)], N: b.N}
		ix, err := w.indexVals(rows, true)
		if err != nil {
			return false, err
		}
		return true, retry(w.w.Move(w.env.Ctx, keys, now, rows, ix, lockOpt(w.env)))
	})
	if err != nil {
		return err
	}
	if err := f.unseen(nil, len(from), nil); err != nil {
		return err
	}
	return w.moveChildren(wentFrom, wentTo)
}
