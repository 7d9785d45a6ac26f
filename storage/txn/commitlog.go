package txn

import (
	"context"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// SERIALIZABLE is serializable snapshot isolation, after Cahill and after Ports and
// Grittner. R -> W says that R has read what W, which R's snapshot does not contain, has
// written: R comes before W in the serial order. A circle of dependencies, of the real
// order of transactions that did not overlap, too, has somewhere
//
//	in -> pivot -> out
//
// of which out is the first in the whole circle to commit; in and out may be one. If in
// wrote nothing then out is in its snapshot. So it is enough that one of the three fails where that
// is found, and a transaction that overwrites nothing that others have read, or has read
// nothing that others have overwritten, never does.
//
// All is found in the committer: there a transaction has read all that it will read,
// and whoever commits before it is known. The pivot of an out that committed
// before it fails if in has read already what it writes; else in fails when it
// commits. A transaction that was begun READ ONLY never fails: the pivot does that
// could be one for something that it may read later. One that waits for a safe snapshot
// (Txn.AwaitSafe) is no part of this.
//
// That out is first rests on this: whoever sees what another wrote began after its
// commit. A transaction that has looked at a newer state than its snapshot (a unique key,
// a foreign key), and met there what others have changed, may not be a pivot
// at all.

// serialTxn is what is known of a SERIALIZABLE transaction.
type serialTxn struct {
	reads    readSet
	newest   readSet     // read in newer states than that of the snapshot
	met      atomic.Bool // it has built on changes that its snapshot does not contain
	wrote    atomic.Bool
	client   int32
	readOnly bool // it cannot write
	safe     bool // its snapshot is to be a safe one (AwaitSafe): it is never in the way of others
	strict   bool // what it has read may not have changed (kv.BeginOpt.Unchanged)

	// Guarded by commitLog.mu.
	began uint64 // place in the order of beginnings and ends, 0 before the first read
	ended uint64 // the same, 0 while it is open
	snap  uint64 // seq of the snapshot, 0 while that is being opened
	seq   uint64 // of its commit, 0 for none
}

func (s *serialTxn) hits(w *writeSet) bool { return s.reads.hits(w) || s.newest.hits(w) }

// overlaps reports whether s, which has ended, had not when o opened its snapshot: a
// commit ends before it is visible.
func (s *serialTxn) overlaps(o *serialTxn) bool { return s.ended > o.began || s.seq > o.snap }

// building reports whether it may have built on commits that its snapshot does not contain.
func (s *serialTxn) building() bool { return s.met.Load() || s.newest.size() > 0 }

// limit returns the last commit that can be out where s is in.
func (s *serialTxn) limit() uint64 {
	switch {
	case s.seq != 0:
		return s.seq
	case s.building() || s.ended == 0 && s.wrote.Load():
		return math.MaxUint64
	}
	return s.snap
}

// commitLog keeps what SERIALIZABLE transactions have to know of commits and of each
// other (T7).
type commitLog struct {
	mu     sync.Mutex
	tick   uint64
	active map[*serialTxn]struct{}
	// waiting are those that wait for a safe snapshot, and for whom. They are not active.
	waiting map[*serialTxn][]*serialTxn
	left    chan struct{}  // closed when one of active ends, for those of waiting
	ended   []*serialTxn   // that have overlapped an active one, by their ends
	kept    int            // ranges of ended
	pending []*commitReq   // checked, in commit order, and being applied
	commits []loggedCommit // ascending seq
	last    uint64         // seq of the last commit
	visible uint64         // the last commit that new snapshots contain

	// What is known of those that ended had no room for: the last end, commit and limit.
	lostEnd, lostSeq, lostLimit uint64
}

// maxKept is the number of ranges in ended from which the oldest are forgotten, at
// the price of needless conflicts.
const maxKept = 200_000

type loggedCommit struct {
	writeSet
	seq uint64
	out uint64     // the first commit that has overwritten what this one read, 0 for none
	req *commitReq // where there is an out, for who waits for it
}

// begin comes before the snapshot is opened. A READ ONLY transaction then has to wait for
// the commits that are returned: its snapshot must contain these pivots.
func (l *commitLog) begin(s *serialTxn) (await []*commitReq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == nil {
		l.active = make(map[*serialTxn]struct{})
	}
	if s.safe {
		if l.waiting == nil {
			l.waiting = make(map[*serialTxn][]*serialTxn)
		}
		l.waiting[s] = nil
	} else {
		l.active[s] = struct{}{}
	}
	l.tick++
	s.began = l.tick
	if !s.readOnly {
		return nil
	}
	for i := len(l.commits) - 1; i >= 0 && l.commits[i].seq > l.visible; i-- {
		if c := &l.commits[i]; c.out != 0 {
			await = append(await, c.req)
		}
	}
	for _, r := range l.pending {
		if r.out != 0 {
			await = append(await, r)
		}
	}
	return await
}

// opened notes the snapshot. A READ ONLY transaction that overlaps no writing one at its
// begin is in nobody's way.
func (l *commitLog) opened(s *serialTxn, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.snap = seq
	if !s.readOnly || s.safe {
		return
	}
	for o := range l.active {
		if !o.readOnly {
			return
		}
	}
	s.reads.off.Store(true)
	delete(l.active, s)
}

// adopt is begin and opened for the snapshot of another transaction, which is open. It
// reports whether the snapshot can be had: not by a READ ONLY transaction if a pivot
// committed since.
func (l *commitLog) adopt(s *serialTxn, seq uint64) bool {
	await := l.begin(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	s.snap = seq
	for o := range l.active {
		if !o.readOnly {
			s.began = min(s.began, o.began) // as the one whose snapshot it is
		}
	}
	return !s.readOnly || len(await) == 0 && !slices.ContainsFunc(l.commits, func(c loggedCommit) bool {
		return c.seq > seq && c.out != 0 && c.out <= seq
	})
}

// leave ends a transaction that has not committed; one that has is gone already.
func (l *commitLog) leave(s *serialTxn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.active, s)
	delete(l.waiting, s)
	l.leftLocked()
	l.trimLocked()
}

// leftLocked wakes those who wait for others to end.
func (l *commitLog) leftLocked() {
	if l.left != nil {
		close(l.left)
		l.left = nil
	}
}

// endLocked ends a transaction that has committed.
func (l *commitLog) endLocked(s *serialTxn, seq uint64) {
	if _, ok := l.active[s]; !ok {
		return
	}
	delete(l.active, s)
	l.leftLocked()
	l.tick++
	s.ended, s.seq = l.tick, seq
	l.ended = append(l.ended, s)
	l.kept += s.reads.size() + s.newest.size()
	for l.kept > maxKept && len(l.ended) > 1 {
		o := l.ended[0]
		l.lostEnd, l.lostSeq, l.lostLimit = o.ended, max(l.lostSeq, o.seq), max(l.lostLimit, o.limit())
		l.dropLocked(1)
	}
	l.trimLocked()
}

// dropLocked forgets the n oldest of ended.
func (l *commitLog) dropLocked(n int) {
	for _, s := range l.ended[:n] {
		l.kept -= s.reads.size() + s.newest.size()
	}
	l.ended = slices.Delete(l.ended, 0, n)
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
	low, began := l.visible, uint64(math.MaxUint64)
	for s := range l.active {
		if !s.readOnly {
			low, began = min(low, s.snap), min(began, s.began)
		}
	}
	for s := range l.waiting {
		low = min(low, s.snap)
	}
	n := 0
	for n < len(l.ended) && l.ended[n].ended < began && l.ended[n].seq <= low {
		n++
	}
	if n > 0 {
		l.dropLocked(n)
	}
	if l.lostEnd < began && l.lostSeq <= low {
		l.lostEnd, l.lostSeq, l.lostLimit = 0, 0, 0
	}
	n = 0
	for n < len(l.commits) && l.commits[n].seq <= low {
		n++
	}
	if n == len(l.commits) {
		l.commits = nil
		return
	}
	l.commits = slices.Delete(l.commits, 0, n)
}

// settle waits until nobody is open who may write and was when s, which is one of waiting,
// opened its snapshot. It reports whether the snapshot is safe: none of them has
// committed as the pivot of an out that the snapshot contains. Who began later has that
// out in its own snapshot, too.
func (l *commitLog) settle(ctx context.Context, s *serialTxn, stop <-chan struct{}) (safe bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer delete(l.waiting, s)
	for o := range l.active {
		if !o.readOnly {
			l.waiting[s] = append(l.waiting[s], o)
		}
	}
	for {
		pivot := func(seq, out uint64) bool { return seq > s.snap && out != 0 && out <= s.snap }
		if slices.ContainsFunc(l.commits, func(c loggedCommit) bool { return pivot(c.seq, c.out) }) {
			return false, nil
		}
		if len(l.openLocked(l.waiting[s])) == 0 {
			return true, nil
		}
		if l.left == nil {
			l.left = make(chan struct{})
		}
		left := l.left
		l.mu.Unlock()
		select {
		case <-left:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-stop:
			err = errClosed
		}
		l.mu.Lock()
		if err != nil {
			return false, err
		}
	}
}

// openLocked returns the clients of those transactions that have not ended.
func (l *commitLog) openLocked(all []*serialTxn) (clients []int32) {
	for _, s := range all {
		if _, open := l.active[s]; open {
			clients = append(clients, s.client)
		}
	}
	return clients
}

// unsafe returns the clients whose transactions one waits for to have a safe snapshot.
func (l *commitLog) unsafe(client int32) []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s, others := range l.waiting {
		if s.client == client {
			return l.openLocked(others)
		}
	}
	return nil
}

// applied makes the pending requests commit seq, remembered until show and the
// end of the transactions that may ask; 0 says that they were not applied.
func (l *commitLog) applied(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	reqs := l.pending
	l.pending = nil
	if seq == 0 {
		return
	}
	l.last = seq
	for _, r := range reqs {
		c := loggedCommit{writeSet: r.writeSet, seq: seq, out: r.out}
		if r.out != 0 {
			c.req = r
		}
		l.commits = append(l.commits, c)
	}
	for _, r := range reqs {
		if r.serial != nil {
			if r.serial.readOnly {
				l.endLocked(r.serial, 0)
			} else {
				l.endLocked(r.serial, seq)
			}
		}
	}
}

// admit makes a request pending, or reports that it may not commit. Changes may be in
// temporary files: where one cannot be read nobody knows.
func (l *commitLog) admit(r *commitReq) (ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer faults(debug.SetPanicOnFault(true), &err)
	if s := r.serial; s != nil && !s.readOnly {
		if !l.checkLocked(r, s) {
			return false, nil
		}
	}
	l.pending = append(l.pending, r)
	return true, nil
}

// checkLocked looks for the three, with s as pivot or as in, and sets r.out.
func (l *commitLog) checkLocked(r *commitReq, s *serialTxn) bool {
	r.out = 0
	out := uint64(math.MaxUint64)
	builds, overwritten := s.met.Load(), false
	// look compares with one commit; false if s is the in of a pivot.
	look := func(w *writeSet, seq, outOfIt uint64) bool {
		read, newer := s.reads.hits(w), s.newest.hits(w)
		if read || newer {
			out = min(out, seq)
			if outOfIt != 0 {
				return false
			}
		}
		overwritten = overwritten || read
		builds = builds || newer
		return true
	}
	since := len(l.commits)
	for since > 0 && l.commits[since-1].seq > s.snap {
		since--
		if c := &l.commits[since]; !look(&c.writeSet, c.seq, c.out) {
			return false
		}
	}
	next := max(l.last, s.snap) + 1 // or later
	for _, p := range l.pending {
		if !look(&p.writeSet, next, p.out) {
			return false
		}
	}
	if out == math.MaxUint64 {
		return true
	}
	if overwritten {
		for _, c := range l.commits[since:] {
			builds = builds || r.overlaps(&c.writeSet)
		}
		for _, p := range l.pending {
			builds = builds || r.overlaps(&p.writeSet)
		}
		if builds || s.strict {
			return false
		}
	}
	if (s.began < l.lostEnd || s.snap < l.lostSeq) && out <= l.lostLimit {
		return false
	}
	for _, o := range l.ended {
		if o.overlaps(s) && out <= o.limit() && o.hits(&r.writeSet) {
			return false
		}
	}
	for o := range l.active { // those of pending are among them
		switch {
		case o == s:
		case o.readOnly:
			if o.snap == 0 || out <= o.snap {
				return false
			}
		case out <= o.limit() && o.hits(&r.writeSet):
			return false
		}
	}
	r.out = out
	return true
}

// finish ends a transaction that has written nothing; false if it is the in of a pivot.
func (l *commitLog) finish(s *serialTxn) (ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.began == 0 {
		return true, nil
	}
	defer faults(debug.SetPanicOnFault(true), &err)
	if !s.readOnly {
		limit := s.snap
		if s.building() {
			limit = math.MaxUint64
		}
		for i := len(l.commits) - 1; i >= 0 && l.commits[i].seq > s.snap; i-- {
			if c := &l.commits[i]; c.out != 0 && c.out <= limit && s.hits(&c.writeSet) {
				return false, nil
			}
		}
		for _, p := range l.pending {
			if p.out != 0 && p.out <= limit && s.hits(&p.writeSet) {
				return false, nil
			}
		}
	}
	l.endLocked(s, 0)
	return true, nil
}

// errSerial is the conflict of a transaction that no serial order has room for.
func errSerial() error {
	return &kv.ConflictError{Read: true, Detail: "reads and writes of the transaction, and of others at the same time, have no serial order"}
}
