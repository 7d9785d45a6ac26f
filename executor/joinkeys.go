package executor

import (
	"sync"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// joinTable is the build side of a hash join: rows with their keys, found by
// hash. Rows of equal hash are chained in the order of arrival, or, where there are
// many of them, in that of a leadColumn.
type joinTable struct {
	rows    *rowStore
	keys    []int // columns of rows
	keyCols []*vec.Vec
	eq      keyEq
	single  bool      // one key held as an integer
	ints    *intIndex // in place of slots and hashes, where it can be
	slots   []uint32
	mask    uint64
	hashes  []uint64
	next    []uint32 // row + 1 of the next row of the chain, 0 at its end
	hasNull bool     // a row has a NULL key
	heads   int      // number of chains
	led     bool     // they have the order of the leadColumn

	once    sync.Once
	filters []*keyFilter // of each key
}

func newJoinTable(ts []types.T, keys []int) *joinTable {
	t := &joinTable{rows: newRowStore(ts), keys: keys}
	kts := make([]types.T, len(keys))
	for i, k := range keys {
		kts[i] = ts[k]
	}
	t.eq = newKeyEq(kts)
	t.single = len(keys) == 1 && kts[0].Rep() == types.RepInt
	return t
}

func (t *joinTable) bytes() int64 {
	return t.rows.size + 8*int64(cap(t.slots)/2+cap(t.hashes)) + 4*int64(cap(t.next)) + t.ints.bytes()
}

// bytesBuilt estimates bytes after index has been called.
func (t *joinTable) bytesBuilt() int64 { return t.rows.size + 24*int64(t.rows.n) }

// longChain is the number of rows of one key from which on their order is worth it.
const longChain = 8

// index makes the rows findable. Rows with a NULL in a key that nullEq does not
// allow are left out. lead, if not nil, is what chains are to be ordered by.
func (t *joinTable) index(nullEq []bool, lead *leadColumn) {
	t.link(nullEq, nil)
	if lead != nil && t.rows.n >= longChain*t.heads {
		t.led = true
		t.link(nullEq, lead.order(t.rows.cols[lead.right], t.rows.n))
	}
}

// link chains the rows in an order, nil for that of arrival.
func (t *joinTable) link(nullEq []bool, order []uint32) {
	n := t.rows.n
	t.next = make([]uint32, n)
	t.keyCols = t.keyCols[:0]
	for _, k := range t.keys {
		t.keyCols = append(t.keyCols, t.rows.cols[k])
	}
	if t.single && (nullEq == nil || !nullEq[0]) {
		t.ints = newIntIndex(t.keyCols[0], n, t.next, order)
		t.heads = t.ints.keys
		t.hasNull = t.keyCols[0].Nulls.Any()
		return
	}
	size := 64
	for size < 2*n {
		size *= 2
	}
	t.slots = make([]uint32, size)
	t.mask = uint64(size - 1)
	t.hashes = hashRows(t.keyCols, nil, n, nil)
	t.hasNull, t.heads = false, 0
	skip := nullRows(t.keyCols, nullEq)
	for i := n - 1; i >= 0; i-- {
		r := i
		if order != nil {
			r = int(order[i])
		}
		if skip != nil && skip(r) {
			t.hasNull = true
			continue
		}
		h := t.hashes[r]
		at := h & t.mask
		for t.slots[at] != 0 && t.hashes[t.slots[at]-1] != h {
			at = (at + 1) & t.mask
		}
		if t.slots[at] == 0 {
			t.heads++
		}
		t.next[r] = t.slots[at]
		t.slots[at] = uint32(r + 1)
	}
}

// nullRows returns a test for rows with a NULL key that can equal nothing; nil
// when there are none.
func nullRows(keys []*vec.Vec, nullEq []bool) func(r int) bool {
	var test []*vec.Vec
	for i, k := range keys {
		if (nullEq == nil || !nullEq[i]) && k.Nulls.Any() {
			test = append(test, k)
		}
	}
	if test == nil {
		return nil
	}
	return func(r int) bool {
		for _, k := range test {
			if k.IsNull(r) {
				return true
			}
		}
		return false
	}
}

// head returns row + 1 of the first row of the hash's chain, 0 for none.
func (t *joinTable) head(h uint64) uint32 {
	for i := h & t.mask; ; i = (i + 1) & t.mask {
		s := t.slots[i]
		if s == 0 || t.hashes[s-1] == h {
			return s
		}
	}
}

// match follows a chain from c (row + 1) to the first row with the same key as
// row r of keys; 0 when there is none.
func (t *joinTable) match(c uint32, keys []*vec.Vec, r int) uint32 {
	for c != 0 && !t.eq.equal(t.keyCols, int(c-1), keys, r) {
		c = t.next[c-1]
	}
	return c
}
