package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// newAggregator picks the implementation by the aggregate's name and the
// representation of its argument.
func newAggregator(a *plan.Agg, direct []types.Datum) (Aggregator, error) {
	if a.Proc == nil {
		return nil, sqlerr.New(sqlerr.InternalError, "aggregate without a function").At(a.Off)
	}
	if a.User != nil {
		return newUserAgg(a)
	}
	var arg types.T
	if len(a.Args) > a.Direct {
		arg = a.Args[a.Direct].Type()
	}
	if agg := aggregatorOf(a, arg, direct); agg != nil {
		return agg, nil
	}
	name := a.Proc.Name
	if arg.OID != 0 {
		return nil, sqlerr.Unsupported(a.Off, "aggregate %s(%s)", name, types.FormatTypeNoMod(arg.OID))
	}
	return nil, sqlerr.Unsupported(a.Off, "aggregate %s", name)
}

func aggregatorOf(a *plan.Agg, arg types.T, direct []types.Datum) Aggregator {
	kind := arg.Kind()
	switch name := a.Proc.Name; name {
	case "count":
		return &countAgg{star: a.Star || len(a.Args) == 0}
	case "sum", "avg":
		return sumOrAvg(kind, name == "avg")
	case "min", "max":
		return newMinMax(arg, name == "min")
	case "bool_and", "every":
		return &boolAgg{ends: false}
	case "bool_or":
		return &boolAgg{ends: true}
	case "bit_and", "bit_or", "bit_xor":
		if arg.Rep() == types.RepInt {
			return &bitAgg{op: name[4], t: a.T}
		}
		if kind == types.KBit {
			return &foldAgg{t: a.T, fold: bitStringFold(name)}
		}
	case "range_agg":
		return &rangeAgg{t: a.T}
	case "range_intersect_agg":
		return &foldAgg{t: a.T, fold: intersectRanges}
	case "string_agg":
		return &stringAgg{t: a.T}
	case "array_agg":
		if kind == types.KArray {
			return &nestedArrayAgg{}
		}
		return &arrayAgg{elem: arg}
	case "variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop":
		pop, root := name == "var_pop" || name == "stddev_pop", name[0] == 's'
		if arg.Rep() == types.RepFloat {
			return &floatVariance{pop: pop, root: root}
		}
		return &decVariance{pop: pop, root: root}
	case "corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2",
		"regr_slope", "regr_sxx", "regr_sxy", "regr_syy":
		return &regression{name: name}
	case "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg":
		return newJSONAgg(a)
	}
	return orderedSet(a, direct)
}

// aggRows returns the row numbers that belong to groups.
func aggRows(groups []uint32, sel []uint32) []uint32 {
	if sel != nil {
		return sel
	}
	return allRows(len(groups))
}

// countAgg is count(*) and count(x).
type countAgg struct {
	star bool
	n    []int64
}

func (a *countAgg) Grow(n int) { a.n = growTo(a.n, n) }

// growTo extends s to n zero elements.
func growTo[E any](s []E, n int) []E {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	t := make([]E, n, max(n, 2*cap(s)))
	copy(t, s)
	return t
}

func (a *countAgg) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	if a.star || !args[0].Nulls.Any() {
		if len(a.n) == 1 {
			a.n[0] += int64(len(groups))
			return nil
		}
		for _, g := range groups {
			a.n[g]++
		}
		return nil
	}
	for k, i := range aggRows(groups, sel) {
		if !args[0].IsNull(int(i)) {
			a.n[groups[k]]++
		}
	}
	return nil
}

func (a *countAgg) Remove(_ *Env, g uint32, args []*vec.Vec, row int) bool {
	if a.star || !args[0].IsNull(row) {
		a.n[g]--
	}
	return true
}

func (a *countAgg) Merge(o Aggregator, src, dst int) error {
	a.n[dst] += o.(*countAgg).n[src]
	return nil
}

func (a *countAgg) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(types.TInt8, max(to-from, 1))
	copy(out.I64, a.n[from:to])
	return nil
}

func (a *countAgg) Reset(g int)  { a.n[g] = 0 }
func (a *countAgg) Bytes() int64 { return int64(cap(a.n)) * 8 }

// boolAgg is bool_and (settled by false) and bool_or (settled by true).
type boolAgg struct {
	ends  bool
	state []boolState
}

type boolState struct {
	seen, trues, falses int64
}

func (a *boolAgg) Grow(n int) { a.state = growTo(a.state, n) }

func (a *boolAgg) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	for k, i := range aggRows(groups, sel) {
		if i := int(i) & m; !v.Nulls.Get(i) {
			a.count(groups[k], v.Bool[i], 1)
		}
	}
	return nil
}

func (a *boolAgg) count(g uint32, val bool, by int64) {
	s := &a.state[g]
	s.seen += by
	if val {
		s.trues += by
	} else {
		s.falses += by
	}
}

func (a *boolAgg) Remove(_ *Env, g uint32, args []*vec.Vec, row int) bool {
	if !args[0].IsNull(row) {
		a.count(g, args[0].Bool[args[0].Idx(row)], -1)
	}
	return true
}

func (a *boolAgg) Merge(o Aggregator, src, dst int) error {
	s, d := o.(*boolAgg).state[src], &a.state[dst]
	d.seen, d.trues, d.falses = d.seen+s.seen, d.trues+s.trues, d.falses+s.falses
	return nil
}

func (a *boolAgg) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(types.TBool, max(to-from, 1))
	for k, s := range a.state[from:to] {
		switch {
		case s.seen == 0:
			out.Nulls.Set(k)
		case a.ends:
			out.Bool[k] = s.trues > 0
		default:
			out.Bool[k] = s.falses == 0
		}
	}
	return nil
}

func (a *boolAgg) Reset(g int)  { a.state[g] = boolState{} }
func (a *boolAgg) Bytes() int64 { return int64(cap(a.state)) * 24 }

// bitAgg is bit_and, bit_or, bit_xor of integers; op is the name's first letter.
type bitAgg struct {
	op   byte
	t    types.T
	vals []int64
	seen []bool
}

func (a *bitAgg) Grow(n int) { a.vals, a.seen = growTo(a.vals, n), growTo(a.seen, n) }

func (a *bitAgg) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	for k, i := range aggRows(groups, sel) {
		if i := int(i) & m; !v.Nulls.Get(i) {
			a.fold(groups[k], v.I64[i])
		}
	}
	return nil
}

func (a *bitAgg) fold(g uint32, x int64) {
	switch {
	case !a.seen[g]:
		a.vals[g], a.seen[g] = x, true
	case a.op == 'a':
		a.vals[g] &= x
	case a.op == 'o':
		a.vals[g] |= x
	default:
		a.vals[g] ^= x
	}
}

func (a *bitAgg) Merge(o Aggregator, src, dst int) error {
	if b := o.(*bitAgg); b.seen[src] {
		a.fold(uint32(dst), b.vals[src])
	}
	return nil
}

func (a *bitAgg) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	for k := range to - from {
		if !a.seen[from+k] {
			out.Nulls.Set(k)
		}
		out.I64[k] = a.vals[from+k]
	}
	return nil
}

func (a *bitAgg) Reset(g int)  { a.vals[g], a.seen[g] = 0, false }
func (a *bitAgg) Bytes() int64 { return int64(cap(a.vals)) * 9 }
