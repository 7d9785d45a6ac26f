package codec

import (
	"encoding/binary"
	"math"
	"strconv"

	"kvsqld/catalog/types"
)

// span returns what intervals are compared by: a month counts as 30 days, a day
// as 24 hours. rest is at least 0 and less than a day.
func span(iv types.Interval) (days, rest int64) {
	const day = 24 * 60 * 60 * 1_000_000
	days = int64(iv.Months)*30 + int64(iv.Days) + iv.Micros/day
	rest = iv.Micros % day
	if rest < 0 {
		rest += day
		days--
	}
	return days, rest
}

// decToCoef returns the coefficient at the scale, rounded as an assignment does;
// NaN is decNaN64.
func decToCoef(d types.Decimal, scale int32) int64 {
	if coef, s, ok := d.Small(); ok && s == scale {
		return coef
	}
	if d.IsFinite() && d.Scale() > scale {
		d = d.Round(scale)
	}
	c, _ := fitCoef(d, scale)
	return c
}

// coefToDec is the inverse of decToCoef.
func coefToDec(coef int64, scale int32) types.Decimal {
	if coef == decNaN64 {
		return types.DecimalNaN
	}
	return types.NewDecimal(coef, scale)
}

// decDigits returns the significant digits of |d| without leading and trailing
// zeros, and the exponent e such that |d| = 0.digits * 10^e. d is finite and not 0.
func decDigits(buf []byte, d types.Decimal) (digits []byte, e int32) {
	var scale int32
	if coef, s, ok := d.Small(); ok {
		u := uint64(coef)
		if coef < 0 {
			u = -u
		}
		digits, scale = strconv.AppendUint(buf[:0], u, 10), s
	} else {
		text := d.Abs().AppendText(nil)
		digits = buf[:0]
		for _, c := range text {
			if c != '.' {
				digits = append(digits, c)
			}
		}
		scale = d.Scale()
	}
	e = int32(len(digits)) - scale
	lead := 0
	for lead < len(digits)-1 && digits[lead] == '0' {
		lead++
	}
	digits, e = digits[lead:], e-int32(lead)
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, e
}

func appendDecimalKey(dst []byte, d types.Decimal) []byte {
	switch {
	case d.IsNaN():
		return append(dst, decNaN)
	case d.IsInf(1):
		return append(dst, decPosInf)
	case d.IsInf(-1):
		return append(dst, decNegInf)
	case d.Sign() == 0:
		return append(dst, decZero)
	}
	var buf [40]byte
	digits, e := decDigits(buf[:0], d)
	class := byte(decPos)
	if d.Sign() < 0 {
		class = decNeg
	}
	dst = append(dst, class)
	start := len(dst)
	dst = appendInt32(dst, e)
	for i := 0; i < len(digits); i += 2 {
		p := (digits[i] - '0') * 10
		if i+1 < len(digits) {
			p += digits[i+1] - '0'
		}
		dst = append(dst, p+1)
	}
	dst = append(dst, 0)
	if class == decNeg {
		invert(dst[start:])
	}
	return dst
}

func appendTimetzKey(dst, b []byte) []byte {
	micros := int64(binary.BigEndian.Uint64(b))
	zone := int32(binary.BigEndian.Uint32(b[8:]))
	return appendInt32(appendInt64(dst, micros+int64(zone)*1_000_000), zone)
}

// Address families in the binary form of inet.
const (
	inetV4 = 2
	inetV6 = 3
)

func inetLen(family byte) int {
	if family == inetV4 {
		return 4
	}
	return 16
}

func appendInetKey(dst, b []byte) []byte {
	family, bits, addr := b[0], int(b[1]), b[4:]
	dst = append(dst, family)
	for i, c := range addr {
		switch left := bits - 8*i; {
		case left >= 8:
			dst = append(dst, c)
		case left <= 0:
			dst = append(dst, 0)
		default:
			dst = append(dst, c&^(0xff>>left))
		}
	}
	dst = append(dst, byte(bits))
	return append(dst, addr...)
}

func appendBitKey(dst, b []byte) []byte {
	dst = appendEscaped(dst, b[4:])
	return append(dst, b[:4]...)
}

// appendArray appends the elements in storage order, then the shape.
func (k *keyCol) appendArray(dst []byte, d types.Datum) []byte {
	_, dims, lbs, elems, err := types.ArrayElems(d)
	if err != nil {
		// Not an array that an input function made: sorts as the empty array.
		elems, dims, lbs = nil, nil, nil
	}
	for i := range elems {
		if elems[i].Null {
			dst = append(dst, tagNullLast)
			continue
		}
		dst = k.elem.appendDatum(append(dst, tagValue), &elems[i])
	}
	dst = append(dst, tagArrayEnd, byte(len(dims)))
	for i := range dims {
		dst = appendInt32(appendInt32(dst, int32(dims[i])), int32(lbs[i]))
	}
	return dst
}

// Fitting tells how a value compares with the values that a key column can have.
type Fitting uint8

// The outcomes of Fit.
const (
	FitExact Fitting = iota // the column can have the value
	FitBelow                // it cannot; the value returned is the greatest one below
	FitNone                 // it cannot, and has no value below
)

// Fit converts d to what a key column of type t can have, so that a comparison
// with a value of a wider type of the same family keeps its exact meaning.
func Fit(t types.T, d types.Datum) (types.Datum, Fitting) {
	if d.Null {
		return types.Null(t), FitExact
	}
	f := FitExact
	switch formOf(t) {
	case formInt2:
		d.I, f = clampInt(d.I, math.MinInt16, math.MaxInt16)
	case formInt4:
		d.I, f = clampInt(d.I, math.MinInt32, math.MaxInt32)
	case formOid:
		d.I, f = clampInt(d.I, 0, math.MaxUint32)
	case formFloat4:
		if g := float32(d.F); float64(g) != d.F && d.F == d.F {
			if float64(g) > d.F {
				g = math.Nextafter32(g, float32(math.Inf(-1)))
			}
			d.F, f = float64(g), FitBelow
		}
	case formDec64:
		s, _ := types.NarrowScale(t)
		var c int64
		if c, f = fitCoef(d.Dec, s); f != FitNone {
			d.Dec = coefToDec(c, s)
		}
	}
	d.T = t
	return d, f
}

func clampInt(v, lo, hi int64) (int64, Fitting) {
	switch {
	case v > hi:
		return hi, FitBelow
	case v < lo:
		return lo, FitNone
	}
	return v, FitExact
}

// maxCoef bounds the coefficients of narrow numerics.
const maxCoef = 1_000_000_000_000_000_000

// fitCoef returns the coefficient of d at the scale, or the greatest one below.
func fitCoef(d types.Decimal, scale int32) (int64, Fitting) {
	switch {
	case d.IsNaN():
		return decNaN64, FitExact
	case d.Cmp(types.NewDecimal(maxCoef, scale)) >= 0:
		return maxCoef, FitBelow
	case d.Cmp(types.NewDecimal(-maxCoef, scale)) <= 0:
		return -maxCoef, FitNone
	}
	coef, s, ok := d.Small()
	if !ok {
		return fitBig(d, scale)
	}
	for ; s < scale; s++ {
		coef *= 10 // cannot overflow: |d| is less than 10^18 at this scale
	}
	exact := true
	for ; s > scale; s-- {
		q, r := coef/10, coef%10
		if r < 0 {
			q--
		}
		exact = exact && r == 0
		coef = q
	}
	if !exact {
		return coef, FitBelow
	}
	return coef, FitExact
}

// fitBig is fitCoef for coefficients beyond an int64 whose value is in range.
func fitBig(d types.Decimal, scale int32) (int64, Fitting) {
	r := d.Round(scale)
	coef, s, ok := r.Small()
	if !ok || s > scale {
		return -maxCoef, FitNone
	}
	for ; s < scale; s++ {
		coef *= 10
	}
	switch c := types.NewDecimal(coef, scale).Cmp(d); {
	case c == 0:
		return coef, FitExact
	case c > 0:
		coef--
	}
	return coef, FitBelow
}
