package walkv

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// write is one write to a space as its log record has it: the key, the uvarint
// n, and n-1 bytes of the value; n = 0 is a deletion. As each batch copies the
// nodes on the way to its keys, a write is as small as can be.
type write struct {
	key     *byte
	klen, n uint32
}

// writeOf returns the write that decodeBody has found in a record.
func writeOf(key, val []byte) write {
	w := write{key: unsafe.SliceData(key), klen: uint32(len(key))}
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

// table is a published tree.
type table struct {
	sp kv.Space
	view
}

// tables are published trees by ascending space ID.
type tables []table

func (t tables) search(id uint64) (int, bool) {
	return slices.BinarySearchFunc(t, id, func(a table, id uint64) int { return cmp.Compare(a.sp.ID, id) })
}

// find returns the tree of a space, or one without a write.
func (t tables) find(id uint64) view {
	if len(t) == 0 {
		return view{}
	}
	if i, ok := t.search(id); ok {
		return t[i].view
	}
	return view{}
}

// changes returns the content of the trees for the base, without that of the
// spaces that a later batch empties anyway.
func (t tables) changes(dst []txn.Change, gone map[uint64]bool) []txn.Change {
	for _, tab := range t {
		if gone[tab.sp.ID] {
			continue
		}
		dst = append(dst, txn.Change{Space: tab.sp, Count: tab.count, Writes: func(yield func(k, v []byte) bool) {
			c := cursor{v: tab.view}
			for ok := c.first(); ok; ok = c.next() {
				if w := c.write(); !yield(w.keyBytes(), w.val()) {
					return
				}
			}
		}})
	}
	return dst
}

// memtable is the working copy of the active trees.
type memtable struct {
	trees  map[uint64]*growing
	added  []*growing // those that the batch under way is inserted into
	bytes  int        // of memory, about
	large  bool       // a batch of LargeBytes or more is in them
	passed bool       // scans have passed many deletions in them
}

// growing is a tree before it is published.
type growing struct {
	sp kv.Space
	tree
}

// entryBytes is the memory of a tree's entry beside its record.
const entryBytes = 48

// insert adds the batch in a record's body and returns the trees with it.
func (m *memtable) insert(body []byte, old tables) (tables, error) {
	if m.trees == nil {
		m.trees = make(map[uint64]*growing)
	}
	m.added = m.added[:0]
	var cur *growing
	err := decodeBody(body, func(id uint64, db, file []byte, count int) {
		cur = m.trees[id]
		if cur == nil {
			cur = &growing{sp: kv.Space{ID: id, DB: string(db), File: string(file)}}
			m.trees[id] = cur
		}
		if !slices.Contains(m.added, cur) {
			m.added = append(m.added, cur)
		}
		m.bytes += count * entryBytes
	}, func(key, val []byte) {
		cur.set(writeOf(key, val))
	})
	m.bytes += len(body)
	next := slices.Clone(old)
	for _, t := range m.added {
		pub := table{t.sp, t.snap()}
		if i, ok := next.search(t.sp.ID); ok {
			next[i] = pub
		} else {
			next = slices.Insert(next, i, pub)
		}
	}
	return next, err
}
