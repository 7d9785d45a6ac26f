package types

import (
	"cmp"
	"errors"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"kvsqld/catalog/sqlerr"
)

// Decimal is PostgreSQL's numeric: an exact decimal number with the number of
// fractional digits it is displayed with, or NaN, or an infinity. The zero
// value is 0. A Decimal is immutable and may be copied.
//
// The value is coef / 10^scale, or big / 10^scale when big is set, which it is
// only if the coefficient does not fit an int64.
type Decimal struct {
	coef  int64
	big   *big.Int
	scale int32
	form  uint8
}

const (
	formFinite uint8 = iota
	formNaN
	formPosInf
	formNegInf
)

// Limits of PostgreSQL's numeric.
const (
	MaxNumericPrecision = 1000   // of a declared numeric(p,s)
	maxNumericDigits    = 131072 // before the decimal point
	maxNumericScale     = 16383  // after it
)

// The special values.
var (
	DecimalNaN    = Decimal{form: formNaN}
	DecimalPosInf = Decimal{form: formPosInf}
	DecimalNegInf = Decimal{form: formNegInf}
)

// NewDecimal returns coef / 10^scale, displayed with scale fractional digits.
func NewDecimal(coef int64, scale int32) Decimal { return Decimal{coef: coef, scale: scale} }

// Small returns the coefficient and scale if the number is finite and the
// coefficient fits an int64.
func (d Decimal) Small() (coef int64, scale int32, ok bool) {
	return d.coef, d.scale, d.big == nil && d.form == formFinite
}

// Scale returns the number of fractional digits displayed.
func (d Decimal) Scale() int32 { return d.scale }

// Size is how many bytes the value takes in memory.
func (d Decimal) Size() int64 {
	n := int64(unsafe.Sizeof(d))
	if d.big != nil {
		n += int64(unsafe.Sizeof(*d.big)) + int64(len(d.big.Bits()))*int64(unsafe.Sizeof(big.Word(0)))
	}
	return n
}

// IsNaN reports whether d is not a number.
func (d Decimal) IsNaN() bool { return d.form == formNaN }

// IsInf reports whether d is an infinity of the sign (0: either).
func (d Decimal) IsInf(sign int) bool {
	return sign >= 0 && d.form == formPosInf || sign <= 0 && d.form == formNegInf
}

// IsFinite reports whether d is neither NaN nor an infinity.
func (d Decimal) IsFinite() bool { return d.form == formFinite }

var pow10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

var pow10Bigs = func() (t [80]*big.Int) {
	ten := big.NewInt(10)
	t[0] = big.NewInt(1)
	for i := 1; i < len(t); i++ {
		t[i] = new(big.Int).Mul(t[i-1], ten)
	}
	return t
}()

// pow10Big returns 10^n for n >= 0; the result is shared and must not change.
func pow10Big(n int32) *big.Int {
	if int(n) < len(pow10Bigs) {
		return pow10Bigs[n]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// fromBig makes a finite number of b / 10^scale; it takes b over.
func fromBig(b *big.Int, scale int32) Decimal {
	if b.IsInt64() {
		return Decimal{coef: b.Int64(), scale: scale}
	}
	return Decimal{big: b, scale: scale}
}

// bigCoef returns the coefficient; it must not be changed.
func (d Decimal) bigCoef() *big.Int {
	if d.big != nil {
		return d.big
	}
	return big.NewInt(d.coef)
}

// IsZero reports whether d is finite and 0.
func (d Decimal) IsZero() bool { return d.form == formFinite && d.big == nil && d.coef == 0 }

// Sign is -1, 0 or 1; NaN counts as positive, as it sorts above everything.
func (d Decimal) Sign() int {
	switch {
	case d.form == formNegInf:
		return -1
	case d.form != formFinite:
		return 1
	case d.big != nil:
		return d.big.Sign()
	case d.coef < 0:
		return -1
	case d.coef > 0:
		return 1
	}
	return 0
}

// rank orders the forms: -Infinity, finite, Infinity, NaN.
func (d Decimal) rank() int {
	switch d.form {
	case formNegInf:
		return 0
	case formPosInf:
		return 2
	case formNaN:
		return 3
	}
	return 1
}

// Cmp orders numbers as PostgreSQL does: NaN equals itself and is greater than
// Infinity. The display scale does not count.
func (d Decimal) Cmp(e Decimal) int {
	if d.form != formFinite || e.form != formFinite {
		return cmp.Compare(d.rank(), e.rank())
	}
	if d.big == nil && e.big == nil {
		if d.scale == e.scale {
			return cmp.Compare(d.coef, e.coef)
		}
		return cmpScaled(d, e)
	}
	if s, t := d.Sign(), e.Sign(); s != t {
		return cmp.Compare(s, t)
	}
	if c, ok := compareWide(d, e); ok {
		return c
	}
	x, y := alignBig(d, e)
	return x.Cmp(y)
}

// cmpScaled compares small numbers of different scales in 128 bits.
func cmpScaled(d, e Decimal) int {
	if s, t := d.Sign(), e.Sign(); s != t || s == 0 {
		return cmp.Compare(s, t)
	}
	if d.scale > e.scale {
		return -cmpScaled(e, d)
	}
	// The same sign, and d has fewer fractional digits.
	neg := d.coef < 0
	x, y := absU64(d.coef), absU64(e.coef)
	k := e.scale - d.scale
	r := 1
	if k < int32(len(pow10)) {
		hi, lo := bits.Mul64(x, uint64(pow10[k]))
		if hi == 0 {
			r = cmp.Compare(lo, y)
		}
	}
	if neg {
		return -r
	}
	return r
}

func absU64(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// alignBig returns both coefficients at the greater scale; neither may be changed.
func alignBig(d, e Decimal) (x, y *big.Int) {
	x, y = d.bigCoef(), e.bigCoef()
	switch {
	case d.scale < e.scale:
		x = new(big.Int).Mul(x, pow10Big(e.scale-d.scale))
	case d.scale > e.scale:
		y = new(big.Int).Mul(y, pow10Big(d.scale-e.scale))
	}
	return x, y
}

func errNumericSyntax(s string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, `invalid input syntax for type numeric: "%s"`, s)
}

func errNumericOverflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
}

// ParseDecimal reads PostgreSQL's text form of a numeric: digits with an
// optional point and exponent, NaN, or an infinity; blanks around are skipped.
func ParseDecimal(s string) (Decimal, error) {
	t := trimSpace(s)
	if d, ok := parseSmallDecimal(t); ok {
		return d, nil
	}
	body, neg := t, false
	if body != "" && (body[0] == '-' || body[0] == '+') {
		neg, body = body[0] == '-', body[1:]
	}
	switch {
	case strings.EqualFold(t, "nan"):
		return DecimalNaN, nil
	case strings.EqualFold(body, "infinity"), strings.EqualFold(body, "inf"):
		if neg {
			return DecimalNegInf, nil
		}
		return DecimalPosInf, nil
	}
	digits := make([]byte, 0, len(body))
	scale, exp, seenDot, i := 0, 0, false, 0
scan:
	for ; i < len(body); i++ {
		switch c := body[i]; {
		case c >= '0' && c <= '9':
			digits = append(digits, c)
			if seenDot {
				scale++
			}
		case c == '.' && !seenDot:
			seenDot = true
		case (c == 'e' || c == 'E') && len(digits) > 0:
			var err error
			if exp, err = strconv.Atoi(body[i+1:]); err != nil {
				if errors.Is(err, strconv.ErrRange) {
					return Decimal{}, errNumericOverflow()
				}
				return Decimal{}, errNumericSyntax(s)
			}
			break scan
		default:
			return Decimal{}, errNumericSyntax(s)
		}
	}
	if len(digits) == 0 {
		return Decimal{}, errNumericSyntax(s)
	}
	if exp > 1<<30-1 || exp < -(1<<30-1) {
		return Decimal{}, errNumericOverflow()
	}
	return finishDecimal(digits, scale, exp, neg)
}

// finishDecimal makes the number digits / 10^scale * 10^exp.
func finishDecimal(digits []byte, scale, exp int, neg bool) (Decimal, error) {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	scale -= exp
	zero := len(digits) == 1 && digits[0] == '0'
	if scale > maxNumericScale || !zero && len(digits)-scale > maxNumericDigits {
		return Decimal{}, errNumericOverflow()
	}
	b := bigOf(digits)
	if scale < 0 {
		if !zero {
			b.Mul(b, pow10Big(int32(-scale)))
		}
		scale = 0
	}
	if neg {
		b.Neg(b)
	}
	return fromBig(b, int32(scale)), nil
}

// bigOf makes a number of digits. Quotients, which have 20 of them, are made of two
// words: big.Int's reader takes four times as long.
func bigOf(digits []byte) *big.Int {
	const half = 19 // digits that fit a word
	if len(digits) > 2*half || bits.UintSize != 64 {
		b, _ := new(big.Int).SetString(string(digits), 10)
		return b
	}
	word := func(digits []byte) (n uint64) {
		for _, c := range digits {
			n = n*10 + uint64(c-'0')
		}
		return n
	}
	at := max(0, len(digits)-half)
	hi, lo := bits.Mul64(word(digits[:at]), 1e19)
	lo, carry := bits.Add64(lo, word(digits[at:]), 0)
	return new(big.Int).SetBits([]big.Word{big.Word(lo), big.Word(hi + carry)})
}

// parseSmallDecimal reads plain digits with an optional point that fit an
// int64 without looking further; everything else is not ok.
func parseSmallDecimal(t string) (Decimal, bool) {
	neg, i := false, 0
	if i < len(t) && (t[i] == '-' || t[i] == '+') {
		neg = t[i] == '-'
		i++
	}
	if len(t)-i == 0 || len(t)-i > 19 {
		return Decimal{}, false
	}
	var v int64
	var n int
	scale := int32(-1)
	for ; i < len(t); i++ {
		c := t[i]
		if c == '.' && scale < 0 {
			scale = 0
			continue
		}
		if c < '0' || c > '9' || n == 18 {
			return Decimal{}, false
		}
		v = v*10 + int64(c-'0')
		n++
		if scale >= 0 {
			scale++
		}
	}
	if n == 0 {
		return Decimal{}, false
	}
	if neg {
		v = -v
	}
	return Decimal{coef: v, scale: max(scale, 0)}, true
}

// AppendText appends the number with exactly its scale of fractional digits.
func (d Decimal) AppendText(buf []byte) []byte {
	switch d.form {
	case formNaN:
		return append(buf, "NaN"...)
	case formPosInf:
		return append(buf, "Infinity"...)
	case formNegInf:
		return append(buf, "-Infinity"...)
	}
	if d.big == nil {
		return appendScaled(buf, d.coef, d.scale)
	}
	start := len(buf)
	if hi, lo, ok := twoWords(d.big); ok && hi < digits19 {
		if d.big.Sign() < 0 {
			buf = append(buf, '-')
		}
		buf = appendTwoWords(buf, hi, lo)
	} else {
		buf = d.big.Append(buf, 10)
	}
	return insertPoint(buf, start, int(d.scale))
}

// digits19 is the power of ten with the most zeros that fits a word.
const digits19 = 1e19

// twoWords is the absolute value of b if it fits 128 bits.
func twoWords(b *big.Int) (hi, lo uint64, ok bool) {
	w := b.Bits()
	if bits.UintSize != 64 || len(w) > 2 {
		return 0, 0, false
	}
	if len(w) > 1 {
		hi = uint64(w[1])
	}
	if len(w) > 0 {
		lo = uint64(w[0])
	}
	return hi, lo, true
}

// appendTwoWords appends the digits of a number with hi < digits19.
func appendTwoWords(buf []byte, hi, lo uint64) []byte {
	q, r := bits.Div64(hi, lo, digits19)
	if q > 0 {
		buf = strconv.AppendUint(buf, q, 10)
		for low := uint64(digits19 / 10); low > r && low > 1; low /= 10 {
			buf = append(buf, '0')
		}
	}
	return strconv.AppendUint(buf, r, 10)
}

// appendScaled appends coef / 10^scale.
func appendScaled(buf []byte, coef int64, scale int32) []byte {
	start := len(buf)
	buf = strconv.AppendInt(buf, coef, 10)
	return insertPoint(buf, start, int(scale))
}

// insertPoint puts the decimal point into the signed digits at buf[start:],
// with leading zeros where there are too few digits.
func insertPoint(buf []byte, start, scale int) []byte {
	if scale == 0 {
		return buf
	}
	if buf[start] == '-' {
		start++
	}
	if pad := scale + 1 - (len(buf) - start); pad > 0 {
		n := len(buf)
		buf = slices.Grow(buf, pad+1)[:n+pad]
		copy(buf[start+pad:], buf[start:n])
		for i := start; i < start+pad; i++ {
			buf[i] = '0'
		}
	}
	buf = append(buf, 0)
	at := len(buf) - 1 - scale
	copy(buf[at+1:], buf[at:len(buf)-1])
	buf[at] = '.'
	return buf
}

// AppendDecimal appends the text of coef / 10^scale, the narrow form of a
// numeric vector.
func AppendDecimal(buf []byte, coef int64, scale int32) []byte { return appendScaled(buf, coef, scale) }

// String returns the text form.
func (d Decimal) String() string { return string(d.AppendText(nil)) }
