package txn

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// spaceLock is the lock state of one space as a whole: its table lock, and who
// holds row locks in it.
type spaceLock struct {
	id uint64

	// Row locks. rowHeld counts the row locks held and asked for by anybody;
	// rowOwner has taken all rows. Whoever wants a row raises rowHeld first
	// and looks at rowOwner then; whoever escalates sets rowOwner first and
	// looks at rowHeld then: one of the two sees the other (T4).
	rowHeld  atomic.Int64
	rowOwner atomic.Pointer[owner]
	lastSeq  atomic.Uint64 // last commit that changed keys without a row lock each
	rowSeq   atomic.Uint64 // no row lock of the space has, or had, a later lastSeq

	written atomic.Uint64 // last commit with writes to the space, set before its table locks go

	mu      sync.Mutex
	waiters []*waiter // for rowOwner to go
	holders []tableHolder
	counts  [kv.NumTableLockModes]int32 // holders by mode
	mask    uint8                       // modes with holders
	queue   []*waiter
	leaving []*holdersWait
}

// tableHolder is one transaction with the table lock modes it holds.
type tableHolder struct {
	o     *owner
	modes uint8
}

// tableHold is the same from the transaction's side.
type tableHold struct {
	sl    *spaceLock
	modes uint8
}

// fewLocks is the room for the first locks of a transaction.
const fewLocks = 4

// spaceCount is what one transaction holds of the rows of one space.
type spaceCount struct {
	sl      *spaceLock
	rows    int64
	excl    int64 // of them, taken in a mode that excludes writers
	tries   int64 // escalations tried
	owned   bool  // all rows
	written bool  // wrote a key under owned
	touched bool  // written, and stays so when the writes are undone
}

// add counts one more row lock and reports whether to try escalation, which is
// at each multiple of at. Shared locks do not escalate: those of foreign keys
// would shut out everybody else who references the same table.
func (c *spaceCount) add(at int64, exclusive bool) bool {
	c.rows++
	if !exclusive {
		return false
	}
	c.excl++
	return c.excl >= (c.tries+1)*at
}

func (o *owner) count(sl *spaceLock) *spaceCount {
	for i := range o.spaces {
		if o.spaces[i].sl == sl {
			return &o.spaces[i]
		}
	}
	if o.spaces == nil {
		o.spaces = make([]spaceCount, 0, fewLocks)
	}
	o.spaces = append(o.spaces, spaceCount{sl: sl})
	return &o.spaces[len(o.spaces)-1]
}

// space returns the lock state of a space.
func (lt *lockTable) space(id uint64) *spaceLock {
	lt.spacesMu.RLock()
	sl := lt.spaces[id]
	lt.spacesMu.RUnlock()
	if sl != nil {
		return sl
	}
	lt.spacesMu.Lock()
	defer lt.spacesMu.Unlock()
	if sl = lt.spaces[id]; sl == nil {
		sl = &spaceLock{id: id}
		lt.spaces[id] = sl
	}
	return sl
}

// forget removes the lock state of a dropped space. Those who still hold the
// old state find out at their commit that the space is gone.
func (lt *lockTable) forget(id uint64) {
	lt.spacesMu.Lock()
	delete(lt.spaces, id)
	lt.spacesMu.Unlock()
}

// enter announces a row lock; false if another transaction has all rows.
func (sl *spaceLock) enter(o *owner) bool {
	sl.rowHeld.Add(1)
	if own := sl.rowOwner.Load(); own != nil && own != o {
		sl.rowHeld.Add(-1)
		return false
	}
	return true
}

// wrote notes that a commit has writes to the space.
func (sl *spaceLock) wrote(seq uint64) { raise(&sl.written, seq) }

// raise makes a number at least seq.
func raise(n *atomic.Uint64, seq uint64) {
	for {
		last := n.Load()
		if seq <= last || n.CompareAndSwap(last, seq) {
			return
		}
	}
}

func (sl *spaceLock) leave() { sl.rowHeld.Add(-1) }

// expect escalates at once for an owner that is going to lock so many rows of a space that
// it would later: the locks that it would have taken before are not made.
func (lt *lockTable) expect(o *owner, sl *spaceLock, opt kv.LockOpt) {
	if int64(opt.Expect) < lt.escalateAt || !opt.Mode.Exclusive() || opt.SkipLocked {
		return
	}
	if own := sl.rowOwner.Load(); own == nil {
		lt.takeRows(o, o.count(sl))
	}
}

// escalate tries to take all rows of a space.
func (lt *lockTable) escalate(o *owner, c *spaceCount) {
	c.tries++
	lt.takeRows(o, c)
}

// takeRows takes all rows of a space if nobody else has any of them.
func (lt *lockTable) takeRows(o *owner, c *spaceCount) {
	if c.sl.rowHeld.Load() != c.rows || !c.sl.rowOwner.CompareAndSwap(nil, o) {
		return
	}
	if c.sl.rowHeld.Load() != c.rows {
		c.sl.rowOwner.Store(nil)
		lt.wakeSpace(c.sl)
		return
	}
	c.owned = true
}

// awaitSpace waits until the escalated owner is gone and enters then.
func (lt *lockTable) awaitSpace(ctx context.Context, o *owner, sl *spaceLock, opt kv.LockOpt) error {
	if opt.Wait == 0 || opt.SkipLocked {
		return kv.ErrLockTimeout
	}
	for {
		sl.mu.Lock()
		if sl.enter(o) {
			sl.mu.Unlock()
			return nil
		}
		own := sl.rowOwner.Load()
		if own == nil {
			sl.mu.Unlock()
			continue
		}
		if err := lt.graph.block(o, []*owner{own}, kv.LockWait{Space: sl.id, Row: true, RowMode: opt.Mode}, nil); err != nil {
			sl.mu.Unlock()
			return err
		}
		w := &waiter{o: o, ch: make(chan struct{})}
		sl.waiters = append(sl.waiters, w)
		sl.mu.Unlock()
		err := lt.await(ctx, w, opt.Wait, func() bool {
			sl.mu.Lock()
			defer sl.mu.Unlock()
			if w.granted {
				return false
			}
			sl.waiters = removeWaiter(sl.waiters, w)
			lt.graph.set(o, nil)
			return true
		})
		if err != nil {
			return err
		}
	}
}

func removeWaiter(q []*waiter, w *waiter) []*waiter {
	for i := range q {
		if q[i] == w {
			copy(q[i:], q[i+1:])
			q[len(q)-1] = nil
			return q[:len(q)-1]
		}
	}
	return q
}

// wakeSpace lets those who waited for an escalated owner try again.
func (lt *lockTable) wakeSpace(sl *spaceLock) {
	sl.mu.Lock()
	defer sl.mu.Unlock()
	for _, w := range sl.waiters {
		w.granted = true
		lt.graph.set(w.o, nil)
		close(w.ch)
	}
	sl.waiters = nil
}

func (lt *lockTable) releaseSpace(c *spaceCount, seq uint64) {
	if c.owned {
		if c.written && seq > 0 {
			c.sl.lastSeq.Store(seq)
		}
		c.sl.rowOwner.Store(nil)
		lt.wakeSpace(c.sl)
	}
	c.sl.rowHeld.Add(-c.rows)
}

// fewHolds is the number of table locks that are looked through one by one.
const fewHolds = 16

// hold returns what o holds of a table, nil for nothing.
func (o *owner) hold(id uint64) *tableHold {
	if len(o.tables) <= fewHolds {
		for i := range o.tables {
			if o.tables[i].sl.id == id {
				return &o.tables[i]
			}
		}
		return nil
	}
	if o.tableAt == nil {
		o.tableAt = make(map[uint64]int, 2*len(o.tables))
		for i := range o.tables {
			o.tableAt[o.tables[i].sl.id] = i
		}
	}
	if i, ok := o.tableAt[id]; ok {
		return &o.tables[i]
	}
	return nil
}

func (o *owner) addHold(sl *spaceLock) *tableHold {
	if o.tables == nil {
		o.tables = o.tbuf[:0]
	}
	o.tables = append(o.tables, tableHold{sl: sl})
	if o.tableAt != nil {
		o.tableAt[sl.id] = len(o.tables) - 1
	}
	return &o.tables[len(o.tables)-1]
}

// lockTableMode takes a table lock for o.
func (lt *lockTable) lockTableMode(ctx context.Context, o *owner, id uint64, m kv.TableLockMode, opt kv.LockOpt) error {
	bit := uint8(1) << m
	hold := o.hold(id)
	if hold == nil {
		hold = o.addHold(lt.space(id))
	} else if hold.modes&bit != 0 {
		return nil
	}
	sl := hold.sl
	sl.mu.Lock()
	pos := sl.placeLocked(hold.modes)
	if sl.tableFreeLocked(o, m, hold.modes, sl.queue[:pos]) {
		sl.grantTableLocked(o, m)
		lt.reblockTableLocked(sl)
		sl.mu.Unlock()
		hold.modes |= bit
		return nil
	}
	if opt.Wait == 0 {
		sl.mu.Unlock()
		return kv.ErrLockTimeout
	}
	w := &waiter{o: o, ch: make(chan struct{}), mode: m}
	sl.queue = slices.Insert(sl.queue, pos, w)
	if pos < len(sl.queue)-1 {
		lt.reblockTableLocked(sl)
	}
	if err := lt.graph.block(o, sl.tableBlockersLocked(w, pos), kv.LockWait{Space: id, TableMode: m}, nil); err != nil {
		sl.queue = removeWaiter(sl.queue, w)
		lt.graph.set(o, nil)
		// Where only those before it in the queue are in the way, and would wait for it
		// in the end, it passes them.
		if sl.tableFreeLocked(o, m, hold.modes, nil) {
			sl.grantTableLocked(o, m)
			hold.modes |= bit
			err = nil
		}
		lt.reblockTableLocked(sl)
		sl.mu.Unlock()
		return err
	}
	sl.mu.Unlock()
	err := lt.await(ctx, w, opt.Wait, func() bool {
		sl.mu.Lock()
		defer sl.mu.Unlock()
		if w.granted {
			return false
		}
		sl.queue = removeWaiter(sl.queue, w)
		lt.graph.set(o, nil)
		lt.grantTablesLocked(sl)
		return true
	})
	if err == nil {
		hold.modes |= bit
	}
	return err
}

// placeLocked is the place in the queue of somebody who holds modes: before the first who
// waits for them to go, as they would wait for each other, and else at the end.
func (sl *spaceLock) placeLocked(modes uint8) int {
	for i, w := range sl.queue {
		if w.mode.Conflicts()&modes != 0 {
			return i
		}
	}
	return len(sl.queue)
}

// tableFreeLocked reports whether mode m conflicts with no other holder and with none of
// those who are ahead in the queue.
func (sl *spaceLock) tableFreeLocked(o *owner, m kv.TableLockMode, own uint8, ahead []*waiter) bool {
	if hit := m.Conflicts() & sl.mask; hit != 0 {
		for i := range sl.counts {
			c := sl.counts[i]
			if own&(1<<i) != 0 {
				c--
			}
			if hit&(1<<i) != 0 && c > 0 {
				return false
			}
		}
	}
	for _, w := range ahead {
		if w.o != o && m.Conflicts()&(1<<w.mode) != 0 {
			return false
		}
	}
	return true
}

func (sl *spaceLock) grantTableLocked(o *owner, m kv.TableLockMode) {
	sl.counts[m]++
	sl.mask |= 1 << m
	for i := range sl.holders {
		if sl.holders[i].o == o {
			sl.holders[i].modes |= 1 << m
			return
		}
	}
	sl.holders = append(sl.holders, tableHolder{o: o, modes: 1 << m})
}

// tableBlockersLocked returns whom w has to wait for at position pos.
func (sl *spaceLock) tableBlockersLocked(w *waiter, pos int) []*owner {
	var out []*owner
	for _, h := range sl.holders {
		if h.o != w.o && h.modes&w.mode.Conflicts() != 0 {
			out = append(out, h.o)
		}
	}
	for _, q := range sl.queue[:pos] {
		if q.o != w.o && w.mode.Conflicts()&(1<<q.mode) != 0 {
			out = append(out, q.o)
		}
	}
	return out
}

// heldBy returns the modes that o holds.
func (sl *spaceLock) heldBy(o *owner) uint8 {
	for _, h := range sl.holders {
		if h.o == o {
			return h.modes
		}
	}
	return 0
}

// grantTablesLocked serves everybody in the queue who conflicts neither with a
// holder nor with somebody before him.
func (lt *lockTable) grantTablesLocked(sl *spaceLock) {
	for i := 0; i < len(sl.queue); {
		w := sl.queue[i]
		if !sl.tableFreeLocked(w.o, w.mode, sl.heldBy(w.o), sl.queue[:i]) {
			i++
			continue
		}
		lt.grantWaiterLocked(sl, w)
	}
	lt.reblockTableLocked(sl)
}

// grantWaiterLocked gives one of the queue its lock.
func (lt *lockTable) grantWaiterLocked(sl *spaceLock, w *waiter) {
	sl.grantTableLocked(w.o, w.mode)
	sl.queue = removeWaiter(sl.queue, w)
	w.granted = true
	lt.graph.set(w.o, nil)
	close(w.ch)
}

func (lt *lockTable) reblockTableLocked(sl *spaceLock) {
	for i, w := range sl.queue {
		lt.graph.set(w.o, sl.tableBlockersLocked(w, i))
	}
}

// releaseTables gives back all table locks of o.
func (lt *lockTable) releaseTables(o *owner) {
	for _, h := range o.tables {
		lt.releaseTable(o, h.sl, h.modes)
	}
	o.tables, o.tableAt = nil, nil
}

// releaseTable gives back modes of one table lock, which o holds.
func (lt *lockTable) releaseTable(o *owner, sl *spaceLock, modes uint8) {
	sl.mu.Lock()
	defer sl.mu.Unlock()
	for i := range sl.holders {
		if sl.holders[i].o != o {
			continue
		}
		for m := range sl.counts {
			if modes&(1<<m) != 0 {
				if sl.counts[m]--; sl.counts[m] == 0 {
					sl.mask &^= 1 << m
				}
			}
		}
		if sl.holders[i].modes &^= modes; sl.holders[i].modes == 0 {
			last := len(sl.holders) - 1
			sl.holders[i] = sl.holders[last]
			sl.holders[last] = tableHolder{}
			sl.holders = sl.holders[:last]
		}
		break
	}
	if len(sl.leaving) > 0 {
		lt.leftLocked(sl, o)
	}
	if len(sl.queue) > 0 {
		lt.grantTablesLocked(sl)
	}
}
