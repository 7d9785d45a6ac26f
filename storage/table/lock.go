package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/kv/keysort"
)

// lockSorted locks keys in sorted order, each once, and returns the results by
// position in keys.
func lockSorted(ctx context.Context, tx Txn, sp kv.Space, o LockOpt, keys [][]byte) ([]LockResult, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	sorted, at := new(keySorter).distinct(keys)
	res, err := tx.LockKeys(ctx, sp, o, sorted...)
	if err != nil || at == nil {
		return res, err
	}
	out := make([]LockResult, len(at))
	for i := range out {
		out[i] = res[at[i]]
	}
	return out, nil
}

// keySorter puts lists of keys in order, with memory that is used again.
type keySorter struct {
	sort   keysort.Sorter
	sorted [][]byte
}

// distinct returns the keys in ascending order, each once, and for each position in
// keys the one in that list; nil if both are the same. The list is valid until the next
// call, and no longer than keys.
func (s *keySorter) distinct(keys [][]byte) (sorted [][]byte, at []int32) {
	if strictlySorted(keys) {
		return keys, nil
	}
	sorted, at = slices.Grow(s.sorted[:0], len(keys)), make([]int32, len(keys))
	for _, it := range s.sort.Items(len(keys), func(i int) []byte { return keys[i] }) {
		if n := len(sorted); n == 0 || !bytes.Equal(sorted[n-1], keys[it.Pos]) {
			sorted = append(sorted, keys[it.Pos])
		}
		at[it.Pos] = int32(len(sorted) - 1)
	}
	s.sorted = sorted
	return sorted, at
}

func strictlySorted(keys [][]byte) bool {
	for i := 1; i < len(keys); i++ {
		if bytes.Compare(keys[i-1], keys[i]) >= 0 {
			return false
		}
	}
	return true
}

// LockRows locks rows by key (in sorted order) and returns one result per key, in
// the order of keys. When rows that were locked have changed or gone since the snapshot
// it is *ChangedError with their keys (kv.ErrConflict above READ COMMITTED); for
// kv.ForKeyShare only when their keys have. Those that have gone stay locked, too, as who
// goes on with them reads them later. Skipped rows are reported in the results.
func (d *Desc) LockRows(ctx context.Context, tx Txn, keys [][]byte, o LockOpt) ([]LockResult, error) {
	if o.Mode == kv.ForKeyShare {
		return d.shareKeys(ctx, tx, keys, o)
	}
	o.AtSnapshot = tx.Isolation() != kv.ReadCommitted
	o.NoValue = true
	res, err := lockSorted(ctx, tx, d.space, o, keys)
	if err != nil {
		return nil, err
	}
	var changed [][]byte
	for i := range res {
		if res[i].Changed && !res[i].Skipped {
			changed = append(changed, keys[i])
		}
	}
	if changed != nil {
		return res, &ChangedError{Keys: changed}
	}
	return res, nil
}

// ShareNewest locks a row FOR KEY SHARE, if the newest state has it, and reports whether
// that has it, and whether it may have changed since the transaction's snapshot.
func (d *Desc) ShareNewest(ctx context.Context, tx Txn, key []byte, o LockOpt) (there, changed bool, err error) {
	o.Mode, o.IfPresent = kv.ForKeyShare, true
	res, err := tx.LockKeys(ctx, d.space, o, key)
	if err != nil {
		return false, false, err
	}
	return res[0].Val != nil, res[0].Changed, nil
}

// UnlockGone gives back the locks that LockRows has taken of rows that are gone.
func (d *Desc) UnlockGone(ctx context.Context, tx Txn, keys [][]byte) error {
	newest, err := tx.Newest()
	if err != nil {
		return err
	}
	defer newest.Close()
	var gone [][]byte
	for _, k := range keys {
		val, err := getOne(ctx, newest, d.space, k)
		if err != nil {
			return err
		}
		if val == nil && !tx.Wrote(d.space, k) {
			gone = append(gone, k)
		}
	}
	if gone != nil {
		tx.Unlock(d.space, gone...)
	}
	return nil
}

// ExistsLocked is Exists in a transaction on a whole unique key: the keys are
// locked as o says (kv.ForKeyShare for foreign keys), so that they cannot be deleted or
// inserted by others, and their newest committed state counts. A key that nobody has
// committed is absent; one that was deleted since a snapshot which cannot move, and is
// in that, is kv.ErrConflict. With seen, a key that was inserted since such a snapshot is
// absent as well.
func (d *Desc) ExistsLocked(ctx context.Context, tx Txn, ix *catalog.Index, keys []*vec.Vec, n int, rows []uint32, seen bool, o LockOpt) (hits []bool, err error) {
	x, err := d.index(ix)
	if err != nil {
		return nil, err
	}
	c, whole := d.keyCodec(x)
	if whole == 0 || whole != len(keys) {
		return nil, sqlerr.New(sqlerr.InvalidForeignKey, "there is no unique constraint matching given keys for referenced table \"%s\"", d.Table.Name)
	}
	var p probes
	p.set(c, keys, n, rows)
	if rows != nil {
		n = len(rows)
	}
	hits = make([]bool, n)
	o.IfPresent = true
	sp := d.fileOf(x)
	byEntry := sp.ID != d.space.ID // the rows have other keys than these
	var shared [][]byte
	if byEntry {
		if shared, err = d.shareRowsOf(ctx, tx, x, p.list, o); err != nil {
			return nil, err
		}
	}
	res, err := lockSorted(ctx, tx, sp, o, p.list)
	if err != nil {
		return nil, err
	}
	if byEntry {
		if err := d.shareOthers(ctx, tx, x, p.list, res, shared, o); err != nil {
			return nil, err
		}
	}
	for i := range res {
		hits[p.pos[i]] = res[i].Val != nil
		if !res[i].Changed || tx.Isolation() == kv.ReadCommitted || res[i].Val != nil && !seen {
			continue
		}
		switch had, err := hadAtSnapshot(ctx, tx, sp, p.list[i]); {
		case err != nil:
			return nil, err
		case !had:
			hits[p.pos[i]] = false
		case res[i].Val == nil:
			return nil, kv.ErrConflict
		}
	}
	return hits, nil
}

// shareRowsOf locks the rows that have keys of a unique index, which somebody who locks
// the rows FOR UPDATE waits for, and returns their row keys, nil where there is none. It
// comes before the lock of the keys, as who deletes a row locks it before its keys.
func (d *Desc) shareRowsOf(ctx context.Context, tx Txn, x *index, keys [][]byte, o LockOpt) ([][]byte, error) {
	newest, err := tx.Newest()
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	vals, err := newest.BatchGet(ctx, d.fileOf(x), keys)
	if err != nil {
		return nil, err
	}
	rows := make([][]byte, len(keys))
	var list [][]byte
	for i, v := range vals {
		if v == nil {
			continue
		}
		if rows[i], err = x.rowOf(keys[i], v); err != nil {
			return nil, err
		}
		rows[i] = bytes.Clone(rows[i])
		list = append(list, rows[i])
	}
	_, err = lockSorted(ctx, tx, d.space, o, list)
	return rows, err
}

// shareOthers locks the rows that have the keys now that they are locked, where they are
// others than those that shareRowsOf found.
func (d *Desc) shareOthers(ctx context.Context, tx Txn, x *index, keys [][]byte, res []LockResult, shared [][]byte, o LockOpt) error {
	var list [][]byte
	for i := range res {
		if res[i].Val == nil {
			continue
		}
		row, err := x.rowOf(keys[i], res[i].Val)
		if err != nil {
			return err
		}
		if !bytes.Equal(row, shared[i]) {
			list = append(list, row)
		}
	}
	_, err := lockSorted(ctx, tx, d.space, o, list)
	return err
}

// rowOf returns the row key of a unique index's entry.
func (x *index) rowOf(key, val []byte) ([]byte, error) {
	e, err := codec.OpenEntry(key, val)
	if err != nil {
		return nil, corrupt(x.space, key, err)
	}
	return e.Master, nil
}

// hadAtSnapshot reports whether the transaction's snapshot has a key that it has not
// written. A later change of it is no conflict.
func hadAtSnapshot(ctx context.Context, tx Txn, sp kv.Space, key []byte) (bool, error) {
	sn, err := tx.Export()
	if err != nil {
		return false, err
	}
	defer sn.Close()
	val, err := getOne(ctx, sn, sp, key)
	return val != nil, err
}

// Revisable reports whether Revise can be used: rows lie by themselves, and have no
// values of which an update reads what is stored.
func (d *Desc) Revisable() bool {
	return d.cluster() == nil && !slices.ContainsFunc(d.groups, func(g *groupFile) bool { return g.elements })
}

// Appeared returns kv.ErrConflict, or ErrChanged in READ COMMITTED, if one of the rows,
// which a newer state has and the transaction does not see like that, was not changed or
// deleted by itself.
func (d *Desc) Appeared(tx Txn, keys [][]byte) error {
	for _, k := range keys {
		if !d.RowWritten(tx, k) {
			return changed(tx)
		}
	}
	return nil
}

// RowWritten reports whether the transaction itself has written the row of a key, or
// deleted it; of values that are stored by their elements that is not known.
func (d *Desc) RowWritten(tx kv.Txn, key []byte) bool { return d.rowIn(tx.Wrote, key) }

// RowRewritten reports whether the transaction has written the row of a key, or deleted
// it, since it had a view; of values that are stored by their elements that is not known.
func (d *Desc) RowRewritten(since kv.View, key []byte) bool { return d.rowIn(since.Rewritten, key) }

// rowIn reports whether something is true of the row of a key in one of the files that
// have a pair for it.
func (d *Desc) rowIn(is func(kv.Space, []byte) bool, key []byte) bool {
	return is(d.space, key) ||
		slices.ContainsFunc(d.groups, func(g *groupFile) bool { return !g.elements && is(g.space, key) })
}

// Untouched reports whether the transaction itself has surely written no part of the row
// of a key.
func (d *Desc) Untouched(tx kv.Txn, key []byte) bool {
	return !slices.ContainsFunc(d.groups, func(g *groupFile) bool { return g.elements }) && !d.RowWritten(tx, key)
}
