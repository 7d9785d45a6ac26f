package expr

import (
	"bytes"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// perRow tests arrays that differ from row to row.
func (e *anyArray) perRow(env *Env, b *vec.Batch, x, arr *vec.Vec) error {
	e.out.Reset(e.t, max(b.N, 1))
	elem := arr.T.ElemType()
	if e.set != nil && !e.all && elem.User == types.KInvalid {
		switch rep := elem.Rep(); {
		case e.rep == types.RepInt && rep == types.RepInt:
			kind := elem.Kind()
			return e.find(b, x, arr, func(raw []byte, k int) bool { return types.StoredInt(kind, raw) == x.I64[k] })
		case e.rep == types.RepBytes && bytewise(elem, x.T):
			return e.find(b, x, arr, func(raw []byte, k int) bool { return bytes.Equal(raw, x.B[k]) })
		}
	}
	return e.flatten(env, b, x, arr)
}

// verdict sets a row of = ANY from what its elements gave.
func (e *anyArray) verdict(i uint32, found, isNull bool) {
	e.out.Bool[i] = found
	if !found && isNull {
		e.out.Nulls.Set(int(i))
	}
}

// find is x = ANY (array) for values that are compared as they are stored: same
// compares an element with the value x[k].
func (e *anyArray) find(b *vec.Batch, x, arr *vec.Vec, same func(raw []byte, k int) bool) error {
	var it types.ArrayIter
	for _, i := range rowsOf(b) {
		if arr.IsNull(int(i)) {
			e.out.Nulls.Set(int(i))
			continue
		}
		if err := it.Init(types.Datum{T: arr.T, B: arr.B[i]}); err != nil {
			return err
		}
		k := x.Idx(int(i))
		none := x.Nulls.Get(k)
		found, some := false, none && it.Len() > 0
		for !found && !none {
			raw, isNull, ok, err := it.NextRaw()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if isNull {
				some = true
			} else {
				found = same(raw, k)
			}
		}
		e.verdict(i, found, some)
	}
	return nil
}

// flatArrays has the elements of many rows' arrays as one vector.
type flatArrays struct {
	elems vec.Vec
	xs    vec.Vec
	owner []uint32 // the row of each element
	rows  []uint32 // the rows that are in
}

// flatten tests the elements of as many rows at a time as make a batch. When a
// test fails, the rows are tested one by one: an element behind the one that
// decides is not looked at.
func (e *anyArray) flatten(env *Env, b *vec.Batch, x, arr *vec.Vec) error {
	f := &e.flat
	elem := arr.T.ElemType()
	var it types.ArrayIter
	f.start(elem)
	for _, i := range rowsOf(b) {
		if arr.IsNull(int(i)) {
			e.out.Nulls.Set(int(i))
			continue
		}
		e.out.Bool[i] = e.all
		if err := it.Init(arr.Get(int(i))); err != nil {
			return err
		}
		if err := f.add(&it, i); err != nil {
			return err
		}
		if len(f.owner) >= vec.BatchSize {
			if err := e.testFlat(env, x); err != nil {
				return err
			}
			f.start(elem)
		}
	}
	return e.testFlat(env, x)
}

func (f *flatArrays) start(elem types.T) {
	f.elems.Reset(elem, 0)
	f.owner, f.rows = f.owner[:0], f.rows[:0]
}

// add takes in the elements of a row's array.
func (f *flatArrays) add(it *types.ArrayIter, row uint32) error {
	n := len(f.owner)
	f.elems.Grow(n + it.Len())
	f.rows = append(f.rows, row)
	for {
		raw, isNull, ok, err := it.NextRaw()
		if err != nil || !ok {
			return err
		}
		if isNull {
			f.elems.Nulls.Set(n)
		} else {
			d, err := types.StoredElem(it.Elem, raw)
			if err != nil {
				return err
			}
			f.elems.Set(n, d)
		}
		f.owner = append(f.owner, row)
		n++
	}
}

// testFlat tests the elements collected and folds the answers into the rows.
func (e *anyArray) testFlat(env *Env, x *vec.Vec) error {
	f := &e.flat
	if len(f.owner) == 0 {
		return nil
	}
	e.lh.v, e.rh.v = x, &f.elems
	if !x.Const {
		vec.Gather(&f.xs, x, f.owner)
		e.lh.v = &f.xs
	}
	v, err := e.test.Eval(env, &vec.Batch{N: len(f.owner)})
	if err != nil {
		if len(f.rows) == 1 && len(f.owner) == 1 {
			return err
		}
		return e.oneByOne(env, x)
	}
	for k, i := range f.owner {
		e.fold(i, v.IsNull(k), v.IsNull(k) || v.Bool[v.Idx(k)])
	}
	return nil
}

// fold takes the answer of one element into its row; true when that decides.
func (e *anyArray) fold(i uint32, isNull, is bool) bool {
	switch {
	case e.out.Bool[i] != e.all: // decided before
		return true
	case isNull:
		e.out.Nulls.Set(int(i))
	case is != e.all:
		e.out.Bool[i] = !e.all
		e.out.Nulls.Unset(int(i))
		return true
	}
	return false
}

// oneByOne tests the elements collected in turn, up to the one that decides.
func (e *anyArray) oneByOne(env *Env, x *vec.Vec) error {
	f := &e.flat
	for _, i := range f.rows {
		e.out.Bool[i] = e.all
		e.out.Nulls.Unset(int(i))
	}
	var one, l vec.Vec
	decided := false
	for k, i := range f.owner {
		if k == 0 || i != f.owner[k-1] {
			decided = false
		}
		if decided {
			continue
		}
		vec.Gather(&one, &f.elems, []uint32{uint32(k)})
		vec.Gather(&l, x, []uint32{i})
		e.lh.v, e.rh.v = &l, &one
		v, err := e.test.Eval(env, &vec.Batch{N: 1})
		if err != nil {
			return err
		}
		decided = e.fold(i, v.IsNull(0), v.IsNull(0) || v.Bool[0])
	}
	return nil
}
