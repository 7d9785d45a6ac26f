package walkv

import (
	"os"
	"syscall"
)

// datasync makes written bytes durable, but not the times in the inode.
func datasync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return err
		}
	}
}
