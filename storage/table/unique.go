package table

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// uniqueCheck is what is known of the keys that a batch wants in one unique file.
type uniqueCheck struct {
	x    *index
	cols []*vec.Vec
	res  []LockResult // by position in the selection; Val is what exists
	has  []bool       // false: the row has no unique key here (nil: all have)
	// group numbers rows with equal keys, and taken has for each group the position
	// of the row that was inserted, or -1. Both are nil when all keys differ.
	group []int32
	taken []int32
}

// checkInsert locks the new unique keys of the new image and decides which rows
// are left out (nil: none). A key that exists is not locked: who only reads its row
// with a lock does not make others wait. Conflicts are reported in res or returned as 23505.
func (w *Writer) checkInsert(ctx context.Context, sel []uint32, o InsertOpt, res *InsertResult) ([]bool, error) {
	var checks []*uniqueCheck
	for i, x := range w.d.indexes {
		if !x.unique {
			continue
		}
		c, err := w.uniqueKeys(ctx, i, sel, o.Lock)
		if err != nil {
			return nil, err
		}
		if c != nil {
			checks = append(checks, c)
		}
	}
	if len(checks) == 0 {
		return nil, nil
	}
	if o.Conflict != ConflictError {
		// Arbiters decide before other indexes may fail.
		slices.SortStableFunc(checks, func(a, b *uniqueCheck) int { return o.rank(a.x) - o.rank(b.x) })
	}
	var skip []bool
	for p, row := range sel {
		c, same := firstConflict(checks, p)
		if c == nil {
			for _, c := range checks {
				c.take(p)
			}
			continue
		}
		if o.Conflict == ConflictError || o.rank(c.x) > 0 {
			return nil, w.d.uniqueViolation(c.x, c.cols, int(row))
		}
		if skip == nil {
			skip = make([]bool, len(sel))
		}
		skip[p] = true
		conflict, err := w.conflict(ctx, c, p, row, same, o)
		if err != nil {
			return nil, err
		}
		res.Conflicts = append(res.Conflicts, conflict)
	}
	return skip, nil
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
func (w *Writer) uniqueKeys(ctx context.Context, i int, sel []uint32, o LockOpt) (*uniqueCheck, error) {
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
		var buf codec.KeyBuf
		c.has = make([]bool, len(sel))
		for p, row := range sel {
			if isTrue(pred, int(row)) && x.distinct(c.cols, int(row)) {
				c.has[p] = true
				buf.Add(func(dst []byte) []byte { return x.key.Append(dst, c.cols, int(row)) })
			}
		}
		if buf.Len() == 0 {
			return nil, nil
		}
		keys = buf.Keys(nil)
	}
	o = LockOpt{Wait: o.Wait, IfAbsent: true}
	sorted, at := distinctKeys(keys)
	res, err := lockDistinct(ctx, w.tx, w.d.fileOf(x), o, sorted, at)
	if err != nil {
		return nil, err
	}
	if x.master {
		w.noteGone(res, keys)
	}
	if c.res = res; c.has != nil {
		c.res = make([]LockResult, len(sel))
		k := 0
		for p, has := range c.has {
			if has {
				c.res[p] = res[k]
				k++
			}
		}
	}
	if len(sorted) < len(keys) {
		c.setGroups(at, len(sorted))
	}
	return c, nil
}

// setGroups fills group and taken when keys repeat: of tells for each row that has one
// which of n keys it is.
func (c *uniqueCheck) setGroups(of []int32, n int) {
	c.group, c.taken = of, make([]int32, n)
	for i := range c.taken {
		c.taken[i] = -1
	}
	if c.has != nil {
		c.group = make([]int32, len(c.has))
		k := 0
		for p, has := range c.has {
			if has {
				c.group[p] = of[k]
				k++
			}
		}
	}
}

// firstConflict returns the first index that has the key of the row at p, and
// whether a row of the same batch is the one it has.
func firstConflict(checks []*uniqueCheck, p int) (*uniqueCheck, bool) {
	for _, c := range checks {
		if c.has != nil && !c.has[p] {
			continue
		}
		if c.res[p].Val != nil {
			return c, false
		}
		if c.group != nil && c.taken[c.group[p]] >= 0 {
			return c, true
		}
	}
	return nil, false
}

// take notes that the row at p gets its key.
func (c *uniqueCheck) take(p int) {
	if c.group != nil && (c.has == nil || c.has[p]) {
		c.taken[c.group[p]] = int32(p)
	}
}

// conflict describes a row that is left out and, for ConflictReport, locks the
// row that has its key. A row that the snapshot does not have is kv.ErrConflict above READ
// COMMITTED.
func (w *Writer) conflict(ctx context.Context, c *uniqueCheck, p int, row uint32, same bool, o InsertOpt) (Conflict, error) {
	out := Conflict{Row: row, Index: c.x.cat, Same: same}
	if same {
		out.Key = w.new.list[c.taken[c.group[p]]]
		return out, nil
	}
	if c.x.master {
		out.Key = w.new.list[p]
	} else {
		key := c.x.key.Append(nil, c.cols, int(row))
		e, err := codec.OpenEntry(key, c.res[p].Val)
		if err != nil {
			return out, corrupt(c.x.space, key, err)
		}
		out.Key = e.Master
	}
	if o.Conflict == ConflictSkip && w.tx.Isolation() == kv.ReadCommitted {
		return out, nil
	}
	if w.tx.Isolation() != kv.ReadCommitted && c.res[p].Changed {
		return out, kv.ErrConflict
	}
	if o.Conflict == ConflictReport {
		l := o.Lock
		l.Mode = o.Mode
		_, err := w.d.LockRows(ctx, w.tx, [][]byte{out.Key}, l)
		if errors.Is(err, ErrChanged) {
			out.Newer = true
			err = w.stillConflicts(ctx, c, row, &out)
		}
		return out, err
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
	e, err := codec.OpenEntry(key, val)
	if err != nil {
		return corrupt(c.x.space, key, err)
	}
	if !bytes.Equal(e.Master, x.Key) {
		return ErrChanged
	}
	return nil
}
