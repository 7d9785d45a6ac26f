package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func (c *compiler) compileCase(e *plan.Case) (Eval, error) {
	out := &caseEval{t: e.T}
	if e.Operand != nil {
		op, err := c.compile(e.Operand)
		if err != nil {
			return nil, err
		}
		out.operand, out.slot = op, &holder{}
		outer := c.caseVal
		c.caseVal = out.slot
		defer func() { c.caseVal = outer }()
	}
	for _, w := range e.Whens {
		cond, err := c.predicate(w.Cond)
		if err != nil {
			return nil, err
		}
		// Results are outside of the operand's reach, but nested CASEs have
		// their own slots, so compiling them here is harmless.
		res, err := c.compile(w.Result)
		if err != nil {
			return nil, err
		}
		out.conds, out.results = append(out.conds, cond), append(out.results, res)
	}
	if e.Else != nil {
		var err error
		if out.otherwise, err = c.compile(e.Else); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// caseEval gives each arm only the rows that no earlier condition took.
type caseEval struct {
	t         types.T
	operand   Eval
	slot      *holder
	conds     []Pred
	results   []Eval
	otherwise Eval
	out       vec.Vec
	rest      [2][]uint32
	merger    merger
}

func (e *caseEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if e.operand != nil {
		v, err := e.operand.Eval(env, b)
		if err != nil {
			return nil, err
		}
		e.slot.v = v
	}
	e.merger.start(&e.out, e.t, b.N)
	open := rowsOf(b)
	for k, cond := range e.conds {
		if len(open) == 0 {
			break
		}
		sub := vec.Batch{Cols: b.Cols, N: b.N, Sel: open}
		if err := cond.Select(env, &sub); err != nil {
			return nil, err
		}
		if len(sub.Sel) == 0 {
			continue
		}
		rest := minus(e.rest[k&1][:0], open, sub.Sel)
		v, err := e.results[k].Eval(env, &sub)
		if err != nil {
			return nil, err
		}
		e.merger.put(v, sub.Sel)
		e.rest[k&1], open = rest, rest
	}
	if len(open) > 0 {
		if e.otherwise == nil {
			for _, i := range open {
				e.out.Nulls.Set(int(i))
			}
			return &e.out, nil
		}
		sub := vec.Batch{Cols: b.Cols, N: b.N, Sel: open}
		v, err := e.otherwise.Eval(env, &sub)
		if err != nil {
			return nil, err
		}
		e.merger.put(v, open)
	}
	return &e.out, nil
}

// merger assembles a vector from disjoint sets of rows of several vectors. A
// numeric result stays narrow while all parts have one scale.
type merger struct {
	out     *vec.Vec
	n       int
	decided bool
	dec     []types.Decimal // kept for wide results
}

func (m *merger) start(out *vec.Vec, t types.T, n int) {
	m.out, m.n, m.decided = out, max(n, 1), false
	if t.Rep() != types.RepDec {
		out.Reset(t, m.n)
		return
	}
	out.T, out.Const = t, false
	out.Nulls.Clear()
	out.SetNarrow(m.n, 0)
}

func (m *merger) put(v *vec.Vec, rows []uint32) {
	if v.Const && v.IsNull(0) {
		scatterNull(m.out, rows)
		return
	}
	if m.out.T.Rep() != types.RepDec {
		scatter(m.out, v, rows)
		return
	}
	var one [1]int64
	vals, scale, narrow := narrowForm(v, &one)
	if !m.decided {
		m.decided = true
		if narrow {
			m.out.Scale = scale
		} else {
			m.dec = resize(m.dec, m.n)
			m.out.Dec = m.dec
		}
	}
	if narrow && m.out.Dec == nil && scale == m.out.Scale {
		scatterRows(m.out.I64, vals, rows, mask(v))
		copyNulls(m.out, v, rows)
		return
	}
	if m.out.Dec == nil {
		m.widen()
	}
	scatter(m.out, v, rows)
}

// widen turns what is there into decimals, in memory that is kept.
func (m *merger) widen() {
	m.dec = resize(m.dec, m.n)
	for i, c := range m.out.I64 {
		m.dec[i] = types.NewDecimal(c, m.out.Scale)
	}
	m.out.Dec = m.dec
}

func copyNulls(out, v *vec.Vec, rows []uint32) {
	if !v.Nulls.Any() {
		return
	}
	m := mask(v)
	for _, i := range rows {
		if v.Nulls.Get(int(i) & m) {
			out.Nulls.Set(int(i))
		}
	}
}

func scatterNull(out *vec.Vec, rows []uint32) {
	for _, i := range rows {
		out.Nulls.Set(int(i))
	}
}

// coalesceEval evaluates each argument for the rows still NULL.
type coalesceEval struct {
	t      types.T
	args   []Eval
	out    vec.Vec
	rest   [2][]uint32
	have   []uint32
	merger merger
}

func (e *coalesceEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	e.merger.start(&e.out, e.t, b.N)
	open := rowsOf(b)
	for k, a := range e.args {
		if len(open) == 0 {
			break
		}
		sub := vec.Batch{Cols: b.Cols, N: b.N, Sel: open}
		v, err := a.Eval(env, &sub)
		if err != nil {
			return nil, err
		}
		if k == 0 && !v.Nulls.Any() {
			return v, nil
		}
		e.have = nonNull(e.have[:0], v, open)
		rest := minus(e.rest[k&1][:0], open, e.have)
		if len(e.have) > 0 {
			e.merger.put(v, e.have)
		}
		e.rest[k&1], open = rest, rest
	}
	scatterNull(&e.out, open)
	return &e.out, nil
}

// minMaxEval is GREATEST or LEAST; NULL only when every argument is.
type minMaxEval struct {
	t     types.T
	args  []Eval
	least bool
	out   vec.Vec
	vecs  []*vec.Vec
}

func (e *minMaxEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	e.vecs = e.vecs[:0]
	for _, a := range e.args {
		v, err := a.Eval(env, b)
		if err != nil {
			return nil, err
		}
		e.vecs = append(e.vecs, v)
	}
	e.out.Reset(e.t, max(b.N, 1))
	for _, row := range rowsOf(b) {
		i := int(row)
		var best *vec.Vec
		for _, v := range e.vecs {
			if v.IsNull(i) {
				continue
			}
			if best != nil {
				if c := vec.CompareRows(v, i, best, i); c == 0 || (c < 0) != e.least {
					continue
				}
			}
			best = v
		}
		if best == nil {
			e.out.Nulls.Set(i)
			continue
		}
		vec.CopyRow(&e.out, i, best, i)
	}
	return &e.out, nil
}

func (c *compiler) compileNullIf(e *plan.NullIf) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	slot := &holder{}
	outer := c.caseVal
	c.caseVal = slot
	eq, err := c.predicate(e.Eq)
	c.caseVal = outer
	if err != nil {
		return nil, err
	}
	return &nullIfEval{t: e.T, x: x, slot: slot, eq: eq}, nil
}

type nullIfEval struct {
	t    types.T
	x    Eval
	slot *holder // what eq compares
	eq   Pred
	out  vec.Vec
	m    merger
}

func (e *nullIfEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.m.start(&e.out, e.t, b.N)
	e.m.put(x, rowsOf(b))
	e.slot.v = x
	sub := *b
	if err := e.eq.Select(env, &sub); err != nil {
		return nil, err
	}
	scatterNull(&e.out, rowsOf(&sub))
	return &e.out, nil
}

// compileIsDistinct uses the equality function on the rows where both sides
// are not NULL.
func (c *compiler) compileIsDistinct(e *plan.IsDistinct) (Eval, error) {
	l, err := c.compile(e.L)
	if err != nil {
		return nil, err
	}
	r, err := c.compile(e.R)
	if err != nil {
		return nil, err
	}
	out := &distinctEval{t: e.T, l: l, r: r, not: e.Not, lh: &holder{}, rh: &holder{}}
	call := &plan.Call{At: plan.At{T: types.TBool, Off: e.Off}, Proc: e.Eq, Args: []plan.Expr{e.L, e.R}}
	b, ok := functions().scalar[e.Eq.Src]
	if !ok {
		return nil, unsupportedCall(call)
	}
	if out.eq, err = b(c, call, []Eval{out.lh, out.rh}); err != nil {
		return nil, err
	}
	return out, nil
}

type distinctEval struct {
	t      types.T
	l, r   Eval
	lh, rh *holder
	eq     Eval
	not    bool
	out    vec.Vec
	sel    []uint32
}

func (e *distinctEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	l, err := e.l.Eval(env, b)
	if err != nil {
		return nil, err
	}
	r, err := e.r.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.out.Reset(e.t, max(b.N, 1))
	e.sel = e.sel[:0]
	for _, i := range rowsOf(b) {
		ln, rn := l.IsNull(int(i)), r.IsNull(int(i))
		if ln || rn {
			e.out.Bool[i] = (ln != rn) != e.not
			continue
		}
		e.sel = append(e.sel, i)
	}
	if len(e.sel) == 0 {
		return &e.out, nil
	}
	e.lh.v, e.rh.v = l, r
	eq, err := e.eq.Eval(env, &vec.Batch{Cols: b.Cols, N: b.N, Sel: e.sel})
	if err != nil {
		return nil, err
	}
	for _, i := range e.sel {
		e.out.Bool[i] = eq.Bool[eq.Idx(int(i))] == e.not
	}
	return &e.out, nil
}
