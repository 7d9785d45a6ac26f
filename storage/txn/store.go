package txn

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"kvsqld/storage/kv"
)

var errClosed = fmt.Errorf("%w: the store is closed", kv.ErrUnavailable)

// OldSnapshot describes a snapshot that is held for long after a newer state
// came to be. It keeps the engine from reusing space.
type OldSnapshot struct {
	Seq     uint64
	Age     time.Duration // since it was superseded
	Users   int           // transactions and snapshots that share it
	Expired bool          // reads fail with kv.ErrTooOld from now on
	// FileBytes is the size of the data file, which grows meanwhile.
	FileBytes int64
}

// Options of a store. The zero value is usable.
type Options struct {
	// WarnSnapshotAge and MaxSnapshotAge are ages, counted from the first
	// commit that a snapshot does not contain, from which it is reported once
	// and from which reads through it fail. 0 = never.
	WarnSnapshotAge, MaxSnapshotAge time.Duration
	// OnOldSnapshot is told about such snapshots. It may be nil.
	OnOldSnapshot func(OldSnapshot)
	// MaxTxnBytes bounds the key and value bytes one transaction may write;
	// more fails with kv.ErrTooLarge. 0 = no bound.
	MaxTxnBytes int
	// CloseWait is how long Close waits for open snapshots; 0 = 5 s.
	CloseWait time.Duration
}

// Store makes an Engine a kv.Store.
type Store struct {
	eng            Engine
	opt            Options
	maxKey, maxVal int

	snaps *snapshots
	locks *lockTable
	log   commitLog
	queue commitQueue
	sync  syncer

	numbers numbers
	watches watches

	committing sync.Mutex   // held by whoever applies a batch
	pending    atomic.Int32 // commits with writes that have not returned

	commits, batches atomic.Uint64
	sweeping         atomic.Bool

	closeOnce sync.Once
	closeErr  error
	stop      chan struct{} // ends the janitor
	loopDone  chan struct{} // the committer has ended
}

var _ kv.Store = (*Store)(nil)

// New returns a store over an engine, which it owns from then on.
func New(eng Engine, opt Options) *Store {
	st := &Store{eng: eng, opt: opt, stop: make(chan struct{}), loopDone: make(chan struct{})}
	st.maxKey, st.maxVal = eng.Limits()
	st.snaps = newSnapshots(eng)
	st.locks = newLockTable(st.snaps)
	st.numbers.snaps = st.snaps
	st.sync.snaps, st.sync.log = st.snaps, &st.log
	st.sync.eng, _ = eng.(Pipelined)
	st.queue.wake = make(chan struct{}, 1)
	go st.commitLoop()
	go st.janitor()
	return st
}

// janitorInterval is how often ages are looked at and old history is dropped.
const janitorInterval = time.Second

func (st *Store) janitor() {
	every := janitorInterval
	if kv.Pauses {
		every = 5 * time.Millisecond
	}
	for _, d := range []time.Duration{st.opt.WarnSnapshotAge, st.opt.MaxSnapshotAge} {
		if d > 0 {
			every = min(every, max(d/4, time.Millisecond))
		}
	}
	warn := st.opt.OnOldSnapshot
	if warn == nil {
		warn = func(OldSnapshot) {}
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-st.stop:
			return
		case now := <-t.C:
			st.snaps.age(now, st.opt.WarnSnapshotAge, st.opt.MaxSnapshotAge, func(o OldSnapshot) {
				o.FileBytes = st.Stats().FileBytes
				warn(o)
			})
			st.locks.prune()
			st.snaps.dropIdle()
		}
	}
}

// Begin starts a transaction. It opens no snapshot yet and cannot block.
func (st *Store) Begin(ctx context.Context, o kv.BeginOpt) (kv.Txn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := st.open(); err != nil {
		return nil, err
	}
	t, _ := o.Spent.(*Txn)
	o.Spent = nil
	if t != nil && t.light && t.st == st {
		*t = Txn{st: st, opt: o}
	} else {
		t = &Txn{st: st, opt: o}
	}
	t.client = o.Client
	if o.Isolation == kv.Serializable {
		t.serial = &serialTxn{client: o.Client, readOnly: o.ReadOnly, strict: o.Unchanged}
		t.reads = &t.serial.reads
	}
	return t, nil
}

// open returns an error once Close has been called.
func (st *Store) open() error {
	select {
	case <-st.stop:
		return errClosed
	default:
		return nil
	}
}

// Snapshot opens the newest committed state.
func (st *Store) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	sn, err := st.snaps.acquire()
	if err != nil {
		return nil, err
	}
	s := &Snapshot{st: st}
	s.sn.Store(sn)
	return s, nil
}

// SplitAt does nothing: the store is not sharded.
func (st *Store) SplitAt(context.Context, kv.Space, ...[]byte) error { return nil }

// Stats reports sizes and counters.
func (st *Store) Stats() kv.StoreStats {
	s := kv.StoreStats{Commits: st.commits.Load(), Batches: st.batches.Load()}
	st.eng.Stats(&s)
	st.snaps.stats(&s)
	st.locks.stats(&s)
	return s
}

// LogFiles lists the files of the engine's log.
func (st *Store) LogFiles() ([]kv.LogFile, error) {
	if e, ok := st.eng.(Logged); ok {
		return e.LogFiles()
	}
	return nil, nil
}

// Compact gives free space back.
func (st *Store) Compact(ctx context.Context, worth func(*kv.StoreStats) bool) error {
	if err := st.open(); err != nil {
		return err
	}
	err := st.eng.Compact(ctx, worth)
	st.snaps.dropIdle() // which may keep the space
	return err
}

// Check verifies the engine's structures.
func (st *Store) Check(ctx context.Context, report func(fault string)) error {
	if err := st.open(); err != nil {
		return err
	}
	return st.eng.Check(ctx, report)
}

// Close ends the committer after the batch it is applying, refuses everything
// else with kv.ErrUnavailable, and closes the engine. If snapshots are still
// open after Options.CloseWait the engine stays open (its memory is in use)
// and Close says so.
func (st *Store) Close() error {
	st.closeOnce.Do(func() {
		close(st.stop)
		for _, r := range st.queue.close() {
			r.finish(errClosed)
		}
		<-st.loopDone
		// A commit may be being applied by its own transaction.
		st.committing.Lock()
		defer st.committing.Unlock()
		close(st.locks.closed)
		wait := st.opt.CloseWait
		if wait == 0 {
			wait = 5 * time.Second
		}
		if !st.snaps.close(wait) {
			st.closeErr = fmt.Errorf("%w: closed while snapshots are open", kv.ErrUnavailable)
			return
		}
		st.closeErr = st.eng.Close()
	})
	return st.closeErr
}

// Snapshot implements kv.Snapshot.
type Snapshot struct {
	st *Store
	sn atomic.Pointer[sharedSnap]

	reads *readSet // of a SERIALIZABLE transaction that looks at it
}

func (s *Snapshot) get() (*sharedSnap, error) {
	sn := s.sn.Load()
	if sn == nil {
		return nil, kv.ErrTxnDone
	}
	return sn, sn.check()
}

// Seq is the last commit in the snapshot, 0 after Close.
func (s *Snapshot) Seq() uint64 {
	if sn := s.sn.Load(); sn != nil {
		return sn.seq
	}
	return 0
}

// Close releases the snapshot; it may be called again.
func (s *Snapshot) Close() {
	if sn := s.sn.Swap(nil); sn != nil {
		s.st.snaps.release(sn)
	}
}

// Spaces lists the spaces in the snapshot.
func (s *Snapshot) Spaces(ctx context.Context) ([]kv.Space, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	sn, err := s.get()
	if err != nil {
		return nil, err
	}
	return sn.es.Spaces()
}

// Get returns the value of key, or kv.ErrNotFound.
func (s *Snapshot) Get(_ context.Context, sp kv.Space, key []byte) ([]byte, error) {
	sn, err := s.get()
	if err != nil {
		return nil, err
	}
	if s.reads != nil {
		s.reads.addKey(sp.ID, key)
	}
	v, err := sn.es.Get(sp, key)
	if v == nil && err == nil {
		err = kv.ErrNotFound
	}
	return v, err
}

// BatchGet returns the values of keys by position.
func (s *Snapshot) BatchGet(ctx context.Context, sp kv.Space, keys [][]byte) ([][]byte, error) {
	sn, err := s.get()
	if err != nil {
		return nil, err
	}
	if s.reads != nil {
		for _, k := range keys {
			s.reads.addKey(sp.ID, k)
		}
	}
	out := make([][]byte, len(keys))
	return out, batchGet(ctx, sn, sp, keys, out)
}

// Scan reads a range in chunks.
func (s *Snapshot) Scan(ctx context.Context, sp kv.Space, r kv.Range, o kv.ScanOpt) kv.Iter {
	sn, err := s.get()
	if err != nil {
		return failedScan(err)
	}
	it := newScan(ctx, sn, &s.sn, sp, r, o, false)
	it.read(s.reads, sp, r, o.Then)
	return it
}

// sweep lets the runtime find the mappings of ended transactions that nobody uses any
// more, and with them give back the room of their files.
func (st *Store) sweep() {
	if st.sweeping.CompareAndSwap(false, true) {
		go func() {
			defer st.sweeping.Store(false)
			runtime.GC()
		}()
	}
}
