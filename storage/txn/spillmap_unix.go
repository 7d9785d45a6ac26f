//go:build unix

package txn

import (
	"os"

	"golang.org/x/sys/unix"
)

// canSpill says that files can be mapped.
const canSpill = true

func mapFile(f *os.File, size int64) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return b, nil
}

// unmapFile gives the address space back. Should that fail, it is lost and nothing else.
func unmapFile(b []byte) { _ = unix.Munmap(b) }
