package walkv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/zeebo/xxh3"

	"kvsqld/storage/kv"
)

// A log file begins with a header block: fileMagic, the epoch, and the xxh3 of
// both. Records begin behind the block.
const (
	fileMagic  = "kvsqldL1"
	headerSize = 4096
	growMin    = 1 << 20  // a log file grows by its own size, at least this much
	growMax    = 16 << 20 // and at most this much
)

var fileNames = [2]string{"kvsqld.log0", "kvsqld.log1"}

// file is what a log file needs of the operating system.
type file interface {
	io.WriterAt
	Sync() error
	Datasync() error // makes written bytes durable, but not the inode's times
	Truncate(size int64) error
	Close() error
}

type osFile struct{ *os.File }

// newFile makes an empty file; tests put one in its place that fails.
var newFile = func(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// logFile is one of the two files, open for appending.
type logFile struct {
	f      file
	end    int64 // of the last acknowledged record
	size   int64 // of the file; all of it has been written
	noSync bool
}

// createLog makes an empty log file. A file under the final name always has a
// whole header.
func createLog(dir, name string, epoch uint64, noSync bool) (l *logFile, err error) {
	path := filepath.Join(dir, name)
	f, err := newFile(path + ".new")
	if err != nil {
		return nil, err
	}
	l = &logFile{f: f, end: headerSize, noSync: noSync}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(path+".new"))
		}
	}()
	h := make([]byte, headerSize)
	copy(h, fileMagic)
	binary.LittleEndian.PutUint64(h[8:], epoch)
	binary.LittleEndian.PutUint64(h[16:], xxh3.Hash(h[:16]))
	if _, err := f.WriteAt(h, 0); err != nil {
		return nil, err
	}
	l.size = headerSize
	if err := l.grow(0); err != nil {
		return nil, err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return nil, err
	}
	return l, l.syncDir(dir)
}

func (l *logFile) syncDir(dir string) error {
	if l.noSync {
		return nil
	}
	return syncDir(dir)
}

// readLog returns the epoch and the bytes behind the header; fs.ErrNotExist if
// there is no such file.
func readLog(dir, name string) (epoch uint64, body []byte, err error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return 0, nil, err
	}
	if len(b) < headerSize || string(b[:8]) != fileMagic || binary.LittleEndian.Uint64(b[16:]) != xxh3.Hash(b[:16]) {
		return 0, nil, fmt.Errorf("%s: %w: the header is damaged", name, kv.ErrCorrupt)
	}
	return binary.LittleEndian.Uint64(b[8:]), b[headerSize:], nil
}

// removeLogs deletes the log files, also unfinished ones.
func removeLogs(dir string, noSync bool) error {
	removed := false
	for _, name := range fileNames {
		for _, n := range []string{name, name + ".new"} {
			err := os.Remove(filepath.Join(dir, n))
			if err == nil {
				removed = true
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if !removed || noSync {
		return nil
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// grow writes zeros behind the file's end until n more bytes have room. On
// error the file has its old size.
func (l *logFile) grow(n int64) error {
	step := min(max(l.size, growMin), growMax)
	to := l.size + step
	for to-l.end < n {
		to += step
	}
	zeros := make([]byte, growMin)
	var err error
	for at := l.size; at < to && err == nil; at += int64(len(zeros)) {
		_, err = l.f.WriteAt(zeros[:min(int64(len(zeros)), to-at)], at)
	}
	if err == nil && !l.noSync {
		err = l.f.Sync()
	}
	if err != nil {
		return errors.Join(err, l.f.Truncate(l.size))
	}
	l.size = to
	return nil
}

// errLost marks an error after which the state of the file is unknown.
var errLost = errors.New("the write-ahead log is unusable")

// append makes a record durable. On an error without errLost the log is as it
// was before.
func (l *logFile) append(rec []byte) error {
	if int64(len(rec)) > l.size-l.end {
		if err := l.grow(int64(len(rec))); err != nil {
			if full(err) {
				return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
			}
			return fmt.Errorf("%w: %w", errLost, err)
		}
	}
	if _, err := l.f.WriteAt(rec, l.end); err != nil {
		// What was written must not become a record, whatever lies behind it.
		if _, werr := l.f.WriteAt(make([]byte, recordHeader), l.end); werr != nil || !full(err) {
			return fmt.Errorf("%w: %w", errLost, errors.Join(err, werr))
		}
		return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
	}
	if !l.noSync {
		if err := l.f.Datasync(); err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
	}
	l.end += int64(len(rec))
	return nil
}

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
