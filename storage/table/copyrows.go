package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// A table whose rows get files of another layout while others write is copied to scratch
// files: its rows a part at a time, each as it is just then (CopyRows), then, again and
// again, those that commits have changed since the beginning (CopyChanged), at last while
// nobody else may write (TakeFiles). Row keys stay, so that the indexes stay as they are.

// RowFiles are the files with the table's rows, the master first.
func (d *Desc) RowFiles() []kv.Space { return d.rowFile.files() }

// RowKeys returns the keys of the rows that changed keys of the table's files are of:
// changed is by RowFiles. The keys are ascending, each once.
func (d *Desc) RowKeys(changed [][][]byte) ([][]byte, error) {
	var out [][]byte
	for i, keys := range changed {
		if i == 0 || !d.groups[i-1].elements {
			out = append(out, keys...)
			continue
		}
		for _, k := range keys {
			rest, _, err := d.key.Skip(k, d.key.Len())
			if err != nil {
				return nil, corrupt(d.groups[i-1].space, k, err)
			}
			out = append(out, k[:len(k)-len(rest)])
		}
	}
	slices.SortFunc(out, bytes.Compare)
	return slices.CompactFunc(out, bytes.Equal), nil
}

// CopyRows stores rows that tx sees of from in the scratch files of d, which is from with
// other files: those whose keys are above one of them (nil: the first ones), in about as
// many pairs of keys and values as are wanted. It returns the last one's key, nil behind
// the end.
func (d *Desc) CopyRows(ctx context.Context, tx Txn, from *Desc, above []byte, pairs int) (last []byte, err error) {
	span := kv.Range{}
	if above != nil {
		span.Lo = append(bytes.Clone(above), 0)
	}
	most := max(pairs/(1+len(d.groups)), 1)
	spec := ScanSpec{Cols: append(slices.Clone(from.Live), ColRowKey), BatchRows: min(most, vec.BatchSize), part: true, spans: []kv.Range{span}}
	s, err := from.Scan(ctx, tx, &spec)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	w := d.NewWriter(tx)
	var b vec.Batch
	for n := 0; n < most; n += b.N {
		if err := s.Next(&b); err != nil || b.N == 0 {
			return nil, err
		}
		rowKeys := b.Cols[len(from.Live)]
		sel := w.selection(&b)
		list := make([][]byte, len(sel))
		for p, row := range sel {
			list[p] = rowKeys.B[rowKeys.Idx(int(row))]
		}
		if err := w.place(ctx, &b, sel, list); err != nil {
			return nil, err
		}
		last = bytes.Clone(list[len(list)-1])
	}
	return last, nil
}

// place stores rows under keys that nobody else writes.
func (w *Writer) place(ctx context.Context, live *vec.Batch, sel []uint32, list [][]byte) error {
	if err := w.new.set(w.d, live, nil); err != nil {
		return err
	}
	for p, row := range sel {
		if err := w.putRow(int(row), list[p], nil, covered...); err != nil {
			return err
		}
	}
	return w.putGroups(ctx, sel, list, nil, nil, nil)
}

// copyBatch is the number of rows that CopyChanged reads at a time.
const copyBatch = 1000

// CopyChanged brings the rows of the keys in d's files up to what tx sees of from: those
// that were there go, and those that are there now come.
func (d *Desc) CopyChanged(ctx context.Context, tx Txn, from *Desc, keys [][]byte) error {
	w := d.NewWriter(tx)
	for part := range slices.Chunk(keys, copyBatch) {
		var was, now vec.Batch
		if err := d.GetRows(ctx, tx, part, d.Live, nil, &was); err != nil {
			return err
		}
		if sel, list := w.found(&was, part); len(sel) > 0 {
			if err := w.old.set(d, &was, nil); err != nil {
				return err
			}
			if err := w.deleteRows(ctx, sel, list, nil); err != nil {
				return err
			}
		}
		if err := from.GetRows(ctx, tx, part, from.Live, nil, &now); err != nil {
			return err
		}
		if sel, list := w.found(&now, part); len(sel) > 0 {
			if err := w.place(ctx, &now, sel, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// found returns the rows that GetRows has found, with their keys.
func (w *Writer) found(b *vec.Batch, keys [][]byte) (sel []uint32, list [][]byte) {
	sel = slices.Clone(w.selection(b))
	list = make([][]byte, len(sel))
	for p, row := range sel {
		list[p] = keys[row]
	}
	return sel, list
}

// TakeFiles ends a copy, in the transaction that gives the table the files of d instead
// of those of was, which go. changed are the keys that commits have changed since the last
// copy; nobody else may write to the table any more.
func (d *Desc) TakeFiles(ctx context.Context, tx Txn, was *Desc, changed [][]byte) error {
	if err := d.CopyChanged(ctx, tx, was, changed); err != nil {
		return err
	}
	if err := d.keepScratch(tx); err != nil {
		return err
	}
	for _, sp := range was.rowFile.files() {
		if slices.Contains(d.rowFile.files(), sp) {
			return sqlerr.New(sqlerr.InternalError, "file \"%s\" of table \"%s\" cannot stay", sp.File, d.Table.Name)
		}
		if err := tx.DropSpace(sp); err != nil {
			return err
		}
	}
	// Row numbers go on where they are.
	db := d.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if a := db.mu.rowIDs[was.space.ID]; a != nil {
		db.mu.rowIDs[d.space.ID] = a
	}
	return nil
}
