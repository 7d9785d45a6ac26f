package walkv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
)

// Base is an engine that the log can stand in front of. The number of a
// snapshot is that of the last applied batch, and successive batches have
// successive numbers.
type Base interface {
	txn.Engine
	// ApplyMark is Apply that also stores mark. There may be no changes.
	ApplyMark(changes []txn.Change, mark []byte) (seq uint64, err error)
	// Mark returns the mark that was stored last, nil if there is none.
	Mark() ([]byte, error)
}

// Options of Open. The zero value is usable.
type Options struct {
	// MemBytes is the memory of the active trees from which they are moved
	// into the base. As much again may wait for being moved. 0 = 32 MiB.
	MemBytes int
	// DirectBytes is the size from which a batch goes to the base at once.
	// 0 = 4 MiB: moving it later together with others is cheaper by more than
	// logging it costs, up to that. Keys that are deleted count half: a record has little
	// of them, and they lie all over the base, which writes a page for nearly each.
	DirectBytes int
	// Interval is how long a batch stays in the log at most. 0 = 30 s.
	Interval time.Duration
	// LargeBytes is the size from which a batch stays no longer than LargeInterval:
	// scans pass what is in the base faster. 0 = 512 KiB and 250 ms.
	LargeBytes    int
	LargeInterval time.Duration
	// NoSync leaves out all syncs of the log.
	NoSync bool
	// FS has the log files. nil = the operating system's.
	FS vfs.FS
}

// Engine is a base with a log. It implements txn.Engine.
type Engine struct {
	base Base
	dir  string
	opt  Options
	cur  atomic.Pointer[state] // the newest state
	// shown is the newest state that Snapshot may open. Its trees lie on the
	// same base as those of cur.
	shown atomic.Pointer[state]

	syncing sync.Mutex // held while a log is synced; taken after mu, if at all

	// pub is held while cur, shown or what follows changes; taken last.
	pub     sync.Mutex
	durable uint64 // the last batch that is synced, or in the base
	failed  error  // no batch is taken any more (W6)

	mu      sync.Mutex // W7
	done    sync.Cond  // the background checkpoint has ended
	running bool       // a background checkpoint runs
	// unrecovered: the base had no room for what the last crash left in the log, or is
	// damaged where that belongs. Until it can be moved nothing is written, save what
	// takes a table or an index away: that may be what is needed.
	unrecovered bool
	left        uint64 // the epoch of that log
	closed      bool
	mem         memtable // working copy of cur.active
	known       map[uint64]bool
	epoch       uint64
	logs        [2]*logFile // nil: no epoch has begun
	at          int         // the log of the active trees
	timer       *time.Timer
	hurried     atomic.Bool // hurry has been called for the active trees
	buf         []txn.Change

	counts counts
}

// counts is what Stats tells of the log.
type counts struct{ records, bytes, syncs, timed, asked, moveNanos atomic.Uint64 }

var (
	_ txn.Pipelined = (*Engine)(nil)
	_ txn.Logged    = (*Engine)(nil)
)

// state is one published state. It is never changed.
type state struct {
	seq            uint64 // of the last batch in it
	base           uint64 // number of the base without the frozen trees
	active, frozen tables
	activeSeq      uint64   // of the last batch below the active trees
	log            *logFile // that has the records of the active trees, nil without any
}

// Open replays what a crash left in the log of a data directory, and returns
// the engine, which owns the base from then on. kv.ErrCorrupt for a damaged
// log, or an error of the base; then the base stays open.
func Open(base Base, dir string, opt Options) (*Engine, error) {
	if opt.MemBytes == 0 {
		opt.MemBytes = 32 << 20
	}
	if opt.DirectBytes == 0 {
		opt.DirectBytes = 4 << 20
	}
	opt.DirectBytes = min(opt.DirectBytes, maxBody/2)
	if opt.Interval == 0 {
		opt.Interval = 30 * time.Second
	}
	if opt.LargeBytes == 0 {
		opt.LargeBytes = 512 << 10
	}
	if opt.LargeInterval == 0 {
		opt.LargeInterval = 250 * time.Millisecond
	}
	if opt.FS == nil {
		opt.FS = vfs.OS
	}
	e := &Engine{base: base, dir: dir, opt: opt}
	e.done.L = &e.mu
	if err := e.recover(); err != nil {
		return nil, err
	}
	return e, nil
}

// mark is what the base stores about the log: the epoch, 0 if there is no log,
// and the number of the last batch in the base. A byte behind them says that both
// log files were made before it; earlier versions made the second one later.
func mark(epoch, seq uint64) []byte {
	m := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, epoch), seq)
	if epoch != 0 {
		m = append(m, bothMade)
	}
	return m
}

const bothMade = 2

// endMark is the mark when there is no log any more: the epoch that has ended is kept,
// because a crash may leave its files, whose batches are all in the base.
func endMark(ended, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(mark(0, seq), ended)
}

func (e *Engine) Limits() (key, val int) { return e.base.Limits() }

// Apply is Append and Sync.
func (e *Engine) Apply(changes []txn.Change) (uint64, error) {
	seq, durable, err := e.Append(changes, false)
	if err == nil && !durable {
		_, err = e.Sync()
	}
	return seq, err
}

// Append logs a small batch, which is durable after the next Sync, and writes
// others to the base, where they are durable at once.
func (e *Engine) Append(changes []txn.Change, show bool) (seq uint64, durable bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(); err != nil {
		if e.unrecovered && len(removed(changes)) > 0 { // it may take away what is in the way
			seq, err = e.finishRecovery(changes)
		}
		return seq, err == nil, err
	}
	size, weight := 0, 0
	add := func(k, v []byte) bool {
		n := len(k) + len(v)
		size += n
		if v == nil { // see DirectBytes
			n /= 2
		}
		weight += n
		return weight < e.opt.DirectBytes
	}
	for i := range changes {
		c := &changes[i]
		if c.Op != txn.OpNone {
			weight = e.opt.DirectBytes
			break
		}
		if c.Writes(add); weight >= e.opt.DirectBytes {
			break
		}
	}
	if weight >= e.opt.DirectBytes {
		seq, err = e.direct(changes)
		return seq, err == nil, err
	}
	if err := e.exist(changes); err != nil {
		return 0, false, err
	}
	if e.mem.bytes >= e.opt.MemBytes {
		e.counts.asked.Add(1)
		if err := e.freeze(); err != nil {
			return 0, false, err
		}
	}
	seq, err = e.logged(changes, size)
	if errors.Is(err, kv.ErrDiskFull) && e.failure() == nil { // the base may have room in its file
		seq, err = e.direct(changes)
		return seq, err == nil, err
	}
	if err != nil {
		return 0, false, err
	}
	if e.opt.NoSync {
		e.synced(e.cur.Load())
	} else if show {
		e.show(seq)
	}
	return seq, e.opt.NoSync, nil
}

func (e *Engine) usable() error {
	if e.closed {
		return fmt.Errorf("%w: the store is closed", kv.ErrUnavailable)
	}
	if err := e.failure(); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrIO, err)
	}
	if e.unrecovered {
		_, err := e.finishRecovery(nil)
		return err
	}
	return nil
}

// removed is the spaces whose keys a batch takes away, by their ids.
func removed(changes []txn.Change) map[uint64]bool {
	gone := make(map[uint64]bool)
	for i := range changes {
		switch changes[i].Op {
		case txn.OpClear, txn.OpDrop:
			gone[changes[i].Space.ID] = true
		}
	}
	return gone
}

// exist returns an error unless all spaces exist.
func (e *Engine) exist(changes []txn.Change) error {
	for i := range changes {
		sp := changes[i].Space
		if e.known[sp.ID] {
			continue
		}
		sn, err := e.base.Snapshot()
		if err != nil {
			return err
		}
		has, err := sn.HasSpace(sp)
		sn.Release()
		if err != nil {
			return err
		}
		if !has {
			return fmt.Errorf("%w: file %s/%s", kv.ErrNotFound, sp.DB, sp.File)
		}
		if e.known == nil {
			e.known = make(map[uint64]bool)
		}
		e.known[sp.ID] = true
	}
	return nil
}

// logged appends a batch to the log and publishes it.
func (e *Engine) logged(changes []txn.Change, size int) (uint64, error) {
	if e.logs[e.at] == nil {
		if err := e.newLogs(); err != nil {
			return 0, err
		}
	}
	st := e.cur.Load()
	seq := st.seq + 1
	rec := appendRecord(make([]byte, 0, size+size/8+256), e.epoch, seq, st.seq-e.durableSeq(), changes)
	l := e.logs[e.at]
	if err := l.append(rec); err != nil {
		if errors.Is(err, errLost) {
			e.fail(err)
			err = fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
		} else if errors.Is(err, kv.ErrIO) {
			e.fail(err)
		}
		return 0, err
	}
	e.counts.records.Add(1)
	e.counts.bytes.Add(uint64(len(rec)))
	if first, large := e.mem.bytes == 0, size >= e.opt.LargeBytes; first || large && !e.mem.large {
		e.mem.large = large
		e.arm()
	}
	active, err := e.mem.insert(rec[recordHeader:], st.active)
	if err != nil {
		e.fail(err)
		return 0, fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
	}
	return seq, e.extend(&state{seq: seq, base: st.base, active: active, frozen: st.frozen, activeSeq: st.activeSeq, log: l})
}

// newLogs makes both log files, with which an epoch begins.
func (e *Engine) newLogs() error {
	epoch := uint64(0)
	for epoch == 0 {
		epoch = rand.Uint64()
	}
	var logs [2]*logFile
	for i, name := range fileNames {
		l, err := createLog(e.opt.FS, e.dir, name, epoch, e.opt.NoSync)
		if err == nil {
			logs[i] = l
			continue
		}
		if i > 0 {
			err = errors.Join(err, logs[0].f.Close())
		}
		if vfs.Full(err) {
			return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
		}
		e.fail(err)
		return fmt.Errorf("%w: %w", kv.ErrIO, err)
	}
	st := e.cur.Load()
	base, err := e.base.ApplyMark(nil, mark(epoch, st.seq))
	if err != nil {
		e.lost(err, st.seq)
		return errors.Join(err, logs[0].f.Close(), logs[1].f.Close())
	}
	e.logs, e.epoch = logs, epoch
	e.publish(&state{seq: st.seq, base: base, activeSeq: st.seq})
	return nil
}

// lost looks at an error of writing all trees to the base. If the outcome is
// unknown no further batch is taken; and if readers see the base with the trees
// and everything up to seq, they go on with that.
func (e *Engine) lost(err error, seq uint64) {
	e.lostFrozen(err)
	if !errors.Is(err, kv.ErrUndetermined) {
		return
	}
	sn, serr := e.base.Snapshot()
	if serr != nil {
		return
	}
	defer sn.Release()
	if base := sn.Seq(); base != e.cur.Load().base {
		e.empty(seq, base)
	}
}

// lostFrozen is lost for the frozen trees, which may stay on either base.
func (e *Engine) lostFrozen(err error) {
	if errors.Is(err, kv.ErrUndetermined) || errors.Is(err, kv.ErrIO) {
		e.fail(err)
	}
}

// direct writes a batch, and before it all trees, to the base.
func (e *Engine) direct(changes []txn.Change) (uint64, error) {
	e.wait()
	if err := e.usable(); err != nil {
		return 0, err
	}
	gone := removed(changes)
	st := e.cur.Load()
	seq := st.seq + 1
	e.buf = st.frozen.changes(e.buf[:0], gone)
	e.buf = st.active.changes(e.buf, gone)
	e.buf = append(e.buf, changes...)
	base, err := e.base.ApplyMark(e.buf, mark(e.epoch, seq))
	clear(e.buf)
	if err != nil {
		e.lost(err, seq)
		return 0, err
	}
	for i := range changes {
		if changes[i].Op == txn.OpDrop {
			delete(e.known, changes[i].Space.ID)
		}
	}
	e.empty(seq, base)
	e.reuse()
	return seq, nil
}

// empty publishes a state without trees.
func (e *Engine) empty(seq, base uint64) {
	e.mem = memtable{}
	e.hurried.Store(false)
	e.publish(&state{seq: seq, base: base, activeSeq: seq})
}

// reuse lets the log begin at its start; everything in it is in the base.
func (e *Engine) reuse() {
	for _, l := range e.logs {
		if l != nil {
			l.end = headerSize
		}
	}
}

// wait returns when no background checkpoint runs.
func (e *Engine) wait() {
	for e.running {
		e.done.Wait()
	}
}

// freeze lets the active trees be moved into the base and begins new ones, all
// records of the old ones being durable (W2). It waits for the trees frozen
// before, and returns an error if those do not go.
func (e *Engine) freeze() error {
	e.wait()
	if _, err := e.Sync(); err != nil {
		return err
	}
	st := e.cur.Load()
	if st.frozen != nil {
		if err := e.move(st); err != nil {
			return err
		}
		st = e.cur.Load()
	}
	if len(st.active) == 0 {
		return nil
	}
	st = &state{seq: st.seq, base: st.base, frozen: st.active, activeSeq: st.seq}
	e.publish(st)
	e.mem = memtable{}
	e.hurried.Store(false)
	e.at ^= 1
	if l := e.logs[e.at]; l != nil {
		l.end = headerSize
	}
	e.running = true
	go e.moveInBackground(st)
	return nil
}

// moveInBackground writes the frozen trees to the base. After an error they
// stay; the next freeze, timer or direct batch tries again.
func (e *Engine) moveInBackground(st *state) {
	start := time.Now()
	base, err := e.base.ApplyMark(st.frozen.changes(nil, nil), mark(e.epoch, st.activeSeq))
	e.counts.moveNanos.Add(uint64(time.Since(start)))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = false
	e.done.Broadcast()
	if err != nil {
		e.lostFrozen(err)
		e.mem.large, e.mem.passed = false, false // no hurry, nor is there when scans ask for it
		e.hurried.Store(true)
		e.arm()
		return
	}
	e.moved(base)
}

// move is moveInBackground without giving mu away.
func (e *Engine) move(st *state) error {
	base, err := e.base.ApplyMark(st.frozen.changes(nil, nil), mark(e.epoch, st.activeSeq))
	if err != nil {
		e.lostFrozen(err)
		return err
	}
	e.moved(base)
	return nil
}

func (e *Engine) moved(base uint64) {
	e.pub.Lock()
	defer e.pub.Unlock()
	cur, shown := *e.cur.Load(), *e.shown.Load()
	cur.base, cur.frozen = base, nil
	shown.base, shown.frozen = base, nil
	e.cur.Store(&cur)
	if shown.seq == cur.seq {
		e.shown.Store(&cur)
	} else {
		e.shown.Store(&shown)
	}
}

// flush writes all trees to the base and waits for it.
func (e *Engine) flush() error {
	e.wait()
	st := e.cur.Load()
	if st.frozen == nil && len(st.active) == 0 {
		return nil
	}
	changes := st.active.changes(st.frozen.changes(nil, nil), nil)
	base, err := e.base.ApplyMark(changes, mark(e.epoch, st.seq))
	if err != nil {
		e.lost(err, st.seq)
		return err
	}
	e.empty(st.seq, base)
	if e.failure() == nil {
		e.reuse()
	}
	return nil
}

// arm makes sure that the trees are moved after their interval.
func (e *Engine) arm() {
	if e.closed {
		return
	}
	after := e.opt.Interval
	if e.mem.large {
		after = min(after, e.opt.LargeInterval)
	}
	if e.mem.passed {
		after = min(after, e.opt.LargeInterval/4)
	}
	if e.timer == nil {
		e.timer = time.AfterFunc(after, e.tick)
	} else {
		e.timer.Reset(after)
	}
}

// manyDeletions is the number of deletions that a scan may pass before they should be
// moved: those who take work from the front of a queue come by what others have taken.
const manyDeletions = 256

// hurry makes sure that the active trees of a state are moved within a quarter of
// LargeInterval.
func (e *Engine) hurry(st *state) {
	if e.cur.Load().activeSeq != st.activeSeq || !e.hurried.CompareAndSwap(false, true) {
		return
	}
	go func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		switch {
		case e.cur.Load().activeSeq != st.activeSeq:
			e.hurried.Store(false) // they have been moved, and others are meant from now on
		case !e.mem.passed:
			e.mem.passed = true
			e.arm()
		}
	}()
}

func (e *Engine) tick() {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.cur.Load()
	switch {
	case e.closed, e.failure() != nil:
	case e.running:
		e.arm()
	case st.frozen != nil: // an earlier try failed
		e.running = true
		go e.moveInBackground(&state{frozen: st.frozen, activeSeq: st.activeSeq})
	default:
		e.counts.timed.Add(1)
		// What cannot be synced is told to those who wait for it.
		_ = e.freeze()
	}
}

// Stats reports the sizes of the base.
func (e *Engine) Stats(s *kv.StoreStats) {
	e.base.Stats(s)
	s.Seq = e.shown.Load().seq
	c := &e.counts
	s.LogRecords, s.LogBytes, s.LogSyncs = c.records.Load(), c.bytes.Load(), c.syncs.Load()
	s.Checkpoints = kv.CheckpointStats{Timed: c.timed.Load(), Asked: c.asked.Load(), Time: time.Duration(c.moveNanos.Load())}
}

// Compact moves what is in the trees, deletions above all, into the base while
// the log goes on, and compacts that.
func (e *Engine) Compact(ctx context.Context, worth func(*kv.StoreStats) bool) error {
	e.mu.Lock()
	err := e.usable()
	if err == nil {
		e.counts.asked.Add(1)
		err = e.freeze()
		e.wait()
	}
	e.mu.Unlock()
	if err != nil && !errors.Is(err, kv.ErrDiskFull) { // which is why one compacts
		return err
	}
	return e.base.Compact(ctx, worth)
}

// Check verifies the base with everything in it. Trees that cannot be moved
// because of damaged pages are one more fault.
func (e *Engine) Check(ctx context.Context, report func(fault string)) error {
	if err := e.lockedFlush(); errors.Is(err, kv.ErrCorrupt) {
		report(err.Error())
	} else if err != nil && !errors.Is(err, kv.ErrDiskFull) {
		return err // a full disk is no fault: the log has what the base has no room for
	}
	return e.base.Check(ctx, report)
}

func (e *Engine) lockedFlush() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.flush()
}

// Close moves everything into the base and removes the log. If that fails the
// log stays for the next Open.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.timer != nil {
		e.timer.Stop()
	}
	e.wait()
	e.closed = true
	err := e.flush()
	keep := errors.Is(err, kv.ErrDiskFull)
	if keep {
		err = nil // nothing is lost: the next Open finds it in the log
	}
	if err == nil && !keep && e.epoch != 0 {
		_, err = e.base.ApplyMark(nil, endMark(e.epoch, e.cur.Load().seq))
	}
	e.syncing.Lock()
	defer e.syncing.Unlock()
	for _, l := range e.logs {
		if l != nil {
			err = errors.Join(err, l.f.Close())
		}
	}
	if err == nil && !keep && e.epoch != 0 {
		err = removeLogs(e.opt.FS, e.dir, e.opt.NoSync)
	}
	return errors.Join(err, e.base.Close())
}
