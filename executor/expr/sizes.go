package expr

import (
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func sizeFuncs(r *registry) {
	r.add(fn1(func(c *callCtx, n int64) ([]byte, error) { return c.keep(appendSize(c.buf[:0], n)), nil }), "pg_size_pretty")
	r.add(fn1(sizeDecimal), "pg_size_pretty_numeric")
	r.add(fn1(sizeBytes), "pg_size_bytes")
}

var sizeUnits = []string{"bytes", "kB", "MB", "GB", "TB", "PB"}

// appendSize shows a size in the largest unit of which there are at least ten,
// rounded half up.
func appendSize(out []byte, n int64) []byte {
	neg := n < 0
	u := uint64(n)
	if neg {
		u = -u
	}
	unit := 0
	if u >= 10240 {
		// One bit more than the unit has is kept for rounding.
		u >>= 9
		for unit = 1; unit < len(sizeUnits)-1 && u >= 20479; unit++ {
			u >>= 10
		}
		u = (u + 1) / 2
	}
	if neg {
		out = append(out, '-')
	}
	out = strconv.AppendUint(out, u, 10)
	return append(append(out, ' '), sizeUnits[unit]...)
}

func sizeDecimal(c *callCtx, d types.Decimal) ([]byte, error) {
	if !d.IsFinite() {
		return c.keepString(d.String() + " " + sizeUnits[len(sizeUnits)-1]), nil // beyond every unit
	}
	limit, half := types.NewDecimal(10240, 0), types.NewDecimal(20479, 0)
	if d.Abs().Cmp(limit) < 0 {
		return c.keepString(d.String() + " bytes"), nil
	}
	div := func(d types.Decimal, by int64) (types.Decimal, error) { return d.DivTrunc(types.NewDecimal(by, 0)) }
	v, err := div(d, 512)
	unit := 1
	for ; err == nil && unit < len(sizeUnits)-1 && v.Abs().Cmp(half) >= 0; unit++ {
		v, err = div(v, 1024)
	}
	if err != nil {
		return nil, err
	}
	one := types.NewDecimal(1, 0)
	if v.Sign() < 0 {
		one = one.Neg()
	}
	if v, err = div(v.Add(one), 2); err != nil {
		return nil, err
	}
	return c.keepString(v.String() + " " + sizeUnits[unit]), nil
}

func sizeBytes(_ *callCtx, text []byte) (int64, error) {
	s := strings.TrimSpace(string(text))
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.' || n == 0 && (s[n] == '-' || s[n] == '+') ||
		(s[n] == 'e' || s[n] == 'E') && exponentAt(s[n+1:]) > 0 ||
		n > 0 && (s[n-1] == 'e' || s[n-1] == 'E') && (s[n] == '-' || s[n] == '+')) {
		n++
	}
	bad := sqlerr.New(sqlerr.InvalidParameterValue, `invalid size: "%s"`, text)
	d, err := types.ParseDecimal(s[:n])
	switch {
	case sqlerr.CodeOf(err) == sqlerr.NumericValueOutOfRange:
		return 0, err
	case err != nil:
		return 0, bad
	}
	unit := strings.ToLower(strings.TrimSpace(s[n:]))
	factor := int64(1)
	switch unit {
	case "", "bytes":
	case "kb", "mb", "gb", "tb", "pb":
		factor = 1 << (10 * (1 + strings.Index("kmgtp", unit[:1])))
	default:
		return 0, bad.WithDetail(`Invalid size unit: "%s".`, strings.TrimSpace(s[n:])).
			WithHint(`Valid units are "bytes", "kB", "MB", "GB", "TB", and "PB".`)
	}
	if d, err = d.Mul(types.NewDecimal(factor, 0)); err != nil {
		return 0, err
	}
	return d.ToInt64()
}

// exponentAt is the length of an exponent's sign and digits at the start of s.
func exponentAt(s string) int {
	n := 0
	if n < len(s) && (s[n] == '-' || s[n] == '+') {
		n++
	}
	from := n
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == from {
		return 0
	}
	return n
}
