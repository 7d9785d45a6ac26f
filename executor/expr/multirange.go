package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// spans are the ranges of a range or multirange, in order and apart from each
// other; an empty one has none.
func spans(d types.Datum) ([]types.RangeValue, error) {
	if d.T.Kind() == types.KMultirange {
		return types.DecodeMultirange(d)
	}
	r, err := types.DecodeRange(d)
	if err != nil || r.Empty {
		return nil, err
	}
	return []types.RangeValue{r}, nil
}

func lowest(s []types.RangeValue) types.Bound  { return types.LowerBound(s[0]) }
func highest(s []types.RangeValue) types.Bound { return types.UpperBound(s[len(s)-1]) }

func multirangeFuncs(r *registry) {
	// Each test is defined for every pair of ranges and multiranges.
	whole := map[string]func(a, b *types.WholeRange) bool{
		"range_overlaps": (*types.WholeRange).Overlaps, "range_contains": (*types.WholeRange).Contains,
		"range_contained_by": func(a, b *types.WholeRange) bool { return b.Contains(a) },
	}
	test := func(f func(a, b []types.RangeValue) bool, srcs ...string) {
		body := func(_ *callCtx, in []types.Datum) (types.Datum, error) {
			a, err := spans(in[0])
			if err != nil {
				return null, err
			}
			b, err := spans(in[1])
			return types.Bool(err == nil && f(a, b)), err
		}
		if fast := whole[srcs[0]]; fast != nil {
			r.add(wholeTest(fast, body), srcs...)
			return
		}
		r.add(fnD(body), srcs...)
	}
	swap := func(f func(a, b []types.RangeValue) bool) func(a, b []types.RangeValue) bool {
		return func(a, b []types.RangeValue) bool { return f(b, a) }
	}
	pairs := func(verb string) []string {
		return []string{"range_" + verb, "range_" + verb + "_multirange", "multirange_" + verb + "_range", "multirange_" + verb + "_multirange"}
	}
	test(spansOverlap, pairs("overlaps")...)
	test(spansContain, "range_contains", "range_contains_multirange", "multirange_contains_range", "multirange_contains_multirange")
	test(swap(spansContain), "range_contained_by", "range_contained_by_multirange", "multirange_contained_by_range", "multirange_contained_by_multirange")
	test(spansBefore, pairs("before")...)
	test(swap(spansBefore), pairs("after")...)
	test(func(a, b []types.RangeValue) bool {
		return len(a) > 0 && len(b) > 0 && highest(a).Cmp(highest(b)) <= 0
	}, pairs("overleft")...)
	test(func(a, b []types.RangeValue) bool {
		return len(a) > 0 && len(b) > 0 && lowest(a).Cmp(lowest(b)) >= 0
	}, pairs("overright")...)
	test(func(a, b []types.RangeValue) bool {
		return len(a) > 0 && len(b) > 0 && (highest(a).Touches(lowest(b)) || highest(b).Touches(lowest(a)))
	}, pairs("adjacent")...)

	elem := func(m, v types.Datum) (types.Datum, error) {
		s, err := spans(m)
		if err != nil {
			return null, err
		}
		point := types.RangeValue{Lo: &v, LoInc: true, Hi: &v, HiInc: true}
		return types.Bool(spansContain(s, []types.RangeValue{point})), nil
	}
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) { return elem(in[0], in[1]) }), "multirange_contains_elem")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) { return elem(in[1], in[0]) }), "elem_contained_by_multirange")

	body := func(f func(s []types.RangeValue) types.Datum) datumBody {
		return func(_ *callCtx, in []types.Datum) (types.Datum, error) {
			s, err := spans(in[0])
			if err != nil {
				return null, err
			}
			return f(s), nil
		}
	}
	part := func(f func(s []types.RangeValue) types.Datum, name string) {
		r.add(fnD(body(f)), "range_"+name, "multirange_"+name)
	}
	end := func(of func([]types.RangeValue) types.Bound) func([]types.RangeValue) types.Datum {
		return func(s []types.RangeValue) types.Datum {
			if len(s) == 0 || of(s).Val == nil {
				return null
			}
			return *of(s).Val
		}
	}
	r.add(endBuilder(false, body(end(lowest))), "range_lower", "multirange_lower")
	r.add(endBuilder(true, body(end(highest))), "range_upper", "multirange_upper")
	part(func(s []types.RangeValue) types.Datum { return types.Bool(len(s) == 0) }, "empty")
	part(func(s []types.RangeValue) types.Datum { return types.Bool(len(s) > 0 && lowest(s).Inc) }, "lower_inc")
	part(func(s []types.RangeValue) types.Datum { return types.Bool(len(s) > 0 && highest(s).Inc) }, "upper_inc")
	part(func(s []types.RangeValue) types.Datum { return types.Bool(len(s) > 0 && lowest(s).Val == nil) }, "lower_inf")
	part(func(s []types.RangeValue) types.Datum { return types.Bool(len(s) > 0 && highest(s).Val == nil) }, "upper_inf")

	combine := func(f func(t types.T, a, b []types.RangeValue) ([]types.RangeValue, error), src string) {
		r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
			a, err := spans(in[0])
			if err != nil {
				return null, err
			}
			b, err := spans(in[1])
			if err != nil {
				return null, err
			}
			out, err := f(types.RangeOf(c.call.T), a, b)
			if err != nil {
				return null, err
			}
			return types.NewMultirange(c.call.T, out)
		}), src)
	}
	combine(func(_ types.T, a, b []types.RangeValue) ([]types.RangeValue, error) {
		return append(a[:len(a):len(a)], b...), nil
	}, "multirange_union")
	combine(spansIntersect, "multirange_intersect")
	combine(spansMinus, "multirange_minus")

	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
		s, err := spans(in[0])
		if err != nil {
			return null, err
		}
		if len(s) == 0 {
			return types.NewRange(c.call.T, types.RangeValue{Empty: true})
		}
		return rangeBetween(c.call.T, lowest(s), highest(s))
	}), "range_merge_from_multirange")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) { return types.NewMultirange(c.call.T, nil) }), "multirange_constructor0")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
		s, err := spans(in[0])
		if err != nil {
			return null, err
		}
		return types.NewMultirange(c.call.T, s)
	}), "multirange_constructor1")
	r.add(fnD(multirangeOfArray), "multirange_constructor2")
	r.addSet(func(call *plan.Call) setBody {
		return rowsSet(func(c *callCtx, in []types.Datum) ([][]types.Datum, error) {
			s, err := spans(in[0])
			if err != nil {
				return nil, err
			}
			rng := types.RangeOf(in[0].T)
			rows := make([][]types.Datum, len(s))
			for i := range s {
				d, err := types.NewRange(rng, s[i])
				d.T = call.T
				if err != nil {
					return nil, err
				}
				rows[i] = []types.Datum{d}
			}
			return rows, nil
		})(call)
	}, "multirange_unnest")
}

func spansOverlap(a, b []types.RangeValue) bool {
	for len(a) > 0 && len(b) > 0 {
		if types.RangesOverlap(a[0], b[0]) {
			return true
		}
		if types.UpperBound(a[0]).Cmp(types.UpperBound(b[0])) < 0 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return false
}

// spansContain reports whether each range of b lies in one of a.
func spansContain(a, b []types.RangeValue) bool {
	for _, r := range b {
		for len(a) > 0 && types.UpperBound(a[0]).Cmp(types.UpperBound(r)) < 0 {
			a = a[1:]
		}
		if len(a) == 0 || types.LowerBound(a[0]).Cmp(types.LowerBound(r)) > 0 {
			return false
		}
	}
	return true
}

func spansBefore(a, b []types.RangeValue) bool {
	return len(a) > 0 && len(b) > 0 && highest(a).Cmp(lowest(b)) < 0
}

func spansIntersect(t types.T, a, b []types.RangeValue) ([]types.RangeValue, error) {
	var out []types.RangeValue
	for _, x := range a {
		for _, y := range b {
			if types.RangesOverlap(x, y) {
				lo, hi := larger(types.LowerBound(x), types.LowerBound(y)), lesser(types.UpperBound(x), types.UpperBound(y))
				out = append(out, types.RangeValue{Lo: lo.Val, LoInc: lo.Inc, Hi: hi.Val, HiInc: hi.Inc})
			}
		}
	}
	return canonicalSpans(t, out)
}

// spansMinus is what is left of a without b.
func spansMinus(t types.T, a, b []types.RangeValue) ([]types.RangeValue, error) {
	rest := a
	for _, y := range b {
		var next []types.RangeValue
		for _, x := range rest {
			if !types.RangesOverlap(x, y) {
				next = append(next, x)
				continue
			}
			if types.LowerBound(x).Cmp(types.LowerBound(y)) < 0 {
				next = append(next, types.RangeValue{Lo: x.Lo, LoInc: x.LoInc, Hi: y.Lo, HiInc: !y.LoInc})
			}
			if types.UpperBound(x).Cmp(types.UpperBound(y)) > 0 {
				next = append(next, types.RangeValue{Lo: y.Hi, LoInc: !y.HiInc, Hi: x.Hi, HiInc: x.HiInc})
			}
		}
		rest = next
	}
	return canonicalSpans(t, rest)
}

// canonicalSpans gives computed ranges the form that their type stores.
func canonicalSpans(t types.T, in []types.RangeValue) ([]types.RangeValue, error) {
	for i := range in {
		d, err := types.NewRange(t, in[i])
		if err == nil {
			in[i], err = types.DecodeRange(d)
		}
		if err != nil {
			return nil, err
		}
	}
	return in, nil
}

func multirangeOfArray(c *callCtx, in []types.Datum) (types.Datum, error) {
	_, dims, _, args, err := types.ArrayElems(in[0])
	if err != nil {
		return null, err
	}
	if len(dims) > 1 {
		return null, sqlerr.New(sqlerr.CardinalityViolation, "multiranges cannot be constructed from multidimensional arrays")
	}
	var out []types.RangeValue
	for _, d := range args {
		if d.Null {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "multirange values cannot contain null members")
		}
		s, err := spans(d)
		if err != nil {
			return null, err
		}
		out = append(out, s...)
	}
	return types.NewMultirange(c.call.T, out)
}
