package txn

import (
	"bytes"

	"kvsqld/storage/kv"
)

// window is a part of one run, in memory or in a file: ascending keys, each once.
type window struct {
	ents   []entry
	sealed *sealedRun // nil: ents
	lo, hi int        // of sealed
}

func (w *window) len() int {
	if w.sealed != nil {
		return w.hi - w.lo
	}
	return len(w.ents)
}

func (w *window) at(i int) entry {
	if w.sealed != nil {
		return w.sealed.at(w.lo + i)
	}
	return w.ents[i]
}

// search returns the first position whose key is not below key.
func (w *window) search(key []byte) int {
	if w.sealed == nil {
		return search(w.ents, key)
	}
	return min(max(w.sealed.search(key), w.lo), w.hi) - w.lo
}

// cut returns the part of the window in a range.
func (w window) cut(r kv.Range) window {
	lo, hi := 0, w.len()
	if r.Lo != nil {
		lo = w.search(r.Lo)
	}
	if r.Hi != nil {
		hi = max(lo, w.search(r.Hi))
	}
	if w.sealed != nil {
		w.lo, w.hi = w.lo+lo, w.lo+hi
	} else {
		w.ents = w.ents[lo:hi]
	}
	return w
}

// pop takes the entry that a walk comes to first.
func (w *window) pop(reverse bool) {
	switch {
	case w.sealed != nil && reverse:
		w.hi--
	case w.sealed != nil:
		w.lo++
	case reverse:
		w.ents = w.ents[:len(w.ents)-1]
	default:
		w.ents = w.ents[1:]
	}
}

// head is the entry that a walk comes to first.
func (w *window) head(reverse bool) entry {
	if reverse {
		return w.at(w.len() - 1)
	}
	return w.at(0)
}

// apart reports whether each window's keys come behind those of the one before.
func apart(wins []window) bool {
	for i := 1; i < len(wins); i++ {
		if bytes.Compare(wins[i-1].head(true).key(), wins[i].head(false).key()) >= 0 {
			return false
		}
	}
	return true
}

// overlayIter walks over the merged windows in either direction.
type overlayIter struct {
	wins    []window
	reverse bool
	cur     entry
	valid   bool

	// Of several windows: a heap of those that are not at their end, the one with
	// the next key on top, among equals the newest.
	heap  []int
	heads []entry // by window
}

// newOverlayIter takes over the windows, oldest first.
func newOverlayIter(wins []window, reverse bool) overlayIter {
	it := overlayIter{wins: wins, reverse: reverse}
	if len(wins) > 1 {
		it.heads = make([]entry, len(wins))
		for i := range wins {
			if wins[i].len() > 0 {
				it.heads[i] = wins[i].head(reverse)
				it.heap = append(it.heap, i)
			}
		}
		for i := len(it.heap)/2 - 1; i >= 0; i-- {
			it.sink(i)
		}
	}
	it.next()
	return it
}

// before reports whether the head of window a is delivered before that of b, or hides it.
func (it *overlayIter) before(a, b int) bool {
	c := bytes.Compare(it.heads[a].key(), it.heads[b].key())
	if it.reverse {
		c = -c
	}
	return c < 0 || c == 0 && a > b
}

func (it *overlayIter) sink(i int) {
	for {
		top := 2*i + 1
		if top >= len(it.heap) {
			return
		}
		if top+1 < len(it.heap) && it.before(it.heap[top+1], it.heap[top]) {
			top++
		}
		if !it.before(it.heap[top], it.heap[i]) {
			return
		}
		it.heap[i], it.heap[top] = it.heap[top], it.heap[i]
		i = top
	}
}

// pass goes on in the window on top of the heap.
func (it *overlayIter) pass() {
	i := it.heap[0]
	w := &it.wins[i]
	if w.pop(it.reverse); w.len() > 0 {
		it.heads[i] = w.head(it.reverse)
	} else {
		last := len(it.heap) - 1
		it.heap[0] = it.heap[last]
		it.heap = it.heap[:last]
	}
	it.sink(0)
}

// next moves to the next key; cur is its newest write when valid. It is covered if all
// writes of the key are.
func (it *overlayIter) next() {
	if len(it.wins) == 1 { // the common case: one run
		w := &it.wins[0]
		if it.valid = w.len() > 0; it.valid {
			it.cur = w.head(it.reverse)
			w.pop(it.reverse)
		}
		return
	}
	if it.valid = len(it.heap) > 0; !it.valid {
		return
	}
	it.cur = it.heads[it.heap[0]]
	it.pass()
	for len(it.heap) > 0 && bytes.Equal(it.heads[it.heap[0]].key(), it.cur.key()) {
		it.cur.flags &^= flagCovered &^ it.heads[it.heap[0]].flags
		it.pass()
	}
}
