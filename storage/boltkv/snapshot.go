package boltkv

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// snapshot is one state of the data file, used by several goroutines: reading
// changes nothing in it. Buckets are looked up once.
type snapshot struct {
	e     *engine
	v     *view
	seq   uint64
	p     *pager
	mu    sync.Mutex // adding to files
	files atomic.Pointer[map[uint64]*file]
	users int // guarded by engine.newest.mu
}

// file is the bucket of a space, with a cursor for the next point read.
type file struct {
	has bool // false: there is no such bucket
	b   bucket
	cur atomic.Pointer[cursor]
}

// openSnapshot opens the newest state for one user.
func (e *engine) openSnapshot() (*snapshot, error) {
	f := e.use()
	v, err := f.view()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", kv.ErrUnavailable, err), f.release())
	}
	s := &snapshot{e: e, v: v, seq: f.seq(v.tx), p: v.p, users: 1}
	s.files.Store(new(map[uint64]*file))
	return s, nil
}

func (s *snapshot) Seq() uint64 { return s.seq }

// end ends the reading. An error of closing a replaced file concerns nobody.
func (s *snapshot) end() {
	s.v.end()
	_ = s.v.f.release()
}

// corrupted turns a panic into an error: a pager's, or bbolt's, which reports
// pages that are not what they should be in this way. Use it in a defer.
func corrupted(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", kv.ErrCorrupt, p)
	}
}

// corruptedIn is corrupted with the name of the file that was read.
func corruptedIn(sp kv.Space, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: file %s/%s: %v", kv.ErrCorrupt, sp.DB, sp.File, p)
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
	if db, ok := s.p.top().sub([]byte(sp.DB)); ok {
		f.b, f.has = db.sub([]byte(sp.File))
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
func (f *file) cursor() *cursor {
	if c := f.cur.Swap(nil); c != nil {
		return c
	}
	return &cursor{b: f.b}
}

func (s *snapshot) Spaces() (out []kv.Space, err error) {
	defer corrupted(&err)
	dbs := cursor{b: s.p.top()}
	for ok := dbs.first(); ok; ok = dbs.next() {
		db := dbs.pair()
		if string(db.Key) == metaBucket {
			continue
		}
		files := cursor{b: s.p.open(db.Val)}
		for ok := files.first(); ok; ok = files.next() {
			out = append(out, kv.Space{ID: txn.InventedID + uint64(len(out)), DB: string(db.Key), File: string(files.pair().Key)})
		}
	}
	return out, nil
}

func (s *snapshot) HasSpace(sp kv.Space) (has bool, err error) {
	defer corruptedIn(sp, &err)
	return s.file(sp).has, nil
}

func (s *snapshot) Get(sp kv.Space, key []byte) (val []byte, err error) {
	defer corruptedIn(sp, &err)
	f := s.file(sp)
	if !f.has {
		return nil, nil
	}
	return f.b.get(key), nil
}

// BatchGet reads sorted keys that lie close together by walking on instead of
// searching from the root.
func (s *snapshot) BatchGet(sp kv.Space, keys, out [][]byte) (err error) {
	defer corruptedIn(sp, &err)
	f := s.file(sp)
	if !f.has {
		clear(out)
		return nil
	}
	c := f.cursor()
	defer f.cur.Store(c)
	on := false // the cursor stands on an element
	for i, key := range keys {
		out[i] = nil
		if on {
			nd, at := c.at()
			d := bytes.Compare(nd.leafKey(at), key)
			for n := 0; on && d < 0 && n < walkMax; n++ {
				if on = c.next(); on {
					nd, at = c.at()
					d = bytes.Compare(nd.leafKey(at), key)
				}
			}
			if on && d == 0 {
				out[i] = nd.pair(at).Val
				continue
			}
		}
		if on = c.seek(key); on {
			nd, at := c.at()
			if bytes.Equal(nd.leafKey(at), key) {
				out[i] = nd.pair(at).Val
			}
		}
	}
	return nil
}

// walkMax is how far BatchGet walks before it searches again: about as long as
// a search takes.
const walkMax = 8

func (s *snapshot) Scan(sp kv.Space, r kv.Range, o kv.ScanOpt, spent txn.Chunks) txn.Chunks {
	c, ok := spent.(*chunks)
	if !ok {
		c = new(chunks)
	}
	var f *file
	if c.s == s && c.sp.ID == sp.ID {
		f = c.f
	}
	*c = chunks{s: s, sp: sp, f: f, r: r, opt: o}
	c.opt.Then = nil
	return c
}

// ScanRanges implements txn.RangesSnapshot.
func (s *snapshot) ScanRanges(sp kv.Space, r kv.Range, o kv.ScanOpt, spent txn.Chunks) txn.Chunks {
	c := s.Scan(sp, r, o, spent).(*chunks)
	c.opt.Then = o.Then
	return c
}

// chunks walks over one bucket.
type chunks struct {
	s   *snapshot
	sp  kv.Space
	f   *file // nil: not looked up
	r   kv.Range
	opt kv.ScanOpt // Then: what is left of it

	c       *cursor // nil before the first Fill
	started bool
	more    bool // the cursor stands on the next pair
	checked int  // pairs of the leaf, from its first one on, that have passed the check
}

func (c *chunks) start() {
	c.started = true
	if c.f == nil {
		c.f = c.s.file(c.sp)
	}
	if !c.f.has {
		return
	}
	c.c = c.f.cursor()
	if c.opt.Check != nil && c.s.p.sums != nil {
		c.s.p.sums.beginCheck()
	}
	switch {
	case !c.opt.Reverse && c.r.Lo == nil:
		c.more = c.c.first()
	case !c.opt.Reverse:
		c.more = c.c.seek(c.r.Lo)
	case c.r.Hi != nil && c.c.seek(c.r.Hi):
		c.more = c.c.prev()
	default:
		c.more = c.c.last()
	}
}

func (c *chunks) Fill(dst []kv.Pair) (n int, err error) {
	defer corruptedIn(c.sp, &err)
	if !c.started {
		c.start()
	}
	if c.opt.Reverse {
		n, err = c.fillReverse(dst)
	} else {
		n, err = c.fillForward(dst)
	}
	if c.opt.KeysOnly {
		for i := range dst[:n] {
			dst[i].Val = nil
		}
	}
	return n, err
}

// fillForward takes the pairs of one leaf after the other. Only in the leaf
// with the end of the range are keys compared with it. What is not wanted is passed
// over in a leaf by a search from where it stands, and beyond it by one from the page in
// which the ways part.
func (c *chunks) fillForward(dst []kv.Pair) (n int, err error) {
	for c.more && n < len(dst) {
		nd, i := c.c.at()
		end := nd.n
		if c.r.Hi != nil && !c.c.before(c.r.Hi) {
			end = nd.upTo(i, c.r.Hi)
		}
		var next []byte
		first, from := i, n
		if c.opt.Skip == nil {
			for ; i < end && n < len(dst); i++ {
				dst[n] = nd.pair(i)
				n++
			}
		} else {
			first = nd.n // the pairs do not lie side by side
			for i < end && n < len(dst) {
				p := nd.pair(i)
				i++
				if next = c.opt.Skip(p.Key); next != nil {
					i = nd.upTo(i, next)
					continue
				}
				dst[n] = p
				n++
			}
		}
		if c.opt.Check != nil && !c.opt.KeysOnly {
			if err := c.check(nd, first, dst[from:n]); err != nil {
				return from, err
			}
		}
		switch {
		case i < end:
			c.c.stack[len(c.c.stack)-1].i = i
		case i < nd.n:
			c.more = c.nextRange(nd, i)
		case end < nd.n && len(c.opt.Then) == 0:
			c.more = false
		case next != nil:
			c.more = c.c.seek(next)
		default:
			c.more = c.c.nextLeaf()
		}
	}
	return n, nil
}

// check verifies pairs of a leaf, from its element i on, unless all of the leaf have
// been lately. Where all have been before, and many are read, the page is verified
// instead: that takes a third of the time.
func (c *chunks) check(nd *node, i int, ps []kv.Pair) error {
	sums := c.s.p.sums
	if sums == nil || c.c.b.root == 0 {
		return c.opt.Checked(ps)
	}
	id := native.Uint64(nd.b)
	if sums.passed(id) {
		return nil
	}
	byPage := len(ps) > nd.n/4 && sums.sounds(id)
	if byPage && sums.same(id, c.s.p.run(id)) {
		return nil
	}
	if err := c.opt.Checked(ps); err != nil {
		return err // which names the pair
	}
	if byPage {
		panic(fault{fmt.Sprintf("the checksum of page %d does not match any more", id)})
	}
	if i == 0 {
		c.checked = 0
	}
	if i == c.checked {
		if c.checked += len(ps); c.checked == nd.n {
			sums.pass(id)
		}
	}
	return nil
}

// nextRange goes on with the next range from element i of the leaf on, which lies
// behind the range before; false if there is none.
func (c *chunks) nextRange(nd *node, i int) bool {
	if len(c.opt.Then) == 0 {
		return false
	}
	key := nd.leafKey(i)
	for len(c.opt.Then) > 0 {
		c.r, c.opt.Then = c.opt.Then[0], c.opt.Then[1:]
		if c.r.Hi != nil && bytes.Compare(key, c.r.Hi) >= 0 {
			continue // there is nothing in it
		}
		if bytes.Compare(key, c.r.Lo) < 0 {
			if i = nd.upTo(i, c.r.Lo); i == nd.n {
				return c.c.seek(c.r.Lo)
			}
		}
		c.c.stack[len(c.c.stack)-1].i = i
		return true
	}
	return false
}

// fillReverse takes the pairs of one leaf before the other, each from its end.
func (c *chunks) fillReverse(dst []kv.Pair) (n int, err error) {
	for c.more && n < len(dst) {
		nd, i := c.c.at()
		from, start := n, 0
		if c.r.Lo != nil && bytes.Compare(nd.leafKey(0), c.r.Lo) < 0 {
			start = nd.lower(c.r.Lo)
		}
		for ; i >= start && n < len(dst); i-- {
			dst[n] = nd.pair(i)
			n++
		}
		if c.opt.Check != nil && !c.opt.KeysOnly {
			// nd.n is no element: pieces of a leaf are met from its end, which check
			// does not add up.
			if err := c.check(nd, nd.n, dst[from:n]); err != nil {
				return from, err
			}
		}
		switch {
		case i >= start:
			c.c.stack[len(c.c.stack)-1].i = i
		case start > 0:
			c.more = false
		default:
			c.c.stack[len(c.c.stack)-1].i = 0
			c.more = c.c.prev()
		}
	}
	return n, nil
}

// Close gives the cursor back for the next read.
func (c *chunks) Close() {
	if c.c != nil {
		c.f.cur.Store(c.c)
		c.c = nil
	}
	c.started, c.more = true, false
}

// Forget implements txn.Forgetter.
func (c *chunks) Forget() { *c = chunks{started: true} }
