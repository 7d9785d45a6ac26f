package expr

import (
	"math"
	"math/big"
	"sync"
)

// double is an unevaluated sum of two floats, h being the nearest float of it:
// some 106 bits. The functions of exactmath.go compute with it, so that h is
// the correctly rounded result, as it is, but for rare cases, of a C library.
type double struct{ h, l float64 }

// doubleOf reads a decimal number.
func doubleOf(s string) double {
	x, _, err := big.ParseFloat(s, 10, 300, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return doubleOfBig(x)
}

func doubleOfBig(x *big.Float) double {
	h, _ := x.Float64()
	l, _ := new(big.Float).Sub(x, new(big.Float).SetFloat64(h)).Float64()
	return double{h, l}
}

var (
	ln2    = doubleOf("0.693147180559945309417232121458176568075500134360255254120680009")
	halfPi = doubleOf("1.570796326794896619231321691639751442098584699687552910487472296")
	// ln2 and π/2 in parts of few bits, whose products with small integers are exact.
	ln2Parts  = parts("0.693147180559945309417232121458176568075500134360255254120680009", 32)
	halfParts = parts("1.570796326794896619231321691639751442098584699687552910487472296", 32)
	// reciprocal factorials
	invFact = func() (f [28]double) {
		n := big.NewInt(1)
		for i := range f {
			if i > 1 {
				n.Mul(n, big.NewInt(int64(i)))
			}
			f[i] = doubleOfBig(new(big.Float).SetPrec(300).Quo(big.NewFloat(1).SetPrec(300), new(big.Float).SetPrec(300).SetInt(n)))
		}
		return f
	}()
)

// parts splits a number into three floats of that many bits and the rest.
func parts(s string, bits uint) (p [4]float64) {
	x, _, _ := big.ParseFloat(s, 10, 300, big.ToNearestEven)
	for i := range p {
		part := new(big.Float).SetMode(big.ToZero).SetPrec(bits).Set(x)
		if i == len(p)-1 {
			part = x
		}
		p[i], _ = part.Float64()
		x = new(big.Float).SetPrec(300).Sub(x, part)
	}
	return p
}

func twoSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quickSum is twoSum for |a| >= |b|.
func quickSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

func twoProd(a, b float64) double {
	p := a * b
	return double{p, math.FMA(a, b, -p)}
}

func (a double) add(b double) double {
	s, t := twoSum(a.h, b.h), twoSum(a.l, b.l)
	s = quickSum(s.h, s.l+t.h)
	return quickSum(s.h, s.l+t.l)
}

func (a double) addF(b float64) double {
	s := twoSum(a.h, b)
	return quickSum(s.h, s.l+a.l)
}

func (a double) neg() double         { return double{-a.h, -a.l} }
func (a double) sub(b double) double { return a.add(b.neg()) }

// times multiplies by a power of two.
func (a double) times(f float64) double { return double{a.h * f, a.l * f} }

func (a double) mul(b double) double {
	p := twoProd(a.h, b.h)
	return quickSum(p.h, p.l+(a.h*b.l+a.l*b.h))
}

func (a double) mulF(b float64) double {
	p := twoProd(a.h, b)
	return quickSum(p.h, p.l+a.l*b)
}

func (a double) div(b double) double {
	q := a.h / b.h
	r := a.sub(b.mulF(q))
	q2 := r.h / b.h
	r = r.sub(b.mulF(q2))
	return quickSum(q, q2).addF(r.h / b.h)
}

func (a double) sqrt() double {
	if a.h <= 0 {
		return double{}
	}
	s := math.Sqrt(a.h)
	return quickSum(s, a.sub(twoProd(s, s)).h/(2*s))
}

// scale is a·2^k, rounded once, also where floats lose bits near zero.
func (a double) scale(k int) float64 {
	_, e := math.Frexp(a.h)
	if e+k > -1021 {
		return math.Ldexp(a.h, k)
	}
	s, t := math.Ldexp(a.h, k+1074), math.Ldexp(a.l, k+1074)
	n := math.RoundToEven(s)
	if d := s - n + t; d > 0.5 {
		n++
	} else if d < -0.5 {
		n--
	}
	return math.Ldexp(n, -1074)
}

// exp2Parts are 2^(j/64).
var exp2Parts = func() (t [64]double) {
	root := new(big.Float).SetPrec(300).SetInt64(2)
	for range 6 {
		root.Sqrt(root)
	}
	x := new(big.Float).SetPrec(300).SetInt64(1)
	for j := range t {
		t[j] = doubleOfBig(x)
		x.Mul(x, root)
	}
	return t
}()

// exp gives e^a as m·2^k.
func (a double) exp() (m double, k int) {
	n := math.RoundToEven(a.h * (64 * math.Log2E))
	f := -n / 64
	r := twoSum(a.h, f*ln2Parts[0]).addF(a.l).addF(f * ln2Parts[1]).addF(f * ln2Parts[2]).addF(f * ln2Parts[3])
	// the series of e^r, whose far terms need few bits
	tail := r.h * (invFact[6].h + r.h*(invFact[7].h+r.h*(invFact[8].h+r.h*(invFact[9].h+r.h*(invFact[10].h+r.h*invFact[11].h)))))
	s := invFact[5].addF(tail)
	for i := 4; i >= 0; i-- {
		s = s.mul(r).add(invFact[i])
	}
	return s.mul(exp2Parts[int(n)&63]), int(n) >> 6
}

// log is the natural logarithm of a positive number.
func (a double) log() double {
	_, e := math.Frexp(a.h)
	m := double{math.Ldexp(a.h, -e), math.Ldexp(a.l, -e)}
	if m.h < math.Sqrt2/2 {
		m, e = m.times(2), e-1
	}
	var y double
	if d := m.addF(-1); math.Abs(d.h) < 0.03 {
		y = d.log1pSmall()
	} else {
		y0 := math.Log(m.h)
		x, k := double{h: -y0}.exp()
		c := m.mul(x.times(math.Ldexp(1, k))).addF(-1)
		y = c.sub(c.mul(c).times(0.5)).addF(y0)
	}
	if e == 0 {
		return y
	}
	return ln2.mulF(float64(e)).add(y)
}

var oddReciprocals = func() (r [10]double) {
	for i := range r {
		r[i] = double{h: 1}.div(double{h: float64(2*i + 1)})
	}
	return r
}()

// log1pSmall is log(1 + a) for a near 0, by the series of 2·artanh(a / (2 + a)).
func (a double) log1pSmall() double {
	z := a.div(a.addF(2))
	sq := z.mul(z)
	s := oddReciprocals[9]
	for i := 8; i >= 0; i-- {
		s = s.mul(sq).add(oddReciprocals[i])
	}
	return s.mul(z).times(2)
}

// bigHalfPi has bits enough to reduce the largest float.
var bigHalfPi = sync.OnceValue(func() *big.Float {
	// Machin: π/4 = 4·arctan(1/5) - arctan(1/239), in units of 2^-prec.
	const prec = 1400
	arctan := func(n int64) *big.Int {
		t := new(big.Int).Lsh(big.NewInt(1), prec)
		t.Quo(t, big.NewInt(n))
		sum, sq := new(big.Int).Set(t), big.NewInt(n*n)
		for k := int64(3); t.Sign() != 0; k += 2 {
			t.Quo(t, sq)
			q := new(big.Int).Quo(t, big.NewInt(k))
			if k%4 == 3 {
				sum.Sub(sum, q)
			} else {
				sum.Add(sum, q)
			}
		}
		return sum
	}
	p := new(big.Int).Sub(new(big.Int).Mul(arctan(5), big.NewInt(4)), arctan(239))
	return new(big.Float).SetPrec(prec).SetMantExp(new(big.Float).SetPrec(prec).SetInt(p), 1-prec)
})

// reduce gives x - quadrant·π/2, at most π/4 away from 0.
func reduce(x float64) (r double, quadrant int) {
	if n := math.RoundToEven(x * (2 / math.Pi)); math.Abs(n) < 1<<20 {
		r = twoSum(x, -n*halfParts[0])
		for _, p := range halfParts[1:] {
			r = r.add(twoProd(-n, p))
		}
		return r, int(int64(n) & 3)
	}
	p := bigHalfPi()
	q := new(big.Float).SetPrec(1400).Quo(new(big.Float).SetFloat64(math.Abs(x)), p)
	n, _ := q.Add(q, big.NewFloat(0.5)).Int(nil)
	rest := new(big.Float).SetPrec(1400).Mul(p, new(big.Float).SetPrec(1400).SetInt(n))
	rest.Sub(new(big.Float).SetPrec(1400).SetFloat64(math.Abs(x)), rest)
	r, quadrant = doubleOfBig(rest), int(new(big.Int).And(n, big.NewInt(3)).Int64())
	if x < 0 {
		return r.neg(), -quadrant & 3
	}
	return r, quadrant
}

// sincos are the sine and cosine of any finite number.
func sincos(x float64) (sin, cos double) {
	r, q := reduce(x)
	s, c := sincosOf(r)
	switch q {
	case 1:
		s, c = c, s.neg()
	case 2:
		s, c = s.neg(), c.neg()
	case 3:
		s, c = c.neg(), s
	}
	return s, c
}

// sincosOf are those of an angle up to π/4.
func sincosOf(r double) (sin, cos double) {
	sq := r.mul(r)
	s, c := invFact[27], invFact[26]
	for i := 25; i >= 1; i -= 2 {
		s = invFact[i].sub(s.mul(sq))
		c = invFact[i-1].sub(c.mul(sq))
	}
	return s.mul(r), c
}

// atan2 is the angle of the point (x, y), which is neither far from nor near
// to the origin.
func atan2(y, x double) double {
	a := math.Atan2(y.h, x.h)
	s, c := sincos(a)
	return y.mul(c).sub(x.mul(s)).div(x.mul(c).add(y.mul(s))).addF(a)
}
