package types

import (
	"math"
	"math/big"
	"math/bits"

	"kvsqld/catalog/sqlerr"
)

// Result scales of inexact operations: at least minSigDigits significant
// digits, at most maxDisplayScale fractional ones.
const (
	minSigDigits    = 16
	maxDisplayScale = 1000
	maxResultScale  = 2000
)

// DivisionByZero is the error of every division by zero.
func DivisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	switch {
	case d.form == formPosInf:
		return DecimalNegInf
	case d.form == formNegInf:
		return DecimalPosInf
	case d.form == formNaN:
		return d
	case d.big != nil || d.coef == math.MinInt64:
		return fromBig(new(big.Int).Neg(d.bigCoef()), d.scale)
	}
	d.coef = -d.coef
	return d
}

// Abs returns |d|.
func (d Decimal) Abs() Decimal {
	if d.form != formNaN && d.Sign() < 0 {
		return d.Neg()
	}
	return d
}

// Add returns d + e with the greater of the scales.
func (d Decimal) Add(e Decimal) Decimal {
	if d.form|e.form != formFinite {
		return addSpecial(d, e)
	}
	if d.big == nil && e.big == nil {
		x, y, scale, ok := alignSmall(d, e)
		if s := x + y; ok && (s > x) == (y > 0) {
			return Decimal{coef: s, scale: scale}
		}
	}
	if r, ok := addWide(d, e, false); ok {
		return r
	}
	x, y := alignBig(d, e)
	return fromBig(new(big.Int).Add(x, y), max(d.scale, e.scale))
}

// Sub returns d - e with the greater of the scales.
func (d Decimal) Sub(e Decimal) Decimal {
	if d.form|e.form != formFinite {
		return addSpecial(d, e.Neg())
	}
	if d.big == nil && e.big == nil {
		x, y, scale, ok := alignSmall(d, e)
		if s := x - y; ok && (s < x) == (y > 0) {
			return Decimal{coef: s, scale: scale}
		}
	}
	if r, ok := addWide(d, e, true); ok {
		return r
	}
	x, y := alignBig(d, e)
	return fromBig(new(big.Int).Sub(x, y), max(d.scale, e.scale))
}

func addSpecial(d, e Decimal) Decimal {
	switch {
	case d.form == formNaN || e.form == formNaN:
		return DecimalNaN
	case d.form == formFinite:
		return e
	case e.form == formFinite || d.form == e.form:
		return d
	}
	return DecimalNaN
}

// alignSmall brings small coefficients to the greater scale if that fits.
func alignSmall(d, e Decimal) (x, y int64, scale int32, ok bool) {
	x, y, scale, ok = d.coef, e.coef, d.scale, true
	switch {
	case d.scale < e.scale:
		x, ok = mulPow10(x, e.scale-d.scale)
		scale = e.scale
	case d.scale > e.scale:
		y, ok = mulPow10(y, d.scale-e.scale)
	}
	return x, y, scale, ok
}

// mulPow10 returns v * 10^n if it fits.
func mulPow10(v int64, n int32) (int64, bool) {
	if n >= int32(len(pow10)) {
		return 0, v == 0
	}
	return mulInt64(v, pow10[n])
}

func mulInt64(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(absU64(x), absU64(y))
	if (x < 0) != (y < 0) {
		return -int64(lo), hi == 0 && lo <= 1<<63
	}
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	return int64(lo), true
}

// Mul returns the exact product, rounded only if its scale passes the format's
// limit; 22003 if it has too many digits.
func (d Decimal) Mul(e Decimal) (Decimal, error) {
	r := d.MulExact(e)
	if r.form == formFinite && r.scale > maxNumericScale {
		r = r.Round(maxNumericScale)
	}
	return r, r.CheckDigits()
}

// MulExact is Mul with all digits, and with more than a numeric may have: for results on
// the way to another.
func (d Decimal) MulExact(e Decimal) Decimal {
	if d.form|e.form != formFinite {
		if d.form == formNaN || e.form == formNaN || d.IsZero() || e.IsZero() {
			return DecimalNaN
		}
		return infinity(d.Sign() * e.Sign())
	}
	scale := d.scale + e.scale
	if d.big == nil && e.big == nil {
		if p, ok := mulInt64(d.coef, e.coef); ok {
			return Decimal{coef: p, scale: scale}
		}
	}
	return fromBig(new(big.Int).Mul(d.bigCoef(), e.bigCoef()), scale)
}

func infinity(sign int) Decimal {
	if sign < 0 {
		return DecimalNegInf
	}
	return DecimalPosInf
}

// CheckDigits refuses numbers with more digits before the point than the
// format has.
func (d Decimal) CheckDigits() error {
	if d.big == nil || d.big.BitLen() < 435400 { // 10^131072 has 435412 bits
		return nil
	}
	if decimalDigits(d.big)-int(d.scale) > maxNumericDigits {
		return errNumericOverflow()
	}
	return nil
}

// decimalDigits is the number of decimal digits of |b| (0 has one).
func decimalDigits(b *big.Int) int {
	if b.IsInt64() {
		return digitsU64(absU64(b.Int64()))
	}
	// The estimate by logarithm is exact or one too small.
	n := int(float64(b.BitLen()-1)*0.30102999566398119521) + 1
	if b.CmpAbs(pow10Big(int32(n))) >= 0 {
		n++
	} else if b.CmpAbs(pow10Big(int32(n-1))) < 0 {
		n--
	}
	return n
}

func digitsU64(v uint64) int {
	n := 1
	for n < len(pow10) && v >= uint64(pow10[n]) {
		n++
	}
	if n == len(pow10) && v >= 1e19 {
		return 20
	}
	return n
}

// digits returns the number of decimal digits of the coefficient.
func (d Decimal) digits() int {
	if d.big != nil {
		return decimalDigits(d.big)
	}
	return digitsU64(absU64(d.coef))
}

// lead returns the weight of the first base-10000 digit and that digit: the
// magnitude estimate that result scales are chosen from. 0 gives (0, 0).
func (d Decimal) lead() (weight int, first int) {
	if d.IsZero() {
		return 0, 0
	}
	p := d.digits()
	e := p - 1 - int(d.scale)
	weight = e >> 2 // floor(e/4)
	return weight, int(d.leading(p, e-4*weight+1))
}

// leading returns the k first decimal digits of the p-digit coefficient, k <= 18.
func (d Decimal) leading(p, k int) int64 {
	if p <= k {
		return int64(absU64(d.coef)) * pow10[k-p]
	}
	if d.big != nil {
		q := new(big.Int).Quo(d.big, pow10Big(int32(p-k)))
		return q.Abs(q).Int64()
	}
	v := absU64(d.coef)
	if p-k == 19 {
		return int64(v / 1e18 / 10)
	}
	return int64(v / uint64(pow10[p-k]))
}

// divScale chooses the result scale of d / e.
func divScale(d, e Decimal) int32 {
	w1, f1 := d.lead()
	w2, f2 := e.lead()
	qw := w1 - w2
	if f1 <= f2 {
		qw--
	}
	return clampScale(minSigDigits-qw*4, max(d.scale, e.scale))
}

// clampScale brings a wished scale between least (and 0) and the display limit.
func clampScale(wish int, least int32) int32 {
	return int32(min(max(wish, int(least), 0), maxDisplayScale))
}

// Div returns d / e, rounded half away from zero to at least 16 significant
// digits and not fewer fractional digits than the operands have.
func (d Decimal) Div(e Decimal) (Decimal, error) {
	if d.form|e.form != formFinite {
		return divSpecial(d, e)
	}
	if e.IsZero() {
		return Decimal{}, DivisionByZero()
	}
	r := divRound(d, e, divScale(d, e))
	return r, r.CheckDigits()
}

func divSpecial(d, e Decimal) (Decimal, error) {
	switch {
	case d.form == formNaN || e.form == formNaN:
		return DecimalNaN, nil
	case d.form != formFinite && e.form != formFinite:
		return DecimalNaN, nil
	case d.form != formFinite:
		if e.IsZero() {
			return Decimal{}, DivisionByZero()
		}
		return infinity(d.Sign() * e.Sign()), nil
	}
	return Decimal{}, nil // finite / infinite
}

// divRound returns d / e rounded half away from zero to the given scale; e is not 0.
func divRound(d, e Decimal, scale int32) Decimal {
	k := scale - d.scale + e.scale // d.coef * 10^k / e.coef
	if d.big == nil && e.big == nil && k >= 0 {
		if r, ok := divSmall(d.coef, e.coef, k, scale); ok {
			return r
		}
	}
	x, y := d.bigCoef(), e.bigCoef()
	if k >= 0 {
		x = new(big.Int).Mul(x, pow10Big(k))
	} else {
		y = new(big.Int).Mul(y, pow10Big(-k))
	}
	return fromBig(quoRound(x, y), scale)
}

// divSmall computes round(x * 10^k / y) if the product fits 128 bits.
func divSmall(x, y int64, k, scale int32) (Decimal, bool) {
	if k > 36 {
		return Decimal{}, false
	}
	hi, lo := bits.Mul64(absU64(x), uint64(pow10[min(k, 18)]))
	if k > 18 {
		m := uint64(pow10[k-18])
		top, mid := bits.Mul64(hi, m)
		h, l := bits.Mul64(lo, m)
		var carry uint64
		if hi, carry = bits.Add64(mid, h, 0); top != 0 || carry != 0 {
			return Decimal{}, false
		}
		lo = l
	}
	div := absU64(y)
	qh, rem := hi/div, hi%div
	ql, rem := bits.Div64(rem, lo, div)
	if rem >= div-rem {
		var carry uint64
		ql, carry = bits.Add64(ql, 1, 0)
		qh += carry
	}
	return wide{qh, ql, (x < 0) != (y < 0)}.decimal(scale), true
}

func bigFromU128(hi, lo uint64) *big.Int {
	if bits.UintSize == 64 {
		return new(big.Int).SetBits([]big.Word{big.Word(lo), big.Word(hi)})
	}
	b := new(big.Int).SetUint64(hi)
	b.Lsh(b, 64)
	return b.Or(b, new(big.Int).SetUint64(lo))
}

// quoRound returns x / y rounded half away from zero.
func quoRound(x, y *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	r.Lsh(r.Abs(r), 1)
	if r.CmpAbs(y) >= 0 {
		if x.Sign()*y.Sign() < 0 {
			q.Sub(q, big.NewInt(1))
		} else {
			q.Add(q, big.NewInt(1))
		}
	}
	return q
}

// Mod returns the remainder of the division truncated towards zero.
func (d Decimal) Mod(e Decimal) (Decimal, error) {
	if d.form|e.form != formFinite {
		switch {
		case d.form == formNaN || e.form == formNaN:
			return DecimalNaN, nil
		case d.form != formFinite:
			if e.IsZero() {
				return Decimal{}, DivisionByZero()
			}
			return DecimalNaN, nil
		}
		return d, nil
	}
	if e.IsZero() {
		return Decimal{}, DivisionByZero()
	}
	if d.big == nil && e.big == nil {
		if x, y, scale, ok := alignSmall(d, e); ok {
			if y == -1 {
				return Decimal{scale: scale}, nil
			}
			return Decimal{coef: x % y, scale: scale}, nil
		}
	}
	x, y := alignBig(d, e)
	return fromBig(new(big.Int).Rem(x, y), max(d.scale, e.scale)), nil
}

// DivTrunc returns the quotient truncated towards zero, with scale 0: div().
func (d Decimal) DivTrunc(e Decimal) (Decimal, error) {
	if d.form|e.form != formFinite {
		return divSpecial(d, e)
	}
	if e.IsZero() {
		return Decimal{}, DivisionByZero()
	}
	x, y := alignBig(d, e)
	r := fromBig(new(big.Int).Quo(x, y), 0)
	return r, r.CheckDigits()
}

// Round rounds half away from zero to n fractional digits (n may be negative)
// and displays max(n, 0) of them.
func (d Decimal) Round(n int32) Decimal { return d.setScale(n, roundHalfAway) }

// Trunc cuts after n fractional digits (n may be negative).
func (d Decimal) Trunc(n int32) Decimal { return d.setScale(n, roundDown) }

// Ceil returns the least integer not below d.
func (d Decimal) Ceil() Decimal { return d.setScale(0, roundCeil) }

// Floor returns the greatest integer not above d.
func (d Decimal) Floor() Decimal { return d.setScale(0, roundFloor) }

type rounding uint8

const (
	roundHalfAway rounding = iota
	roundDown
	roundCeil
	roundFloor
)

func (d Decimal) setScale(n int32, mode rounding) Decimal {
	if d.form != formFinite || n == d.scale {
		return d
	}
	n = min(max(n, -maxNumericDigits-1), maxNumericScale) // the first digit may round up into one more
	if n > d.scale {
		if d.big == nil {
			if c, ok := mulPow10(d.coef, n-d.scale); ok {
				return Decimal{coef: c, scale: n}
			}
		}
		return fromBig(new(big.Int).Mul(d.bigCoef(), pow10Big(n-d.scale)), n)
	}
	k := d.scale - n // digits to drop
	if d.big == nil {
		if k >= int32(len(pow10)) {
			return roundTiny(d, n, k, mode)
		}
		p := pow10[k]
		q, r := d.coef/p, d.coef%p
		q += roundStep(int64(sign64(d.coef)), r != 0, absU64(r) >= uint64(p)-absU64(r), mode)
		if n < 0 {
			if c, ok := mulPow10(q, -n); ok {
				return Decimal{coef: c}
			}
			return fromBig(new(big.Int).Mul(big.NewInt(q), pow10Big(-n)), 0)
		}
		return Decimal{coef: q, scale: n}
	}
	p := pow10Big(k)
	q, r := new(big.Int).QuoRem(d.big, p, new(big.Int))
	inexact := r.Sign() != 0
	r.Lsh(r.Abs(r), 1)
	q.Add(q, big.NewInt(roundStep(int64(d.big.Sign()), inexact, r.Cmp(p) >= 0, mode)))
	if n < 0 {
		return fromBig(q.Mul(q, pow10Big(-n)), 0)
	}
	return fromBig(q, n)
}

// roundTiny drops at least 19 digits of an int64 coefficient: what remains is
// 0 or one unit, which a half can only be reached with exactly 19 digits.
func roundTiny(d Decimal, n, k int32, mode rounding) Decimal {
	half := k == 19 && absU64(d.coef) >= 5e18
	step := roundStep(int64(sign64(d.coef)), d.coef != 0, half, mode)
	if n >= 0 {
		return Decimal{coef: step, scale: n}
	}
	if step == 0 {
		return Decimal{}
	}
	return fromBig(new(big.Int).Mul(big.NewInt(step), pow10Big(-n)), 0)
}

// roundStep is what to add to a quotient truncated towards zero.
func roundStep(sign int64, inexact, half bool, mode rounding) int64 {
	if inexact && (mode == roundHalfAway && half || mode == roundCeil && sign > 0 || mode == roundFloor && sign < 0) {
		return sign
	}
	return 0
}

func sign64(v int64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// MinScale is the least scale that shows every significant digit.
func (d Decimal) MinScale() int32 { return d.TrimScale().scale }

// TrimScale drops trailing fractional zeros.
func (d Decimal) TrimScale() Decimal {
	if d.form != formFinite || d.scale == 0 {
		return d
	}
	if d.IsZero() {
		return Decimal{}
	}
	if d.big == nil {
		for d.scale > 0 && d.coef%10 == 0 {
			d.coef /= 10
			d.scale--
		}
		return d
	}
	// Halving steps find the number of zeros in few divisions, which are long
	// for a number of many digits.
	b, q, r := new(big.Int).Set(d.big), new(big.Int), new(big.Int)
	scale := d.scale
	for step := int32(1) << (bits.Len32(uint32(scale)) - 1); step > 0; step /= 2 {
		if step > scale {
			continue
		}
		if q.QuoRem(b, pow10Big(step), r); r.Sign() == 0 {
			b, q = q, b
			scale -= step
		}
	}
	return fromBig(b, scale)
}

// Rescale makes the number fit numeric(precision, scale): it rounds to scale
// fractional digits (which may be negative) and raises 22003 when more than
// precision - scale digits are needed before the point.
func (d Decimal) Rescale(precision, scale int32) (Decimal, error) {
	switch d.form {
	case formNaN:
		return d, nil
	case formPosInf, formNegInf:
		return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", precision, scale)
	}
	r := d.Round(scale)
	room := precision - scale // digits before the point
	if r.IsZero() {
		return r, nil
	}
	if int32(r.digits())-r.scale <= room {
		return r, nil
	}
	limit := "1"
	if room != 0 {
		limit = "10^" + itoa(int64(room))
	}
	return d, sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow").
		WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", precision, scale, limit)
}
