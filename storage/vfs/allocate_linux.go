package vfs

import (
	"os"
	"syscall"
)

func (f osFile) Allocate(from, to int64) error {
	for {
		switch err := syscall.Fallocate(int(f.Fd()), 0, from, to-from); err {
		case syscall.EINTR:
		case syscall.EOPNOTSUPP, syscall.ENOSYS:
			return f.lengthen(to)
		case nil:
			return nil
		default:
			return &os.PathError{Op: "allocate", Path: f.Name(), Err: err}
		}
	}
}
