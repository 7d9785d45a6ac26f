package expr

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func castFuncs(r *registry) {
	// Conversions that change the type and not the value.
	r.add(fn1(func(c *callCtx, s []byte) ([]byte, error) {
		if len(s) == 1 && s[0] >= 0x80 { // the byte is no character of its own
			return c.keep(fmt.Appendf(c.buf[:0], "\\%03o", s[0])), nil
		}
		return s, nil
	}), "char_text")
	r.add(relabel, "int28", "int48", "i2toi4", "oidtoi8", "ftod", "name_text", "char_bpchar",
		"texttoxml", "xmltotext")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) { return types.Cast(in[0], c.call.T, nil, true) }), "xid8toxid")
	r.add(fn1(intNarrow), "i4toi2", "int82", "int84", "i8tooid")
	r.add(fn1(func(_ *callCtx, a int64) (float64, error) { return float64(a), nil }), "i2tod", "i4tod", "i8tod", "i2tof")
	r.add(fn1(func(_ *callCtx, a int64) (float64, error) { return float64(float32(a)), nil }), "i4tof", "i8tof")
	r.add(fn1(floatToInt), "dtoi2", "dtoi4", "dtoi8", "ftoi2", "ftoi4", "ftoi8")
	r.add(fn1(floatToSingle), "dtof")
	r.add(intToNumeric, "int2_numeric", "int4_numeric", "int8_numeric")
	r.add(fn1(func(_ *callCtx, a float64) (types.Decimal, error) { return types.DecimalFromFloat(a), nil }), "float8_numeric")
	r.add(fn1(func(_ *callCtx, a float64) (types.Decimal, error) { return types.DecimalFromFloat4(a), nil }), "float4_numeric")
	r.add(fn1(numericToInt), "numeric_int2", "numeric_int4", "numeric_int8")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (float64, error) {
		f := a.ToFloat()
		if a.IsFinite() && (math.IsInf(f, 0) || f == 0 && a.Sign() != 0) {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, `"%s" is out of range for type double precision`, a)
		}
		return f, nil
	}), "numeric_float8")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (float64, error) {
		f, err := strconv.ParseFloat(a.String(), 32)
		if a.IsFinite() && (err != nil || f == 0 && a.Sign() != 0) {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, `"%s" is out of range for type real`, a)
		}
		return f, nil
	}), "numeric_float4")
	r.add(fn1(func(_ *callCtx, a bool) (int64, error) {
		if a {
			return 1, nil
		}
		return 0, nil
	}), "bool_int4")
	r.add(fn1(func(_ *callCtx, a int64) (bool, error) { return a != 0, nil }), "int4_bool")
	r.add(fn1(func(_ *callCtx, a bool) ([]byte, error) {
		if a {
			return []byte("true"), nil
		}
		return []byte("false"), nil
	}), "booltext")
	r.add(fn1(func(_ *callCtx, a []byte) ([]byte, error) { return truncateName(a), nil }), "text_name", "name_bpchar")
	r.add(fn1(func(_ *callCtx, a []byte) ([]byte, error) { return bytes.TrimRight(truncateName(a), " "), nil }), "bpchar_name")
	r.add(fn1(func(_ *callCtx, a []byte) ([]byte, error) { return types.CharOf(a), nil }), "text_char")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) {
		if len(a) == 0 {
			return 0, nil
		}
		return int64(int8(a[0])), nil
	}), "chartoi4")
	r.add(fn1(func(c *callCtx, a int64) ([]byte, error) {
		if a < math.MinInt8 || a > math.MaxInt8 {
			return nil, sqlerr.New(sqlerr.NumericValueOutOfRange, `"char" out of range`)
		}
		if a == 0 {
			return nil, nil
		}
		return c.keep(append(c.buf[:0], byte(a))), nil
	}), "i4tochar")
	r.add(fn1(func(c *callCtx, a []byte) (int64, error) {
		if len(a) > 0 && len(bytes.Trim(a, "0123456789")) == 0 { // names only, no numbers
			return 0, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", a)
		}
		d, err := parseText(c.env, types.TRegclass, string(a))
		return d.I, err
	}), "text_regclass")
	r.add(fn2(func(_ *callCtx, a, b bool) (bool, error) { return a && b, nil }), "booland_statefunc")
	r.add(fn2(func(_ *callCtx, a, b bool) (bool, error) { return a || b, nil }), "boolor_statefunc")
}

// relabel builds a call that only changes the type.
func relabel(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
	return relabelTo(args[0], call.Args[0].Type(), call.T), nil
}

func intNarrow(c *callCtx, a int64) (int64, error) {
	k := c.call.T.Kind()
	if lo, hi := intLimits(k); a < lo || a > hi {
		return 0, intRange(c.call.T)
	}
	return a, nil
}

// floatToInt rounds half to even and refuses what the type cannot hold.
func floatToInt(c *callCtx, a float64) (int64, error) {
	f := math.RoundToEven(a)
	lo, hi := intLimits(c.call.T.Kind())
	// 2^63 itself is a float64 and does not fit.
	if f != f || f < float64(lo) || f > float64(hi) || f == 1<<63 {
		return 0, intRange(c.call.T)
	}
	return int64(f), nil
}

func floatToSingle(_ *callCtx, a float64) (float64, error) {
	f := float64(float32(a))
	if math.IsInf(f, 0) && !math.IsInf(a, 0) {
		return 0, floatOverflow()
	}
	if f == 0 && a != 0 {
		return 0, floatUnderflow()
	}
	return f, nil
}

func numericToInt(c *callCtx, a types.Decimal) (int64, error) { return numericToKind(c.call.T, a) }

// numericToKind rounds to an integer of type t.
func numericToKind(t types.T, a types.Decimal) (int64, error) {
	k := t.Kind()
	name := map[types.Kind]string{types.KInt2: "smallint", types.KInt4: "integer", types.KInt8: "bigint"}[k]
	if a.IsNaN() {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to %s", name)
	}
	if a.IsInf(0) {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert infinity to %s", name)
	}
	v, _, ok := a.Round(0).Small()
	if lo, hi := intLimits(k); !ok || v < lo || v > hi {
		return 0, intRange(t)
	}
	return v, nil
}

// intToNumericEval gives integers as a narrow numeric of scale 0, without
// touching them.
type intToNumericEval struct {
	x   Eval
	t   types.T
	out vec.Vec
}

func intToNumeric(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
	if d, ok := constant(args[0]); ok && !d.Null {
		return newConst(call.T, types.Datum{Dec: types.NewDecimal(d.I, 0)}), nil
	}
	return &intToNumericEval{x: args[0], t: call.T}, nil
}

func (e *intToNumericEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	e.out = vec.Vec{T: e.t, Const: x.Const, Nulls: x.Nulls, I64: x.I64}
	return &e.out, nil
}

const nameLen = 63

// truncateName cuts a text to what a name may hold, at a character boundary.
func truncateName(b []byte) []byte {
	if len(b) <= nameLen {
		return b
	}
	n := nameLen
	for n > 0 && b[n]&0xc0 == 0x80 {
		n--
	}
	return b[:n]
}
