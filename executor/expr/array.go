package expr

import (
	"slices"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// arrayParts is a decoded array.
type arrayParts struct {
	elem  types.T
	dims  []int
	lbs   []int
	elems []types.Datum
}

func partsOf(d types.Datum) (a arrayParts, err error) {
	a.elem, a.dims, a.lbs, a.elems, err = types.ArrayElems(d)
	return a, err
}

func (a arrayParts) datum() types.Datum { return types.NewArray(a.elem, a.dims, a.lbs, a.elems) }

// vector makes a one-dimensional array of the elements.
func vector(elem types.T, elems []types.Datum) types.Datum {
	if len(elems) == 0 {
		return types.NewArray(elem, nil, nil, nil)
	}
	return types.NewArray(elem, []int{len(elems)}, []int{1}, elems)
}

func arrayFuncs(r *registry) {
	r.add(fnD(arrayAppend), "array_append")
	r.add(fnD(arrayPrepend), "array_prepend")
	r.add(fnD(arrayCat), "array_cat")
	dimension := func(f func(a arrayParts, k int) int64) builder {
		return fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
			a, err := partsOf(in[0])
			if k := in[1].I; err != nil || k < 1 || k > int64(len(a.dims)) {
				return null, err
			}
			return intDatum(f(a, int(in[1].I-1))), nil
		})
	}
	r.add(dimension(func(a arrayParts, k int) int64 { return int64(a.dims[k]) }), "array_length")
	r.add(dimension(func(a arrayParts, k int) int64 { return int64(a.lbs[k]) }), "array_lower")
	r.add(dimension(func(a arrayParts, k int) int64 { return int64(a.lbs[k] + a.dims[k] - 1) }), "array_upper")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		a, err := partsOf(in[0])
		if err != nil || len(a.dims) == 0 {
			return null, err
		}
		return intDatum(int64(len(a.dims))), nil
	}), "array_ndims")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
		a, err := partsOf(in[0])
		if err != nil || len(a.dims) == 0 {
			return null, err
		}
		out := c.buf[:0]
		for k, d := range a.dims {
			out = strconv.AppendInt(append(out, '['), int64(a.lbs[k]), 10)
			out = append(strconv.AppendInt(append(out, ':'), int64(a.lbs[k]+d-1), 10), ']')
		}
		return textDatum(c.keep(out)), nil
	}), "array_dims")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		a, err := partsOf(in[0])
		return intDatum(int64(len(a.elems))), err
	}), "array_cardinality")
	r.add(fnD(arrayPosition), "array_position", "array_position_start")
	r.add(fnD(arrayPositions), "array_positions")
	r.add(fnD(arrayRemove), "array_remove")
	r.add(fnD(arrayReplace), "array_replace")
	r.add(fnD(arrayFill), "array_fill", "array_fill_with_lower_bounds")
	r.add(fnD(trimArray), "trim_array")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) { return containsAll(c.env, in[0], in[1]) }), "arraycontains")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) { return containsAll(c.env, in[1], in[0]) }), "arraycontained")
	r.add(fnD(arrayOverlap), "arrayoverlap")
}

// sameValue compares elements as IS NOT DISTINCT FROM.
func sameValue(env *Env, a, b types.Datum) (bool, error) {
	if err := needEqual(a.T); err != nil {
		return false, err
	}
	if a.Null || b.Null {
		return a.Null && b.Null, nil
	}
	return equalValues(a, b)
}

func arrayAppend(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return vector(elemType(c.call.T), in[1:2]), nil
	}
	a, err := partsOf(in[0])
	if err != nil {
		return null, err
	}
	if len(a.dims) == 0 {
		return vector(a.elem, in[1:2]), nil
	}
	if len(a.dims) != 1 {
		return null, sqlerr.New(sqlerr.DataException, "argument must be empty or one-dimensional array")
	}
	dims := []int{a.dims[0] + 1}
	if err := types.CheckBounds(dims, a.lbs); err != nil {
		return null, err
	}
	return types.NewArray(a.elem, dims, a.lbs, append(a.elems, in[1])), nil
}

func arrayPrepend(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[1].Null {
		return vector(elemType(c.call.T), in[:1]), nil
	}
	a, err := partsOf(in[1])
	if err != nil {
		return null, err
	}
	if len(a.dims) == 0 {
		return vector(a.elem, in[:1]), nil
	}
	if len(a.dims) != 1 {
		return null, sqlerr.New(sqlerr.DataException, "argument must be empty or one-dimensional array")
	}
	elems := append([]types.Datum{in[0]}, a.elems...)
	return types.NewArray(a.elem, []int{a.dims[0] + 1}, a.lbs, elems), nil
}

// arrayCat joins arrays of equal dimensions, or an array and one of its
// sub-arrays.
func arrayCat(_ *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return in[1], nil
	}
	if in[1].Null {
		return in[0], nil
	}
	a, err := partsOf(in[0])
	if err != nil {
		return null, err
	}
	b, err := partsOf(in[1])
	if err != nil {
		return null, err
	}
	na, nb := len(a.dims), len(b.dims)
	elems := append(a.elems[:len(a.elems):len(a.elems)], b.elems...)
	mismatch := func(what string) error {
		return sqlerr.New(sqlerr.ArraySubscriptError, "cannot concatenate incompatible arrays").
			WithDetail("Arrays with differing %sdimensions are not compatible for concatenation.", what)
	}
	switch {
	case nb == 0:
		return in[0], nil
	case na == 0:
		return in[1], nil
	case na == nb:
		if !equalInts(a.dims[1:], b.dims[1:]) || !equalInts(a.lbs[1:], b.lbs[1:]) {
			return null, mismatch("element ")
		}
		dims := append([]int{a.dims[0] + b.dims[0]}, a.dims[1:]...)
		return types.NewArray(a.elem, dims, a.lbs, elems), nil
	case na == nb+1:
		if !equalInts(a.dims[1:], b.dims) || !equalInts(a.lbs[1:], b.lbs) {
			return null, mismatch("")
		}
		return types.NewArray(a.elem, append([]int{a.dims[0] + 1}, b.dims...), a.lbs, elems), nil
	case nb == na+1:
		if !equalInts(b.dims[1:], a.dims) || !equalInts(b.lbs[1:], a.lbs) {
			return null, mismatch("")
		}
		return types.NewArray(a.elem, append([]int{b.dims[0] + 1}, a.dims...), b.lbs, elems), nil
	}
	return null, sqlerr.New(sqlerr.ArraySubscriptError, "cannot concatenate incompatible arrays").
		WithDetail("Arrays of %d and %d dimensions are not compatible for concatenation.", na, nb)
}

func errSearchMulti() error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
}

func arrayPosition(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, err := partsOf(in[0])
	if err != nil || len(a.dims) == 0 {
		return null, err
	}
	if len(a.dims) > 1 {
		return null, errSearchMulti()
	}
	start := a.lbs[0]
	if len(in) > 2 {
		if in[1].Null && !slices.ContainsFunc(a.elems, func(d types.Datum) bool { return d.Null }) {
			return null, nil
		}
		if in[2].Null {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "initial position must not be null")
		}
		start = int(in[2].I)
	}
	for i, el := range a.elems {
		if at := i + a.lbs[0]; at >= start {
			same, err := sameValue(c.env, el, in[1])
			if err != nil {
				return null, err
			}
			if same {
				return intDatum(int64(at)), nil
			}
		}
	}
	return null, nil
}

func arrayPositions(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, err := partsOf(in[0])
	if err != nil {
		return null, err
	}
	if len(a.dims) > 1 {
		return null, errSearchMulti()
	}
	var out []types.Datum
	for i, el := range a.elems {
		same, err := sameValue(c.env, el, in[1])
		if err != nil {
			return null, err
		}
		if same {
			out = append(out, types.Int(types.TInt4, int64(i+a.lbs[0])))
		}
	}
	return vector(types.TInt4, out), nil
}

func arrayRemove(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, err := partsOf(in[0])
	if err != nil {
		return null, err
	}
	if len(a.dims) > 1 {
		return null, sqlerr.New(sqlerr.FeatureNotSupported, "removing elements from multidimensional arrays is not supported")
	}
	kept := a.elems[:0:0]
	for _, el := range a.elems {
		same, err := sameValue(c.env, el, in[1])
		if err != nil {
			return null, err
		}
		if !same {
			kept = append(kept, el)
		}
	}
	if len(kept) == 0 {
		return types.NewArray(a.elem, nil, nil, nil), nil
	}
	return types.NewArray(a.elem, []int{len(kept)}, a.lbs, kept), nil
}

func arrayReplace(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, err := partsOf(in[0])
	if err != nil {
		return null, err
	}
	for i, el := range a.elems {
		same, err := sameValue(c.env, el, in[1])
		if err != nil {
			return null, err
		}
		if same {
			a.elems[i] = in[2]
		}
	}
	return a.datum(), nil
}

func arrayFill(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[1].Null || len(in) > 2 && in[2].Null {
		return null, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
	}
	ints := func(d types.Datum) ([]int, error) {
		a, err := partsOf(d)
		if err != nil {
			return nil, err
		}
		if len(a.dims) > 1 {
			return nil, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts").
				WithDetail("Dimension array must be one dimensional.")
		}
		out := make([]int, len(a.elems))
		for i, el := range a.elems {
			if el.Null {
				return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "dimension values cannot be null")
			}
			out[i] = int(el.I)
		}
		return out, nil
	}
	dims, err := ints(in[1])
	if err != nil {
		return null, err
	}
	lbs := make([]int, len(dims))
	for i := range lbs {
		lbs[i] = 1
	}
	if len(in) > 2 {
		if lbs, err = ints(in[2]); err != nil {
			return null, err
		}
		if len(lbs) != len(dims) {
			return null, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts").
				WithDetail("Low bound array has different size than dimensions array.")
		}
	}
	n := 1
	for _, d := range dims {
		if d < 0 || n*d > maxText/8 {
			return null, sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxText/8)
		}
		n *= d
	}
	elem := elemType(c.call.T)
	if n == 0 || len(dims) == 0 {
		return types.NewArray(elem, nil, nil, nil), nil
	}
	if err := types.CheckBounds(dims, lbs); err != nil {
		return null, err
	}
	if err := c.room(int64(n) * int64(2*datumBytes+len(in[0].B))); err != nil {
		return null, err
	}
	elems := make([]types.Datum, n)
	for i := range elems {
		elems[i] = in[0]
	}
	return types.NewArray(elem, dims, lbs, elems), nil
}

func trimArray(_ *callCtx, in []types.Datum) (types.Datum, error) {
	a, err := partsOf(in[0])
	if err != nil {
		return null, err
	}
	have := 0
	if len(a.dims) > 0 {
		have = a.dims[0]
	}
	n := int(in[1].I)
	if n < 0 || n > have {
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "number of elements to trim must be between 0 and %d", have)
	}
	if have == n {
		return types.NewArray(a.elem, nil, nil, nil), nil
	}
	a.elems = a.elems[:len(a.elems)/have*(have-n)]
	a.dims[0] -= n
	for k := range a.lbs {
		a.lbs[k] = 1
	}
	return a.datum(), nil
}

// containsAll reports whether every element of b is one of a; NULLs match nothing.
func containsAll(env *Env, ad, bd types.Datum) (types.Datum, error) {
	a, err := partsOf(ad)
	if err != nil {
		return null, err
	}
	b, err := partsOf(bd)
	if err != nil {
		return null, err
	}
	for _, y := range b.elems {
		found, err := hasElement(env, a.elems, y)
		if err != nil || !found {
			return types.Bool(false), err
		}
	}
	return types.Bool(true), nil
}

func hasElement(env *Env, elems []types.Datum, y types.Datum) (bool, error) {
	if y.Null {
		return false, nil
	}
	for _, x := range elems {
		if x.Null {
			continue
		}
		if same, err := sameValue(env, x, y); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func arrayOverlap(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, err := partsOf(in[0])
	if err != nil {
		return null, err
	}
	b, err := partsOf(in[1])
	if err != nil {
		return null, err
	}
	for _, y := range b.elems {
		if found, err := hasElement(c.env, a.elems, y); err != nil || found {
			return types.Bool(found), err
		}
	}
	return types.Bool(false), nil
}
