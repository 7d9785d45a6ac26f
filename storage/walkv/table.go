package walkv

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/tidwall/btree"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// tree holds the newest writes to a space.
type tree = btree.BTreeG[write]

// write is one write to a space as its log record has it: the key, the uvarint
// n, and n-1 bytes of the value; n = 0 is a deletion. As each batch copies the
// nodes on the way to its keys, a write is as small as can be.
type write struct {
	key     *byte
	klen, n uint32
}

// probe returns a write to search for; it has a key only.
func probe(key []byte) write {
	return write{key: unsafe.SliceData(key), klen: uint32(len(key))}
}

// writeOf returns the write that decodeBody has found in a record.
func writeOf(key, val []byte) write {
	w := probe(key)
	if val != nil {
		w.n = uint32(len(val)) + 1
	}
	return w
}

func (w write) keyBytes() []byte { return unsafe.Slice(w.key, w.klen) }

// val returns the value, nil for a deletion.
func (w write) val() []byte {
	if w.n == 0 {
		return nil
	}
	at := int(w.klen) + (bits.Len32(w.n)+6)/7 // behind the uvarint n
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(w.key), at)), w.n-1)
}

func (w write) pair() kv.Pair { return kv.Pair{Key: w.keyBytes(), Val: w.val()} }

func newTree() *tree {
	return btree.NewBTreeGOptions(func(a, b write) bool { return bytes.Compare(a.keyBytes(), b.keyBytes()) < 0 },
		btree.Options{NoLocks: true, Degree: treeDegree})
}

// treeDegree is half the entries of a node. Each batch copies the nodes on the
// way to its keys, so that nodes are to be small.
const treeDegree = 8

// table is a published tree.
type table struct {
	sp   kv.Space
	tree *tree
}

// tables are published trees by ascending space ID.
type tables []table

func (t tables) search(id uint64) (int, bool) {
	return slices.BinarySearchFunc(t, id, func(a table, id uint64) int { return cmp.Compare(a.sp.ID, id) })
}

// find returns the tree of a space, or nil.
func (t tables) find(id uint64) *tree {
	if len(t) == 0 {
		return nil
	}
	if i, ok := t.search(id); ok {
		return t[i].tree
	}
	return nil
}

// changes returns the content of the trees for the base, without that of the
// spaces that a later batch empties anyway.
func (t tables) changes(dst []txn.Change, gone map[uint64]bool) []txn.Change {
	for _, tab := range t {
		if gone[tab.sp.ID] {
			continue
		}
		dst = append(dst, txn.Change{Space: tab.sp, Count: tab.tree.Len(), Writes: func(yield func(k, v []byte) bool) {
			tab.tree.Scan(func(w write) bool { return yield(w.keyBytes(), w.val()) })
		}})
	}
	return dst
}

// memtable is the working copy of the active trees.
type memtable struct {
	trees map[uint64]*table
	bytes int // of memory, about
}

// entryBytes is the memory of a tree's entry beside its record.
const entryBytes = 48

// insert adds the batch in a record's body and returns the trees with it.
func (m *memtable) insert(body []byte, old tables) (tables, error) {
	if m.trees == nil {
		m.trees = make(map[uint64]*table)
	}
	var touched []*table
	var cur *table
	err := decodeBody(body, func(id uint64, db, file []byte, count int) {
		cur = m.trees[id]
		if cur == nil {
			cur = &table{sp: kv.Space{ID: id, DB: string(db), File: string(file)}, tree: newTree()}
			m.trees[id] = cur
		}
		if !slices.Contains(touched, cur) {
			touched = append(touched, cur)
		}
		m.bytes += count * entryBytes
	}, func(key, val []byte) {
		cur.tree.Set(writeOf(key, val))
	})
	m.bytes += len(body)
	next := slices.Clone(old)
	for _, t := range touched {
		pub := table{sp: t.sp, tree: t.tree.Copy()}
		if i, ok := next.search(t.sp.ID); ok {
			next[i] = pub
		} else {
			next = slices.Insert(next, i, pub)
		}
	}
	return next, err
}
