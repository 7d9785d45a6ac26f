//go:build unix

package boltkv

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flock takes the lock of a file unless another has it.
func flock(f *os.File) (ok bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
