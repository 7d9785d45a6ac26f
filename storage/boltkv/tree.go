package boltkv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime/debug"

	"kvsqld/storage/kv"
)

// bbolt's pages, native byte order. A page begins with its number (8 bytes), its
// kind (2), the number of its elements (2) and the number of pages that follow
// it in the same run (4). An element has 16 bytes: in a branch the position of
// the key from the element (4), its length (4) and the child's page (8); in a
// leaf flags (4), position (4), and the lengths of key and value (4 each). The
// value of an element with leafBucket is a bucket: its root page (8), a counter
// (8), and if the root page is 0, the only page itself.
const (
	pageHeader  = 16
	elemLen     = 16
	branchPage  = 1
	leafPage    = 2
	leafBucket  = 1
	bucketLen   = 16
	maxTreeDeep = 48
	line        = 64 // bytes that a processor fetches at a time
)

var native = binary.NativeEndian

// pager reads the pages of one state from the mapped file. A page is verified
// when it is first touched; it panics with a fault, see corrupted.
type pager struct {
	data []byte // the mapped file up to the end of the state
	page int    // bytes of a page
	root uint64 // of the tree of databases
	sums *sums  // nil: pages are believed, for files from before checksums
}

// fault says what is wrong with a page.
type fault struct{ text string }

func (f fault) Error() string { return f.text }

// run returns the pages that begin with page id.
func (p *pager) run(id uint64) []byte {
	at := id * uint64(p.page)
	if id < 2 || id > maxPageCount || at+uint64(p.page) > uint64(len(p.data)) {
		panic(fault{fmt.Sprintf("page %d does not exist", id)})
	}
	n := uint64(p.page) * (1 + uint64(native.Uint32(p.data[at+12:])))
	if at+n > uint64(len(p.data)) {
		panic(fault{fmt.Sprintf("page %d is longer than the file", id)})
	}
	return p.data[at : at+n : at+n]
}

// node returns a page of a tree.
func (p *pager) node(id uint64) node {
	if p.sums != nil && (id > maxPageCount || !p.sums.seen(id)) {
		p.verify(id)
	}
	b := p.run(id)
	if native.Uint64(b) != id {
		panic(fault{fmt.Sprintf("page %d says that it is page %d", id, native.Uint64(b))})
	}
	return parseNode(b)
}

// verify compares a page with its checksum. Where the operating system cannot
// read the page, that is a panic too.
func (p *pager) verify(id uint64) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if !p.sums.verify(id, p.run(id)) {
		panic(fault{fmt.Sprintf("the checksum of page %d does not match", id)})
	}
}

// node is a page of a tree, or the page inside of a bucket's value.
type node struct {
	b    []byte
	n    int
	leaf bool
}

func parseNode(b []byte) node {
	nd := node{b: b, n: int(native.Uint16(b[10:])), leaf: true}
	switch native.Uint16(b[8:]) {
	case branchPage:
		nd.leaf = false
		if nd.n == 0 {
			panic(fault{fmt.Sprintf("branch page %d is empty", native.Uint64(b))})
		}
	case leafPage:
	default:
		panic(fault{fmt.Sprintf("page %d is no page of a tree", native.Uint64(b))})
	}
	return nd
}

// elem returns the i-th element and where it is.
func (nd *node) elem(i int) (e []byte, off int) {
	off = pageHeader + i*elemLen
	return nd.b[off : off+elemLen : off+elemLen], off
}

func (nd *node) child(i int) uint64 {
	e, _ := nd.elem(i)
	return native.Uint64(e[8:])
}

func (nd *node) branchKey(i int) []byte {
	e, off := nd.elem(i)
	off += int(native.Uint32(e))
	return nd.b[off : off+int(native.Uint32(e[4:]))]
}

// leafKey has room behind it, unlike the key of pair: it is to be compared.
func (nd *node) leafKey(i int) []byte {
	e, off := nd.elem(i)
	off += int(native.Uint32(e[4:]))
	return nd.b[off : off+int(native.Uint32(e[8:]))]
}

func (nd *node) pair(i int) kv.Pair {
	e, off := nd.elem(i)
	off += int(native.Uint32(e[4:]))
	mid := off + int(native.Uint32(e[8:]))
	end := mid + int(native.Uint32(e[12:]))
	return kv.Pair{Key: nd.b[off:mid:mid], Val: nd.b[mid:end:end]}
}

func (nd *node) isBucket(i int) bool {
	e, _ := nd.elem(i)
	return native.Uint32(e)&leafBucket != 0
}

// way returns the child that a key belongs to.
func (nd *node) way(key []byte) int {
	lo, hi := 0, nd.n // the first key above
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); bytes.Compare(nd.branchKey(m), key) > 0 {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return max(lo-1, 0)
}

// wayFrom is way for a key that belongs to child i or to one behind it, often near.
func (nd *node) wayFrom(i int, key []byte) int {
	lo, hi := i+1, nd.n // lo: all before are not above; hi: the first above, or the end
	for step := 1; lo < hi; step *= 2 {
		m := min(lo+step, hi) - 1
		if bytes.Compare(nd.branchKey(m), key) > 0 {
			hi = m
			break
		}
		lo = m + 1
	}
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); bytes.Compare(nd.branchKey(m), key) > 0 {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo - 1
}

// touch has the processor fetch a page at once. A search would come to a dozen places
// of it one after the other, and wait for each.
func (nd *node) touch() (x byte) {
	b := nd.b[:len(nd.b)&^(line-1)]
	for i := 0; i < len(b); i += line {
		x ^= b[i]
	}
	return x
}

// lower returns the first element of a leaf that is not below key.
func (nd *node) lower(key []byte) int {
	lo, hi := 0, nd.n
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); bytes.Compare(nd.leafKey(m), key) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// upTo is lower for a key that is not below element i and perhaps a little above it:
// it looks at elements near i first, which are read next anyway.
func (nd *node) upTo(i int, key []byte) int {
	lo, hi := i, nd.n // lo: all before are below; hi: the first that is not, or the end
	for step := 1; lo < hi; step *= 2 {
		m := min(lo+step, hi) - 1
		if bytes.Compare(nd.leafKey(m), key) >= 0 {
			hi = m
			break
		}
		lo = m + 1
	}
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); bytes.Compare(nd.leafKey(m), key) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// bucket is a tree of keys: the databases, the files of one, or the pairs of one.
type bucket struct {
	p      *pager
	root   uint64 // 0: inline has the only page
	inline []byte
}

func (p *pager) top() bucket { return bucket{p: p, root: p.root} }

// sub returns the bucket of a name; false if there is none.
func (b bucket) sub(name []byte) (bucket, bool) {
	c := cursor{b: b}
	if !c.seek(name) {
		return bucket{}, false
	}
	nd, i := c.at()
	if pair := nd.pair(i); bytes.Equal(pair.Key, name) && nd.isBucket(i) {
		return b.p.open(pair.Val), true
	}
	return bucket{}, false
}

// open returns the bucket that a value stands for.
func (p *pager) open(val []byte) bucket {
	if len(val) < bucketLen {
		panic(fault{"a bucket is too short"})
	}
	b := bucket{p: p, root: native.Uint64(val)}
	if b.root == 0 {
		b.inline = val[bucketLen:]
	}
	return b
}

func (b bucket) first() node {
	if b.root == 0 {
		return parseNode(b.inline)
	}
	return b.p.node(b.root)
}

// get returns the value of a key, nil if there is none.
func (b bucket) get(key []byte) []byte {
	nd := b.first()
	for deep := 0; !nd.leaf; deep++ {
		if deep > maxTreeDeep {
			panic(fault{"a tree is too deep"})
		}
		nd = b.p.node(nd.child(nd.way(key)))
	}
	if i := nd.lower(key); i < nd.n {
		if pair := nd.pair(i); bytes.Equal(pair.Key, key) {
			return pair.Val
		}
	}
	return nil
}

// walk calls f for all pages of the bucket and of those in it, parents first.
func (b bucket) walk(f func(id uint64)) {
	if b.root == 0 {
		b.walkLeaf(b.first(), f)
		return
	}
	b.walkPage(b.root, 0, f)
}

func (b bucket) walkPage(id uint64, deep int, f func(id uint64)) {
	nd := b.p.node(id)
	f(id)
	if nd.leaf {
		b.walkLeaf(nd, f)
		return
	}
	if deep > maxTreeDeep {
		panic(fault{fmt.Sprintf("page %d lies too deep", id)})
	}
	for i := range nd.n {
		b.walkPage(nd.child(i), deep+1, f)
	}
}

func (b bucket) walkLeaf(nd node, f func(id uint64)) {
	for i := range nd.n {
		if nd.isBucket(i) {
			b.p.open(nd.pair(i).Val).walk(f)
		}
	}
}

// verifyAll compares all pages with their checksums, also those verified before, and
// reports each that is damaged. What only such a page leads to is not looked at.
func (p *pager) verifyAll(report func(error)) (damaged bool) {
	var look func(id uint64, deep int)
	guard := func(f func()) {
		var err error
		func() {
			defer corrupted(&err)
			f()
		}()
		if err != nil {
			damaged = true
			report(err)
		}
	}
	bucketOf := func(b bucket) {
		if b.root != 0 {
			look(b.root, 0)
			return
		}
		b.walkLeaf(b.first(), p.verify)
	}
	look = func(id uint64, deep int) {
		guard(func() {
			if p.sums != nil {
				p.verify(id)
			}
			nd := p.node(id)
			if deep > maxTreeDeep {
				panic(fault{fmt.Sprintf("page %d lies too deep", id)})
			}
			for i := range nd.n {
				switch {
				case !nd.leaf:
					look(nd.child(i), deep+1)
				case nd.isBucket(i):
					guard(func() { bucketOf(p.open(nd.pair(i).Val)) })
				}
			}
		})
	}
	guard(func() { bucketOf(p.top()) })
	return damaged
}

// cursor walks over a bucket's elements.
type cursor struct {
	b     bucket
	stack []frame // from the root to a leaf
	room  [6]frame

	touched byte // only so that touch is not in vain
}

type frame struct {
	nd node
	i  int
}

// leads reports whether a key belongs to the child of a branch that the frame has.
func (f *frame) leads(key []byte) bool {
	return (f.i == 0 || bytes.Compare(f.nd.branchKey(f.i), key) <= 0) &&
		(f.i+1 >= f.nd.n || bytes.Compare(f.nd.branchKey(f.i+1), key) > 0)
}

func (c *cursor) at() (*node, int) {
	f := &c.stack[len(c.stack)-1]
	return &f.nd, f.i
}

// before reports whether the leaf that the cursor stands in is known to lie before
// key as a whole, by the branch above alone.
func (c *cursor) before(key []byte) bool {
	if len(c.stack) < 2 {
		return false
	}
	f := &c.stack[len(c.stack)-2]
	return f.i+1 < f.nd.n && bytes.Compare(f.nd.branchKey(f.i+1), key) <= 0
}

// pair is the element that the cursor stands on.
func (c *cursor) pair() kv.Pair {
	nd, i := c.at()
	return nd.pair(i)
}

func (c *cursor) push(nd node, i int) {
	if len(c.stack) > maxTreeDeep {
		panic(fault{"a tree is too deep"})
	}
	c.stack = append(c.stack, frame{nd, i})
}

func (c *cursor) reset() {
	if c.stack == nil {
		c.stack = c.room[:0]
	}
	c.stack = c.stack[:0]
}

// seek goes to the first element that is not below key; false at the end. From
// where the cursor stands it goes down anew only below the page in which the ways
// part: keys that are sought one after the other often lie close together.
func (c *cursor) seek(key []byte) bool {
	d := 0
	for ; d+1 < len(c.stack) && c.stack[d].leads(key); d++ {
	}
	var nd node
	near := -1 // in a branch: the key belongs to this child or to one behind it
	if len(c.stack) == 0 {
		c.reset()
		nd = c.b.first()
	} else {
		f := &c.stack[d]
		if nd = f.nd; !nd.leaf && bytes.Compare(nd.branchKey(f.i), key) <= 0 {
			near = f.i
		}
		c.stack = c.stack[:d]
	}
	for !nd.leaf {
		i := 0
		if near >= 0 {
			i, near = nd.wayFrom(near, key), -1
		} else {
			i = nd.way(key)
		}
		c.push(nd, i)
		nd = c.b.p.node(nd.child(i))
		if len(c.stack) >= 2 {
			c.touched += nd.touch()
		}
	}
	i := nd.lower(key)
	c.push(nd, i)
	return i < nd.n || c.nextLeaf()
}

// down goes from the top of the stack to the first or last element below.
func (c *cursor) down(nd node, last bool) bool {
	for {
		i := 0
		if last {
			i = nd.n - 1
		}
		c.push(nd, i)
		if nd.leaf {
			return nd.n > 0
		}
		nd = c.b.p.node(nd.child(i))
	}
}

func (c *cursor) first() bool {
	c.reset()
	return c.down(c.b.first(), false) || c.nextLeaf()
}

func (c *cursor) last() bool {
	c.reset()
	return c.down(c.b.first(), true) || c.prevLeaf()
}

func (c *cursor) next() bool {
	f := &c.stack[len(c.stack)-1]
	if f.i++; f.i < f.nd.n {
		return true
	}
	return c.nextLeaf()
}

func (c *cursor) prev() bool {
	f := &c.stack[len(c.stack)-1]
	if f.i--; f.i >= 0 {
		return true
	}
	return c.prevLeaf()
}

// nextLeaf goes to the first element of the next leaf; false at the end, where
// the cursor stands behind the last element.
func (c *cursor) nextLeaf() bool {
	for d := len(c.stack) - 2; d >= 0; d-- {
		f := &c.stack[d]
		if f.i+1 >= f.nd.n {
			continue
		}
		f.i++
		c.stack = c.stack[:d+1]
		if c.down(c.b.p.node(f.nd.child(f.i)), false) {
			return true
		}
		d = len(c.stack) - 1
	}
	return false
}

// prevLeaf goes to the last element of the leaf before; false at the start.
func (c *cursor) prevLeaf() bool {
	for d := len(c.stack) - 2; d >= 0; d-- {
		f := &c.stack[d]
		if f.i == 0 {
			continue
		}
		f.i--
		c.stack = c.stack[:d+1]
		if c.down(c.b.p.node(f.nd.child(f.i)), true) {
			return true
		}
		d = len(c.stack) - 1
	}
	return false
}

// verifyWay touches all pages that bbolt may read to change a key: the path to
// it and the neighbours at each step, which it may merge. It returns the first
// key that lies behind the leaf, nil if none does.
func (b bucket) verifyWay(key []byte) (until []byte) {
	nd := b.first()
	for deep := 0; !nd.leaf; deep++ {
		if deep > maxTreeDeep {
			panic(fault{"a tree is too deep"})
		}
		i := nd.way(key)
		for _, j := range [2]int{i - 1, i + 1} {
			if j >= 0 && j < nd.n {
				b.p.node(nd.child(j))
			}
		}
		if i+1 < nd.n {
			until = nd.branchKey(i + 1)
		}
		nd = b.p.node(nd.child(i))
	}
	return until
}
