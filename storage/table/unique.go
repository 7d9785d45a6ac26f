package table

import (
	"bytes"
	"context"
	"errors"

	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// uniqueCheck is what is known of the keys that a batch wants in one unique file.
type uniqueCheck struct {
	x    *index
	cols []*vec.Vec
	res  []LockResult // by key, each once; Val is what exists, those that others are writing are Skipped
	// of has for each position in the selection the number of the row's key, -1 if it has
	// no unique key here; nil: each row has the key of its position.
	of []int32
	// taken has for each key the position of the row that was inserted, or -1; nil when
	// all rows' keys differ.
	taken []int32
}

// key returns the number of the key of the row at p, -1 if it has none.
func (c *uniqueCheck) key(p int) int {
	if c.of == nil {
		return p
	}
	return int(c.of[p])
}

// checkInsert locks the new unique keys of the new image and decides which rows
// are left out (nil: none). A key that exists is not locked: who only reads its row
// with a lock does not make others wait. Conflicts are reported in res or returned as 23505.
func (w *Writer) checkInsert(ctx context.Context, sel []uint32, o InsertOpt, res *InsertResult) ([]bool, error) {
	var mark kv.LockMark
	if o.Conflict != ConflictError || len(sel) > 1 {
		mark = w.tx.LockMark()
	}
	for {
		skip, wait, err := w.tryInsert(ctx, sel, o, mark, res)
		if err != nil || wait.key == nil {
			return skip, err
		}
		// Who waits has no locks of keys that others may want meanwhile; a single row that is
		// to fail or to be inserted keeps those that it has, as in PostgreSQL.
		if mark != nil {
			w.tx.UnlockTo(mark)
		}
		wait.o.Wait = o.Lock.Wait
		if _, err := w.tx.LockKeys(ctx, wait.space, wait.o, wait.key); err != nil {
			return nil, err
		}
		w.gone = nil
	}
}

// awaited is a key that another transaction is writing, which has to end before it is known
// whether a new row has a conflict; nil: there is none.
type awaited struct {
	space kv.Space
	key   []byte
	o     LockOpt
}

// tryInsert is checkInsert up to the first row that has to wait. What that row waits for is
// the key of the row, or the row that has its key.
func (w *Writer) tryInsert(ctx context.Context, sel []uint32, o InsertOpt, mark kv.LockMark, res *InsertResult) (skip []bool, wait awaited, err error) {
	checks, err := w.uniqueChecks(ctx, sel, o)
	if err != nil || len(checks) == 0 {
		return nil, wait, err
	}
	var left []leftOut
	for p, row := range sel {
		c, same := firstConflict(checks, p)
		if c == nil {
			for _, c := range checks {
				c.take(p)
			}
			continue
		}
		if !same && c.res[c.key(p)].Skipped {
			return nil, awaited{w.d.fileOf(c.x), w.keyIn(c.x, c.cols, p, row), LockOpt{IfAbsent: true}}, nil
		}
		var behind LockResult
		if !same && (o.Conflict != ConflictReport || o.rank(c.x) > 0) { // or its lock is waited for
			if wait, behind, err = w.behind(ctx, c, p, row); wait.key != nil || err != nil {
				return nil, wait, err
			}
		}
		if o.Conflict == ConflictError || o.rank(c.x) > 0 {
			return nil, wait, w.d.uniqueViolation(c.x, c.cols, int(row))
		}
		left = append(left, leftOut{c, p, same, behind.Changed})
	}
	if left == nil {
		return nil, wait, nil
	}
	if len(left) == len(sel) {
		w.tx.UnlockTo(mark) // other keys of the rows, which nobody has to wait for
	} else {
		w.unlockOthers(checks, left, sel)
	}
	skip = make([]bool, len(sel))
	for _, l := range left {
		skip[l.p] = true
		conflict, err := w.conflict(ctx, l, sel[l.p], o)
		if err != nil {
			return nil, wait, err
		}
		res.Conflicts = append(res.Conflicts, conflict)
	}
	return skip, wait, nil
}

// keyIn is the key of the row at p in the file of a unique index.
func (w *Writer) keyIn(x *index, cols []*vec.Vec, p int, row uint32) []byte {
	if x.master {
		return w.new.list[p]
	}
	return x.key.Append(nil, cols, int(row))
}

// behind looks at the row that has the key of the row at p in a secondary index: whether it
// has changed since the snapshot and, if another transaction is writing it, its key. That
// one has not taken the key from it yet, or its entry would be written, too.
func (w *Writer) behind(ctx context.Context, c *uniqueCheck, p int, row uint32) (wait awaited, res LockResult, err error) {
	if c.x.master {
		return wait, res, nil
	}
	key, res, err := w.beingWritten(ctx, c.x, w.keyIn(c.x, c.cols, p, row), c.res[c.key(p)].Val)
	return awaited{w.d.space, key, LockOpt{IfWritten: true}}, res, err
}

// beingWritten is behind for the entry of a unique index.
func (w *Writer) beingWritten(ctx context.Context, x *index, key, val []byte) (row []byte, res LockResult, err error) {
	master, err := x.rowOf(key, val)
	if err != nil || master == nil {
		return nil, res, err
	}
	res, being, err := w.d.beingWritten(ctx, w.tx, master)
	if !being {
		master = nil
	}
	return master, res, err
}

// beingWritten reports whether another transaction is writing a row; if not, the result
// tells whether the row has changed since the snapshot.
func (d *Desc) beingWritten(ctx context.Context, tx Txn, row []byte) (res LockResult, being bool, err error) {
	found, err := tx.LockKeys(ctx, d.space, LockOpt{IfWritten: true}, row)
	switch {
	case errors.Is(err, kv.ErrLockTimeout):
		return res, true, nil
	case err != nil:
		return res, false, err
	}
	return found[0], false, nil
}

// unlockOthers gives back the locks of keys that only rows have which are left out for
// another key: nobody has to wait for them.
func (w *Writer) unlockOthers(checks []*uniqueCheck, left []leftOut, sel []uint32) {
	for _, c := range checks {
		var keys [][]byte
		for _, l := range left {
			k := c.key(l.p)
			if k >= 0 && c.res[k].Val == nil && (c.taken == nil || c.taken[k] < 0) {
				keys = append(keys, w.keyIn(c.x, c.cols, l.p, sel[l.p]))
			}
		}
		w.tx.Unlock(w.d.fileOf(c.x), keys...)
	}
}

// uniqueChecks locks the new keys of the unique indexes: where conflicts leave rows out, of
// those that decide about that first, and no further when all rows have conflicts. A
// single row fails by the first index that has its key.
func (w *Writer) uniqueChecks(ctx context.Context, sel []uint32, o InsertOpt) (checks []*uniqueCheck, err error) {
	ranks := 1
	if o.Conflict != ConflictError && o.Arbiters != nil {
		ranks = 2
	}
	for rank := range ranks {
		for i, x := range w.d.indexes {
			if !x.unique || x.cat.Unready || ranks > 1 && o.rank(x) != rank {
				continue
			}
			c, err := w.uniqueKeys(ctx, i, sel)
			if err != nil {
				return nil, err
			}
			if c == nil {
				continue
			}
			checks = append(checks, c)
			if (o.Conflict != ConflictError || len(sel) == 1) && allConflict(checks, len(sel)) {
				return checks, nil
			}
		}
	}
	return checks, nil
}

// allConflict reports whether each of n rows has a key that exists.
func allConflict(checks []*uniqueCheck, n int) bool {
	for p := range n {
		if c, same := firstConflict(checks, p); c == nil || same {
			return false
		}
	}
	return true
}

// leftOut is a row, by its place, that is not inserted as an index has its key already;
// same: for one of the rows before it.
type leftOut struct {
	c       *uniqueCheck
	p       int
	same    bool
	changed bool // the row of a secondary key has changed since the snapshot
}

// rank is 0 for arbiter indexes, 1 for others.
func (o *InsertOpt) rank(x *index) int {
	if o.Arbiters == nil {
		return 0
	}
	for _, a := range o.Arbiters {
		if a.OID == x.cat.OID {
			return 0
		}
	}
	return 1
}

// uniqueKeys encodes and locks the search keys of unique index i.
func (w *Writer) uniqueKeys(ctx context.Context, i int, sel []uint32) (*uniqueCheck, error) {
	m, x := &w.new, w.d.indexes[i]
	c := &uniqueCheck{x: x}
	var err error
	if c.cols, err = m.indexCols(i); err != nil {
		return nil, err
	}
	keys := m.list
	if !x.master {
		pred, err := m.inIndex(i)
		if err != nil {
			return nil, err
		}
		if keys = w.searchKeys(c, pred, sel); len(keys) == 0 {
			return nil, nil
		}
	}
	sorted, at := w.sorter.distinct(keys)
	// A key that another is writing is left for the first row that has to wait: a row before
	// it may fail.
	o := LockOpt{IfAbsent: true, SkipLocked: true}
	if c.res, err = w.tx.LockKeys(ctx, w.d.fileOf(x), o, sorted...); err != nil {
		return nil, err
	}
	if x.master {
		w.noteGone(c.res, sorted)
	}
	if len(sorted) < len(keys) {
		c.taken = make([]int32, len(sorted))
		for i := range c.taken {
			c.taken[i] = -1
		}
	}
	switch {
	case c.of == nil:
		c.of = at
	case at != nil:
		for p, k := range c.of {
			if k >= 0 {
				c.of[p] = at[k]
			}
		}
	}
	return c, nil
}

// searchKeys encodes the keys that rows have in a unique index, in the order of the
// rows, and tells in c.of which is whose unless all have one. They are valid until the
// next call.
func (w *Writer) searchKeys(c *uniqueCheck, pred *vec.Vec, sel []uint32) [][]byte {
	buf := &w.unique
	buf.Reset()
	for p, row := range sel {
		if !isTrue(pred, int(row)) || !c.x.distinct(c.cols, int(row)) {
			if c.of == nil {
				c.of = make([]int32, len(sel))
				for i := range p {
					c.of[i] = int32(i)
				}
			}
			c.of[p] = -1
			continue
		}
		if c.of != nil {
			c.of[p] = int32(buf.Len())
		}
		buf.Add(func(dst []byte) []byte { return c.x.key.Append(dst, c.cols, int(row)) })
	}
	w.list = buf.Keys(w.list[:0])
	return w.list
}

// firstConflict returns the first index that has the key of the row at p, or in which
// another transaction is writing it, and whether a row of the same batch is the one it has.
func firstConflict(checks []*uniqueCheck, p int) (*uniqueCheck, bool) {
	for _, c := range checks {
		k := c.key(p)
		if k < 0 {
			continue
		}
		if c.res[k].Val != nil || c.res[k].Skipped {
			return c, false
		}
		if c.taken != nil && c.taken[k] >= 0 {
			return c, true
		}
	}
	return nil, false
}

// take notes that the row at p gets its key.
func (c *uniqueCheck) take(p int) {
	if k := c.key(p); k >= 0 && c.taken != nil {
		c.taken[k] = int32(p)
	}
}

// conflict describes a row that is left out and, for ConflictReport, locks the
// row that has its key. A row that the snapshot does not have is kv.ErrConflict above READ
// COMMITTED.
func (w *Writer) conflict(ctx context.Context, l leftOut, row uint32, o InsertOpt) (Conflict, error) {
	c, p := l.c, l.p
	out := Conflict{Row: row, Index: c.x.cat, Same: l.same}
	if l.same {
		out.Key = w.new.list[c.taken[c.key(p)]]
		return out, nil
	}
	if c.x.master {
		out.Key = w.new.list[p]
	} else {
		key := w.keyIn(c.x, c.cols, p, row)
		var err error
		if out.Key, err = c.x.rowOf(key, c.res[c.key(p)].Val); err != nil {
			return out, err
		}
	}
	if o.Conflict == ConflictSkip && w.tx.Isolation() == kv.ReadCommitted {
		return out, nil
	}
	changed := w.tx.Isolation() != kv.ReadCommitted && (l.changed || c.res[c.key(p)].Changed)
	if o.Conflict == ConflictReport {
		l := o.Lock
		l.Mode, l.NoValue = o.Mode, true
		if changed { // the newest row's lock comes first, as it is the newest one that has the key
			if _, err := w.tx.LockKeys(ctx, w.d.space, l, out.Key); err != nil {
				return out, err
			}
			return out, kv.ErrConflict
		}
		_, err := w.d.LockRows(ctx, w.tx, [][]byte{out.Key}, l)
		if errors.Is(err, ErrChanged) {
			out.Newer = true
			err = w.stillConflicts(ctx, c, row, &out)
		}
		return out, err
	}
	if changed {
		return out, kv.ErrConflict
	}
	return out, nil
}

// stillConflicts returns ErrChanged if the row of a conflict, which is locked now, has
// lost its key to nobody or to another row.
func (w *Writer) stillConflicts(ctx context.Context, c *uniqueCheck, row uint32, x *Conflict) error {
	key := x.Key
	if !c.x.master {
		key = c.x.key.Append(nil, c.cols, int(row))
	}
	newest, err := w.tx.Newest()
	if err != nil {
		return err
	}
	defer newest.Close()
	val, err := getOne(ctx, newest, w.d.fileOf(c.x), key)
	if err != nil {
		return err
	}
	if val == nil {
		return ErrChanged
	}
	if c.x.master {
		return nil
	}
	has, err := c.x.rowOf(key, val)
	if err == nil && !bytes.Equal(has, x.Key) {
		return ErrChanged
	}
	return err
}

// owns reports whether a row's entry in an index may be removed or replaced. In a unique
// index that is not valid the uniqueness of older rows was not checked: another row may
// have the entry of the key. The key is locked then.
func (w *Writer) owns(ctx context.Context, x *index, key, master []byte, o LockOpt) (bool, error) {
	if !x.cat.Invalid || !x.unique {
		return true, nil
	}
	res, err := w.tx.LockKeys(ctx, x.space, LockOpt{Wait: o.Wait}, key)
	if err != nil {
		return false, err
	}
	return x.entryOf(key, res[0].Val, master)
}

// entryOf reports whether a stored entry, nil for none, is of the row under a key.
func (x *index) entryOf(key, val, master []byte) (bool, error) {
	if val == nil {
		return true, nil
	}
	e, err := codec.OpenEntry(key, val)
	if err != nil {
		return false, corrupt(x.space, key, err)
	}
	return e.Master == nil || bytes.Equal(e.Master, master), nil
}
