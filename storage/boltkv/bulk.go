package boltkv

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// Many pairs that come behind all others of a bucket, as those of a load do, are
// not handed to bbolt one by one: it would keep each of them in memory as a node's
// element, all in one node, until it commits. They are written into leaf pages here,
// which go to the file at once, and bbolt is given the branches' elements that lead
// to these pages. It divides and writes the branches itself. A goroutine writes the pages
// while the next ones are laid out (bulkWriter).
//
// The pages are free ones, or behind the end of the last state, so until bbolt's
// commit nothing leads to them. bbolt exports neither its list of free pages nor its
// nodes; the tests of this file fail should a new version have others.
const (
	bulkFirst = 8  // pairs, and as many bytes as four pages have, that make two leaves at least
	bulkRun   = 64 // pages that are written together
)

// bulkBytes is the size of a change that is worth it.
var bulkBytes = 256 << 10

// boltNode and boltInode are bbolt's node and common.Inode; bulkFits checks that they are.
type boltNode struct {
	bucket     *bolt.Bucket
	isLeaf     bool
	unbalanced bool
	spilled    bool   //lint:ignore U1000 has to be there
	key        []byte //lint:ignore U1000 has to be there
	pgid       uint64
	parent     *boltNode
	children   []*boltNode
	inodes     []boltInode
}

type boltInode struct {
	flags uint32 //lint:ignore U1000 has to be there
	pgid  uint64
	key   []byte
	value []byte
}

// sameLayout reports whether two structs have fields of the same names and kinds at
// the same places.
func sameLayout(a, b reflect.Type) bool {
	if a.Kind() != reflect.Struct || b.Kind() != reflect.Struct || a.Size() != b.Size() || a.NumField() != b.NumField() {
		return false
	}
	for i := range a.NumField() {
		if x, y := a.Field(i), b.Field(i); x.Name != y.Name || x.Type.Kind() != y.Type.Kind() || x.Offset != y.Offset {
			return false
		}
	}
	return true
}

// field returns a field that bbolt does not export, to be read and set.
func field(of any, name string) reflect.Value {
	f := reflect.ValueOf(of).Elem().FieldByName(name)
	if !f.IsValid() {
		return f
	}
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// bulkFits reports whether bbolt's types are the ones that this file knows.
func bulkFits(db *bolt.DB) error {
	err := errors.New("this version of bbolt keeps its nodes in another way")
	root := field(&bolt.Bucket{}, "rootNode")
	if !root.IsValid() || root.Kind() != reflect.Pointer || !sameLayout(root.Type().Elem(), reflect.TypeFor[boltNode]()) {
		return err
	}
	inodes, _ := root.Type().Elem().FieldByName("inodes")
	if !sameLayout(inodes.Type.Elem(), reflect.TypeFor[boltInode]()) {
		return err
	}
	meta, ids, size := field(&bolt.Tx{}, "meta"), field(db, "freelist"), field(db, "datasz")
	if !meta.IsValid() || !ids.IsValid() || !size.IsValid() || size.Kind() != reflect.Int {
		return err
	}
	for _, m := range []reflect.Value{meta.MethodByName("Pgid"), meta.MethodByName("SetPgid"), meta.MethodByName("Txid"), ids.MethodByName("Allocate")} {
		if !m.IsValid() {
			return err
		}
	}
	return nil
}

func rootOf(b *bolt.Bucket) **boltNode {
	return (**boltNode)(unsafe.Pointer(reflect.ValueOf(b).Elem().FieldByName("rootNode").UnsafeAddr()))
}

// bulk writes leaf pages of one bucket.
type bulk struct {
	f        *dataFile
	page     int
	meta     reflect.Value // of the transaction
	allocate reflect.Value // of the list of free pages
	room     uint64        // pages that the mapping has

	first      []kv.Pair // pairs, until there are enough for a decision
	firstBytes int
	to         func(key, val []byte) error // where the others go: add, or bbolt's Put
	last       *boltNode                   // the leaf in front of those written here

	held      []kv.Pair // of the page that is being filled
	heldBytes int       // of that page, with its elements
	buf       []byte    // pages that wait for being written, without their numbers
	runs      []bulkLeaf
	leaves    []boltInode // pages written
	writer    *bulkWriter // nil before the first buffer
}

// bulkLeaf is a leaf in the buffer: where its pages begin.
type bulkLeaf struct {
	at  int
	key []byte
}

// newBulk prepares the writing of pairs into a bucket, nil if bbolt has to do
// it: for few, and where its file may have to be mapped anew.
func (f *dataFile) newBulk(tx *bolt.Tx, size, count int) *bulk {
	if f.maps == nil || f.db.MaxSize > 0 || size < bulkBytes {
		return nil
	}
	k := &bulk{f: f, page: int(f.w.page), meta: field(tx, "meta"), allocate: field(f.db, "freelist").MethodByName("Allocate")}
	k.room = uint64(field(f.db, "datasz").Int()) / uint64(k.page)
	// Three pages side by side have pairs of one page, at least.
	most := 3*(size+count*elemLen)/k.page + 2*bulkRun
	if k.next()+uint64(most) >= k.room {
		return nil
	}
	return k
}

// next is the number of the first page behind the end.
func (k *bulk) next() uint64 { return k.meta.MethodByName("Pgid").Call(nil)[0].Uint() }

// takeFree returns the first of n free pages side by side, 0 if there are none.
func (k *bulk) takeFree(n int) uint64 {
	k.f.taken = true
	return k.allocate.Call([]reflect.Value{k.meta.MethodByName("Txid").Call(nil)[0], reflect.ValueOf(n)})[0].Uint()
}

// takeEnd returns the first of n pages behind the end.
func (k *bulk) takeEnd(n int) (uint64, error) {
	id := k.next()
	if id+uint64(n)+1 >= k.room {
		return 0, fmt.Errorf("%w: the data file outgrew its mapping", kv.ErrUnavailable)
	}
	set := k.meta.MethodByName("SetPgid")
	set.Call([]reflect.Value{reflect.ValueOf(id + uint64(n)).Convert(set.Type().In(0))})
	return id, nil
}

// add appends a pair, whose bytes stay as they are until the commit.
func (k *bulk) add(key, val []byte) error {
	if err := checkPair(key, val); err != nil {
		return err
	}
	n := elemLen + len(key) + len(val)
	if len(k.held) >= 2 && pageHeader+k.heldBytes+n > k.page {
		if err := k.leaf(); err != nil {
			return err
		}
	}
	k.held = append(k.held, kv.Pair{Key: key, Val: val})
	k.heldBytes += n
	return nil
}

// leaf lays out the page that is full.
func (k *bulk) leaf() error {
	if len(k.held) == 0 {
		return nil
	}
	pages := (pageHeader + k.heldBytes + k.page - 1) / k.page
	at := len(k.buf)
	if cap(k.buf)-at < pages*k.page {
		k.buf = append(make([]byte, 0, at+max(pages, bulkRun+1)*k.page), k.buf...)
	}
	k.buf = k.buf[:at+pages*k.page]
	b := k.buf[at:]
	native.PutUint16(b[8:], leafPage)
	native.PutUint16(b[10:], uint16(len(k.held)))
	native.PutUint32(b[12:], uint32(pages-1))
	end := pageHeader + len(k.held)*elemLen
	for i, p := range k.held {
		off := pageHeader + i*elemLen
		e := b[off : off+elemLen]
		native.PutUint32(e, 0)
		native.PutUint32(e[4:], uint32(end-off))
		native.PutUint32(e[8:], uint32(len(p.Key)))
		native.PutUint32(e[12:], uint32(len(p.Val)))
		end += copy(b[end:], p.Key)
		end += copy(b[end:], p.Val)
	}
	clear(b[end:])
	k.runs = append(k.runs, bulkLeaf{at, k.held[0].Key})
	clear(k.held)
	k.held, k.heldBytes = k.held[:0], 0
	if len(k.buf) >= bulkRun*k.page {
		return k.flush()
	}
	return nil
}

// flush writes the pages of the buffer: side by side where that much is free, else
// where they fit, else at the end.
func (k *bulk) flush() error {
	if len(k.runs) == 0 {
		return nil
	}
	next := k.takeFree(len(k.buf) / k.page)
	together, free := next != 0, true
	var parts []part
	for i, r := range k.runs {
		end := len(k.buf)
		if i+1 < len(k.runs) {
			end = k.runs[i+1].at
		}
		pages, id := (end-r.at)/k.page, next
		if !together {
			if id = 0; free {
				id = k.takeFree(pages)
			}
			if free = id != 0; !free {
				var err error
				if id, err = k.takeEnd(pages); err != nil {
					return err
				}
			}
		}
		native.PutUint64(k.buf[r.at:], id)
		k.leaves = append(k.leaves, boltInode{pgid: id, key: r.key})
		if i == 0 || id != next {
			parts = append(parts, part{from: r.at, off: int64(id) * int64(k.page)})
		}
		next = id + uint64(pages)
	}
	if k.writer == nil {
		k.writer = newBulkWriter(k.f.w)
	}
	k.buf, k.runs = k.writer.write(laidOut{k.buf, parts}), k.runs[:0]
	return nil
}

// stop waits for the goroutine that writes, if there is one. It has to be called whatever
// happens, before anything else of the transaction writes.
func (k *bulk) stop() error {
	if k == nil || k.writer == nil {
		return nil
	}
	return k.writer.stop()
}

// rightmost returns the last leaf of a bucket, in which bbolt has just put a pair.
func rightmost(b *bolt.Bucket) *boltNode {
	n := *rootOf(b)
next:
	for !n.isLeaf {
		last := n.inodes[len(n.inodes)-1].pgid
		for _, c := range n.children {
			if c.pgid == last {
				n = c
				continue next
			}
		}
		return nil
	}
	return n
}

// put takes a pair of the change, ascending; all come behind those of the bucket.
func (k *bulk) put(b *bolt.Bucket, key, val []byte) error {
	if val == nil {
		return nil // nothing is there to be deleted
	}
	if k.to != nil {
		return k.to(key, val)
	}
	k.first = append(k.first, kv.Pair{Key: key, Val: val})
	if k.firstBytes += len(key) + len(val); k.firstBytes < 4*k.page || len(k.first) < bulkFirst {
		return nil
	}
	return k.start(b)
}

// start decides where the pairs go when enough of them have come.
func (k *bulk) start(b *bolt.Bucket) error {
	if err := b.Put(k.first[0].Key, k.first[0].Val); err != nil { // so that there are nodes
		return err
	}
	k.to = b.Put
	if leaf := rightmost(b); leaf != nil && (leaf.parent == nil || !leaf.unbalanced) {
		k.to, k.last = k.add, leaf
		if leaf.parent == nil { // the only page is written again with the others
			for i := range leaf.inodes[:len(leaf.inodes)-1] {
				if err := k.add(leaf.inodes[i].key, leaf.inodes[i].value); err != nil {
					return err
				}
			}
			if err := k.add(k.first[0].Key, k.first[0].Val); err != nil {
				return err
			}
		}
	}
	for _, p := range k.first[1:] {
		if err := k.to(p.Key, p.Val); err != nil {
			return err
		}
	}
	k.first = nil
	return nil
}

// finish gives bbolt the pages. No other change to the bucket may follow in the
// transaction.
func (k *bulk) finish(b *bolt.Bucket) error {
	for _, p := range k.first {
		if err := b.Put(p.Key, p.Val); err != nil {
			return err
		}
	}
	if k.last == nil {
		return nil
	}
	if err := k.leaf(); err != nil {
		return err
	}
	if err := k.flush(); err != nil {
		return err
	}
	if err := k.stop(); err != nil {
		return err
	}
	if k.last.parent == nil {
		*rootOf(b) = &boltNode{bucket: b, pgid: k.last.pgid, inodes: k.leaves} // frees the only page
	} else {
		k.last.parent.inodes = append(k.last.parent.inodes, k.leaves...)
	}
	return nil
}

// rewriteShare is the part of a bucket's pairs from which a change to them is made by
// writing the bucket anew: nearly every page changes, and bbolt would have all of them
// in memory.
const rewriteShare = 4

// A change to less of a bucket is written as a whole bucket, too, where bbolt would need
// nodesBytes of memory for it and the change is in one leaf of touchedShare, or where
// it would need nodesMost.
var nodesBytes, nodesMost = 64 << 20, 512 << 20

const (
	leavesWrites = 2 // for each leaf, from which nearlyAll looks at the leaves
	touchedShare = 8
	inodeLen     = int(unsafe.Sizeof(boltInode{}))
)

// nodesNeed tells how many leaves of a bucket a change is in, and about how many bytes of
// memory bbolt would need for it. It verifies these leaves.
func nodesNeed(c *txn.Change, old bucket, each int) (touched, need int) {
	need = c.Bytes + c.Count*inodeLen
	if need < nodesBytes && c.Count*each*inodeLen < nodesBytes {
		return 0, 0 // even if each write has a leaf of its own
	}
	var until []byte
	for k := range c.Writes {
		if touched == 0 || until != nil && bytes.Compare(k, until) >= 0 {
			until = old.verifyWay(k)
			touched++
		}
	}
	return touched, need + touched*(each*inodeLen+2*old.p.page)
}

// nearlyAll reports whether a change is in nearly all leaves of a bucket, with several
// writes in most. It verifies the leaves.
func nearlyAll(c *txn.Change, old bucket, leaves int) bool {
	if c.Count < leavesWrites*leaves {
		return false
	}
	var until []byte
	touched := 0
	for k := range c.Writes {
		if touched == 0 || until != nil && bytes.Compare(k, until) >= 0 {
			until = old.verifyWay(k)
			touched++
		}
	}
	return touched >= leaves-leaves/8
}

// rewrite makes a large change by merging it with the bucket as it was into a new one;
// false if the change is not one for that. It has to be the only one of the
// transaction to the bucket.
func (f *dataFile) rewrite(tx *bolt.Tx, c *txn.Change, old bucket) (done bool, err error) {
	if c.Op != txn.OpNone || c.Bytes < bulkBytes && c.Count*elemLen < bulkBytes || old.root == 0 {
		return false, nil
	}
	leaves, each := old.size()
	if c.Count < leaves*each/rewriteShare && !nearlyAll(c, old, leaves) {
		if touched, need := nodesNeed(c, old, each); need < nodesBytes || touched < leaves/touchedShare && need < nodesMost {
			return false, nil
		}
	}
	size, count := leaves*old.p.page+c.Bytes, leaves*each+c.Count
	load := f.newBulk(tx, size, count)
	if load == nil {
		return false, nil
	}
	defer func() { _ = load.stop() }()
	old.walk(func(uint64) {}) // verifies what bbolt will free
	db := tx.Bucket([]byte(c.Space.DB))
	if err := db.DeleteBucket([]byte(c.Space.File)); err != nil {
		return true, err
	}
	b, err := db.CreateBucket([]byte(c.Space.File))
	if err != nil {
		return true, err
	}
	b.FillPercent = 1
	at := cursor{b: old}
	more := at.first()
	for k, v := range c.Writes {
		for more {
			p := at.pair()
			d := bytes.Compare(p.Key, k)
			if d < 0 {
				if err := load.put(b, p.Key, p.Val); err != nil {
					return true, err
				}
			}
			if d > 0 {
				break
			}
			more = at.next()
		}
		if err := load.put(b, k, v); err != nil {
			return true, err
		}
	}
	for ; more; more = at.next() {
		p := at.pair()
		if err := load.put(b, p.Key, p.Val); err != nil {
			return true, err
		}
	}
	return true, load.finish(b)
}

// size returns the number of a tree's leaves, and about how many pairs each has. It
// reads the branches, and two leaves.
func (b bucket) size() (leaves, each int) {
	deep := 0
	nd := b.first()
	for ; !nd.leaf; nd = b.p.node(nd.child(0)) {
		if deep++; deep > maxTreeDeep {
			panic(fault{"a tree is too deep"})
		}
	}
	var count func(nd node, deep int)
	count = func(nd node, deep int) {
		if deep <= 1 {
			leaves += nd.n
			return
		}
		for i := range nd.n {
			count(b.p.node(nd.child(i)), deep-1)
		}
	}
	each = max(nd.n, 1)
	if deep == 0 {
		return 1, each
	}
	count(b.first(), deep)
	for nd = b.first(); !nd.leaf; nd = b.p.node(nd.child(nd.n / 2)) {
	}
	return leaves, max((each+nd.n)/2, 1)
}
