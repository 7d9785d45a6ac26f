package expr

import "math"

// The transcendental functions of float8. Go's own are a bit or two off in the
// last place, and a client sees all digits; these round correctly. Those whose
// names begin with a c follow the formulas that C libraries use, which do not,
// to the same digits.

// tiny is where odd functions equal their argument.
const tiny = 1e-9

func isSpecial(x float64) bool { return x != x || math.IsInf(x, 0) }

func exactExp(x float64) float64 {
	if isSpecial(x) || math.Abs(x) > 760 {
		return math.Exp(x)
	}
	if m, k := expQuick(x); k > -1020 && m.settled(m.h*quickError) {
		return math.Ldexp(m.h, k)
	}
	m, k := double{h: x}.exp()
	return m.scale(k)
}

func exactLog(x float64) float64 {
	if isSpecial(x) || x <= 0 {
		return math.Log(x)
	}
	if x >= 0x1p-1000 {
		if y, err := logQuick(x); y.settled(err) {
			return y.h
		}
	}
	return logOf(x).h
}

// logOf is the natural logarithm of a positive finite number.
func logOf(x float64) double {
	if x < 0x1p-1000 { // the parts of so small a number lose bits
		return double{h: x * 0x1p200}.log().sub(ln2.mulF(200))
	}
	return double{h: x}.log()
}

func exactPow(x, y float64) float64 {
	if isSpecial(x) || isSpecial(y) || x == 0 || y == 0 {
		return math.Pow(x, y)
	}
	sign := 1.0
	if x < 0 {
		if y != math.Trunc(y) {
			return math.NaN()
		}
		if math.Abs(math.Mod(y, 2)) == 1 {
			sign = -1
		}
		x = -x
	}
	if x == 1 {
		return sign
	}
	if n := math.Abs(y); n == math.Trunc(n) && n <= 64 {
		// By multiplication, which is exact where the result is: a result half
		// way between two floats must go to the even one.
		f, e := math.Frexp(x)
		p := double{h: 1}
		for range int(n) {
			p = p.mulF(f)
		}
		k := e * int(n)
		if y < 0 {
			p, k = double{h: 1}.div(p), -k
		}
		return sign * p.scale(k)
	}
	l := logOf(x)
	switch e := l.h * y; {
	case e > 760:
		return sign * math.Inf(1)
	case e < -760:
		return sign * 0
	}
	m, k := l.mulF(y).exp()
	return sign * m.scale(k)
}

func exactCbrt(x float64) float64 {
	if isSpecial(x) || x == 0 {
		return x
	}
	f, e := math.Frexp(x)
	for e%3 != 0 {
		f, e = f/2, e+1
	}
	y := math.Cbrt(f)
	c := double{h: f}.sub(twoProd(y, y).mulF(y)).h / (3 * y * y)
	return math.Ldexp(y+c, e/3)
}

func exactSin(x float64) float64 {
	if isSpecial(x) || math.Abs(x) < tiny {
		return math.Sin(x)
	}
	if s, _, ok := sincosQuick(x); ok && s.settled(s.h*quickError) {
		return s.h
	}
	s, _ := sincos(x)
	return s.h
}

func exactCos(x float64) float64 {
	if isSpecial(x) {
		return math.Cos(x)
	}
	if _, c, ok := sincosQuick(x); ok && c.settled(c.h*quickError) {
		return c.h
	}
	_, c := sincos(x)
	return c.h
}

func exactTan(x float64) float64 {
	if isSpecial(x) || math.Abs(x) < tiny {
		return math.Tan(x)
	}
	if s, c, ok := sincosQuick(x); ok {
		if t := s.div(c); t.settled(4 * t.h * quickError) {
			return t.h
		}
	}
	s, c := sincos(x)
	return s.div(c).h
}

func exactAsin(x float64) float64 {
	if !(math.Abs(x) < 1) || math.Abs(x) < tiny {
		return math.Asin(x)
	}
	return angle(double{h: x}, cathetus(x))
}

func exactAcos(x float64) float64 {
	if !(math.Abs(x) < 1) {
		return math.Acos(x)
	}
	return angle(cathetus(x), double{h: x})
}

// angle is atan2, rounded.
func angle(y, x double) float64 {
	if a, ok := atan2Quick(y, x); ok && a.settled(a.h*quickError) {
		return a.h
	}
	return atan2(y, x).h
}

// cathetus is √(1 - x²).
func cathetus(x float64) double {
	return twoSum(1, -x).mul(twoSum(1, x)).sqrt()
}

func exactAtan(x float64) float64 {
	if isSpecial(x) || math.Abs(x) < tiny {
		return math.Atan(x)
	}
	return exactAtan2(x, 1)
}

func exactAtan2(y, x float64) float64 {
	if isSpecial(y) || isSpecial(x) || y == 0 || x == 0 {
		return math.Atan2(y, x)
	}
	_, e := math.Frexp(max(math.Abs(x), math.Abs(y)))
	b, a := math.Ldexp(y, -e), math.Ldexp(x, -e)
	switch {
	case math.Abs(b) < 0x1p-60 && x > 0:
		return y / x
	case math.Abs(b) < 0x1p-200:
		return math.Copysign(math.Pi, y)
	case math.Abs(a) < 0x1p-200:
		return math.Copysign(math.Pi/2, y)
	}
	return angle(double{h: b}, double{h: a})
}

// hugeExp is where e^-x adds nothing to e^x.
const hugeExp = 22

func cSinh(x float64) float64 {
	a := math.Abs(x)
	h := math.Copysign(0.5, x)
	switch {
	case isSpecial(x) || a < 1.0/manyBits || a > 709:
		return math.Sinh(x)
	case a > hugeExp:
		return h * exactExp(a)
	}
	t := math.Expm1(a)
	if a < 1 {
		return h * (2*t - t*t/(t+1))
	}
	return h * (t + t/(t+1))
}

func cCosh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case isSpecial(x) || a > 709:
		return math.Cosh(x)
	case a > hugeExp:
		return 0.5 * exactExp(a)
	case a > math.Ln2/2:
		t := exactExp(a)
		return 0.5*t + 0.5/t
	}
	t := math.Expm1(a)
	return 1 + t*t/(2*(1+t))
}

func cTanh(x float64) float64 {
	a := math.Abs(x)
	if isSpecial(x) || a < 0x1p-55 || a > hugeExp {
		return math.Tanh(x)
	}
	var r float64
	if a >= 1 {
		r = 1 - 2/(math.Expm1(2*a)+2)
	} else {
		t := math.Expm1(-2 * a)
		r = -t / (t + 2)
	}
	return math.Copysign(r, x)
}

// The logarithm of 2 to base 10 in two parts: the first times a binary exponent
// is exact.
const (
	log10Of2     = 3.01029995663611771306e-01
	log10Of2Rest = 3.69423907715893078616e-13
)

func cLog10(x float64) float64 {
	if isSpecial(x) || x <= 0 {
		return math.Log10(x)
	}
	m, k := math.Frexp(x) // 0.5 <= m < 1
	m, k = 2*m, k-1
	if k < 0 {
		m, k = m/2, k+1
	}
	n := float64(k)
	rest := float64(n*log10Of2Rest) + float64(math.Log10E*exactLog(m))
	return rest + float64(n*log10Of2)
}

// manyBits is where x*x+1 is x*x.
const manyBits = 1 << 28

func cAsinh(x float64) float64 {
	a := math.Abs(x)
	var r float64
	switch {
	case isSpecial(x) || a < 1.0/manyBits:
		return x
	case a > manyBits:
		r = exactLog(a) + math.Ln2
	case a > 2:
		r = exactLog(2*a + 1/(math.Sqrt(a*a+1)+a))
	default:
		s := a * a
		r = math.Log1p(a + s/(1+math.Sqrt(1+s)))
	}
	return math.Copysign(r, x)
}

func cAcosh(x float64) float64 {
	switch {
	case isSpecial(x) || x < 1:
		return math.Acosh(x)
	case x >= manyBits:
		return exactLog(x) + math.Ln2
	case x > 2:
		return exactLog(2*x - 1/(x+math.Sqrt(x*x-1)))
	}
	t := x - 1
	return math.Log1p(t + math.Sqrt(2*t+t*t))
}
