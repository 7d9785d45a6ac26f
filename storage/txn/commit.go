package txn

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"kvsqld/storage/kv"
)

// commitReq is one transaction in the commit queue.
type commitReq struct {
	writeSet
	size   int        // bytes
	serial *serialTxn // SERIALIZABLE: to be checked
	out    uint64     // see loggedCommit
	hooks  []func()
	mode   kv.Durability
	number uint64        // of the transaction, 0 for none
	done   chan struct{} // closed when seq and err are set

	seq       uint64
	err       error
	hookPanic any // what an OnCommit function panicked with
}

// commitQueue collects commits for the committer.
type commitQueue struct {
	mu     sync.Mutex
	reqs   []*commitReq
	closed bool
	wake   chan struct{} // capacity 1
}

// aloneBytes is the size from which a commit gets an engine transaction of its
// own, so that small ones do not wait for its sync as well as its writes.
const aloneBytes = 4 << 20

func (q *commitQueue) push(r *commitReq) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed
	}
	q.reqs = append(q.reqs, r)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// remove takes a request back; false if it is being applied already.
func (q *commitQueue) remove(r *commitReq) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.reqs {
		if q.reqs[i] == r {
			q.reqs = append(q.reqs[:i], q.reqs[i+1:]...)
			return true
		}
	}
	return false
}

// gather gives way to other goroutines for as long as that brings further
// commits: those just answered often come back with their next one, and a
// larger batch costs hardly more.
func (q *commitQueue) gather() {
	for n := -1; ; {
		q.mu.Lock()
		now := len(q.reqs)
		q.mu.Unlock()
		if now <= n {
			return
		}
		n = now
		runtime.Gosched()
	}
}

// pop takes the next batch: everything queued up to the first large commit,
// or that one alone.
func (q *commitQueue) pop() []*commitReq {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.reqs) && q.reqs[n].size < aloneBytes {
		n++
	}
	if n == 0 && len(q.reqs) > 0 {
		n = 1
	}
	batch := q.reqs[:n:n]
	q.reqs = q.reqs[n:]
	return batch
}

// idle reports whether the queue is open and empty.
func (q *commitQueue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.closed && len(q.reqs) == 0
}

func (q *commitQueue) close() (rest []*commitReq) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	rest, q.reqs = q.reqs, nil
	close(q.wake)
	return rest
}

// commitLoop is the committer: with commitAlone, which takes its place, the only
// caller of Engine.Apply.
func (st *Store) commitLoop() {
	defer close(st.loopDone)
	for range st.queue.wake {
		for st.commitNext() {
		}
	}
}

// commitNext applies the next batch; false if nothing is queued.
func (st *Store) commitNext() bool {
	st.committing.Lock()
	defer st.committing.Unlock()
	st.queue.gather()
	batch := st.queue.pop()
	if len(batch) > 0 {
		st.commitBatch(batch)
	}
	return len(batch) > 0
}

// commitAlone applies a commit in the goroutine of its transaction, which is
// cheaper than handing it to the committer and being woken. It does so only if
// there is no other commit to make a batch with; false if nothing was done.
func (st *Store) commitAlone(r *commitReq) bool {
	if st.pending.Load() > 1 || !st.committing.TryLock() {
		return false
	}
	defer st.committing.Unlock()
	if !st.queue.idle() {
		return false
	}
	st.commitBatch([]*commitReq{r})
	return true
}

// commitBatch applies one batch and answers all its requests. If the engine
// refuses the batch, each request is tried alone, so that one that cannot be
// applied (a dropped file, a full disk) does not take the others with it.
func (st *Store) commitBatch(batch []*commitReq) {
	ok := make([]*commitReq, 0, len(batch))
	for _, r := range batch {
		admitted, err := st.log.admit(r)
		if err == nil && !admitted {
			err = errSerial()
		}
		if err != nil {
			r.finish(err)
			continue
		}
		ok = append(ok, r)
	}
	if len(ok) == 0 {
		return
	}
	seq, err := st.apply(ok)
	kv.Pause()
	if err != nil {
		if len(ok) > 1 && !errors.Is(err, kv.ErrUndetermined) {
			for i := range ok {
				st.commitBatch(ok[i : i+1])
			}
			return
		}
		for _, r := range ok {
			r.finish(err)
		}
		return
	}
	st.batches.Add(1)
	st.commits.Add(uint64(len(ok)))
	synced := ok[:0]
	for _, r := range ok {
		r.seq = seq
		if r.mode == kv.Synced {
			synced = append(synced, r)
			continue
		}
		r.runHooks()
		r.finish(nil)
	}
	if len(synced) == 0 {
		return
	}
	err = st.sync.await(seq)
	for _, r := range synced {
		if err == nil {
			r.runHooks()
		}
	}
	for _, r := range synced {
		r.finish(err)
	}
}

// apply hands the changes to the engine, which shows them if one of the
// requests is Lazy.
func (st *Store) apply(reqs []*commitReq) (seq uint64, err error) {
	n, lazy := 0, false
	for _, r := range reqs {
		n += len(r.changes)
		lazy = lazy || r.mode == kv.Lazy
	}
	changes := make([]Change, 0, n)
	for _, r := range reqs {
		changes = append(changes, r.changes...)
	}
	durable := true
	st.snaps.beginApply()
	defer func() {
		if p := recover(); p != nil {
			seq, err = 0, fmt.Errorf("%w: applying a commit panicked: %v", kv.ErrUnavailable, p)
		}
		if err == nil {
			kv.Pause()
			st.log.applied(seq)
			kv.Pause()
			st.numbers.committed(seq, reqs)
			st.watches.applied(seq, reqs)
		} else {
			seq = 0
			st.log.applied(0)
		}
		st.snaps.endApply(seq)
		if err == nil && durable {
			st.sync.applied(seq)
		} else if err == nil && lazy {
			st.sync.show(seq)
			st.sync.later()
		}
	}()
	if st.sync.eng == nil {
		return st.eng.Apply(changes)
	}
	seq, durable, err = st.sync.eng.Append(changes, lazy)
	return seq, err
}

func (r *commitReq) finish(err error) {
	r.err = err
	close(r.done)
}

// runHooks keeps a panicking hook from ending the committer; the panic goes on
// in the goroutine that called Commit.
func (r *commitReq) runHooks() {
	defer func() { r.hookPanic = recover() }()
	for _, f := range r.hooks {
		f()
	}
}

// Commit queues the writes and waits until they are durable and visible, or for
// what else SetDurability said.
func (t *Txn) Commit(ctx context.Context) error {
	if t.done.Swap(true) {
		return kv.ErrTxnDone
	}
	var seq uint64
	defer func() { t.end(seq) }() // also when a hook panics
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if t.w == nil || t.w.empty() {
		return t.commitNothing()
	}
	r := &commitReq{serial: t.serial, hooks: t.hooks, mode: t.durability, number: t.owner.number.Load()}
	if t.st.sync.eng == nil {
		r.mode = kv.Synced
	}
	var err error
	if r.changes, r.keys, r.size, err = t.w.changes(); err != nil {
		return err
	}
	if len(r.changes) == 0 {
		return t.commitNothing()
	}
	if t.remark {
		t.st.locks.remark(&t.owner, t.w)
	}
	kv.Pause()
	r.done = make(chan struct{})
	t.mu.Lock()
	t.releaseSnap() // T1
	t.mu.Unlock()
	t.closeViews()
	t.st.pending.Add(1)
	defer t.st.pending.Add(-1)
	if !t.st.commitAlone(r) {
		if err := t.st.queue.push(r); err != nil {
			return err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			if t.st.queue.remove(r) {
				return context.Cause(ctx)
			}
			<-r.done
		}
	}
	if r.err != nil {
		return r.err
	}
	if r.mode == kv.Pipelined && t.st.sync.durable.Load() < r.seq {
		t.st.locks.releaseWritten(&t.owner, r.seq)
		if err := t.st.sync.await(r.seq); err != nil {
			return err
		}
	}
	kv.Pause()
	seq = r.seq
	for _, s := range t.w.list {
		if !s.empty() {
			s.sl.wrote(seq)
		}
	}
	for _, c := range r.changes {
		switch c.Op {
		case OpClear:
			t.st.locks.space(c.Space.ID).lastSeq.Store(seq)
		case OpDrop:
			t.st.locks.forget(c.Space.ID)
			t.st.locks.forget(kv.DefinitionOf(c.Space.ID))
		}
	}
	if r.hookPanic != nil {
		panic(r.hookPanic)
	}
	return nil
}

// commitNothing is Commit without writes.
func (t *Txn) commitNothing() error {
	if err := t.Settle(); err != nil {
		return err
	}
	if t.serial != nil {
		ok, err := t.st.log.finish(t.serial)
		if err == nil && !ok {
			err = errSerial()
		}
		if err != nil {
			return err
		}
	}
	for _, f := range t.hooks {
		f()
	}
	t.nothing = true
	return nil
}
