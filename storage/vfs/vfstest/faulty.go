// Package vfstest has layers over the file system for tests: one that fails
// operations, and one that records writes and syncs so that a loss of power at
// any moment can be acted out. What comes in is a vfs.FS and a rule; what goes
// out is a vfs.FS that engines cannot tell from the operating system's.
package vfstest

import (
	"os"
	"path/filepath"

	"kvsqld/storage/vfs"
)

// Faulty fails operations. Fail is asked before each with one of "open",
// "read", "write", "sync", "datasync", "truncate", "allocate", "close", "rename",
// "remove" and "syncdir", and the base name of the file; an error is returned in place
// of the operation's. Half of a failing write is written.
type Faulty struct {
	vfs.FS
	Fail func(op, name string) error
}

func (f Faulty) fail(op, path string) error {
	if err := f.Fail(op, filepath.Base(path)); err != nil {
		return &os.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

func (f Faulty) OpenFile(path string, flag int) (vfs.File, error) {
	if err := f.fail("open", path); err != nil {
		return nil, err
	}
	file, err := f.FS.OpenFile(path, flag)
	if err != nil {
		return nil, err
	}
	return faultyFile{file, f, path}, nil
}

func (f Faulty) Adopt(path string, file *os.File) vfs.File {
	return faultyFile{f.FS.Adopt(path, file), f, path}
}

func (f Faulty) ReadFile(path string) ([]byte, error) {
	if err := f.fail("read", path); err != nil {
		return nil, err
	}
	return f.FS.ReadFile(path)
}

func (f Faulty) Rename(from, to string) error {
	if err := f.fail("rename", to); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

func (f Faulty) Remove(path string) error {
	if err := f.fail("remove", path); err != nil {
		return err
	}
	return f.FS.Remove(path)
}

func (f Faulty) SyncDir(dir string) error {
	if err := f.fail("syncdir", dir); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

type faultyFile struct {
	vfs.File
	fs   Faulty
	path string
}

func (f faultyFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.fs.fail("read", f.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f faultyFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.fs.fail("write", f.path); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], off)
		return n, err
	}
	return f.File.WriteAt(b, off)
}

func (f faultyFile) Sync() error {
	if err := f.fs.fail("sync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f faultyFile) Datasync() error {
	if err := f.fs.fail("datasync", f.path); err != nil {
		return err
	}
	return f.File.Datasync()
}

func (f faultyFile) Truncate(size int64) error {
	if err := f.fs.fail("truncate", f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f faultyFile) Allocate(from, to int64) error {
	if err := f.fs.fail("allocate", f.path); err != nil {
		return err
	}
	return f.File.Allocate(from, to)
}

func (f faultyFile) Close() error {
	if err := f.fs.fail("close", f.path); err != nil {
		f.File.Close()
		return err
	}
	return f.File.Close()
}
