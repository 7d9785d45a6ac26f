package txn

import (
	"context"
	"sync"
	"time"

	"kvsqld/storage/kv"
)

// owner is the party that holds locks: one transaction. It is part of the
// transaction and never used again, so that a pointer to it means the same
// transaction for ever.
type owner struct {
	rows   []*rowLock
	tables []tableHold
	tbuf   [4]tableHold // backing of tables for most transactions
	spaces []spaceCount

	blockers []*owner // whom it waits for; guarded by waitGraph.mu
	visited  uint64   // the search that saw it last; guarded by waitGraph.mu
}

// waiter is one request in the queue of a lock.
type waiter struct {
	o       *owner
	ch      chan struct{} // closed when granted
	granted bool          // guarded by the lock's mutex
	shared  bool          // row locks
	upgrade bool          // row locks: the owner holds the lock shared already
	mode    kv.TableLockMode
}

// waitGraph knows who waits for whom. Its mutex is taken after that of a lock,
// and only by those who wait or wake a waiter.
type waitGraph struct {
	mu       sync.Mutex
	searches uint64
	waits    uint64
	dead     uint64
}

// block records that o waits for the blockers and reports false, recording
// nothing, if that closes a circle.
func (g *waitGraph) block(o *owner, blockers []*owner) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waits++
	g.searches++
	for _, b := range blockers {
		if g.reaches(b, o) {
			g.dead++
			return false
		}
	}
	o.blockers = blockers
	return true
}

func (g *waitGraph) reaches(from, to *owner) bool {
	if from == to {
		return true
	}
	if from.visited == g.searches {
		return false
	}
	from.visited = g.searches
	for _, b := range from.blockers {
		if g.reaches(b, to) {
			return true
		}
	}
	return false
}

// set replaces the blockers of a waiter whose queue has changed; nil when it
// does not wait any more.
func (g *waitGraph) set(o *owner, blockers []*owner) {
	g.mu.Lock()
	o.blockers = blockers
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
