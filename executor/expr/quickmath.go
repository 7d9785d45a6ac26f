package expr

import "math"

// The functions of exactmath.go are computed in two steps, as Ziv has shown (ACM TOMS
// 17, 1991): with some 66 bits first, in a fraction of the time; and where the bits
// behind the 53rd leave open which way the result rounds, about once in a thousand
// times, with the 106 bits of double.

// quickError bounds the relative error of the results of sincosQuick, atan2Quick and
// expQuick. It is about sixteen times what their formulas give.
const quickError = 0x1p-64

// settled reports whether a rounds to a.h however much less than err it is off.
func (a double) settled(err float64) bool {
	return a.h+(a.l+err) == a.h && a.h+(a.l-err) == a.h
}

// circle are the sines of the multiples of π/256 up to 5π/2: those of the cosines lie
// circleQuarter further.
const circleQuarter = 128

var circle = func() (t [5 * circleQuarter]double) {
	step := double{halfPi.h / circleQuarter, halfPi.l / circleQuarter}
	for i := range 2 * circleQuarter { // a half, in which the sine is symmetrical
		k := min(i, 2*circleQuarter-i)
		if k <= circleQuarter/2 {
			t[i], _ = sincosOf(step.mulF(float64(k)))
		} else {
			_, t[i] = sincosOf(step.mulF(float64(circleQuarter - k)))
		}
		t[i+2*circleQuarter] = t[i].neg()
	}
	copy(t[4*circleQuarter:], t[:])
	return t
}()

// quickAngle bounds the angles for sincosQuick: the products with a part of π/256 are
// exact.
const quickAngle = 1 << 12

// sincosQuick are the sine and cosine of an angle, with a relative error of less than
// quickError each; ok is false for angles that are too large, and for those so near to
// a multiple of π/2 that it cannot be said.
//
// Of x = n·π/256 + r, |r| <= π/512, the addition theorems make four products of the
// functions of n·π/256, from a table, and those of r, from short series.
func sincosQuick(x float64) (sin, cos double, ok bool) {
	if !(math.Abs(x) < quickAngle) {
		return sin, cos, false
	}
	n := math.RoundToEven(x * (2 * circleQuarter / math.Pi))
	r := double{h: x}
	if n != 0 {
		const step = 1.0 / circleQuarter
		f := -n * step
		r = twoSum(x, f*halfParts[0]).addF(f * halfParts[1]).addF(f * halfParts[2]).addF(f * halfParts[3])
	}
	k := int(n) & (4*circleQuarter - 1)
	if n != 0 && k%circleQuarter == 0 && math.Abs(r.h) < 0x1p-40 { // r is the result, and cancelled
		return sin, cos, false
	}
	sq := r.h * r.h
	// sin r = r.h + sinRest, cos r = 1 + cosRest
	sinRest := r.l + r.h*sq*(-1.0/6+sq*(1.0/120-sq/5040))
	cosRest := sq*(-0.5+sq*(1.0/24-sq/720)) - r.h*r.l
	s, c := &circle[k], &circle[k+circleQuarter]
	return turned(s, c, r.h, sinRest, cosRest), turned(c, s, -r.h, -sinRest, cosRest), true
}

// turned is a·(1 + cosRest) + b·(r + sinRest).
func turned(a, b *double, r, sinRest, cosRest float64) double {
	p := twoProd(b.h, r)
	s := twoSum(a.h, p.h)
	return quickSum(s.h, s.l+(p.l+(a.l+(a.h*cosRest+(b.h*sinRest+b.l*r)))))
}

// atan2Quick is atan2 with a relative error of less than quickError.
//
// What an angle that is right to a bit or two lacks is as good as its tangent.
func atan2Quick(y, x double) (a double, ok bool) {
	near := math.Atan2(y.h, x.h)
	s, c, ok := sincosQuick(near)
	if !ok {
		return a, false
	}
	p, q := y.mul(c), x.mul(s)
	return quickSum(near, p.sub(q).h/(x.h*c.h+y.h*s.h)), true
}

// expQuick gives e^x as m·2^k, with a relative error of less than quickError.
//
// Of x = n·ln2/64 + r, e^x is 2^(n/64), from a table, times e^r by its series.
func expQuick(x float64) (m double, k int) {
	n := math.RoundToEven(x * (64 * math.Log2E))
	f := -n / 64
	r := twoSum(x, f*ln2Parts[0]).addF(f * ln2Parts[1]).addF(f * ln2Parts[2])
	sq := r.h * r.h
	rest := r.l + sq*(0.5+r.h*(1.0/6+r.h*(1.0/24+r.h*(1.0/120+r.h*(1.0/720+r.h/5040))))) + r.h*r.l
	t := &exp2Parts[int(n)&63]
	p := twoProd(t.h, r.h)
	s := quickSum(t.h, p.h)
	return quickSum(s.h, s.l+(p.l+(t.l+(t.h*rest+t.l*r.h)))), int(n) >> 6
}

// logLow is the number of pieces of [1/2, 1) that lie below √½.
const logLow = 53

// logParts cuts mantissas from 1/2 to 1 in pieces: the reciprocals, in nine bits, of
// numbers in them, and the logarithms of these. Those of the first pieces are for
// twice the mantissa, so that all logarithms are small.
var logParts = func() (t [128]struct {
	inverse float64
	ln      double
}) {
	for i := range t {
		m := 0.5 + (float64(i)+0.5)/256
		if i < logLow {
			m *= 2
		}
		t[i].inverse = math.RoundToEven(256/m) / 256
		if math.Abs(m-1) < 1.0/128 {
			t[i].inverse = 1
		}
		t[i].ln = double{h: t[i].inverse}.log().neg()
	}
	return t
}()

// logQuick is the natural logarithm of a normal number, and what it may be off.
//
// Of x = m·2^e, ln x = e·ln2 - ln c + ln(1 + r), c being nearly 1/m and r = c·m - 1,
// which is exact.
func logQuick(x float64) (y double, err float64) {
	m, e := math.Frexp(x)
	i := int(math.Float64bits(m)>>(52-7)) & 127
	t := &logParts[i]
	if i < logLow {
		m, e = 2*m, e-1
	}
	r := math.FMA(m, t.inverse, -1)
	sq := r * r
	rest := sq * (-0.5 + r*(1.0/3+r*(-1.0/4+r*(1.0/5+r*(-1.0/6+r*(1.0/7+r*(-1.0/8+r*(1.0/9+r*(-1.0/10+r*(1.0/11))))))))))
	f := float64(e)
	s := twoSum(f*ln2Parts[0], f*ln2Parts[1])
	s.l += f * (ln2Parts[2] + ln2Parts[3])
	u := twoSum(s.h, t.ln.h)
	v := twoSum(u.h, r)
	y = quickSum(v.h, v.l+(u.l+(s.l+(t.ln.l+rest))))
	return y, math.Abs(y.h)*quickError + sq*0x1p-50
}
