package boltkv_test

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/vfs"
	"kvsqld/storage/walkv"
)

// fullDisk is a file system on which no file gets longer while it is full.
type fullDisk struct {
	vfs.FS
	full *atomic.Bool
}

type fullFile struct {
	vfs.File
	fs   fullDisk
	path string
}

func (fs fullDisk) OpenFile(path string, flag int) (vfs.File, error) {
	f, err := fs.FS.OpenFile(path, flag)
	return fullFile{f, fs, path}, err
}

func (fs fullDisk) Adopt(path string, f *os.File) vfs.File {
	return fullFile{fs.FS.Adopt(path, f), fs, path}
}

func (f fullFile) room(end int64) error {
	if fi, err := os.Stat(f.path); f.fs.full.Load() && (err != nil || end > fi.Size()) {
		return errors.Join(err, syscall.ENOSPC)
	}
	return nil
}

func (f fullFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.room(off + int64(len(b))); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f fullFile) Allocate(from, to int64) error {
	if err := f.room(to); err != nil {
		return err
	}
	return f.File.Allocate(from, to)
}

// TestFreeOnFullDisk: what filled the disk is refused, and what gives room back is not.
func TestFreeOnFullDisk(t *testing.T) {
	full := new(atomic.Bool)
	opt := boltkv.Options{NoSync: true, MmapBytes: 1 << 26, FS: fullDisk{vfs.OS, full}, Log: walkv.Options{Interval: time.Hour}}
	st := open(t, t.TempDir(), opt)
	must(t, create(st))
	put := func(from, n int) error {
		return update(st, func(tx kv.Txn) error {
			for i := from; i < from+n; i++ {
				if err := tx.Put(table, fmt.Appendf(nil, "%08d", i), make([]byte, 1000)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	remove := func(from, n int) error {
		return update(st, func(tx kv.Txn) error {
			for i := from; i < from+n; i++ {
				if err := tx.Delete(table, fmt.Appendf(nil, "%08d", i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, put(0, 5000))
	full.Store(true)
	if err := put(5000, 20000); !errors.Is(err, kv.ErrDiskFull) {
		t.Errorf("a batch without room gives %v", err)
	}
	must(t, put(5000, 1)) // in the log
	for from := 0; from < 4000; from += 1000 {
		must(t, remove(from, 1000))
	}
	must(t, put(10000, 3000)) // where they were
	if value(t, st, "00000000") != "" || len(value(t, st, "00004000")) != 1000 || len(value(t, st, "00012999")) != 1000 {
		t.Error("rows are missing or back")
	}
	must(t, update(st, func(tx kv.Txn) error { return tx.ClearSpace(table) }))
	must(t, put(0, 4000))
	full.Store(false)
	must(t, put(20000, 20000))
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}
