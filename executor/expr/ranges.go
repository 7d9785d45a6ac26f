package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// bound is one end of a range; a nil value is infinite.
type bound struct {
	val        *types.Datum
	inc, lower bool
}

func lowerBound(r types.RangeValue) bound { return bound{r.Lo, r.LoInc, true} }
func upperBound(r types.RangeValue) bound { return bound{r.Hi, r.HiInc, false} }

// cmp orders bounds as points: an exclusive lower bound lies just above its
// value, an exclusive upper bound just below.
func (a bound) cmp(b bound) int {
	switch {
	case a.val == nil && b.val == nil:
		return a.side() - b.side()
	case a.val == nil:
		return a.side()
	case b.val == nil:
		return -b.side()
	}
	if c := types.Compare(*a.val, *b.val); c != 0 {
		return sign(c)
	}
	return sign(a.shift() - b.shift())
}

// side is where an infinite bound lies.
func (a bound) side() int {
	if a.lower {
		return -1
	}
	return 1
}

func (a bound) shift() int {
	switch {
	case a.inc:
		return 0
	case a.lower:
		return 1
	}
	return -1
}

// touches reports whether an upper bound and a lower one meet without overlap.
func (a bound) touches(b bound) bool {
	return a.val != nil && b.val != nil && a.inc != b.inc && types.Compare(*a.val, *b.val) == 0
}

func rangeOpFuncs(r *registry) {
	test := func(f func(a, b types.RangeValue) bool, srcs ...string) {
		r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
			a, b, err := twoRanges(in)
			return types.Bool(err == nil && f(a, b)), err
		}), srcs...)
	}
	test(overlaps, "range_overlaps")
	test(rangeContains, "range_contains")
	test(func(a, b types.RangeValue) bool { return rangeContains(b, a) }, "range_contained_by")
	test(before, "range_before")
	test(func(a, b types.RangeValue) bool { return before(b, a) }, "range_after")
	test(func(a, b types.RangeValue) bool {
		return !a.Empty && !b.Empty && upperBound(a).cmp(upperBound(b)) <= 0
	}, "range_overleft")
	test(func(a, b types.RangeValue) bool {
		return !a.Empty && !b.Empty && lowerBound(a).cmp(lowerBound(b)) >= 0
	}, "range_overright")
	test(adjacent, "range_adjacent")

	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) { return containsValue(in[0], in[1]) }), "range_contains_elem")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) { return containsValue(in[1], in[0]) }), "elem_contained_by_range")
	part := func(f func(r types.RangeValue) types.Datum, src string) {
		r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
			v, err := types.DecodeRange(in[0])
			if err != nil {
				return null, err
			}
			return f(v), nil
		}), src)
	}
	end := func(d *types.Datum) types.Datum {
		if d == nil {
			return null
		}
		return *d
	}
	part(func(r types.RangeValue) types.Datum { return end(r.Lo) }, "range_lower")
	part(func(r types.RangeValue) types.Datum { return end(r.Hi) }, "range_upper")
	part(func(r types.RangeValue) types.Datum { return types.Bool(r.Empty) }, "range_empty")
	part(func(r types.RangeValue) types.Datum { return types.Bool(!r.Empty && r.LoInc) }, "range_lower_inc")
	part(func(r types.RangeValue) types.Datum { return types.Bool(!r.Empty && r.HiInc) }, "range_upper_inc")
	part(func(r types.RangeValue) types.Datum { return types.Bool(!r.Empty && r.Lo == nil) }, "range_lower_inf")
	part(func(r types.RangeValue) types.Datum { return types.Bool(!r.Empty && r.Hi == nil) }, "range_upper_inf")

	r.add(fnD(rangeConstructor), "range_constructor2", "range_constructor3")
	r.add(fnD(rangeUnion), "range_union")
	r.add(fnD(rangeIntersect), "range_intersect")
	r.add(fnD(rangeMinus), "range_minus")
}

func twoRanges(in []types.Datum) (a, b types.RangeValue, err error) {
	if a, err = types.DecodeRange(in[0]); err == nil {
		b, err = types.DecodeRange(in[1])
	}
	return a, b, err
}

func overlaps(a, b types.RangeValue) bool {
	return !a.Empty && !b.Empty && lowerBound(a).cmp(upperBound(b)) <= 0 && lowerBound(b).cmp(upperBound(a)) <= 0
}

func rangeContains(a, b types.RangeValue) bool {
	return b.Empty || !a.Empty && lowerBound(a).cmp(lowerBound(b)) <= 0 && upperBound(a).cmp(upperBound(b)) >= 0
}

func before(a, b types.RangeValue) bool {
	return !a.Empty && !b.Empty && upperBound(a).cmp(lowerBound(b)) < 0
}

func adjacent(a, b types.RangeValue) bool {
	return !a.Empty && !b.Empty && (upperBound(a).touches(lowerBound(b)) || upperBound(b).touches(lowerBound(a)))
}

func containsValue(rd, v types.Datum) (types.Datum, error) {
	r, err := types.DecodeRange(rd)
	if err != nil {
		return null, err
	}
	point := bound{val: &v, inc: true}
	return types.Bool(!r.Empty && lowerBound(r).cmp(point) <= 0 && upperBound(r).cmp(point) >= 0), nil
}

// rangeConstructor makes a range of two ends, NULL for infinity, and flags such
// as [), the default.
func rangeConstructor(c *callCtx, in []types.Datum) (types.Datum, error) {
	r := types.RangeValue{LoInc: true}
	if len(in) > 2 {
		if in[2].Null {
			return null, sqlerr.New(sqlerr.DataException, "range constructor flags argument must not be null")
		}
		f := string(in[2].B)
		if len(f) != 2 || f[0] != '[' && f[0] != '(' || f[1] != ']' && f[1] != ')' {
			return null, sqlerr.New(sqlerr.SyntaxError, "invalid range bound flags").
				WithHint(`Valid values are "[]", "[)", "(]", and "()".`)
		}
		r.LoInc, r.HiInc = f[0] == '[', f[1] == ']'
	}
	if !in[0].Null {
		lo := in[0]
		r.Lo = &lo
	}
	if !in[1].Null {
		hi := in[1]
		r.Hi = &hi
	}
	r.LoInc, r.HiInc = r.LoInc && r.Lo != nil, r.HiInc && r.Hi != nil
	return types.NewRange(c.call.T, r)
}

// between makes the range of two bounds.
func between(c *callCtx, lo, hi bound) (types.Datum, error) {
	return types.NewRange(c.call.T, types.RangeValue{Lo: lo.val, LoInc: lo.inc, Hi: hi.val, HiInc: hi.inc})
}

func lesser(a, b bound) bound {
	if a.cmp(b) <= 0 {
		return a
	}
	return b
}

func larger(a, b bound) bound {
	if a.cmp(b) >= 0 {
		return a
	}
	return b
}

func rangeUnion(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, b, err := twoRanges(in)
	switch {
	case err != nil:
		return null, err
	case a.Empty:
		return in[1], nil
	case b.Empty:
		return in[0], nil
	case !overlaps(a, b) && !adjacent(a, b):
		return null, sqlerr.New(sqlerr.DataException, "result of range union would not be contiguous")
	}
	return between(c, lesser(lowerBound(a), lowerBound(b)), larger(upperBound(a), upperBound(b)))
}

func rangeIntersect(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, b, err := twoRanges(in)
	if err != nil {
		return null, err
	}
	if !overlaps(a, b) {
		return types.NewRange(c.call.T, types.RangeValue{Empty: true})
	}
	return between(c, larger(lowerBound(a), lowerBound(b)), lesser(upperBound(a), upperBound(b)))
}

func rangeMinus(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, b, err := twoRanges(in)
	if err != nil || !overlaps(a, b) {
		return in[0], err
	}
	left := lowerBound(a).cmp(lowerBound(b)) < 0
	right := upperBound(a).cmp(upperBound(b)) > 0
	// What is left ends where the other range begins, and the other way round.
	flip := func(x bound) bound { return bound{x.val, !x.inc, !x.lower} }
	switch {
	case left && right:
		return null, sqlerr.New(sqlerr.DataException, "result of range difference would not be contiguous")
	case left:
		return between(c, lowerBound(a), flip(lowerBound(b)))
	case right:
		return between(c, flip(upperBound(b)), upperBound(a))
	}
	return types.NewRange(c.call.T, types.RangeValue{Empty: true})
}
