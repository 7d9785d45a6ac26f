package types

import (
	"math/bits"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// Values of money are hundredths, written as the locale C of lc_monetary has it, whose
// conventions PostgreSQL completes: $ before the number, a point before the cents,
// commas between groups of three digits, and a minus before the sign of the currency.

// MoneyScale is how many hundredths are 1.
const MoneyScale = 100

// parseMoney reads an amount: a sign, parentheses for a negative one, and $ may stand
// before the digits and behind them; commas anywhere between them. A third digit
// behind the point rounds.
func parseMoney(s string) (int64, error) {
	outOfRange := func() error {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, `value "%s" is out of range for type money`, s)
	}
	rest := s
	skip := func(c string) bool {
		var ok bool
		rest, ok = strings.CutPrefix(rest, c)
		return ok
	}
	space := func() { rest = strings.TrimLeft(rest, " \t\n\v\f\r") }

	space()
	skip("$")
	space()
	negative := skip("-") || skip("(")
	if !negative {
		skip("+")
	}
	space()
	skip("$")
	space()

	// The value is kept negative, of which there is one more.
	value, cents, point := int64(0), 0, false
	step := func(factor, digit int64) bool {
		hi, lo := bits.Mul64(uint64(-value), uint64(factor))
		if hi != 0 || lo > 1<<63 || lo+uint64(digit) > 1<<63 {
			return false
		}
		value = -int64(lo + uint64(digit))
		return true
	}
	for rest != "" {
		c := rest[0]
		if isDigit(c) && (!point || cents < 2) {
			if !step(10, int64(c-'0')) {
				return 0, outOfRange()
			}
			if point {
				cents++
			}
		} else if c == '.' && !point {
			point = true
		} else if c != ',' {
			break
		}
		rest = rest[1:]
	}
	if rest != "" && isDigit(rest[0]) && rest[0] >= '5' && !step(1, 1) {
		return 0, outOfRange()
	}
	for ; cents < 2; cents++ {
		if !step(10, 0) {
			return 0, outOfRange()
		}
	}
	rest = strings.TrimLeft(rest, "0123456789")
	for rest != "" {
		switch c := rest[0]; {
		case isSpace(c), c == ')', c == '+', c == '$':
		case c == '-':
			negative = true
		default:
			return 0, errSyntax("money", s)
		}
		rest = rest[1:]
	}
	if negative {
		return value, nil
	}
	if value == -value && value != 0 {
		return 0, outOfRange()
	}
	return -value, nil
}

// appendMoney appends an amount: -$1,234.56.
func appendMoney(buf []byte, v int64) []byte {
	u := uint64(v)
	if v < 0 {
		buf, u = append(buf, '-'), -u
	}
	buf = append(buf, '$')
	whole := strconv.FormatUint(u/MoneyScale, 10)
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, whole[i])
	}
	return append(buf, '.', byte('0'+u/10%10), byte('0'+u%10))
}
