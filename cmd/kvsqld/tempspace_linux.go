package main

import (
	"os"
	"syscall"
)

// freeSpace returns the bytes that may still be written to a directory's file
// system ("" is the system's directory for temporary files); 0 when it is not known.
func freeSpace(dir string) int64 {
	if dir == "" {
		dir = os.TempDir()
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
