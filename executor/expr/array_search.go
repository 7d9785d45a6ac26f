package expr

import (
	"bytes"

	"kvsqld/catalog/types"
)

// arrayState is what a call over arrays keeps from row to row.
type arrayState struct {
	a, b   types.ArrayIter
	find   elemFinder
	needle []byte
}

func (c *callCtx) arrays() *arrayState {
	s, _ := c.state.(*arrayState)
	if s == nil {
		s = &arrayState{}
		c.state = s
	}
	return s
}

// iter walks one or two arrays. The iterators are used again for the next row.
func (c *callCtx) iter(ds ...types.Datum) (a, b *types.ArrayIter, err error) {
	s := c.arrays()
	if err = s.a.Init(ds[0]); err == nil && len(ds) > 1 {
		err = s.b.Init(ds[1])
	}
	return &s.a, &s.b, err
}

// arrayDatum is an array in its stored form.
func arrayDatum(b []byte) types.Datum { return types.Datum{B: b} }

// elemFinder compares elements of arrays with one value as IS NOT DISTINCT FROM,
// by their stored bytes where these decide.
type elemFinder struct {
	elem  types.T
	value types.Datum
	raw   []byte // nil: values are compared
}

func (c *callCtx) finder(elem types.T, value types.Datum) *elemFinder {
	s := c.arrays()
	s.find = elemFinder{elem: elem, value: value}
	if bytewise(elem, value.T) && !value.Null {
		value.T = elem
		s.needle = types.AppendBinary(s.needle[:0], value)
		if s.find.raw = s.needle; s.needle == nil {
			s.find.raw = []byte{}
		}
	}
	return &s.find
}

// bytewise reports whether two types' values are equal when their stored forms are.
func bytewise(a, b types.T) bool {
	return a.BytewiseEqual() && b.BytewiseEqual() && a.Kind() == b.Kind()
}

func (f *elemFinder) same(raw []byte, isNull bool) (bool, error) {
	if f.raw != nil {
		return !isNull && bytes.Equal(raw, f.raw), nil
	}
	d := types.Null(f.elem)
	if !isNull {
		var err error
		if d, err = types.StoredElem(f.elem, raw); err != nil {
			return false, err
		}
	}
	return sameValue(d, f.value)
}

// containsAll reports whether every element of b is one of a; NULLs match nothing.
func containsAll(c *callCtx, ad, bd types.Datum) (types.Datum, error) {
	return c.search(ad, bd, true)
}

func arrayOverlap(c *callCtx, in []types.Datum) (types.Datum, error) {
	return c.search(in[0], in[1], false)
}

// search looks for the elements of b in a: for all of them, or for any.
func (c *callCtx) search(ad, bd types.Datum, all bool) (types.Datum, error) {
	a, b, err := c.iter(ad, bd)
	if err != nil {
		return null, err
	}
	if !bytewise(a.Elem, b.Elem) {
		return searchValues(ad, bd, all)
	}
	has := func(y []byte) (bool, error) { return hasRaw(a, y) }
	if a.Len() > hashedFrom && b.Len() > hashedFrom {
		set, err := rawSet(a)
		if err != nil {
			return null, err
		}
		has = func(y []byte) (bool, error) {
			_, is := set[string(y)]
			return is, nil
		}
	}
	for {
		y, isNull, ok, err := b.NextRaw()
		if err != nil || !ok {
			return types.Bool(all), err
		}
		found := false
		if !isNull {
			if found, err = has(y); err != nil {
				return null, err
			}
		}
		if found != all {
			return types.Bool(found), nil
		}
	}
}

// hashedFrom is the number of elements beyond which those of two arrays are not compared
// each with each.
const hashedFrom = 64

// rawSet has the stored forms of an array's elements.
func rawSet(a *types.ArrayIter) (map[string]struct{}, error) {
	set := make(map[string]struct{}, a.Len())
	for {
		x, isNull, ok, err := a.NextRaw()
		if err != nil || !ok {
			return set, err
		}
		if !isNull {
			set[string(x)] = struct{}{}
		}
	}
}

// hasRaw reports whether an element has the stored form y.
func hasRaw(a *types.ArrayIter, y []byte) (bool, error) {
	a.Rewind()
	for {
		x, isNull, ok, err := a.NextRaw()
		if err != nil || !ok {
			return false, err
		}
		if !isNull && bytes.Equal(x, y) {
			return true, nil
		}
	}
}

// searchValues is search for elements whose values have to be compared.
func searchValues(ad, bd types.Datum, all bool) (types.Datum, error) {
	a, err := partsOf(ad)
	if err != nil {
		return null, err
	}
	b, err := partsOf(bd)
	if err != nil {
		return null, err
	}
	for _, y := range b.elems {
		found, err := hasElement(a.elems, y)
		if err != nil {
			return null, err
		}
		if found != all {
			return types.Bool(found), nil
		}
	}
	return types.Bool(all), nil
}

func hasElement(elems []types.Datum, y types.Datum) (bool, error) {
	if y.Null {
		return false, nil
	}
	for _, x := range elems {
		if x.Null {
			continue
		}
		if same, err := sameValue(x, y); same || err != nil {
			return same, err
		}
	}
	return false, nil
}
