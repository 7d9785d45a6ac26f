package expr

import (
	"math"
	"math/bits"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// intOp is an arithmetic operator on integers.
type intOp uint8

const (
	intAdd intOp = iota
	intSub
	intMul
	intDiv
	intMod
)

func intFuncs(r *registry) {
	ops := map[string]intOp{"pl": intAdd, "mi": intSub, "mul": intMul, "div": intDiv}
	for _, width := range []string{"int2", "int4", "int8", "int24", "int28", "int42", "int48", "int82", "int84"} {
		for name, op := range ops {
			r.add(integerOp(op), width+name)
		}
	}
	for _, width := range []string{"int2", "int4", "int8"} {
		r.add(integerOp(intMod), width+"mod")
		r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return a & b, nil }), width+"and")
		r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return a | b, nil }), width+"or")
		r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return a ^ b, nil }), width+"xor")
		r.add(fn1(func(_ *callCtx, a int64) (int64, error) { return ^a, nil }), width+"not")
		r.add(fn1(intNeg), width+"um")
		r.add(fn1(func(_ *callCtx, a int64) (int64, error) { return a, nil }), width+"up")
		r.add(fn1(func(c *callCtx, a int64) (int64, error) {
			if a < 0 {
				return intNeg(c, a)
			}
			return a, nil
		}), width+"abs")
		r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return max(a, b), nil }), width+"larger")
		r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return min(a, b), nil }), width+"smaller")
	}
	// Shift counts are taken modulo the width of the machine's register.
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return int64(int16(int32(a) << (b & 31))), nil }), "int2shl")
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return int64(int32(a) << (b & 31)), nil }), "int4shl")
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return a << (b & 63), nil }), "int8shl")
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return a >> (b & 31), nil }), "int2shr", "int4shr")
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return a >> (b & 63), nil }), "int8shr")
	r.add(fn2(intGCD), "int4gcd", "int8gcd")
	r.add(fn2(intLCM), "int4lcm", "int8lcm")
	r.add(fn1(func(c *callCtx, a int64) (int64, error) {
		if a == math.MaxInt64 {
			return 0, intRange(c.call.T)
		}
		return a + 1, nil
	}), "int8inc")
}

// intLimits returns the bounds of an integer type.
func intLimits(k types.Kind) (lo, hi int64) {
	switch k {
	case types.KInt2:
		return math.MinInt16, math.MaxInt16
	case types.KInt4:
		return math.MinInt32, math.MaxInt32
	case types.KOid:
		return 0, math.MaxUint32
	}
	return math.MinInt64, math.MaxInt64
}

// intRange is the error of a result that the type cannot hold.
func intRange(t types.T) error {
	name := "integer"
	switch t.Kind() {
	case types.KInt2:
		name = "smallint"
	case types.KInt8:
		name = "bigint"
	case types.KOid:
		name = "OID"
	}
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", name)
}

func intNeg(c *callCtx, a int64) (int64, error) {
	if lo, _ := intLimits(c.call.T.Kind()); a == lo {
		return 0, intRange(c.call.T)
	}
	return -a, nil
}

func intGCD(c *callCtx, a, b int64) (int64, error) {
	for b != 0 {
		if b == -1 {
			return 1, nil // a % -1 traps for the smallest number
		}
		a, b = b, a%b
	}
	if a < 0 {
		return intNeg(c, a)
	}
	return a, nil
}

func intLCM(c *callCtx, a, b int64) (int64, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	g, err := intGCD(c, a, b)
	if err != nil {
		return 0, err
	}
	p, ok := mulInt(a/g, b)
	lo, hi := intLimits(c.call.T.Kind())
	if !ok || p == lo || p < lo || p > hi {
		return 0, intRange(c.call.T)
	}
	if p < 0 {
		p = -p
	}
	return p, nil
}

// mulInt returns x*y, false when it overflows.
func mulInt(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// Turn the unsigned product into the signed one.
	h := int64(hi)
	if x < 0 {
		h -= y
	}
	if y < 0 {
		h -= x
	}
	return int64(lo), h == int64(lo)>>63
}

type intArith struct {
	frame
	op     intOp
	lo, hi int64
}

func integerOp(op intOp) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		e := &intArith{frame: newFrame(call, args), op: op}
		e.lo, e.hi = intLimits(call.T.Kind())
		return e, nil
	}
}

func (e *intArith) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	x, y, out := e.vecs[0].I64, e.vecs[1].I64, e.out.I64
	mx, my := mask(e.vecs[0]), mask(e.vecs[1])
	ok := true
	switch e.op {
	case intAdd:
		ok = addInts(out, x, y, mx, my, rows, e.lo, e.hi)
	case intSub:
		ok = subInts(out, x, y, mx, my, rows, e.lo, e.hi)
	case intMul:
		for _, i := range rows {
			p, fits := mulInt(x[int(i)&mx], y[int(i)&my])
			if !fits || p < e.lo || p > e.hi {
				return nil, intRange(e.call.T)
			}
			out[i] = p
		}
	default:
		for _, i := range rows {
			a, d := x[int(i)&mx], y[int(i)&my]
			switch {
			case d == 0:
				return nil, types.DivisionByZero()
			case e.op == intMod && d == -1:
				out[i] = 0
			case e.op == intMod:
				out[i] = a % d
			case d == -1 && a == e.lo:
				return nil, intRange(e.call.T)
			default:
				out[i] = a / d
			}
		}
	}
	if !ok {
		return nil, intRange(e.call.T)
	}
	return &e.out, nil
}

// addInts and subInts report whether every result lies in lo … hi.
func addInts(out, x, y []int64, mx, my int, rows []uint32, lo, hi int64) bool {
	for _, i := range rows {
		a, b := x[int(i)&mx], y[int(i)&my]
		s := a + b
		if (a^s)&(b^s) < 0 || s < lo || s > hi {
			return false
		}
		out[i] = s
	}
	return true
}

func subInts(out, x, y []int64, mx, my int, rows []uint32, lo, hi int64) bool {
	for _, i := range rows {
		a, b := x[int(i)&mx], y[int(i)&my]
		s := a - b
		if (a^b)&(a^s) < 0 || s < lo || s > hi {
			return false
		}
		out[i] = s
	}
	return true
}
