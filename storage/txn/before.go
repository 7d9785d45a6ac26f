package txn

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"kvsqld/storage/kv"
)

// before reads the state that a transaction saw when it was made: its snapshot
// and the writes until then. Layers only grow at their end, so a copy of their
// lengths and sorted runs is a copy of the writes.
type before struct {
	t      *Txn
	mu     sync.Mutex // held by readers, which may have to sort
	layers map[uint64]*layer
}

// Before implements kv.Txn.
func (t *Txn) Before() kv.Reader {
	b := &before{t: t, layers: map[uint64]*layer{}}
	if t.w == nil {
		return b
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	for _, s := range t.w.list {
		if l := s.top(); !s.empty() {
			b.layers[s.sp.ID] = &layer{op: l.op, log: slices.Clip(l.log), runs: slices.Clone(l.runs), indexed: l.indexed,
				sealed: slices.Clip(l.sealed), base: l.base}
		}
	}
	return b
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
	if l == nil || l.op == OpNone {
		sn, err := b.t.snapshot()
		if err != nil {
			return nil, err
		}
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
	b.t.noteGets(sp, keys, out, func(k []byte) bool {
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
	var wins []window
	if l != nil {
		var err error
		b.mu.Lock()
		wins, err = l.guardedWindows(r, o.Then, 0)
		b.mu.Unlock()
		if err != nil {
			return failedScan(err)
		}
	}
	return b.t.scan(ctx, sp, r, o, l != nil && l.op != OpNone, wins)
}
