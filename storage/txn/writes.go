package txn

import (
	"runtime/debug"
	"slices"
	"sync"

	"kvsqld/storage/kv"
)

// spaceWrites are the writes of one transaction to one space. Only the top
// layer counts at commit; the ones below come back by RollbackTo.
type spaceWrites struct {
	sp     kv.Space
	sl     *spaceLock
	index  int // position in writes.list
	layers []layer
	first  [1]layer // where layers begins, and what is in it
	log    [2]entry
	runs   [1]run
}

func (s *spaceWrites) top() *layer { return &s.layers[len(s.layers)-1] }

// empty reports whether commit has nothing to do for the space.
func (s *spaceWrites) empty() bool { t := s.top(); return t.op == OpNone && t.end() == 0 }

// mark is the state of one space at a savepoint: its layers, and the end of the top one.
type mark struct{ layers, log int }

// writes is everything a transaction has buffered.
type writes struct {
	mu    sync.Mutex // held by readers that may have to sort; writers are alone
	arena arena
	list  []*spaceWrites
	byID  map[uint64]*spaceWrites // nil while there are few
	some  [4]*spaceWrites         // where list begins
	last  *spaceWrites            // the space written last
	files []*mapped               // of all sealed runs

	marks  []mark // of all savepoints, one after the other
	points []int  // savepoint i owns marks[points[i]:points[i+1]]
	dirty  bool   // something was written since the newest savepoint

	someMarks  [8]mark // where marks and points begin
	somePoints [4]int
}

// find returns the writes to a space, or nil.
func (w *writes) find(id uint64) *spaceWrites {
	if w.last != nil && w.last.sp.ID == id {
		return w.last
	}
	if w.byID != nil {
		return w.byID[id]
	}
	for _, s := range w.list {
		if s.sp.ID == id {
			return s
		}
	}
	return nil
}

// fewSpaces is how many spaces are looked through one by one.
const fewSpaces = 12

// space returns the writes to a space, which it makes at the first call.
func (w *writes) space(sp kv.Space, lt *lockTable) *spaceWrites {
	if s := w.find(sp.ID); s != nil {
		w.last = s
		return s
	}
	s := &spaceWrites{sp: sp, sl: lt.space(sp.ID), index: len(w.list)}
	s.layers = s.first[:]
	s.first[0].log, s.first[0].runs = s.log[:0], s.runs[:0]
	if w.list == nil {
		w.list = w.some[:0]
	}
	w.list = append(w.list, s)
	if w.byID != nil {
		w.byID[sp.ID] = s
	} else if len(w.list) > fewSpaces {
		w.byID = make(map[uint64]*spaceWrites)
		for _, s := range w.list {
			w.byID[s.sp.ID] = s
		}
	}
	w.last = s
	return s
}

// markOf returns the end of a space's top layer at the newest
// savepoint, 0 if it had no such layer then.
func (w *writes) markOf(s *spaceWrites) int {
	if len(w.points) == 0 {
		return 0
	}
	at := w.marks[w.points[len(w.points)-1]:]
	if s.index >= len(at) || at[s.index].layers != len(s.layers) {
		return 0
	}
	return at[s.index].log
}

func (w *writes) savepoint() int {
	// A new point each time, even without writes in between: release must not
	// take another's with it.
	if w.points == nil {
		w.marks, w.points = w.someMarks[:0], w.somePoints[:0]
	}
	w.points = append(w.points, len(w.marks))
	for _, s := range w.list {
		w.marks = append(w.marks, mark{layers: len(s.layers), log: s.top().end()})
	}
	w.dirty = false
	return len(w.points) - 1
}

// rollbackTo goes back to savepoint n, or to the beginning if n is negative.
func (w *writes) rollbackTo(n int) {
	var at []mark
	if n >= 0 {
		at = w.marks[w.points[n]:]
		if n+1 < len(w.points) {
			at = w.marks[w.points[n]:w.points[n+1]]
		}
		w.points = w.points[:n+1]
		w.marks = w.marks[:w.points[n]+len(at)]
	} else {
		w.points, w.marks = w.points[:0], w.marks[:0]
	}
	for i, s := range w.list {
		m := mark{layers: 1}
		if i < len(at) {
			m = at[i]
		}
		clear(s.layers[m.layers:])
		s.layers = s.layers[:m.layers]
		s.top().truncate(m.log)
	}
	w.dirty = false
}

// release forgets savepoint n and the later ones; the writes stay.
func (w *writes) release(n int) {
	if n < len(w.points) {
		w.marks = w.marks[:w.points[n]]
		w.points = w.points[:n]
		w.dirty = true
	}
}

func (w *writes) empty() bool {
	for _, s := range w.list {
		if !s.empty() {
			return false
		}
	}
	return true
}

// changes returns what the engine has to apply, with the sorted writes of each
// space beside it, and their total size in bytes.
func (w *writes) changes() (cs []Change, keys [][]window, size int, err error) {
	defer faults(debug.SetPanicOnFault(true), &err)
	w.joinLarge()
	cs, keys = make([]Change, 0, len(w.list)), make([][]window, 0, len(w.list))
	all := make([]window, 0, len(w.list))
	for _, s := range w.list {
		if s.empty() {
			continue
		}
		op := OpNone
		for i := 1; i < len(s.layers); i++ {
			op = combine(op, s.layers[i].op)
		}
		if op == opNever {
			continue
		}
		n := len(all)
		all = s.top().final(all)
		wins := all[n:len(all):len(all)]
		cs = append(cs, Change{Space: s.sp, Op: op})
		c := &cs[len(cs)-1]
		if len(wins) <= 1 && (len(wins) == 0 || wins[0].sealed == nil) {
			wins = c.inMemory(wins, s.top().private)
		} else {
			c.inFiles(wins, s.top().private)
		}
		if op == OpNone && c.Count == 0 {
			cs = cs[:len(cs)-1]
			continue
		}
		size += c.Bytes
		keys = append(keys, wins)
	}
	return cs, keys, size, nil
}

// joinFrom is the number of writes from which sorting them is work for a goroutine.
const joinFrom = 20_000

// joinLarge sorts the writes to the spaces that have many, at the same time.
func (w *writes) joinLarge() {
	var large sync.WaitGroup
	for _, s := range w.list {
		if l := s.top(); len(l.log) >= joinFrom {
			large.Go(l.join)
		}
	}
	large.Wait()
}

// inMemory makes the writes those of a run in memory, if there is one, without those
// that others are not to see; it returns the run of these.
func (c *Change) inMemory(wins []window, private bool) []window {
	var es []entry
	if len(wins) > 0 {
		es = wins[0].ents
	}
	if private && slices.ContainsFunc(es, entry.private) {
		es = slices.DeleteFunc(slices.Clone(es), entry.private)
		wins = []window{{ents: es}}
	}
	c.Count = len(es)
	c.Writes = func(yield func(k, v []byte) bool) {
		for _, e := range es {
			if !yield(e.key(), e.val()) {
				return
			}
		}
	}
	for _, e := range es {
		c.Bytes += int(e.klen) + int(e.vlen)
	}
	return wins
}

// inFiles is inMemory for several runs, which are merged.
func (c *Change) inFiles(wins []window, private bool) {
	c.Writes = func(yield func(k, v []byte) bool) {
		// A page that cannot be read is a panic of the engine's transaction, which
		// it undoes.
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for it := newOverlayIter(slices.Clone(wins), false); it.valid; it.next() {
			if !it.cur.private() && !yield(it.cur.key(), it.cur.val()) {
				return
			}
		}
	}
	for i := range wins {
		w := &wins[i]
		if w.sealed != nil {
			c.Bytes += w.sealed.bytes
		}
		for _, e := range w.ents {
			c.Bytes += int(e.klen) + int(e.vlen)
		}
		c.Count += w.len()
	}
	if private || !apart(wins) {
		c.Count = 0
		for range c.Writes {
			c.Count++
		}
	}
}

// opNever marks a space that the transaction both created and dropped.
const opNever SpaceOp = 0xff

// combine returns the effect of doing b after a.
func combine(a, b SpaceOp) SpaceOp {
	switch {
	case a == OpCreate && b == OpDrop:
		return opNever
	case a == OpCreate && b == OpClear:
		return OpCreate
	case a == OpDrop && b == OpCreate:
		return OpClear
	case a == opNever:
		return b
	}
	return b
}
