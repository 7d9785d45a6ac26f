package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func rangeOpFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) { return containsValue(in[0], in[1]) }), "range_contains_elem")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) { return containsValue(in[1], in[0]) }), "elem_contained_by_range")
	r.add(rangeBuilder, "range_constructor2", "range_constructor3")
	r.add(fnD(rangeUnion), "range_union")
	r.add(fnD(rangeIntersect), "range_intersect")
	r.add(fnD(rangeMinus), "range_minus")
	r.add(fnD(rangeMerge), "range_merge")
	multirangeFuncs(r)
}

func twoRanges(in []types.Datum) (a, b types.RangeValue, err error) {
	if a, err = types.DecodeRange(in[0]); err == nil {
		b, err = types.DecodeRange(in[1])
	}
	return a, b, err
}

func adjacent(a, b types.RangeValue) bool {
	return !a.Empty && !b.Empty && (types.UpperBound(a).Touches(types.LowerBound(b)) || types.UpperBound(b).Touches(types.LowerBound(a)))
}

func containsValue(rd, v types.Datum) (types.Datum, error) {
	if a, known := types.ReadWholeRange(rd); known && v.T.Rep() == types.RepInt {
		return types.Bool(a.Contains(&types.WholeRange{Lo: v.I, Hi: v.I})), nil
	}
	r, err := types.DecodeRange(rd)
	if err != nil {
		return null, err
	}
	point := types.Bound{Val: &v, Inc: true}
	return types.Bool(!r.Empty && types.LowerBound(r).Cmp(point) <= 0 && types.UpperBound(r).Cmp(point) >= 0), nil
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
func between(c *callCtx, lo, hi types.Bound) (types.Datum, error) {
	return rangeBetween(c.call.T, lo, hi)
}

func rangeBetween(t types.T, lo, hi types.Bound) (types.Datum, error) {
	return types.NewRange(t, types.RangeValue{Lo: lo.Val, LoInc: lo.Inc, Hi: hi.Val, HiInc: hi.Inc})
}

func lesser(a, b types.Bound) types.Bound {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func larger(a, b types.Bound) types.Bound {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

func rangeUnion(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, b, err := twoRanges(in)
	if err != nil {
		return null, err
	}
	if !a.Empty && !b.Empty && !types.RangesOverlap(a, b) && !adjacent(a, b) {
		return null, sqlerr.New(sqlerr.DataException, "result of range union would not be contiguous")
	}
	return spanning(c, in, a, b)
}

func rangeIntersect(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, b, err := twoRanges(in)
	if err != nil {
		return null, err
	}
	if !types.RangesOverlap(a, b) {
		return types.NewRange(c.call.T, types.RangeValue{Empty: true})
	}
	return between(c, larger(types.LowerBound(a), types.LowerBound(b)), lesser(types.UpperBound(a), types.UpperBound(b)))
}

func rangeMinus(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, b, err := twoRanges(in)
	if err != nil || !types.RangesOverlap(a, b) {
		return in[0], err
	}
	left := types.LowerBound(a).Cmp(types.LowerBound(b)) < 0
	right := types.UpperBound(a).Cmp(types.UpperBound(b)) > 0
	// What is left ends where the other range begins, and the other way round.
	flip := func(x types.Bound) types.Bound { return types.Bound{Val: x.Val, Inc: !x.Inc, Lower: !x.Lower} }
	switch {
	case left && right:
		return null, sqlerr.New(sqlerr.DataException, "result of range difference would not be contiguous")
	case left:
		return between(c, types.LowerBound(a), flip(types.LowerBound(b)))
	case right:
		return between(c, flip(types.UpperBound(b)), types.UpperBound(a))
	}
	return types.NewRange(c.call.T, types.RangeValue{Empty: true})
}

// rangeMerge is the smallest range that holds both.
func rangeMerge(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, b, err := twoRanges(in)
	if err != nil {
		return null, err
	}
	return spanning(c, in, a, b)
}

// spanning is the smallest range that holds a and b, which are in.
func spanning(c *callCtx, in []types.Datum, a, b types.RangeValue) (types.Datum, error) {
	switch {
	case a.Empty:
		return in[1], nil
	case b.Empty:
		return in[0], nil
	}
	return between(c, lesser(types.LowerBound(a), types.LowerBound(b)), larger(types.UpperBound(a), types.UpperBound(b)))
}
