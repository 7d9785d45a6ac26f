package boltkv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
	bolterr "go.etcd.io/bbolt/errors"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
)

// engine implements txn.Engine.
type engine struct {
	opt  Options
	dir  string
	path string
	lock *os.File
	file atomic.Pointer[dataFile]

	newest newest

	// mu is held by whoever writes or replaces the data file.
	mu     sync.Mutex
	broken atomic.Pointer[error] // set when no further commit may be tried
	delta  *delta                // of the compaction that runs; guarded by mu

	compacting chan struct{} // capacity 1: taken by the compaction that runs
}

func (e *engine) Limits() (key, val int) { return bolt.MaxKeySize, 1<<30 - 1 }

func (e *engine) Apply(changes []txn.Change) (seq uint64, err error) {
	return e.ApplyMark(changes, nil)
}

// ApplyMark writes all changes, and mark unless it is nil, in one bbolt
// transaction.
func (e *engine) ApplyMark(changes []txn.Change, mark []byte) (seq uint64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.broken.Load(); b != nil {
		return 0, fmt.Errorf("%w: %w", kv.ErrIO, *b)
	}
	defer e.newest.changing()()
	f := e.file.Load()
	seq, err = f.apply(changes, mark)
	if f.w.lost != nil {
		e.broken.Store(&f.w.lost)
	}
	if err == nil && e.delta != nil {
		e.delta.add(changes, mark)
	}
	return seq, err
}

// apply is ApplyMark. After an error that may have left bbolt or a file in an
// unknown state, w.lost is set.
func (f *dataFile) apply(changes []txn.Change, mark []byte) (seq uint64, err error) {
	tx, err := f.db.Begin(true)
	if err != nil {
		return 0, writeError(err)
	}
	committing := false
	defer func() {
		if f.maps != nil {
			f.maps.take()
		}
		p := recover()
		if (p != nil || err != nil) && !committing && f.taken {
			f.giveBack(tx, err)
		}
		f.taken = false
		if p == nil && err == nil {
			return
		}
		switch {
		case p != nil && committing: // bbolt may have half of its lists changed
			err = fmt.Errorf("%w: panic while committing: %v", kv.ErrIO, p)
			f.w.lost = err
		case p != nil: // damaged pages; nothing has been written
			err = fmt.Errorf("%w: %v", kv.ErrCorrupt, p)
		}
		// A failed Commit has rolled back itself; the error of a second
		// rollback says only that.
		_ = tx.Rollback()
		if f.w.sums != nil {
			f.w.sums.forget()
		}
		if committing && !errors.Is(err, kv.ErrDiskFull) && !errors.Is(err, kv.ErrTooLarge) {
			f.w.lost = err
		}
		if committing && f.lastSeq() >= seq {
			err = fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
		}
		seq = 0
	}()
	p := f.pager(tx)
	final := make(map[kv.Space]int, len(changes)) // the last change of each
	for i := range changes {
		final[changes[i].Space] = i
	}
	met := make(map[kv.Space]bool, len(changes))
	for i := range changes {
		sp := changes[i].Space
		if err := f.applyChange(tx, p, &changes[i], met[sp], final[sp] == i); err != nil {
			return 0, err
		}
		met[sp] = true
	}
	p.top().verifyWay([]byte(metaBucket))
	if mark != nil {
		if err := tx.Bucket([]byte(metaBucket)).Put([]byte(logKey), mark); err != nil {
			return 0, err
		}
	}
	f.chooseList()
	seq, committing = f.seq(tx), true
	if err := tx.Commit(); err != nil {
		return seq, writeError(err)
	}
	f.listed = !f.db.NoFreelistSync
	return seq, nil
}

// giveBack rolls back a transaction that has taken free pages. bbolt gives those
// back only where a commit fails, so that is what it gets.
func (f *dataFile) giveBack(tx *bolt.Tx, err error) {
	defer func() {
		f.w.refused = nil
		if p := recover(); p != nil {
			f.w.lost = fmt.Errorf("%w: panic while giving back pages: %v", kv.ErrIO, p)
		}
	}()
	if f.w.refused = err; err == nil {
		f.w.refused = kv.ErrUnavailable
	}
	_ = tx.Commit() // fails
}

// maxListed is the number of free pages up to which each commit writes their
// list. Without it the start after a crash has to search the file.
var maxListed = 1 << 18 // a variable for the tests

func (f *dataFile) chooseList() {
	st := f.db.Stats()
	f.db.NoFreelistSync = st.FreePageN+st.PendingPageN > maxListed
}

// use returns the data file, which stays open until it is released.
func (e *engine) use() *dataFile {
	for {
		if f := e.file.Load(); f.acquire() {
			return f
		}
	}
}

// Mark returns the mark of the write-ahead log, nil if there is none.
func (e *engine) Mark() (mark []byte, err error) {
	defer corrupted(&err)
	f := e.use()
	defer f.release()
	err = f.db.View(func(tx *bolt.Tx) error {
		if b, ok := f.pager(tx).top().sub([]byte(metaBucket)); ok {
			mark = bytes.Clone(b.get([]byte(logKey)))
		}
		return nil
	})
	return mark, err
}

// lastSeq returns the number of the newest state that readers would see.
func (f *dataFile) lastSeq() uint64 {
	tx, err := f.db.Begin(false)
	if err != nil {
		return 0
	}
	defer tx.Rollback()
	return f.seq(tx)
}

// applyChange makes one change. met tells that a change of the transaction to the same
// space has come before, final that none follows.
func (f *dataFile) applyChange(tx *bolt.Tx, p *pager, c *txn.Change, met, final bool) error {
	old, has, whole := verifyBucket(p, c)
	if has && final && !met {
		if done, err := f.rewrite(tx, c, old); done {
			return putError(err)
		}
	}
	b, err := changeBucket(tx, c, whole)
	if err != nil || c.Count == 0 {
		return err
	}
	has = has && c.Op == txn.OpNone
	first := true
	var load *bulk
	defer func() { _ = load.stop() }()
	var until []byte // keys below it go to a page that is verified
	var near group   // writes to that page
	for k, v := range c.Writes {
		if has && (first || until != nil && bytes.Compare(k, until) >= 0) {
			if err := near.write(b); err != nil {
				return putError(err)
			}
			until = old.verifyWay(k)
		}
		if first {
			first = false
			// Appended rows fill their pages: nothing will come between them.
			b.FillPercent = bolt.DefaultFillPercent
			// Cursor.Last does not end where deletions of this transaction have left
			// nothing but empty pages.
			if next, _ := b.Cursor().Seek(k); next == nil {
				b.FillPercent = 1
				if final {
					load = f.newBulk(tx, c.Bytes, c.Count)
				}
			}
		}
		if load == nil {
			near.add(k, v)
		} else if err := load.put(b, k, v); err != nil {
			return putError(err)
		}
	}
	if load != nil {
		return putError(load.finish(b))
	}
	return putError(near.write(b))
}

// putError classifies an error of putting a pair into a bucket.
func putError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterr.ErrKeyTooLarge), errors.Is(err, bolterr.ErrValueTooLarge), errors.Is(err, bolterr.ErrKeyRequired):
		return fmt.Errorf("%w: %w", kv.ErrTooLarge, err)
	}
	return writeError(err)
}

// verifyBucket verifies the pages that bbolt reads to find a bucket, and all of
// one that it is to delete, which may be damaged; it returns the bucket as it was.
// What bbolt reads itself it believes, and a damaged page would be written again
// with a checksum that is right.
func verifyBucket(p *pager, c *txn.Change) (old bucket, has, whole bool) {
	p.top().verifyWay([]byte(c.Space.DB))
	db, has := p.top().sub([]byte(c.Space.DB))
	if !has {
		return bucket{}, false, true
	}
	db.verifyWay([]byte(c.Space.File))
	if old, has = db.sub([]byte(c.Space.File)); has && (c.Op == txn.OpClear || c.Op == txn.OpDrop) {
		func() {
			var err error
			defer func() { whole = err == nil }()
			defer corrupted(&err)
			old.walk(func(uint64) {})
		}()
		if !whole {
			p.top().verifyWay([]byte(metaBucket))
			m, _ := p.top().sub([]byte(metaBucket))
			m.verifyWay([]byte(lostBucket))
		}
		return old, has, whole
	}
	return old, has, true
}

// changeBucket creates, clears or drops the bucket as wanted and returns it. whole tells
// that bbolt may read all of the old one.
func changeBucket(tx *bolt.Tx, c *txn.Change, whole bool) (*bolt.Bucket, error) {
	name := []byte(c.Space.File)
	if c.Op == txn.OpCreate {
		db, err := tx.CreateBucketIfNotExists([]byte(c.Space.DB))
		if err != nil {
			return nil, err
		}
		if db.Bucket(name) != nil {
			return nil, fmt.Errorf("%w: file %s/%s", kv.ErrExists, c.Space.DB, c.Space.File)
		}
		return db.CreateBucket(name)
	}
	db := tx.Bucket([]byte(c.Space.DB))
	if db == nil {
		return nil, fmt.Errorf("%w: database %s", kv.ErrNotFound, c.Space.DB)
	}
	b := db.Bucket(name)
	if b == nil {
		return nil, fmt.Errorf("%w: file %s/%s", kv.ErrNotFound, c.Space.DB, c.Space.File)
	}
	if c.Op == txn.OpNone {
		return b, nil
	}
	drop := db.DeleteBucket
	if !whole {
		drop = func(name []byte) error { return putAway(tx, db, name) }
	}
	if err := drop(name); err != nil {
		return nil, err
	}
	if c.Op == txn.OpClear {
		return db.CreateBucket(name)
	}
	if k, _ := db.Cursor().First(); k == nil { // the last file of a database
		return nil, tx.DeleteBucket([]byte(c.Space.DB))
	}
	return nil, nil
}

func (e *engine) Stats(s *kv.StoreStats) {
	if fi, err := os.Stat(e.path); err == nil {
		s.FileBytes = fi.Size()
	}
	f := e.file.Load()
	if !f.acquire() {
		return // replaced or closed at this moment
	}
	defer f.release()
	st := f.db.Stats()
	s.FreeBytes = int64(st.FreePageN+st.PendingPageN) * f.w.page
	s.Seq = f.lastSeq()
	s.Damage = f.damage
}

// Check verifies the checksums of all pages and reports each page that is damaged,
// whatever lies below it. Where all are whole, it compares them with the list of free
// pages; it keeps commits waiting, because only a writer may read that.
func (e *engine) Check(ctx context.Context, report func(fault string)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.file.Load()
	tx, err := f.db.Begin(true)
	if err != nil {
		return writeError(err)
	}
	defer tx.Rollback()
	if f.pager(tx).verifyAll(func(fault error) { report(fault.Error()) }) {
		return context.Cause(ctx) // bbolt believes what is on a page, and may die of it
	}
	for fault := range tx.Check() { // read to its end also when nobody listens
		if ctx.Err() == nil {
			report(fault.Error())
		}
	}
	return context.Cause(ctx)
}

// Close writes the list of free pages and closes the file, whose checksums then tell
// which state was the last.
func (e *engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.newest.close()
	f := e.file.Load()
	var err error
	if e.broken.Load() == nil && !f.listed {
		f.db.NoFreelistSync = false
		err = f.db.Update(func(*bolt.Tx) error { return nil })
	}
	if err == nil && e.broken.Load() == nil && f.w.lost == nil {
		err = f.sealSums()
	}
	return errors.Join(err, f.release(), e.lock.Close())
}

// writeError classifies an error of writing the file. bbolt wraps some causes
// as text only.
func writeError(err error) error {
	if vfs.Full(err) || errors.Is(err, bolterr.ErrMaxSizeReached) || strings.Contains(err.Error(), bolterr.ErrMaxSizeReached.Error()) {
		return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
	}
	if errors.Is(err, kv.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w: %w", kv.ErrIO, err)
}

func bigEndian(b []byte) uint64 { return binary.BigEndian.Uint64(b) }
