//go:build unix

package boltkv

import "golang.org/x/sys/unix"

// canUnmap says that mappings can be kept and removed without bbolt.
const canUnmap = true

// unmap removes a mapping that bbolt has made.
func unmap(b []byte) error { return unix.Munmap(b) }
