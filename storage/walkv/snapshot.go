package walkv

import (
	"bytes"
	"sync/atomic"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// Snapshot opens the newest state that is shown.
func (e *Engine) Snapshot() (txn.EngineSnapshot, error) { return e.open(&e.shown) }

// Newest opens the state with all batches.
func (e *Engine) Newest() (txn.EngineSnapshot, error) { return e.open(&e.cur) }

// open pairs the trees with a snapshot of the base that they lie on (W4).
func (e *Engine) open(which *atomic.Pointer[state]) (txn.EngineSnapshot, error) {
	for {
		st := which.Load()
		sn, err := e.base.Snapshot()
		if err != nil {
			return nil, err
		}
		if n := sn.Seq(); n == st.base || n == st.base+1 && st.frozen != nil {
			return &snapshot{EngineSnapshot: sn, st: st, eng: e}, nil
		}
		sn.Release()
		// The base went on. Either a newer state has been published, or
		// somebody who holds mu is about to publish it.
		if which.Load() == st {
			e.awaitPublication()
		}
	}
}

// awaitPublication waits until whoever holds mu has let it go.
func (e *Engine) awaitPublication() {
	e.mu.Lock()
	defer e.mu.Unlock()
}

// snapshot is a snapshot of the base with trees on it. What has no tree is
// left to the base.
type snapshot struct {
	txn.EngineSnapshot
	st  *state
	eng *Engine
}

func (s *snapshot) Seq() uint64 { return s.st.seq }

// trees returns the trees of a space.
func (s *snapshot) trees(sp kv.Space) (active, frozen view) {
	return s.st.active.find(sp.ID), s.st.frozen.find(sp.ID)
}

// lookup returns what the trees say about a key.
func lookup(active, frozen view, key []byte) (val []byte, ok bool) {
	w, ok := active.get(key)
	if !ok {
		w, ok = frozen.get(key)
	}
	return w.val(), ok
}

// Spaces needs no look at the trees for names: spaces come and go in the base
// only. But where there is a tree, its number is the one to read with.
func (s *snapshot) Spaces() ([]kv.Space, error) {
	sps, err := s.EngineSnapshot.Spaces()
	for i, sp := range sps {
		for _, ts := range []tables{s.st.active, s.st.frozen} {
			for _, t := range ts {
				if t.sp.DB == sp.DB && t.sp.File == sp.File {
					sps[i].ID = t.sp.ID
				}
			}
		}
	}
	return sps, err
}

func (s *snapshot) Get(sp kv.Space, key []byte) ([]byte, error) {
	active, frozen := s.trees(sp)
	if v, ok := lookup(active, frozen, key); ok {
		return v, nil
	}
	return s.EngineSnapshot.Get(sp, key)
}

func (s *snapshot) BatchGet(sp kv.Space, keys, out [][]byte) error {
	err := s.EngineSnapshot.BatchGet(sp, keys, out)
	active, frozen := s.trees(sp)
	if err != nil || active.count == 0 && frozen.count == 0 {
		return err
	}
	for i, key := range keys {
		if v, ok := lookup(active, frozen, key); ok {
			out[i] = v
		}
	}
	return nil
}

func (s *snapshot) Scan(sp kv.Space, r kv.Range, o kv.ScanOpt, spent txn.Chunks) txn.Chunks {
	base := s.EngineSnapshot.Scan(sp, r, o, spent)
	active, frozen := s.trees(sp)
	if active.count == 0 && frozen.count == 0 {
		return base
	}
	a, f := newWalk(active, r, o.Reverse), newWalk(frozen, r, o.Reverse)
	if !a.ok && !f.ok {
		return base
	}
	return &merge{base: base, active: a, frozen: f, opt: o, of: s}
}

// ScanRanges leaves to the base what has no tree.
func (s *snapshot) ScanRanges(sp kv.Space, r kv.Range, o kv.ScanOpt, spent txn.Chunks) txn.Chunks {
	if active, frozen := s.trees(sp); active.count > 0 || frozen.count > 0 {
		return nil
	}
	if base, ok := s.EngineSnapshot.(txn.RangesSnapshot); ok {
		return base.ScanRanges(sp, r, o, spent)
	}
	return nil
}

// walk goes over a range of a tree; it stands on cur while ok.
type walk struct {
	at      cursor
	r       kv.Range
	reverse bool
	cur     kv.Pair
	ok      bool
	within  *node // a leaf all of whose writes are in the range
}

func newWalk(v view, r kv.Range, reverse bool) walk {
	w := walk{at: cursor{v: v}, r: r, reverse: reverse}
	switch {
	case !reverse && r.Lo == nil:
		w.ok = w.at.first()
	case !reverse:
		w.ok = w.at.seek(r.Lo)
	case r.Hi != nil && w.at.seek(r.Hi):
		w.ok = w.at.prev()
	default:
		w.ok = w.at.last()
	}
	w.load()
	return w
}

// load reads the pair that the iterator stands on.
func (w *walk) load() {
	if !w.ok {
		return
	}
	w.cur = w.at.write().pair()
	nd := w.at.way[w.at.deep-1].nd
	if nd == w.within {
		return
	}
	last := nd.writes[nd.n-1] // of the leaf, as the walk goes
	if w.reverse {
		last = nd.writes[0]
	}
	if w.ok = w.inside(w.cur.Key); w.ok && nd.kids == nil && w.inside(last.keyBytes()) {
		w.within = nd
	}
}

// inside reports whether a key lies before the end of the range.
func (w *walk) inside(key []byte) bool {
	if w.reverse {
		return w.r.Lo == nil || bytes.Compare(key, w.r.Lo) >= 0
	}
	return w.r.Hi == nil || bytes.Compare(key, w.r.Hi) < 0
}

// seek goes to the first pair from a key on, which lies behind that of cur.
func (w *walk) seek(key []byte) {
	w.ok = w.at.seek(key)
	w.load()
}

func (w *walk) next() {
	if w.reverse {
		w.ok = w.at.prev()
	} else {
		w.ok = w.at.next()
	}
	w.load()
}

// merge delivers the pairs of the base with those of the trees above them.
type merge struct {
	base           txn.Chunks // nil at its end
	ahead          []kv.Pair  // of the base, not yet delivered
	buf            []kv.Pair  // backing of ahead
	active, frozen walk
	opt            kv.ScanOpt
	of             *snapshot
	passed         int // deletions in the active tree
}

// first returns the tree whose pair comes next, nil at the end of both. A
// frozen pair below an active one is passed over.
func (m *merge) first() *walk {
	if !m.active.ok || !m.frozen.ok {
		switch {
		case m.active.ok:
			return &m.active
		case m.frozen.ok:
			return &m.frozen
		}
		return nil
	}
	switch c := m.compare(m.active.cur.Key, m.frozen.cur.Key); {
	case c == 0:
		m.frozen.next()
		return &m.active
	case c < 0:
		return &m.active
	}
	return &m.frozen
}

// compare orders keys as they are delivered.
func (m *merge) compare(a, b []byte) int {
	if m.opt.Reverse {
		return bytes.Compare(b, a)
	}
	return bytes.Compare(a, b)
}

func (m *merge) Fill(dst []kv.Pair) (n int, err error) {
	for n < len(dst) {
		w := m.first()
		if len(m.ahead) == 0 && m.base != nil {
			got, err := m.fillBase(dst[n:])
			if err != nil {
				return n, err
			}
			if got > 0 && (w == nil || m.compare(dst[n+got-1].Key, w.cur.Key) < 0) {
				n += got // no tree has a word in it
				continue
			}
			m.buf = append(m.buf[:0], dst[n:n+got]...)
			m.ahead = m.buf
		}
		if w == nil {
			if len(m.ahead) == 0 {
				break
			}
			c := copy(dst[n:], m.ahead)
			n, m.ahead = n+c, m.ahead[c:]
			continue
		}
		c := 1
		if len(m.ahead) > 0 {
			c = m.compare(m.ahead[0].Key, w.cur.Key)
		}
		if c < 0 {
			dst[n], m.ahead = m.ahead[0], m.ahead[1:]
			n++
			continue
		}
		if c == 0 {
			m.ahead = m.ahead[1:]
		}
		if p := w.cur; p.Val != nil {
			if m.opt.Skip != nil {
				if next := m.opt.Skip(p.Key); next != nil {
					w.seek(next)
					continue
				}
			}
			if m.opt.KeysOnly {
				p.Val = nil
			}
			dst[n] = p
			if err := m.opt.Checked(dst[n : n+1]); err != nil {
				return n, err
			}
			n++
		} else if w == &m.active {
			if m.passed++; m.passed == manyDeletions {
				m.of.eng.hurry(m.of.st)
			}
		}
		w.next()
	}
	return n, nil
}

// fillBase reads from the base and notices its end.
func (m *merge) fillBase(dst []kv.Pair) (int, error) {
	got, err := m.base.Fill(dst)
	if err == nil && got < len(dst) {
		m.base.Close()
		m.base = nil
	}
	return got, err
}

func (m *merge) Close() {
	if m.base != nil {
		m.base.Close()
		m.base = nil
	}
	m.ahead, m.buf = nil, nil
	m.active.ok, m.frozen.ok = false, false
}
