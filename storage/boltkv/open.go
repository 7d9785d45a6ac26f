package boltkv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterr "go.etcd.io/bbolt/errors"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
	"kvsqld/storage/walkv"
)

// FileName is the name of the data file in the data directory.
const FileName = "kvsqld.db"

const (
	metaBucket    = "\x00kvsqld"
	magicKey      = "magic"
	magicValue    = "kvsqld data file"
	formatKey     = "format"
	logKey        = "log"
	formatVersion = 1
)

// Options of Open. The zero value is usable.
type Options struct {
	Txn txn.Options

	// MmapBytes is the address space kept for the file. Readers and writers
	// wait for each other when the file outgrows it. 0 = 16 GiB, or four times
	// the size of the file if that is more.
	MmapBytes int
	// LockWait is how long to wait for another process that holds the data
	// directory. 0 = 100 ms.
	LockWait time.Duration
	// MaxFileBytes bounds the size of the file; commits that need more fail
	// with kv.ErrDiskFull. 0 = no bound.
	MaxFileBytes int
	// NoSync leaves out all syncs: after a crash of the machine the file may
	// be unusable. For tests and for loads that can be repeated.
	NoSync bool
	// Log are the options of the write-ahead log; its NoSync is the one above.
	Log walkv.Options
}

// Open opens the store in a data directory, which is made if it is missing.
// kv.ErrInUse, kv.ErrFormat, kv.ErrCorrupt, or the operating system's error.
func Open(dir string, opt Options) (*txn.Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, FileName)
	size := int64(0)
	if fi, err := os.Stat(path); err == nil {
		size = fi.Size()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if size > 0 {
		if err := checkLength(path); err != nil {
			return nil, err
		}
	}
	mmap := opt.MmapBytes
	if mmap == 0 {
		mmap = max(16<<30, 4*int(size))
	}
	wait := opt.LockWait
	if wait == 0 {
		wait = 100 * time.Millisecond
	}
	db, err := openBolt(path, &bolt.Options{
		Timeout:         wait,
		FreelistType:    bolt.FreelistMapType,
		NoFreelistSync:  true,
		InitialMmapSize: mmap,
		MaxSize:         opt.MaxFileBytes,
		NoSync:          opt.NoSync,
	})
	if err != nil {
		return nil, openError(path, err)
	}
	if err := initFormat(db); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	if size == 0 {
		if err := syncDir(dir); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	log := opt.Log
	log.NoSync = opt.NoSync
	eng, err := walkv.Open(&engine{db: db, path: path, page: db.Info().PageSize}, dir, log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return txn.New(eng, opt.Txn), nil
}

// openBolt opens the file. bbolt panics when it searches a damaged file for
// free pages; such a file stays locked until the process ends.
func openBolt(path string, o *bolt.Options) (db *bolt.DB, err error) {
	defer corrupted(&err)
	return bolt.Open(path, 0o600, o)
}

func openError(path string, err error) error {
	switch {
	case errors.Is(err, bolterr.ErrTimeout):
		return fmt.Errorf("%s: %w", path, kv.ErrInUse)
	case errors.Is(err, bolterr.ErrInvalid), errors.Is(err, bolterr.ErrVersionMismatch):
		return fmt.Errorf("%s: %w (%v)", path, kv.ErrFormat, err)
	case errors.Is(err, bolterr.ErrChecksum):
		return fmt.Errorf("%s: %w (%v)", path, kv.ErrCorrupt, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// initFormat checks that the file is ours, or marks a file without any bucket
// (a new one, or one whose creation was interrupted) as ours.
func initFormat(db *bolt.DB) (err error) {
	defer corrupted(&err)
	fresh := false
	err = db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(metaBucket))
		if b == nil {
			if k, _ := tx.Cursor().First(); k != nil {
				return kv.ErrFormat
			}
			fresh = true
			return nil
		}
		v, err := strconv.Atoi(string(b.Get([]byte(formatKey))))
		if string(b.Get([]byte(magicKey))) != magicValue || err != nil {
			return kv.ErrFormat
		}
		if v > formatVersion {
			return fmt.Errorf("%w: format %d, this program knows up to %d", kv.ErrFormat, v, formatVersion)
		}
		return nil
	})
	if err != nil || !fresh {
		return err
	}
	return db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte(metaBucket))
		if err != nil {
			return err
		}
		if err := b.Put([]byte(magicKey), []byte(magicValue)); err != nil {
			return err
		}
		return b.Put([]byte(formatKey), strconv.AppendInt(nil, formatVersion, 10))
	})
}

// syncDir makes a new file's name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeError classifies an error of writing the file. bbolt wraps some causes
// as text only.
func writeError(err error) error {
	full := errors.Is(err, bolterr.ErrMaxSizeReached) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) ||
		strings.Contains(err.Error(), syscall.ENOSPC.Error()) || strings.Contains(err.Error(), bolterr.ErrMaxSizeReached.Error())
	if full {
		return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
	}
	return fmt.Errorf("%w: %w", kv.ErrUnavailable, err)
}
