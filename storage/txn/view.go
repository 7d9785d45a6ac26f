package txn

import (
	"bytes"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// View implements kv.View: a snapshot that it holds by itself, and a copy of the writes
// (see before).
type View struct {
	before
	snap  atomic.Pointer[sharedSnap] // nil after Close
	notes notes
	w     *writes // what the transaction writes while it is in the view: see Enter
}

// View implements kv.Txn.
func (t *Txn) View() (kv.View, error) {
	sn, err := t.snapshot()
	if err != nil {
		return nil, err
	}
	v := &View{notes: notes{reads: t.reads}} // no counters: they are of one statement
	own := t.Before().(*before)
	v.t, v.layers, v.view = t, own.layers, v
	v.snap.Store(t.st.snaps.share(sn))
	t.views = append(t.views, v)
	return v, nil
}

// snapshot returns the view's snapshot.
func (v *View) snapshot() (*sharedSnap, error) {
	sn := v.snap.Load()
	if sn == nil {
		return nil, kv.ErrTxnDone
	}
	return sn, sn.check()
}

// Renew implements kv.View.
func (v *View) Renew() error {
	sn, err := v.t.acquireNewest()
	if err != nil {
		return err
	}
	if v.t.st.sync.eng != nil {
		v.t.seen = max(v.t.seen, sn.seq)
	}
	if old := v.snap.Swap(sn); old != nil {
		v.t.st.snaps.release(old)
	}
	return nil
}

// Enter implements kv.View. What the transaction writes meanwhile goes to a copy of the
// writes that it had.
func (v *View) Enter() (leave func()) {
	t := v.t
	if v.w == nil {
		v.w = v.copyWrites()
	}
	own, w, in := t.snap.Load(), t.w, t.in
	t.mu.Lock()
	t.snap.Store(v.snap.Load())
	t.mu.Unlock()
	t.w, t.in = v.w, v
	return func() {
		t.mu.Lock()
		t.snap.Store(own)
		t.mu.Unlock()
		t.w, t.in = w, in
	}
}

// copyWrites returns writes that begin with those of the view.
func (v *View) copyWrites() *writes {
	w := new(writes)
	if v.t.w == nil {
		return w
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.t.w.list {
		if l := v.layers[s.sp.ID]; l != nil {
			*w.space(s.sp, v.t.st.locks).top() = l.copy()
		}
	}
	return w
}

// Rewritten implements kv.View. A write is known by where its bytes are; of one that has
// gone to a file since, they are compared.
func (v *View) Rewritten(sp kv.Space, key []byte) bool {
	s := v.t.own(sp)
	if s == nil {
		return false
	}
	now, written, err := v.t.ownWrite(s, key)
	if err != nil || written && now.private() {
		return err != nil
	}
	l := v.layers[sp.ID]
	if l == nil {
		return written || s.top().op != OpNone
	}
	if s.top().op != l.op {
		return true
	}
	same, err := v.wrote(l, key, now, written)
	return err != nil || !same
}

// wrote reports whether the view's newest write of a key to a layer is e, or, if ok is
// false, whether there is none.
func (v *View) wrote(l *layer, key []byte, e entry, ok bool) (same bool, err error) {
	if v.t.w != nil && len(v.t.w.files) > 0 {
		defer faults(debug.SetPanicOnFault(true), &err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	was, had := l.get(key, 0)
	if !ok || !had || e.p == was.p {
		return ok == had, nil
	}
	return e.flags&flagSealed != 0 && (e.flags^was.flags)&flagDelete == 0 && bytes.Equal(e.val(), was.val()), nil
}

// Close implements kv.View.
func (v *View) Close() {
	if !v.release() {
		return
	}
	t := v.t
	if i := slices.Index(t.views, v); i >= 0 {
		t.views = slices.Delete(t.views, i, i+1)
	}
	v.w = nil
}

// release gives the snapshot back.
func (v *View) release() bool {
	sn := v.snap.Swap(nil)
	if sn != nil {
		v.t.st.snaps.release(sn)
	}
	return sn != nil
}

// closeViews closes the views that are still open.
func (t *Txn) closeViews() {
	for _, v := range t.views {
		v.release()
	}
	t.views = nil
}

var _ kv.View = (*View)(nil)
