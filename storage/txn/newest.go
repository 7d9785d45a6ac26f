package txn

import "kvsqld/storage/kv"

// ReadNewest implements kv.Txn. The transaction's own snapshot stays open, so that
// the changes since then are remembered (T5).
func (t *Txn) ReadNewest() (end func(), err error) {
	if t.opt.Isolation == kv.ReadCommitted {
		t.mu.Lock()
		t.releaseSnap()
		t.mu.Unlock()
		return func() {}, nil
	}
	own, err := t.snapshot()
	if err != nil {
		return nil, err
	}
	newest, err := t.st.snaps.acquire()
	if err != nil {
		return nil, err
	}
	reads := t.reads
	t.mu.Lock()
	t.snap.Store(newest)
	if t.serial != nil {
		t.reads = &t.serial.newest
	}
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.snap.Store(own)
		t.reads = reads
		t.mu.Unlock()
		t.st.snaps.release(newest)
	}, nil
}

// acquireNewest opens the newest state that the transaction may read, with all that it
// has met.
func (t *Txn) acquireNewest() (*sharedSnap, error) {
	if t.ahead {
		return t.st.snaps.acquireAt(true, t.seen)
	}
	return t.st.snaps.acquire()
}

// Newest implements kv.Txn.
func (t *Txn) Newest() (kv.Snapshot, error) {
	sn, err := t.acquireNewest()
	if err != nil {
		return nil, err
	}
	if t.st.sync.eng != nil {
		t.seen = max(t.seen, sn.seq)
	}
	s := &Snapshot{st: t.st}
	if t.serial != nil {
		s.reads = &t.serial.newest
	}
	s.sn.Store(sn)
	return s, nil
}

// Behind implements kv.Txn.
func (t *Txn) Behind(sp kv.Space) (bool, error) {
	sn, err := t.snapshot()
	if err != nil {
		return false, err
	}
	return t.st.locks.space(sp.ID).written.Load() > sn.seq, nil
}
