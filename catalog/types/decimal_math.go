package types

import (
	"math"
	"math/big"
	"sync/atomic"

	"github.com/cockroachdb/apd/v3"

	"kvsqld/catalog/sqlerr"
)

// guardDigits are computed beyond the result's digits before rounding.
const guardDigits = 12

func errLogZero() error {
	return sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of zero")
}

func errLogNegative() error {
	return sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of a negative number")
}

// Sqrt returns the square root with at least 16 significant digits; 2201F for
// negative numbers.
func (d Decimal) Sqrt() (Decimal, error) {
	if d.form != formNaN && d.Sign() < 0 {
		return d, sqlerr.New(sqlerr.InvalidArgumentForPower, "cannot take square root of a negative number")
	}
	if d.form != formFinite {
		return d, nil
	}
	w, _ := d.lead()
	return d.SqrtScale(clampScale(minSigDigits-(w*4/2+1), d.scale)), nil
}

// SqrtScale returns the square root of a finite number that is not negative,
// rounded to scale digits after the point.
func (d Decimal) SqrtScale(scale int32) Decimal {
	// One digit more than wanted is enough: the root of a number is never a
	// tie that the digits beyond could break the other way.
	shift := 2*(scale+1) - d.scale
	b := new(big.Int)
	if shift >= 0 {
		b.Mul(d.bigCoef(), pow10Big(shift))
	} else {
		b.Quo(d.bigCoef(), pow10Big(-shift))
	}
	return fromBig(b.Sqrt(b), scale+1).Round(scale)
}

// approx returns the value as a float64, with infinities where it overflows.
func (d Decimal) approx() float64 { return d.ToFloat() }

// fromFixed rounds x / 2^prec to scale digits after the point.
func fromFixed(x *big.Int, prec uint, scale int32) Decimal {
	b := new(big.Int).Abs(x)
	b.Mul(b, pow10Big(scale+1))
	d := fromBig(b.Rsh(b, prec), scale+1).Round(scale)
	if x.Sign() < 0 {
		return d.Neg()
	}
	return d
}

// toAPD converts a finite number.
func (d Decimal) toAPD() *apd.Decimal {
	return apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(d.bigCoef()), -d.scale)
}

// fromAPD rounds a finite number to the scale.
func fromAPD(a *apd.Decimal, scale int32) Decimal {
	b := a.Coeff.MathBigInt()
	if a.Negative {
		b.Neg(b)
	}
	k := a.Exponent + scale // b * 10^k is the coefficient
	if k >= 0 {
		return fromBig(b.Mul(b, pow10Big(k)), scale)
	}
	if int(-k) > decimalDigits(b)+1 {
		return Decimal{scale: scale}
	}
	return fromBig(quoRound(b, pow10Big(-k)), scale)
}

func apdContext(digits int) *apd.Context {
	c := apd.BaseContext.WithPrecision(uint32(max(digits, minSigDigits) + guardDigits))
	c.Rounding = apd.RoundHalfUp
	return c
}

// Exp returns e^d.
func (d Decimal) Exp() (Decimal, error) {
	switch d.form {
	case formNegInf:
		return Decimal{}, nil
	case formNaN, formPosInf:
		return d, nil
	}
	weight := min(max(d.approx()*math.Log10E, -maxResultScale), maxResultScale)
	return expScaled(d, clampScale(minSigDigits-int(weight), d.scale))
}

// expScaled returns e^d rounded to the scale.
func expScaled(d Decimal, scale int32) (Decimal, error) {
	v := d.approx()
	if math.Abs(v) >= maxResultScale*3 {
		if v > 0 {
			return d, errNumericOverflow()
		}
		return Decimal{scale: scale}, nil
	}
	digits := int(scale) + int(v*math.Log10E) + 2
	if digits < -2 {
		return Decimal{scale: scale}, nil
	}
	x, prec := expBinary(d, max(digits, minSigDigits)+guardDigits)
	return fromFixed(x, prec, scale), nil
}

// expBinary returns e^d as a binary fixed-point number with prec fractional
// bits, exact to the given number of significant decimal digits. The argument
// is halved until it is small, and the series' sum squared as often.
func expBinary(d Decimal, digits int) (x *big.Int, prec uint) {
	mag := max(math.Ilogb(math.Abs(d.approx())+1), 0)
	halvings := uint(mag + 12)
	// Squaring doubles the relative error each time.
	prec = uint(float64(digits)*3.33) + halvings + 32
	abs := d.Abs()
	num := new(big.Int).Lsh(abs.bigCoef(), prec)
	r := num.Quo(num, pow10Big(abs.scale))
	r.Rsh(r, halvings)
	sum := expSeries(r, prec, halvings)
	if d.Sign() >= 0 {
		return sum, prec
	}
	// 1/sum is small: keep as many bits again as sum has before the point.
	extra := uint(max(sum.BitLen()-int(prec), 0))
	one := new(big.Int).Lsh(big.NewInt(1), 2*prec+extra)
	return one.Quo(one, sum), prec + extra
}

// expSeries returns e^(r * 2^halvings), r >= 0 and the result with prec fractional
// bits.
func expSeries(r *big.Int, prec, halvings uint) *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(1), prec)
	term := new(big.Int).Set(sum)
	var n big.Int
	for i := int64(1); term.Sign() != 0; i++ {
		term.Mul(term, r)
		term.Rsh(term, prec)
		term.Quo(term, n.SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
		sum.Rsh(sum, prec)
	}
	return sum
}

// lnWeight estimates the decimal weight of ln(d), d > 0.
func (d Decimal) lnWeight() int {
	if d.Cmp(NewDecimal(9, 1)) >= 0 && d.Cmp(NewDecimal(11, 1)) <= 0 {
		x := d.Sub(NewDecimal(1, 0))
		if x.IsZero() {
			return 0
		}
		return x.digits() - 1 - int(x.scale)
	}
	p := d.digits()
	k := min(p, 8)
	ln := math.Log(float64(d.leading(p, k))) + float64(p-k-int(d.scale))*math.Ln10
	return int(math.Log10(math.Abs(ln)))
}

func (d Decimal) checkLog() error {
	switch s := d.Sign(); {
	case d.form == formNaN:
		return nil
	case s == 0:
		return errLogZero()
	case s < 0:
		return errLogNegative()
	}
	return nil
}

// Ln returns the natural logarithm; 2201E for zero and negative numbers.
func (d Decimal) Ln() (Decimal, error) {
	if err := d.checkLog(); err != nil {
		return d, err
	}
	if d.form != formFinite {
		return d, nil
	}
	w := d.lnWeight()
	scale := clampScale(minSigDigits-w, d.scale)
	x, prec := d.lnBinary(max(int(scale), minSigDigits))
	return fromFixed(x, prec, scale), nil
}

// lnHalvings is how often lnUnit's argument of the exponential is halved; the
// error grows by as many bits, which are among lnGuard.
const (
	lnHalvings = 12
	lnGuard    = 96
)

// lnBinary returns ln(d), d > 0, as a binary fixed-point number with prec
// fractional bits, exact to the given number of decimal digits after the point
// and guardDigits more.
func (d Decimal) lnBinary(digits int) (x *big.Int, prec uint) {
	if d.Cmp(NewDecimal(1, 0)) == 0 {
		return new(big.Int), 1
	}
	digits += guardDigits
	prec = uint(float64(digits)*3.33) + lnGuard
	c, p := d.bigCoef(), d.digits()
	// d is m * 10^k with 0.1 <= m < 1.
	k := p - int(d.scale)
	if more := p - digits - 20; more > 0 { // these digits do not show in the result
		c, p = new(big.Int).Quo(c, pow10Big(int32(more))), p-more
	}
	m := new(big.Int).Lsh(c, prec)
	m.Quo(m, pow10Big(int32(p)))
	x = lnUnit(m, prec)
	return x.Add(x, new(big.Int).Mul(ln10(prec), big.NewInt(int64(k)))), prec
}

// lnUnit returns ln(m), 0.1 <= m < 1, both with prec fractional bits: an estimate
// y by float64, and what is missing, ln(m / e^y), whose argument is so near to 1
// that each term of the series gives some hundred bits.
func lnUnit(m *big.Int, prec uint) *big.Int {
	b := m.BitLen()
	lead, _ := new(big.Int).Rsh(m, uint(max(b-60, 0))).Float64()
	f, e := math.Frexp(max(-math.Log(math.Ldexp(lead, max(b-60, 0)-int(prec))), 0))
	r := big.NewInt(int64(f * (1 << 53))) // -y
	if shift := int(prec) + e - 53; shift >= 0 {
		r.Lsh(r, uint(shift))
	} else {
		r.Rsh(r, uint(-shift))
	}
	r.Rsh(r, lnHalvings)
	t := expSeries(r, prec, lnHalvings)
	t.Mul(t, m)
	t.Rsh(t, prec)
	// ln(t) is 2 (z + z^3/3 + z^5/5 …) with z = (t-1) / (t+1).
	one := new(big.Int).Lsh(big.NewInt(1), prec)
	z := new(big.Int).Sub(t, one)
	negative := z.Sign() < 0
	z.Abs(z)
	z.Lsh(z, prec)
	z.Quo(z, t.Add(t, one))
	square := new(big.Int).Mul(z, z)
	square.Rsh(square, prec)
	sum, part := new(big.Int).Set(z), new(big.Int)
	for i := int64(3); ; i += 2 {
		z.Mul(z, square)
		z.Rsh(z, prec)
		if z.Sign() == 0 {
			break
		}
		sum.Add(sum, part.Quo(z, part.SetInt64(i)))
	}
	sum.Lsh(sum, 1)
	if negative {
		sum.Neg(sum)
	}
	return sum.Sub(sum, r.Lsh(r, lnHalvings))
}

// ln10Known is the most exact ln(10) so far.
var ln10Known atomic.Pointer[struct {
	x    *big.Int
	prec uint
}]

// ln10 returns ln(10) with prec fractional bits.
func ln10(prec uint) *big.Int {
	known := ln10Known.Load()
	if known == nil || known.prec < prec {
		known = &struct {
			x    *big.Int
			prec uint
		}{prec: prec + 256}
		m := new(big.Int).Lsh(big.NewInt(1), known.prec)
		known.x = lnUnit(m.Quo(m, big.NewInt(10)), known.prec)
		known.x.Neg(known.x)
		ln10Known.Store(known)
	}
	return new(big.Int).Rsh(known.x, known.prec-prec)
}

// Log10 returns the logarithm to base 10.
func (d Decimal) Log10() (Decimal, error) { return d.Log(NewDecimal(10, 0)) }

// Log returns the logarithm of d to the given base; 2201E for arguments that
// are not positive, 22012 for base 1.
func (d Decimal) Log(base Decimal) (Decimal, error) {
	if base.form == formNaN || d.form == formNaN {
		return DecimalNaN, nil
	}
	if (base.form != formFinite || d.form != formFinite) && min(base.Sign(), d.Sign()) < 0 {
		return d, errLogNegative()
	}
	if err := base.checkLog(); err != nil {
		return d, err
	}
	if err := d.checkLog(); err != nil {
		return d, err
	}
	switch {
	case base.form != formFinite && d.form != formFinite:
		return DecimalNaN, nil
	case base.form != formFinite:
		return Decimal{}, nil
	case d.form != formFinite:
		return d, nil
	}
	if base.Cmp(NewDecimal(1, 0)) == 0 {
		return d, DivisionByZero()
	}
	wb, wn := base.lnWeight(), d.lnWeight()
	w := wn - wb
	scale := clampScale(minSigDigits-w, max(base.scale, d.scale))
	digits := int(scale) + max(w, 0) + 4 + max(-wb, -wn, 0)
	x, prec := d.lnBinary(digits)
	y, _ := base.lnBinary(digits)
	q := new(big.Int).Lsh(new(big.Int).Abs(x), prec)
	q.Quo(q, new(big.Int).Abs(y))
	if x.Sign() != y.Sign() {
		q.Neg(q)
	}
	return fromFixed(q, prec, scale), nil
}

// isInt reports whether d is finite and has no fraction.
func (d Decimal) isInt() bool { return d.form == formFinite && d.MinScale() == 0 }

// Power returns d^e; 2201F where it is not defined, 22003 on overflow.
func (d Decimal) Power(e Decimal) (Decimal, error) {
	one := NewDecimal(1, 0)
	if d.form|e.form != formFinite {
		return powerSpecial(d, e)
	}
	if d.IsZero() && e.Sign() < 0 {
		return d, sqlerr.New(sqlerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	}
	integer := e.isInt()
	if d.Sign() < 0 && !integer {
		return d, sqlerr.New(sqlerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	if integer {
		if n, err := e.ToInt64(); err == nil && n >= math.MinInt32 && n <= math.MaxInt32 {
			return d.powerInt(n)
		}
	}
	if d.IsZero() {
		return Decimal{scale: minSigDigits}, nil
	}
	base := d.Abs()
	if base.Cmp(one) == 0 && integer {
		if half, _ := e.Mod(NewDecimal(2, 0)); half.IsZero() {
			d = one
		}
		return d.Round(minSigDigits), nil
	}
	wln := base.lnWeight()
	// A first estimate with some 8 digits decides on the scale.
	estScale := int32(max(8-wln, 0))
	x, prec := base.lnBinary(int(estScale))
	ln := fromFixed(x, prec, estScale)
	est, err := ln.Mul(e)
	if err != nil {
		return d, err
	}
	v := est.Round(ln.scale).approx()
	if math.Abs(v) > maxResultScale*3.01 {
		if v > 0 {
			return d, errNumericOverflow()
		}
		return Decimal{scale: maxDisplayScale}, nil
	}
	weight := v * math.Log10E
	scale := clampScale(minSigDigits-int(weight), max(d.scale, e.scale))
	digits := max(int(scale)+int(weight), 0) - min(wln, 0) + 8 + e.digits()
	x, prec = base.lnBinary(digits)
	prod, err := fromFixed(x, prec, min(int32(digits)+8, maxNumericScale)).Mul(e)
	if err != nil {
		return d, err
	}
	r, err := expScaled(prod, scale)
	if err == nil && d.Sign() < 0 {
		if half, _ := e.Mod(NewDecimal(2, 0)); !half.IsZero() {
			r = r.Neg()
		}
	}
	return r, err
}

// powerInt is the case of integer exponents: exact where the result is short.
func (d Decimal) powerInt(n int64) (Decimal, error) {
	scale := clampScale(minSigDigits, d.scale)
	var f float64
	if !d.IsZero() {
		p := d.digits()
		k := min(p, 16)
		f = float64(n) * (math.Log10(float64(d.leading(p, k))) + float64(p-k-int(d.scale)))
	}
	if f > maxNumericDigits {
		return d, errNumericOverflow()
	}
	if f+1 < -float64(scale) {
		return Decimal{scale: scale}, nil
	}
	switch {
	case n == 0:
		return NewDecimal(1, 0).Round(scale), nil
	case d.IsZero():
		return Decimal{scale: scale}, nil
	case n == 1:
		return d.Round(scale), nil
	case n == -1:
		return divRound(NewDecimal(1, 0), d, scale), nil
	case d.Abs().Cmp(NewDecimal(1, 0)) == 0:
		r := NewDecimal(1, 0).Round(scale)
		if d.Sign() < 0 && n&1 != 0 {
			r = r.Neg()
		}
		return r, nil
	}
	m := n
	if m < 0 {
		m = -m
	}
	// Exact when that is cheap, else with as many digits as the result shows; exact, too,
	// where the result is beyond what the library of decimals has exponents for.
	most := int64(4096)
	if n > 0 && f > 0.9*apd.MaxExponent {
		most = 8 * maxNumericDigits
	}
	if t := d.TrimScale(); int64(t.digits())*m <= most {
		r := fromBig(new(big.Int).Exp(t.bigCoef(), big.NewInt(m), nil), 0)
		s := int64(t.scale) * m
		if n > 0 {
			r = divRound(r, fromBig(pow10Big(int32(s)), 0), scale)
			return r, r.CheckDigits()
		}
		return divRound(fromBig(new(big.Int).Set(pow10Big(int32(s))), 0), r, scale), nil
	}
	ctx := apdContext(int(scale) + max(int(f), 0) + 20)
	base, acc := d.toAPD(), apd.New(1, 0)
	for e := m; e > 0; e >>= 1 {
		if e&1 != 0 {
			if _, err := ctx.Mul(acc, acc, base); err != nil {
				return d, errNumericOverflow()
			}
		}
		if e > 1 {
			if _, err := ctx.Mul(base, base, base); err != nil {
				return powerExtreme(d, f, scale)
			}
		}
	}
	if n < 0 {
		if _, err := ctx.Quo(acc, apd.New(1, 0), acc); err != nil {
			return powerExtreme(d, f, scale)
		}
	}
	r := fromAPD(acc, scale)
	return r, r.CheckDigits()
}

// powerExtreme is the result when an intermediate left the exponent range.
func powerExtreme(d Decimal, f float64, scale int32) (Decimal, error) {
	if f > 0 {
		return d, errNumericOverflow()
	}
	return Decimal{scale: scale}, nil
}

func powerSpecial(d, e Decimal) (Decimal, error) {
	one := NewDecimal(1, 0)
	switch {
	case d.form == formNaN:
		if e.IsZero() {
			return one, nil
		}
		return DecimalNaN, nil
	case e.form == formNaN:
		if d.form == formFinite && d.Cmp(one) == 0 {
			return one, nil
		}
		return DecimalNaN, nil
	case d.IsZero() && e.Sign() < 0:
		return d, sqlerr.New(sqlerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	case d.form == formFinite && d.Cmp(one) == 0:
		return one, nil
	case e.IsZero():
		return one, nil
	case d.IsZero():
		return Decimal{}, nil
	case e.form != formFinite:
		if d.form == formFinite && d.Cmp(NewDecimal(-1, 0)) == 0 {
			return one, nil
		}
		if (d.Abs().Cmp(one) > 0) == (e.Sign() > 0) {
			return DecimalPosInf, nil
		}
		return Decimal{}, nil
	}
	// d is infinite, e finite.
	if d.form == formPosInf {
		if e.Sign() > 0 {
			return DecimalPosInf, nil
		}
		return Decimal{}, nil
	}
	if !e.isInt() {
		return d, sqlerr.New(sqlerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	if e.Sign() < 0 {
		return Decimal{}, nil
	}
	if half, _ := e.Mod(NewDecimal(2, 0)); !half.IsZero() {
		return DecimalNegInf, nil
	}
	return DecimalPosInf, nil
}
