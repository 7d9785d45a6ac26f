package expr

import (
	"bytes"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// valueSet is a set of constants with the equality of their representation.
type valueSet struct {
	rep     types.Rep
	ints    map[int64]struct{}
	few     []int64 // instead of ints while there are few
	strs    map[string]struct{}
	floats  map[float64]struct{} // NaN is hasNaN
	hasNaN  bool
	decs    map[decKey]struct{}
	hasNull bool
	size    int
}

const fewValues = 8

// decKey identifies a decimal's value whatever its display scale.
type decKey struct {
	coef  int64
	scale int32
	text  string // of values that are not small
}

func keyOf(d types.Decimal) decKey {
	d = d.TrimScale()
	if c, s, ok := d.Small(); ok {
		return decKey{coef: c, scale: s}
	}
	return decKey{text: d.String()}
}

func newValueSet(rep types.Rep, values []types.Datum) *valueSet {
	s := &valueSet{rep: rep}
	for _, d := range values {
		s.add(d)
	}
	return s
}

func (s *valueSet) add(d types.Datum) {
	s.size++
	switch {
	case d.Null:
		s.hasNull = true
	case s.rep == types.RepInt && s.ints == nil && len(s.few) < fewValues:
		s.few = append(s.few, d.I)
	case s.rep == types.RepInt:
		if s.ints == nil {
			s.ints = make(map[int64]struct{})
			for _, v := range s.few {
				s.ints[v] = struct{}{}
			}
			s.few = nil
		}
		s.ints[d.I] = struct{}{}
	case s.rep == types.RepFloat:
		if s.floats == nil {
			s.floats = make(map[float64]struct{})
		}
		s.hasNaN = s.hasNaN || d.F != d.F
		s.floats[d.F] = struct{}{}
	case s.rep == types.RepDec:
		if s.decs == nil {
			s.decs = make(map[decKey]struct{})
		}
		s.decs[keyOf(d.Dec)] = struct{}{}
	default:
		if s.strs == nil {
			s.strs = make(map[string]struct{})
		}
		s.strs[string(d.B)] = struct{}{}
	}
}

// has reports whether the non-null value at index i of v is in the set.
func (s *valueSet) has(v *vec.Vec, i int) bool {
	switch s.rep {
	case types.RepInt:
		x := v.I64[i]
		if s.ints != nil {
			_, ok := s.ints[x]
			return ok
		}
		for _, y := range s.few {
			if x == y {
				return true
			}
		}
		return false
	case types.RepFloat:
		if v.F64[i] != v.F64[i] {
			return s.hasNaN
		}
		_, ok := s.floats[v.F64[i]]
		return ok
	case types.RepDec:
		d := types.Decimal{}
		if v.Dec != nil {
			d = v.Dec[i]
		} else {
			d = types.NewDecimal(v.I64[i], v.Scale)
		}
		_, ok := s.decs[keyOf(d)]
		return ok
	}
	_, ok := s.strs[string(v.B[i])]
	return ok
}

// setRep returns the representation by which the function compares that is one of kinds,
// or false when it is not a comparison of equal representations.
func setRep(kinds map[string]cmpKind, src string) (types.Rep, bool) {
	kind, ok := kinds[src]
	if !ok {
		return 0, false
	}
	switch kind {
	case cmpInt:
		return types.RepInt, true
	case cmpFloat:
		return types.RepFloat, true
	case cmpBytes:
		return types.RepBytes, true
	case cmpDec:
		return types.RepDec, true
	}
	return 0, false
}

func (c *compiler) compileInList(e *plan.InList) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	list, err := c.compileAll(e.List)
	if err != nil {
		return nil, err
	}
	if rep, ok := setRep(functions().equality, e.Eq.Src); ok {
		values := make([]types.Datum, 0, len(list))
		for _, l := range list {
			d, isConst := constant(l)
			if !isConst {
				break
			}
			values = append(values, d)
		}
		if len(values) == len(list) {
			return &inSet{x: x, t: e.T, set: newValueSet(rep, values), not: e.Not}, nil
		}
	}
	slot := &holder{}
	tests := make([]Eval, len(list))
	var each []heldValue
	for i, l := range list {
		if _, isConst := constant(l); !isConst {
			each = append(each, heldValue{l, &holder{}})
			l = each[len(each)-1].slot
		}
		call := &plan.Call{At: plan.At{T: types.TBool, Off: e.Off}, Proc: e.Eq, Args: []plan.Expr{e.X, e.List[i]}}
		b, ok := functions().scalar[e.Eq.Src]
		if !ok {
			return nil, unsupportedCall(call)
		}
		if tests[i], err = b(c, call, []Eval{slot, l}); err != nil {
			return nil, err
		}
	}
	var out Eval = &withSlot{x: x, slot: slot, each: each, body: &junction{args: tests, t: e.T, ends: true}}
	if e.Not {
		out = &notEval{x: out, t: e.T}
	}
	return out, nil
}

// withSlot evaluates x once and passes it to a body through a holder. So it does with
// each value of a list, all of them before the first comparison as an array's elements
// are: 1 IN (1, 1/0) fails.
type withSlot struct {
	x    Eval
	slot *holder
	each []heldValue
	body Eval
}

type heldValue struct {
	x    Eval
	slot *holder
}

func (e *withSlot) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	v, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.slot.v = v
	for _, h := range e.each {
		if h.slot.v, err = h.x.Eval(env, b); err != nil {
			return nil, err
		}
	}
	return e.body.Eval(env, b)
}

// inSet is X [NOT] IN (constants).
type inSet struct {
	x    Eval
	t    types.T
	set  *valueSet
	not  bool
	out  vec.Vec
	sel  []uint32
	last types.Datum // of = ANY and <> ALL: the array that set was made from
}

func (e *inSet) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(b.N, 1))
	m := mask(x)
	for _, i := range rowsOf(b) {
		k := int(i) & m
		switch {
		case e.set.size == 0:
			e.out.Bool[i] = e.not
		case x.Nulls.Get(k):
			e.out.Nulls.Set(int(i))
		case e.set.has(x, k):
			e.out.Bool[i] = !e.not
		case e.set.hasNull:
			e.out.Nulls.Set(int(i))
		default:
			e.out.Bool[i] = e.not
		}
	}
	return &e.out, nil
}

func (e *inSet) Select(env *Env, b *vec.Batch) error {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return err
	}
	sel, m := room(e.sel, b), mask(x)
	switch {
	case e.set.size == 0:
		if e.not {
			sel = append(sel, rowsOf(b)...)
		}
	case e.not && e.set.hasNull:
	default:
		for _, i := range rowsOf(b) {
			k := int(i) & m
			if !x.Nulls.Get(k) && e.set.has(x, k) != e.not {
				sel = append(sel, i)
			}
		}
	}
	e.sel, b.Sel = sel, sel
	return nil
}

func (c *compiler) compileAnyArray(e *plan.AnyArray) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	arr, err := c.compile(e.Array)
	if err != nil {
		return nil, err
	}
	out := &anyArray{t: e.T, x: x, array: arr, all: e.All, lh: &holder{}, rh: &holder{}}
	kinds := functions().equality // = ANY
	if e.All {
		kinds = functions().inequality // <> ALL
	}
	if rep, ok := setRep(kinds, e.Proc.Src); ok {
		out.set = &inSet{x: &out.xh, t: e.T, not: e.All}
		out.rep = rep
	}
	call := &plan.Call{At: plan.At{T: types.TBool, Off: e.Off}, Proc: e.Proc, Args: []plan.Expr{e.X, e.Array}}
	if x := e.X.Type(); x.OID == types.OBpchar {
		call.Args[1] = &plan.CaseVal{At: plan.At{T: types.TBpchar, Off: -1}} // elements carry their blanks
	}
	b, ok := functions().scalar[e.Proc.Src]
	if !ok {
		return nil, unsupportedCall(call)
	}
	if out.test, err = b(c, call, []Eval{out.lh, out.rh}); err != nil {
		return nil, err
	}
	return out, nil
}

// anyArray is X op ANY|ALL (array). A constant array of = ANY and <> ALL becomes a
// set; other constant arrays are tested element by element over the batch. Of
// arrays that differ from row to row, integers and texts are compared with an
// equality in their stored form; for other operators all elements of the batch
// make one vector, which is tested at once.
type anyArray struct {
	t      types.T
	x      Eval
	array  Eval
	all    bool
	test   Eval
	lh, rh *holder
	xh     holder
	set    *inSet
	rep    types.Rep
	out    vec.Vec
	open   [2][]uint32
	flat   flatArrays
}

func (e *anyArray) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if b.Rows() == 0 {
		return setNull(&e.out, e.t), nil // nothing was evaluated for the array either
	}
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	arr, err := e.array.Eval(env, b)
	if err != nil {
		return nil, err
	}
	if arr.Const && arr.IsNull(0) {
		return setNull(&e.out, e.t), nil
	}
	if !arr.Const {
		return &e.out, e.perRow(env, b, x, arr)
	}
	d := arr.Get(0)
	if e.set != nil {
		if e.set.set == nil || !bytes.Equal(e.set.last.B, d.B) {
			_, _, _, elems, err := types.ArrayElems(d)
			if err != nil {
				return nil, err
			}
			e.set.set, e.set.last = newValueSet(e.rep, elems), own(d)
		}
		e.xh.v = x
		return e.set.Eval(env, b)
	}
	_, _, _, elems, err := types.ArrayElems(d)
	if err != nil {
		return nil, err
	}
	return &e.out, e.perElement(env, b, x, elems)
}

func (e *anyArray) perElement(env *Env, b *vec.Batch, x *vec.Vec, elems []types.Datum) error {
	out := &e.out
	out.Reset(e.t, max(b.N, 1))
	rows := rowsOf(b)
	for _, i := range rows {
		out.Bool[i] = e.all
	}
	e.lh.v = x
	sub := vec.Batch{Cols: b.Cols, N: b.N, Sel: rows}
	for k, el := range elems {
		if len(sub.Sel) == 0 {
			break
		}
		e.rh.v = vec.NewConst(el)
		v, err := e.test.Eval(env, &sub)
		if err != nil {
			return err
		}
		next := e.open[k&1][:0]
		for _, i := range sub.Sel {
			switch {
			case v.IsNull(int(i)):
				out.Nulls.Set(int(i))
				next = append(next, i)
			case v.Bool[v.Idx(int(i))] != e.all:
				out.Bool[i] = !e.all
				out.Nulls.Unset(int(i))
			default:
				next = append(next, i)
			}
		}
		e.open[k&1], sub.Sel = next, next
	}
	return nil
}
