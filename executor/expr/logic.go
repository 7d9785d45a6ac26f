package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func (c *compiler) compileLogic(e plan.Expr) (Eval, error) {
	switch e := e.(type) {
	case *plan.And:
		args, err := c.compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		return &junction{args: args, t: e.T, ends: false}, nil
	case *plan.Or:
		args, err := c.compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		return &junction{args: args, t: e.T, ends: true}, nil
	case *plan.Not:
		x, err := c.compile(e.X)
		if err != nil {
			return nil, err
		}
		return &notEval{x: x, t: e.T}, nil
	}
	is := e.(*plan.Is)
	x, err := c.compile(is.X)
	if err != nil {
		return nil, err
	}
	if is.Test == plan.IsNull && !is.Whole && is.X.Type().Kind() == types.KRecord {
		return &rowIsNull{x: x, t: is.T, not: is.Not}, nil
	}
	return &isEval{x: x, t: is.T, test: is.Test, not: is.Not}, nil
}

// junction is AND (ends is false) or OR (ends is true): an argument that equals
// ends settles the row, so later arguments see only the rows still open.
type junction struct {
	args []Eval
	t    types.T
	ends bool
	out  vec.Vec
	open [2][]uint32
}

func (e *junction) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	out := &e.out
	out.Reset(e.t, max(b.N, 1))
	rows := rowsOf(b)
	for _, i := range rows {
		out.Bool[i] = !e.ends
	}
	sub := vec.Batch{Cols: b.Cols, N: b.N, Sel: rows}
	for k, a := range e.args {
		if len(sub.Sel) == 0 {
			break
		}
		v, err := a.Eval(env, &sub)
		if err != nil {
			return nil, err
		}
		next, m := e.open[k&1][:0], mask(v)
		for _, i := range sub.Sel {
			switch {
			case v.Nulls.Get(int(i) & m):
				out.Nulls.Set(int(i))
				next = append(next, i)
			case v.Bool[int(i)&m] == e.ends:
				out.Bool[i] = e.ends
				out.Nulls.Unset(int(i))
			default:
				next = append(next, i)
			}
		}
		e.open[k&1], sub.Sel = next, next
	}
	return out, nil
}

type notEval struct {
	x   Eval
	t   types.T
	out vec.Vec
}

func (e *notEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	n := b.N
	if x.Const {
		n = 1
	}
	e.out.Reset(e.t, max(n, 1))
	e.out.Const = x.Const
	e.out.Nulls.Copy(&x.Nulls)
	if x.Const {
		e.out.Bool[0] = !x.Bool[0]
		return &e.out, nil
	}
	for _, i := range rowsOf(b) {
		e.out.Bool[i] = !x.Bool[i]
	}
	return &e.out, nil
}

// isEval is IS [NOT] NULL, TRUE, FALSE, UNKNOWN; never NULL itself.
type isEval struct {
	x    Eval
	t    types.T
	test plan.IsTest
	not  bool
	out  vec.Vec
}

func (e *isEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(b.N, 1))
	m := mask(x)
	for _, i := range rowsOf(b) {
		e.out.Bool[i] = e.holds(x, int(i)&m) != e.not
	}
	return &e.out, nil
}

func (e *isEval) holds(x *vec.Vec, i int) bool {
	isNull := x.Nulls.Get(i)
	switch e.test {
	case plan.IsTrue:
		return !isNull && x.Bool[i]
	case plan.IsFalse:
		return !isNull && !x.Bool[i]
	}
	return isNull
}

// rowIsNull is IS [NOT] NULL of a row: all fields are (not) NULL.
type rowIsNull struct {
	x   Eval
	t   types.T
	not bool
	out vec.Vec
}

func (e *rowIsNull) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(b.N, 1))
	for _, i := range rowsOf(b) {
		holds := !e.not
		if !x.IsNull(int(i)) {
			err := eachField(x.B[x.Idx(int(i))], func(_ types.OID, _ []byte, isNull bool) bool {
				holds = isNull != e.not
				return holds
			})
			if err != nil {
				return nil, err
			}
		} else {
			holds = !e.not
		}
		e.out.Bool[i] = holds
	}
	return &e.out, nil
}
