package expr

import (
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func floatFuncs(r *registry) {
	for _, pair := range []string{"float4", "float8", "float48", "float84"} {
		r.add(floatOp('+'), pair+"pl")
		r.add(floatOp('-'), pair+"mi")
		r.add(floatOp('*'), pair+"mul")
		r.add(floatOp('/'), pair+"div")
	}
	for _, w := range []string{"float4", "float8"} {
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) { return -a, nil }), w+"um")
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) { return a, nil }), w+"up")
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) { return math.Abs(a), nil }), w+"abs")
		r.add(fn2(func(_ *callCtx, a, b float64) (float64, error) {
			if cmpFloats(a, b) > 0 {
				return a, nil
			}
			return b, nil
		}), w+"larger")
		r.add(fn2(func(_ *callCtx, a, b float64) (float64, error) {
			if cmpFloats(a, b) < 0 {
				return a, nil
			}
			return b, nil
		}), w+"smaller")
	}
}

func floatOverflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
}

func floatUnderflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
}

type floatArith struct {
	frame
	op     byte
	single bool // results are float4
}

func floatOp(op byte) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &floatArith{frame: newFrame(call, args), op: op, single: call.T.Kind() == types.KFloat4}, nil
	}
}

func (e *floatArith) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	x, y, out := e.vecs[0].F64, e.vecs[1].F64, e.out.F64
	mx, my := mask(e.vecs[0]), mask(e.vecs[1])
	// Infinite and zero results are rare; whether they are errors is decided
	// by floatCheck alone.
	for _, i := range rows {
		a, d := x[int(i)&mx], y[int(i)&my]
		var v float64
		switch e.op {
		case '+':
			v = a + d
		case '-':
			v = a - d
		case '*':
			v = a * d
		default:
			v = a / d
		}
		if e.single {
			v = float64(float32(v))
		}
		if v == 0 || v-v != 0 {
			if err := floatCheck(e.op, a, d, v); err != nil {
				return nil, err
			}
		}
		out[i] = v
	}
	return &e.out, nil
}

func floatCheck(op byte, a, d, v float64) error {
	if op == '/' && d == 0 && a == a {
		return types.DivisionByZero()
	}
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(d, 0) {
		return floatOverflow()
	}
	if v == 0 && (op == '*' && a != 0 && d != 0 || op == '/' && a != 0 && !math.IsInf(d, 0)) {
		return floatUnderflow()
	}
	return nil
}
