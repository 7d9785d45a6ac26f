package txn

import (
	"bytes"
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
}

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

// get returns the newest write of key. mark is the log length at the newest
// savepoint (see settle).
func (l *layer) get(key []byte, mark int) (entry, bool) {
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

// settle sorts what has not been sorted yet. No run reaches over mark, the log
// length at the newest savepoint: going back to it, which is what a failed or
// repeated statement does, then only drops runs and never sorts again.
func (l *layer) settle(mark int) {
	if l.indexed < mark && mark < len(l.log) {
		l.settleTo(mark, mark)
	}
	l.settleTo(len(l.log), mark)
}

func (l *layer) settleTo(end, mark int) {
	if l.indexed == end {
		return
	}
	l.runs = append(l.runs, run{from: l.indexed, to: end, ents: sorted(l.log[l.indexed:end])})
	l.indexed = end
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

// truncate forgets all writes from log position n on.
func (l *layer) truncate(n int) {
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

// final returns all writes in key order, each key once.
func (l *layer) final() []entry {
	l.settle(0)
	for len(l.runs) > 1 {
		a, b := &l.runs[len(l.runs)-2], &l.runs[len(l.runs)-1]
		a.ents = mergeRuns(l.entries(a), l.entries(b))
		a.to = b.to
		l.runs = l.runs[:len(l.runs)-1]
	}
	if len(l.runs) == 0 {
		return nil
	}
	return l.entries(&l.runs[0])
}

// committed returns what of final others are to see.
func (l *layer) committed() []entry {
	es := l.final()
	private := func(e entry) bool { return e.flags&flagPrivate != 0 }
	if !l.private || !slices.ContainsFunc(es, private) {
		return es
	}
	return slices.DeleteFunc(slices.Clone(es), private)
}

// window is the part of one run that a scan has still to deliver.
type window = []entry

// windows returns the runs cut to a range, oldest first, without empty ones.
func (l *layer) windows(r kv.Range, mark int) []window {
	l.settle(mark)
	var out []window
	for i := range l.runs {
		es := l.entries(&l.runs[i])
		lo, hi := 0, len(es)
		if r.Lo != nil {
			lo = search(es, r.Lo)
		}
		if r.Hi != nil {
			hi = search(es, r.Hi)
		}
		if lo < hi {
			out = append(out, es[lo:hi])
		}
	}
	return out
}

// overlayIter walks over the merged windows in either direction.
type overlayIter struct {
	wins    []window
	reverse bool
	cur     entry
	valid   bool
}

func newOverlayIter(wins []window, reverse bool) overlayIter {
	it := overlayIter{wins: wins, reverse: reverse}
	it.next()
	return it
}

// next moves to the next key; cur is its newest write when valid.
func (it *overlayIter) next() {
	if len(it.wins) == 1 { // the common case: one run
		w := it.wins[0]
		if it.valid = len(w) > 0; !it.valid {
			return
		}
		if it.reverse {
			it.cur, it.wins[0] = w[len(w)-1], w[:len(w)-1]
		} else {
			it.cur, it.wins[0] = w[0], w[1:]
		}
		return
	}
	it.valid = false
	var best []byte
	for _, w := range it.wins { // a later window is newer, so it wins a tie
		if len(w) == 0 {
			continue
		}
		e := it.head(w)
		if k := e.key(); !it.valid || it.notAfter(k, best) {
			best, it.cur, it.valid = k, e, true
		}
	}
	if !it.valid {
		return
	}
	for i, w := range it.wins {
		if len(w) > 0 && bytes.Equal(it.head(w).key(), best) {
			if it.reverse {
				it.wins[i] = w[:len(w)-1]
			} else {
				it.wins[i] = w[1:]
			}
		}
	}
}

func (it *overlayIter) head(w window) entry {
	if it.reverse {
		return w[len(w)-1]
	}
	return w[0]
}

// notAfter reports whether a is delivered before b, or equal to it.
func (it *overlayIter) notAfter(a, b []byte) bool {
	c := bytes.Compare(a, b)
	if it.reverse {
		return c >= 0
	}
	return c <= 0
}
