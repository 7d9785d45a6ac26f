package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// foldAgg keeps one value per group, into which each further value that is not
// NULL is folded; a group without values is NULL.
type foldAgg struct {
	t    types.T
	fold func(acc, x types.Datum) (types.Datum, error)
	vals []types.Datum
	seen []bool
	size int64
}

func (a *foldAgg) Grow(n int) { a.vals, a.seen = growTo(a.vals, n), growTo(a.seen, n) }

func (a *foldAgg) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	for k, i := range aggRows(groups, sel) {
		if args[0].IsNull(int(i)) {
			continue
		}
		if err := a.add(groups[k], args[0].Get(int(i))); err != nil {
			return err
		}
	}
	return nil
}

func (a *foldAgg) add(g uint32, d types.Datum) error {
	if !a.seen[g] {
		a.vals[g], a.seen[g] = own(d), true
		a.size += int64(len(d.B))
		return nil
	}
	v, err := a.fold(a.vals[g], d)
	if err != nil {
		return err
	}
	a.vals[g] = v
	return nil
}

func (a *foldAgg) Merge(o Aggregator, src, dst int) error {
	if b := o.(*foldAgg); b.seen[src] {
		return a.add(uint32(dst), b.vals[src])
	}
	return nil
}

func (a *foldAgg) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	for k := range to - from {
		if !a.seen[from+k] {
			out.Nulls.Set(k)
			continue
		}
		out.B[k] = a.vals[from+k].B
	}
	return nil
}

func (a *foldAgg) Reset(g int)  { a.vals[g], a.seen[g] = types.Datum{}, false }
func (a *foldAgg) Bytes() int64 { return a.size + int64(cap(a.vals))*160 }

// intersectRanges folds range_intersect_agg, of ranges or multiranges.
func intersectRanges(acc, x types.Datum) (types.Datum, error) {
	a, err := spans(acc)
	if err != nil {
		return null, err
	}
	b, err := spans(x)
	if err != nil {
		return null, err
	}
	multi := acc.T.Kind() == types.KMultirange
	rng := acc.T
	if multi {
		rng = types.Of(types.MultirangeElem(acc.T.OID))
	}
	s, err := spansIntersect(rng, a, b)
	switch {
	case err != nil:
		return null, err
	case multi:
		return types.NewMultirange(acc.T, s)
	case len(s) == 0:
		return types.NewRange(acc.T, types.RangeValue{Empty: true})
	}
	return types.NewRange(acc.T, s[0])
}

// rangeAgg is range_agg of ranges or multiranges: the multirange of all.
type rangeAgg struct {
	t     types.T
	spans [][]types.RangeValue
	seen  []bool
	size  int64
}

func (a *rangeAgg) Grow(n int) { a.spans, a.seen = growTo(a.spans, n), growTo(a.seen, n) }

func (a *rangeAgg) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	for k, i := range aggRows(groups, sel) {
		if args[0].IsNull(int(i)) {
			continue
		}
		d := own(args[0].Get(int(i)))
		s, err := spans(d)
		if err != nil {
			return err
		}
		a.spans[groups[k]] = append(a.spans[groups[k]], s...)
		a.seen[groups[k]] = true
		a.size += int64(len(d.B)) + 256
	}
	return nil
}

func (a *rangeAgg) Merge(o Aggregator, src, dst int) error {
	b := o.(*rangeAgg)
	a.spans[dst] = append(a.spans[dst], b.spans[src]...)
	a.seen[dst] = a.seen[dst] || b.seen[src]
	a.size += int64(len(b.spans[src])) * 256
	return nil
}

func (a *rangeAgg) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	for k := range to - from {
		if !a.seen[from+k] {
			out.Nulls.Set(k)
			continue
		}
		d, err := types.NewMultirange(a.t, a.spans[from+k])
		if err != nil {
			return err
		}
		out.B[k] = d.B
	}
	return nil
}

func (a *rangeAgg) Reset(g int)  { a.spans[g], a.seen[g] = nil, false }
func (a *rangeAgg) Bytes() int64 { return a.size + int64(cap(a.spans))*32 }
