package walkv_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/vfs"
	"kvsqld/storage/vfs/vfstest"
)

// failures fails the next operations of a kind.
type failures struct {
	op   string
	n    int
	err  error
	full bool // there is no room for the other files
}

func (f *failures) next(op, name string) error {
	if f.full && !strings.HasPrefix(name, "kvsqld.log") && (op == "write" || op == "allocate") {
		return syscall.ENOSPC
	}
	if !strings.HasPrefix(name, "kvsqld.log") || op != f.op || f.n == 0 {
		return nil
	}
	f.n--
	return f.err
}

func tryPut(st kv.Store, i int, size int) error {
	return update(st, func(tx kv.Txn) error {
		if size > 0 {
			return tx.Put(index, fmt.Append(nil, i), make([]byte, size))
		}
		return tx.Put(table, fmt.Appendf(nil, "%06d", i), fmt.Append(nil, i))
	})
}

func faultyStore(t *testing.T, f *failures, opt boltkv.Options) (kv.Store, string) {
	dir := t.TempDir()
	opt.NoSync = false
	opt.FS = vfstest.Faulty{FS: vfs.OS, Fail: f.next}
	st := open(t, dir, opt)
	must(t, update(st, func(tx kv.Txn) error { return errors.Join(tx.CreateSpace(table), tx.CreateSpace(index)) }))
	put(t, st, 1)
	put(t, st, 2)
	return st, dir
}

// TestFailedSync: a batch whose sync failed is not acknowledged, and nothing
// is written after it until the store is opened again.
func TestFailedSync(t *testing.T) {
	for _, op := range []string{"datasync", "write"} {
		var f failures
		st, dir := faultyStore(t, &f, quiet)
		f = failures{op: op, n: 1, err: syscall.EIO}
		if err := tryPut(st, 3, 0); !errors.Is(err, kv.ErrUndetermined) {
			t.Errorf("%s: the failing commit gives %v", op, err)
		}
		if err := tryPut(st, 3, 0); !errors.Is(err, kv.ErrIO) {
			t.Errorf("%s: the next commit gives %v", op, err)
		}
		if err := update(st, func(tx kv.Txn) error { return tx.ClearSpace(table) }); !errors.Is(err, kv.ErrIO) {
			t.Errorf("%s: clearing gives %v", op, err)
		}
		s, err := st.Snapshot(ctx)
		must(t, err)
		if got := content(t, s, table, kv.Range{}, false); len(got) != 2 {
			t.Errorf("%s: readers see %v", op, got)
		}
		s.Close()
		if n, err := numbers(t, crash(t, dir), quiet); err != nil || n < 2 || n > 3 {
			t.Errorf("%s: %d rows and %v after a crash", op, n, err)
		}
		must(t, st.Close())
		if n, err := numbers(t, dir, quiet); err != nil || n != 2 {
			t.Errorf("%s: %d rows and %v after a stop", op, n, err)
		}
	}
}

// TestFullDisk: a batch for which the log has no room goes to the base, and where that
// has none either it is refused, and the store goes on.
func TestFullDisk(t *testing.T) {
	var f failures
	st, dir := faultyStore(t, &f, quiet)
	for _, full := range []bool{true, false} {
		for _, size := range []int{0, 400 << 10} { // in the file, and where it has to grow
			for _, op := range []string{"write", "sync"} {
				for i := 0; ; i++ {
					f = failures{op: op, n: 1, err: syscall.ENOSPC, full: full}
					err := tryPut(st, 3, size)
					if f.n == 1 && i < 20 { // room was there, or nothing of the kind was done
						must(t, err)
						if size == 0 {
							break
						}
						continue
					}
					if errors.Is(err, kv.ErrDiskFull) != full || !full && err != nil {
						t.Fatalf("%s of %d bytes gives %v", op, size, err)
					}
					break
				}
			}
		}
	}
	f = failures{}
	put(t, st, 3)
	put(t, st, 4)
	if n, err := numbers(t, crash(t, dir), quiet); err != nil || n != 4 {
		t.Errorf("%d rows and %v after a crash", n, err)
	}
}
