package boltkv

import (
	"sync"

	"kvsqld/storage/txn"
)

// A commit of the write-ahead log leaves the data file as it is, and yet whoever reads
// after it asks for a snapshot. So there is one of the file's newest state for all, with
// the buckets that were looked up in it, until the file changes.

// newest is the snapshot of the newest state, kept open without users until the next
// change begins.
type newest struct {
	mu     sync.Mutex
	cur    *snapshot
	turn   uint64 // counts beginnings and ends of changes: odd while one is made
	closed bool
}

// Snapshot gives the newest state to one more user.
func (e *engine) Snapshot() (txn.EngineSnapshot, error) {
	n := &e.newest
	n.mu.Lock()
	if s := n.cur; s != nil {
		s.users++
		n.mu.Unlock()
		return s, nil
	}
	turn := n.turn
	n.mu.Unlock()

	s, err := e.openSnapshot()
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	// What was opened beside a change may be the state before it.
	if n.cur == nil && n.turn == turn && turn%2 == 0 && !n.closed {
		s.users++
		n.cur = s
	}
	return s, nil
}

// Release ends the reading of one user.
func (s *snapshot) Release() {
	n := &s.e.newest
	n.mu.Lock()
	s.users--
	last := s.users == 0
	n.mu.Unlock()
	if last {
		s.end()
	}
}

// changing comes before a change of the file, for which no state is to be kept that
// nobody reads, and the function that it returns after it.
func (n *newest) changing() (changed func()) {
	n.step()
	return n.step
}

func (n *newest) step() {
	n.mu.Lock()
	n.turn++
	s := n.cur
	n.cur = nil
	n.mu.Unlock()
	if s != nil {
		s.Release()
	}
}

// close lets the snapshot go, and keeps none from then on.
func (n *newest) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.changing()()
}
