package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// subscriptAssign is a container, an array, a jsonb value, an hstore or a geometric value
// of fixed size, with another value in one place.
type subscriptAssign struct {
	t      types.T
	x, val Eval
	slice  bool
	lo, hi []Eval // nil entries: a bound that is left out
	// first is the type of the first subscript of jsonb: it says whether NULL
	// becomes an array or an object.
	first types.T
	vecs  [2][]*vec.Vec
	out   vec.Vec
}

func (c *compiler) compileSubscriptAssign(e *plan.SubscriptAssign) (Eval, error) {
	s := &subscriptAssign{t: e.T, slice: e.Slice}
	if len(e.Lo) > maxArrayDims && e.T.Kind() == types.KArray {
		return nil, errTooManyDims(len(e.Lo))
	}
	if e.T.Kind() == types.KJSONB {
		s.first = e.Lo[0].Type()
	}
	var err error
	if s.x, err = c.compile(e.X); err != nil {
		return nil, err
	}
	if s.val, err = c.compile(e.Val); err != nil {
		return nil, err
	}
	if s.lo, err = c.compileBounds(e.Lo); err != nil {
		return nil, err
	}
	s.hi, err = c.compileBounds(e.Hi)
	return s, err
}

// compileBounds compiles subscripts, of which some may be nil.
func (c *compiler) compileBounds(es []plan.Expr) ([]Eval, error) {
	out := make([]Eval, len(es))
	for i, x := range es {
		if x == nil {
			continue
		}
		var err error
		if out[i], err = c.compile(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *subscriptAssign) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	val, err := e.val.Eval(env, b)
	if err != nil {
		return nil, err
	}
	for side, evs := range [2][]Eval{e.lo, e.hi} {
		e.vecs[side] = resize(e.vecs[side], len(evs))
		for i, ev := range evs {
			e.vecs[side][i] = nil
			if ev == nil {
				continue
			}
			if e.vecs[side][i], err = ev.Eval(env, b); err != nil {
				return nil, err
			}
		}
	}
	e.out.Reset(e.t, max(b.N, 1))
	for _, r := range rowsOf(b) {
		i := int(r)
		var d types.Datum
		switch e.t.Kind() {
		case types.KJSONB:
			d, err = e.json(x.Get(i), val.Get(i), i)
		case types.KHstore:
			d, err = e.hstore(x.Get(i), val.Get(i), i)
		case types.KGeometry:
			d, err = e.raw(x.Get(i), val.Get(i), i)
		default:
			d, err = e.array(x.Get(i), val.Get(i), i)
		}
		if err != nil {
			return nil, err
		}
		d.T = e.t
		e.out.Set(i, d)
	}
	return &e.out, nil
}

// bounds returns the subscripts of one side for a row; given tells which are
// there.
func (e *subscriptAssign) bounds(side, row int) (at []int, given []bool, err error) {
	vs := e.vecs[side]
	at, given = make([]int, len(vs)), make([]bool, len(vs))
	for k, v := range vs {
		if v == nil {
			continue
		}
		if v.IsNull(row) {
			return nil, nil, sqlerr.New(sqlerr.NullValueNotAllowed, "array subscript in assignment must not be null")
		}
		at[k], given[k] = int(v.I64[v.Idx(row)]), true
	}
	return at, given, nil
}

// raw sets an element of a geometric value. Where one of the two is NULL, the value stays.
func (e *subscriptAssign) raw(x, val types.Datum, row int) (types.Datum, error) {
	at, _, err := e.bounds(0, row)
	if err != nil || x.Null || val.Null {
		return x, err
	}
	switch {
	case e.slice:
		return null, sqlerr.New(sqlerr.FeatureNotSupported, "updates on slices of fixed-length arrays not implemented")
	case len(at) != 1:
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	out, ok := types.SetRawElem(x, int64(at[0]), val)
	if !ok {
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "array subscript out of range")
	}
	return out, nil
}

func (e *subscriptAssign) array(x, val types.Datum, row int) (types.Datum, error) {
	lo, hasLo, err := e.bounds(0, row)
	if err != nil {
		return null, err
	}
	hi, hasHi, err := e.bounds(1, row)
	if err != nil {
		return null, err
	}
	a := arrayParts{elem: elemType(e.t)}
	if !x.Null {
		if a, err = partsOf(x); err != nil {
			return null, err
		}
	}
	if !e.slice {
		if err := a.setElement(lo, val); err != nil {
			return null, err
		}
		return a.datum(), nil
	}
	if val.Null {
		if x.Null {
			return a.datum(), nil
		}
		return x, nil
	}
	src, err := partsOf(val)
	if err != nil {
		return null, err
	}
	if err := a.setSlice(lo, hi, hasLo, hasHi, src.elems); err != nil {
		return null, err
	}
	return a.datum(), nil
}
