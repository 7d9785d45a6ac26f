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

	views []*View // that are open
	in    *View   // what the transaction sees instead of its own state (View.Enter)

	light bool // it has ended, with table locks at most: nobody has its owner any more

	w      *writes  // nil until the first write
	held   int64    // bytes of memory that the writes take, about
	told   int64    // bytes that BeginOpt.Grow knows of
	marked int      // row locks held at the last LockMark
	remark bool     // written marks of locks exceed the writes (see lockTable.remark)
	read   [][]byte // memory of readAhead
	stats  *kv.Stats
	serial *serialTxn // Serializable only
	reads  *readSet   // what a read is noted in, of serial
	hooks  []func()

	nothing    bool // it has committed, and had written nothing
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
	if t.serial != nil {
		for _, r := range t.st.log.begin(t.serial) {
			if <-r.done; r.err != nil {
				continue
			}
			if err := t.st.sync.await(r.seq); err != nil {
				return nil, err
			}
		}
	}
	ahead := t.seen > t.st.snaps.visible.Load()
	if ahead && !t.ahead {
		if err := t.Settle(); err != nil {
			return nil, err
		}
		ahead = false
	}
	kv.Pause()
	least := uint64(0)
	if ahead {
		least = t.seen
	}
	sn, err := t.st.snaps.acquireAt(ahead, least)
	kv.Pause()
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
	if t.serial != nil {
		t.st.log.opened(t.serial, sn.seq)
	}
	t.snap.Store(sn)
	return sn, nil
}

func (t *Txn) AwaitSafe(ctx context.Context) error {
	if t.serial == nil || !t.serial.readOnly || t.snap.Load() != nil {
		return nil
	}
	t.serial.safe = true
	t.serial.reads.off.Store(true)
	for {
		if _, err := t.snapshot(); err != nil {
			return err
		}
		if safe, err := t.st.log.settle(ctx, t.serial, t.st.stop); safe || err != nil {
			return err
		}
		t.releaseSnap()
	}
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

func (t *Txn) AllowWrites()            { t.opt.ReadOnly = false }
func (t *Txn) Isolation() kv.Isolation { return t.opt.Isolation }
func (t *Txn) SetStats(s *kv.Stats)    { t.stats = s }
func (t *Txn) OnCommit(f func())       { t.hooks = append(t.hooks, f) }
func (t *Txn) HasWrites() bool         { return t.w != nil && !t.w.empty() }

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

func (t *Txn) LockSpace(ctx context.Context, sp kv.Space, m kv.TableLockMode, o kv.LockOpt) error {
	if t.done.Load() {
		return kv.ErrTxnDone
	}
	return t.st.locks.passing(func() error { return t.st.locks.lockTableMode(ctx, &t.owner, sp.ID, m, o) })
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
		if len(t.w.files) > 0 {
			t.w.dropFiles(t.opt.Spill, false)
		}
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
	t.closeViews()
	kv.Pause()
	number := t.owner.number.Load()
	t.light = number == 0 && t.w == nil && t.serial == nil && len(t.owner.rows) == 0 && len(t.owner.spaces) == 0
	if t.serial != nil {
		t.st.log.leave(t.serial)
	}
	if number != 0 { // those who wait for its locks find that it has ended
		t.st.numbers.end(number, t.nothing)
	}
	if len(t.owner.rows) > 0 || len(t.owner.spaces) > 0 {
		t.st.locks.releaseRows(&t.owner, seq)
	}
	kv.Pause()
	if len(t.owner.tables) > 0 {
		t.st.locks.releaseTables(&t.owner)
	}
	if t.w != nil && len(t.w.files) > 0 {
		t.w.dropFiles(t.opt.Spill, true)
		t.st.sweep()
	}
	if t.w != nil {
		t.st.sync.writers.Add(-1)
		t.w = nil
	}
	if t.told != 0 {
		_ = t.opt.Grow(-t.told) // giving back does not fail
		t.told = 0
	}
}
