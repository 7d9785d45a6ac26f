package expr

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// elemType returns the element type of an array type.
func elemType(t types.T) types.T {
	if t.User == types.KArray {
		return types.Of(t.Elem)
	}
	if in := types.Lookup(t.OID); in != nil && in.Elem != 0 {
		return types.Of(in.Elem)
	}
	return types.TText
}

func (c *compiler) compileArrayCtor(e *plan.ArrayCtor) (Eval, error) {
	args, err := c.compileAll(e.Elems)
	if err != nil {
		return nil, err
	}
	elem := elemType(e.T)
	if !e.Nested && len(e.Elems) > 0 {
		elem = e.Elems[0].Type()
		elem.Mod = -1
	}
	return &arrayEval{t: e.T, elem: elem, args: args, nested: e.Nested}, nil
}

type arrayEval struct {
	t, elem types.T
	args    []Eval
	nested  bool
	vecs    []*vec.Vec
	row     []types.Datum
	out     vec.Vec
	buf     []byte // for making an array, and where arrays are until the next evaluation
	arena   vec.Arena
}

func (e *arrayEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	e.vecs, e.row = e.vecs[:0], resize(e.row, len(e.args))
	constant := true
	for _, a := range e.args {
		v, err := a.Eval(env, b)
		if err != nil {
			return nil, err
		}
		constant = constant && v.Const
		e.vecs = append(e.vecs, v)
	}
	n, rows := b.N, rowsOf(b)
	if constant {
		n, rows = 1, identity[:min(1, b.Rows())]
	}
	if err := env.roomForResults(e.vecs, b); err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(n, 1))
	e.out.Const = constant
	e.arena.Reset()
	for _, i := range rows {
		for k, v := range e.vecs {
			e.row[k] = v.Get(int(i))
		}
		d, err := e.build(e.row)
		if err != nil {
			return nil, err
		}
		d.T = e.t
		e.out.Set(int(i), d)
	}
	return &e.out, nil
}

func (e *arrayEval) build(row []types.Datum) (types.Datum, error) {
	if !e.nested {
		if len(row) == 0 {
			return types.NewArray(e.elem, nil, nil, nil), nil
		}
		dims := [1]int{len(row)}
		e.buf = types.AppendArray(e.buf[:0], e.elem, dims[:], nil, row)
		d := arrayDatum(e.arena.Copy(e.buf))
		if cap(e.buf) > largeValue {
			e.buf = nil
		}
		return d, nil
	}
	return nestArrays(e.elem, row)
}

func errDimensions() error {
	return sqlerr.New(sqlerr.ArraySubscriptError,
		"multidimensional arrays must have array expressions with matching dimensions")
}

// nestArrays makes an array of one more dimension out of equally shaped ones.
func nestArrays(elem types.T, row []types.Datum) (types.Datum, error) {
	var all []types.Datum
	var dims, lbs []int
	empty := 0
	for k, d := range row {
		if d.Null {
			empty++
			continue
		}
		t, dd, ll, elems, err := types.ArrayElems(d)
		if err != nil {
			return d, err
		}
		elem = t
		if len(dd) == 0 {
			empty++
			continue
		}
		if dims == nil {
			if k > 0 {
				return d, errDimensions()
			}
			dims, lbs = dd, ll
		} else if !slices.Equal(dims, dd) || !slices.Equal(lbs, ll) {
			return d, errDimensions()
		}
		all = append(all, elems...)
	}
	if dims == nil {
		return types.NewArray(elem, nil, nil, nil), nil
	}
	if empty > 0 {
		return types.Datum{}, errDimensions()
	}
	if len(dims) >= maxArrayDims {
		return types.Datum{}, sqlerr.New(sqlerr.ProgramLimitExceeded,
			"number of array dimensions (%d) exceeds the maximum allowed (%d)", len(dims)+1, maxArrayDims)
	}
	return types.NewArray(elem, append([]int{len(row)}, dims...), append([]int{1}, lbs...), all), nil
}

const maxArrayDims = 6

func (c *compiler) compileSubscript(e *plan.Subscript) (Eval, error) {
	if e.X.Type().Kind() != types.KArray {
		if o := e.X.Type().OID; (o == types.OName || e.X.Type().Kind() == types.KGeometry) && !e.Slice {
			return c.compileRawElement(e)
		}
		if e.X.Type().Kind() == types.KJSONB && !e.Slice {
			return c.compileJSONSubscript(e)
		}
		if e.X.Type().Kind() == types.KHstore && !e.Slice {
			return c.compileHstoreSubscript(e)
		}
		return nil, sqlerr.Unsupported(e.Off, "subscripting of type %s", types.FormatType(e.X.Type()))
	}
	out := &subscriptEval{t: e.T, slice: e.Slice}
	var err error
	if out.x, err = c.compile(e.X); err != nil {
		return nil, err
	}
	list := func(es []plan.Expr) ([]Eval, error) {
		evs := make([]Eval, len(es))
		for i, x := range es {
			if x == nil {
				continue
			}
			if evs[i], err = c.compile(x); err != nil {
				return nil, err
			}
		}
		return evs, nil
	}
	if out.lo, err = list(e.Lo); err != nil {
		return nil, err
	}
	if out.hi, err = list(e.Hi); err != nil {
		return nil, err
	}
	return out, nil
}

// rawElementEval is X[i] of a name, the byte at i, which is 0 up to the name's
// fixed size; or of a point, a line, a segment or a box, as types.RawElem has it.
// Outside of the value it is NULL.
type rawElementEval struct {
	t    types.T
	x, i Eval
	past bool // there are further subscripts: nothing is there
	out  vec.Vec
}

func (c *compiler) compileRawElement(e *plan.Subscript) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	i, err := c.compile(e.Lo[0])
	if err != nil {
		return nil, err
	}
	return &rawElementEval{t: e.T, x: x, i: i, past: len(e.Lo) > 1}, nil
}

func (e *rawElementEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	at, err := e.i.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(b.N, 1))
	for _, r := range rowsOf(b) {
		i := int(r)
		k := at.Get(i).I
		if e.past {
			e.out.Set(i, types.Null(e.t))
			continue
		}
		if x.T.Kind() == types.KGeometry {
			d, ok := types.Datum{}, false
			if !x.IsNull(i) && !at.IsNull(i) {
				d, ok = types.RawElem(x.Get(i), k)
			}
			if !ok {
				d = types.Null(e.t)
			}
			e.out.Set(i, d)
			continue
		}
		if x.IsNull(i) || at.IsNull(i) || k < 0 || k > nameLen {
			e.out.Set(i, types.Null(e.t))
			continue
		}
		d := types.Datum{T: e.t}
		if s := x.Get(i).B; k < int64(len(s)) {
			d.B = s[k : k+1]
		}
		e.out.Set(i, d)
	}
	return &e.out, nil
}

// subscriptEval is X[i][j] (out of bounds: NULL) or a slice (out of bounds:
// empty).
type subscriptEval struct {
	t      types.T
	x      Eval
	slice  bool
	lo, hi []Eval
	out    vec.Vec
	vecs   [2][]*vec.Vec
	it     types.ArrayIter
	buf    []byte // for making a slice, and where slices are until the next evaluation
	arena  vec.Arena
}

func (e *subscriptEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	eval := func(evs []Eval, side int) ([]*vec.Vec, error) {
		if e.vecs[side] == nil {
			e.vecs[side] = make([]*vec.Vec, len(evs))
		}
		vs := e.vecs[side]
		for i, ev := range evs {
			if ev == nil {
				continue
			}
			if vs[i], err = ev.Eval(env, b); err != nil {
				return nil, err
			}
		}
		return vs, nil
	}
	lo, err := eval(e.lo, 0)
	if err != nil {
		return nil, err
	}
	hi, err := eval(e.hi, 1)
	if err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(b.N, 1))
	e.arena.Reset()
	for _, i := range rowsOf(b) {
		if x.IsNull(int(i)) {
			e.out.Nulls.Set(int(i))
			continue
		}
		var d types.Datum
		if e.slice {
			d, err = e.cut(x.Get(int(i)), lo, hi, int(i))
		} else {
			d, err = e.pick(x.Get(int(i)), lo, int(i))
		}
		if err != nil {
			return nil, err
		}
		d.T = e.t
		e.out.Set(int(i), d)
	}
	return &e.out, nil
}

func (e *subscriptEval) pick(arr types.Datum, idx []*vec.Vec, row int) (types.Datum, error) {
	it := &e.it
	if err := it.Init(arr); err != nil || len(it.Dims) != len(idx) {
		return null, err
	}
	at := 0
	for k, v := range idx {
		if v.IsNull(row) {
			return null, nil
		}
		i := int(v.I64[v.Idx(row)]) - it.Lbs[k]
		if i < 0 || i >= it.Dims[k] {
			return null, nil
		}
		at = at*it.Dims[k] + i
	}
	if err := it.Skip(at); err != nil {
		return null, err
	}
	raw, isNull, _, err := it.NextRaw()
	if err != nil || isNull {
		return null, err
	}
	return types.StoredElem(it.Elem, raw)
}

// cutVector is cut of an array of one dimension, by at most one pair of bounds
// that are not NULL.
func (e *subscriptEval) cutVector(arr types.Datum, lo, hi []*vec.Vec, row int) (types.Datum, error) {
	it := &e.it
	from, to := it.Lbs[0], it.Lbs[0]+it.Dims[0]-1
	if v := lo[0]; v != nil {
		from = max(from, int(v.I64[v.Idx(row)]))
	}
	if v := hi[0]; v != nil {
		to = min(to, int(v.I64[v.Idx(row)]))
	}
	if from > to {
		return types.NewArray(it.Elem, nil, nil, nil), nil
	}
	dims := [1]int{to - from + 1}
	out := types.AppendArrayHeader(e.buf[:0], types.ArrayElemOID(arr.B), dims[:], nil)
	if err := it.Skip(from - it.Lbs[0]); err != nil {
		return null, err
	}
	for range dims[0] {
		raw, isNull, _, err := it.NextRaw()
		if err != nil {
			return null, err
		}
		out = types.AppendRawElem(out, raw, isNull)
	}
	d := arrayDatum(e.arena.Copy(out))
	if e.buf = out; cap(out) > largeValue {
		e.buf = nil
	}
	return d, nil
}

// cut takes the slice's elements; its lower bounds start again at 1.
func (e *subscriptEval) cut(arr types.Datum, lo, hi []*vec.Vec, row int) (types.Datum, error) {
	if err := e.it.Init(arr); err != nil {
		return null, err
	}
	for _, bounds := range [2][]*vec.Vec{lo, hi} {
		for _, v := range bounds {
			if v != nil && v.IsNull(row) {
				return null, nil
			}
		}
	}
	if len(e.it.Dims) == 1 && len(lo) == 1 {
		return e.cutVector(arr, lo, hi, row)
	}
	elem, dims, lbs, elems, err := types.ArrayElems(arr)
	if err != nil {
		return null, err
	}
	if len(dims) == 0 || len(lo) > len(dims) {
		return types.NewArray(elem, nil, nil, nil), nil
	}
	from, size, ones := make([]int, len(dims)), make([]int, len(dims)), make([]int, len(dims))
	for k := range dims {
		l, h := lbs[k], lbs[k]+dims[k]-1
		ones[k] = 1
		if k < len(lo) {
			for side, v := range []*vec.Vec{lo[k], hi[k]} {
				if v == nil {
					continue
				}
				at := int(v.I64[v.Idx(row)])
				if side == 0 {
					l = max(l, at)
				} else {
					h = min(h, at)
				}
			}
		}
		if l > h {
			return types.NewArray(elem, nil, nil, nil), nil
		}
		from[k], size[k] = l-lbs[k], h-l+1
	}
	var out []types.Datum
	var walk func(k, at int)
	walk = func(k, at int) {
		if k == len(dims) {
			out = append(out, elems[at])
			return
		}
		for i := range size[k] {
			walk(k+1, at*dims[k]+from[k]+i)
		}
	}
	walk(0, 0)
	return types.NewArray(elem, size, ones, out), nil
}
