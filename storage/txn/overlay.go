package txn

import (
	"bytes"
	"runtime/debug"
	"slices"

	"kvsqld/storage/kv"
)

// layer holds the writes of one transaction to one space since the space was
// last created, cleared or dropped in it (or since the beginning).
//
// Writes are appended to log in the order they come. Sorted runs index
// stretches of the log: a stretch that arrived in ascending order is its own
// run, so a sorted bulk load costs an append per row; everything else is
// sorted when somebody reads, and runs of similar size are merged, so that
// there are at most about log2(n) of them.
type layer struct {
	op      SpaceOp // what made this layer; anything but OpNone hides the snapshot
	log     []entry
	runs    []run
	indexed int // log[:indexed] is covered by runs
	filter  filter
	private bool // there may be entries with flagPrivate

	// sealed are runs in files: of the writes that came before log, oldest first.
	// No position that a RollbackTo may go back to lies inside of one.
	sealed []*sealedRun
	base   int // number of writes before log
}

// end is the position behind the last write, from the layer's beginning.
func (l *layer) end() int { return l.base + len(l.log) }

// run is the sorted index of log[from:to].
type run struct {
	from, to int
	ents     []entry // nil: log[from:to] is ascending itself
}

func (l *layer) entries(r *run) []entry {
	if r.ents != nil {
		return r.ents
	}
	return l.log[r.from:r.to]
}

// add appends a write.
func (l *layer) add(e entry) {
	l.private = l.private || e.flags&flagPrivate != 0
	n := len(l.log)
	if l.indexed == n {
		switch {
		case n == 0:
			l.runs = append(l.runs[:0], run{to: 1})
			l.indexed = 1
		case l.runs[len(l.runs)-1].ents == nil && bytes.Compare(l.log[n-1].key(), e.key()) < 0:
			l.runs[len(l.runs)-1].to++
			l.indexed++
		}
	}
	if len(l.log) == cap(l.log) && len(l.log) >= logDoubles {
		l.log = slices.Grow(l.log, len(l.log))
	}
	l.log = append(l.log, e)
}

// logDoubles is the length from which a full log gets twice the room. What append
// does, a quarter more, copies each write five times.
const logDoubles = 1024

// tailScan is the length up to which unsorted writes are searched one by one.
const tailScan = 8

// get returns the newest write of key. mark is the layer's end at the newest
// savepoint (see settle).
func (l *layer) get(key []byte, mark int) (entry, bool) {
	if e, ok := l.inMemory(key, max(0, mark-l.base)); ok {
		return e, true
	}
	if len(l.sealed) > 0 {
		h := sealHash(key)
		for i := len(l.sealed) - 1; i >= 0; i-- {
			if e, ok := l.sealed[i].get(key, h); ok {
				return e, true
			}
		}
	}
	return entry{}, false
}

// inMemory is get in the log; mark is a position there.
func (l *layer) inMemory(key []byte, mark int) (entry, bool) {
	if len(l.log) >= filterMin {
		l.filter.cover(l.log)
		if !l.filter.mayHave(key) {
			return entry{}, false
		}
	}
	if len(l.log)-l.indexed > tailScan {
		l.settle(mark)
	}
	for i := len(l.log) - 1; i >= l.indexed; i-- {
		if bytes.Equal(l.log[i].key(), key) {
			return l.log[i], true
		}
	}
	for i := len(l.runs) - 1; i >= 0; i-- {
		es := l.entries(&l.runs[i])
		if p := search(es, key); p < len(es) && bytes.Equal(es[p].key(), key) {
			return es[p], true
		}
	}
	return entry{}, false
}

// settle sorts what has not been sorted yet. No run reaches over mark, the log's
// length at the newest savepoint: going back to it, which is what a failed or
// repeated statement does, then only drops runs and never sorts again.
func (l *layer) settle(mark int) {
	if l.indexed < mark && mark < len(l.log) {
		l.settleTo(mark, mark)
	}
	l.settleTo(len(l.log), mark)
}

func (l *layer) settleTo(end, mark int) {
	if l.indexed < end {
		l.runs = append(l.runs, run{from: l.indexed, to: end, ents: sorted(l.log[l.indexed:end])})
		l.indexed = end
	}
	// Runs that an older mark kept apart are merged, too: each may have one write only.
	for len(l.runs) > 1 {
		a, b := &l.runs[len(l.runs)-2], &l.runs[len(l.runs)-1]
		ae, be := l.entries(a), l.entries(b)
		if 2*len(be) < len(ae) || a.from < mark && mark < b.to {
			return
		}
		a.ents = mergeRuns(ae, be)
		a.to = b.to
		l.runs = l.runs[:len(l.runs)-1]
	}
}

// truncate forgets all writes from position n of the layer on.
func (l *layer) truncate(n int) {
	if n < l.base {
		kept := len(l.sealed)
		for kept > 0 && l.sealed[kept-1].to > n {
			kept--
		}
		l.sealed = slices.Clone(l.sealed[:kept]) // a reader of the state before may go on with all (Detach)
		l.base = n
	}
	n -= l.base
	for len(l.runs) > 0 {
		r := &l.runs[len(l.runs)-1]
		if r.to <= n {
			break
		}
		if r.ents == nil && r.from < n {
			r.to = n
			break
		}
		l.runs = l.runs[:len(l.runs)-1]
	}
	l.indexed = 0
	if len(l.runs) > 0 {
		l.indexed = l.runs[len(l.runs)-1].to
	}
	l.log = l.log[:n]
	l.filter.n = min(l.filter.n, n)
}

// final adds all writes to dst, as windows that are ascending each, oldest first; without
// files it is one, or none.
func (l *layer) final(dst []window) []window {
	l.join()
	return l.allWindows(dst)
}

// join makes one run of all in the log.
func (l *layer) join() {
	l.settle(0)
	for len(l.runs) > 1 {
		a, b := &l.runs[len(l.runs)-2], &l.runs[len(l.runs)-1]
		a.ents = mergeRuns(l.entries(a), l.entries(b))
		a.to = b.to
		l.runs = l.runs[:len(l.runs)-1]
	}
}

// windows returns the runs cut to a range, oldest first, without empty ones. mark is
// that of get.
func (l *layer) windows(r kv.Range, mark int) []window {
	l.settle(max(0, mark-l.base))
	wins := l.allWindows(nil)
	out := wins[:0]
	for _, w := range wins {
		if w.sealed != nil && w.sealed.outside(r) {
			continue
		}
		if w = w.cut(r); w.len() > 0 {
			out = append(out, w)
		}
	}
	return out
}

// guardedWindows is windows of several ranges, with an error where a file cannot be
// read.
func (l *layer) guardedWindows(r kv.Range, then []kv.Range, mark int) (wins []window, err error) {
	if l.base > 0 {
		defer faults(debug.SetPanicOnFault(true), &err)
	}
	wins = l.windows(r, mark)
	for _, r := range then {
		wins = append(wins, l.windows(r, mark)...)
	}
	return wins, nil
}

// allWindows adds all runs to dst, oldest first.
func (l *layer) allWindows(dst []window) []window {
	for _, s := range l.sealed {
		dst = append(dst, s.window())
	}
	for i := range l.runs {
		if es := l.entries(&l.runs[i]); len(es) > 0 {
			dst = append(dst, window{ents: es})
		}
	}
	return dst
}

// uncovered yields the writes that needed a lock; of several of a key one may be left out.
func (l *layer) uncovered(yield func(entry) bool) {
	for _, s := range l.sealed {
		for i := range s.n {
			if e := s.at(i); e.flags&flagCovered == 0 && !yield(e) {
				return
			}
		}
	}
	for _, e := range l.log {
		if e.flags&flagCovered == 0 && !yield(e) {
			return
		}
	}
}
