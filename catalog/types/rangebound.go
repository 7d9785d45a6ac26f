package types

// Bound is one end of a range; a nil Val is infinite.
type Bound struct {
	Val        *Datum
	Inc, Lower bool
}

// LowerBound and UpperBound return the ends of a range that is not empty.
func LowerBound(r RangeValue) Bound { return Bound{r.Lo, r.LoInc, true} }

// UpperBound returns the upper end.
func UpperBound(r RangeValue) Bound { return Bound{r.Hi, r.HiInc, false} }

// RangesOverlap reports whether two ranges have a value in common.
func RangesOverlap(a, b RangeValue) bool {
	return !a.Empty && !b.Empty && LowerBound(a).Cmp(UpperBound(b)) <= 0 && LowerBound(b).Cmp(UpperBound(a)) <= 0
}

// RangeContains reports whether all of b is in a.
func RangeContains(a, b RangeValue) bool {
	return b.Empty || !a.Empty && LowerBound(a).Cmp(LowerBound(b)) <= 0 && UpperBound(a).Cmp(UpperBound(b)) >= 0
}

// Cmp orders bounds as points: an exclusive lower bound lies just above its
// value, an exclusive upper bound just below.
func (a Bound) Cmp(b Bound) int {
	switch {
	case a.Val == nil && b.Val == nil:
		return a.side() - b.side()
	case a.Val == nil:
		return a.side()
	case b.Val == nil:
		return -b.side()
	}
	if c := Compare(*a.Val, *b.Val); c != 0 {
		return c
	}
	return a.shift() - b.shift()
}

// side is where an infinite bound lies.
func (a Bound) side() int {
	if a.Lower {
		return -1
	}
	return 1
}

func (a Bound) shift() int {
	switch {
	case a.Inc:
		return 0
	case a.Lower:
		return 1
	}
	return -1
}

// Touches reports whether an upper bound and a lower one meet without overlap.
func (a Bound) Touches(b Bound) bool {
	return a.Val != nil && b.Val != nil && a.Inc != b.Inc && Compare(*a.Val, *b.Val) == 0
}
