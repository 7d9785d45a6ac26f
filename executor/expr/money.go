package expr

import (
	"math"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/plane"
)

func errMoneyRange() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "money out of range")
}

// moneyFuncs has the functions of amounts of money, which are hundredths.
func moneyFuncs(r *registry) {
	sum := func(f func(a, b int64) (int64, bool)) builder {
		return fn2(func(_ *callCtx, a, b int64) (int64, error) {
			v, ok := f(a, b)
			if !ok {
				return 0, errMoneyRange()
			}
			return v, nil
		})
	}
	r.add(sum(addMoney), "cash_pl")
	r.add(sum(subMoney), "cash_mi")
	r.add(sum(mulInt), "cash_mul_int2", "cash_mul_int4", "cash_mul_int8", "int2_mul_cash", "int4_mul_cash", "int8_mul_cash")
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) {
		if b == 0 {
			return 0, sqlerr.New(sqlerr.DivisionByZero, "division by zero")
		}
		if a == math.MinInt64 && b == -1 {
			return 0, errMoneyRange()
		}
		return a / b, nil
	}), "cash_div_int2", "cash_div_int4", "cash_div_int8")
	r.add(fn2(func(_ *callCtx, a, b int64) (float64, error) {
		if b == 0 {
			return 0, sqlerr.New(sqlerr.DivisionByZero, "division by zero")
		}
		return float64(a) / float64(b), nil
	}), "cash_div_cash")
	scaled := func(f func(c *plane.Calc, a, b float64) float64, a int64, b float64) (int64, error) {
		var c plane.Calc
		v := math.RoundToEven(f(&c, float64(a), b))
		if err := c.Err(); err != nil {
			return 0, err
		}
		if !(v >= math.MinInt64 && v < -math.MinInt64) {
			return 0, errMoneyRange()
		}
		return int64(v), nil
	}
	r.add(fn2(func(_ *callCtx, a int64, b float64) (int64, error) { return scaled((*plane.Calc).Mul, a, b) }), "cash_mul_flt4", "cash_mul_flt8")
	r.add(fn2(func(_ *callCtx, b float64, a int64) (int64, error) { return scaled((*plane.Calc).Mul, a, b) }), "flt4_mul_cash", "flt8_mul_cash")
	r.add(fn2(func(_ *callCtx, a int64, b float64) (int64, error) { return scaled((*plane.Calc).Div, a, b) }), "cash_div_flt4", "cash_div_flt8")
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return max(a, b), nil }), "cashlarger")
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) { return min(a, b), nil }), "cashsmaller")

	r.add(fn1(func(_ *callCtx, a int64) (int64, error) {
		v, ok := mulInt(a, types.MoneyScale)
		if !ok {
			return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "bigint out of range")
		}
		return v, nil
	}), "int4_cash", "int8_cash")
	r.add(fn1(func(_ *callCtx, a types.Decimal) (int64, error) {
		hundredths, err := a.Mul(types.NewDecimal(types.MoneyScale, 0))
		if err != nil {
			return 0, err
		}
		return numericToKind(types.TInt8, hundredths)
	}), "numeric_cash")
	r.add(fn1(func(_ *callCtx, a int64) (types.Decimal, error) { return types.NewDecimal(a, 2), nil }), "cash_numeric")
	r.add(fn1(func(_ *callCtx, a int64) ([]byte, error) { return []byte(moneyWords(a)), nil }), "cash_words")
}

// addMoney is a + b; false if it does not fit.
func addMoney(a, b int64) (int64, bool) {
	v := a + b
	return v, (a^v)&(b^v) >= 0
}

// subMoney is a - b; false if it does not fit.
func subMoney(a, b int64) (int64, bool) {
	v := a - b
	return v, (a^b)&(a^v) >= 0
}

// moneyWords is an amount in English words, with PostgreSQL's two blanks where no
// hundreds stand between the thousands and the unit.
func moneyWords(v int64) string {
	sign, u := "", uint64(v)
	if v < 0 {
		sign, u = "minus ", -u
	}
	cents, whole := u%types.MoneyScale, u/types.MoneyScale
	words := ""
	for i, name := range []string{" quadrillion ", " trillion ", " billion ", " million ", " thousand ", ""} {
		n := whole
		for range 5 - i {
			n /= 1000
		}
		if n %= 1000; n != 0 {
			words += numberWords(n) + name
		}
	}
	if words == "" {
		words = "zero"
	}
	unit, part := " dollars and ", " cents"
	if whole == 1 {
		unit = " dollar and "
	}
	if cents == 1 {
		part = " cent"
	}
	s := sign + words + unit + numberWords(cents) + part
	return strings.ToUpper(s[:1]) + s[1:]
}

var smallNumbers = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
	"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}

var tenfolds = [...]string{2: "twenty", 3: "thirty", 4: "forty", 5: "fifty", 6: "sixty", 7: "seventy", 8: "eighty", 9: "ninety"}

// numberWords is a number below 1000. Behind hundreds, "and" stands before what is
// below twenty.
func numberWords(n uint64) string {
	rest := ""
	switch tail := n % 100; {
	case tail == 0 && n > 0:
	case tail < 20:
		rest = smallNumbers[tail]
		if n > 100 {
			rest = "and " + rest
		}
	case tail%10 == 0:
		rest = tenfolds[tail/10]
	default:
		rest = tenfolds[tail/10] + " " + smallNumbers[tail%10]
	}
	if n < 100 {
		return rest
	}
	hundreds := smallNumbers[n/100] + " hundred"
	if rest == "" {
		return hundreds
	}
	return hundreds + " " + rest
}
