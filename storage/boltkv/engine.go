package boltkv

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// engine implements txn.Engine.
type engine struct {
	db     *bolt.DB
	path   string
	page   int                   // bytes of a page
	broken atomic.Pointer[error] // set when no further commit may be tried
}

func (e *engine) Limits() (key, val int) { return bolt.MaxKeySize, bolt.MaxValueSize - 1 }

func (e *engine) Apply(changes []txn.Change) (seq uint64, err error) {
	return e.ApplyMark(changes, nil)
}

// ApplyMark writes all changes, and mark unless it is nil, in one bbolt
// transaction.
func (e *engine) ApplyMark(changes []txn.Change, mark []byte) (seq uint64, err error) {
	if b := e.broken.Load(); b != nil {
		return 0, fmt.Errorf("%w: an earlier commit failed: %w", kv.ErrUnavailable, *b)
	}
	tx, err := e.db.Begin(true)
	if err != nil {
		return 0, writeError(err)
	}
	committing := false
	defer func() {
		p := recover()
		if p == nil && err == nil {
			return
		}
		switch {
		case p != nil && committing: // bbolt may have half of its lists changed
			err = fmt.Errorf("%w: panic while committing: %v", kv.ErrUnavailable, p)
			e.broken.Store(&err)
		case p != nil: // damaged pages; nothing has been written
			err = fmt.Errorf("%w: %v", kv.ErrCorrupt, p)
		}
		// A failed Commit has rolled back itself; the error of a second
		// rollback says only that.
		_ = tx.Rollback()
		if committing && e.lastSeq() >= seq {
			err = fmt.Errorf("%w: %w", kv.ErrUndetermined, err)
			e.broken.Store(&err)
		}
		seq = 0
	}()
	for i := range changes {
		if err := applyChange(tx, &changes[i]); err != nil {
			return 0, err
		}
	}
	if mark != nil {
		if err := tx.Bucket([]byte(metaBucket)).Put([]byte(logKey), mark); err != nil {
			return 0, err
		}
	}
	seq, committing = uint64(tx.ID()), true
	if err := tx.Commit(); err != nil {
		return seq, writeError(err)
	}
	return seq, nil
}

// Mark returns the mark of the write-ahead log, nil if there is none.
func (e *engine) Mark() (mark []byte, err error) {
	defer corrupted(&err)
	err = e.db.View(func(tx *bolt.Tx) error {
		mark = bytes.Clone(tx.Bucket([]byte(metaBucket)).Get([]byte(logKey)))
		return nil
	})
	return mark, err
}

// lastSeq returns the number of the newest state that readers would see.
func (e *engine) lastSeq() uint64 {
	tx, err := e.db.Begin(false)
	if err != nil {
		return 0
	}
	defer tx.Rollback()
	return uint64(tx.ID())
}

func applyChange(tx *bolt.Tx, c *txn.Change) error {
	b, err := changeBucket(tx, c)
	if err != nil || c.Count == 0 {
		return err
	}
	first := true
	for k, v := range c.Writes {
		if first {
			first = false
			// Appended rows fill their pages: nothing will come between them.
			b.FillPercent = bolt.DefaultFillPercent
			if last, _ := b.Cursor().Last(); last == nil || bytes.Compare(last, k) < 0 {
				b.FillPercent = 1
			}
		}
		if v == nil {
			err = b.Delete(k)
		} else {
			err = b.Put(k, v)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", kv.ErrTooLarge, err)
		}
	}
	return nil
}

// changeBucket creates, clears or drops the bucket as wanted and returns it.
func changeBucket(tx *bolt.Tx, c *txn.Change) (*bolt.Bucket, error) {
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
	if err := db.DeleteBucket(name); err != nil {
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

func (e *engine) Spaces(ctx context.Context) (out []kv.Space, err error) {
	defer corrupted(&err)
	err = e.db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(db []byte, b *bolt.Bucket) error {
			if string(db) == metaBucket {
				return nil
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return b.ForEachBucket(func(file []byte) error {
				out = append(out, kv.Space{DB: string(db), File: string(file)})
				return nil
			})
		})
	})
	return out, err
}

func (e *engine) Stats(s *kv.StoreStats) {
	if fi, err := os.Stat(e.path); err == nil {
		s.FileBytes = fi.Size()
	}
	st := e.db.Stats()
	s.FreeBytes = int64(st.FreePageN+st.PendingPageN) * int64(e.page)
	s.Seq = e.lastSeq()
}

// Backup copies the pages of one snapshot.
func (e *engine) Backup(ctx context.Context, w io.Writer) error {
	tx, err := e.db.Begin(false)
	if err != nil {
		return writeError(err)
	}
	defer tx.Rollback()
	if _, err = tx.WriteTo(ctxWriter{ctx, w}); ctx.Err() != nil { // bbolt does not wrap the cause
		return context.Cause(ctx)
	}
	return err
}

// ctxWriter fails as soon as the context ends.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w ctxWriter) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.w.Write(b)
}

// Check walks over all pages. It keeps commits waiting, because it compares
// with the list of free pages, which only a writer may read.
func (e *engine) Check(ctx context.Context, report func(fault string)) error {
	tx, err := e.db.Begin(true)
	if err != nil {
		return writeError(err)
	}
	defer tx.Rollback()
	for fault := range tx.Check() { // read to its end also when nobody listens
		if ctx.Err() == nil {
			report(fault.Error())
		}
	}
	return context.Cause(ctx)
}

// Close writes the list of free pages and closes the file.
func (e *engine) Close() error {
	var err error
	if e.broken.Load() == nil {
		e.db.NoFreelistSync = false
		err = e.db.Update(func(*bolt.Tx) error { return nil })
	}
	if cerr := e.db.Close(); err == nil {
		err = cerr
	}
	return err
}
