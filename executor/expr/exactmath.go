package expr

import "math"

// The transcendental functions of float8. Go's own are a bit or two off in the
// last place, and a client sees all digits; these round correctly. asinh, acosh
// and atanh stay Go's: C libraries compute them as it does, to the same digits.

// tiny is where odd functions equal their argument.
const tiny = 1e-9

func isSpecial(x float64) bool { return x != x || math.IsInf(x, 0) }

func exactExp(x float64) float64 {
	if isSpecial(x) || math.Abs(x) > 760 {
		return math.Exp(x)
	}
	m, k := double{h: x}.exp()
	return m.scale(k)
}

func exactLog(x float64) float64 {
	if isSpecial(x) || x <= 0 {
		return math.Log(x)
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

func exactLog10(x float64) float64 {
	if isSpecial(x) || x <= 0 {
		return math.Log10(x)
	}
	return logOf(x).div(ln10).h
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
	s, _ := sincos(x)
	return s.h
}

func exactCos(x float64) float64 {
	if isSpecial(x) {
		return math.Cos(x)
	}
	_, c := sincos(x)
	return c.h
}

func exactTan(x float64) float64 {
	if isSpecial(x) || math.Abs(x) < tiny {
		return math.Tan(x)
	}
	s, c := sincos(x)
	return s.div(c).h
}

func exactAsin(x float64) float64 {
	if !(math.Abs(x) < 1) || math.Abs(x) < tiny {
		return math.Asin(x)
	}
	return atan2(double{h: x}, cathetus(x)).h
}

func exactAcos(x float64) float64 {
	if !(math.Abs(x) < 1) {
		return math.Acos(x)
	}
	return atan2(cathetus(x), double{h: x}).h
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
	return atan2(double{h: b}, double{h: a}).h
}

// expHalf gives e^x / 2 and e^-x / 2 for 0 <= x <= 40.
func expHalf(x float64) (up, down double) {
	m, k := double{h: x}.exp()
	up = m.times(math.Ldexp(0.5, k))
	return up, double{h: 0.25}.div(up)
}

func exactSinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case isSpecial(x) || a < tiny || a > 760:
		return math.Sinh(x)
	case a < 0.3:
		return double{h: x}.sinhSmall().h
	case a > 40:
		m, k := double{h: a}.exp()
		return math.Copysign(m.scale(k-1), x)
	}
	up, down := expHalf(a)
	return math.Copysign(up.sub(down).h, x)
}

func exactCosh(x float64) float64 {
	a := math.Abs(x)
	if isSpecial(x) || a > 760 {
		return math.Cosh(x)
	}
	if a > 40 {
		m, k := double{h: a}.exp()
		return m.scale(k - 1)
	}
	up, down := expHalf(a)
	return up.add(down).h
}

func exactTanh(x float64) float64 {
	a := math.Abs(x)
	if isSpecial(x) || a < tiny || a > 40 {
		return math.Tanh(x)
	}
	up, down := expHalf(a)
	s := up.sub(down)
	if a < 0.3 {
		s = double{h: a}.sinhSmall()
	}
	return math.Copysign(s.div(up.add(down)).h, x)
}
