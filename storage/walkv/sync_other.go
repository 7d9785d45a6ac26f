//go:build !linux

package walkv

import "os"

func datasync(f *os.File) error { return f.Sync() }
