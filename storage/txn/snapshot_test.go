package txn

import "testing"

// aheadEngine is a Pipelined engine whose states are numbers.
type aheadEngine struct {
	fakeEngine
	durable uint64
}

func (e *aheadEngine) Append([]Change, bool) (uint64, bool, error) {
	e.seq++
	return e.seq, false, nil
}

func (e *aheadEngine) Sync() (uint64, error) {
	e.durable = e.seq
	return e.durable, nil
}

func (e *aheadEngine) Snapshot() (EngineSnapshot, error) {
	e.open++
	return &fakeSnapshot{e: &e.fakeEngine, seq: e.durable}, nil
}

func (e *aheadEngine) Newest() (EngineSnapshot, error) {
	e.open++
	return &fakeSnapshot{e: &e.fakeEngine, seq: e.seq}, nil
}

// TestShownBeforeTold: somebody's sync shows a batch before the committer, which has
// appended it, has told of it. Every snapshot that is opened then has the batch, and none
// stays open that nobody uses.
func TestShownBeforeTold(t *testing.T) {
	for _, used := range []bool{false, true} {
		e := &aheadEngine{}
		s := newSnapshots(e)
		open := func(ahead bool, want uint64) *sharedSnap {
			t.Helper()
			sn, err := s.acquireAt(ahead, 0)
			if err != nil {
				t.Fatal(err)
			}
			if sn.seq != want {
				t.Errorf("ahead %v: state %d, want %d", ahead, sn.seq, want)
			}
			return sn
		}
		s.beginApply()
		e.Append(nil, false)
		s.endApply(1)
		older := open(true, 1) // is kept for the next one
		if !used {
			s.release(older)
		}
		// The second batch is appended, and synced by who waits for the first.
		e.Append(nil, false)
		e.Sync()
		s.show(2)
		s.release(open(true, 2))
		s.release(open(false, 2))
		s.endApply(2)
		s.release(open(true, 2))
		if used {
			s.release(older)
		}
		s.dropIdle()
		if e.fakeEngine.open != 0 || len(s.open) != 0 {
			t.Errorf("%d snapshots are open", e.fakeEngine.open)
		}
	}
}

// TestSeenBeforeTold: a transaction that goes ahead reads a batch that has been appended
// and not been told of. Until that is, and when others have opened an older state, it
// goes on to read no less.
func TestSeenBeforeTold(t *testing.T) {
	for _, shown := range []uint64{0, 1} {
		e := &aheadEngine{}
		s := newSnapshots(e)
		e.Append(nil, false)
		s.endApply(1)
		if shown > 0 {
			e.Sync()
			s.show(shown)
		}
		other, err := s.acquireAt(true, 0)
		if err != nil {
			t.Fatal(err)
		}
		e.Append(nil, false)
		sn, err := s.acquireAt(true, 2) // 2 was read from another state
		if err != nil {
			t.Fatal(err)
		}
		if sn.seq != 2 {
			t.Errorf("shown %d: state %d, want 2", shown, sn.seq)
		}
		s.release(sn)
		s.release(other)
		s.dropIdle()
		if e.fakeEngine.open != 0 || len(s.open) != 0 {
			t.Errorf("%d snapshots are open", e.fakeEngine.open)
		}
	}
}
