package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// Txn implements kv.Txn, where its methods are described. After its end only
// BeginOpt.Spent makes another one of it, so a late call through an old pointer
// meets no stranger.
type Txn struct {
	owner
	st   *Store
	opt  kv.BeginOpt
	done atomic.Bool

	mu   sync.Mutex                 // opening the snapshot
	snap atomic.Pointer[sharedSnap] // nil until the first read, and after the end

	light bool // it has ended, with table locks at most: nobody has its owner any more

	w      *writes // nil until the first write
	held   int64   // bytes of memory that the writes take, about
	told   int64   // bytes that BeginOpt.Grow knows of
	remark bool    // written marks of locks exceed the writes (see lockTable.remark)
	stats  *kv.Stats
	reads  *readSet // Serializable only
	hooks  []func()

	durability kv.Durability
	ahead      bool
	seen       uint64 // the last commit that was read, or met, before it was visible
}

var _ kv.Txn = (*Txn)(nil)

// snapshot returns the snapshot, opening it at the first call.
func (t *Txn) snapshot() (*sharedSnap, error) {
	if sn := t.snap.Load(); sn != nil {
		return sn, sn.check()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done.Load() {
		return nil, kv.ErrTxnDone
	}
	if sn := t.snap.Load(); sn != nil {
		return sn, sn.check()
	}
	if t.reads != nil {
		t.st.log.begin(t)
	}
	ahead := t.seen > t.st.snaps.visible.Load()
	if ahead && !t.ahead {
		if err := t.Settle(); err != nil {
			return nil, err
		}
		ahead = false
	}
	sn, err := t.st.snaps.acquireAt(ahead)
	if err != nil {
		return nil, err
	}
	if ahead {
		t.seen = max(t.seen, sn.seq)
		if sn.seq < t.seen {
			t.st.snaps.release(sn)
			return nil, fmt.Errorf("%w: a commit that the transaction built on was lost", kv.ErrIO)
		}
	}
	if t.reads != nil {
		t.reads.seq = sn.seq
		t.st.log.opened(t, sn.seq)
	}
	t.snap.Store(sn)
	return sn, nil
}

func (t *Txn) releaseSnap() {
	if sn := t.snap.Swap(nil); sn != nil {
		t.st.snaps.release(sn)
	}
}

// meet notes that a key was last changed by commit seq, and waits for that
// unless the transaction may go ahead of the durable state (T9).
func (t *Txn) meet(seq uint64) error {
	if seq <= t.st.snaps.visible.Load() {
		return nil
	}
	t.seen = max(t.seen, seq)
	if t.ahead {
		return nil
	}
	return t.Settle()
}

// Settle waits for the commits that were met.
func (t *Txn) Settle() error {
	if t.seen <= t.st.snaps.visible.Load() {
		return nil
	}
	return t.st.sync.await(t.seen)
}

func (t *Txn) SetDurability(d kv.Durability) { t.durability = d }
func (t *Txn) SetAhead(on bool)              { t.ahead = on && t.opt.Isolation == kv.ReadCommitted }

func (t *Txn) Seq() uint64 {
	sn, err := t.snapshot()
	if sn == nil || err != nil && !errors.Is(err, kv.ErrTooOld) {
		return 0
	}
	return sn.seq
}

func (t *Txn) ReadOnly() bool          { return t.opt.ReadOnly }
func (t *Txn) Isolation() kv.Isolation { return t.opt.Isolation }
func (t *Txn) SetStats(s *kv.Stats)    { t.stats = s }
func (t *Txn) OnCommit(f func())       { t.hooks = append(t.hooks, f) }
func (t *Txn) HasWrites() bool         { return t.w != nil && !t.w.empty() }

func (t *Txn) Wrote(sp kv.Space, key []byte) bool {
	s := t.own(sp)
	if s == nil {
		return false
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	e, ok := s.top().get(key, t.w.markOf(s))
	return ok && e.flags&flagPrivate == 0 || s.top().op != OpNone
}

// hasOwn reports whether a read of the key is answered by the transaction's own writes.
func (t *Txn) hasOwn(sp kv.Space, key []byte) bool {
	s := t.own(sp)
	if s == nil {
		return false
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	_, ok := s.top().get(key, t.w.markOf(s))
	return ok
}

// Refresh drops the snapshot; the next read opens the newest one.
func (t *Txn) Refresh(ctx context.Context) error {
	if t.done.Load() {
		return kv.ErrTxnDone
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if t.opt.Isolation == kv.ReadCommitted {
		t.releaseSnap()
	}
	return nil
}

// own returns the transaction's writes to a space, or nil.
func (t *Txn) own(sp kv.Space) *spaceWrites {
	if t.w == nil {
		return nil
	}
	return t.w.find(sp.ID)
}

// get returns the value the transaction sees, nil for an absent key.
func (t *Txn) get(sp kv.Space, key []byte) ([]byte, error) {
	if s := t.own(sp); s != nil {
		t.w.mu.Lock()
		e, ok := s.top().get(key, t.w.markOf(s))
		t.w.mu.Unlock()
		if ok {
			return e.val(), nil
		}
		if s.top().op != OpNone {
			return nil, nil
		}
	}
	sn, err := t.snapshot()
	if err != nil {
		return nil, err
	}
	return sn.es.Get(sp, key)
}

func (t *Txn) Get(_ context.Context, sp kv.Space, key []byte) ([]byte, error) {
	if t.reads != nil && !t.hasOwn(sp, key) {
		t.reads.addKey(sp.ID, key)
	}
	v, err := t.get(sp, key)
	if t.stats != nil {
		countGets(t.stats.File(sp), 1, key, v)
	}
	if v == nil && err == nil {
		err = kv.ErrNotFound
	}
	return v, err
}

func countGets(f *kv.FileStats, n int, key, val []byte) {
	f.Gets.Add(int64(n))
	if val != nil {
		f.KeysRead.Add(1)
		f.BytesRead.Add(int64(len(key) + len(val)))
	}
}

// batchStep is the number of keys between two looks at the context.
const batchStep = 1024

func (t *Txn) BatchGet(ctx context.Context, sp kv.Space, keys [][]byte) ([][]byte, error) {
	out := make([][]byte, len(keys))
	s := t.own(sp)
	if s == nil || s.top().op == OpNone {
		sn, err := t.snapshot()
		if err != nil {
			return nil, err
		}
		if err := batchGet(ctx, sn, sp, keys, out); err != nil {
			return nil, err
		}
	}
	if s != nil {
		t.w.mu.Lock()
		m := t.w.markOf(s)
		for i, k := range keys {
			if e, ok := s.top().get(k, m); ok {
				out[i] = e.val()
			}
		}
		t.w.mu.Unlock()
	}
	t.noteGets(sp, keys, out, func(k []byte) bool { return t.hasOwn(sp, k) })
	return out, nil
}

// noteGets records point reads and what they found. own tells which keys the
// transaction had written itself: of these it has not read what others committed.
func (t *Txn) noteGets(sp kv.Space, keys, out [][]byte, own func(key []byte) bool) {
	if t.reads != nil {
		for _, k := range keys {
			if !own(k) {
				t.reads.addKey(sp.ID, k)
			}
		}
	}
	if t.stats != nil {
		f := t.stats.File(sp)
		for i, k := range keys {
			countGets(f, 1, k, out[i])
		}
	}
}

func batchGet(ctx context.Context, sn *sharedSnap, sp kv.Space, keys, out [][]byte) error {
	for len(keys) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(len(keys), batchStep)
		if err := sn.es.BatchGet(sp, keys[:n], out[:n]); err != nil {
			return err
		}
		keys, out = keys[n:], out[n:]
	}
	return nil
}

func (t *Txn) Scan(ctx context.Context, sp kv.Space, r kv.Range, o kv.ScanOpt) kv.Iter {
	s := t.own(sp)
	if s == nil {
		it := t.scan(ctx, sp, r, o, false, nil)
		it.txn, it.sp = t, sp
		return it
	}
	t.w.mu.Lock()
	wins := s.top().windows(r, t.w.markOf(s))
	t.w.mu.Unlock()
	return t.scan(ctx, sp, r, o, s.top().op != OpNone, wins)
}

// scan reads a range of the snapshot, unless the transaction's own writes hide
// it, under these writes.
func (t *Txn) scan(ctx context.Context, sp kv.Space, r kv.Range, o kv.ScanOpt, hidden bool, wins []window) *scan {
	sn, err := t.snapshot()
	if err != nil {
		return failedScan(err)
	}
	var chunks Chunks
	if !hidden {
		chunks = sn.es.Scan(sp, r, o, nil)
	}
	it := newScan(ctx, sn, &t.snap, chunks, o)
	if t.reads != nil {
		it.reads, it.space, it.number = t.reads, sp.ID, t.reads.addRange(sp.ID, r)
	}
	if len(wins) > 0 {
		it.ov = newOverlayIter(wins, o.Reverse)
	}
	if t.stats != nil {
		it.stats = t.stats.File(sp)
		it.stats.Scans.Add(1)
	}
	return it
}

// writable returns the writes to a space after the checks that every write
// has to pass.
func (t *Txn) writable(sp kv.Space) (*spaceWrites, error) {
	if t.opt.ReadOnly {
		return nil, kv.ErrReadOnly
	}
	if t.done.Load() {
		return nil, kv.ErrTxnDone
	}
	if t.w == nil {
		t.w = new(writes)
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
	res, err := t.st.locks.lockRow(context.Background(), &t.owner, s.sl, key, kv.LockOpt{}, true)
	if err != nil {
		return res, fmt.Errorf("%w: the key is locked by another transaction", kv.ErrConflict)
	}
	if err := t.meet(res.lastSeq); err != nil {
		t.remark = true
		return res, err
	}
	if res.lastSeq > sn.seq && (!res.explicit || t.opt.Isolation != kv.ReadCommitted && flags&flagNewest == 0) && !t.Wrote(s.sp, key) {
		t.remark = true
		return res, fmt.Errorf("%w: the key was changed by commit %d", kv.ErrConflict, res.lastSeq)
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

// What a write costs beside key and value: its entry, its lock and, while the
// commit is applied, its place in the pages that are built. Measured on loads of
// many millions of rows.
const (
	writeMemory = 170
	growStep    = 1 << 20 // bytes of which BeginOpt.Grow is told at once
)

// grow accounts for the memory of one more write of n bytes.
func (t *Txn) grow(n int) error {
	t.held += int64(n) + writeMemory
	if t.opt.Grow == nil || t.held-t.told < growStep {
		return nil
	}
	if err := t.opt.Grow(t.held - t.told); err != nil {
		return err
	}
	t.told = t.held
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
	if s := t.own(sp); s != nil {
		e, ok := s.top().get(key, t.w.markOf(s))
		if ok {
			return e.val(), nil
		}
		if s.top().op != OpNone {
			return nil, nil
		}
	}
	newest, err := t.st.snaps.acquireAt(t.ahead)
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
	out := make([]kv.LockResult, len(keys))
	for i, k := range keys {
		var seen uint64 // commits up to this one are in the value read
		if o.IfPresent || o.IfAbsent && !t.st.locks.beingWritten(&t.owner, sl, k) {
			if seen, err = t.present(sp, sl, k, &out[i]); err != nil {
				return nil, err
			}
			if err := t.appeared(sp, k, &out[i], o); err != nil {
				return nil, err
			}
			if (out[i].Val != nil) == o.IfAbsent {
				continue
			}
		}
		res, err := t.st.locks.lockRow(ctx, &t.owner, sl, k, o, false)
		if err != nil {
			if o.SkipLocked && errors.Is(err, kv.ErrLockTimeout) {
				out[i].Skipped = true
				continue
			}
			return nil, err
		}
		if err := t.meet(res.lastSeq); err != nil {
			return nil, err
		}
		out[i].Changed = res.lastSeq > sn.seq && !t.Wrote(sp, k)
		if out[i].Changed && o.AtSnapshot {
			v, err := t.current(sp, k, res.lastSeq)
			if err != nil {
				return nil, err
			}
			return nil, &kv.ConflictError{Deleted: v == nil, Detail: fmt.Sprintf("the key was changed by commit %d", res.lastSeq)}
		}
		if o.NoValue || seen != 0 && res.lastSeq <= seen {
			continue
		}
		if out[i].Val, err = t.current(sp, k, res.lastSeq); err != nil {
			return nil, err
		}
		if err := t.appeared(sp, k, &out[i], o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appeared is the conflict of a SERIALIZABLE transaction that is to find a key absent,
// and has read that it is, with the one that has made it since.
func (t *Txn) appeared(sp kv.Space, key []byte, res *kv.LockResult, o kv.LockOpt) error {
	if t.reads == nil || !o.IfAbsent || !res.Changed || res.Val == nil || !t.reads.has(sp.ID, key) {
		return nil
	}
	return &kv.ConflictError{Read: true, Detail: "a key that was read as absent has been made"}
}

// present reads the newest committed value of a key, or its own. It returns the
// newest commit that the value is known to contain.
func (t *Txn) present(sp kv.Space, sl *spaceLock, key []byte, out *kv.LockResult) (uint64, error) {
	sn, err := t.snapshot()
	if err != nil {
		return 0, err
	}
	changed := t.st.locks.lastChange(sl, key)
	if err := t.meet(changed); err != nil {
		return 0, err
	}
	out.Changed = changed > sn.seq && !t.Wrote(sp, key)
	out.Val, err = t.current(sp, key, changed)
	return max(sn.seq, changed), err
}

func (t *Txn) LockSpace(ctx context.Context, sp kv.Space, m kv.TableLockMode, o kv.LockOpt) error {
	if t.done.Load() {
		return kv.ErrTxnDone
	}
	return t.st.locks.lockTableMode(ctx, &t.owner, sp.ID, m, o)
}

// beginning is the savepoint of a transaction that had written nothing yet.
const beginning = -1

func (t *Txn) Savepoint() int {
	if t.w == nil {
		return beginning
	}
	return t.w.savepoint()
}

func (t *Txn) RollbackTo(sp int) {
	if t.w != nil {
		t.remark = true
		t.w.rollbackTo(sp)
	}
}

func (t *Txn) Release(sp int) {
	if t.w != nil && sp >= 0 {
		t.w.release(sp)
	}
}

func (t *Txn) Rollback() {
	if t.done.Swap(true) {
		return
	}
	t.end(0)
	// If it cannot be settled the next commit says so.
	_ = t.Settle()
}

// end gives back everything the transaction holds. seq is the commit that
// contains its writes, 0 if there is none.
func (t *Txn) end(seq uint64) {
	t.mu.Lock()
	t.releaseSnap()
	t.mu.Unlock()
	t.light = t.w == nil && t.reads == nil && len(t.owner.rows) == 0 && len(t.owner.spaces) == 0
	if t.reads != nil {
		t.st.log.end(t)
	}
	if len(t.owner.rows) > 0 || len(t.owner.spaces) > 0 {
		t.st.locks.releaseRows(&t.owner, seq)
	}
	if len(t.owner.tables) > 0 {
		t.st.locks.releaseTables(&t.owner)
	}
	t.w = nil
	if t.told != 0 {
		_ = t.opt.Grow(-t.told) // giving back does not fail
		t.told = 0
	}
}
