package txn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kvsqld/storage/kv"
)

// owner is the party that holds locks: one transaction. It is part of the
// transaction. Where it may have waited, or have been waited for, it is never used
// again, so that a pointer to it means the same transaction for ever; the table locks
// of one that has only read are gone with all waits for them (see Txn.light).
type owner struct {
	client int32         // kv.BeginOpt.Client
	number atomic.Uint64 // 0: none yet
	rows   []*rowLock
	tables []tableHold
	tbuf   [4]tableHold // backing of tables for most transactions
	// tableAt has the places in tables, when they are many; nil: not made yet.
	tableAt map[uint64]int
	spaces  []spaceCount
	// upgrades are the row locks that got stronger, in order. Who grants one to a
	// waiter adds it; the owner waits meanwhile.
	upgrades []rowUpgrade
	// wrote are the row locks that were held already when their keys were first written,
	// after a LockMark, in order.
	wrote  []*rowLock
	marked bool // LockMark was called

	// What follows is guarded by waitGraph.mu.
	blockers []*owner    // whom it waits for
	wait     kv.LockWait // and for what; Client is set while it waits
	since    time.Time   // since when
	queued   *rowLock    // in the queue of which; nil for other locks
	visited  uint64      // the search that saw it last
}

// rowUpgrade is a held row lock whose mode was a weaker one.
type rowUpgrade struct {
	l   *rowLock
	was kv.RowLockMode
}

// waiter is one request in the queue of a lock.
type waiter struct {
	o       *owner
	ch      chan struct{} // closed when granted
	granted bool          // guarded by the lock's mutex
	upgrade bool          // row locks: the owner holds the lock in a weaker mode
	fresh   bool          // row locks: the row is to be made by the owner
	look    bool          // row locks: it waits for who writes the row, and is in nobody's way
	settled bool          // row locks: it went on without the lock (see grantLocked)
	row     kv.RowLockMode
	mode    kv.TableLockMode
}

// waitGraph knows who waits for whom. Its mutex is taken after that of a lock,
// and only by those who wait or wake a waiter.
//
// Clients may wait for something that the store does not know (kv.Waits); such
// edges go from client to client. A client waits for one thing at a time.
type waitGraph struct {
	mu       sync.Mutex
	searches uint64
	circle   []*owner // of the last search that found one: who waits in it
	waits    uint64
	dead     uint64
	owners   map[*owner]struct{}     // who waits for locks of the store
	clients  map[int32]*externalWait // who waits for something else
}

// externalWait is a wait that the store was told of.
type externalWait struct {
	kv.LockWait
	blockers []int32
	visited  uint64
}

// circleError is a kv.DeadlockError with the owners in the circle, besides the one that
// would close it.
type circleError struct {
	*kv.DeadlockError
	owners []*owner
}

func (e *circleError) Unwrap() error { return e.DeadlockError }

// deadLocked is the error of w, which would close the circle that was found.
func (g *waitGraph) deadLocked(w kv.LockWait, path []kv.LockWait) error {
	g.dead++
	return &circleError{&kv.DeadlockError{Waits: append([]kv.LockWait{w}, path...)}, slices.Clone(g.circle)}
}

// passing runs lock, which may wait, again for as long as it would close a circle that
// somebody in it can be taken out of (letPass).
func (lt *lockTable) passing(lock func() error) error {
	for {
		err := lock()
		if err == nil {
			return nil
		}
		var c *circleError
		if !errors.As(err, &c) {
			return err
		}
		if !lt.letPass(c.owners) {
			return c.DeadlockError
		}
	}
}

// letPass gives one of the owners the table lock that it waits for, if no holder is in the
// way: it waits because others came first, who wait themselves, in the end for it. So does
// PostgreSQL, which rearranges the queue before it ends anybody.
func (lt *lockTable) letPass(owners []*owner) bool {
	g := &lt.graph
	for _, o := range owners {
		g.mu.Lock()
		_, waits := g.owners[o]
		wait := o.wait
		g.mu.Unlock()
		if !waits || wait.Row {
			continue
		}
		sl := lt.space(wait.Space)
		sl.mu.Lock()
		i := slices.IndexFunc(sl.queue, func(w *waiter) bool { return w.o == o })
		if i < 0 || !sl.tableFreeLocked(o, sl.queue[i].mode, sl.heldBy(o), nil) {
			sl.mu.Unlock()
			continue
		}
		lt.grantWaiterLocked(sl, sl.queue[i])
		lt.reblockTableLocked(sl)
		sl.mu.Unlock()
		g.mu.Lock()
		g.dead--
		g.mu.Unlock()
		return true
	}
	return false
}

// block records that o waits for the blockers, in the queue of a row lock or for
// something else, or returns *circleError, recording nothing, if that closes a
// circle.
func (g *waitGraph) block(o *owner, blockers []*owner, w kv.LockWait, queued *rowLock) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waits++
	g.searches++
	g.circle = g.circle[:0]
	w.Client = o.client
	for _, b := range blockers {
		if path, dead := g.reaches(b, o, o.client); dead {
			w.Blocker, w.Number = b.client, b.number.Load()
			return g.deadLocked(w, path)
		}
	}
	if g.owners == nil {
		g.owners = make(map[*owner]struct{})
	}
	g.owners[o] = struct{}{}
	o.blockers, o.wait, o.since, o.queued = blockers, w, time.Now(), queued
	return nil
}

// blockClient is block for a wait of a client outside of the store.
func (g *waitGraph) blockClient(w kv.LockWait, blockers []int32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.searches++
	g.circle = g.circle[:0]
	for _, b := range blockers {
		if path, dead := g.clientReaches(b, nil, w.Client); dead {
			w.Blocker = b
			return g.deadLocked(w, path)
		}
	}
	if g.clients == nil {
		g.clients = make(map[int32]*externalWait)
	}
	g.clients[w.Client] = &externalWait{LockWait: w, blockers: blockers}
	return nil
}

func (g *waitGraph) unblockClient(client int32) {
	g.mu.Lock()
	delete(g.clients, client)
	g.mu.Unlock()
}

// reaches reports whether from waits, over others, for the owner to (or for
// client, unless it is 0), and the waits on the way.
func (g *waitGraph) reaches(from, to *owner, client int32) ([]kv.LockWait, bool) {
	if from == to || client != 0 && from.client == client {
		return nil, true
	}
	if from.visited == g.searches {
		return nil, false
	}
	from.visited = g.searches
	for _, b := range from.blockers {
		if path, ok := g.reaches(b, to, client); ok {
			w := from.wait
			w.Blocker, w.Number = b.client, b.number.Load()
			g.circle = append(g.circle, from)
			return append([]kv.LockWait{w}, path...), true
		}
	}
	if from.client != 0 && g.clients[from.client] != nil {
		return g.clientReaches(from.client, to, client)
	}
	return nil, false
}

// clientReaches is reaches from whatever a client waits for.
func (g *waitGraph) clientReaches(from int32, to *owner, client int32) ([]kv.LockWait, bool) {
	if client != 0 && from == client {
		return nil, true
	}
	if x := g.clients[from]; x != nil {
		if x.visited == g.searches {
			return nil, false
		}
		x.visited = g.searches
		for _, b := range x.blockers {
			if path, ok := g.clientReaches(b, to, client); ok {
				w := x.LockWait
				w.Blocker = b
				return append([]kv.LockWait{w}, path...), true
			}
		}
		return nil, false
	}
	for o := range g.owners {
		if o.client == from {
			return g.reaches(o, to, client)
		}
	}
	return nil, false
}

// set replaces the blockers of a waiter whose queue has changed; nil when it
// does not wait any more.
func (g *waitGraph) set(o *owner, blockers []*owner) {
	g.mu.Lock()
	o.blockers = blockers
	if blockers == nil {
		delete(g.owners, o)
	}
	g.mu.Unlock()
}

// await sleeps until w is granted, wait is over, the context ends or the store
// closes. giveUp removes w from its queue and reports false if the grant came
// first.
func (lt *lockTable) await(ctx context.Context, w *waiter, wait time.Duration, giveUp func() bool) error {
	var timeout <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timeout = t.C
	}
	var err error
	select {
	case <-w.ch:
		return nil
	case <-timeout:
		err = kv.ErrLockTimeout
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-lt.closed:
		err = errClosed
	}
	if !giveUp() {
		return nil
	}
	return err
}
