package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// DeferredKeys are search keys that were written for a deferrable unique or an
// exclusion constraint and may be in conflict. The file of such a constraint is
// that of a non-unique index.
type DeferredKeys struct {
	Table *catalog.Table
	Index *catalog.Index

	keys codec.KeyBuf
}

// deferKeys notes the new image's search keys of index i if its constraint is
// verified later.
func (w *Writer) deferKeys(i int, sel []uint32, skip []bool) error {
	x := w.d.indexes[i]
	if !x.deferred {
		return nil
	}
	m := &w.new
	cols, pred, err := m.indexed(i)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(w.deferred, func(k *DeferredKeys) bool { return k.Index == x.cat })
	if at < 0 {
		at = len(w.deferred)
		w.deferred = append(w.deferred, &DeferredKeys{Table: w.d.Table, Index: x.cat})
	}
	for p, row := range sel {
		if skip != nil && skip[p] || !isTrue(pred, int(row)) || !x.cat.NullsNotDistinct && anyNull(cols, int(row)) {
			continue
		}
		w.deferred[at].keys.Add(func(dst []byte) []byte { return x.key.Append(dst, cols, int(row)) })
	}
	return nil
}

// lockDeferred locks the entries of the new image in index i if its constraint is
// deferrable: who verifies the constraint may hold one that is gone.
func (w *Writer) lockDeferred(ctx context.Context, i int, sel []uint32, skip []bool, o LockOpt) error {
	x := w.d.indexes[i]
	if !x.deferred {
		return nil
	}
	m := &w.new
	cols, pred, err := m.indexed(i)
	if err != nil {
		return err
	}
	var keys codec.KeyBuf
	for p, row := range sel {
		if (skip == nil || !skip[p]) && isTrue(pred, int(row)) {
			keys.Add(func(dst []byte) []byte { return x.entryKey(dst, cols, int(row), m.list[p]) })
		}
	}
	_, err = lockSorted(ctx, w.tx, x.space, LockOpt{Wait: o.Wait, NoValue: true}, keys.Keys(nil))
	return err
}

// TakeDeferred returns the keys that were written since the last call and that
// VerifyUnique has to check, at the end of the statement or later.
func (w *Writer) TakeDeferred() []*DeferredKeys {
	out := w.deferred
	w.deferred = nil
	return out
}

// VerifyUnique checks that each of the keys belongs to at most one row: 23505
// otherwise. The newest committed state and the transaction's own writes count,
// whatever its snapshot. The keys are locked, so that of two transactions that
// wrote the same key the later one sees the other's, and who is about to remove a
// row that has the key, or changes it otherwise, is waited for.
func (d *Desc) VerifyUnique(ctx context.Context, tx Txn, k *DeferredKeys, o LockOpt) error {
	x, err := d.index(k.Index)
	if err != nil {
		return err
	}
	keys := k.keys.Keys(nil)
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	if len(keys) == 0 {
		return nil
	}
	return d.afterWriters(ctx, tx, o, func() ([]byte, error) { return d.verifyUnique(ctx, tx, x, keys, o) })
}

// afterWriters runs a check again for as long as it returns the key of a row that another
// transaction is changing, after its end. The check's locks are given back for the wait:
// who changes the row may want them to give its key up.
func (d *Desc) afterWriters(ctx context.Context, tx Txn, o LockOpt, check func() (writing []byte, err error)) error {
	for {
		mark := tx.LockMark()
		writing, err := check()
		if err != nil || writing == nil {
			return err
		}
		tx.UnlockTo(mark)
		if _, err := tx.LockKeys(ctx, d.space, LockOpt{Wait: o.Wait, IfWritten: true}, writing); err != nil {
			return err
		}
	}
}

// verifyUnique is VerifyUnique up to the first key that is taken or free only when another
// transaction has ended, which is writing the row returned.
func (d *Desc) verifyUnique(ctx context.Context, tx Txn, x *index, keys [][]byte, o LockOpt) (writing []byte, err error) {
	o = LockOpt{Wait: o.Wait, NoValue: true}
	if _, err := lockSorted(ctx, tx, x.space, o, keys); err != nil {
		return nil, err
	}
	newest, err := tx.Newest()
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	for _, key := range keys {
		var entries [][]byte
		for _, r := range []Reader{tx, newest} {
			if entries, err = keysIn(ctx, r, x.space, kv.Prefix(key), 0, false, entries); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(entries, bytes.Compare)
		entries = slices.CompactFunc(entries, bytes.Equal)
		if len(entries) < 2 {
			continue
		}
		if entries, err = d.living(ctx, tx, x, entries, o); err != nil {
			return nil, err
		}
		if len(entries) < 2 {
			continue
		}
		for _, e := range entries {
			row := e[len(key):]
			if _, being, err := d.beingWritten(ctx, tx, row); being || err != nil {
				return row, err
			}
		}
		cols := make([]*vec.Vec, x.n)
		for i := range cols {
			cols[i] = codec.NewVec(x.key.Col(i).T, 1)
			if err := x.key.DecodeVec(i, [][]byte{key}, cols[i], 0, new(vec.Arena)); err != nil {
				return nil, corrupt(x.space, key, err)
			}
		}
		return nil, d.uniqueViolation(x, cols, 0)
	}
	return nil, nil
}

// keysIn appends the keys of a range to out; with a limit the first ones of them, or
// with reverse the last.
func keysIn(ctx context.Context, r Reader, sp kv.Space, in kv.Range, limit int, reverse bool, out [][]byte) ([][]byte, error) {
	it := r.Scan(ctx, sp, in, kv.ScanOpt{KeysOnly: true, Limit: limit, Reverse: reverse})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil || len(pairs) == 0 {
			return out, err
		}
		for _, p := range pairs {
			out = append(out, bytes.Clone(p.Key))
		}
	}
}

// living returns those entries that exist in the newest committed state with the
// transaction's own writes. Who writes one of them has it locked, and is waited for;
// whoever comes later is not kept from it.
func (d *Desc) living(ctx context.Context, tx Txn, x *index, entries [][]byte, o LockOpt) (out [][]byte, err error) {
	mark := tx.LockMark()
	defer tx.UnlockTo(mark)
	o.NoValue = false
	res, err := lockSorted(ctx, tx, x.space, o, entries)
	if err != nil {
		return nil, err
	}
	for i := range res {
		if res[i].Val != nil {
			out = append(out, entries[i])
		}
	}
	return out, nil
}
