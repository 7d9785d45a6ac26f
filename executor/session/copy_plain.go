package session

import "kvsqld/catalog/types"

// The functions of this file read the usual text forms of common types, those
// that COPY TO writes. What they do not know they leave alone: ok is false, which
// says nothing about whether the text is a value.

// plainInt reads an integer of at most 18 digits.
func plainInt(f []byte) (n int64, ok bool) {
	i := 0
	if len(f) > 0 && f[0] == '-' {
		i = 1
	}
	if len(f) == i || len(f) > 18+i {
		return 0, false
	}
	for _, c := range f[i:] {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	if i == 1 {
		n = -n
	}
	return n, true
}

// plainFloat reports whether a text is a decimal number without an exponent.
func plainFloat(f []byte) bool {
	if len(f) > 0 && f[0] == '-' {
		f = f[1:]
	}
	digits, points := 0, 0
	for _, c := range f {
		switch {
		case c-'0' <= 9:
			digits++
		case c == '.':
			points++
		default:
			return false
		}
	}
	// A longer text could be a tiny number that PostgreSQL calls out of range.
	return digits > 0 && points <= 1 && digits <= 30
}

// plainDecimal reads a decimal number of at most 18 digits.
func plainDecimal(f []byte) (coef int64, scale int32, ok bool) {
	i := 0
	if len(f) > 0 && f[0] == '-' {
		i = 1
	}
	digits, point := 0, -1
	for ; i < len(f); i++ {
		c := f[i]
		switch d := c - '0'; {
		case d <= 9:
			coef = coef*10 + int64(d)
			digits++
		case c == '.' && point < 0:
			point = i
		default:
			return 0, 0, false
		}
		if digits > 18 {
			return 0, 0, false
		}
	}
	if digits == 0 {
		return 0, 0, false
	}
	if point >= 0 {
		scale = int32(len(f) - point - 1)
	}
	if f[0] == '-' {
		coef = -coef
	}
	return coef, scale, true
}

// twoDigits reads a number of two digits, or something above 99.
func twoDigits(f []byte) int {
	a, b := f[0]-'0', f[1]-'0'
	if a > 9 || b > 9 {
		return 1000
	}
	return int(a)*10 + int(b)
}

var monthDays = [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// plainDate reads 2024-02-29 as days since 2000-01-01.
func plainDate(f []byte) (days int64, ok bool) {
	if len(f) != 10 || f[4] != '-' || f[7] != '-' {
		return 0, false
	}
	hi, lo := twoDigits(f), twoDigits(f[2:])
	m, d := twoDigits(f[5:]), twoDigits(f[8:])
	y := hi*100 + lo
	if hi > 99 || lo > 99 || y == 0 || m < 1 || m > 12 || d < 1 || d > monthDays[m-1] {
		return 0, false
	}
	if m == 2 && d == 29 && (y%4 != 0 || y%100 == 0 && y%400 != 0) {
		return 0, false
	}
	// Days of the years that begin in March, so that a leap day is the last one.
	if m <= 2 {
		y--
		m += 12
	}
	n := 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1
	return int64(n) - daysTo2000, true
}

// daysTo2000 is the number of days from 0000-03-01 to 2000-01-01.
const daysTo2000 = 730425

// plainTimestamp reads 2024-02-29 23:59:58[.123456], with a blank or a T between,
// as microseconds since 2000-01-01, and returns how many bytes it has read.
func plainTimestamp(f []byte) (ts int64, n int, ok bool) {
	if len(f) < 19 || f[10] != ' ' && f[10] != 'T' || f[13] != ':' || f[16] != ':' {
		return 0, 0, false
	}
	days, ok := plainDate(f[:10])
	h, m, s := twoDigits(f[11:]), twoDigits(f[14:]), twoDigits(f[17:])
	if !ok || h > 23 || m > 59 || s > 59 {
		return 0, 0, false
	}
	ts = (((days*24+int64(h))*60+int64(m))*60 + int64(s)) * 1_000_000
	n = 19
	if n < len(f) && f[n] == '.' {
		unit := int64(100_000)
		for n++; n < len(f) && f[n]-'0' <= 9; n++ {
			if unit == 0 {
				return 0, 0, false // more digits are rounded
			}
			ts += int64(f[n]-'0') * unit
			unit /= 10
		}
		if n == 20 {
			return 0, 0, false
		}
	}
	return ts, n, true
}

// plainUUID reports whether f is a UUID with its four dashes.
func plainUUID(f []byte) bool {
	if len(f) != 36 {
		return false
	}
	for i, c := range f {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if _, ok := types.HexDigit(c); !ok {
			return false
		}
	}
	return true
}

// readUUID reads the 16 bytes of a plain UUID.
func readUUID(f []byte) (u [16]byte) {
	n := 0
	for i := 0; i < 36; i += 2 {
		if f[i] == '-' {
			i++
		}
		hi, _ := types.HexDigit(f[i])
		lo, _ := types.HexDigit(f[i+1])
		u[n] = hi<<4 | lo
		n++
	}
	return u
}

// textForm says what is known of the text form of a type's values.
type textForm uint8

const (
	formOther textForm = iota
	formBytes          // the vector's bytes
	formPlain          // letters, digits and some of + - . : and blank
)

// textFormOf classifies a type by its OID; user-defined ones are other.
func textFormOf(t types.T, o *types.FmtOpts) textForm {
	switch t.OID {
	case types.OText, types.OVarchar, types.OJSON, types.OName:
		return formBytes
	case types.OBool, types.OInt2, types.OInt4, types.OInt8, types.OOid, types.OFloat4, types.OFloat8, types.ONumeric, types.OUUID:
		return formPlain
	case types.ODate, types.OTime, types.OTimestamp, types.OTimestamptz:
		if o.DateStyle == types.DateISO {
			return formPlain
		}
	}
	return formOther
}
