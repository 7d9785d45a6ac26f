package txn

import (
	"context"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// get returns the value the transaction sees, nil for an absent key.
func (t *Txn) get(sp kv.Space, key []byte) ([]byte, error) {
	if s := t.own(sp); s != nil {
		if v, ok, err := t.written(s, key); ok || err != nil {
			return v, err
		}
	}
	sn, err := t.snapshot()
	if err != nil {
		return nil, err
	}
	return sn.es.Get(sp, key)
}

func (t *Txn) Get(_ context.Context, sp kv.Space, key []byte) ([]byte, error) {
	if t.reads != nil && !t.hasOwn(sp, key) {
		t.reads.addKey(sp.ID, key)
	}
	v, err := t.get(sp, key)
	if t.stats != nil {
		countGets(t.stats.File(sp), 1, key, v)
	}
	if v == nil && err == nil {
		err = kv.ErrNotFound
	}
	return v, err
}

func countGets(f *kv.FileStats, n int, key, val []byte) {
	f.Gets.Add(int64(n))
	if val != nil {
		f.KeysRead.Add(1)
		f.BytesRead.Add(int64(len(key) + len(val)))
	}
}

// batchStep is the number of keys between two looks at the context.
const batchStep = 1024

func (t *Txn) BatchGet(ctx context.Context, sp kv.Space, keys [][]byte) ([][]byte, error) {
	out := make([][]byte, len(keys))
	if err := t.getAll(ctx, sp, keys, out); err != nil {
		return nil, err
	}
	t.notes().gets(sp, keys, out, func(k []byte) bool { return t.hasOwn(sp, k) })
	return out, nil
}

// getAll is get for several keys, whose values it puts into out; that is empty.
func (t *Txn) getAll(ctx context.Context, sp kv.Space, keys, out [][]byte) error {
	s := t.own(sp)
	if s == nil || s.top().op == OpNone {
		sn, err := t.snapshot()
		if err != nil {
			return err
		}
		if err := batchGet(ctx, sn, sp, keys, out); err != nil {
			return err
		}
	}
	if s == nil {
		return nil
	}
	return t.getWritten(s, keys, out)
}

// gets records point reads and what they found. own tells which keys the
// transaction had written itself: of these it has not read what others committed.
func (n notes) gets(sp kv.Space, keys, out [][]byte, own func(key []byte) bool) {
	if n.reads != nil {
		for _, k := range keys {
			if !own(k) {
				n.reads.addKey(sp.ID, k)
			}
		}
	}
	if n.stats != nil {
		f := n.stats.File(sp)
		for i, k := range keys {
			countGets(f, 1, k, out[i])
		}
	}
}

func batchGet(ctx context.Context, sn *sharedSnap, sp kv.Space, keys, out [][]byte) error {
	for len(keys) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(len(keys), batchStep)
		if err := sn.es.BatchGet(sp, keys[:n], out[:n]); err != nil {
			return err
		}
		keys, out = keys[n:], out[n:]
	}
	return nil
}

func (t *Txn) Scan(ctx context.Context, sp kv.Space, r kv.Range, o kv.ScanOpt) kv.Iter {
	s := t.own(sp)
	if s == nil {
		it := t.scan(ctx, sp, r, o, false, nil)
		it.txn, it.sp = t, sp
		return it
	}
	t.w.mu.Lock()
	wins, err := s.top().guardedWindows(r, o.Then, t.w.markOf(s))
	t.w.mu.Unlock()
	if err != nil {
		return failedScan(err)
	}
	return t.scan(ctx, sp, r, o, s.top().op != OpNone, wins)
}

// scan reads a range of the snapshot, unless the transaction's own writes hide
// it, under these writes.
func (t *Txn) scan(ctx context.Context, sp kv.Space, r kv.Range, o kv.ScanOpt, hidden bool, wins []window) *scan {
	sn, err := t.snapshot()
	if err != nil {
		return failedScan(err)
	}
	return t.notes().scan(ctx, sn, &t.snap, sp, r, o, hidden, wins)
}

// notes is where reads are recorded.
type notes struct {
	reads *readSet // Serializable only
	stats *kv.Stats
}

func (t *Txn) notes() notes { return notes{t.reads, t.stats} }

// scan is Txn.scan of a snapshot, which is that of at.
func (n notes) scan(ctx context.Context, sn *sharedSnap, at *atomic.Pointer[sharedSnap], sp kv.Space, r kv.Range, o kv.ScanOpt, hidden bool, wins []window) *scan {
	var stats *kv.FileStats
	if n.stats != nil {
		stats = n.stats.File(sp)
		stats.Scans.Add(1 + int64(len(o.Then)))
		o.Skip = countSkips(stats, o.Skip)
	}
	it := newScan(ctx, sn, at, sp, r, o, hidden)
	it.read(n.reads, sp, r, o.Then)
	if len(wins) > 0 {
		it.overlay(wins)
	}
	it.stats = stats
	return it
}
