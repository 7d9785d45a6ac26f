package txn

import (
	"fmt"

	"kvsqld/storage/kv"
)

func (t *Txn) HasSpace(sp kv.Space) (bool, error) {
	sn, err := t.snapshot()
	if err != nil {
		return false, err
	}
	return t.hasSpace(sp, sn)
}

// hasSpace reports whether the space exists in sn under the transaction's writes.
func (t *Txn) hasSpace(sp kv.Space, sn *sharedSnap) (bool, error) {
	if s := t.own(sp); s != nil {
		switch s.top().op {
		case OpCreate, OpClear:
			return true, nil
		case OpDrop:
			return false, nil
		}
	}
	return sn.es.HasSpace(sp)
}

func (t *Txn) Owns(sp kv.Space) bool {
	s := t.own(sp)
	return s != nil && (s.top().op == OpCreate || s.top().op == OpClear)
}

// alter begins a new layer of a space that must, or must not, exist: in the newest
// state, for others may have made it since the transaction's snapshot.
func (t *Txn) alter(sp kv.Space, op SpaceOp) error {
	s, err := t.writable(sp)
	if err != nil {
		return err
	}
	newest, err := t.st.snaps.acquire()
	if err != nil {
		return err
	}
	has, err := t.hasSpace(sp, newest)
	t.st.snaps.release(newest)
	if err != nil {
		return err
	}
	if has == (op == OpCreate) {
		if has {
			return fmt.Errorf("%w: file %s/%s", kv.ErrExists, sp.DB, sp.File)
		}
		return fmt.Errorf("%w: file %s/%s", kv.ErrNotFound, sp.DB, sp.File)
	}
	s.layers = append(s.layers, layer{op: op})
	t.w.dirty = true
	return nil
}

func (t *Txn) CreateSpace(sp kv.Space) error { return t.alter(sp, OpCreate) }
func (t *Txn) DropSpace(sp kv.Space) error   { return t.alter(sp, OpDrop) }
func (t *Txn) ClearSpace(sp kv.Space) error  { return t.alter(sp, OpClear) }
