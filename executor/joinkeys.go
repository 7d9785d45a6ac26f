package executor

import (
	"math"
	"sync"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// joinTable is the build side of a hash join: rows with their keys, found by
// hash. Rows of equal hash are chained in the order of arrival.
type joinTable struct {
	rows    *rowStore
	keys    []int // columns of rows
	keyCols []*vec.Vec
	eq      keyEq
	single  bool // one key held as an integer: compared without a call
	slots   []uint32
	mask    uint64
	hashes  []uint64
	next    []uint32 // row + 1 of the next row of the chain, 0 at its end
	hasNull bool     // a row has a NULL key

	once      sync.Once
	keyFilter *keyFilter
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
	return t.rows.size + 8*int64(cap(t.slots)/2+cap(t.hashes)) + 4*int64(cap(t.next))
}

// bytesBuilt estimates bytes after index has been called.
func (t *joinTable) bytesBuilt() int64 { return t.rows.size + 24*int64(t.rows.n) }

// index makes the rows findable. Rows with a NULL in a key that nullEq does not
// allow are left out.
func (t *joinTable) index(nullEq []bool) {
	n := t.rows.n
	size := 64
	for size < 2*n {
		size *= 2
	}
	t.slots = make([]uint32, size)
	t.mask = uint64(size - 1)
	t.next = make([]uint32, n)
	t.keyCols = t.keyCols[:0]
	for _, k := range t.keys {
		t.keyCols = append(t.keyCols, t.rows.cols[k])
	}
	t.hashes = hashRows(t.keyCols, nil, n, nil)
	t.hasNull = false
	skip := nullRows(t.keyCols, nullEq)
	for r := n - 1; r >= 0; r-- {
		if skip != nil && skip(r) {
			t.hasNull = true
			continue
		}
		h := t.hashes[r]
		i := h & t.mask
		for t.slots[i] != 0 && t.hashes[t.slots[i]-1] != h {
			i = (i + 1) & t.mask
		}
		t.next[r] = t.slots[i]
		t.slots[i] = uint32(r + 1)
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
	if t.single {
		k, own := keys[0], t.keyCols[0]
		if !k.Nulls.Any() && !own.Nulls.Any() {
			v := k.I64[k.Idx(r)]
			for c != 0 && own.I64[c-1] != v {
				c = t.next[c-1]
			}
			return c
		}
	}
	for c != 0 && !t.eq.equal(t.keyCols, int(c-1), keys, r) {
		c = t.next[c-1]
	}
	return c
}

// keyFilter tells for one column which values may have a partner on a join's
// build side: a range and a Bloom filter. It may pass values without one.
type keyFilter struct {
	col      int // of the operator it is applied to
	ints     bool
	min, max int64
	bits     []uint64
	mask     uint64
	tested   int
	passed   int
	off      bool // passes too much to be worth its cost
	hashes   []uint64
}

// keyFilterMaxRows is the size of a build side above which a filter would not
// stay in the cache.
const keyFilterMaxRows = 1 << 20

// filter returns the filter of the table's key, nil when there is none worth
// having. Whoever applies it makes a copy, for the counters.
func (t *joinTable) filter() *keyFilter {
	t.once.Do(func() { t.keyFilter = t.newFilter() })
	return t.keyFilter
}

func (t *joinTable) newFilter() *keyFilter {
	if len(t.keys) != 1 || t.rows.n > keyFilterMaxRows {
		return nil
	}
	n := 64
	for n < 12*t.rows.n {
		n *= 2
	}
	f := &keyFilter{bits: make([]uint64, n/64), mask: uint64(n - 1), ints: t.single, min: math.MaxInt64, max: math.MinInt64}
	col := t.keyCols[0]
	for r, h := range t.hashes {
		if col.IsNull(r) {
			continue
		}
		if f.ints {
			f.min, f.max = min(f.min, col.I64[r]), max(f.max, col.I64[r])
		}
		a, b := h&f.mask, h>>32&f.mask
		f.bits[a>>6] |= 1 << (a & 63)
		f.bits[b>>6] |= 1 << (b & 63)
	}
	return f
}

// narrow appends to out the rows of sel (nil: all) that may have a partner.
func (f *keyFilter) narrow(v *vec.Vec, sel []uint32, n int, out []uint32) []uint32 {
	keys := [1]*vec.Vec{v}
	if v.Const && v.IsNull(0) {
		return out
	}
	f.hashes = hashRows(keys[:], sel, n, f.hashes)
	nulls := v.Nulls.Any()
	for i, h := range f.hashes {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if nulls && v.IsNull(r) {
			continue
		}
		if f.ints {
			if x := v.I64[v.Idx(r)]; x < f.min || x > f.max {
				continue
			}
		}
		a, b := h&f.mask, h>>32&f.mask
		if f.bits[a>>6]&(1<<(a&63)) != 0 && f.bits[b>>6]&(1<<(b&63)) != 0 {
			out = append(out, uint32(r))
		}
	}
	f.tested += n
	f.passed += len(out)
	if f.tested > 16*vec.BatchSize && 4*f.passed > 3*f.tested {
		f.off = true
	}
	return out
}

// filterTarget is implemented by operators that can apply a key filter to one of
// their output columns, or hand it to an operator below. It is called before
// Open; Close forgets the filter.
type filterTarget interface {
	pushFilter(col int, f *keyFilter) bool
}

func pushFilter(op Operator, col int, f *keyFilter) bool {
	if s, ok := op.(*statsOp); ok {
		op = s.Operator
	}
	t, ok := op.(filterTarget)
	return ok && t.pushFilter(col, f)
}
