package types

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"kvsqld/catalog/sqlerr"
)

// ToInt64 rounds half away from zero; 22003 "bigint out of range" if the
// result does not fit, 0A000 for NaN and infinities.
func (d Decimal) ToInt64() (int64, error) {
	return d.toInt(math.MinInt64, math.MaxInt64, "bigint")
}

func (d Decimal) toInt(lo, hi int64, typ string) (int64, error) {
	switch d.form {
	case formNaN:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert NaN to %s", typ)
	case formPosInf, formNegInf:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert infinity to %s", typ)
	}
	if d.scale != 0 {
		d = d.Round(0)
	}
	if d.big != nil || d.coef < lo || d.coef > hi {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", typ)
	}
	return d.coef, nil
}

var floatPow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ToFloat returns the nearest float64, an infinity when out of range.
func (d Decimal) ToFloat() float64 {
	switch d.form {
	case formNaN:
		return math.NaN()
	case formPosInf:
		return math.Inf(1)
	case formNegInf:
		return math.Inf(-1)
	}
	// Both operands are exact floats, so that the division rounds once.
	if d.big == nil && absU64(d.coef) < 1<<53 && int(d.scale) < len(floatPow10) {
		return float64(d.coef) / floatPow10[d.scale]
	}
	if d.big != nil {
		if hi, lo, ok := twoWords(d.big); ok && d.scale > 0 {
			hi, lo, scale := withoutZeros(hi, lo, int(d.scale))
			if hi == 0 && lo < 1<<53 && scale < len(floatPow10) {
				return math.Copysign(float64(lo)/floatPow10[scale], float64(d.big.Sign()))
			}
		}
	}
	var tmp [64]byte
	f, _ := strconv.ParseFloat(string(d.AppendText(tmp[:0])), 64)
	return f
}

// withoutZeros takes zeros off the end of a fraction. Quotients have many.
func withoutZeros(hi, lo uint64, scale int) (uint64, uint64, int) {
	for n := 16; n > 0; n /= 2 {
		if n > scale {
			continue
		}
		div := uint64(pow10[n])
		qh := hi / div
		if ql, r := bits.Div64(hi%div, lo, div); r == 0 {
			hi, lo, scale = qh, ql, scale-n
		}
	}
	return hi, lo, scale
}

// toFloat is the cast to real (bits 32) or double precision (64): 22003 when
// the number is out of range.
func (d Decimal) toFloat(bits int) (float64, error) {
	if bits == 64 && (d.big == nil || d.big.BitLen() <= 128) {
		return d.ToFloat(), nil
	}
	typ := "double precision"
	if bits == 32 {
		typ = "real"
	}
	return parseFloat(d.String(), typ, bits)
}

// DecimalFromFloat converts as a cast from double precision does: 15
// significant digits.
func DecimalFromFloat(f float64) Decimal { return fromFloat(f, 15, 64) }

// DecimalFromFloat4 converts as a cast from real does: 6 significant digits.
func DecimalFromFloat4(f float64) Decimal { return fromFloat(f, 6, 32) }

func fromFloat(f float64, digits, bitSize int) Decimal {
	switch {
	case math.IsNaN(f):
		return DecimalNaN
	case math.IsInf(f, 0):
		return infinity(int(math.Copysign(1, f)))
	case f == 0:
		return Decimal{}
	}
	var tmp [40]byte
	s := strconv.AppendFloat(tmp[:0], f, 'e', digits-1, bitSize)
	// d.ddde±xx: the mantissa's digits, and the exponent.
	var coef int64
	i, neg := 0, s[0] == '-'
	if neg {
		i++
	}
	for ; s[i] != 'e'; i++ {
		if s[i] != '.' {
			coef = coef*10 + int64(s[i]-'0')
		}
	}
	exp, _ := strconv.Atoi(string(s[i+1:]))
	exp -= digits - 1
	for coef%10 == 0 {
		coef /= 10
		exp++
	}
	if neg {
		coef = -coef
	}
	if exp <= 0 {
		return Decimal{coef: coef, scale: int32(-exp)}
	}
	if c, ok := mulPow10(coef, int32(exp)); ok {
		return Decimal{coef: c}
	}
	return fromBig(new(big.Int).Mul(big.NewInt(coef), pow10Big(int32(exp))), 0)
}

// Sign words of the binary form.
const (
	numericPos    = 0x0000
	numericNeg    = 0x4000
	numericNaN    = 0xC000
	numericPosInf = 0xD000
	numericNegInf = 0xF000
	infScale      = 0x20 // display scale that infinities are sent with
)

// AppendBinary appends the binary form: number of base-10000 digits, weight of
// the first, sign, display scale (16 bits each), then the digits.
func (d Decimal) AppendBinary(buf []byte) []byte {
	head := func(n, weight int, sign uint16, scale int32) {
		buf = binary.BigEndian.AppendUint16(buf, uint16(n))
		buf = binary.BigEndian.AppendUint16(buf, uint16(int16(weight)))
		buf = binary.BigEndian.AppendUint16(buf, sign)
		buf = binary.BigEndian.AppendUint16(buf, uint16(scale))
	}
	switch d.form {
	case formNaN:
		head(0, 0, numericNaN, 0)
		return buf
	case formPosInf:
		head(0, 0, numericPosInf, infScale)
		return buf
	case formNegInf:
		head(0, 0, numericNegInf, infScale)
		return buf
	}
	if d.IsZero() {
		head(0, 0, numericPos, d.scale)
		return buf
	}
	var tmp [64]byte
	digits := d.alignedDigits(tmp[:0])
	sign := uint16(numericPos)
	if d.Sign() < 0 {
		sign = numericNeg
	}
	// digits is a multiple of four decimal digits with the point on a
	// boundary: frac groups of them follow it.
	frac := (int(d.scale) + 3) / 4
	n := len(digits) / 4
	first, last := 0, n
	group := func(i int) int {
		g := digits[4*i : 4*i+4]
		return int(g[0]-'0')*1000 + int(g[1]-'0')*100 + int(g[2]-'0')*10 + int(g[3]-'0')
	}
	for group(first) == 0 {
		first++
	}
	for group(last-1) == 0 {
		last--
	}
	head(last-first, n-frac-1-first, sign, d.scale)
	for i := first; i < last; i++ {
		buf = binary.BigEndian.AppendUint16(buf, uint16(group(i)))
	}
	return buf
}

// alignedDigits appends |coefficient| in decimal with zeros before and after
// so that groups of four align with the decimal point.
func (d Decimal) alignedDigits(buf []byte) []byte {
	raw := d.Abs()
	raw.scale = 0
	var tmp [40]byte
	s := raw.AppendText(tmp[:0])
	trail := (4 - int(d.scale)%4) % 4
	lead := (4 - (len(s)+trail)%4) % 4
	for range lead {
		buf = append(buf, '0')
	}
	buf = append(buf, s...)
	for range trail {
		buf = append(buf, '0')
	}
	return buf
}

// ParseDecimalBinary reads the binary form.
func ParseDecimalBinary(b []byte) (Decimal, error) {
	bad := func(what string) error {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid %s in external \"numeric\" value", what)
	}
	if len(b) < 8 {
		return Decimal{}, errBinaryShort()
	}
	n := int(binary.BigEndian.Uint16(b))
	weight := int(int16(binary.BigEndian.Uint16(b[2:])))
	sign := binary.BigEndian.Uint16(b[4:])
	scale := int(binary.BigEndian.Uint16(b[6:]))
	switch sign {
	case numericNaN, numericPosInf, numericNegInf, numericPos, numericNeg:
	default:
		return Decimal{}, bad("sign")
	}
	if scale > maxNumericScale {
		return Decimal{}, bad("scale")
	}
	for i := 0; i < n; i++ {
		if len(b) < 10+2*i {
			return Decimal{}, errBinaryShort()
		}
		if binary.BigEndian.Uint16(b[8+2*i:]) > 9999 {
			return Decimal{}, bad("digit")
		}
	}
	if len(b) > 8+2*n {
		return Decimal{}, errBinaryFormat()
	}
	if n > (maxNumericDigits+maxNumericScale)/4+2 {
		return Decimal{}, bad("length")
	}
	switch sign {
	case numericNaN:
		return DecimalNaN, nil
	case numericPosInf:
		return DecimalPosInf, nil
	case numericNegInf:
		return DecimalNegInf, nil
	}
	// 10000^(weight-n+1) is the unit of the last digit: have = fractional
	// decimal digits the groups carry.
	have := 4 * (n - 1 - weight)
	d, ok := smallFromGroups(b[8:], n, have, scale)
	if !ok {
		d = bigFromGroups(b[8:], n, have, scale)
	}
	if sign == numericNeg {
		d = d.Neg()
	}
	return d, d.CheckDigits()
}

// smallFromGroups is the case of at most four groups, all of whose digits count.
func smallFromGroups(b []byte, n, have, scale int) (Decimal, bool) {
	if n == 0 {
		return Decimal{scale: int32(scale)}, true
	}
	if n > 4 || have < 0 || have > 16 {
		return Decimal{}, false
	}
	var v int64
	for i := range n {
		v = v*10000 + int64(binary.BigEndian.Uint16(b[2*i:]))
	}
	d := Decimal{coef: v, scale: int32(have)}.Trunc(int32(scale))
	return d, true
}

func bigFromGroups(b []byte, n, have, scale int) Decimal {
	s := make([]byte, 0, 4*n)
	for i := range n {
		g := binary.BigEndian.Uint16(b[2*i:])
		s = append(s, byte('0'+g/1000), byte('0'+g/100%10), byte('0'+g/10%10), byte('0'+g%10))
	}
	v, _ := new(big.Int).SetString(string(s), 10)
	if v.Sign() == 0 {
		return Decimal{scale: int32(scale)}
	}
	switch {
	case have < scale:
		v.Mul(v, pow10Big(int32(scale-have)))
	case have > scale:
		v.Quo(v, pow10Big(int32(have-scale)))
	}
	return fromBig(v, int32(scale))
}
