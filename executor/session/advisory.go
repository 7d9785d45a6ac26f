package session

import (
	"context"
	"sync"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
)

// advisoryLocks are the server's advisory locks. Waiters are woken by every
// release and look again; who waits for whom is checked for circles.
type advisoryLocks struct {
	mu struct {
		sync.Mutex
		locks   map[advisoryName]*advisoryLock
		waiting map[*Session]advisoryName
	}
}

// advisoryName is a lock's name: keys belong to a database.
type advisoryName struct {
	db  types.OID
	key int64
	two bool
}

type advisoryLock struct {
	holds map[*Session]*advisoryHold
	freed chan struct{} // closed by the next release
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

// freeLocked reports whether s can have the lock now.
func (l *advisoryLock) freeLocked(s *Session, shared bool) bool {
	for o, h := range l.holds {
		if o != s && (!shared || h.exclusive()) {
			return false
		}
	}
	return true
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
		a.mu.locks = make(map[advisoryName]*advisoryLock)
		a.mu.waiting = make(map[*Session]advisoryName)
	}
	for {
		l := a.mu.locks[name]
		if l == nil {
			l = &advisoryLock{holds: make(map[*Session]*advisoryHold), freed: make(chan struct{})}
			a.mu.locks[name] = l
		}
		if l.freeLocked(s, key.Shared) {
			h := l.holds[s]
			if h == nil {
				h = new(advisoryHold)
				l.holds[s] = h
			}
			*h.count(key)++
			return true, nil
		}
		if !wait {
			return false, nil
		}
		a.mu.waiting[s] = name
		if a.circleLocked(s) {
			delete(a.mu.waiting, s)
			return false, sqlerr.New(sqlerr.DeadlockDetected, "deadlock detected")
		}
		freed := l.freed
		a.mu.Unlock()
		var err error
		select {
		case <-freed:
		case <-ctx.Done():
			err = asSQL(ctx, ctx.Err())
		}
		a.mu.Lock()
		delete(a.mu.waiting, s)
		if err != nil {
			return false, err
		}
	}
}

// circleLocked reports whether s waits, over others, for itself.
func (a *advisoryLocks) circleLocked(s *Session) bool {
	seen := map[*Session]bool{}
	var reaches func(o *Session) bool
	reaches = func(o *Session) bool {
		name, ok := a.mu.waiting[o]
		if !ok || seen[o] {
			return false
		}
		seen[o] = true
		for h := range a.mu.locks[name].holds {
			if h != o && (h == s || reaches(h)) {
				return true
			}
		}
		return false
	}
	return reaches(s)
}

// AdvisoryUnlock implements expr.SessionInfo.
func (s sessionInfo) AdvisoryUnlock(key expr.AdvisoryKey) bool {
	a := &s.srv.advisory
	a.mu.Lock()
	defer a.mu.Unlock()
	name := advisoryName{s.db, key.Key, key.Two}
	l := a.mu.locks[name]
	if l == nil || l.holds[s.Session] == nil || *l.holds[s.Session].count(key) == 0 {
		s.tell(warning(sqlerr.Warning, "you don't own a lock of type %s", lockMode(key.Shared)))
		return false
	}
	*l.holds[s.Session].count(key)--
	a.dropLocked(name, l, s.Session)
	return true
}

func lockMode(shared bool) string {
	if shared {
		return "ShareLock"
	}
	return "ExclusiveLock"
}

// dropLocked forgets an empty hold and wakes those who wait.
func (a *advisoryLocks) dropLocked(name advisoryName, l *advisoryLock, s *Session) {
	if l.holds[s].empty() {
		delete(l.holds, s)
	}
	close(l.freed)
	l.freed = make(chan struct{})
	if len(l.holds) == 0 {
		delete(a.mu.locks, name)
	}
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
	for name, l := range a.mu.locks {
		if h := l.holds[s]; h != nil {
			was := *h
			f(h)
			if *h != was {
				a.dropLocked(name, l, s)
			}
		}
	}
}
