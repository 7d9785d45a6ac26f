package boltkv

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kvsqld/storage/vfs"
	"kvsqld/storage/vfs/vfstest"
)

// TestBulkWriter: buffers go to their places in turn, the first error is told at the end,
// and nothing is written after it.
func TestBulkWriter(t *testing.T) {
	for _, fails := range []int{0, 3} { // which write; 0: none
		path := filepath.Join(t.TempDir(), "f")
		writes := 0
		f, err := vfstest.Faulty{FS: vfs.OS, Fail: func(op, _ string) error {
			if op == "write" {
				if writes++; writes == fails {
					return syscall.EIO
				}
			}
			return nil
		}}.OpenFile(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		k := newBulkWriter(&pageWriter{f: f, page: 4, noSync: true})
		var buf []byte
		for i := range byte(8) {
			buf = k.write(laidOut{append(buf, i, i, i, i, 'a', 'b', 'c', 'd'), []part{{0, int64(i) * 4}, {4, 100}}})
			if len(buf) != 0 {
				t.Fatalf("the buffer to be used next has %q", buf)
			}
		}
		err = k.stop()
		if again := k.stop(); again != err {
			t.Errorf("the second stop returns %v, the first one %v", again, err)
		}
		if fails > 0 {
			if !errors.Is(err, syscall.EIO) || writes != fails {
				t.Errorf("after a failure of write %d there were %d writes and %v", fails, writes, err)
			}
			continue
		}
		got := make([]byte, 104)
		if _, rerr := f.ReadAt(got, 0); err != nil || rerr != nil {
			t.Fatal(err, rerr)
		}
		for i := range byte(8) {
			if got[4*i] != i || got[4*i+3] != i {
				t.Errorf("page %d has %v", i, got[4*i:4*i+4])
			}
		}
		if string(got[100:]) != "abcd" {
			t.Errorf("the last page has %q", got[100:])
		}
	}
	if err := newBulkWriter(&pageWriter{}).stop(); err != nil {
		t.Error(err)
	}
}
