package txn

import (
	"math"
	"slices"
	"sync"

	"kvsqld/storage/kv"
)

// numbers gives transactions their numbers, in ascending order, and remembers what
// became of them.
type numbers struct {
	reserving sync.Mutex // held while reserve runs, which commits a transaction
	reserve   func() (first, last uint64, err error)

	mu         sync.Mutex
	next, last uint64   // the reserved range; none while next is 0 or above last
	done       uint64   // the highest number that has ended; one below the first of all at the beginning
	running    []uint64 // ascending
	first      uint64   // the number of fates[0]
	fates      []fate
	snaps      *snapshots
}

// fate is how a transaction stands: the commit that it became, or one of the others.
type fate uint64

const (
	fateRunning fate = 0
	fateAborted fate = math.MaxUint64
)

// keptFates is the number of transactions whose outcome is known at least; more are
// kept while there is a snapshot that does not contain them.
const keptFates = 1 << 16

// NumberFrom implements kv.Numbers.
func (st *Store) NumberFrom(reserve func() (first, last uint64, err error)) {
	st.numbers.reserving.Lock()
	defer st.numbers.reserving.Unlock()
	st.numbers.reserve = reserve
}

// ready makes sure that there is a reserved number; false if numbers are not given.
// With an answer of true mu is held.
func (n *numbers) readyLocked() (bool, error) {
	n.mu.Lock()
	for n.next == 0 || n.next > n.last {
		used := n.next
		n.mu.Unlock()
		if ok, err := n.refill(used); !ok || err != nil {
			return false, err
		}
		n.mu.Lock()
	}
	return true, nil
}

// refill reserves numbers unless another has done so since next was seen.
func (n *numbers) refill(next uint64) (bool, error) {
	n.reserving.Lock()
	defer n.reserving.Unlock()
	if n.reserve == nil {
		return false, nil
	}
	n.mu.Lock()
	done := n.next != next
	n.mu.Unlock()
	if done {
		return true, nil
	}
	first, last, err := n.reserve()
	if err != nil {
		return false, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == 0 {
		n.first, n.done = first, first-1
	}
	for n.first+uint64(len(n.fates)) < first { // numbers that nobody will have
		n.fates = append(n.fates, fateAborted)
	}
	n.next, n.last = first, last
	return true, nil
}

// take gives out the next number, 0 if numbers are not given.
func (n *numbers) take() (uint64, error) {
	ok, err := n.readyLocked()
	if !ok || err != nil {
		return 0, err
	}
	defer n.mu.Unlock()
	x := n.next
	n.next++
	n.running = append(n.running, x)
	n.fates = append(n.fates, fateRunning)
	return x, nil
}

// committed notes that transactions are commit seq, before a snapshot shows it.
func (n *numbers) committed(seq uint64, reqs []*commitReq) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range reqs {
		if r.number >= n.first && r.number != 0 {
			n.fates[r.number-n.first] = fate(seq)
		}
	}
}

// end notes that a transaction has ended, without a commit if it is still running for
// committed; nothing says that it committed with nothing to write.
func (n *numbers) end(x uint64, nothing bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, ok := slices.BinarySearch(n.running, x); ok {
		n.running = slices.Delete(n.running, i, i+1)
	}
	n.done = max(n.done, x)
	if f := &n.fates[x-n.first]; *f == fateRunning {
		*f = fateAborted
		if nothing {
			*f = fate(max(1, n.snaps.visible.Load()))
		}
	}
	if len(n.fates) > keptFates && len(n.fates)%keptFates == 0 {
		n.trimLocked()
	}
}

// trimLocked forgets the oldest outcomes, of which no snapshot is in doubt.
func (n *numbers) trimLocked() {
	drop, low := 0, n.snaps.min.Load()
	for drop < len(n.fates)-keptFates && n.fates[drop] != fateRunning && (n.fates[drop] == fateAborted || uint64(n.fates[drop]) <= low) {
		drop++
	}
	if drop > 0 {
		n.fates = slices.Clone(n.fates[drop:])
		n.first += uint64(drop)
	}
}

// Running implements kv.Numbers.
func (st *Store) Running(seq uint64) (kv.Running, error) {
	n := &st.numbers
	ok, err := n.readyLocked()
	if !ok || err != nil {
		return kv.Running{}, err
	}
	defer n.mu.Unlock()
	out := kv.Running{Max: n.first}
	in := func(f fate) bool { return f == fateAborted || f != fateRunning && uint64(f) <= seq }
	for i := len(n.fates) - 1; i >= 0; i-- {
		if in(n.fates[i]) {
			out.Max = n.first + uint64(i) + 1
			break
		}
	}
	for i, f := range n.fates {
		if x := n.first + uint64(i); x < out.Max && !in(f) {
			out.List = append(out.List, x)
		}
	}
	out.Min = out.Max
	if len(out.List) > 0 {
		out.Min = out.List[0]
	}
	if len(n.running) > 0 {
		out.Min = min(out.Min, n.running[0])
	}
	return out, nil
}

// Outcome implements kv.Numbers.
func (st *Store) Outcome(x uint64) (kv.Outcome, error) {
	n := &st.numbers
	ok, err := n.readyLocked()
	if !ok || err != nil {
		return kv.OutcomeForgotten, err
	}
	defer n.mu.Unlock()
	if _, running := slices.BinarySearch(n.running, x); running {
		return kv.OutcomeRunning, nil // also when it is about to end
	}
	switch {
	case x >= n.next:
		return kv.OutcomeFuture, nil
	case x < n.first:
		return kv.OutcomeForgotten, nil
	case n.fates[x-n.first] == fateAborted:
		return kv.OutcomeAborted, nil
	}
	return kv.OutcomeCommitted, nil
}

// Number implements kv.Txn.
func (t *Txn) Number() (uint64, error) {
	if x := t.owner.number.Load(); x != 0 {
		return x, nil
	}
	if t.done.Load() {
		return 0, kv.ErrTxnDone
	}
	if t.client == 0 {
		return 0, nil
	}
	x, err := t.st.numbers.take()
	t.owner.number.Store(x)
	return x, err
}

// Assigned implements kv.Txn.
func (t *Txn) Assigned() uint64 { return t.owner.number.Load() }

// Reading implements kv.Txn.
func (t *Txn) Reading() (seq uint64, reads bool) {
	if sn := t.snap.Load(); sn != nil {
		return sn.seq, true
	}
	return 0, false
}
