package expr

import (
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// numReader reads a number by a template, element by element. The template says
// where digits may stand rather than where they must: what does not fit is left
// to the next element, and a position without a digit passes one character.
type numReader struct {
	*numFormat
	rest      string
	sign      byte // ' ' until one is read
	digits    []byte
	pre, post int // digits read before and after the point
	point     bool
}

// numericToNumber is to_number.
func numericToNumber(c *callCtx, a []types.Datum) (types.Datum, error) {
	n, err := numFormatOf(c, a[1].B)
	switch {
	case err != nil:
		return null, err
	case len(a[1].B) == 0:
		return null, nil
	case n.scientific:
		return null, sqlerr.New(sqlerr.FeatureNotSupported, `"EEEE" not supported for input`)
	case n.roman:
		return null, sqlerr.New(sqlerr.FeatureNotSupported, `"RN" not supported for input`)
	}
	r := &numReader{numFormat: n, rest: string(a[0].B), sign: ' '}
	for _, node := range n.nodes {
		if r.rest == "" {
			break
		}
		if r.element(node) {
			r.rest = r.rest[min(1, len(r.rest)):]
		}
	}
	text := string(r.sign) + strings.TrimSuffix(string(r.digits), ".")
	d, err := types.ParseDecimal(text)
	if err != nil {
		return null, err
	}
	mod := (n.pre+n.multi+r.post)<<16 | r.post
	out, err := types.Cast(types.Datum{T: types.TNumeric, Dec: d}, types.T{OID: types.ONumeric, Mod: int32(mod) + 4}, nil, false)
	if err != nil || !n.v {
		return out, err
	}
	shift, err := types.NewDecimal(10, 0).Power(types.NewDecimal(-int64(n.multi), 0))
	if err != nil {
		return null, err
	}
	out.Dec, err = out.Dec.Mul(shift)
	return types.Datum{Dec: out.Dec}, err
}

// element reads what one element of the template stands for. It reports whether
// the character after that belongs to the element as well.
func (r *numReader) element(node numNode) bool {
	c := r.rest[0]
	switch node.key {
	case num9, num0, numPoint:
		r.digit(node.key)
		return true
	case numComma:
		// In fill mode separators are read as positions without a digit.
		return c == ',' && !r.fill
	case numCurrency:
		r.skipText(1)
	case numTH:
		r.skipText(2)
	case numMI:
		if c == '-' {
			r.sign = '-'
			return true
		}
		r.skipText(1)
	case numPL:
		if c == '+' {
			r.sign = '+'
			return true
		}
		r.skipText(1)
	case numSG:
		if c == '-' || c == '+' {
			r.sign = c
			return true
		}
		r.skipText(1)
	case numLiteral:
		for range utf8.RuneCountInString(node.text) {
			_, size := utf8.DecodeRuneInString(r.rest)
			r.rest = r.rest[size:]
		}
	}
	return false
}

// skipText passes up to n characters that cannot be part of a number.
func (r *numReader) skipText(n int) {
	for ; n > 0 && r.rest != "" && !strings.ContainsRune("0123456789.,+-", rune(r.rest[0])); n-- {
		_, size := utf8.DecodeRuneInString(r.rest)
		r.rest = r.rest[size:]
	}
}

// digit reads a digit or the point, with a sign before or behind it. It leaves
// the last character it reads to the caller.
func (r *numReader) digit(k numKey) {
	if r.rest[0] == ' ' {
		if r.rest = r.rest[1:]; r.rest == "" {
			return
		}
	}
	if c := r.rest[0]; r.sign == ' ' && k != numPoint && r.pre+r.post == 0 {
		switch {
		case c == '-' || c == '+':
			r.sign, r.rest = c, r.rest[1:]
		case c == '<' && r.bracket:
			r.sign, r.rest = '-', r.rest[1:]
		}
		if r.rest == "" {
			return
		}
	}
	read := false
	switch c := r.rest[0]; {
	case c >= '0' && c <= '9':
		if r.point && r.post == r.numFormat.post {
			return
		}
		r.digits = append(r.digits, c)
		r.pre, r.post = r.pre+btoi(!r.point), r.post+btoi(r.point)
		read = true
	case c == '.' && r.decimal && !r.point:
		r.digits = append(r.digits, '.')
		r.point, read = true, true
	}
	if r.sign != ' ' || r.pre+r.post == 0 {
		return
	}
	// A sign behind the last digit.
	switch {
	case r.lsign != 0 && read && len(r.rest) > 1 && (r.rest[1] == '-' || r.rest[1] == '+'):
		r.sign, r.rest = r.rest[1], r.rest[1:]
	case !read && r.lsign == 0 && (r.plus || r.minus) && (r.rest[0] == '-' || r.rest[0] == '+'):
		r.sign = r.rest[0]
	}
}
