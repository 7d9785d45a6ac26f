package executor

import (
	"math/bits"

	"kvsqld/catalog/types/vec"
)

// intIndex finds the rows of a join's build side by one integer key. Rows of one
// key are chained in the order of arrival. Where the keys are dense, as numbers
// of a primary key are, they are places in an array, and nothing is hashed.
type intIndex struct {
	dense []uint32 // row + 1 of the first row with key min + i, 0 for none
	min   int64
	slots []intSlot // open addressing; nil if dense
	shift uint      // of a hash to its slot
	keys  int       // number of different keys
	dups  bool      // a key has several rows
}

// intSlot is a key with row + 1 of its first row, 0 in a free slot.
type intSlot struct {
	key int64
	row uint32
}

// denseFactor is how much larger than the number of rows the range of the keys
// may be for the array.
const denseFactor = 4

// newIntIndex indexes the n rows of a column but for those with NULL, and links
// rows of one key in next, in an order of all rows, nil for that of arrival.
func newIntIndex(col *vec.Vec, n int, next, order []uint32) *intIndex {
	x := &intIndex{}
	keys := col.I64[:n]
	nulls := col.Nulls.Any()
	found := false
	var low, high int64
	for r, k := range keys {
		if nulls && col.Nulls.Get(r) {
			continue
		}
		if !found {
			low, high, found = k, k, true
		}
		low, high = min(low, k), max(high, k)
	}
	x.min = low
	if span := uint64(high) - uint64(low); found && span < uint64(denseFactor*n+64) {
		x.dense = make([]uint32, span+1)
	} else {
		lg := bits.Len(uint(2*n + 8))
		x.slots, x.shift = make([]intSlot, 1<<lg), uint(64-lg)
	}
	for i := n - 1; i >= 0; i-- {
		r := i
		if order != nil {
			r = int(order[i])
		}
		if nulls && col.Nulls.Get(r) {
			continue
		}
		first := x.place(keys[r])
		if *first == 0 {
			x.keys++
		} else {
			x.dups = true
		}
		next[r] = *first
		*first = uint32(r + 1)
	}
	return x
}

// slot is where the search for a key begins.
func (x *intIndex) slot(k int64) uint64 { return uint64(k) * 0x9e3779b97f4a7c15 >> x.shift }

// place returns where the first row of a key is kept.
func (x *intIndex) place(k int64) *uint32 {
	if x.dense != nil {
		return &x.dense[uint64(k)-uint64(x.min)]
	}
	mask := uint64(len(x.slots) - 1)
	for i := x.slot(k); ; i = (i + 1) & mask {
		s := &x.slots[i]
		if s.row == 0 {
			s.key = k
		}
		if s.key == k {
			return &s.row
		}
	}
}

// find returns row + 1 of the first row with a key, 0 for none.
func (x *intIndex) find(k int64) uint32 {
	if x.dense != nil {
		if d := uint64(k) - uint64(x.min); d < uint64(len(x.dense)) {
			return x.dense[d]
		}
		return 0
	}
	mask := uint64(len(x.slots) - 1)
	for i := x.slot(k) & mask; ; i = (i + 1) & mask {
		if s := &x.slots[i]; s.row == 0 || s.key == k {
			return s.row
		}
	}
}

func (x *intIndex) bytes() int64 {
	if x == nil {
		return 0
	}
	return 4*int64(cap(x.dense)) + 16*int64(cap(x.slots))
}

// pairs appends the rows among rows[from:] of a batch whose key has its one row
// here, and those rows, without those that skip. It is the hot loop of joins
// with a unique build side: no row depends on the one before, so that misses of
// the cache overlap.
func (x *intIndex) pairs(key *vec.Vec, b *vec.Batch, from int, skip func(int) bool, l, r []uint32) ([]uint32, []uint32) {
	n := b.Rows()
	if x.dense != nil && b.Sel == nil && skip == nil && !key.Const {
		dense, low := x.dense, uint64(x.min)
		for i, k := range key.I64[from:n] {
			if d := uint64(k) - low; d < uint64(len(dense)) {
				if c := dense[d]; c != 0 {
					l, r = append(l, uint32(from+i)), append(r, c-1)
				}
			}
		}
		return l, r
	}
	for i := from; i < n; i++ {
		row := b.Row(i)
		if skip != nil && skip(row) {
			continue
		}
		if c := x.find(key.I64[key.Idx(row)]); c != 0 {
			l, r = append(l, uint32(row)), append(r, c-1)
		}
	}
	return l, r
}
