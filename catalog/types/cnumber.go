package types

import (
	"math"
	"strconv"
	"strings"
)

// CNumber reads the number that a text begins with, behind blanks, as the C library
// does, which PostgreSQL reads settings and storage parameters with, and returns the
// rest. Whole numbers may be hexadecimal (0x20) or octal (040), unless a point or an
// exponent follows; others may be hexadecimal with a binary exponent (0x1p5),
// infinite or no number at all. It is not ok without a digit or a word.
func CNumber(s string, whole bool) (f float64, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if whole {
		if f, rest, ok = cInteger(s); !ok || rest == "" || !strings.ContainsRune(".eE", rune(rest[0])) {
			return f, rest, ok
		}
	}
	end := cFloatEnd(s)
	if end == 0 {
		return 0, s, false
	}
	t := s[:end]
	if digits := strings.TrimLeft(t, "+-"); len(digits) > 1 && digits[1]|0x20 == 'x' && !strings.ContainsAny(t, "pP") {
		t += "p0"
	} else if len(t) == 4 && equalFold(t[1:], "nan") {
		t = t[1:]
	}
	f, err := strconv.ParseFloat(t, 64)
	return f, s[end:], err == nil
}

// cInteger is strtol with any base.
func cInteger(s string) (float64, string, bool) {
	i := cSign(s)
	base, digits := 10, "0123456789"
	if i < len(s) && s[i] == '0' {
		base, digits = 8, "01234567"
		if i+2 < len(s) && s[i+1]|0x20 == 'x' && hexDigit(s[i+2]) {
			base, digits = 16, "0123456789abcdefABCDEF"
			i += 2
		}
	}
	start := i
	for i < len(s) && strings.IndexByte(digits, s[i]) >= 0 {
		i++
	}
	if i == start {
		return 0, s, false
	}
	n, err := strconv.ParseUint(s[start:i], base, 63)
	f := float64(n)
	if err != nil {
		f = math.MaxInt64
	}
	if s[0] == '-' {
		f = -f
	}
	return f, s[i:], true
}

// cFloatEnd returns where the number ends that strtod would read; 0 for none.
func cFloatEnd(s string) int {
	i := cSign(s)
	for _, word := range []string{"infinity", "inf", "nan"} {
		if len(s)-i >= len(word) && equalFold(s[i:i+len(word)], word) {
			return i + len(word)
		}
	}
	is, exponent := isDigit, byte('e')
	if i+2 < len(s) && s[i] == '0' && s[i+1]|0x20 == 'x' &&
		(hexDigit(s[i+2]) || s[i+2] == '.' && i+3 < len(s) && hexDigit(s[i+3])) {
		i, is, exponent = i+2, hexDigit, 'p'
	}
	n := 0
	for ; i < len(s) && is(s[i]); i++ {
		n++
	}
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for ; j < len(s) && is(s[j]); j++ {
			n++
		}
		if n > 0 {
			i = j
		}
	}
	if n == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == exponent {
		j := i + 1 + cSign(s[i+1:])
		from := j
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		if j > from {
			i = j
		}
	}
	return i
}

// cSign returns the length of a sign.
func cSign(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}

func hexDigit(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
