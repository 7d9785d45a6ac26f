package expr

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// maxArrayItems is the greatest number of elements of an array.
const maxArrayItems = 134217727

func errTooManyDims(n int) error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded,
		"number of array dimensions (%d) exceeds the maximum allowed (%d)", n, maxArrayDims)
}

func subscriptError(msg string) error { return sqlerr.New(sqlerr.ArraySubscriptError, "%s", msg) }

// countItems is the number of elements of an array of these dimensions.
func countItems(dims []int) (int, error) {
	n := 1
	for _, d := range dims {
		if d < 0 || d > maxArrayItems {
			return 0, errArraySize()
		}
		if n *= d; n > maxArrayItems {
			return 0, errArraySize()
		}
	}
	return n, nil
}

func errArraySize() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayItems)
}

// checkBounds refuses lower bounds with which the last subscript is out of int4.
func checkBounds(dims, lbs []int) error {
	for i, d := range dims {
		if lb := lbs[i]; lb+d > 1<<31-1 || lb < -1<<31 {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "array lower bound is too large: %d", lb)
		}
	}
	return nil
}

// setElement puts a value at one subscript per dimension. An array of one
// dimension grows to there, with NULLs between.
func (a *arrayParts) setElement(at []int, val types.Datum) error {
	if len(a.dims) == 0 {
		ones := make([]int, len(at))
		for i := range ones {
			ones[i] = 1
		}
		a.dims, a.lbs, a.elems = ones, slices.Clone(at), []types.Datum{val}
		return checkBounds(a.dims, a.lbs)
	}
	if len(a.dims) != len(at) {
		return subscriptError("wrong number of array subscripts")
	}
	if len(at) == 1 {
		if err := a.grow(at[0], at[0]); err != nil {
			return err
		}
	}
	i := 0
	for k, x := range at {
		if x -= a.lbs[k]; x < 0 || x >= a.dims[k] {
			return subscriptError("array subscript out of range")
		} else {
			i = i*a.dims[k] + x
		}
	}
	a.elems[i] = val
	return nil
}

// grow extends an array of one dimension to have the subscripts lo … hi.
func (a *arrayParts) grow(lo, hi int) error {
	before, after := max(0, a.lbs[0]-lo), max(0, hi-(a.lbs[0]+a.dims[0]-1))
	dims, lbs := []int{a.dims[0] + before + after}, []int{a.lbs[0] - before}
	n, err := countItems(dims)
	if err != nil {
		return err
	}
	if err := checkBounds(dims, lbs); err != nil {
		return err
	}
	elems := make([]types.Datum, n)
	for i := range elems {
		if i < before || i >= before+a.dims[0] {
			elems[i] = types.Null(a.elem)
		}
	}
	copy(elems[before:], a.elems)
	a.dims, a.lbs, a.elems = dims, lbs, elems
	return nil
}

// setSlice puts values, in their order and as many as are needed, at the
// subscripts lo … hi of the first dimensions and all of the others. Bounds that
// are not given are those of the array.
func (a *arrayParts) setSlice(lo, hi []int, hasLo, hasHi []bool, vals []types.Datum) error {
	if len(a.dims) == 0 {
		return a.fillEmpty(lo, hi, hasLo, hasHi, vals)
	}
	if len(a.dims) < len(lo) {
		return subscriptError("wrong number of array subscripts")
	}
	from, to := slices.Clone(a.lbs), make([]int, len(a.dims))
	for k := range a.dims {
		to[k] = a.lbs[k] + a.dims[k] - 1
		if k < len(lo) {
			if hasLo[k] {
				from[k] = lo[k]
			}
			if hasHi[k] {
				to[k] = hi[k]
			}
		}
		if from[k] > to[k] {
			return subscriptError("upper bound cannot be less than lower bound")
		}
		if len(a.dims) > 1 && (from[k] < a.lbs[k] || to[k] >= a.lbs[k]+a.dims[k]) {
			return subscriptError("array subscript out of range")
		}
	}
	span := make([]int, len(a.dims))
	for k := range span {
		span[k] = to[k] - from[k] + 1
	}
	n, err := countItems(span)
	if err != nil {
		return err
	}
	if len(a.dims) == 1 {
		// The whole array's size is looked at before the source's.
		first, last := min(from[0], a.lbs[0]), max(to[0], a.lbs[0]+a.dims[0]-1)
		if _, err := countItems([]int{last - first + 1}); err != nil {
			return err
		}
	}
	if len(vals) < n {
		return subscriptError("source array too small")
	}
	if len(a.dims) == 1 {
		if err := a.grow(from[0], to[0]); err != nil {
			return err
		}
	}
	next := 0
	var walk func(k, at int)
	walk = func(k, at int) {
		if k == len(a.dims) {
			a.elems[at] = vals[next]
			next++
			return
		}
		for i := from[k]; i <= to[k]; i++ {
			walk(k+1, at*a.dims[k]+i-a.lbs[k])
		}
	}
	walk(0, 0)
	return nil
}

// fillEmpty makes an array out of an empty one, which has no bounds of its own.
func (a *arrayParts) fillEmpty(lo, hi []int, hasLo, hasHi []bool, vals []types.Datum) error {
	dims := make([]int, len(lo))
	for k := range lo {
		if !hasLo[k] || !hasHi[k] {
			return sqlerr.New(sqlerr.ArraySubscriptError, "array slice subscript must provide both boundaries").
				WithDetail("When assigning to a slice of an empty array value, slice boundaries must be fully specified.")
		}
		dims[k] = hi[k] - lo[k] + 1
	}
	n, err := countItems(dims)
	if err != nil {
		return err
	}
	if len(vals) < n {
		return subscriptError("source array too small")
	}
	if n == 0 {
		return nil
	}
	a.dims, a.lbs, a.elems = dims, slices.Clone(lo), slices.Clone(vals[:n])
	return checkBounds(a.dims, a.lbs)
}
