package boltkv

import (
	"bytes"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// snapshot is one bbolt read transaction, used by several goroutines: reading
// changes nothing in it. Buckets are looked up once.
type snapshot struct {
	tx      *bolt.Tx
	mu      sync.Mutex // adding to files
	files   atomic.Pointer[map[uint64]*file]
	release sync.Once
}

// file is the bucket of a space, with a cursor for the next point read.
type file struct {
	b   *bolt.Bucket // nil: there is no such bucket
	cur atomic.Pointer[bolt.Cursor]
}

func (e *engine) Snapshot() (txn.EngineSnapshot, error) {
	tx, err := e.db.Begin(false)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", kv.ErrUnavailable, err)
	}
	s := &snapshot{tx: tx}
	s.files.Store(new(map[uint64]*file))
	return s, nil
}

func (s *snapshot) Seq() uint64 { return uint64(s.tx.ID()) }

// Release ends the read transaction, of which an error only says that it has
// ended.
func (s *snapshot) Release() { s.release.Do(func() { _ = s.tx.Rollback() }) }

// corrupted turns a panic of bbolt, which is how it reports pages that are not
// what they should be, into an error. Use it in a defer.
func corrupted(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", kv.ErrCorrupt, p)
	}
}

func (s *snapshot) file(sp kv.Space) *file {
	if f := (*s.files.Load())[sp.ID]; f != nil {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.files.Load()
	if f := old[sp.ID]; f != nil {
		return f
	}
	f := new(file)
	if db := s.tx.Bucket([]byte(sp.DB)); db != nil {
		f.b = db.Bucket([]byte(sp.File))
	}
	files := maps.Clone(old)
	if files == nil {
		files = make(map[uint64]*file)
	}
	files[sp.ID] = f
	s.files.Store(&files)
	return f
}

// cursor takes the file's spare cursor or makes one; give it back with
// f.cur.Store.
func (f *file) cursor() *bolt.Cursor {
	if c := f.cur.Swap(nil); c != nil {
		return c
	}
	return f.b.Cursor()
}

func (s *snapshot) HasSpace(sp kv.Space) (has bool, err error) {
	defer corrupted(&err)
	return s.file(sp).b != nil, nil
}

func (s *snapshot) Get(sp kv.Space, key []byte) (val []byte, err error) {
	defer corrupted(&err)
	f := s.file(sp)
	if f.b == nil {
		return nil, nil
	}
	c := f.cursor()
	k, v := c.Seek(key)
	f.cur.Store(c)
	if !bytes.Equal(k, key) {
		return nil, nil
	}
	return v, nil
}

// BatchGet reads sorted keys that lie close together by walking on instead of
// searching from the root.
func (s *snapshot) BatchGet(sp kv.Space, keys, out [][]byte) (err error) {
	defer corrupted(&err)
	f := s.file(sp)
	if f.b == nil {
		clear(out)
		return nil
	}
	c := f.cursor()
	defer f.cur.Store(c)
	var at, val []byte // where the cursor stands
	for i, key := range keys {
		if at != nil {
			d := bytes.Compare(at, key)
			for n := 0; d < 0 && n < walkMax; n++ {
				if at, val = c.Next(); at == nil {
					break
				}
				d = bytes.Compare(at, key)
			}
			if at != nil && d == 0 {
				out[i] = val
				continue
			}
		}
		if at, val = c.Seek(key); bytes.Equal(at, key) {
			out[i] = val
		} else {
			out[i] = nil
		}
	}
	return nil
}

// walkMax is how far BatchGet walks before it searches again: about as long as
// a search takes.
const walkMax = 8

func (s *snapshot) Scan(sp kv.Space, r kv.Range, o kv.ScanOpt) txn.Chunks {
	return &chunks{s: s, sp: sp, r: r, keysOnly: o.KeysOnly, reverse: o.Reverse}
}

// chunks walks over one bucket.
type chunks struct {
	s                 *snapshot
	sp                kv.Space
	r                 kv.Range
	keysOnly, reverse bool

	c       *bolt.Cursor // nil before the first Fill
	key     []byte       // the next pair; nil at the end
	val     []byte
	started bool
}

func (c *chunks) start() {
	c.started = true
	f := c.s.file(c.sp)
	if f.b == nil {
		return
	}
	c.c = f.cursor()
	switch {
	case !c.reverse && c.r.Lo == nil:
		c.key, c.val = c.c.First()
	case !c.reverse:
		c.key, c.val = c.c.Seek(c.r.Lo)
	case c.r.Hi == nil:
		c.key, c.val = c.c.Last()
	default:
		if k, _ := c.c.Seek(c.r.Hi); k == nil {
			c.key, c.val = c.c.Last()
		} else {
			c.key, c.val = c.c.Prev()
		}
	}
}

func (c *chunks) Fill(dst []kv.Pair) (n int, err error) {
	defer corrupted(&err)
	first := !c.started
	if first {
		c.start()
	}
	if c.reverse {
		n = c.fillReverse(dst)
	} else {
		n = c.fillForward(dst, first)
	}
	if c.keysOnly {
		for i := range dst[:n] {
			dst[i].Val = nil
		}
	}
	return n, nil
}

// fillForward compares each key of a short scan with the end of the range, but
// only the last one of the later chunks of a long scan.
func (c *chunks) fillForward(dst []kv.Pair, first bool) (n int) {
	k, v, cur, hi := c.key, c.val, c.c, c.r.Hi
	if hi != nil && first {
		for k != nil && n < len(dst) {
			if bytes.Compare(k, hi) >= 0 {
				k = nil
				break
			}
			dst[n] = kv.Pair{Key: k, Val: v}
			n++
			k, v = cur.Next()
		}
	} else {
		for k != nil && n < len(dst) {
			dst[n] = kv.Pair{Key: k, Val: v}
			n++
			k, v = cur.Next()
		}
		if hi != nil && n > 0 && bytes.Compare(dst[n-1].Key, hi) >= 0 {
			k = nil
			for n > 0 && bytes.Compare(dst[n-1].Key, hi) >= 0 {
				n--
			}
		}
	}
	c.key, c.val = k, v
	return n
}

func (c *chunks) fillReverse(dst []kv.Pair) (n int) {
	k, v, lo := c.key, c.val, c.r.Lo
	for k != nil && n < len(dst) {
		if lo != nil && bytes.Compare(k, lo) < 0 {
			k = nil
			break
		}
		dst[n] = kv.Pair{Key: k, Val: v}
		n++
		k, v = c.c.Prev()
	}
	c.key, c.val = k, v
	return n
}

// Close gives the cursor back for the next read.
func (c *chunks) Close() {
	if c.c != nil {
		c.s.file(c.sp).cur.Store(c.c)
		c.c = nil
	}
	c.started, c.key = true, nil
}
