package boltkv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"kvsqld/storage/kv"
	"kvsqld/storage/vfs"
)

// bbolt's pages have no checksums: a flipped bit in a branch page or in a key
// would lead a read to the wrong place, where it finds nothing and says so. The
// checksum file has one for each run of pages (a page with its overflow).
//
// It begins with a header block: sumMagic, the data file's id, the page size,
// and the xxh3 of those. Behind it are 8 bytes for each page of the data file,
// used where a run begins: the xxh3 of the run, seeded with the page's number (see
// seal.go for leaves whose pairs were verified), and never zero. A commit writes only
// pages that no earlier state has, and makes their checksums durable before it makes
// itself valid. So at any moment the file is right for every state that can be found
// after a crash.
//
// The header block also has, in two places that are written in turn, a stamp: which
// state the checksums were made durable for, and whether the store was closed with
// it. A data file that is older is a copy that somebody put back, or its newest
// state is damaged: its pages may all have the right checksums, and yet commits are
// missing.
const (
	sumMagic     = "kvsqldS1"
	sumHeader    = 4096
	sumLen       = 8
	chunkPages   = 8192
	chunkBytes   = chunkPages * sumLen
	sumPrefix    = "kvsqld."
	sumSuffix    = ".sum"
	maxPageCount = 1 << 40 // a page number above it can only be damaged
)

// sums are the checksums of one data file. Chunks are read when they are first
// needed. Verified pages are remembered until they are written again, and so are
// leaves whose pairs have passed the check of a scan, or did as they were written:
// within kv.CheckAgain of a scan they are not looked at again, and later by the page's
// checksum, which costs less than one for each pair.
type sums struct {
	f      vfs.File
	path   string
	noSync bool
	check  func(key, val []byte) error // Options.Check
	chunks atomic.Pointer[[]*chunk]

	since atomic.Int64 // when the leaves that passed a check were forgotten last, by checkClock
	mu    sync.Mutex   // adding to chunks
	dirty []int        // chunks with sums that are not in the file; the committer's
	last  stamp        // the newest one in the file; the committer's
}

type chunk struct {
	sum      [chunkPages]atomic.Uint64
	verified [chunkPages / 32]atomic.Uint32
	sealed   [chunkPages / 32]atomic.Uint32 // the sum is known to be a seal
	sound    [chunkPages / 32]atomic.Uint32 // all pairs have passed a check, as the page was written or since
	passed   [chunkPages / 32]atomic.Uint32 // of the sound ones: within kv.CheckAgain
	lo, hi   int                            // sums to be written, lo < hi; the committer's
}

func sumPath(dir, id string) string { return filepath.Join(dir, sumPrefix+id+sumSuffix) }

// createSums makes the empty checksum file of a data file.
func createSums(dir, id string, page int, opt *Options) (*sums, error) {
	path := sumPath(dir, id)
	f, err := opt.FS.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(sumHead(id, page), 0); err != nil {
		return nil, errors.Join(err, f.Close(), opt.FS.Remove(path))
	}
	return newSums(f, path, opt), nil
}

func newSums(f vfs.File, path string, opt *Options) *sums {
	s := &sums{f: f, path: path, noSync: opt.NoSync, check: opt.Check}
	s.chunks.Store(new([]*chunk))
	return s
}

func sumHead(id string, page int) []byte {
	h := make([]byte, sumHeader)
	n := copy(h, sumMagic)
	n += copy(h[n:], id)
	binary.LittleEndian.PutUint32(h[n:], uint32(page))
	binary.LittleEndian.PutUint64(h[n+4:], xxh3.Hash(h[:n+4]))
	return h
}

// openSums opens the checksum file of a data file.
func openSums(dir, id string, page int, opt *Options) (*sums, error) {
	path := sumPath(dir, id)
	f, err := opt.FS.OpenFile(path, os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: the checksum file %s is missing", kv.ErrCorrupt, filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	h := make([]byte, sumHeader)
	if _, err := f.ReadAt(h, 0); err != nil || string(h[:stampAt]) != string(sumHead(id, page)[:stampAt]) {
		return nil, errors.Join(fmt.Errorf("%w: the header of %s is damaged", kv.ErrCorrupt, filepath.Base(path)), f.Close())
	}
	s := newSums(f, path, opt)
	s.last = lastStamp(h)
	return s, nil
}

// removeOtherSums deletes the checksum files of other data files, which an
// interrupted compaction or upgrade leaves.
func removeOtherSums(fs vfs.FS, dir, id string) error {
	es, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range es {
		if n := e.Name(); strings.HasPrefix(n, sumPrefix) && strings.HasSuffix(n, sumSuffix) && n != filepath.Base(sumPath(dir, id)) {
			err = errors.Join(err, fs.Remove(filepath.Join(dir, n)))
		}
	}
	return err
}

// chunk returns the chunk of a page, which it reads from the file at first.
func (s *sums) chunk(id uint64) *chunk {
	n := int(id / chunkPages)
	if cs := *s.chunks.Load(); n < len(cs) && cs[n] != nil {
		return cs[n]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.chunks.Load()
	if n < len(old) && old[n] != nil {
		return old[n]
	}
	c := new(chunk)
	buf := make([]byte, chunkBytes)
	got, _ := s.f.ReadAt(buf, sumHeader+int64(n)*chunkBytes) // what cannot be read is no page's checksum
	for i := 0; (i+1)*sumLen <= got; i++ {
		c.sum[i].Store(binary.LittleEndian.Uint64(buf[i*sumLen:]))
	}
	next := make([]*chunk, max(len(old), n+1))
	copy(next, old)
	next[n] = c
	s.chunks.Store(&next)
	return c
}

// sum is the checksum of the run of pages that begins with page id.
func sum(id uint64, run []byte) uint64 { return max(xxh3.HashSeed(run, id), 1) }

// set records the checksum of a run that is being written.
func (s *sums) set(id uint64, run []byte) {
	c, i := s.chunk(id), int(id%chunkPages)
	c.verified[i/32].And(^(uint32(1) << (i % 32)))
	c.sealed[i/32].And(^(uint32(1) << (i % 32)))
	c.sound[i/32].And(^(uint32(1) << (i % 32)))
	c.passed[i/32].And(^(uint32(1) << (i % 32)))
	if s.allPass(run) {
		c.sum[i].Store(seal(id, run))
		c.sealed[i/32].Or(1 << (i % 32))
		c.sound[i/32].Or(1 << (i % 32))
	} else {
		c.sum[i].Store(sum(id, run))
	}
	if c.hi == 0 {
		c.lo, c.hi = i, i+1
		s.dirty = append(s.dirty, int(id/chunkPages))
	}
	c.lo, c.hi = min(c.lo, i), max(c.hi, i+1)
}

// flush makes the recorded checksums durable, for the state of a transaction.
func (s *sums) flush(txn uint64) error {
	cs := *s.chunks.Load()
	for _, n := range s.dirty {
		c := cs[n]
		buf := make([]byte, 0, (c.hi-c.lo)*sumLen)
		for i := c.lo; i < c.hi; i++ {
			buf = binary.LittleEndian.AppendUint64(buf, c.sum[i].Load())
		}
		if _, err := s.f.WriteAt(buf, sumHeader+int64(n)*chunkBytes+int64(c.lo)*sumLen); err != nil {
			return err
		}
	}
	if err := s.write(stamp{txn: txn}); err != nil {
		return err
	}
	for _, n := range s.dirty {
		cs[n].lo, cs[n].hi = 0, 0
	}
	s.dirty = s.dirty[:0]
	return nil
}

// allocate makes room for the checksums of pages.
func (s *sums) allocate(from, to int64) error {
	return s.f.Allocate(sumHeader+from*sumLen, sumHeader+to*sumLen)
}

// forget drops what a transaction has recorded that is not to be: its pages are free.
func (s *sums) forget() {
	cs := *s.chunks.Load()
	for _, n := range s.dirty {
		cs[n].lo, cs[n].hi = 0, 0
	}
	s.dirty = s.dirty[:0]
}

// seen reports whether the page's checksum was found right before.
func (s *sums) seen(id uint64) bool {
	i := id % chunkPages
	return s.chunk(id).verified[i/32].Load()&(1<<(i%32)) != 0
}

// verify compares a run with its checksum. A leaf with a seal passes the check of a scan
// by that.
func (s *sums) verify(id uint64, run []byte) bool {
	c, i := s.chunk(id), id%chunkPages
	switch want := c.sum[i].Load(); {
	case isLeaf(run) && want == seal(id, run):
		c.sealed[i/32].Or(1 << (i % 32))
		s.pass(id)
	case want != sum(id, run):
		return false
	}
	c.verified[i/32].Or(1 << (i % 32))
	return true
}

// checkClock is the time since the program's start.
var checkClock = func() time.Duration { return time.Since(started) }

var started = time.Now()

// beginCheck comes before the questions of a scan about leaves that passed a check: it
// forgets them when they are old.
func (s *sums) beginCheck() {
	now, last := int64(checkClock()), s.since.Load()
	if now-last < int64(kv.CheckAgain) || !s.since.CompareAndSwap(last, now) {
		return
	}
	for _, c := range *s.chunks.Load() {
		for i := 0; c != nil && i < len(c.passed); i++ {
			if c.passed[i].Load() != 0 {
				c.passed[i].Store(0)
			}
		}
	}
}

// pass notes that all pairs of a leaf have passed the check of a scan, and passed
// reports whether they have lately.
func (s *sums) pass(id uint64) {
	c, i := s.chunk(id), id%chunkPages
	c.sound[i/32].Or(1 << (i % 32))
	c.passed[i/32].Or(1 << (i % 32))
}

func (s *sums) passed(id uint64) bool {
	i := id % chunkPages
	return s.chunk(id).passed[i/32].Load()&(1<<(i%32)) != 0
}

// sounds reports whether all pairs of a leaf have passed the check at some time.
func (s *sums) sounds(id uint64) bool {
	i := id % chunkPages
	return s.chunk(id).sound[i/32].Load()&(1<<(i%32)) != 0
}

// same reports whether a leaf that is sound is still what was written, by the checksum
// of its page. Then it passes.
func (s *sums) same(id uint64, run []byte) bool {
	c, i := s.chunk(id), id%chunkPages
	of := sum
	if c.sealed[i/32].Load()&(1<<(i%32)) != 0 {
		of = seal
	}
	if c.sum[i].Load() != of(id, run) {
		return false
	}
	s.pass(id)
	return true
}
