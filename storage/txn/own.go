package txn

import (
	"runtime/debug"

	"kvsqld/storage/kv"
)

// ownWrite returns the transaction's newest write of a key.
func (t *Txn) ownWrite(s *spaceWrites, key []byte) (e entry, ok bool, err error) {
	if s.top().base > 0 {
		defer faults(debug.SetPanicOnFault(true), &err)
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	e, ok = s.top().get(key, t.w.markOf(s))
	return e, ok, nil
}

func (t *Txn) Wrote(sp kv.Space, key []byte) bool {
	s := t.own(sp)
	if s == nil {
		return false
	}
	e, ok, err := t.ownWrite(s, key)
	return err != nil || ok && !e.private() || s.top().op != OpNone
}

// hidden reports whether the transaction's newest write of the key is a private one.
func (t *Txn) hidden(s *spaceWrites, key []byte) bool {
	e, ok, err := t.ownWrite(s, key)
	return ok && err == nil && e.private()
}

// hasOwn reports whether a read of the key is answered by the transaction's own writes.
func (t *Txn) hasOwn(sp kv.Space, key []byte) bool {
	s := t.own(sp)
	if s == nil {
		return false
	}
	_, ok, err := t.ownWrite(s, key)
	return ok && err == nil
}

// written returns what the transaction's own writes to a space say about a key: ok is
// false if that is nothing.
func (t *Txn) written(s *spaceWrites, key []byte) (val []byte, ok bool, err error) {
	if s.top().base > 0 {
		defer faults(debug.SetPanicOnFault(true), &err)
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	e, ok := s.top().get(key, t.w.markOf(s))
	if ok {
		return e.keep(), true, nil
	}
	return nil, s.top().op != OpNone, nil
}

// getWritten puts the transaction's own writes of keys into out.
func (t *Txn) getWritten(s *spaceWrites, keys, out [][]byte) (err error) {
	if s.top().base > 0 {
		defer faults(debug.SetPanicOnFault(true), &err)
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	m := t.w.markOf(s)
	for i, k := range keys {
		if e, ok := s.top().get(k, m); ok {
			out[i] = e.keep()
		}
	}
	return nil
}
