package txn

import (
	"context"
	"errors"
	"fmt"

	"kvsqld/storage/kv"
)

// writable returns the writes to a space after the checks that every write
// has to pass.
func (t *Txn) writable(sp kv.Space) (*spaceWrites, error) {
	if t.opt.ReadOnly {
		return nil, kv.ErrReadOnly
	}
	if t.done.Load() {
		return nil, kv.ErrTxnDone
	}
	if t.owner.number.Load() == 0 && t.client != 0 {
		if _, err := t.Number(); err != nil {
			return nil, err
		}
	}
	if t.w == nil {
		t.w = new(writes)
		t.st.sync.writers.Add(1)
	}
	if t.serial != nil {
		t.serial.wrote.Store(true)
	}
	return t.w.space(sp, t.st.locks), nil
}

func (t *Txn) checkSize(key, val []byte) error {
	if len(key) == 0 || len(key) > t.st.maxKey {
		return fmt.Errorf("%w: key of %d bytes, allowed are 1 to %d", kv.ErrTooLarge, len(key), t.st.maxKey)
	}
	if len(val) > t.st.maxVal {
		return fmt.Errorf("%w: value of %d bytes, allowed are 1 to %d", kv.ErrTooLarge, len(val), t.st.maxVal)
	}
	if limit := t.st.opt.MaxTxnBytes; limit > 0 && t.w.arena.used+len(key)+len(val) > limit {
		return fmt.Errorf("%w: transaction writes more than %d bytes", kv.ErrTooLarge, limit)
	}
	return nil
}

// lockForWrite enforces the write-write rule for a key that is not covered. What a
// write with flagNewest, and an earlier one of the transaction, was let do is not
// asked again.
func (t *Txn) lockForWrite(s *spaceWrites, key []byte, flags uint16) (rowResult, error) {
	sn, err := t.snapshot()
	if err != nil {
		return rowResult{}, err
	}
	res, err := t.st.locks.lockRow(context.Background(), &t.owner, s.sl, key, sn.seq, kv.LockOpt{}, true)
	if err != nil {
		return res, fmt.Errorf("%w: the key is locked by another transaction", kv.ErrConflict)
	}
	if err := t.meet(res.lastSeq); err != nil {
		t.remark = true
		return res, err
	}
	if res.lastSeq > sn.seq && flags&flagNewest == 0 && (!res.explicit || t.opt.Isolation != kv.ReadCommitted) && !t.Wrote(s.sp, key) {
		t.remark = true
		return res, fmt.Errorf("%w: the key was changed by commit %d", kv.ErrConflict, res.lastSeq)
	}
	if t.serial != nil && res.lastSeq > sn.seq {
		t.serial.met.Store(true)
	}
	return res, nil
}

func (t *Txn) write(sp kv.Space, key, val []byte, flags uint16) error {
	s, err := t.writable(sp)
	if err != nil {
		return err
	}
	if err := t.checkSize(key, val); err != nil {
		return err
	}
	if flags&flagCovered == 0 {
		if _, err := t.lockForWrite(s, key, flags); err != nil {
			return err
		}
	}
	if err := t.grow(len(key) + len(val)); err != nil {
		return err
	}
	t.add(s, key, val, flags)
	return nil
}

func (t *Txn) add(s *spaceWrites, key, val []byte, flags uint16) {
	s.top().add(t.w.arena.entry(key, val, flags))
	t.w.dirty = true
	if t.stats != nil {
		f := t.stats.File(s.sp)
		f.KeysWritten.Add(1)
		f.BytesWritten.Add(int64(len(key) + len(val)))
	}
}

func flagsOf(f []kv.Flag) (flags uint16) {
	for _, x := range f {
		if x&kv.Covered != 0 {
			flags |= flagCovered
		}
		if x&kv.Newest != 0 {
			flags |= flagNewest
		}
		if x&kv.Private != 0 {
			flags |= flagPrivate | flagCovered
		}
	}
	return flags
}

func (t *Txn) Put(sp kv.Space, key, val []byte, f ...kv.Flag) error {
	if len(val) == 0 {
		return fmt.Errorf("%w: empty value", kv.ErrTooLarge)
	}
	return t.write(sp, key, val, flagsOf(f))
}

func (t *Txn) Delete(sp kv.Space, key []byte, f ...kv.Flag) error {
	return t.write(sp, key, nil, flagsOf(f)|flagDelete)
}

// Touch locks a key as a write does and leaves it as it is.
func (t *Txn) Touch(sp kv.Space, key []byte) error {
	s, err := t.writable(sp)
	if err != nil {
		return err
	}
	if _, err := t.lockForWrite(s, key, 0); err != nil {
		return err
	}
	t.st.locks.touch(&t.owner, s.sl, key)
	return nil
}

func (t *Txn) Insert(sp kv.Space, key, val []byte) error {
	if len(val) == 0 {
		return fmt.Errorf("%w: empty value", kv.ErrTooLarge)
	}
	s, err := t.writable(sp)
	if err != nil {
		return err
	}
	if err := t.checkSize(key, val); err != nil {
		return err
	}
	res, err := t.lockForWrite(s, key, 0)
	if err != nil {
		return err
	}
	old, err := t.current(sp, key, res.lastSeq)
	if err == nil && old != nil {
		t.noteLook(sp, key, false)
		err = kv.ErrExists
	}
	if err != nil {
		t.remark = true
		return err
	}
	if err := t.grow(len(key) + len(val)); err != nil {
		t.remark = true
		return err
	}
	t.add(s, key, val, 0)
	return nil
}

// current returns the value a locked key has now: the own write, else the
// latest committed value. lastSeq is the last commit that changed the key.
func (t *Txn) current(sp kv.Space, key []byte, lastSeq uint64) ([]byte, error) {
	sn, err := t.snapshot()
	if err != nil {
		return nil, err
	}
	if lastSeq <= sn.seq {
		return t.get(sp, key)
	}
	return t.newer(sp, key)
}

// newer is current for a key that has changed since the snapshot. What hides the
// snapshot's value from the transaction alone says nothing of what others have put there.
func (t *Txn) newer(sp kv.Space, key []byte) ([]byte, error) {
	if s := t.own(sp); s != nil && !t.hidden(s, key) {
		if v, ok, err := t.written(s, key); ok || err != nil {
			return v, err
		}
	}
	newest, err := t.acquireNewest()
	if err != nil {
		return nil, err
	}
	defer t.st.snaps.release(newest)
	if t.st.sync.eng != nil {
		t.seen = max(t.seen, newest.seq)
	}
	v, err := newest.es.Get(sp, key)
	if v == nil || err != nil {
		return nil, err
	}
	if t.w == nil {
		t.w = new(writes)
		t.st.sync.writers.Add(1)
	}
	return t.w.arena.copy(v), nil
}

func (t *Txn) LockKeys(ctx context.Context, sp kv.Space, o kv.LockOpt, keys ...[]byte) ([]kv.LockResult, error) {
	if t.opt.ReadOnly {
		return nil, kv.ErrReadOnly
	}
	sn, err := t.snapshot()
	if err != nil {
		return nil, err
	}
	var sl *spaceLock
	if s := t.own(sp); s != nil {
		sl = s.sl
	} else {
		sl = t.st.locks.space(sp.ID)
	}
	if len(keys) > 0 && t.client != 0 {
		if _, err := t.Number(); err != nil {
			return nil, err
		}
	}
	out := make([]kv.LockResult, len(keys))
	read, err := t.readAhead(ctx, sp, o, keys)
	if err != nil {
		return nil, err
	}
	// current is the method for the key at i.
	current := func(i int, lastSeq uint64) ([]byte, error) {
		if read != nil && lastSeq <= sn.seq {
			return read[i], nil
		}
		return t.current(sp, keys[i], lastSeq)
	}
	t.st.locks.expect(&t.owner, sl, o)
	for i, k := range keys {
		if o.IfWritten {
			if out[i].Changed, err = t.awaitWriter(ctx, sl, k, sn.seq, o); err != nil {
				return nil, err
			}
			out[i].Changed = out[i].Changed && !t.Wrote(sp, k)
			continue
		}
		var seen uint64 // commits up to this one are in the value read
		if o.IfPresent || o.IfAbsent && !t.st.locks.beingWritten(&t.owner, sl, k) {
			// The newest committed value, or the transaction's own.
			changed := t.st.locks.lastChange(sl, k, sn.seq)
			if err := t.meet(changed); err != nil {
				return nil, err
			}
			out[i].Changed = changed > sn.seq && !t.Wrote(sp, k)
			if out[i].Val, err = current(i, changed); err != nil {
				return nil, err
			}
			seen = max(sn.seq, changed)
			if err := t.appeared(sp, k, &out[i], o); err != nil {
				return nil, err
			}
			if (out[i].Val != nil) == o.IfAbsent {
				t.noteLook(sp, k, out[i].Changed)
				continue
			}
		}
		kv.Pause()
		held := len(t.owner.rows)
		res, err := t.lockRow(ctx, sl, k, sn.seq, o)
		if err == nil && res.settled { // the row is most likely there
			if err := t.meet(res.lastSeq); err != nil {
				return nil, err
			}
			kv.Pause()
			// No lock keeps what is read here as it is: it is not read again.
			if out[i].Val, err = current(i, res.lastSeq); err != nil {
				return nil, err
			}
			if out[i].Val != nil {
				out[i].Changed = res.lastSeq > sn.seq && !t.Wrote(sp, k)
				if err := t.appeared(sp, k, &out[i], o); err != nil {
					return nil, err
				}
				t.noteLook(sp, k, out[i].Changed)
				continue
			}
			whole := o
			whole.IfAbsent = false
			res, err = t.lockRow(ctx, sl, k, sn.seq, whole)
		}
		if err != nil {
			if o.SkipLocked && errors.Is(err, kv.ErrLockTimeout) {
				out[i].Skipped = true
				continue
			}
			return nil, err
		}
		kv.Pause()
		if err := t.meet(res.lastSeq); err != nil {
			return nil, err
		}
		out[i].Changed = res.lastSeq > sn.seq && !t.Wrote(sp, k)
		if out[i].Changed && o.AtSnapshot {
			v, err := current(i, res.lastSeq)
			if err != nil {
				return nil, err
			}
			return nil, &kv.ConflictError{Deleted: v == nil, Detail: fmt.Sprintf("the key was changed by commit %d", res.lastSeq)}
		}
		if out[i].Changed || !o.NoValue && !o.IfAbsent && o.Mode != kv.ForKeyShare {
			t.noteLook(sp, k, out[i].Changed)
		}
		if o.NoValue || seen != 0 && res.lastSeq <= seen {
			continue
		}
		if out[i].Val, err = current(i, res.lastSeq); err != nil {
			return nil, err
		}
		if err := t.appeared(sp, k, &out[i], o); err != nil {
			return nil, err
		}
		// After a wait for who made or deleted it, it is not a key that was to be locked.
		if there := out[i].Val != nil; there && o.IfAbsent || !there && o.IfPresent {
			t.noteLook(sp, k, out[i].Changed)
			if len(t.owner.rows) > held {
				t.st.locks.releaseRowsFrom(&t.owner, held, nil)
			}
		}
	}
	return out, nil
}

// awaitWriter waits for another transaction that is writing a key, if there is one, and
// reports whether the key has changed since a commit.
func (t *Txn) awaitWriter(ctx context.Context, sl *spaceLock, key []byte, since uint64, o kv.LockOpt) (changed bool, err error) {
	o.Mode = kv.ForShare
	err = t.st.locks.passing(func() error { return t.st.locks.awaitWriter(ctx, &t.owner, sl, key, o) })
	if err != nil {
		return false, err
	}
	last := t.st.locks.lastChange(sl, key, since)
	return last > since, t.meet(last)
}

// lockRow locks a key, after those whom it has to wait for.
func (t *Txn) lockRow(ctx context.Context, sl *spaceLock, key []byte, since uint64, o kv.LockOpt) (res rowResult, err error) {
	err = t.st.locks.passing(func() (err error) {
		res, err = t.st.locks.lockRow(ctx, &t.owner, sl, key, since, o, o.AsWritten)
		return err
	})
	return res, err
}

// noteLook notes for a SERIALIZABLE transaction that it has seen what a key has now.
// Of a key that stays locked only others that come later need to know it, and
// not of one that is about to be written; nor of one that was only found to be there,
// which is true for those who delete it later and see what rests on it.
func (t *Txn) noteLook(sp kv.Space, key []byte, changed bool) {
	switch {
	case t.serial == nil:
	case changed:
		t.serial.met.Store(true)
	case !t.hasOwn(sp, key):
		t.reads.addKey(sp.ID, key)
	}
}

func (t *Txn) AllLocked(sp kv.Space) bool {
	s := t.own(sp)
	return s != nil && s.sl.rowOwner.Load() == &t.owner
}

// LockAll implements kv.Txn.
func (t *Txn) LockAll(sp kv.Space, n int) (bool, error) {
	if t.opt.ReadOnly {
		return false, kv.ErrReadOnly
	}
	sn, err := t.snapshot()
	if err != nil {
		return false, err
	}
	sl := t.st.locks.space(sp.ID)
	t.st.locks.expect(&t.owner, sl, kv.LockOpt{Expect: n})
	if sl.rowOwner.Load() != &t.owner || sl.written.Load() > sn.seq {
		return false, nil
	}
	t.owner.count(sl).written = true
	return true, nil
}

// readAhead reads what the transaction sees of keys that are to be locked, and whose
// values are wanted: side by side, which costs less than one after the other. nil if it
// is not worth it.
func (t *Txn) readAhead(ctx context.Context, sp kv.Space, o kv.LockOpt, keys [][]byte) ([][]byte, error) {
	if len(keys) < readAheadMin || o.NoValue && !o.IfPresent && !o.IfAbsent {
		return nil, nil
	}
	if cap(t.read) < len(keys) {
		t.read = make([][]byte, len(keys))
	}
	read := t.read[:len(keys)]
	clear(read)
	return read, t.getAll(ctx, sp, keys, read)
}

// readAheadMin is the number of keys from which LockKeys reads their values together.
const readAheadMin = 8

// appeared is the conflict of a SERIALIZABLE transaction that is to find a key absent,
// and has read that it is, with the one that has made it since.
func (t *Txn) appeared(sp kv.Space, key []byte, res *kv.LockResult, o kv.LockOpt) error {
	if t.reads == nil || !o.IfAbsent || !res.Changed || res.Val == nil || !t.reads.has(sp.ID, key) {
		return nil
	}
	return &kv.ConflictError{Read: true, Detail: "a key that was read as absent has been made"}
}
