package expr

import (
	"math"
	"math/bits"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func errInput() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "input is out of range")
}

func mathFuncs(r *registry) {
	plain := func(f func(float64) float64, srcs ...string) {
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) { return f(a), nil }), srcs...)
	}
	// domain refuses arguments outside of lo … hi; NaN passes.
	domain := func(f func(float64) float64, lo, hi float64, src string) {
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
			if a < lo || a > hi {
				return 0, errInput()
			}
			return f(a), nil
		}), src)
	}
	inf := math.Inf(1)
	plain(math.Ceil, "dceil")
	plain(math.Floor, "dfloor")
	plain(math.RoundToEven, "dround")
	plain(math.Trunc, "dtrunc")
	plain(exactCbrt, "dcbrt")
	plain(func(a float64) float64 {
		switch {
		case a > 0:
			return 1
		case a < 0:
			return -1
		}
		return 0 // of what is not a number, too
	}, "dsign")
	r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
		v := a / (math.Pi / 180)
		if math.IsInf(v, 0) && !math.IsInf(a, 0) {
			return 0, floatOverflow()
		}
		return v, nil
	}), "degrees")
	r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
		v := a * (math.Pi / 180)
		if v == 0 && a != 0 {
			return 0, floatUnderflow()
		}
		return v, nil
	}), "radians")
	plain(exactAtan, "datan")
	plain(cSinh, "dsinh")
	plain(cCosh, "dcosh")
	plain(cTanh, "dtanh")
	plain(cAsinh, "dasinh")
	domain(cAcosh, 1, inf, "dacosh")
	domain(math.Atanh, -1, 1, "datanh")
	domain(exactAcos, -1, 1, "dacos")
	domain(exactAsin, -1, 1, "dasin")
	for src, f := range map[string]func(float64) float64{"dsin": exactSin, "dcos": exactCos, "dtan": exactTan,
		"dcot": func(a float64) float64 { return 1 / exactTan(a) }} {
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
			if math.IsInf(a, 0) {
				return 0, errInput()
			}
			return f(a), nil
		}), src)
	}
	r.add(fn2(func(_ *callCtx, y, x float64) (float64, error) { return exactAtan2(y, x), nil }), "datan2")
	r.add(fn0(func(*callCtx) (float64, error) { return math.Pi, nil }), "dpi")
	r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
		if a < 0 {
			return 0, sqlerr.New(sqlerr.InvalidArgumentForPower, "cannot take square root of a negative number")
		}
		return math.Sqrt(a), nil
	}), "dsqrt")
	r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
		v := exactExp(a)
		if math.IsInf(v, 1) && !math.IsInf(a, 1) {
			return 0, floatOverflow()
		}
		if v == 0 && !math.IsInf(a, -1) {
			return 0, floatUnderflow()
		}
		return v, nil
	}), "dexp")
	r.add(fn1(logarithm(exactLog)), "dlog1")
	r.add(fn1(logarithm(cLog10)), "dlog10")
	r.add(fn2(floatPower), "dpow")
	degreeFuncs(r)
	r.add(fn1(factorial), "numeric_fac")
	r.add(fnD(widthBucketFloat), "width_bucket_float8")
	r.add(fnD(widthBucketDecimal), "width_bucket_numeric")
	r.add(fnD(widthBucketArray), "width_bucket_array")
	r.add(fn0(func(c *callCtx) (float64, error) {
		s, err := c.session()
		if err != nil {
			return 0, err
		}
		return s.Random().Float64(), nil
	}), "drandom")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if f := a[0].F; f < -1 || f > 1 || f != f {
			return null, sqlerr.New(sqlerr.InvalidParameterValue, "setseed parameter %s is out of allowed range [-1,1]",
				types.AppendText(nil, a[0], types.DefaultFmt))
		}
		s, err := c.session()
		if err != nil {
			return null, err
		}
		s.Random().Seed(a[0].F)
		return types.Datum{}, nil
	}), "setseed")
}

func logarithm(f func(float64) float64) func(*callCtx, float64) (float64, error) {
	return func(_ *callCtx, a float64) (float64, error) {
		if a == 0 {
			return 0, sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of zero")
		}
		if a < 0 {
			return 0, sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of a negative number")
		}
		return f(a), nil
	}
}

func floatPower(_ *callCtx, a, b float64) (float64, error) {
	switch {
	case a != a:
		if b == 0 {
			return 1, nil
		}
		return a, nil
	case b != b:
		if a == 1 {
			return 1, nil
		}
		return b, nil
	case a == 0 && b < 0:
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	case a < 0 && b != math.Floor(b):
		return 0, sqlerr.New(sqlerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	v := exactPow(a, b)
	if !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		if math.IsInf(v, 0) {
			return 0, floatOverflow()
		}
		if v == 0 && a != 0 {
			return 0, floatUnderflow()
		}
	}
	return v, nil
}

// degreeFuncs registers the trigonometry in degrees, exact at the usual angles.
func degreeFuncs(r *registry) {
	const rad = math.Pi / 180
	// Computed like the functions' values below, so that quotients are exact.
	angle30, angle60 := 30.0, 60.0
	sin30, oneMinusCos60 := exactSin(angle30*rad), 1-exactCos(angle60*rad)
	sinQ1 := func(x float64) float64 { // 0 … 90
		if x <= 30 {
			return exactSin(x*rad) / sin30 / 2
		}
		return 1 - (1-exactCos((90-x)*rad))/oneMinusCos60/2
	}
	cosQ1 := func(x float64) float64 {
		if x <= 60 {
			return 1 - (1-exactCos(x*rad))/oneMinusCos60/2
		}
		return exactSin((90-x)*rad) / sin30 / 2
	}
	sind := func(x float64) float64 {
		x, sign := math.Mod(x, 360), 1.0
		if x < 0 {
			x, sign = -x, -1
		}
		if x > 180 {
			x, sign = 360-x, -sign
		}
		if x > 90 {
			x = 180 - x
		}
		return sign * sinQ1(x)
	}
	cosd := func(x float64) float64 {
		x, sign := math.Abs(math.Mod(x, 360)), 1.0
		if x > 180 {
			x = 360 - x
		}
		if x > 90 {
			x, sign = 180-x, -1
		}
		return sign * cosQ1(x)
	}
	// firstQuadrant is the angle in [0, 90] with the same tangent but for its sign.
	firstQuadrant := func(x float64) (y, sign float64) {
		y, sign = math.Mod(x, 360), 1
		if y < 0 {
			y, sign = -y, -1
		}
		if y > 180 {
			y, sign = 360-y, -sign
		}
		if y > 90 {
			y, sign = 180-y, -sign
		}
		return y, sign
	}
	tand := func(x float64) float64 {
		x, sign := firstQuadrant(x)
		v := sign * (sinQ1(x) / cosQ1(x) / (sinQ1(45) / cosQ1(45)))
		if v == 0 {
			return 0
		}
		return v
	}
	cotd := func(x float64) float64 {
		x, sign := firstQuadrant(x)
		if v := sign * (cosQ1(x) / sinQ1(x) / (cosQ1(45) / sinQ1(45))); v != 0 {
			return v
		}
		return 0
	}
	finite := func(f func(float64) float64, src string) {
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
			if math.IsInf(a, 0) {
				return 0, errInput()
			}
			return f(a), nil
		}), src)
	}
	finite(sind, "dsind")
	finite(cosd, "dcosd")
	finite(tand, "dtand")
	finite(cotd, "dcotd")
	asin05, acos05 := exactAsin(0.5), exactAcos(0.5)
	asinQ1 := func(x float64) float64 {
		if x <= 0.5 {
			return exactAsin(x) / asin05 * 30
		}
		return 90 - exactAcos(x)/acos05*60
	}
	acosQ1 := func(x float64) float64 {
		if x <= 0.5 {
			return 90 - exactAsin(x)/asin05*30
		}
		return exactAcos(x) / acos05 * 60
	}
	unit := func(f func(float64) float64, src string) {
		r.add(fn1(func(_ *callCtx, a float64) (float64, error) {
			if a < -1 || a > 1 {
				return 0, errInput()
			}
			return f(a), nil
		}), src)
	}
	unit(func(x float64) float64 {
		if x >= 0 {
			return asinQ1(x)
		}
		return -asinQ1(-x)
	}, "dasind")
	unit(func(x float64) float64 {
		if x >= 0 {
			return acosQ1(x)
		}
		return 90 + asinQ1(-x)
	}, "dacosd")
	atan1 := exactAtan(1)
	r.add(fn1(func(_ *callCtx, a float64) (float64, error) { return exactAtan(a) / atan1 * 45, nil }), "datand")
	r.add(fn2(func(_ *callCtx, y, x float64) (float64, error) { return exactAtan2(y, x) / atan1 * 45, nil }), "datan2d")
}

func factorial(_ *callCtx, n int64) (types.Decimal, error) {
	if n < 0 {
		return types.Decimal{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	}
	if n > 32177 {
		return types.Decimal{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	d := types.NewDecimal(1, 0)
	for k := int64(2); k <= n; k++ {
		var err error
		if d, err = d.Mul(types.NewDecimal(k, 0)); err != nil {
			return d, err
		}
	}
	return d, nil
}

func errBucket(what string) error {
	return sqlerr.New(sqlerr.InvalidArgumentForWidth, "%s", what)
}

const (
	msgBucketCount = "count must be greater than zero"
	msgBucketEqual = "lower bound cannot equal upper bound"
)

func widthBucketFloat(_ *callCtx, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := a[0].F, a[1].F, a[2].F, a[3].I
	switch {
	case n <= 0:
		return null, errBucket(msgBucketCount)
	case x != x || lo != lo || hi != hi:
		return null, errBucket("operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return null, errBucket("lower and upper bounds must be finite")
	case lo == hi:
		return null, errBucket(msgBucketEqual)
	}
	down := lo > hi
	if down {
		x, lo, hi = -x, -lo, -hi
	}
	var k int64
	switch {
	case x < lo:
		k = 0
	case x >= hi:
		k = n + 1
	default:
		k = int64(float64(n)*((x-lo)/(hi-lo))) + 1
	}
	if k > math.MaxInt32 {
		return null, intRange(types.TInt4)
	}
	return intDatum(k), nil
}

func widthBucketDecimal(_ *callCtx, a []types.Datum) (types.Datum, error) {
	x, lo, hi, n := a[0].Dec, a[1].Dec, a[2].Dec, a[3].I
	switch {
	case n <= 0:
		return null, errBucket(msgBucketCount)
	case x.IsNaN() || lo.IsNaN() || hi.IsNaN():
		return null, errBucket("operand, lower bound, and upper bound cannot be NaN")
	case !lo.IsFinite() || !hi.IsFinite():
		return null, errBucket("lower and upper bounds must be finite")
	case lo.Cmp(hi) == 0:
		return null, errBucket(msgBucketEqual)
	}
	if lo.Cmp(hi) > 0 {
		x, lo, hi = x.Neg(), lo.Neg(), hi.Neg()
	}
	switch {
	case x.Cmp(lo) < 0:
		return intDatum(0), nil
	case x.Cmp(hi) >= 0:
		if n == math.MaxInt32 {
			return null, intRange(types.TInt4)
		}
		return intDatum(n + 1), nil
	}
	if k, ok := smallBucket(x.Sub(lo), hi.Sub(lo), uint64(n)); ok {
		return intDatum(k + 1), nil
	}
	p, err := x.Sub(lo).Mul(types.NewDecimal(n, 0))
	if err != nil {
		return null, err
	}
	q, err := p.DivTrunc(hi.Sub(lo))
	if err != nil {
		return null, err
	}
	k, err := q.ToInt64()
	return intDatum(k + 1), err
}

// smallBucket is the whole part of x * n / width, of numbers that are not negative, where
// 128 bits are enough; the result is less than n.
func smallBucket(x, width types.Decimal, n uint64) (k int64, ok bool) {
	a, as, small := x.Small()
	b, bs, both := width.Small()
	if !small || !both || max(as-bs, bs-as) > 18 {
		return 0, false
	}
	u, v := uint64(a), uint64(b)
	var over uint64
	for ; as < bs && over == 0; as++ {
		over, u = bits.Mul64(u, 10)
	}
	for ; bs < as && over == 0; bs++ {
		over, v = bits.Mul64(v, 10)
	}
	if over != 0 {
		return 0, false
	}
	high, low := bits.Mul64(u, n)
	if high >= v {
		return 0, false
	}
	q, _ := bits.Div64(high, low, v)
	return int64(q), true
}

// widthBucketArray counts the thresholds that are not greater than the operand.
func widthBucketArray(c *callCtx, a []types.Datum) (types.Datum, error) {
	p, err := partsOf(a[1])
	if err != nil {
		return null, err
	}
	if len(p.dims) > 1 {
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "thresholds must be one-dimensional array")
	}
	for _, e := range p.elems {
		if e.Null {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "thresholds array must not contain NULLs")
		}
	}
	lo, hi := 0, len(p.elems)
	for lo < hi {
		mid := (lo + hi) / 2
		k := compareDatums(a[0], p.elems[mid])
		if k < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return intDatum(int64(lo)), nil
}
