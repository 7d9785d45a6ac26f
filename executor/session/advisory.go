package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
	"kvsqld/storage/kv"
)

// advisoryLocks are the server's advisory locks: first come, first served.
// The store is told who waits for whom, so that a circle over advisory locks
// and those of rows and tables is found.
type advisoryLocks struct {
	waits kv.Waits // nil: the store knows nothing of others' locks
	limit int      // how many keys may be locked
	mu    struct {
		sync.Mutex
		locks map[advisoryName]*advisoryLock
		held  map[*Session]map[*advisoryLock]bool
	}
}

// Advisory locks take advisoryBytes each, and as much as the queue of notifications at
// most, but there may be as many as PostgreSQL has room for by default.
const (
	advisoryBytes = 512
	leastAdvisory = 6400
)

func advisoryLimit(memory int64) int {
	return max(int(queueLimit(memory)/advisoryBytes), leastAdvisory)
}

// advisoryName is a lock's name: keys belong to a database.
type advisoryName struct {
	db  types.OID
	key int64
	two bool
}

type advisoryLock struct {
	name  advisoryName
	holds map[*Session]*advisoryHold
	queue []*advisoryWaiter
}

type advisoryWaiter struct {
	s       *Session
	key     expr.AdvisoryKey
	granted chan struct{} // closed with the lock held
	since   int64         // when it began to wait
}

// advisoryHold counts how often a session holds a lock: for the session and for
// the transaction, exclusive and shared.
type advisoryHold struct{ sessExcl, sessShared, txnExcl, txnShared int }

func (h *advisoryHold) exclusive() bool { return h.sessExcl+h.txnExcl > 0 }
func (h *advisoryHold) empty() bool     { return *h == advisoryHold{} }

func (h *advisoryHold) count(k expr.AdvisoryKey) *int {
	switch {
	case k.Txn && k.Shared:
		return &h.txnShared
	case k.Txn:
		return &h.txnExcl
	case k.Shared:
		return &h.sessShared
	}
	return &h.sessExcl
}

// blockersLocked returns the sessions that s would wait for: holders, and those
// before position pos of the queue, unless s is a holder itself.
func (l *advisoryLock) blockersLocked(s *Session, shared bool, pos int) []int32 {
	var out []int32
	for o, h := range l.holds {
		if o != s && (!shared || h.exclusive()) {
			out = append(out, o.info.PID)
		}
	}
	if l.holds[s] != nil {
		return out
	}
	for _, w := range l.queue[:pos] {
		if w.s != s && !(shared && w.key.Shared) {
			out = append(out, w.s.info.PID)
		}
	}
	return out
}

func (a *advisoryLocks) takeLocked(l *advisoryLock, s *Session, key expr.AdvisoryKey) {
	h := l.holds[s]
	if h == nil {
		h = new(advisoryHold)
		l.holds[s] = h
		if a.mu.held[s] == nil {
			a.mu.held[s] = make(map[*advisoryLock]bool)
		}
		a.mu.held[s][l] = true
	}
	*h.count(key)++
}

// AdvisoryLock implements expr.SessionInfo.
func (s sessionInfo) AdvisoryLock(ctx context.Context, key expr.AdvisoryKey, wait bool) (bool, error) {
	return s.srv.advisory.lock(ctx, s.Session, key, wait)
}

func (a *advisoryLocks) lock(ctx context.Context, s *Session, key expr.AdvisoryKey, wait bool) (bool, error) {
	name := advisoryName{s.db, key.Key, key.Two}
	s.hasLocks = true
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.locks == nil {
		a.mu.locks, a.mu.held = make(map[advisoryName]*advisoryLock), make(map[*Session]map[*advisoryLock]bool)
	}
	l := a.mu.locks[name]
	if l == nil {
		if len(a.mu.locks) >= a.limit {
			return false, sqlerr.New(sqlerr.OutOfMemory, "out of shared memory").
				WithDetail("There are %d advisory locks.", a.limit)
		}
		l = &advisoryLock{name: name, holds: make(map[*Session]*advisoryHold)}
		a.mu.locks[name] = l
	}
	blockers := l.blockersLocked(s, key.Shared, len(l.queue))
	if len(blockers) == 0 {
		a.takeLocked(l, s, key)
		return true, nil
	}
	if !wait {
		return false, nil
	}
	w := &advisoryWaiter{s: s, key: key, granted: make(chan struct{}), since: now()}
	if err := a.tell(w, blockers); err != nil {
		return false, err
	}
	l.queue = append(l.queue, w)
	a.mu.Unlock()
	err := w.await(ctx, s.settings.lockTimeout)
	a.mu.Lock()
	if err == nil {
		return true, nil
	}
	i := slices.Index(l.queue, w)
	if i < 0 { // granted at the last moment
		return true, nil
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	a.endWait(w)
	a.serveLocked(l)
	return false, err
}

// await sleeps until the lock is granted, the statement ends or timeout (0:
// none) is over.
func (w *advisoryWaiter) await(ctx context.Context, timeout time.Duration) error {
	var over <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-w.granted:
		return nil
	case <-over:
		return kv.ErrLockTimeout
	case <-ctx.Done():
		return asSQL(ctx, ctx.Err())
	}
}

// tell tells the store of a wait.
func (a *advisoryLocks) tell(w *advisoryWaiter, blockers []int32) error {
	if a.waits == nil {
		return nil
	}
	return a.waits.WaitOutside(kv.LockWait{Client: w.s.info.PID,
		External: lockMode(w.key.Shared) + " on advisory lock " + advisoryName{w.s.db, w.key.Key, w.key.Two}.String()}, blockers)
}

func (a *advisoryLocks) endWait(w *advisoryWaiter) {
	if a.waits != nil {
		a.waits.EndWait(w.s.info.PID)
	}
}

// serveLocked grants the lock to whom it is free for, first come first served,
// and forgets it when nobody is left.
func (a *advisoryLocks) serveLocked(l *advisoryLock) {
	for i := 0; i < len(l.queue); {
		w := l.queue[i]
		if blockers := l.blockersLocked(w.s, w.key.Shared, i); len(blockers) > 0 {
			// Nobody is waited for who was not before, so no circle can close.
			_ = a.tell(w, blockers)
			i++
			continue
		}
		a.takeLocked(l, w.s, w.key)
		l.queue = slices.Delete(l.queue, i, i+1)
		a.endWait(w)
		close(w.granted)
	}
	if len(l.holds) == 0 {
		delete(a.mu.locks, l.name)
	}
}

// AdvisoryUnlock implements expr.SessionInfo.
func (s sessionInfo) AdvisoryUnlock(key expr.AdvisoryKey) bool {
	a := &s.srv.advisory
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.mu.locks[advisoryName{s.db, key.Key, key.Two}]
	if l == nil || l.holds[s.Session] == nil || *l.holds[s.Session].count(key) == 0 {
		s.tell(warning(sqlerr.Warning, "you don't own a lock of type %s", lockMode(key.Shared)))
		return false
	}
	*l.holds[s.Session].count(key)--
	a.dropLocked(l, s.Session)
	return true
}

func lockMode(shared bool) string {
	if shared {
		return "ShareLock"
	}
	return "ExclusiveLock"
}

// dropLocked forgets an empty hold and serves those who wait.
func (a *advisoryLocks) dropLocked(l *advisoryLock, s *Session) {
	if l.holds[s].empty() {
		delete(l.holds, s)
		if delete(a.mu.held[s], l); len(a.mu.held[s]) == 0 {
			delete(a.mu.held, s)
		}
	}
	a.serveLocked(l)
}

// AdvisoryUnlockAll implements expr.SessionInfo.
func (s sessionInfo) AdvisoryUnlockAll() {
	s.srv.advisory.release(s.Session, func(h *advisoryHold) { h.sessExcl, h.sessShared = 0, 0 })
}

// releaseAll gives up everything that a session holds.
func (a *advisoryLocks) releaseAll(s *Session) {
	a.release(s, func(h *advisoryHold) { *h = advisoryHold{} })
}

// endTxnLocks gives up the locks of the transaction that has ended.
func (s *Session) endTxnLocks() {
	if !s.hasLocks {
		return
	}
	s.srv.advisory.release(s, func(h *advisoryHold) { h.txnExcl, h.txnShared = 0, 0 })
}

func (a *advisoryLocks) release(s *Session, f func(*advisoryHold)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for l := range a.mu.held[s] {
		h := l.holds[s]
		was := *h
		f(h)
		if *h != was {
			a.dropLocked(l, s)
		}
	}
}

// advisoryMark is how often the transaction held its advisory locks at a savepoint.
type advisoryMark map[advisoryName]advisoryHold

func (s *Session) advisoryMark() advisoryMark {
	if !s.hasLocks {
		return nil
	}
	a := &s.srv.advisory
	a.mu.Lock()
	defer a.mu.Unlock()
	m := advisoryMark{}
	for l := range a.mu.held[s] {
		m[l.name] = *l.holds[s]
	}
	return m
}

// unlockTo gives up the transaction's locks since the mark; those of the session stay.
func (s *Session) unlockTo(m advisoryMark) {
	if !s.hasLocks {
		return
	}
	a := &s.srv.advisory
	a.mu.Lock()
	defer a.mu.Unlock()
	for l := range a.mu.held[s] {
		h, was := l.holds[s], m[l.name]
		if h.txnExcl > was.txnExcl || h.txnShared > was.txnShared {
			h.txnExcl, h.txnShared = min(h.txnExcl, was.txnExcl), min(h.txnShared, was.txnShared)
			a.dropLocked(l, s)
		}
	}
}
