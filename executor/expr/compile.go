package expr

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// compiler turns one expression tree into evaluators.
type compiler struct {
	caseVal *holder // of the innermost enclosing CASE with an operand
}

func newCompiler() *compiler { return &compiler{} }

func (c *compiler) compileAll(es []plan.Expr) ([]Eval, error) {
	out := make([]Eval, len(es))
	for i, e := range es {
		var err error
		if out[i], err = c.compile(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *compiler) compile(e plan.Expr) (Eval, error) {
	switch e := e.(type) {
	case *plan.Const:
		return newConst(e.T, e.Val), nil
	case *plan.Param:
		return &paramEval{idx: e.Idx, t: e.T}, nil
	case *plan.Col:
		return colEval(e.Idx), nil
	case *plan.Call:
		return c.compileCall(e)
	case *plan.CoerceIO:
		return c.compileCoerceIO(e)
	case *plan.Relabel:
		return c.compileRelabel(e)
	case *plan.CoerceMod:
		return c.compileCoerceMod(e)
	case *plan.KeyBound:
		return c.compileKeyBound(e)
	case *plan.CoerceDomain:
		return c.compileCoerceDomain(e)
	case *plan.CoerceArray:
		return c.compileCoerceArray(e)
	case *plan.And, *plan.Or, *plan.Not, *plan.Is:
		return c.compileLogic(e)
	case *plan.Case:
		return c.compileCase(e)
	case *plan.CaseVal:
		if c.caseVal == nil {
			return nil, sqlerr.New(sqlerr.InternalError, "case value outside of a CASE").At(e.Off)
		}
		return c.caseVal, nil
	case *plan.Coalesce:
		args, err := c.compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		return &coalesceEval{t: e.T, args: args}, nil
	case *plan.NullIf:
		return c.compileNullIf(e)
	case *plan.MinMax:
		args, err := c.compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		return &minMaxEval{t: e.T, args: args, least: e.Least}, nil
	case *plan.IsDistinct:
		return c.compileIsDistinct(e)
	case *plan.InList:
		return c.compileInList(e)
	case *plan.AnyArray:
		return c.compileAnyArray(e)
	case *plan.ArrayCtor:
		return c.compileArrayCtor(e)
	case *plan.SubscriptAssign:
		return c.compileSubscriptAssign(e)
	case *plan.Subscript:
		return c.compileSubscript(e)
	case *plan.RowCtor:
		args, err := c.compileAll(e.Elems)
		if err != nil {
			return nil, err
		}
		row := &rowEval{t: e.T, args: args}
		if e.T.OID == types.ORecord {
			row.names = e.Names
		}
		if e.Present != nil {
			if row.present, err = c.compile(e.Present); err != nil {
				return nil, err
			}
		}
		return row, nil
	case *plan.FieldOf:
		x, err := c.compile(e.X)
		if err != nil {
			return nil, err
		}
		return &fieldEval{t: e.T, x: x, idx: e.Idx}, nil
	case *plan.SubPlan:
		return c.compileSubPlan(e)
	}
	return nil, sqlerr.New(sqlerr.InternalError, "expression node %T cannot be executed", e).At(e.Pos())
}

func (c *compiler) compileCall(e *plan.Call) (Eval, error) {
	if e.Proc.RetSet {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"set-valued function called in context that cannot accept a set").At(e.Off)
	}
	args, err := c.compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	if e.Proc.SQL != nil {
		return named(e, &callN{newFrame(e, args), make([]types.Datum, len(args)), callSQL}), nil
	}
	b, ok := functions().scalar[e.Proc.Src]
	if !ok {
		return nil, unsupportedCall(e)
	}
	x, err := b(c, e, args)
	if err != nil {
		return nil, err
	}
	return named(e, x), nil
}

// unsupportedCall is the refusal of a function by its name and types.
func unsupportedCall(e *plan.Call) error {
	var names []string
	for _, a := range e.Args {
		names = append(names, types.FormatTypeNoMod(a.Type().OID))
	}
	what := "function " + e.Proc.Name + "(" + strings.Join(names, ", ") + ")"
	if e.Op != "" {
		what = "operator " + e.Op + " of " + strings.Join(names, " and ")
	}
	return sqlerr.Unsupported(e.Off, "%s", what)
}

// constEval is a constant; the vector is shared by all evaluations.
type constEval struct{ v *vec.Vec }

func newConst(t types.T, d types.Datum) *constEval {
	d.T = t
	return &constEval{vec.NewConst(d)}
}

func (e *constEval) Eval(*Env, *vec.Batch) (*vec.Vec, error) { return e.v, nil }

// constant returns the value of a compiled constant.
func constant(e Eval) (types.Datum, bool) {
	if k, ok := e.(*constEval); ok {
		return k.v.Get(0), true
	}
	return types.Datum{}, false
}

type paramEval struct {
	idx int
	t   types.T
	v   vec.Vec
}

func (e *paramEval) Eval(env *Env, _ *vec.Batch) (*vec.Vec, error) {
	d, err := param(env, e.idx)
	if err != nil {
		return nil, err
	}
	e.v.Reset(e.t, 1)
	e.v.Const = true
	e.v.Set(0, d)
	return &e.v, nil
}

func param(env *Env, idx int) (types.Datum, error) {
	if idx >= len(env.Params) {
		return types.Datum{}, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", idx+1)
	}
	return env.Params[idx], nil
}

type colEval int

func (e colEval) Eval(_ *Env, b *vec.Batch) (*vec.Vec, error) { return b.Cols[e], nil }

// relabelEval gives the same values another type.
type relabelEval struct {
	x Eval
	t types.T
	v vec.Vec
}

func (e *relabelEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.v = *x
	e.v.T = e.t
	return &e.v, nil
}

// holder passes a vector computed elsewhere: a CASE's operand, an element of
// an array under conversion.
type holder struct{ v *vec.Vec }

func (e *holder) Eval(*Env, *vec.Batch) (*vec.Vec, error) { return e.v, nil }

// evalConst evaluates without input. The result's bytes are the caller's.
func evalConst(env *Env, e plan.Expr) (types.Datum, error) {
	switch e := e.(type) {
	case *plan.Const:
		d := e.Val
		d.T = e.T
		return d, nil
	case *plan.Param:
		return param(env, e.Idx)
	case *plan.Relabel:
		d, err := evalConst(env, e.X)
		if f := relabeled(e.X.Type(), e.T); f != nil && !d.Null {
			d.I = f(d.I)
		}
		d.T = e.T
		return d, err
	case *plan.CoerceMod:
		d, err := evalConst(env, e.X)
		if err != nil || d.Null {
			d.T = e.T
			return d, err
		}
		return types.ApplyMod(d, e.T, e.Explicit)
	case *plan.KeyBound:
		d, err := evalConst(env, e.X)
		if err != nil || d.Null {
			d.T = e.T
			return d, err
		}
		return keyBoundOf(e)(env, d)
	}
	ev, err := env.Consts.compile(e)
	if err != nil {
		return types.Datum{}, err
	}
	v, err := ev.Eval(env, &vec.Batch{N: 1})
	if err != nil {
		return types.Datum{}, err
	}
	d := own(v.Get(0))
	if len(d.B) > constMaxBytes {
		env.Consts.forget(e)
	}
	return d, nil
}

// Consts keeps compiled expressions that read no columns: the bounds of scans and the
// like, which a statement that is kept evaluates anew each time it runs. Its expressions
// must not change. Its owner is one goroutine.
type Consts struct{ evals map[plan.Expr]Eval }

const (
	constMax      = 256      // expressions that are kept
	constMaxBytes = 16 << 10 // of a value, beyond which its expression holds too much memory
)

// compile returns the compiled expression, from before if there is one. It works on nil.
func (c *Consts) compile(e plan.Expr) (Eval, error) {
	if c == nil {
		return Compile(e)
	}
	if ev := c.evals[e]; ev != nil {
		return ev, nil
	}
	ev, err := Compile(e)
	if err != nil {
		return nil, err
	}
	if c.evals == nil || len(c.evals) == constMax {
		c.evals = make(map[plan.Expr]Eval)
	}
	c.evals[e] = ev
	return ev, nil
}

func (c *Consts) forget(e plan.Expr) {
	if c != nil {
		delete(c.evals, e)
	}
}

// own returns the datum with bytes of its own.
func own(d types.Datum) types.Datum {
	if d.B != nil {
		d.B = append(make([]byte, 0, len(d.B)), d.B...)
	}
	return d
}
