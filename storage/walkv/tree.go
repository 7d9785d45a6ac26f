package walkv

import (
	"bytes"
	"unsafe"
)

// tree has the newest writes to a space, by key: a B-tree whose nodes are shared with
// its views. A batch copies the nodes on the way to its keys, so these are small, and
// each is one piece of memory: a transaction of four writes copies a dozen.
//
// Nothing is taken out of it, as a deletion is a write, too.
type tree struct {
	view
	gen  uint32 // of the nodes that no view has
	last place  // where the last write went
}

// place is where a write is in a leaf. The next one of a batch, which is sorted, mostly
// goes next to it.
type place struct {
	leaf *node // nil: there is none
	i    int
	end  []byte // the key behind the leaf's; nil at the end of the tree
}

// view is a state of a tree; it never changes. The zero value is empty.
type view struct {
	root  *node
	count int
}

// nodeWrites is the most writes of a node. With 15 it takes 256 bytes.
const nodeWrites = 15

// node is a leaf, or the first part of an inner node.
type node struct {
	kids   *[nodeWrites + 1]*node // one more than writes; nil in a leaf
	gen    uint32                 // tree.gen when it was made
	n      uint32                 // writes in use
	writes [nodeWrites]write
}

// inner is a node with what lies between its writes.
type inner struct {
	node
	below [nodeWrites + 1]*node
}

func (t *tree) newNode(leaf bool) *node {
	if leaf {
		return &node{gen: t.gen}
	}
	in := new(inner)
	in.gen, in.kids = t.gen, &in.below
	return &in.node
}

// own makes a node one that may be changed.
func (t *tree) own(at **node) *node {
	nd := *at
	if nd.gen == t.gen {
		return nd
	}
	c := t.newNode(nd.kids == nil)
	kids := c.kids
	if kids != nil {
		*kids = *nd.kids
	}
	*c = *nd
	c.gen, c.kids = t.gen, kids
	*at = c
	return c
}

// snap returns the tree as it is now. The nodes are the view's from now on.
func (t *tree) snap() view {
	t.gen++
	t.last = place{}
	return t.view
}

// find returns where a key is, or where it belongs.
func (nd *node) find(key []byte) (i int, found bool) {
	lo, hi := 0, int(nd.n)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(nd.writes[m].keyBytes(), key); {
		case c == 0:
			return m, true
		case c < 0:
			lo = m + 1
		default:
			hi = m
		}
	}
	return lo, false
}

// insert puts a write at place i, and behind it what is above it in an inner node.
func (nd *node) insert(i int, w write, above *node) {
	n := int(nd.n)
	copy(nd.writes[i+1:n+1], nd.writes[i:n])
	nd.writes[i] = w
	if nd.kids != nil {
		copy(nd.kids[i+2:n+2], nd.kids[i+1:n+1])
		nd.kids[i+1] = above
	}
	nd.n++
}

// split divides the full child i of a node that is not full; both may be changed. A leaf
// keeps what it has if the key that is to come is behind that: more such will come.
func (t *tree) split(nd *node, i int, key []byte) {
	left := nd.kids[i]
	half := nodeWrites / 2
	if left.kids == nil && bytes.Compare(left.writes[nodeWrites-1].keyBytes(), key) < 0 {
		half = nodeWrites - 1
	}
	right := t.newNode(left.kids == nil)
	right.n = uint32(copy(right.writes[:], left.writes[half+1:]))
	mid := left.writes[half]
	clear(left.writes[half:])
	if left.kids != nil {
		copy(right.kids[:], left.kids[half+1:])
		clear(left.kids[half+1:])
	}
	left.n = uint32(half)
	nd.insert(i, mid, right)
}

// set puts a write into the tree, in place of one with the same key. Full nodes are
// divided on the way down.
func (t *tree) set(w write) {
	key := w.keyBytes()
	if t.setNext(w, key) {
		return
	}
	t.last = place{}
	if t.root == nil {
		t.root = t.newNode(true)
	}
	nd := t.own(&t.root)
	if nd.n == nodeWrites {
		t.root = t.newNode(false)
		t.root.kids[0] = nd
		t.split(t.root, 0, key)
		nd = t.root
	}
	var end []byte
	for {
		i, found := nd.find(key)
		if !found && nd.kids != nil {
			if t.own(&nd.kids[i]).n == nodeWrites {
				t.split(nd, i, key)
				i, found = nd.find(key)
			}
			if !found {
				if i < int(nd.n) {
					end = nd.writes[i].keyBytes()
				}
				nd = nd.kids[i]
				continue
			}
		}
		if found {
			nd.writes[i] = w
			return
		}
		nd.insert(i, w, nil)
		t.count++
		t.last = place{nd, i, end}
		return
	}
}

// setNext is set for a write that comes behind the last one, in the same leaf, which has
// room for it; else it does nothing.
func (t *tree) setNext(w write, key []byte) bool {
	nd, i := t.last.leaf, t.last.i
	if nd == nil || nd.n == nodeWrites || t.last.end != nil && bytes.Compare(key, t.last.end) >= 0 {
		return false
	}
	for ; i < int(nd.n); i++ {
		c := bytes.Compare(nd.writes[i].keyBytes(), key)
		if c == 0 || c > 0 && i == t.last.i {
			return false
		}
		if c > 0 {
			break
		}
	}
	nd.insert(i, w, nil)
	t.count++
	t.last.i = i
	return true
}

// get returns the write with a key.
func (v view) get(key []byte) (w write, ok bool) {
	for nd := v.root; nd != nil; {
		i, found := nd.find(key)
		if found {
			return nd.writes[i], true
		}
		if nd.kids == nil {
			break
		}
		nd = nd.kids[i]
	}
	return write{}, false
}

// cursor stands on a write of a view. Its methods report whether there is one.
type cursor struct {
	v    view
	way  [maxDeep]step
	deep int // steps in use
}

// step is a node of the way, with the place of a write in the last one, and in those above
// of the child that comes next: it is in front of the write at that place.
type step struct {
	nd *node
	i  int
}

// maxDeep is more than any tree has: its nodes have eight children at least.
const maxDeep = 16

func (c *cursor) push(nd *node, i int) {
	c.way[c.deep] = step{nd, i}
	c.deep++
}

// down goes to the first or the last write below a node.
func (c *cursor) down(nd *node, last bool) {
	for ; nd.kids != nil; nd = nd.kids[c.way[c.deep-1].i] {
		if last {
			c.push(nd, int(nd.n))
		} else {
			c.push(nd, 0)
		}
	}
	if last {
		c.push(nd, int(nd.n)-1)
	} else {
		c.push(nd, 0)
	}
}

func (c *cursor) first() bool { return c.end(false) }
func (c *cursor) last() bool  { return c.end(true) }

func (c *cursor) end(last bool) bool {
	if c.deep = 0; c.v.root == nil {
		return false
	}
	c.down(c.v.root, last)
	return true
}

// seek goes to the first write from a key on.
func (c *cursor) seek(key []byte) bool {
	c.deep = 0
	for nd := c.v.root; nd != nil; {
		i, found := nd.find(key)
		c.push(nd, i)
		if found || nd.kids == nil {
			break
		}
		nd = nd.kids[i]
	}
	return c.up()
}

// up leaves nodes that have come to their end.
func (c *cursor) up() bool {
	for c.deep > 0 && c.way[c.deep-1].i == int(c.way[c.deep-1].nd.n) {
		c.deep--
	}
	return c.deep > 0
}

func (c *cursor) next() bool {
	at := &c.way[c.deep-1]
	at.i++
	if at.nd.kids == nil {
		return c.up()
	}
	c.down(at.nd.kids[at.i], false)
	return true
}

func (c *cursor) prev() bool {
	at := &c.way[c.deep-1]
	if at.nd.kids != nil {
		c.down(at.nd.kids[at.i], true)
		return true
	}
	for at.i == 0 {
		if c.deep--; c.deep == 0 {
			return false
		}
		at = &c.way[c.deep-1]
	}
	at.i--
	return true
}

func (c *cursor) write() write {
	at := &c.way[c.deep-1]
	return at.nd.writes[at.i]
}

// nodeBytes is the size of a leaf, of a size class of Go's memory without waste.
const nodeBytes = 256

var _ [nodeBytes - unsafe.Sizeof(node{})]struct{}
