package txn

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// watchBytes is the most memory that the keys of one watch may take.
const watchBytes = 64 << 20

// watch is a kv.Watch. The committer adds the keys of a batch before any snapshot
// contains it.
type watch struct {
	st     *Store
	spaces []kv.Space
	limit  int // of bytes

	mu      sync.Mutex
	batches []watchedBatch // ascending seq
	bytes   int
	lost    bool // the keys are not complete any more
}

// watchedBatch has what one commit batch has changed, by space.
type watchedBatch struct {
	seq   uint64
	bytes int
	keys  [][][]byte
}

// watches are those of a store; the list is not changed but replaced.
type watches struct{ list atomic.Pointer[[]*watch] }

// Watch implements kv.Store.
func (st *Store) Watch(ctx context.Context, spaces ...kv.Space) (kv.Watch, error) {
	if err := st.open(); err != nil {
		return nil, err
	}
	w := &watch{st: st, spaces: spaces, limit: watchBytes}
	st.committing.Lock()
	st.watches.edit(func(list []*watch) []*watch { return append(list, w) })
	seq := st.snaps.applied()
	st.committing.Unlock()
	if err := st.sync.await(seq); err != nil {
		w.Close()
		return nil, err
	}
	if ctx.Err() != nil {
		w.Close()
		return nil, context.Cause(ctx)
	}
	return w, nil
}

// edit replaces the list by an edited copy.
func (ws *watches) edit(f func([]*watch) []*watch) {
	for {
		old := ws.list.Load()
		var list []*watch
		if old != nil {
			list = slices.Clone(*old)
		}
		list = f(list)
		now := &list
		if len(list) == 0 {
			now = nil
		}
		if ws.list.CompareAndSwap(old, now) {
			return
		}
	}
}

// applied tells the watches of a batch.
func (ws *watches) applied(seq uint64, reqs []*commitReq) {
	list := ws.list.Load()
	if list == nil {
		return
	}
	for _, w := range *list {
		w.add(seq, reqs)
	}
}

func (w *watch) add(seq uint64, reqs []*commitReq) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost {
		return
	}
	b := watchedBatch{seq: seq, keys: make([][][]byte, len(w.spaces))}
	for _, r := range reqs {
		for i := range r.changes {
			c := &r.changes[i]
			at := slices.IndexFunc(w.spaces, func(sp kv.Space) bool { return sp.ID == c.Space.ID })
			if at < 0 {
				continue
			}
			if c.Op != OpNone || !w.addKeys(&b, at, c) {
				w.loseLocked()
				return
			}
		}
	}
	if b.bytes > 0 {
		w.bytes += b.bytes
		w.batches = append(w.batches, b)
	}
}

// keyOverhead is what a kept key takes besides its bytes.
const keyOverhead = 24

// addKeys adds the keys of one change; false if they are too many or cannot be read.
func (w *watch) addKeys(b *watchedBatch, at int, c *Change) (ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer faults(debug.SetPanicOnFault(true), &err) // keys may be in temporary files
	var room []byte
	for k := range c.Writes {
		if w.bytes+b.bytes+len(k)+keyOverhead > w.limit {
			return false
		}
		b.bytes += len(k) + keyOverhead
		if cap(room)-len(room) < len(k) {
			room = make([]byte, 0, max(len(k), min(64<<10, 16+len(k)*c.Count)))
		}
		n := len(room)
		room = append(room, k...)
		b.keys[at] = append(b.keys[at], room[n:len(room):len(room)])
	}
	return true
}

func (w *watch) loseLocked() { w.lost, w.batches, w.bytes = true, nil, 0 }

// Take implements kv.Watch.
func (w *watch) Take(seq uint64) ([][][]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost {
		return nil, fmt.Errorf("%w: too many keys were changed to keep all of them", kv.ErrTooLarge)
	}
	out := make([][][]byte, len(w.spaces))
	n := 0
	for ; n < len(w.batches) && w.batches[n].seq <= seq; n++ {
		b := &w.batches[n]
		w.bytes -= b.bytes
		for i, keys := range b.keys {
			out[i] = append(out[i], keys...)
		}
	}
	w.batches = slices.Delete(w.batches, 0, n)
	return out, nil
}

// Close implements kv.Watch.
func (w *watch) Close() {
	w.st.watches.edit(func(list []*watch) []*watch {
		return slices.DeleteFunc(list, func(o *watch) bool { return o == w })
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loseLocked()
}
