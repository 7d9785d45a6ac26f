//go:build linux

package txn

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"kvsqld/storage/kv"
)

// TestUnreadableCommit: what a SERIALIZABLE transaction has read is compared with the
// writes of commits that may be in temporary files. Where one cannot be read, the
// transaction fails, and nothing else.
func TestUnreadableCommit(t *testing.T) {
	_, st := newFake(t, Options{})
	reader, err := st.Begin(ctx, kv.BeginOpt{Isolation: kv.Serializable})
	if err != nil {
		t.Fatal(err)
	}
	it := reader.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	if _, err := it.Next(); err != nil {
		t.Fatal(err)
	}
	it.Close()
	if err := reader.Put(sp, []byte("another"), []byte("1")); err != nil {
		t.Fatal(err)
	}

	spill, _ := testSpill(t, 10_000)
	var files []*os.File
	file := spill.File
	spill.File = func() (*os.File, error) {
		f, err := file()
		if err != nil {
			return nil, err
		}
		again, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), os.O_RDWR, 0)
		files = append(files, again)
		return f, err
	}
	large, err := st.Begin(ctx, kv.BeginOpt{Spill: spill})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		if err := large.Put(sp, rowKey(i), []byte("value"), kv.Covered); err != nil {
			t.Fatal(err)
		}
	}
	if err := large.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("nothing went to files")
	}
	for _, f := range files { // as by a disk that fails
		if err := errors.Join(f.Truncate(0), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := reader.Commit(ctx); !errors.Is(err, kv.ErrTempFile) {
		t.Errorf("the commit that is to be compared: %v", err)
	}
	if err := commitOne(st, "others go on"); err != nil {
		t.Error(err)
	}
}
