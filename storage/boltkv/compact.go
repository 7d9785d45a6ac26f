package boltkv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// A compaction copies a snapshot of the data file into a new one, page after
// page full, while reads and commits go on in the old one. What is committed
// meanwhile is written down (see delta) and replayed, most of it without
// keeping commits waiting. When little is left, commits wait until that is
// replayed too, the new file is durable and has been given the old one's name.
// A crash before the renaming leaves the old file and files that the next start
// removes; a crash after it leaves the new one. The old file's space returns
// when the last snapshot of it ends.

const (
	copyBytes     = 4 << 20 // of a transaction of the copy
	catchUpBytes  = 1 << 20 // what is replayed while commits wait
	catchUpRounds = 8       // after so many they wait, however much is left
)

// Compact rewrites the data file without free space. kv.ErrDiskFull if there is
// no room for a second file; then, as after any error but a failed rename's
// sync (kv.ErrIO), everything is as it was.
func (e *engine) Compact(ctx context.Context, worth func(*kv.StoreStats) bool) error {
	if worth != nil {
		var s kv.StoreStats
		if e.Stats(&s); !worth(&s) {
			return nil
		}
	}
	select {
	case e.compacting <- struct{}{}:
		defer func() { <-e.compacting }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	old, v, err := e.beginCompact()
	if err != nil {
		return err
	}
	to, err := e.copyInto(ctx, v)
	v.end()
	if err == nil {
		err = e.catchUp(ctx, to)
	}
	if err == nil {
		err = e.replace(old, to)
	}
	e.mu.Lock()
	_ = e.delta.f.Close() // nobody misses what is in it
	e.delta = nil
	e.mu.Unlock()
	if err != nil && to != nil && e.file.Load() == old {
		err = errors.Join(err, to.close(), e.opt.FS.Remove(to.w.sums.path), e.opt.FS.Remove(e.path+newSuffix))
	}
	return err
}

// beginCompact takes a snapshot; from it on commits are written down.
func (e *engine) beginCompact() (*dataFile, *view, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.broken.Load(); b != nil {
		return nil, nil, fmt.Errorf("%w: %w", kv.ErrIO, *b)
	}
	d, err := newDelta(e.opt.FS, e.path+deltaSuffix)
	if err != nil {
		return nil, nil, writeError(err)
	}
	old := e.file.Load()
	v, err := old.view()
	if err != nil {
		return nil, nil, errors.Join(writeError(err), d.f.Close())
	}
	e.delta = d
	return old, v, nil
}

// copyInto makes the new file. When it fails to be made at all, nothing is left.
func (e *engine) copyInto(ctx context.Context, v *view) (to *dataFile, err error) {
	if to, err = openFile(e.path+newSuffix, &e.opt, nil); err != nil {
		_ = e.opt.FS.Remove(e.path + newSuffix) // else the next start does
		return nil, writeError(err)
	}
	if _, err := to.upgrade(e.dir, &e.opt); err != nil {
		return nil, errors.Join(writeError(err), to.close(), e.opt.FS.Remove(e.path+newSuffix))
	}
	to.w.lazy = true
	defer corrupted(&err)
	p := v.p
	meta, _ := p.top().sub([]byte(metaBucket))
	mark := meta.get([]byte(logKey))
	dbs := cursor{b: p.top()}
	for ok := dbs.first(); ok; ok = dbs.next() {
		db := dbs.pair()
		if string(db.Key) == metaBucket {
			continue
		}
		files := cursor{b: p.open(db.Val)}
		for ok := files.first(); ok; ok = files.next() {
			f := files.pair()
			if err := copyBucket(ctx, to, kv.Space{DB: string(db.Key), File: string(f.Key)}, p.open(f.Val)); err != nil {
				return to, err
			}
		}
	}
	_, err = to.apply(nil, mark)
	return to, err
}

func copyBucket(ctx context.Context, to *dataFile, sp kv.Space, b bucket) error {
	if _, err := to.apply([]txn.Change{{Space: sp, Op: txn.OpCreate}}, nil); err != nil {
		return err
	}
	c := cursor{b: b}
	more := c.first()
	for more {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := to.apply([]txn.Change{{Space: sp, Count: 1, Bytes: copyBytes, Writes: func(yield func(k, v []byte) bool) {
			for n := 0; more && n < copyBytes; more = c.next() {
				p := c.pair()
				n += len(p.Key) + len(p.Val) + elemLen
				if !yield(p.Key, p.Val) {
					return
				}
			}
		}}}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// catchUp replays what was committed meanwhile, until little is left.
func (e *engine) catchUp(ctx context.Context, to *dataFile) error {
	for range catchUpRounds {
		e.mu.Lock()
		d, end := e.delta, e.delta.end
		e.mu.Unlock()
		if end-d.at <= catchUpBytes {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := d.replay(to, end); err != nil {
			return err
		}
	}
	return nil
}

// replace replays the rest and puts the new file in place of the old one.
func (e *engine) replace(old, to *dataFile) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.broken.Load(); b != nil {
		return fmt.Errorf("%w: %w", kv.ErrIO, *b)
	}
	if e.delta.writeErr != nil {
		return writeError(e.delta.writeErr)
	}
	if err := e.delta.replay(to, e.delta.end); err != nil {
		return err
	}
	to.db.NoFreelistSync, to.listed = false, true
	seq := old.lastSeq()
	err := to.db.Update(func(tx *bolt.Tx) error {
		to.shift = seq - uint64(tx.ID())
		return tx.Bucket([]byte(metaBucket)).Put([]byte(shiftKey), binary.BigEndian.AppendUint64(nil, to.shift))
	})
	if err != nil {
		return writeError(err)
	}
	size := int64(0)
	err = to.db.View(func(tx *bolt.Tx) error { size = tx.Size(); return nil })
	if err == nil {
		err = to.w.trim(size)
	}
	if err != nil {
		return writeError(err)
	}
	to.w.lazy = false
	if err := to.w.syncPages(); err != nil {
		return writeError(err)
	}
	if err := e.opt.FS.Rename(e.path+newSuffix, e.path); err != nil {
		return writeError(err)
	}
	defer e.newest.changing()()
	e.file.Store(to)
	// Nothing is lost by an error of closing a file that has no name, or by
	// checksums of it that stay until the next start.
	old.retired = func() { _ = e.opt.FS.Remove(old.w.sums.path) }
	_ = old.release()
	if e.opt.NoSync {
		return nil
	}
	if err := e.opt.FS.SyncDir(e.dir); err != nil {
		e.broken.Store(&err) // after a crash the old file may be back
		return fmt.Errorf("%w: %w", kv.ErrIO, err)
	}
	return nil
}
