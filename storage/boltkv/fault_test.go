package boltkv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/vfs"
	"kvsqld/storage/vfs/vfstest"
	"kvsqld/storage/walkv"
)

// allFaults is the variable that makes TestFaults leave nothing out.
const allFaults = "KVSQLD_ALL_FAULTS"

// nth fails the n-th operation, or all from it on.
type nth struct {
	mu      sync.Mutex
	n, seen int
	all     bool
	err     error
	what    string // the operation that failed first
}

func (f *nth) fail(op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen++
	if f.n == 0 || f.seen < f.n || f.seen > f.n && !f.all {
		return nil
	}
	if f.what == "" {
		f.what = op + " " + name
	}
	return f.err
}

// outcome of a commit, by number.
type outcome uint8

const (
	refused outcome = iota
	committed
	unknown
)

// faultSteps is a load that passes every place where the engines use files: a
// new store, its log, moves of the log, large commits, new and cleared files, a
// compaction, a stop. It returns what became of each commit; opened is false if
// the store could not be opened.
func faultSteps(t *testing.T, dir string, f *nth) (done []outcome, opened bool) {
	t.Helper()
	opt := boltkv.Options{
		MmapBytes: 1 << 22, FS: vfstest.Faulty{FS: noSyncs{vfs.OS}, Fail: f.fail},
		Log: walkv.Options{MemBytes: 1500, DirectBytes: 5000, Interval: time.Hour},
	}
	st, err := boltkv.Open(dir, opt)
	if err != nil {
		return nil, false
	}
	known := func(err error) outcome {
		switch {
		case err == nil:
			return committed
		case errors.Is(err, kv.ErrUndetermined):
			return unknown
		case !errors.Is(err, kv.ErrDiskFull) && !errors.Is(err, kv.ErrIO):
			t.Errorf("%s fails: an error of no kind: %v", f.what, err)
		}
		return refused
	}
	made, other := known(create(st)), refused
	for n := range 24 {
		if made != committed {
			break
		}
		size := 100
		if n%8 == 7 {
			size = 6000
		}
		done = append(done, known(update(st, func(tx kv.Txn) error {
			k := fmt.Appendf(nil, "%03d", n)
			err := errors.Join(tx.Put(table, k, make([]byte, size)), tx.Put(index, k, []byte("v")))
			for i := 0; i < 50 && size > 1000 && err == nil; i++ { // pages in bulk
				err = tx.Put(table, fmt.Appendf(nil, "%03d/%d", n, i), make([]byte, size/10))
			}
			return err
		})))
		switch n {
		case 10:
			other = known(update(st, func(tx kv.Txn) error { return tx.CreateSpace(kv.Space{ID: 9, DB: "other", File: "f"}) }))
		case 12:
			known(st.Compact(ctx, nil))
		case 14:
			if other != committed {
				continue
			}
			known(update(st, func(tx kv.Txn) error { return tx.DropSpace(kv.Space{ID: 9, DB: "other", File: "f"}) }))
		}
		// Whatever has failed, what was acknowledged can be read.
		faultState(t, st, f.what, done)
	}
	_ = st.Close() // tells what it could not do; nothing may be lost by that
	return done, true
}

// faultState compares what is there with the outcomes.
func faultState(t *testing.T, st kv.Store, what string, done []outcome) {
	t.Helper()
	s, err := st.Snapshot(ctx)
	if err != nil {
		t.Errorf("%s fails: no snapshot: %v", what, err)
		return
	}
	defer s.Close()
	for n, o := range done {
		k := fmt.Appendf(nil, "%03d", n)
		_, err := s.Get(ctx, table, k)
		_, xerr := s.Get(ctx, index, k)
		for _, e := range []error{err, xerr} {
			if e != nil && !errors.Is(e, kv.ErrNotFound) {
				t.Errorf("%s fails: reading commit %d: %v", what, n, e)
			}
		}
		if (err == nil) != (xerr == nil) {
			t.Errorf("%s fails: commit %d is there by half: %v, %v", what, n, err, xerr)
		}
		if there := err == nil; o == committed && !there || o == refused && there {
			t.Errorf("%s fails: commit %d of %d: there is %v, outcome %d", what, n, len(done), there, o)
		}
	}
}

// noSyncs leaves out syncs, which have been counted by then.
type noSyncs struct{ vfs.FS }

type noSyncFile struct{ vfs.File }

func (noSyncFile) Sync() error     { return nil }
func (noSyncFile) Datasync() error { return nil }

func (n noSyncs) SyncDir(string) error { return nil }
func (n noSyncs) OpenFile(path string, flag int) (vfs.File, error) {
	f, err := n.FS.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}
func (n noSyncs) Adopt(path string, f *os.File) vfs.File { return noSyncFile{n.FS.Adopt(path, f)} }

// TestFaults fails every operation on files that the load does, one after the
// other, once or from then on, with an I/O error or a full disk.
func TestFaults(t *testing.T) {
	count := &nth{}
	if done, _ := faultSteps(t, t.TempDir(), count); len(done) != 24 {
		t.Fatalf("without faults: %v", done)
	}
	// Every fourth one, unless all are wanted.
	step, first, runs := 4, rand.IntN(4), 0
	if os.Getenv(allFaults) != "" {
		step = 1
	}
	for _, all := range []bool{false, true} {
		for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
			for n := 1 + first%step; n <= count.seen; n += step {
				dir := t.TempDir()
				f := &nth{n: n, err: cause, all: all}
				done, _ := faultSteps(t, dir, f)
				runs++
				st, err := boltkv.Open(dir, boltkv.Options{NoSync: true, MmapBytes: 1 << 22})
				if err != nil {
					t.Fatalf("after %s failed (%v, %v): %v", f.what, cause, all, err)
				}
				faultState(t, st, f.what, done)
				must(t, st.Check(ctx, func(fault string) { t.Errorf("after %s failed: %s", f.what, fault) }))
				must(t, st.Close())
				must(t, os.RemoveAll(dir))
				if t.Failed() {
					t.Fatalf("operation %d of %d, %v, all: %v", n, count.seen, cause, all)
				}
			}
		}
	}
	t.Logf("%d operations, %d runs", count.seen, runs)
}

// TestRoomAgain: a store that found no room at its start for what a crash left in
// the log refuses commits, can be read, and goes on when there is room.
func TestRoomAgain(t *testing.T) {
	dir := t.TempDir()
	opt := boltkv.Options{NoSync: true, MmapBytes: 1 << 22, Log: walkv.Options{Interval: time.Hour}}
	st, err := boltkv.Open(dir, opt)
	must(t, err)
	must(t, create(st))
	for i := range 50 {
		must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, fmt.Append(nil, i), make([]byte, 1000)) }))
	}
	crashed := filepath.Join(t.TempDir(), "d")
	must(t, os.CopyFS(crashed, os.DirFS(dir)))
	must(t, st.Close())

	full := true
	opt.FS = vfstest.Faulty{FS: vfs.OS, Fail: func(op, name string) error {
		if full && op == "write" && name == boltkv.FileName {
			return syscall.ENOSPC
		}
		return nil
	}}
	again := open(t, crashed, opt)
	if len(value(t, again, "49")) != 1000 {
		t.Error("what is in the log cannot be read")
	}
	put := func() error {
		return update(again, func(tx kv.Txn) error { return tx.Put(table, []byte("new"), []byte("v")) })
	}
	if err := put(); !errors.Is(err, kv.ErrDiskFull) {
		t.Errorf("writing gives %v", err)
	}
	full = false
	must(t, put())
	if value(t, again, "new") != "v" || len(value(t, again, "0")) != 1000 {
		t.Error("something is lost")
	}
	must(t, again.Check(ctx, func(fault string) { t.Error(fault) }))
}

// withFile keeps the data file that bbolt has opened.
type withFile struct {
	vfs.FS
	f **os.File
}

func (w withFile) Adopt(path string, f *os.File) vfs.File {
	*w.f = f
	return w.FS.Adopt(path, f)
}

// TestMappingFails: when the file outgrows its mapping and cannot be mapped
// again, nothing is answered wrongly, and a restart finds everything.
func TestMappingFails(t *testing.T) {
	if math.MaxInt > math.MaxInt32 {
		if _, err := boltkv.Open(t.TempDir(), boltkv.Options{MmapBytes: math.MaxInt >> 16}); err == nil {
			t.Error("a mapping of more than there is succeeds")
		}
	}
	dir := t.TempDir()
	var f *os.File
	st, err := boltkv.Open(dir, boltkv.Options{MmapBytes: 1, NoSync: true, FS: withFile{vfs.OS, &f}})
	must(t, err)
	must(t, create(st))
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("k"), []byte("v")) }))
	// A file that is open for writing only cannot be mapped.
	file, err := unix.Dup(int(f.Fd()))
	must(t, err)
	writeOnly, err := os.OpenFile(filepath.Join(dir, boltkv.FileName), os.O_WRONLY, 0)
	must(t, err)
	must(t, unix.Dup2(int(writeOnly.Fd()), int(f.Fd())))
	big := func() error {
		return update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("big"), make([]byte, 4<<20)) })
	}
	if err := big(); !errors.Is(err, kv.ErrIO) {
		t.Errorf("the commit gives %v", err)
	}
	must(t, unix.Dup2(file, int(f.Fd())))
	must(t, errors.Join(writeOnly.Close(), unix.Close(file)))
	if err := big(); !errors.Is(err, kv.ErrIO) && !errors.Is(err, kv.ErrUnavailable) {
		t.Errorf("the next commit gives %v", err)
	}
	if s, err := st.Snapshot(ctx); err == nil {
		s.Close()
		t.Error("a store without its file can be read")
	} else if !errors.Is(err, kv.ErrUnavailable) {
		t.Errorf("Snapshot gives %v", err)
	}
	_ = st.Close()
	again := open(t, dir, boltkv.Options{NoSync: true})
	if value(t, again, "k") != "v" || value(t, again, "big") != "" {
		t.Error("something is lost or there by half")
	}
	must(t, again.Check(ctx, func(fault string) { t.Error(fault) }))
}

// TestCommitWritesPagesTogether: a large commit of bbolt's own writes pages that lie side
// by side at once, and does not make the file grow again and again, each time with a sync.
func TestCommitWritesPagesTogether(t *testing.T) {
	ops := map[string]int{}
	opt := boltkv.Options{MaxFileBytes: 1 << 30, FS: vfstest.Faulty{FS: noSyncs{vfs.OS}, Fail: func(op, name string) error {
		if name == boltkv.FileName {
			ops[op]++
		}
		return nil
	}}}
	st := open(t, t.TempDir(), opt)
	must(t, create(st))
	clear(ops)
	const rows, size = 20000, 1000
	must(t, update(st, func(tx kv.Txn) error {
		for i := range rows {
			if err := tx.Put(table, binary.BigEndian.AppendUint32(nil, uint32(i)), make([]byte, size)); err != nil {
				return err
			}
		}
		return nil
	}))
	if pages := rows * size / os.Getpagesize(); ops["write"] > pages/10 {
		t.Errorf("%d pages at least were written by %d calls", pages, ops["write"])
	}
	if ops["sync"] > 8 {
		t.Errorf("%d syncs while %d bytes were written", ops["sync"], rows*size)
	}
}
