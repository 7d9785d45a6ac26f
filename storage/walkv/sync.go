package walkv

import (
	"fmt"

	"kvsqld/storage/kv"
)

// Sync makes all batches durable and shows them. It does without mu, whose
// holder may be waiting for the base, and that for readers, who may be waiting
// for this.
func (e *Engine) Sync() (uint64, error) {
	// One at a time: the operating system tells only one of two of an error.
	e.syncing.Lock()
	defer e.syncing.Unlock()
	st := e.cur.Load()
	if err := e.failure(); err != nil {
		return e.durableSeq(), fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
	}
	if n := e.durableSeq(); n >= st.seq {
		return n, nil
	}
	e.counts.syncs.Add(1)
	if err := st.log.sync(); err != nil {
		e.fail(err)
		return e.durableSeq(), fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
	}
	e.synced(st)
	return e.durableSeq(), nil
}

func (e *Engine) durableSeq() uint64 {
	e.pub.Lock()
	defer e.pub.Unlock()
	return e.durable
}

// failure returns why no batch is taken any more, or nil.
func (e *Engine) failure() error {
	e.pub.Lock()
	defer e.pub.Unlock()
	return e.failed
}

// fail ends the taking of batches (W6). Those that nobody was told of go.
func (e *Engine) fail(err error) {
	e.pub.Lock()
	defer e.pub.Unlock()
	e.failed = err
	e.cur.Store(e.shown.Load())
}

// extend makes st, which has a batch more, the newest state.
func (e *Engine) extend(st *state) error {
	e.pub.Lock()
	defer e.pub.Unlock()
	if e.failed != nil {
		return fmt.Errorf("%w: %w", kv.ErrUndetermined, e.failed)
	}
	e.cur.Store(st)
	return nil
}

// publish makes st, which is durable, the newest state.
func (e *Engine) publish(st *state) {
	e.pub.Lock()
	defer e.pub.Unlock()
	e.durable = st.seq
	e.cur.Store(st)
	e.shown.Store(st)
}

// show shows the newest state, which has batch seq, unless that was lost.
func (e *Engine) show(seq uint64) {
	e.pub.Lock()
	defer e.pub.Unlock()
	if st := e.cur.Load(); st.seq == seq {
		e.shown.Store(st)
	}
}

// synced notes that everything up to st is durable, and shows it. The trees may
// lie on another base by now.
func (e *Engine) synced(st *state) {
	e.pub.Lock()
	defer e.pub.Unlock()
	e.durable = max(e.durable, st.seq)
	if e.shown.Load().seq >= st.seq {
		return
	}
	cur := e.cur.Load()
	if cur.seq == st.seq {
		e.shown.Store(cur)
		return
	}
	shown := *st
	shown.base, shown.frozen = cur.base, cur.frozen
	e.shown.Store(&shown)
}
