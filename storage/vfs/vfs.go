// Package vfs is what the storage engines need of the operating system's
// files. What comes in are paths and bytes; what goes out is whatever the
// operating system says. Every write, allocation, sync, rename, truncation and
// removal of the engines passes here, so that tests can put a layer in between
// that fails them or loses what was not synced (storage/vfs/vfstest).
package vfs

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Sync makes everything about the file durable, Datasync what was written
	// and the size, but not the inode's times.
	Sync() error
	Datasync() error
	Truncate(size int64) error
	// Allocate makes the file to bytes long, with room on the disk for what lies
	// behind from, so that writing there does not find the disk full. A file that is
	// longer stays so. Where the file system has no such operation it does without
	// the room. On error the file may have grown.
	Allocate(from, to int64) error
	Close() error
}

// FS opens and names files.
type FS interface {
	// OpenFile is os.OpenFile; new files are for their owner only.
	OpenFile(path string, flag int) (File, error)
	// Adopt returns the layer's view of a file that a library has opened and
	// will close, with only its writes and syncs left to the engine.
	Adopt(path string, f *os.File) File
	ReadFile(path string) ([]byte, error)
	Rename(from, to string) error
	Remove(path string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
}

// OS is the operating system itself.
var OS FS = osFS{}

type osFS struct{}

type osFile struct{ *os.File }

func (osFS) OpenFile(path string, flag int) (File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Adopt(_ string, f *os.File) File      { return osFile{f} }
func (osFS) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }
func (osFS) Rename(from, to string) error         { return os.Rename(from, to) }
func (osFS) Remove(path string) error             { return os.Remove(path) }
func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Full reports whether an error says that there is no room for more bytes.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
