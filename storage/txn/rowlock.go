package txn

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"kvsqld/storage/kv"
)

const (
	numShards         = 64
	defaultEscalateAt = 10_000
)

// rowLock is the lock of one key, and the memory of its last change for as
// long as a snapshot from before that change is open (T5).
type rowLock struct {
	next  *rowLock // of those with the same hash
	shard *lockShard
	sl    *spaceLock
	hash  uint64
	key   []byte

	holders []rowHolder // one for each owner, with its strongest mode
	hbuf    [1]rowHolder
	queue   []*waiter
	lastSeq uint64 // last commit that changed the key, 0 = long ago

	histPrev, histNext *rowLock // shard's list of locks with lastSeq, oldest first
	inHist             bool
}

// rowHolder is one owner of a row lock.
type rowHolder struct {
	o        *owner
	mode     kv.RowLockMode
	explicit bool // taken by LockKeys, not by a write
	written  bool // the key has been written; the mode is an exclusive one then
	touched  bool // written, and stays so when the writes are undone
	left     bool // see remark
	fresh    bool // the row is to be made by the owner
}

type lockShard struct {
	mu       sync.Mutex
	m        map[uint64]*rowLock
	free     *rowLock // linked by next
	histHead *rowLock
	histTail *rowLock
	held     int // locks with an owner
	_        [24]byte
}

// lockTable holds all locks of a store.
type lockTable struct {
	seed   maphash.Seed
	shards [numShards]lockShard
	graph  waitGraph
	snaps  *snapshots
	closed chan struct{}
	// escalateAt is the number of row locks in one space from which, and from
	// each multiple of which, a transaction tries to take the whole space.
	escalateAt int64

	spacesMu sync.RWMutex
	spaces   map[uint64]*spaceLock
}

func newLockTable(snaps *snapshots) *lockTable {
	lt := &lockTable{seed: maphash.MakeSeed(), snaps: snaps, closed: make(chan struct{}),
		escalateAt: defaultEscalateAt, spaces: make(map[uint64]*spaceLock)}
	for i := range lt.shards {
		lt.shards[i].m = make(map[uint64]*rowLock)
	}
	return lt
}

func (lt *lockTable) hash(space uint64, key []byte) uint64 {
	return maphash.Bytes(lt.seed, key) ^ space*0x9e3779b97f4a7c15
}

// lookupLocked finds the lock of a key in its shard, or returns nil.
func (sh *lockShard) lookupLocked(sl *spaceLock, hash uint64, key []byte) *rowLock {
	for l := sh.m[hash]; l != nil; l = l.next {
		if l.sl == sl && bytes.Equal(l.key, key) {
			return l
		}
	}
	return nil
}

// makeLocked adds a lock to the shard.
func (sh *lockShard) makeLocked(sl *spaceLock, hash uint64, key []byte) *rowLock {
	l := sh.free
	if l != nil {
		sh.free = l.next
	} else {
		l = &rowLock{shard: sh}
	}
	l.sl, l.hash = sl, hash
	l.holders = l.hbuf[:0]
	l.key = append(l.key[:0], key...)
	l.next = sh.m[hash]
	sh.m[hash] = l
	return l
}

// dropLocked removes a lock that nobody holds or wants and whose history
// nobody needs.
func (sh *lockShard) dropLocked(l *rowLock) {
	if len(l.holders) > 0 || len(l.queue) > 0 || l.lastSeq != 0 {
		return
	}
	if head := sh.m[l.hash]; head == l {
		if l.next == nil {
			delete(sh.m, l.hash)
		} else {
			sh.m[l.hash] = l.next
		}
	} else {
		for head.next != l {
			head = head.next
		}
		head.next = l.next
	}
	l.sl, l.next = nil, sh.free
	if cap(l.key) > 256 {
		l.key = nil
	}
	sh.free = l
}

// changed remembers that commit seq changed the key.
func (sh *lockShard) changedLocked(l *rowLock, seq uint64) {
	if l.inHist {
		sh.unlinkLocked(l)
	}
	l.lastSeq = seq
	raise(&l.sl.rowSeq, seq)
	l.inHist = true
	l.histPrev, l.histNext = sh.histTail, nil
	if sh.histTail != nil {
		sh.histTail.histNext = l
	} else {
		sh.histHead = l
	}
	sh.histTail = l
}

func (sh *lockShard) unlinkLocked(l *rowLock) {
	if l.histPrev != nil {
		l.histPrev.histNext = l.histNext
	} else {
		sh.histHead = l.histNext
	}
	if l.histNext != nil {
		l.histNext.histPrev = l.histPrev
	} else {
		sh.histTail = l.histPrev
	}
	l.histPrev, l.histNext, l.inHist = nil, nil, false
}

// pruneLocked forgets changes that every open snapshot contains. The list is
// in the order of release, which differs from commit order only among
// neighbours; a younger change in front delays the ones behind it, no more.
func (sh *lockShard) pruneLocked(min uint64) {
	for l := sh.histHead; l != nil && l.lastSeq <= min; l = sh.histHead {
		sh.unlinkLocked(l)
		l.lastSeq = 0
		sh.dropLocked(l)
	}
}

// prune forgets old changes in all shards. The oldest snapshot is asked for in each:
// of a change that comes to a later one meanwhile, a snapshot opened meanwhile may be in
// doubt.
func (lt *lockTable) prune() {
	for i := range lt.shards {
		kv.Pause()
		sh := &lt.shards[i]
		sh.mu.Lock()
		sh.pruneLocked(lt.snaps.min.Load())
		sh.mu.Unlock()
	}
}

// rowResult is what an attempt to lock a key found out.
type rowResult struct {
	lastSeq  uint64 // of the key, or of the whole space after an escalated commit
	explicit bool   // the lock was taken by LockKeys, now or before
	settled  bool   // the lock was not taken: see rowLock.settledLocked
}

// lockRow locks a key for o. wait is that of kv.LockOpt; a negative result of
// a try is kv.ErrLockTimeout. write marks the key as written, for which a lock
// that excludes other writers is enough. Of commits up to since, o's snapshot, the
// result need not tell; with kv.LockOpt.AtSnapshot, who would have to wait for a key
// that a later one has changed does not, and has no lock.
func (lt *lockTable) lockRow(ctx context.Context, o *owner, sl *spaceLock, key []byte, since uint64, opt kv.LockOpt, write bool) (rowResult, error) {
	if sl.rowOwner.Load() == o && sl.rowSeq.Load() <= since { // a bulk load's rows, of which no lock says anything
		if write {
			o.count(sl).written = true
		}
		return rowResult{explicit: true, lastSeq: sl.lastSeq.Load()}, nil
	}
	hash := lt.hash(sl.id, key)
	sh := &lt.shards[hash%numShards]
	if !sl.enter(o) {
		if err := lt.awaitSpace(ctx, o, sl, opt); err != nil {
			return rowResult{}, err
		}
	}
	if sl.rowOwner.Load() == o { // escalated: only the history is of interest
		sl.leave()
		res := rowResult{explicit: true, lastSeq: sl.lastSeq.Load()}
		sh.mu.Lock()
		if l := sh.lookupLocked(sl, hash, key); l != nil {
			res.lastSeq = max(res.lastSeq, l.lastSeq)
			if h := l.heldBy(o); h != nil && write {
				h.written = true
			}
		}
		sh.mu.Unlock()
		if write {
			o.count(sl).written = true
		}
		return res, nil
	}

	sh.mu.Lock()
	sh.pruneLocked(lt.snaps.min.Load())
	l := sh.lookupLocked(sl, hash, key)
	if l == nil {
		l = sh.makeLocked(sl, hash, key)
	}
	state := l.tryLocked(o, opt.Mode, write)
	if state != lockBusy && len(l.queue) > 0 {
		lt.reblockLocked(l) // they may wait for o as well now
	}
	if state == lockBusy && opt.IfAbsent && l.settledLocked(o) {
		res := rowResult{settled: true, lastSeq: max(l.lastSeq, sl.lastSeq.Load())}
		sh.mu.Unlock()
		sl.leave()
		return res, nil
	}
	if last := max(l.lastSeq, sl.lastSeq.Load()); state == lockBusy && opt.AtSnapshot && last > since {
		sh.mu.Unlock()
		sl.leave()
		return rowResult{lastSeq: last}, nil // no lock is needed to know that
	}
	if state == lockBusy {
		if opt.Wait == 0 || opt.SkipLocked {
			sh.mu.Unlock()
			sl.leave()
			return rowResult{}, kv.ErrLockTimeout
		}
		w := &waiter{o: o, ch: make(chan struct{}), row: opt.Mode, upgrade: l.heldBy(o) != nil, fresh: opt.IfAbsent}
		if err := lt.enqueueRowLocked(l, w); err != nil {
			sh.mu.Unlock()
			sl.leave()
			return rowResult{}, err
		}
		sh.mu.Unlock()
		if err := lt.await(ctx, w, opt.Wait, func() bool { return lt.giveUpRow(l, w) }); err != nil {
			sl.leave()
			return rowResult{}, err
		}
		sh.mu.Lock()
		if w.settled {
			res := rowResult{settled: true, lastSeq: max(l.lastSeq, sl.lastSeq.Load())}
			sh.mu.Unlock()
			sl.leave()
			return res, nil
		}
		state = lockGranted
		if w.upgrade {
			state = lockHeld
		}
	}
	h := l.heldBy(o)
	h.fresh = h.fresh || opt.IfAbsent
	if !write {
		h.explicit = true
	} else {
		if state == lockHeld && o.marked && !h.written { // a new lock is given back as a whole
			o.wrote = append(o.wrote, l)
		}
		h.written = true
	}
	res := rowResult{lastSeq: max(l.lastSeq, sl.lastSeq.Load()), explicit: h.explicit}
	if state == lockGranted {
		sh.held++
	}
	sh.mu.Unlock()

	if state == lockHeld {
		sl.leave()
		return res, nil
	}
	if o.rows == nil {
		o.rows = make([]*rowLock, 0, fewLocks)
	}
	o.rows = append(o.rows, l)
	if c := o.count(sl); c.add(lt.escalateAt, opt.Mode.Exclusive()) {
		lt.escalate(o, c)
	}
	return res, nil
}

// awaitWriter waits for another owner that has written the key, or may have because it
// has all rows, to end or to undo that.
func (lt *lockTable) awaitWriter(ctx context.Context, o *owner, sl *spaceLock, key []byte, opt kv.LockOpt) error {
	if !sl.enter(o) {
		if err := lt.awaitSpace(ctx, o, sl, opt); err != nil {
			return err
		}
	}
	defer sl.leave()
	hash := lt.hash(sl.id, key)
	sh := &lt.shards[hash%numShards]
	sh.mu.Lock()
	l := sh.lookupLocked(sl, hash, key)
	if l == nil || !l.writtenLocked(o) {
		sh.mu.Unlock()
		return nil
	}
	if opt.Wait == 0 {
		sh.mu.Unlock()
		return kv.ErrLockTimeout
	}
	w := &waiter{o: o, ch: make(chan struct{}), row: opt.Mode, look: true}
	err := lt.enqueueRowLocked(l, w)
	sh.mu.Unlock()
	if err != nil {
		return err
	}
	return lt.await(ctx, w, opt.Wait, func() bool { return lt.giveUpRow(l, w) })
}

// beingWritten reports whether another owner has written the key, or may have
// because it has all rows.
func (lt *lockTable) beingWritten(o *owner, sl *spaceLock, key []byte) bool {
	if own := sl.rowOwner.Load(); own != nil {
		return own != o
	}
	hash := lt.hash(sl.id, key)
	sh := &lt.shards[hash%numShards]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if l := sh.lookupLocked(sl, hash, key); l != nil {
		return l.writtenLocked(o)
	}
	return false
}

// writtenLocked reports whether another owner has written the row.
func (l *rowLock) writtenLocked(o *owner) bool {
	for i := range l.holders {
		if l.holders[i].written && l.holders[i].o != o {
			return true
		}
	}
	return false
}

// lastChange returns the last commit that is known to have changed the key, if it is
// later than since.
func (lt *lockTable) lastChange(sl *spaceLock, key []byte, since uint64) uint64 {
	if sl.rowSeq.Load() <= since {
		return sl.lastSeq.Load()
	}
	hash := lt.hash(sl.id, key)
	sh := &lt.shards[hash%numShards]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	seq := sl.lastSeq.Load()
	if l := sh.lookupLocked(sl, hash, key); l != nil {
		seq = max(seq, l.lastSeq)
	}
	return seq
}

type lockState uint8

const (
	lockGranted lockState = iota
	lockHeld              // the owner had it already, perhaps in a weaker mode
	lockBusy
)

// tryLocked takes the lock if nobody holds it in a mode that conflicts. Who need not
// wait for a holder passes those who wait, as in PostgreSQL: another row of a child
// table is not held up by somebody who waits to delete the parent.
func (l *rowLock) tryLocked(o *owner, m kv.RowLockMode, write bool) lockState {
	if h := l.heldBy(o); h != nil {
		if h.mode <= m || write && h.mode.Exclusive() {
			return lockHeld
		}
		if l.conflictsLocked(o, m) {
			return lockBusy
		}
		o.upgrades = append(o.upgrades, rowUpgrade{l, h.mode})
		h.mode = m
		return lockHeld
	}
	if l.conflictsLocked(o, m) {
		return lockBusy
	}
	l.holders = append(l.holders, rowHolder{o: o, mode: m})
	return lockGranted
}

// conflictsLocked reports whether another owner holds a mode that excludes m.
func (l *rowLock) conflictsLocked(o *owner, m kv.RowLockMode) bool {
	for i := range l.holders {
		if h := &l.holders[i]; h.o != o && m.Conflicts(h.mode) {
			return true
		}
	}
	return false
}

// settledLocked reports whether others hold the lock, none of whom has written the row
// or is about to make it. Then it is there, as far as they know, which is all that
// somebody who is to make it has to know: he does not wait for them.
func (l *rowLock) settledLocked(o *owner) bool {
	others := false
	for i := range l.holders {
		if h := &l.holders[i]; h.o != o {
			if others = true; h.writes() {
				return false
			}
		}
	}
	return others
}

func (h *rowHolder) writes() bool { return h.written || h.touched || h.fresh }

// heldBy returns the owner's entry; valid until the lock changes hands.
func (l *rowLock) heldBy(o *owner) *rowHolder {
	for i := range l.holders {
		if l.holders[i].o == o {
			return &l.holders[i]
		}
	}
	return nil
}

// blockersLocked returns whom w has to wait for when it stands at position pos
// of the queue.
func (l *rowLock) blockersLocked(w *waiter, pos int) []*owner {
	var out []*owner
	for i := range l.holders {
		h := &l.holders[i]
		switch {
		case h.o == w.o || w.fresh && !h.writes() || w.look && !h.written:
		case w.look || w.row.Conflicts(h.mode):
			out = append(out, h.o)
		}
	}
	if w.upgrade || w.look {
		return out
	}
	for _, q := range l.queue[:pos] {
		if q.o != w.o && !q.look && w.row.Conflicts(q.row) {
			out = append(out, q.o)
		}
	}
	return out
}

// enqueueRowLocked queues w: an upgrade before all others, since nobody else
// can be served before its owner lets go anyway. *kv.DeadlockError if w would
// close a circle; it is not queued then.
func (lt *lockTable) enqueueRowLocked(l *rowLock, w *waiter) error {
	pos := len(l.queue)
	if w.upgrade {
		pos = 0
	}
	l.queue = slices.Insert(l.queue, pos, w)
	if w.upgrade {
		lt.reblockLocked(l)
	}
	err := lt.graph.block(w.o, l.blockersLocked(w, pos), kv.LockWait{Space: l.sl.id, Row: true, RowMode: w.row}, l)
	if err != nil {
		l.queue = removeWaiter(l.queue, w)
		lt.graph.set(w.o, nil)
		lt.reblockLocked(l)
	}
	return err
}

// giveUpRow takes w out of the queue; false if it was granted meanwhile.
func (lt *lockTable) giveUpRow(l *rowLock, w *waiter) bool {
	sh := l.shard
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if w.granted {
		return false
	}
	l.queue = removeWaiter(l.queue, w)
	lt.graph.set(w.o, nil)
	lt.grantLocked(l)
	sh.dropLocked(l)
	return true
}

// grantLocked serves, first come first served, everybody in the queue who
// conflicts neither with a holder nor with somebody before him, and tells the
// others whom they wait for now.
func (lt *lockTable) grantLocked(l *rowLock) {
	for i := 0; i < len(l.queue); {
		w := l.queue[i]
		if w.fresh && l.settledLocked(w.o) || w.look && !l.writtenLocked(w.o) {
			l.queue = removeWaiter(l.queue, w)
			w.settled = true
			lt.wakeLocked(w)
			continue
		}
		if len(l.blockersLocked(w, i)) > 0 {
			i++
			continue
		}
		if h := l.heldBy(w.o); h != nil {
			w.o.upgrades = append(w.o.upgrades, rowUpgrade{l, h.mode})
			h.mode, h.fresh = w.row, h.fresh || w.fresh
		} else {
			l.holders = append(l.holders, rowHolder{o: w.o, mode: w.row, fresh: w.fresh})
		}
		l.queue = removeWaiter(l.queue, w)
		lt.wakeLocked(w)
	}
	lt.reblockLocked(l)
}

// wakeLocked lets a waiter go on.
func (lt *lockTable) wakeLocked(w *waiter) {
	w.granted = true
	lt.graph.set(w.o, nil)
	close(w.ch)
}

func (lt *lockTable) reblockLocked(l *rowLock) {
	for i, w := range l.queue {
		lt.graph.set(w.o, l.blockersLocked(w, i))
	}
}

// dropHolder removes an entry of the holders.
func (l *rowLock) dropHolder(h *rowHolder) {
	last := len(l.holders) - 1
	*h = l.holders[last]
	l.holders[last] = rowHolder{}
	l.holders = l.holders[:last]
}

// releaseWritten gives back the row locks of o's written keys, whose changes
// those who take them next find in commit seq. Locks that stand for anything
// else stay: nothing in them would say that there is a commit to be read (T9).
func (lt *lockTable) releaseWritten(o *owner, seq uint64) {
	for i := range o.spaces {
		if o.spaces[i].owned {
			return
		}
	}
	kept := o.rows[:0]
	for _, l := range o.rows {
		sh := l.shard
		sh.mu.Lock()
		h := l.heldBy(o)
		if h == nil || !h.written {
			sh.mu.Unlock()
			kept = append(kept, l)
			continue
		}
		sl := l.sl
		l.dropHolder(h)
		sh.changedLocked(l, seq)
		sh.held--
		lt.grantLocked(l)
		sh.mu.Unlock()
		o.count(sl).rows--
		sl.leave()
	}
	clear(o.rows[len(kept):])
	o.rows = kept
}

// releaseRows gives back all row locks of o. seq is the commit that made its
// writes visible, 0 after a rollback. The last goes first: a lock that stands for others,
// as that of a search key does for its entries, was taken before them, and who gets it
// next takes these to be free (lockForWrite).
func (lt *lockTable) releaseRows(o *owner, seq uint64) {
	for _, l := range slices.Backward(o.rows) {
		kv.Pause()
		sh := l.shard
		sh.mu.Lock()
		if h := l.heldBy(o); h != nil {
			if h.written && seq > lt.snaps.min.Load() {
				sh.changedLocked(l, seq)
			}
			l.dropHolder(h)
		}
		sh.held--
		if len(l.queue) > 0 {
			lt.grantLocked(l)
		}
		sh.dropLocked(l)
		sh.pruneLocked(lt.snaps.min.Load())
		sh.mu.Unlock()
	}
	o.rows, o.upgrades, o.wrote = nil, nil, nil
	for i := range o.spaces {
		lt.releaseSpace(&o.spaces[i], seq)
	}
	o.spaces = nil
}

// touch marks a key that o has locked for a write as written for good.
func (lt *lockTable) touch(o *owner, sl *spaceLock, key []byte) {
	hash := lt.hash(sl.id, key)
	sh := &lt.shards[hash%numShards]
	sh.mu.Lock()
	if l := sh.lookupLocked(sl, hash, key); l != nil {
		if h := l.heldBy(o); h != nil {
			h.touched = true
		}
	}
	sh.mu.Unlock()
	if sl.rowOwner.Load() == o {
		o.count(sl).touched = true
	}
}

// remark makes the written marks equal to the writes that are left after a
// RollbackTo, so that keys written only before it do not count as changed. A mark that
// stays is there all the time: others look at it.
func (lt *lockTable) remark(o *owner, w *writes) {
	for i := range o.spaces {
		o.spaces[i].written = o.spaces[i].touched
	}
	for _, s := range w.list {
		for e := range s.top().uncovered {
			hash := lt.hash(s.sp.ID, e.key())
			sh := &lt.shards[hash%numShards]
			sh.mu.Lock()
			if l := sh.lookupLocked(s.sl, hash, e.key()); l != nil {
				if h := l.heldBy(o); h != nil {
					h.left = true
				}
			}
			sh.mu.Unlock()
			if s.sl.rowOwner.Load() == o {
				o.count(s.sl).written = true
			}
		}
	}
	for _, l := range o.rows {
		l.shard.mu.Lock()
		if h := l.heldBy(o); h != nil {
			h.written, h.left = h.left || h.touched, false
		}
		l.shard.mu.Unlock()
	}
}

func (lt *lockTable) stats(st *kv.StoreStats) {
	for i := range lt.shards {
		sh := &lt.shards[i]
		sh.mu.Lock()
		st.RowLocks += sh.held
		sh.mu.Unlock()
	}
	lt.graph.mu.Lock()
	st.LockWaits, st.Deadlocks = lt.graph.waits, lt.graph.dead
	lt.graph.mu.Unlock()
}
