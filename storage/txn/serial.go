package txn

import (
	"bytes"
	"runtime/debug"
	"slices"
	"sync"

	"kvsqld/storage/kv"
)

// readSet is what a SERIALIZABLE transaction has read, as key ranges by space.
type readSet struct {
	seq uint64 // of its snapshot

	mu     sync.Mutex
	spaces map[uint64][]kv.Range
}

// maxReads is the number of ranges in one space from which the whole space
// counts as read: memory is bounded, at the price of needless conflicts.
const maxReads = 10_000

func (r *readSet) addKey(space uint64, key []byte) {
	k := append(make([]byte, 0, len(key)+1), key...)
	r.add(space, kv.Range{Lo: k, Hi: append(k[:len(k):len(k)], 0)})
}

// addRange records a scan and returns the number to give to narrow.
func (r *readSet) addRange(space uint64, g kv.Range) int {
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
func (r *readSet) hits(cs []Change, keys [][]window) bool {
	for i, c := range cs {
		gs := r.spaces[c.Space.ID]
		if len(gs) == 0 {
			continue
		}
		if c.Op != OpNone {
			return true
		}
		for _, w := range keys[i] {
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

// commitLog keeps the writes of recent commits for as long as a SERIALIZABLE
// transaction that started before them is open (T7).
type commitLog struct {
	mu      sync.Mutex
	active  map[*Txn]uint64 // seq of the snapshot, 0 while it is being opened
	commits []loggedCommit  // ascending seq
	visible uint64          // the last commit that new snapshots contain
}

type loggedCommit struct {
	seq     uint64
	changes []Change
	keys    [][]window
}

func (l *commitLog) begin(t *Txn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == nil {
		l.active = make(map[*Txn]uint64)
	}
	l.active[t] = 0
}

func (l *commitLog) opened(t *Txn, seq uint64) {
	l.mu.Lock()
	l.active[t] = seq
	l.mu.Unlock()
}

func (l *commitLog) end(t *Txn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.active, t)
	l.trimLocked()
}

// show notes that snapshots opened from now on contain commit seq.
func (l *commitLog) show(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.visible = max(l.visible, seq)
	l.trimLocked()
}

// trimLocked drops what no snapshot of now or later needs.
func (l *commitLog) trimLocked() {
	low := l.visible
	for _, seq := range l.active {
		low = min(low, seq)
	}
	n := 0
	for n < len(l.commits) && l.commits[n].seq <= low {
		n++
	}
	if n == len(l.commits) {
		l.commits = nil
		return
	}
	l.commits = slices.Delete(l.commits, 0, n)
}

// add remembers the requests that became commit seq, until show and the end of
// the transactions that may ask.
func (l *commitLog) add(seq uint64, reqs []*commitReq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range reqs {
		l.commits = append(l.commits, loggedCommit{seq: seq, changes: r.changes, keys: r.keys})
	}
}

// valid reports whether nothing that r has read was changed after its
// snapshot, neither by a logged commit nor by an earlier one of its batch. Changes may
// be in temporary files: where one cannot be read nobody knows.
func (l *commitLog) valid(r *commitReq, batch []*commitReq) (ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer faults(debug.SetPanicOnFault(true), &err)
	for i := len(l.commits) - 1; i >= 0 && l.commits[i].seq > r.reads.seq; i-- {
		if r.reads.hits(l.commits[i].changes, l.commits[i].keys) {
			return false, nil
		}
	}
	for _, b := range batch {
		if r.reads.hits(b.changes, b.keys) {
			return false, nil
		}
	}
	return true, nil
}
