package boltkv

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterr "go.etcd.io/bbolt/errors"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
	"kvsqld/storage/walkv"
)

// FileName is the name of the data file in the data directory.
const FileName = "kvsqld.db"

// What the bucket metaBucket has, by key. Format 1 had neither id nor shift, format 2 no
// seals among the checksums; format 3 differed in values of type tid, which is for those
// who read values.
const (
	metaBucket    = "\x00kvsqld"
	magicKey      = "magic"
	magicValue    = "kvsqld data file"
	formatKey     = "format"
	logKey        = "log"
	idKey         = "id"    // 16 hexadecimal digits, part of the checksum file's name
	shiftKey      = "shift" // dataFile.shift, 8 bytes big endian
	formatVersion = 4
)

// Options of Open. The zero value is usable.
type Options struct {
	Txn txn.Options

	// MmapBytes is the address space kept for the file. When the file outgrows it,
	// it is mapped anew, and the old mapping stays until its readers have ended; on
	// Windows a writer waits for them then. 0 = 1 TiB, or four times the size of the
	// file if that is more; a part of what there is where the process may not have
	// as much, and 16 GiB on Windows.
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
	// Check says what is wrong with a pair that is written, as the Check of every scan
	// would. Scans then need not ask about each pair that passes it. nil = nobody knows.
	Check func(key, val []byte) error
	// Existing makes no directory and no data file: kv.ErrNoStore.
	Existing bool
	// Log are the options of the write-ahead log; its NoSync and FS are those
	// below.
	Log walkv.Options
	// FS has the files. nil = the operating system's.
	FS vfs.FS
}

// Open opens the store in a data directory, which is made if it is missing.
// kv.ErrInUse, kv.ErrFormat, kv.ErrCorrupt, kv.ErrNoStore, or the operating system's error.
func Open(dir string, opt Options) (st *txn.Store, err error) {
	if opt.FS == nil {
		opt.FS = vfs.OS
	}
	if opt.LockWait == 0 {
		opt.LockWait = 100 * time.Millisecond
	}
	path := filepath.Join(dir, FileName)
	if opt.Existing {
		if err := exists(path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir, opt.LockWait)
	if err != nil {
		return nil, err
	}
	f, err := openData(path, &opt)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), lock.Close())
	}
	e := &engine{opt: opt, dir: dir, path: path, lock: lock, compacting: make(chan struct{}, 1)}
	e.file.Store(f)
	log := opt.Log
	log.NoSync, log.FS = opt.NoSync, opt.FS
	eng, err := walkv.Open(e, dir, log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.close(), lock.Close())
	}
	return txn.New(eng, opt.Txn), nil
}

// openData opens or makes the data file of a locked directory.
func openData(path string, opt *Options) (*dataFile, error) {
	dir := filepath.Dir(path)
	if fi, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && fi.Size() == 0 {
		if err := makeData(path, opt); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is no regular file", kv.ErrFormat)
	}
	for _, s := range []string{newSuffix, deltaSuffix} { // of an interrupted compaction
		if err := opt.FS.Remove(path + s); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	// Files come and go while the store is open.
	if probe, err := opt.FS.OpenFile(path+deltaSuffix, os.O_RDWR|os.O_CREATE); err != nil {
		return nil, err
	} else if err := errors.Join(probe.Close(), opt.FS.Remove(path+deltaSuffix)); err != nil {
		return nil, err
	}
	h, err := inspect(path, opt)
	if err == nil && h.format == 0 { // without any bucket: its creation was interrupted
		if err = makeData(path, opt); err == nil {
			h, err = inspect(path, opt)
		}
	}
	if err != nil {
		return nil, err
	}
	if h.damage != nil {
		if err := listNothing(path, opt, h.sums, h.meta); err != nil {
			return nil, errors.Join(err, h.close())
		}
		h.listed = true
	}
	f, err := openFile(path, opt, h.sums)
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	f.shift, f.listed = h.shift, h.listed
	if h.damage != nil {
		f.damage = h.damage.Error()
	}
	switch h.format {
	case 1:
		if h.id, err = f.upgrade(dir, opt); err != nil {
			return nil, errors.Join(fmt.Errorf("upgrade from format 1: %w", err), f.close())
		}
	case 2, 3:
		if err := f.writeFormat(); err != nil {
			return nil, errors.Join(fmt.Errorf("upgrade from format %d: %w", h.format, err), f.close())
		}
	}
	if err := removeOtherSums(opt.FS, dir, h.id); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// head is what has to be known of a file before it is opened for writing.
type head struct {
	format int // 0: there is no bucket at all
	id     string
	shift  uint64
	listed bool  // the list of free pages is in the file
	sums   *sums // from format 2 on
	meta   meta
	damage error // of pages that bbolt would rely on
}

func (h *head) close() error {
	if h.sums == nil {
		return nil
	}
	return h.sums.f.Close()
}

// inspect looks whether the file is ours, and verifies what bbolt will rely on
// when it opens it for writing: the list of free pages, or, where that has to be
// searched for, all pages. Damage of that kind is in the head; an error is more.
func inspect(path string, opt *Options) (_ *head, err error) {
	m, ok, err := readMeta(path)
	if err != nil {
		return nil, err
	}
	h := &head{listed: ok && m.free != noFreeList, meta: m}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	defer corrupted(&err)
	db, _, err := mapFile(path, bolt.Options{ReadOnly: true, Timeout: opt.LockWait})
	if err != nil {
		return nil, openError(err)
	}
	defer db.Close()
	return h, db.View(func(tx *bolt.Tx) error {
		p := newPager(db, tx)
		b, ok := p.top().sub([]byte(metaBucket))
		if !ok {
			if c := (cursor{b: p.top()}); c.first() {
				return kv.ErrFormat
			}
			return nil
		}
		if h.format, err = strconv.Atoi(string(b.get([]byte(formatKey)))); err != nil || string(b.get([]byte(magicKey))) != magicValue {
			return kv.ErrFormat
		}
		if h.format > formatVersion {
			return fmt.Errorf("%w: it has format %d, this program knows up to %d", kv.ErrFormat, h.format, formatVersion)
		}
		if h.format == 1 {
			return nil
		}
		h.id = string(b.get([]byte(idKey)))
		if s := b.get([]byte(shiftKey)); len(s) == 8 {
			h.shift = bigEndian(s)
		}
		if h.sums, err = openSums(filepath.Dir(path), h.id, p.page, opt); err != nil {
			return err
		}
		if err := h.sums.belongs(m.txn); err != nil {
			return err
		}
		p.sums = h.sums
		_, _ = p.top().sub([]byte(metaBucket)) // what was read above
		if h.listed {
			func() {
				defer corrupted(&h.damage)
				p.verify(m.free)
			}()
			if h.damage != nil {
				p.top().walkFiles()
			}
			return nil
		}
		h.damage = p.search()
		return nil
	})
}

// The address space kept for a file where the options do not say: as a rule, on a
// system where that much is disk space, and the least where the process may not
// have more (ulimit -v).
const (
	mmapBytes   = 1 << 40
	mmapWindows = 16 << 30
	mmapLeast   = 64 << 20
)

// openFile opens a data file for writing. sums is nil for one that has none yet.
func openFile(path string, opt *Options, s *sums) (*dataFile, error) {
	size := int64(0)
	if fi, err := os.Stat(path); err == nil {
		size = fi.Size()
	}
	bo := bolt.Options{
		Timeout:         opt.LockWait,
		FreelistType:    bolt.FreelistMapType,
		NoFreelistSync:  true,
		InitialMmapSize: opt.MmapBytes,
		MaxSize:         opt.MaxFileBytes,
	}
	if opt.MmapBytes == 0 {
		window := int64(mmapBytes)
		if runtime.GOOS == "windows" { // there a file is made as long as its mapping
			window = mmapWindows
		}
		bo.InitialMmapSize = int(min(max(window, 4*size), math.MaxInt/2)) // 1 GB of 32 bits' addresses
	}
	db, osf, err := mapFile(path, bo)
	least := int(min(max(mmapLeast, 2*size), math.MaxInt/2))
	for opt.MmapBytes == 0 && errors.Is(err, syscall.ENOMEM) && bo.InitialMmapSize > least {
		bo.InitialMmapSize = max(bo.InitialMmapSize/4, least)
		if db, osf, err = mapFile(path, bo); err == nil { // the memory needs what is left
			if err = db.Close(); err == nil {
				bo.InitialMmapSize = max(bo.InitialMmapSize/4, least)
				db, osf, err = mapFile(path, bo)
			}
			break
		}
	}
	if err != nil {
		return nil, openError(err)
	}
	fi, err := osf.Stat()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &dataFile{db: db, w: &pageWriter{
		f: opt.FS.Adopt(path, osf), sums: s, page: int64(db.Info().PageSize), size: fi.Size(), noSync: opt.NoSync,
	}}
	f.users.Store(1)
	if err := intercept(db, f.w); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if f.maps, err = ownMappings(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := bulkFits(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

// upgrade gives a file without checksums some and makes it one of the newest
// format, in one commit. A crash before it leaves the file as it was, and a
// checksum file that nothing belongs to.
func (f *dataFile) upgrade(dir string, opt *Options) (id string, err error) {
	id = fmt.Sprintf("%016x", rand.Uint64())
	s, err := createSums(dir, id, int(f.w.page), opt)
	if err != nil {
		return "", err
	}
	m, _, err := readMeta(f.db.Path())
	if err == nil {
		err = f.db.View(func(tx *bolt.Tx) (err error) {
			defer corrupted(&err)
			p := newPager(f.db, tx)
			p.top().walk(func(id uint64) { s.set(id, p.run(id)) })
			if m.free != noFreeList {
				s.set(m.free, p.run(m.free))
			}
			return nil
		})
	}
	if err != nil {
		return "", errors.Join(err, s.f.Close(), opt.FS.Remove(s.path))
	}
	f.w.sums, f.w.txn = s, m.txn
	if !opt.NoSync {
		if err := opt.FS.SyncDir(dir); err != nil {
			return "", err
		}
	}
	f.db.NoFreelistSync, f.listed = false, true
	return id, f.db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(metaBucket))
		if err != nil {
			return err
		}
		return errors.Join(b.Put([]byte(magicKey), []byte(magicValue)), b.Put([]byte(idKey), []byte(id)),
			b.Put([]byte(formatKey), strconv.AppendInt(nil, formatVersion, 10)))
	})
}

// writeFormat makes a file of format 2 or 3 one of the newest format, before any page gets
// a seal, in one commit. Its checksums are still right.
func (f *dataFile) writeFormat() error {
	f.db.NoFreelistSync, f.listed = false, true
	return f.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(metaBucket)).Put([]byte(formatKey), strconv.AppendInt(nil, formatVersion, 10))
	})
}

// close closes the file, which waits for its snapshots.
func (f *dataFile) close() error {
	err := f.db.Close()
	if f.maps != nil {
		f.maps.drop(f.maps.now)
	}
	if f.w.sums != nil {
		err = errors.Join(err, f.w.sums.f.Close())
	}
	return err
}

func openError(err error) error {
	switch {
	case errors.Is(err, bolterr.ErrTimeout):
		return kv.ErrInUse
	case errors.Is(err, bolterr.ErrInvalid), errors.Is(err, bolterr.ErrVersionMismatch):
		return fmt.Errorf("%w (%v)", kv.ErrFormat, err)
	case errors.Is(err, bolterr.ErrChecksum):
		return fmt.Errorf("%w (%v)", kv.ErrCorrupt, err)
	}
	return err
}
