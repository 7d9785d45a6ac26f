package boltkv

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync/atomic"
	"unsafe"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/kv"
	"kvsqld/storage/vfs"
)

// lostError marks an error after which nobody knows what a file contains.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

// pageWriter is what bbolt writes a data file through. It keeps the checksums,
// and it does all syncs, which bbolt is told to leave out: data and checksums
// are durable before a meta page makes them valid.
type pageWriter struct {
	f      vfs.File
	sums   *sums // nil until a file from before checksums has some
	page   int64
	size   int64 // of the file
	noSync bool
	txn    uint64 // of the newest state that was written, or was to be
	lazy   bool   // a copy that is synced as a whole when it is done
	lost   error  // set when no commit may follow

	refused error // nothing is written, this is the answer

	// Of the commit that is written: pages side by side that wait for being written
	// together, the place of the first one, and by how much the file has grown last.
	side   []byte
	sideAt int64
	grown  int64
}

// A data file grows by growStep at least, and where much is written by an eighth, up to
// growMost; for a commit, of which nobody knows how much is to come, each time by twice
// as much. Every growth is a sync of its own.
const (
	growStep = 1 << 20
	growMost = 64 << 20
)

// sideMost is how many bytes of a commit wait for being written together.
const sideMost = 256 << 10

// WriteAt is bbolt's way to write: a run of pages, or a meta page at last. bbolt uses b
// again.
func (w *pageWriter) WriteAt(b []byte, off int64) (int, error) {
	if w.refused != nil {
		return 0, w.refused
	}
	n, err := w.write(b, off)
	if err != nil {
		w.side, w.grown = w.side[:0], 0 // the commit fails
	}
	return n, w.noted(err)
}

// noted looks at an error of writing: whether a commit may follow.
func (w *pageWriter) noted(err error) error {
	if err != nil && w.lost == nil && (errors.As(err, new(lostError)) || !vfs.Full(err) && !errors.Is(err, kv.ErrTooLarge)) {
		w.lost = err
	}
	return err
}

// writeRuns writes runs of pages that lie side by side, and not as a part of a commit.
func (w *pageWriter) writeRuns(b []byte, off int64) error {
	if end := off + int64(len(b)); end > w.size {
		if err := w.grow(end, w.size+min(max(growStep, w.size/8), growMost)); err != nil {
			return w.noted(err)
		}
	}
	if w.sums != nil {
		for at := int64(0); at < int64(len(b)); {
			n := w.page * (1 + int64(native.Uint32(b[at+12:])))
			w.sums.set(uint64((off+at)/w.page), b[at:at+n])
			at += n
		}
	}
	_, err := w.f.WriteAt(b, off)
	return w.noted(err)
}

func (w *pageWriter) write(b []byte, off int64) (int, error) {
	if off < 2*w.page {
		return w.writeMeta(b, off)
	}
	if int64(len(b)) != w.page*(1+int64(native.Uint32(b[12:]))) {
		return 0, fmt.Errorf("%w: %d bytes side by side", kv.ErrTooLarge, len(b))
	}
	if end := off + int64(len(b)); end > w.size {
		w.grown = min(max(growStep, 2*w.grown), growMost)
		if err := w.grow(end, w.size+w.grown); err != nil {
			return 0, err
		}
	}
	if w.sums != nil {
		w.sums.set(uint64(off/w.page), b)
	}
	if off != w.sideAt+int64(len(w.side)) || len(w.side)+len(b) > sideMost {
		if err := w.writeSide(); err != nil {
			return 0, err
		}
		w.sideAt = off
	}
	if len(b) > sideMost {
		return w.f.WriteAt(b, off)
	}
	w.side = append(w.side, b...)
	return len(b), nil
}

// writeSide writes the pages that wait.
func (w *pageWriter) writeSide() error {
	if len(w.side) == 0 {
		return nil
	}
	_, err := w.f.WriteAt(w.side, w.sideAt)
	w.side = w.side[:0]
	return err
}

// grow makes room, up to end at least and up to size if the disk has it, whose size is
// durable before it is used. The room is on the disk, that for the checksums as well: when
// the disk is full, the free pages of the file can be written, and so can what frees more.
func (w *pageWriter) grow(end, size int64) error {
	size = max(end, size)
	err := w.allocate(size)
	if err != nil && vfs.Full(err) && end < size {
		size = end
		err = w.allocate(size)
	}
	if err != nil {
		return errors.Join(err, w.f.Truncate(w.size))
	}
	if !w.noSync && !w.lazy {
		if err := w.f.Sync(); err != nil {
			return lostError{err}
		}
	}
	w.size = size
	return nil
}

func (w *pageWriter) allocate(size int64) error {
	if w.lazy { // a copy, which may yet turn out larger than it has to be
		return w.f.Truncate(size)
	}
	if w.sums != nil {
		if err := w.sums.allocate(w.size/w.page, (size+w.page-1)/w.page); err != nil {
			return err
		}
	}
	return w.f.Allocate(w.size, size)
}

// trim cuts off what lies behind the last page.
func (w *pageWriter) trim(size int64) error {
	if size >= w.size {
		return nil
	}
	if err := w.f.Truncate(size); err != nil {
		return err
	}
	w.size = size
	return nil
}

func (w *pageWriter) writeMeta(b []byte, off int64) (int, error) {
	w.txn = native.Uint64(b[metaAt+metaTxn:])
	w.grown = 0
	if err := w.writeSide(); err != nil {
		return 0, err
	}
	if err := w.syncPages(); err != nil {
		return 0, err
	}
	n, err := w.f.WriteAt(b, off)
	if err == nil && !w.noSync && !w.lazy {
		err = w.f.Datasync()
	}
	if err != nil { // the state may be valid or not
		err = lostError{err}
	}
	return n, err
}

// syncPages makes all pages and checksums durable.
func (w *pageWriter) syncPages() error {
	if w.lazy {
		return nil
	}
	if w.sums != nil {
		if err := w.sums.flush(w.txn); err != nil {
			return err
		}
	}
	if !w.noSync {
		if err := w.f.Datasync(); err != nil {
			return lostError{err}
		}
	}
	return nil
}

// intercept makes bbolt write through w. bbolt has the function for it, for its
// own tests, but does not export it; the test of this file fails should a new
// version have it no more.
func intercept(db *bolt.DB, w *pageWriter) error {
	f := reflect.ValueOf(db).Elem().FieldByName("ops")
	if f.IsValid() {
		f = f.FieldByName("writeAt")
	}
	if !f.IsValid() || f.Type() != reflect.TypeFor[func([]byte, int64) (int, error)]() {
		return errors.New("this version of bbolt writes its pages in another way")
	}
	*(*func([]byte, int64) (int, error))(unsafe.Pointer(f.UnsafeAddr())) = w.WriteAt
	db.NoSync, db.NoGrowSync = true, true
	return nil
}

// dataFile is an open bbolt file with its checksums. Its states are numbered by
// bbolt's transactions plus shift, which keeps numbers rising over compactions.
type dataFile struct {
	db    *bolt.DB
	w     *pageWriter
	shift uint64
	maps  *mappings // nil where bbolt keeps them
	// listed says that the newest state has the list of free pages in the file.
	listed bool
	// damage is what was found damaged when the file was opened, "" for nothing.
	damage string
	// taken says that pages were taken from the list of free ones for the transaction
	// that runs, before its commit.
	taken bool

	users   atomic.Int64 // the engine and snapshots; the last one closes the file
	retired func()       // called when a replaced file has been closed
}

// acquire makes sure that the file stays open until release; false if it is
// closed.
func (f *dataFile) acquire() bool {
	for {
		n := f.users.Load()
		if n == 0 {
			return false
		}
		if f.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (f *dataFile) release() error {
	if f.users.Add(-1) > 0 {
		return nil
	}
	err := f.close()
	if f.retired != nil {
		f.retired()
	}
	return err
}

func (f *dataFile) seq(tx *bolt.Tx) uint64 { return uint64(tx.ID()) + f.shift }

// pager returns the pages of a transaction's state, valid until its end.
func (f *dataFile) pager(tx *bolt.Tx) *pager {
	p := newPager(f.db, tx)
	p.sums = f.w.sums
	return p
}

func newPager(db *bolt.DB, tx *bolt.Tx) *pager {
	info := db.Info()
	base := *(*unsafe.Pointer)(unsafe.Pointer(&info.Data)) // mapped memory, not Go's
	return &pager{
		data: unsafe.Slice((*byte)(base), tx.Size()),
		page: info.PageSize,
		root: uint64(tx.Cursor().Bucket().Root()),
	}
}

// mapFile opens a data file with bbolt. bbolt panics when it searches a damaged
// file for free pages; such a file stays locked until the process ends.
func mapFile(path string, o bolt.Options) (db *bolt.DB, f *os.File, err error) {
	defer corrupted(&err)
	o.OpenFile = func(name string, flag int, perm os.FileMode) (*os.File, error) {
		opened, err := os.OpenFile(name, flag, perm)
		f = opened
		return opened, err
	}
	db, err = bolt.Open(path, 0o600, &o)
	return db, f, err
}
