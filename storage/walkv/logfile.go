package walkv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"kvsqld/storage/kv"
	"kvsqld/storage/vfs"
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

// IsLog reports whether a file in a data directory is a part of the log.
func IsLog(name string) bool { return name == fileNames[0] || name == fileNames[1] }

// LogFiles lists the log's files. The names are asked of the directory, so that nobody
// waits for a commit.
func (e *Engine) LogFiles() ([]kv.LogFile, error) {
	var out []kv.LogFile
	for _, n := range fileNames {
		fi, err := os.Stat(filepath.Join(e.dir, n))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, kv.LogFile{Name: n, Size: fi.Size(), Written: fi.ModTime()})
	}
	return out, nil
}

// logFile is one of the two files, open for appending.
type logFile struct {
	f      vfs.File
	end    int64 // of the last record
	size   int64 // of the file; all of it has been written
	noSync bool
}

// createLog makes an empty log file. A file under the final name always has a
// whole header.
func createLog(fs vfs.FS, dir, name string, epoch uint64, noSync bool) (l *logFile, err error) {
	path := filepath.Join(dir, name)
	f, err := fs.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	l = &logFile{f: f, end: headerSize, noSync: noSync}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), fs.Remove(path+".new"))
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
	if err := fs.Rename(path+".new", path); err != nil {
		return nil, err
	}
	if !noSync {
		if err := fs.SyncDir(dir); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// readLog returns the epoch and the bytes behind the header; fs.ErrNotExist if
// there is no such file.
func readLog(fs vfs.FS, dir, name string) (epoch uint64, body []byte, err error) {
	b, err := fs.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return 0, nil, err
	}
	if len(b) < headerSize || string(b[:8]) != fileMagic || binary.LittleEndian.Uint64(b[16:]) != xxh3.Hash(b[:16]) {
		return 0, nil, fmt.Errorf("%s: %w: the header is damaged", name, kv.ErrCorrupt)
	}
	return binary.LittleEndian.Uint64(b[8:]), b[headerSize:], nil
}

// removeLogs deletes the log files, also unfinished ones.
func removeLogs(fs vfs.FS, dir string, noSync bool) error {
	removed := false
	for _, name := range fileNames {
		for _, n := range []string{name, name + ".new"} {
			err := fs.Remove(filepath.Join(dir, n))
			if err == nil {
				removed = true
			} else if !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	if !removed || noSync {
		return nil
	}
	return fs.SyncDir(dir)
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

// append writes a record, which the next sync makes durable. On kv.ErrDiskFull
// the log is as it was before; on any other error it must not be used any more,
// and with errLost the record may be in it.
func (l *logFile) append(rec []byte) error {
	if int64(len(rec)) > l.size-l.end {
		if err := l.grow(int64(len(rec))); err != nil {
			if vfs.Full(err) {
				return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
			}
			return fmt.Errorf("%w: %w", kv.ErrIO, err)
		}
	}
	if _, err := l.f.WriteAt(rec, l.end); err != nil {
		// What was written must not become a record, whatever lies behind it.
		if _, werr := l.f.WriteAt(make([]byte, recordHeader), l.end); werr != nil || !vfs.Full(err) {
			return fmt.Errorf("%w: %w", errLost, errors.Join(err, werr))
		}
		return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
	}
	l.end += int64(len(rec))
	return nil
}

// sync makes all records durable. After an error the log must not be used any
// more. It may be called while a record is being appended.
func (l *logFile) sync() error {
	if err := l.f.Datasync(); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}
