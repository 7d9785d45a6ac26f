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
	dimension := func(f func(a *types.ArrayIter, k int) int) builder {
		return fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
			a, _, err := c.iter(in[0])
			if k := in[1].I; err != nil || k < 1 || k > int64(len(a.Dims)) {
				return null, err
			}
			return intDatum(int64(f(a, int(in[1].I-1)))), nil
		})
	}
	r.add(dimension(func(a *types.ArrayIter, k int) int { return a.Dims[k] }), "array_length")
	r.add(dimension(func(a *types.ArrayIter, k int) int { return a.Lbs[k] }), "array_lower")
	r.add(dimension(func(a *types.ArrayIter, k int) int { return a.Lbs[k] + a.Dims[k] - 1 }), "array_upper")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
		a, _, err := c.iter(in[0])
		if err != nil || len(a.Dims) == 0 {
			return null, err
		}
		return intDatum(int64(len(a.Dims))), nil
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
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
		a, _, err := c.iter(in[0])
		return intDatum(int64(a.Len())), err
	}), "array_cardinality")
	r.add(fnD(arrayPosition), "array_position", "array_position_start")
	r.add(fnD(arrayPositions), "array_positions")
	r.add(fnD(arrayRemove), "array_remove")
	r.add(fnD(arrayReplace), "array_replace")
	r.add(fnD(arrayFill), "array_fill", "array_fill_with_lower_bounds")
	r.add(fnD(trimArray), "trim_array")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) { return containsAll(c, in[0], in[1]) }), "arraycontains")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) { return containsAll(c, in[1], in[0]) }), "arraycontained")
	r.add(fnD(arrayOverlap), "arrayoverlap")
}

// sameValue compares elements as IS NOT DISTINCT FROM.
func sameValue(a, b types.Datum) (bool, error) {
	if err := needEqual(a.T); err != nil {
		return false, err
	}
	if a.Null || b.Null {
		return a.Null && b.Null, nil
	}
	return equalValues(a, b)
}

func errNotVector() error {
	return sqlerr.New(sqlerr.DataException, "argument must be empty or one-dimensional array")
}

func arrayAppend(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return vector(elemType(c.call.T), in[1:2]), nil
	}
	a, _, err := c.iter(in[0])
	if err != nil {
		return null, err
	}
	if len(a.Dims) == 0 {
		return vector(a.Elem, in[1:2]), nil
	}
	if len(a.Dims) != 1 {
		return null, errNotVector()
	}
	dims := [1]int{a.Dims[0] + 1}
	if err := types.CheckBounds(dims[:], a.Lbs); err != nil {
		return null, err
	}
	out := append(c.buf[:0], in[0].B...)
	types.SetArrayLength(out, dims[0])
	return arrayDatum(c.keep(types.AppendArrayElem(out, in[1]))), nil
}

func arrayPrepend(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[1].Null {
		return vector(elemType(c.call.T), in[:1]), nil
	}
	a, _, err := c.iter(in[1])
	if err != nil {
		return null, err
	}
	if len(a.Dims) == 0 {
		return vector(a.Elem, in[:1]), nil
	}
	if len(a.Dims) != 1 {
		return null, errNotVector()
	}
	dims := [1]int{a.Dims[0] + 1}
	out := types.AppendArrayHeader(c.buf[:0], types.ArrayElemOID(in[1].B), dims[:], a.Lbs)
	out = types.AppendArrayElem(out, in[0])
	return arrayDatum(c.keep(types.AppendRawElems(out, in[1].B, a))), nil
}

// arrayCat joins arrays of equal dimensions, or an array and one of its
// sub-arrays.
func arrayCat(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return in[1], nil
	}
	if in[1].Null {
		return in[0], nil
	}
	a, b, err := c.iter(in[0], in[1])
	if err != nil {
		return null, err
	}
	na, nb := len(a.Dims), len(b.Dims)
	mismatch := func(what string) error {
		return sqlerr.New(sqlerr.ArraySubscriptError, "cannot concatenate incompatible arrays").
			WithDetail("Arrays with differing %sdimensions are not compatible for concatenation.", what)
	}
	dims, lbs := a.Dims, a.Lbs
	first := 0
	switch {
	case nb == 0:
		return in[0], nil
	case na == 0:
		return in[1], nil
	case na == nb:
		if !slices.Equal(a.Dims[1:], b.Dims[1:]) || !slices.Equal(a.Lbs[1:], b.Lbs[1:]) {
			return null, mismatch("element ")
		}
		first = a.Dims[0] + b.Dims[0]
	case na == nb+1:
		if !slices.Equal(a.Dims[1:], b.Dims) || !slices.Equal(a.Lbs[1:], b.Lbs) {
			return null, mismatch("")
		}
		first = a.Dims[0] + 1
	case nb == na+1:
		if !slices.Equal(b.Dims[1:], a.Dims) || !slices.Equal(b.Lbs[1:], a.Lbs) {
			return null, mismatch("")
		}
		dims, lbs, first = b.Dims, b.Lbs, b.Dims[0]+1
	default:
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "cannot concatenate incompatible arrays").
			WithDetail("Arrays of %d and %d dimensions are not compatible for concatenation.", na, nb)
	}
	out := types.AppendArrayHeader(c.buf[:0], types.ArrayElemOID(in[0].B), dims, lbs)
	types.SetArrayLength(out, first)
	out = types.AppendRawElems(out, in[0].B, a)
	return arrayDatum(c.keep(types.AppendRawElems(out, in[1].B, b))), nil
}

func errSearchMulti() error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
}

func arrayPosition(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, _, err := c.iter(in[0])
	if err != nil || len(a.Dims) == 0 {
		return null, err
	}
	if len(a.Dims) > 1 {
		return null, errSearchMulti()
	}
	start := a.Lbs[0]
	if len(in) > 2 {
		if in[1].Null {
			if has, err := hasNullElement(a); err != nil || !has {
				return null, err
			}
		}
		if in[2].Null {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "initial position must not be null")
		}
		start = int(in[2].I)
	}
	f := c.finder(a.Elem, in[1])
	for at := a.Lbs[0]; ; at++ {
		raw, isNull, ok, err := a.NextRaw()
		if err != nil || !ok {
			return null, err
		}
		if at < start {
			continue
		}
		if same, err := f.same(raw, isNull); err != nil || same {
			return intDatum(int64(at)), err
		}
	}
}

// hasNullElement reports whether an element is NULL, and goes back to the first.
func hasNullElement(a *types.ArrayIter) (bool, error) {
	defer a.Rewind()
	for {
		_, isNull, ok, err := a.NextRaw()
		if err != nil || !ok || isNull {
			return isNull, err
		}
	}
}

func arrayPositions(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, _, err := c.iter(in[0])
	if err != nil {
		return null, err
	}
	if len(a.Dims) > 1 {
		return null, errSearchMulti()
	}
	f := c.finder(a.Elem, in[1])
	var out []types.Datum
	for i := 0; ; i++ {
		raw, isNull, ok, err := a.NextRaw()
		if err != nil {
			return null, err
		}
		if !ok {
			return vector(types.TInt4, out), nil
		}
		same, err := f.same(raw, isNull)
		if err != nil {
			return null, err
		}
		if same {
			out = append(out, types.Int(types.TInt4, int64(i+a.Lbs[0])))
		}
	}
}

func arrayRemove(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, _, err := c.iter(in[0])
	if err != nil {
		return null, err
	}
	if len(a.Dims) > 1 {
		return null, sqlerr.New(sqlerr.FeatureNotSupported, "removing elements from multidimensional arrays is not supported")
	}
	f := c.finder(a.Elem, in[1])
	out := types.AppendArrayHeader(c.buf[:0], types.ArrayElemOID(in[0].B), a.Dims, a.Lbs)
	kept := 0
	for {
		raw, isNull, ok, err := a.NextRaw()
		if err != nil {
			return null, err
		}
		if !ok {
			break
		}
		same, err := f.same(raw, isNull)
		if err != nil {
			return null, err
		}
		if !same {
			out = types.AppendRawElem(out, raw, isNull)
			kept++
		}
	}
	if kept == 0 {
		return types.NewArray(a.Elem, nil, nil, nil), nil
	}
	types.SetArrayLength(out, kept)
	return arrayDatum(c.keep(out)), nil
}

func arrayReplace(c *callCtx, in []types.Datum) (types.Datum, error) {
	if in[0].Null {
		return null, nil
	}
	a, _, err := c.iter(in[0])
	if err != nil {
		return null, err
	}
	f := c.finder(a.Elem, in[1])
	out := types.AppendArrayHeader(c.buf[:0], types.ArrayElemOID(in[0].B), a.Dims, a.Lbs)
	for {
		raw, isNull, ok, err := a.NextRaw()
		if err != nil {
			return null, err
		}
		if !ok {
			return arrayDatum(c.keep(out)), nil
		}
		same, err := f.same(raw, isNull)
		if err != nil {
			return null, err
		}
		if same {
			out = types.AppendArrayElem(out, in[2])
		} else {
			out = types.AppendRawElem(out, raw, isNull)
		}
	}
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
