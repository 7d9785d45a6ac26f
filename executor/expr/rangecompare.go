package expr

import "kvsqld/catalog/types"

// wholeBounds are the ends of a range whose bounds are whole numbers, as points: an
// exclusive lower bound lies half a step above its value, an exclusive upper one below.
type wholeBounds struct {
	lo, hi       int64
	loAt, hiAt   int8 // half steps that the end lies from its value
	noLo, noHi   bool
	empty, known bool
}

// readWhole reads the range without making values of its bounds; known is false where
// these are not whole numbers.
func readWhole(d *types.Datum) (b wholeBounds) {
	var r types.WholeRange
	if r, b.known = types.ReadWholeRange(*d); !b.known {
		return b
	}
	b.lo, b.hi, b.noLo, b.noHi, b.empty = r.Lo, r.Hi, r.NoLo, r.NoHi, r.Empty
	if !r.LoInc {
		b.loAt = 1
	}
	if !r.HiInc {
		b.hiAt = -1
	}
	return b
}

// startsBy reports whether a begins at or before the end of b.
func (a *wholeBounds) startsBy(b *wholeBounds) bool {
	return a.noLo || b.noHi || a.lo < b.hi || a.lo == b.hi && a.loAt <= b.hiAt
}

func (a *wholeBounds) overlaps(b *wholeBounds) bool {
	return !a.empty && !b.empty && a.startsBy(b) && b.startsBy(a)
}

func (a *wholeBounds) contains(b *wholeBounds) bool {
	switch {
	case b.empty:
		return true
	case a.empty, b.noLo && !a.noLo, b.noHi && !a.noHi:
		return false
	}
	return (a.noLo || a.lo < b.lo || a.lo == b.lo && a.loAt <= b.loAt) && (a.noHi || a.hi > b.hi || a.hi == b.hi && a.hiAt >= b.hiAt)
}
