package types

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
)

func errIntRange(s, typ string) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, `value "%s" is out of range for type %s`, s, typ)
}

// parseInt reads a decimal integer with optional sign and blanks around it.
func parseInt(s, typ string, lo, hi int64) (int64, error) {
	t := trimSpace(s)
	i, neg := 0, false
	if t != "" && (t[0] == '-' || t[0] == '+') {
		neg = t[0] == '-'
		i = 1
	}
	if i == len(t) {
		return 0, errSyntax(typ, s)
	}
	var v uint64
	over := false
	for ; i < len(t); i++ {
		c := t[i] - '0'
		if c > 9 {
			if over || v > uint64(-lo) { // the digits before were too many already
				return 0, errIntRange(s, typ)
			}
			return 0, errSyntax(typ, s)
		}
		if v > (math.MaxUint64-9)/10 {
			over = true
		}
		v = v*10 + uint64(c)
	}
	switch {
	case over || v > 1<<63 || v == 1<<63 && !neg:
		return 0, errIntRange(s, typ)
	case neg:
		v = -v
	}
	if n := int64(v); n >= lo && n <= hi {
		return n, nil
	}
	return 0, errIntRange(s, typ)
}

// parseOid reads an object identifier: 0 … 2^32-1, where negative numbers wrap
// around as PostgreSQL's oidin lets them.
func parseOid(s, typ string) (int64, error) {
	t := trimSpace(s)
	v, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
			// C's conversion takes the two's complement of a negative number, too.
			if u, err := strconv.ParseUint(t, 10, 64); err == nil && int64(u) >= math.MinInt32 {
				return int64(uint32(u)), nil
			}
			return 0, errIntRange(s, typ)
		}
		return 0, errSyntax(typ, s)
	}
	if v < math.MinInt32 || v > math.MaxUint32 {
		return 0, errIntRange(s, typ)
	}
	return int64(uint32(v)), nil
}

// parseXid reads a transaction number as C's strtoul does: as many digits of a
// decimal, octal or hexadecimal number as there are, and none is 0.
func parseXid(s string) uint64 {
	t := trimSpace(s)
	neg := false
	if t != "" && (t[0] == '-' || t[0] == '+') {
		neg, t = t[0] == '-', t[1:]
	}
	base := uint64(10)
	if len(t) > 1 && t[0] == '0' {
		base = 8
		if len(t) > 2 && t[1]|0x20 == 'x' {
			if _, ok := HexDigit(t[2]); ok {
				base, t = 16, t[2:]
			}
		}
	}
	var v uint64
	for i := 0; i < len(t); i++ {
		c, ok := HexDigit(t[i])
		if !ok || uint64(c) >= base {
			break
		}
		hi, lo := bits.Mul64(v, base)
		sum, carry := bits.Add64(lo, uint64(c), 0)
		if v = sum; hi+carry != 0 {
			return math.MaxUint64
		}
	}
	if neg {
		return -v
	}
	return v
}

// hexFloat reads a hexadecimal number with an optional binary exponent.
func hexFloat(t string, size int) (f float64, ok bool) {
	digits := strings.TrimLeft(t, "+-")
	if len(digits) < 3 || len(t)-len(digits) > 1 || digits[0] != '0' || digits[1]|0x20 != 'x' || strings.Contains(t, "_") {
		return 0, false
	}
	if !strings.ContainsAny(t, "pP") {
		t += "p0"
	}
	f, err := strconv.ParseFloat(t, size)
	return f, err == nil
}

// parseFloat reads real (size 32) or double precision (size 64).
func parseFloat(s, typ string, size int) (float64, error) {
	t := trimSpace(s)
	if !floatSyntax(t) {
		if f, ok := hexFloat(t, size); ok {
			return f, nil
		}
		return 0, errSyntax(typ, s)
	}
	if n := len(t); n == 4 && equalFold(t[1:], "nan") { // a signed NaN is one, too
		t = t[1:]
	}
	f, err := strconv.ParseFloat(t, size)
	if err == nil && f == 0 && !zeroDigits(t) {
		err = strconv.ErrRange
	}
	if err != nil {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, `"%s" is out of range for type %s`, t, typ)
	}
	return f, nil
}

// floatSyntax accepts what strtod does, without the underscores and hexadecimal
// exponents that are particular to Go.
func floatSyntax(t string) bool {
	i := 0
	if i < len(t) && (t[i] == '-' || t[i] == '+') {
		i++
	}
	switch len(t) - i {
	case 3, 8:
		if equalFold(t[i:], "nan") || equalFold(t[i:], "inf") || equalFold(t[i:], "infinity") {
			return true
		}
	}
	n := 0
	for ; i < len(t) && isDigit(t[i]); i++ {
		n++
	}
	if i < len(t) && t[i] == '.' {
		for i++; i < len(t) && isDigit(t[i]); i++ {
			n++
		}
	}
	if n == 0 {
		return false
	}
	if i == len(t) {
		return true
	}
	if t[i]|0x20 != 'e' {
		return false
	}
	i++
	if i < len(t) && (t[i] == '-' || t[i] == '+') {
		i++
	}
	start := i
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	return i > start && i == len(t)
}

// zeroDigits reports whether the mantissa has only zeros.
func zeroDigits(t string) bool {
	for i := 0; i < len(t) && t[i]|0x20 != 'e'; i++ {
		if t[i] >= '1' && t[i] <= '9' {
			return false
		}
	}
	return true
}

// appendFloat appends a float in PostgreSQL's form. bits is 32 or 64; extra is
// extra_float_digits: above 0 the shortest text that reads back, otherwise 15
// (6 for real) plus extra significant digits.
func appendFloat(buf []byte, f float64, bits, extra int) []byte {
	switch {
	case math.IsNaN(f):
		return append(buf, "NaN"...)
	case math.IsInf(f, 1):
		return append(buf, "Infinity"...)
	case math.IsInf(f, -1):
		return append(buf, "-Infinity"...)
	}
	digits := 15
	if bits == 32 {
		digits = 6
	}
	if extra <= 0 {
		return appendG(buf, f, bits, max(digits+extra, 1))
	}
	// Integers below 2^53 are the bulk of what people store.
	if i := int64(f); bits == 64 && float64(i) == f && i > -1e15 && i < 1e15 && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(buf, i, 10)
	}
	var tmp [32]byte
	e := strconv.AppendFloat(tmp[:0], f, 'e', -1, bits)
	if math.Abs(f) >= 1<<24 {
		e = avoidTie(e, f, bits)
	}
	return appendFromE(buf, e, digits)
}

// avoidTie lengthens a shortest text that lies exactly half way between two
// neighbouring floats. Reading it back relies on ties going to even, and
// PostgreSQL prints a digit more instead. Only integers beyond the mantissa's
// range can be such.
func avoidTie(e []byte, f float64, bits int) []byte {
	if bits == 64 && math.Abs(f) < 1<<53 || math.Abs(f) > 1e41 || !betweenFloats(e, f, bits) {
		return e
	}
	for prec := 1; ; prec++ {
		next := strconv.AppendFloat(nil, f, 'e', prec, bits)
		if len(next) < len(e) || betweenFloats(next, f, bits) {
			continue
		}
		if g, err := strconv.ParseFloat(string(next), bits); err == nil && g == f {
			return next
		}
	}
}

// betweenFloats reports whether a text lies half way between f and a neighbour.
func betweenFloats(e []byte, f float64, bits int) bool {
	up, down := math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1))
	if bits == 32 {
		up = float64(math.Nextafter32(float32(f), float32(math.Inf(1))))
		down = float64(math.Nextafter32(float32(f), float32(math.Inf(-1))))
	}
	text, _, err := big.ParseFloat(string(e), 10, 256, big.ToNearestEven)
	if err != nil {
		return false
	}
	x := new(big.Float).SetPrec(256)
	for _, next := range [...]float64{up, down} {
		x.Add(big.NewFloat(f), big.NewFloat(next))
		if x.Quo(x, big.NewFloat(2)).Cmp(text) == 0 {
			return true
		}
	}
	return false
}

// appendG is C's %.*g.
func appendG(buf []byte, f float64, bits, digits int) []byte {
	var tmp [40]byte
	e := strconv.AppendFloat(tmp[:0], f, 'e', digits-1, bits)
	return appendFromE(buf, e, digits)
}

// appendFromE turns d.ddde±xx into plain notation when the exponent is between
// -4 and limit-1, and into two-digit exponent notation otherwise.
func appendFromE(buf, e []byte, limit int) []byte {
	at := len(e) - 1
	for e[at] != 'e' {
		at--
	}
	mant := e[:at]
	exp := 0
	for _, c := range e[at+2:] {
		exp = exp*10 + int(c-'0')
	}
	if e[at+1] == '-' {
		exp = -exp
	}
	if mant[0] == '-' {
		buf = append(buf, '-')
		mant = mant[1:]
	}
	var tmp [32]byte
	digits := append(tmp[:0], mant[0])
	if len(mant) > 2 {
		digits = append(digits, mant[2:]...)
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	switch {
	case exp < -4 || exp >= limit:
		buf = append(buf, digits[0])
		if len(digits) > 1 {
			buf = append(append(buf, '.'), digits[1:]...)
		}
		sign := byte('+')
		if exp < 0 {
			sign, exp = '-', -exp
		}
		buf = append(buf, 'e', sign)
		if exp < 10 {
			buf = append(buf, '0')
		}
		return strconv.AppendInt(buf, int64(exp), 10)
	case exp < 0:
		buf = append(buf, "0."...)
		for i := -1; i > exp; i-- {
			buf = append(buf, '0')
		}
		return append(buf, digits...)
	}
	for i := 0; i <= exp; i++ {
		if i < len(digits) {
			buf = append(buf, digits[i])
		} else {
			buf = append(buf, '0')
		}
	}
	if len(digits) > exp+1 {
		buf = append(append(buf, '.'), digits[exp+1:]...)
	}
	return buf
}
