package txn

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// readSet is what a SERIALIZABLE transaction has read, as key ranges by space.
type readSet struct {
	off atomic.Bool // nobody will ask: nothing is noted any more

	mu     sync.Mutex
	spaces map[uint64][]kv.Range
}

// maxReads is the number of ranges in one space from which the whole space
// counts as read: memory is bounded, at the price of needless conflicts.
const maxReads = 10_000

func (r *readSet) addKey(space uint64, key []byte) {
	if r.off.Load() {
		return
	}
	k := append(make([]byte, 0, len(key)+1), key...)
	r.add(space, kv.Range{Lo: k, Hi: append(k[:len(k):len(k)], 0)})
}

// addRange records a scan and returns the number to give to narrow.
func (r *readSet) addRange(space uint64, g kv.Range) int {
	if r.off.Load() {
		return wholeSpace
	}
	return r.add(space, kv.Range{Lo: slices.Clone(g.Lo), Hi: slices.Clone(g.Hi)})
}

// wholeSpace is the number of a range that stands for its whole space and can
// not be narrowed.
const wholeSpace = -1

func (r *readSet) add(space uint64, g kv.Range) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spaces == nil {
		r.spaces = make(map[uint64][]kv.Range)
	}
	gs := r.spaces[space]
	switch {
	case len(gs) == 1 && cap(gs) == 1:
		return wholeSpace
	case len(gs) >= maxReads:
		r.spaces[space] = make([]kv.Range, 1) // capacity 1 marks the whole space
		return wholeSpace
	case gs == nil:
		gs = make([]kv.Range, 0, 4)
	}
	r.spaces[space] = append(gs, g)
	return len(gs)
}

// narrow says that scan number n, which was ended early, read no further than
// to key last.
func (r *readSet) narrow(space uint64, n int, last []byte, reverse bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gs := r.spaces[space]
	if n == wholeSpace || cap(gs) == 1 {
		return
	}
	if reverse {
		gs[n].Lo = slices.Clone(last)
	} else {
		gs[n].Hi = append(slices.Clone(last), 0)
	}
}

// has reports whether a key was read.
func (r *readSet) has(space uint64, key []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.spaces[space], func(g kv.Range) bool {
		return bytes.Compare(g.Lo, key) <= 0 && (g.Hi == nil || bytes.Compare(key, g.Hi) < 0)
	})
}

// hits reports whether the writes touch anything that was read.
func (r *readSet) hits(w *writeSet) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spaces) == 0 {
		return false
	}
	for i, c := range w.changes {
		gs := r.spaces[c.Space.ID]
		if len(gs) == 0 {
			continue
		}
		if c.Op != OpNone {
			return true
		}
		for _, w := range w.keys[i] {
			for _, g := range gs {
				p := w.cut(g)
				for i := range p.len() {
					if !p.at(i).private() {
						return true
					}
				}
			}
		}
	}
	return false
}

// size is the number of ranges.
func (r *readSet) size() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, gs := range r.spaces {
		n += len(gs)
	}
	return n
}

// writeSet is what one commit writes: the changes and, for each, the sorted keys.
type writeSet struct {
	changes []Change
	keys    [][]window
}

// overlaps reports whether both write a key, or one all of a space of the other.
func (a *writeSet) overlaps(b *writeSet) bool {
	for i, c := range a.changes {
		for j, d := range b.changes {
			if c.Space.ID != d.Space.ID {
				continue
			}
			if c.Op != OpNone || d.Op != OpNone {
				return true
			}
			for _, v := range a.keys[i] {
				for _, w := range b.keys[j] {
					if sharesKey(v, w) {
						return true
					}
				}
			}
		}
	}
	return false
}

// sharesKey reports whether both windows have a key that is committed.
func sharesKey(v, w window) bool {
	if v.len() > w.len() {
		v, w = w, v
	}
	for i := range v.len() {
		e := v.at(i)
		if e.private() {
			continue
		}
		if j := w.search(e.key()); j < w.len() && !w.at(j).private() && bytes.Equal(w.at(j).key(), e.key()) {
			return true
		}
	}
	return false
}
