package executor

import (
	"math"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// keyFilter tells for one column which values may have a partner on a join's
// build side: by the range and a bit per value where the keys are dense integers,
// by a Bloom filter otherwise. The latter may pass values without a partner.
type keyFilter struct {
	col      int // of the operator it is applied to
	ints     bool
	exact    bool // a bit for each value from min on
	min, max int64
	few      []int64  // the values, where they are integers and not many
	column   *vec.Vec // … and where they are something else
	rows     int      // of column
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

// maxFew is the number of keys up to which the rows with them may be looked up.
const maxFew = 2048

// filter returns the filter of the table's i-th key, nil when there is none worth
// having. Whoever applies it makes a copy, for the counters.
func (t *joinTable) filter(i int) *keyFilter {
	t.once.Do(func() {
		for i := range t.keys {
			t.filters = append(t.filters, t.newFilter(i))
		}
	})
	return t.filters[i]
}

// newFilter makes the filter of a key. One of several keys says less than all do: it
// is made only where the rows with its values may be looked up.
func (t *joinTable) newFilter(i int) *keyFilter {
	if t.rows.n > keyFilterMaxRows || len(t.keys) > 1 && t.rows.n > maxFew {
		return nil
	}
	if t.ints != nil && t.ints.dense != nil {
		return t.ints.filter()
	}
	n := 64
	for n < 12*t.rows.n {
		n *= 2
	}
	col := t.keyCols[i]
	f := &keyFilter{ints: col.T.Rep() == types.RepInt, bits: make([]uint64, n/64), mask: uint64(n - 1), min: math.MaxInt64, max: math.MinInt64}
	few := t.rows.n <= maxFew
	hashes := t.hashes
	if !f.ints {
		if len(t.keys) > 1 {
			hashes = hashRows(t.keyCols[i:i+1], nil, t.rows.n, nil)
		}
		if few {
			f.column, f.rows = col, t.rows.n
		}
	}
	for r := range t.rows.n {
		if col.IsNull(r) {
			continue
		}
		var h uint64
		if f.ints {
			k := col.I64[r]
			f.min, f.max = min(f.min, k), max(f.max, k)
			if few {
				f.few = append(f.few, k)
			}
			h = types.HashInt(k)
		} else {
			h = hashes[r]
		}
		a, b := h&f.mask, h>>32&f.mask
		f.bits[a>>6] |= 1 << (a & 63)
		f.bits[b>>6] |= 1 << (b & 63)
	}
	return f
}

// filter returns the exact filter of dense keys.
func (x *intIndex) filter() *keyFilter {
	n := len(x.dense)
	f := &keyFilter{ints: true, exact: true, min: x.min, max: x.min + int64(n-1), bits: make([]uint64, (n+63)/64)}
	many := false
	for i, c := range x.dense {
		if c == 0 {
			continue
		}
		f.bits[i>>6] |= 1 << (i & 63)
		if many = many || len(f.few) == maxFew; !many {
			f.few = append(f.few, x.min+int64(i))
		}
	}
	if many {
		f.few = nil
	}
	return f
}

// values returns the values that may have a partner, as a column's type has them; nil
// where they are many or not known.
func (f *keyFilter) values(t types.T) []types.Datum {
	var out []types.Datum
	for _, v := range f.few {
		out = append(out, types.Int(t, v))
	}
	for r := range f.rows {
		if !f.column.IsNull(r) {
			d := f.column.Get(r)
			d.T = t
			out = append(out, d)
		}
	}
	return out
}

// hasInt reports whether an integer may have a partner.
func (f *keyFilter) hasInt(k int64) bool {
	if k < f.min || k > f.max {
		return false
	}
	if f.exact {
		d := uint64(k) - uint64(f.min)
		return f.bits[d>>6]&(1<<(d&63)) != 0
	}
	return f.hasHash(types.HashInt(k))
}

func (f *keyFilter) hasHash(h uint64) bool {
	a, b := h&f.mask, h>>32&f.mask
	return f.bits[a>>6]&(1<<(a&63)) != 0 && f.bits[b>>6]&(1<<(b&63)) != 0
}

// narrow appends to out the rows of sel (nil: all) that may have a partner.
func (f *keyFilter) narrow(v *vec.Vec, sel []uint32, n int, out []uint32) []uint32 {
	if v.Const && v.IsNull(0) {
		return out
	}
	nulls := v.Nulls.Any()
	switch {
	case f.ints && sel == nil && !nulls && !v.Const:
		for r, k := range v.I64[:n] {
			if f.hasInt(k) {
				out = append(out, uint32(r))
			}
		}
	case f.ints:
		for i := range n {
			r := i
			if sel != nil {
				r = int(sel[i])
			}
			if !(nulls && v.IsNull(r)) && f.hasInt(v.I64[v.Idx(r)]) {
				out = append(out, uint32(r))
			}
		}
	default:
		keys := [1]*vec.Vec{v}
		f.hashes = hashRows(keys[:], sel, n, f.hashes)
		for i, h := range f.hashes {
			r := i
			if sel != nil {
				r = int(sel[i])
			}
			if !(nulls && v.IsNull(r)) && f.hasHash(h) {
				out = append(out, uint32(r))
			}
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
