package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

type decOp uint8

const (
	decAdd decOp = iota
	decSub
	decMul
)

func decimalFuncs(r *registry) {
	r.add(decimalOp(decAdd), "numeric_add")
	r.add(decimalOp(decSub), "numeric_sub")
	r.add(decimalOp(decMul), "numeric_mul")
	r.add(fn2(func(_ *callCtx, a, b types.Decimal) (types.Decimal, error) { return a.Div(b) }), "numeric_div")
	r.add(fn2(func(_ *callCtx, a, b types.Decimal) (types.Decimal, error) { return a.Mod(b) }), "numeric_mod")
	r.add(fn2(func(_ *callCtx, a, b types.Decimal) (types.Decimal, error) { return a.DivTrunc(b) }), "numeric_div_trunc")
	r.add(fn2(func(_ *callCtx, a, b types.Decimal) (types.Decimal, error) { return a.Power(b) }), "numeric_power")
	r.add(decimal1(types.Decimal.Neg), "numeric_uminus")
	r.add(decimal1(func(d types.Decimal) types.Decimal { return d }), "numeric_uplus")
	r.add(decimal1(types.Decimal.Abs), "numeric_abs")
	r.add(decimal1(types.Decimal.Ceil), "numeric_ceil")
	r.add(decimal1(types.Decimal.Floor), "numeric_floor")
	r.add(decimal1(types.Decimal.TrimScale), "numeric_trim_scale")
	r.add(decimal1(func(d types.Decimal) types.Decimal {
		if d.IsNaN() {
			return d
		}
		return types.NewDecimal(int64(d.Sign()), 0)
	}), "numeric_sign")
	r.add(decimal1(func(d types.Decimal) types.Decimal { return d.Round(0) }), "sql_round_1708")
	r.add(decimal1(func(d types.Decimal) types.Decimal { return d.Trunc(0) }), "sql_trunc_1710")
	r.add(fn2(func(_ *callCtx, a types.Decimal, n int64) (types.Decimal, error) {
		v := a.Round(int32(n))
		return v, v.CheckDigits()
	}), "numeric_round")
	r.add(fn2(func(_ *callCtx, a types.Decimal, n int64) (types.Decimal, error) { return a.Trunc(int32(n)), nil }), "numeric_trunc")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (types.Decimal, error) { return a.Sqrt() }), "numeric_sqrt")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (types.Decimal, error) { return a.Exp() }), "numeric_exp")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (types.Decimal, error) { return a.Ln() }), "numeric_ln")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (types.Decimal, error) { return a.Log10() }), "sql_log_1741", "sql_log10_1481")
	r.add(fn2(func(_ *callCtx, base, a types.Decimal) (types.Decimal, error) { return a.Log(base) }), "numeric_log")
	r.add(fn2(func(_ *callCtx, a, b types.Decimal) (types.Decimal, error) {
		if a.Cmp(b) > 0 {
			return a, nil
		}
		return b, nil
	}), "numeric_larger")
	r.add(fn2(func(_ *callCtx, a, b types.Decimal) (types.Decimal, error) {
		if a.Cmp(b) < 0 {
			return a, nil
		}
		return b, nil
	}), "numeric_smaller")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (types.Decimal, error) {
		return a.Add(types.NewDecimal(1, 0)), nil
	}), "numeric_inc")
	r.add(fnD(decimalScale(types.Decimal.Scale)), "numeric_scale")
	r.add(fnD(decimalScale(types.Decimal.MinScale)), "numeric_min_scale")
	r.add(fn2(decimalGCD), "numeric_gcd")
	r.add(fn2(decimalLCM), "numeric_lcm")
}

func decimal1(f func(types.Decimal) types.Decimal) builder {
	return fn1(func(_ *callCtx, a types.Decimal) (types.Decimal, error) { return f(a), nil })
}

// decimalScale is NULL for NaN and the infinities.
func decimalScale(f func(types.Decimal) int32) datumBody {
	return func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		if !a[0].Dec.IsFinite() {
			return null, nil
		}
		return intDatum(int64(f(a[0].Dec))), nil
	}
}

func decimalGCD(_ *callCtx, a, b types.Decimal) (types.Decimal, error) {
	if !a.IsFinite() || !b.IsFinite() {
		return types.DecimalNaN, nil
	}
	scale := max(a.Scale(), b.Scale())
	for !b.IsZero() {
		m, err := a.Mod(b)
		if err != nil {
			return a, err
		}
		a, b = b, m
	}
	return a.Abs().Round(scale), nil
}

func decimalLCM(c *callCtx, a, b types.Decimal) (types.Decimal, error) {
	if !a.IsFinite() || !b.IsFinite() {
		return types.DecimalNaN, nil
	}
	scale := max(a.Scale(), b.Scale())
	if a.IsZero() || b.IsZero() {
		return types.NewDecimal(0, scale), nil
	}
	g, err := decimalGCD(c, a, b)
	if err != nil {
		return a, err
	}
	q, err := a.DivTrunc(g)
	if err != nil {
		return a, err
	}
	p, err := q.Mul(b)
	return p.Abs().Round(scale), err
}

// decArith is + - * of numeric. While both sides are narrow and nothing
// overflows, it stays with integers; otherwise the batch is done with decimals.
type decArith struct {
	frame
	op   decOp
	one  [2][1]int64
	dec  []types.Decimal
	ints []int64
}

func decimalOp(op decOp) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &decArith{frame: newFrame(call, args), op: op}, nil
	}
}

func (e *decArith) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	constant := true
	for i, a := range e.args {
		v, err := a.Eval(env, b)
		if err != nil {
			return nil, err
		}
		e.vecs[i] = v
		constant = constant && v.Const
	}
	n := max(b.N, 1)
	if constant {
		n = 1
	}
	out := &e.out
	out.T, out.Const = e.call.T, constant
	out.Nulls.Clear()
	unionNulls(out, e.vecs[0], n)
	unionNulls(out, e.vecs[1], n)
	e.ints = resize(e.ints, n)
	out.I64, out.Dec, out.Scale = e.ints, nil, 0
	rows := e.rows(b)
	if out.Nulls.Any() {
		e.sel = nonNull1(e.sel[:0], &out.Nulls, rows)
		rows = e.sel
	}
	if len(rows) == 0 || e.narrow(rows) {
		return out, nil
	}
	return out, e.wide(rows, n)
}

// narrow computes with integers; false when the form or a result does not fit.
func (e *decArith) narrow(rows []uint32) bool {
	x, xs, ok := narrowForm(e.vecs[0], &e.one[0])
	if !ok {
		return false
	}
	y, ys, ok := narrowForm(e.vecs[1], &e.one[1])
	if !ok {
		return false
	}
	mx, my, out := mask(e.vecs[0]), mask(e.vecs[1]), e.out.I64
	if e.op == decMul {
		e.out.Scale = xs + ys
		for _, i := range rows {
			p, fits := mulInt(x[int(i)&mx], y[int(i)&my])
			if !fits {
				return false
			}
			out[i] = p
		}
		return true
	}
	scale := max(xs, ys)
	e.out.Scale = scale
	if xs != ys {
		return e.aligned(rows, x, y, mx, my, scale-xs, scale-ys)
	}
	if e.op == decAdd {
		return addInts(out, x, y, mx, my, rows, minInt64, maxInt64)
	}
	return subInts(out, x, y, mx, my, rows, minInt64, maxInt64)
}

const (
	minInt64 = -1 << 63
	maxInt64 = 1<<63 - 1
)

// aligned adds or subtracts values that must first be multiplied by powers of
// ten to have one scale.
func (e *decArith) aligned(rows []uint32, x, y []int64, mx, my int, dx, dy int32) bool {
	if int(dx) >= len(pow10) || int(dy) >= len(pow10) {
		return false
	}
	fx, fy, out := pow10[dx], pow10[dy], e.out.I64
	for _, i := range rows {
		a, aok := mulInt(x[int(i)&mx], fx)
		d, dok := mulInt(y[int(i)&my], fy)
		if e.op == decSub {
			if d == minInt64 {
				return false
			}
			d = -d
		}
		s := a + d
		if !aok || !dok || (a^s)&(d^s) < 0 {
			return false
		}
		out[i] = s
	}
	return true
}

func (e *decArith) wide(rows []uint32, n int) error {
	x := column[types.Decimal](e.vecs[0], rows, &e.scratch[0])
	y := column[types.Decimal](e.vecs[1], rows, &e.scratch[1])
	mx, my := mask(e.vecs[0]), mask(e.vecs[1])
	e.dec = resize(e.dec, n)
	e.out.Dec = e.dec
	for _, i := range rows {
		switch a, d := x[int(i)&mx], y[int(i)&my]; e.op {
		case decAdd:
			e.dec[i] = a.Add(d)
		case decSub:
			e.dec[i] = a.Sub(d)
		default:
			p, err := a.Mul(d)
			if err != nil {
				return err
			}
			e.dec[i] = p
			continue
		}
		if err := e.dec[i].CheckDigits(); err != nil {
			return err
		}
	}
	return nil
}
