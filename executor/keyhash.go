package executor

import (
	"bytes"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// hashRows returns one well-mixed hash per selected row over the key columns;
// NULLs hash like values. buf is used when it is large enough.
func hashRows(keys []*vec.Vec, sel []uint32, n int, buf []uint64) []uint64 {
	buf = zeroHashes(buf, n)
	for _, k := range keys {
		vec.Hash(k, sel, buf)
	}
	return finishHashes(buf)
}

// zeroHashes is n zeros, with which hashes of several columns begin, in buf if it is
// large enough.
func zeroHashes(buf []uint64, n int) []uint64 {
	if cap(buf) < n {
		buf = make([]uint64, max(n, vec.BatchSize))
	}
	buf = buf[:n]
	clear(buf)
	return buf
}

func finishHashes(buf []uint64) []uint64 {
	for i, h := range buf {
		buf[i] = finishHash(h)
	}
	return buf
}

func finishHash(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// hashInt is what hashRows returns for one key that is an integer.
func hashInt(k int64) uint64 { return finishHash(types.CombineHash(0, types.HashInt(k))) }

// bytewise reports whether values of the kind are equal exactly when their
// bytes are; character may differ in trailing blanks besides.
func bytewise(k types.Kind) bool {
	switch k {
	case types.KText, types.KBytea, types.KUUID, types.KEnum, types.KMacaddr, types.KWord, types.KJSON, types.KVoid:
		return true
	}
	return false
}

// keyEq compares keys of two sets of columns pairwise, where NULL equals NULL.
type keyEq struct {
	bytewise []bool
}

func newKeyEq(ts []types.T) keyEq {
	e := keyEq{bytewise: make([]bool, len(ts))}
	for i, t := range ts {
		e.bytewise[i] = bytewise(t.Kind())
	}
	return e
}

// equal reports whether row ar of a and row br of b have the same key.
func (e *keyEq) equal(a []*vec.Vec, ar int, b []*vec.Vec, br int) bool {
	for i, x := range a {
		if !equalAt(x, ar, b[i], br, e.bytewise[i]) {
			return false
		}
	}
	return true
}

func equalAt(x *vec.Vec, xr int, y *vec.Vec, yr int, raw bool) bool {
	xi, yi := x.Idx(xr), y.Idx(yr)
	xn, yn := x.Nulls.Any() && x.Nulls.Get(xi), y.Nulls.Any() && y.Nulls.Get(yi)
	if xn || yn {
		return xn && yn
	}
	switch x.T.Rep() {
	case types.RepInt:
		return x.I64[xi] == y.I64[yi]
	case types.RepBool:
		return x.Bool[xi] == y.Bool[yi]
	case types.RepFloat:
		a, b := x.F64[xi], y.F64[yi]
		return a == b || a != a && b != b
	case types.RepDec:
		if x.Dec == nil && y.Dec == nil && x.Scale == y.Scale {
			return x.I64[xi] == y.I64[yi]
		}
	case types.RepBytes:
		if raw {
			same := bytes.Equal(x.B[xi], y.B[yi])
			if same || x.T.OID != types.OBpchar {
				return same
			}
		}
	}
	return types.Equal(x.Get(xr), y.Get(yr))
}

// same reports whether a row of a and one of b, that have no NULLs, have the same key
// to the byte: 1.0 and 1.00 are equal, and not the same.
func (e *keyEq) same(a []*vec.Vec, ar int, b []*vec.Vec, br int) bool {
	for i, x := range a {
		if !equalAt(x, ar, b[i], br, e.bytewise[i]) {
			return false
		}
		switch x.T.Rep() {
		case types.RepInt, types.RepBool:
			continue
		}
		if !bytes.Equal(types.AppendBinary(nil, x.Get(ar)), types.AppendBinary(nil, b[i].Get(br))) {
			return false
		}
	}
	return true
}

// hashIndex finds rows of a store by hash: open addressing with linear probing
// over slots that hold row number + 1.
type hashIndex struct {
	slots   []uint32
	hashes  []uint64 // per row
	mask    uint64
	touched uint64 // keeps the loads of keySet.near from being left out
}

// bytes is the memory the index takes.
func (h *hashIndex) bytes() int64 { return int64(4*cap(h.slots) + 8*cap(h.hashes)) }

// reserve makes room for one more row.
func (h *hashIndex) reserve() {
	if 2*(len(h.hashes)+1) <= len(h.slots) {
		return
	}
	n := max(64, 2*len(h.slots))
	h.slots = make([]uint32, n)
	h.mask = uint64(n - 1)
	for row, hash := range h.hashes {
		i := hash & h.mask
		for h.slots[i] != 0 {
			i = (i + 1) & h.mask
		}
		h.slots[i] = uint32(row + 1)
	}
}

// keySet numbers distinct keys in the order of their first appearance.
type keySet struct {
	keys    *rowStore
	telling int // the first so many columns tell keys apart, and are hashed
	index   hashIndex
	eq      keyEq
}

func newKeySet(ts []types.T) *keySet {
	return &keySet{keys: newRowStore(ts), telling: len(ts), eq: newKeyEq(ts)}
}

// own are the columns of the keys that tell them apart.
func (s *keySet) own() []*vec.Vec { return s.keys.cols[:s.telling] }

func (s *keySet) release() {
	s.keys.release()
	s.index = hashIndex{}
}

func (s *keySet) len() int { return s.keys.n }

func (s *keySet) bytes() int64 { return s.keys.size + s.index.bytes() }

// find returns the number of row r's key, or -1.
func (s *keySet) find(cols []*vec.Vec, r int, hash uint64) int {
	ix := &s.index
	if len(ix.slots) == 0 {
		return -1
	}
	cols = cols[:s.telling]
	if len(cols) == 1 && cols[0].T.Rep() == types.RepInt && !cols[0].Nulls.Any() && !s.keys.cols[0].Nulls.Any() {
		// One integer is compared at once, without a look at its hash.
		v, own := cols[0].I64[cols[0].Idx(r)], s.keys.cols[0].I64
		for i := hash & ix.mask; ; i = (i + 1) & ix.mask {
			k := ix.slots[i]
			if k == 0 || own[k-1] == v {
				return int(k) - 1
			}
		}
	}
	for i := hash & ix.mask; ; i = (i + 1) & ix.mask {
		k := ix.slots[i]
		if k == 0 {
			return -1
		}
		if ix.hashes[k-1] == hash && s.eq.equal(s.own(), int(k-1), cols, r) {
			return int(k - 1)
		}
	}
}

// add numbers row r's key, which must be new.
func (s *keySet) add(cols []*vec.Vec, r int, hash uint64) int {
	ix := &s.index
	ix.reserve()
	i := hash & ix.mask
	for ix.slots[i] != 0 {
		i = (i + 1) & ix.mask
	}
	n := s.keys.n
	sel := [1]uint32{uint32(r)}
	s.keys.appendCols(cols, sel[:], 1)
	ix.hashes = append(ix.hashes, hash)
	ix.slots[i] = uint32(n + 1)
	return n
}

// What near does at a time, and the size of an index from which it pays: below,
// the processor's cache has it all.
const (
	nearGroup = 256
	nearMin   = 1 << 16
)

// near brings what find and findOrAdd will look at for these hashes into the
// processor's cache. A search waits for memory twice, for its slot and for the
// key there; here, where no load depends on the one before, the waits overlap.
func (s *keySet) near(hashes []uint64) {
	ix := &s.index
	if len(ix.slots) < nearMin {
		return
	}
	own := ix.hashes
	var found [nearGroup]uint32
	for len(hashes) > 0 {
		n := min(nearGroup, len(hashes))
		for i, h := range hashes[:n] {
			found[i] = ix.slots[h&ix.mask]
		}
		var sum uint64
		if s.telling == 1 && s.keys.cols[0].T.Rep() == types.RepInt {
			for _, k := range found[:n] {
				sum += uint64(s.keys.cols[0].I64[max(k, 1)-1])
			}
		} else {
			for _, k := range found[:n] {
				sum += own[max(k, 1)-1]
			}
		}
		ix.touched = sum
		hashes = hashes[n:]
	}
}

// findOrAdd returns the number of row r's key and whether it is new.
func (s *keySet) findOrAdd(cols []*vec.Vec, r int, hash uint64) (int, bool) {
	if n := s.find(cols, r, hash); n >= 0 {
		return n, false
	}
	return s.add(cols, r, hash), true
}
