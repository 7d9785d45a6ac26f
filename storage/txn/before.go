package txn

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// before reads the state that a transaction saw when it was made: its snapshot
// and the writes until then. Layers only grow at their end, so a copy of their
// lengths and sorted runs is a copy of the writes.
type before struct {
	t      *Txn
	view   *View      // whose snapshot it reads; nil: the transaction's
	mu     sync.Mutex // held by readers, which may have to sort
	layers map[uint64]*layer
}

// Before implements kv.Txn.
func (t *Txn) Before() kv.Reader {
	b := &before{t: t, view: t.in, layers: map[uint64]*layer{}}
	if t.w == nil {
		return b
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	for _, s := range t.w.list {
		if !s.empty() {
			l := s.top().copy()
			b.layers[s.sp.ID] = &l
		}
	}
	return b
}

// copy returns the layer as it is now, whatever is added to it later.
func (l *layer) copy() layer {
	return layer{op: l.op, log: slices.Clip(l.log), runs: slices.Clone(l.runs), indexed: l.indexed,
		private: l.private, sealed: slices.Clip(l.sealed), base: l.base}
}

// source returns the snapshot, where it is kept, and where reads of it are recorded.
func (b *before) source() (*sharedSnap, *atomic.Pointer[sharedSnap], notes, error) {
	if v := b.view; v != nil {
		sn, err := v.snapshot()
		return sn, &v.snap, v.notes, err
	}
	sn, err := b.t.snapshot()
	return sn, &b.t.snap, b.t.notes(), err
}

// Detach implements kv.Txn.
func (t *Txn) Detach(sp int) kv.Reader {
	b := t.Before().(*before)
	for _, l := range b.layers { // what the log has behind the savepoint is about to be written over
		l.log = slices.Clone(l.log)
	}
	t.RollbackTo(sp)
	return b
}

func (b *before) Get(ctx context.Context, sp kv.Space, key []byte) ([]byte, error) {
	out, err := b.BatchGet(ctx, sp, [][]byte{key})
	if err != nil {
		return nil, err
	}
	if out[0] == nil {
		return nil, kv.ErrNotFound
	}
	return out[0], nil
}

func (b *before) BatchGet(ctx context.Context, sp kv.Space, keys [][]byte) (_ [][]byte, err error) {
	defer faults(debug.SetPanicOnFault(true), &err)
	out := make([][]byte, len(keys))
	l := b.layers[sp.ID]
	sn, _, notes, err := b.source()
	if err != nil {
		return nil, err
	}
	if l == nil || l.op == OpNone {
		if err := batchGet(ctx, sn, sp, keys, out); err != nil {
			return nil, err
		}
	}
	if l != nil {
		b.mu.Lock()
		for i, k := range keys {
			if e, ok := l.get(k, 0); ok {
				out[i] = e.keep()
			}
		}
		b.mu.Unlock()
	}
	notes.gets(sp, keys, out, func(k []byte) bool {
		if l == nil {
			return false
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		_, ok := l.get(k, 0)
		return ok
	})
	return out, nil
}

func (b *before) Scan(ctx context.Context, sp kv.Space, r kv.Range, o kv.ScanOpt) kv.Iter {
	l := b.layers[sp.ID]
	sn, at, notes, err := b.source()
	if err != nil {
		return failedScan(err)
	}
	var wins []window
	if l != nil {
		b.mu.Lock()
		wins, err = l.guardedWindows(r, o.Then, 0)
		b.mu.Unlock()
		if err != nil {
			return failedScan(err)
		}
	}
	it := notes.scan(ctx, sn, at, sp, r, o, l != nil && l.op != OpNone, wins)
	if l == nil {
		it.view = b.view
	}
	return it
}
