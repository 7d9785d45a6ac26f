package txn

import (
	"fmt"

	"kvsqld/storage/kv"
)

// Export implements kv.Txn.
func (t *Txn) Export() (kv.Snapshot, error) {
	sn, err := t.snapshot()
	if err != nil {
		return nil, err
	}
	if sn.seq > t.st.snaps.visible.Load() { // nobody else may be ahead of the durable state (T9)
		if err := t.st.sync.await(sn.seq); err != nil {
			return nil, err
		}
	}
	s := &Snapshot{st: t.st}
	s.sn.Store(t.st.snaps.share(sn))
	return s, nil
}

// Adopt implements kv.Txn.
func (t *Txn) Adopt(from kv.Snapshot) error {
	s, ok := from.(*Snapshot)
	if !ok || s.st != t.st {
		return fmt.Errorf("%w: a snapshot of another store", kv.ErrUnavailable)
	}
	sn, err := s.get()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.done.Load():
		return kv.ErrTxnDone
	case t.snap.Load() != nil || t.opt.Isolation == kv.ReadCommitted:
		return fmt.Errorf("%w: the transaction can not keep another's snapshot", kv.ErrConflict)
	}
	if t.serial != nil && !t.st.log.adopt(t.serial, sn.seq) {
		return errSerial()
	}
	t.snap.Store(t.st.snaps.share(sn))
	return nil
}

// share counts one more user of a snapshot that somebody holds.
func (s *snapshots) share(sn *sharedSnap) *sharedSnap {
	s.mu.Lock()
	sn.refs++
	s.mu.Unlock()
	return sn
}
