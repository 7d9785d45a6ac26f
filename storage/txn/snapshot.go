package txn

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"kvsqld/storage/kv"
)

// sharedSnap is one open engine snapshot with all its users. Point reads
// between two commits share one, so opening costs a counter.
type sharedSnap struct {
	es      EngineSnapshot
	seq     uint64
	expired atomic.Bool // held for too long: reads are refused (T6)

	// Guarded by snapshots.mu.
	refs       int
	superseded time.Time // when a newer state came to be; zero while it is the newest
	warned     bool
}

// check refuses reads from an expired snapshot.
func (s *sharedSnap) check() error {
	if s.expired.Load() {
		return fmt.Errorf("%w: snapshot of commit %d", kv.ErrTooOld, s.seq)
	}
	return nil
}

// snapshots hands out shared snapshots and knows the oldest one in use.
type snapshots struct {
	eng Engine
	min atomic.Uint64 // no open snapshot, and none opened later, has a lower seq than this, or than the newest state
	// visible is the last batch that every snapshot opened from now on contains.
	visible atomic.Uint64

	mu       sync.Mutex
	cur      *sharedSnap // the newest visible state; kept open without users until the next batch is applied
	ahead    *sharedSnap // the same for the newest state, while that is not visible
	open     []*sharedSnap
	opening  int    // snapshots being opened, not yet in open
	applying bool   // a batch is being applied: cur is not kept without users (T1)
	newest   uint64 // seq of the last applied batch; above visible while that is not durable
	closed   bool
	drained  chan struct{} // closed by the release of the last snapshot after close
}

func newSnapshots(eng Engine) *snapshots {
	s := &snapshots{eng: eng, drained: make(chan struct{})}
	s.min.Store(math.MaxUint64)
	return s
}

// acquire returns a snapshot that contains every acknowledged commit.
func (s *snapshots) acquire() (*sharedSnap, error) { return s.acquireAt(false, 0) }

// acquireAt is acquire. Ahead, the snapshot also contains the commits that are
// not durable yet, and commit least, which the caller has seen: the engine has it,
// perhaps before endApply has told of it.
func (s *snapshots) acquireAt(ahead bool, least uint64) (*sharedSnap, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	open, cache := s.eng.Snapshot, &s.cur
	if p, ok := s.eng.(Pipelined); ok && ahead && max(s.newest, least) > s.visible.Load() {
		open, cache = p.Newest, &s.ahead
	}
	if sn := *cache; sn != nil && sn.seq >= least {
		sn.refs++
		s.mu.Unlock()
		return sn, nil
	}
	// The engine may make us wait for a writer that waits for all readers to
	// go, so mu is not held meanwhile; opening keeps the history (T5).
	s.opening++
	s.updateMinLocked()
	s.mu.Unlock()

	kv.Pause()
	es, err := open()
	kv.Pause()

	s.mu.Lock()
	s.opening--
	var sn *sharedSnap
	if err == nil && !s.closed {
		sn = &sharedSnap{es: es, seq: es.Seq(), refs: 1}
		s.open = append(s.open, sn)
		switch {
		case sn.seq < s.visible.Load():
			sn.superseded = time.Now()
		case *cache == nil && (cache == &s.cur || sn.seq >= s.newest):
			*cache = sn
		}
	}
	s.updateMinLocked()
	s.mu.Unlock()
	if sn == nil {
		if err == nil {
			es.Release()
			err = errClosed
		}
		s.signalDrained()
		return nil, err
	}
	return sn, nil
}

// release gives a snapshot back.
func (s *snapshots) release(sn *sharedSnap) {
	s.mu.Lock()
	sn.refs--
	drop := sn.refs == 0 && (sn != s.cur && sn != s.ahead || s.applying || s.closed)
	if drop {
		s.removeLocked(sn)
	}
	s.mu.Unlock()
	if drop {
		sn.es.Release()
		s.signalDrained()
	}
}

// signalDrained tells close that no snapshot is left.
func (s *snapshots) signalDrained() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && len(s.open) == 0 && s.opening == 0 {
		select {
		case <-s.drained:
		default:
			close(s.drained)
		}
	}
}

func (s *snapshots) removeLocked(sn *sharedSnap) {
	if s.cur == sn {
		s.cur = nil
	}
	if s.ahead == sn {
		s.ahead = nil
	}
	for i, o := range s.open {
		if o == sn {
			last := len(s.open) - 1
			s.open[i], s.open[last] = s.open[last], nil
			s.open = s.open[:last]
			break
		}
	}
	s.updateMinLocked()
}

func (s *snapshots) updateMinLocked() {
	m := uint64(math.MaxUint64)
	for _, sn := range s.open {
		m = min(m, sn.seq)
	}
	if v := s.visible.Load(); s.newest > v {
		m = min(m, v) // the next one to be opened
	}
	if s.opening > 0 {
		m = 0
	}
	s.min.Store(m)
}

// beginApply closes the snapshots that only the cache holds, so that the engine
// can reuse pages and remap its file.
func (s *snapshots) beginApply() {
	s.mu.Lock()
	s.applying = true
	idle := s.idleLocked(nil)
	s.mu.Unlock()
	for _, sn := range idle {
		sn.es.Release()
	}
}

// idleLocked takes out the cached snapshots that nobody uses, for the caller to
// release, and adds them to dst.
func (s *snapshots) idleLocked(dst []*sharedSnap) []*sharedSnap {
	for _, sn := range [...]*sharedSnap{s.cur, s.ahead} {
		if sn != nil && sn.refs == 0 {
			s.removeLocked(sn)
			dst = append(dst, sn)
		}
	}
	return dst
}

// dropIdle closes the cached snapshots that nobody uses.
func (s *snapshots) dropIdle() {
	s.mu.Lock()
	idle := s.idleLocked(nil)
	s.mu.Unlock()
	for _, sn := range idle {
		sn.es.Release()
	}
	if len(idle) > 0 {
		s.signalDrained()
	}
}

// endApply notes that batch seq was applied; zero says that nothing was.
func (s *snapshots) endApply(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applying = false
	if seq > s.newest {
		s.newest = seq
		if s.ahead != nil {
			s.ahead.superseded = time.Now()
			s.ahead = nil
		}
		s.updateMinLocked()
	}
}

// applied returns the last applied batch.
func (s *snapshots) applied() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest
}

// show makes a batch visible: from its return on every acquire yields a
// snapshot with seq or a later one.
func (s *snapshots) show(seq uint64) {
	s.mu.Lock()
	var idle []*sharedSnap
	defer func() {
		s.mu.Unlock()
		for _, sn := range idle {
			sn.es.Release()
		}
	}()
	if seq <= s.visible.Load() {
		return
	}
	s.visible.Store(seq)
	s.newest = max(s.newest, seq)
	now := time.Now()
	for _, sn := range s.open {
		if sn.seq < seq && sn.superseded.IsZero() {
			sn.superseded = now
		}
	}
	if s.cur != nil && s.cur.seq < seq {
		if s.cur.refs == 0 {
			idle = append(idle, s.cur)
			s.removeLocked(s.cur)
		}
		s.cur = nil
	}
	if s.ahead != nil && s.ahead.seq <= seq {
		// It is the visible state from now on, or older: a sync may show a batch before
		// endApply has told of it.
		if s.cur == nil && s.ahead.seq == seq {
			s.cur = s.ahead
		} else if s.ahead.refs == 0 {
			idle = append(idle, s.ahead)
			s.removeLocked(s.ahead)
		}
		s.ahead = nil
	}
	s.updateMinLocked()
}

// age calls warn for each snapshot that was superseded at least warnAge ago
// and expires those over maxAge. A limit of zero does not apply.
func (s *snapshots) age(now time.Time, warnAge, maxAge time.Duration, warn func(OldSnapshot)) {
	var old []OldSnapshot
	s.mu.Lock()
	for _, sn := range s.open {
		if sn.superseded.IsZero() {
			continue
		}
		a := now.Sub(sn.superseded)
		if maxAge > 0 && a >= maxAge && !sn.expired.Load() {
			sn.expired.Store(true)
			old = append(old, OldSnapshot{Seq: sn.seq, Age: a, Users: sn.refs, Expired: true})
		} else if warnAge > 0 && a >= warnAge && !sn.warned {
			sn.warned = true
			old = append(old, OldSnapshot{Seq: sn.seq, Age: a, Users: sn.refs})
		}
	}
	s.mu.Unlock()
	for _, o := range old {
		warn(o)
	}
}

func (s *snapshots) stats(st *kv.StoreStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, sn := range s.open {
		if sn.refs == 0 {
			continue
		}
		st.OpenSnapshots++
		if !sn.superseded.IsZero() {
			st.OldestAge = max(st.OldestAge, now.Sub(sn.superseded))
		}
	}
	st.Seq = max(st.Seq, s.visible.Load())
}

// close refuses new snapshots and reads from open ones, and waits up to wait
// for those to be released. It reports whether all were.
func (s *snapshots) close(wait time.Duration) bool {
	s.mu.Lock()
	s.closed = true
	idle := s.idleLocked(nil)
	for _, sn := range s.open {
		sn.expired.Store(true)
	}
	s.mu.Unlock()
	for _, sn := range idle {
		sn.es.Release()
	}
	s.signalDrained()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-s.drained:
		return true
	case <-t.C:
		return false
	}
}
