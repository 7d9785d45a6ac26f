package txn

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"kvsqld/storage/kv"
)

// syncer makes the batches of a Pipelined engine durable: one of those who wait
// calls the engine for all of them.
type syncer struct {
	eng   Pipelined // nil: every applied batch is durable
	snaps *snapshots
	log   *commitLog

	writers atomic.Int32 // transactions that have written and have not ended

	durable atomic.Uint64 // the last durable batch

	mu    sync.Mutex
	busy  chan struct{} // closed when the sync that runs has ended; nil: none runs
	err   error         // after which no batch gets durable any more
	timer bool          // later has been called, and its sync has not begun
}

// applied notes that batch seq was durable when it was applied.
func (s *syncer) applied(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reachedLocked(seq)
}

func (s *syncer) reachedLocked(seq uint64) {
	if seq > s.durable.Load() {
		s.show(seq)
		s.durable.Store(seq)
	}
}

// show makes batch seq visible to new snapshots.
func (s *syncer) show(seq uint64) {
	kv.Pause()
	s.snaps.show(seq)
	kv.Pause()
	s.log.show(seq) // after the snapshots, so that nobody opens an older one any more
}

// await returns when batch seq is durable, or kv.ErrUndetermined.
func (s *syncer) await(seq uint64) error {
	for {
		s.mu.Lock()
		switch {
		case s.durable.Load() >= seq, s.eng == nil: // a snapshot may have what applied has not told of yet
			s.mu.Unlock()
			return nil
		case s.err != nil:
			defer s.mu.Unlock()
			return s.err
		case s.busy != nil:
			busy := s.busy
			s.mu.Unlock()
			<-busy
			continue
		}
		s.busy = make(chan struct{})
		s.mu.Unlock()
		s.gather(runtime.Gosched)
		s.sync()
	}
}

// gather gives way to others for as long as that brings further batches: a sync for
// all costs hardly more than one for the first, and most of those who have
// committed wait for that sync then. Those who do not, and come again, cannot hold it
// up for ever: it waits for no more batches than there are other writers.
func (s *syncer) gather(giveWay func()) {
	seq := uint64(0)
	for range s.writers.Load() - 1 {
		now := s.snaps.applied()
		if now == seq {
			return
		}
		seq = now
		giveWay()
	}
}

// sync is the engine's, for everybody who waits for it.
func (s *syncer) sync() {
	var seq uint64
	var err error
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: syncing panicked: %v", kv.ErrUndetermined, p)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
		s.reachedLocked(seq)
		close(s.busy)
		s.busy = nil
	}()
	seq, err = s.eng.Sync()
}

// later makes everything applied by now durable within kv.LazyDelay. An error is
// told to the next commit that waits.
func (s *syncer) later() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer {
		return
	}
	s.timer = true
	time.AfterFunc(kv.LazyDelay, func() {
		s.mu.Lock()
		s.timer = false
		s.mu.Unlock()
		_ = s.await(s.snaps.applied())
	})
}
