package txn

import (
	"context"
	"slices"

	"kvsqld/storage/kv"
)

// holdersWait is the wait for the end of those who had a table locked when it began.
// Unlike a waiter in the queue it is in nobody's way.
type holdersWait struct {
	w    *waiter
	olds []*owner
}

// AwaitHolders implements kv.Txn.
func (t *Txn) AwaitHolders(ctx context.Context, sp kv.Space, m kv.TableLockMode, opt kv.LockOpt) error {
	if t.done.Load() {
		return kv.ErrTxnDone
	}
	return t.st.locks.passing(func() error { return t.awaitHolders(ctx, sp, m, opt) })
}

func (t *Txn) awaitHolders(ctx context.Context, sp kv.Space, m kv.TableLockMode, opt kv.LockOpt) error {
	lt, sl := t.st.locks, t.st.locks.space(sp.ID)
	sl.mu.Lock()
	x := &holdersWait{w: &waiter{o: &t.owner, ch: make(chan struct{}), mode: m}}
	for _, h := range sl.holders {
		if h.modes&m.Conflicts() != 0 && h.o != &t.owner && (t.client == 0 || h.o.client != t.client) {
			x.olds = append(x.olds, h.o)
		}
	}
	if len(x.olds) == 0 {
		sl.mu.Unlock()
		return nil
	}
	if opt.Wait == 0 {
		sl.mu.Unlock()
		return kv.ErrLockTimeout
	}
	if err := lt.graph.block(&t.owner, slices.Clone(x.olds), kv.LockWait{Space: sp.ID, TableMode: m}, nil); err != nil {
		sl.mu.Unlock()
		return err
	}
	sl.leaving = append(sl.leaving, x)
	sl.mu.Unlock()
	return lt.await(ctx, x.w, opt.Wait, func() bool {
		sl.mu.Lock()
		defer sl.mu.Unlock()
		if x.w.granted {
			return false
		}
		sl.leaving = slices.DeleteFunc(sl.leaving, func(o *holdersWait) bool { return o == x })
		lt.graph.set(&t.owner, nil)
		return true
	})
}

// leftLocked tells those who wait for holders to go that one has given modes back.
func (lt *lockTable) leftLocked(sl *spaceLock, o *owner) {
	still := sl.heldBy(o)
	sl.leaving = slices.DeleteFunc(sl.leaving, func(x *holdersWait) bool {
		i := slices.Index(x.olds, o)
		if i < 0 || still&x.w.mode.Conflicts() != 0 {
			return false
		}
		x.olds = slices.Delete(x.olds, i, i+1)
		if len(x.olds) > 0 {
			lt.graph.set(x.w.o, slices.Clone(x.olds))
			return false
		}
		x.w.granted = true
		lt.graph.set(x.w.o, nil)
		close(x.w.ch)
		return true
	})
}
