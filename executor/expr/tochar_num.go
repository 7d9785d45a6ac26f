package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// numKey is an element of a number template.
type numKey uint8

const (
	numLiteral numKey = iota
	numComma
	numPoint
	num0
	num9
	numCurrency
	numMI
	numPL
	numPR
	numRN
	numSG
	numS
	numTH
	numV
	numE
	numFM
	numBlank // B, C, SP: of no effect
)

type numNode struct {
	key  numKey
	text string
}

// numFormat is a parsed number template.
type numFormat struct {
	nodes                []numNode
	pre, post, multi     int // digits before and after the point, and after V
	lsign                byte
	lsignAt              int
	zeroStart, zeroEnd   int
	decimal, zero, fill  bool
	bracket, minus, plus bool
	roman, scientific, v bool
}

var numWords = []struct {
	word string
	key  numKey
}{
	{"EEEE", numE}, {"FM", numFM}, {"MI", numMI}, {"PL", numPL}, {"PR", numPR}, {"RN", numRN}, {"SG", numSG}, {"SP", numBlank},
	{"TH", numTH}, {",", numComma}, {".", numPoint}, {"0", num0}, {"9", num9}, {"B", numBlank}, {"C", numBlank}, {"D", numPoint}, {"G", numComma},
	{"L", numCurrency}, {"S", numS}, {"V", numV},
}

func errFormat(format string, args ...any) error {
	return sqlerr.New(sqlerr.SyntaxError, format, args...)
}

func parseNumFormat(f string, poll func() error) (*numFormat, error) {
	n := &numFormat{}
	for f != "" {
		if err := pollNow(len(n.nodes), poll); err != nil {
			return nil, err
		}
		if f[0] == '"' {
			lit, rest := quotedLiteral(f[1:])
			n.nodes, f = append(n.nodes, numNode{text: lit}), rest
			continue
		}
		if strings.HasPrefix(f, `\"`) {
			n.nodes, f = append(n.nodes, numNode{text: `"`}), f[2:]
			continue
		}
		_, size := utf8.DecodeRuneInString(f)
		node := numNode{text: f[:size]}
		for _, w := range numWords {
			if len(f) >= len(w.word) && strings.EqualFold(f[:len(w.word)], w.word) {
				node = numNode{w.key, f[:len(w.word)]}
				break
			}
		}
		f = f[len(node.text):]
		if err := n.note(node.key); err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, node)
	}
	if n.zeroStart > 0 {
		n.zeroStart--
	}
	return n, nil
}

// note counts an element.
func (n *numFormat) note(k numKey) error {
	if n.scientific && k != numE && k != numLiteral {
		return errFormat(`"EEEE" must be the last pattern used`)
	}
	switch k {
	case num9:
		switch {
		case n.bracket:
			return errFormat(`"9" must be ahead of "PR"`)
		case n.v:
			n.multi++
		case n.decimal:
			n.post++
		default:
			n.pre++
		}
	case num0:
		if n.bracket {
			return errFormat(`"0" must be ahead of "PR"`)
		}
		if !n.zero && !n.decimal {
			n.zero, n.zeroStart = true, n.pre+1
		}
		if n.decimal {
			n.post++
		} else {
			n.pre++
		}
		n.zeroEnd = n.pre + n.post
	case numPoint:
		if n.decimal {
			return errFormat("multiple decimal points")
		}
		if n.v {
			return errFormat(`cannot use "V" and decimal point together`)
		}
		n.decimal = true
	case numFM:
		n.fill = true
	case numS:
		switch {
		case n.lsign != 0:
			return errFormat(`cannot use "S" twice`)
		case n.plus || n.minus || n.bracket:
			return errFormat(`cannot use "S" and "PL"/"MI"/"SG"/"PR" together`)
		case !n.decimal:
			n.lsign, n.lsignAt = '<', n.pre
		default:
			n.lsign = '>'
		}
	case numMI, numPL, numSG:
		if n.lsign != 0 {
			return errFormat(`cannot use "S" and "%s" together`, map[numKey]string{numMI: "MI", numPL: "PL", numSG: "SG"}[k])
		}
		n.minus = n.minus || k != numPL
		n.plus = n.plus || k != numMI
	case numPR:
		if n.lsign != 0 || n.plus || n.minus {
			return errFormat(`cannot use "PR" and "S"/"PL"/"MI"/"SG" together`)
		}
		n.bracket = true
	case numRN:
		n.roman = true
	case numV:
		if n.decimal {
			return errFormat(`cannot use "V" and decimal point together`)
		}
		n.v = true
	case numE:
		if n.fill || n.lsign != 0 || n.bracket || n.minus || n.plus || n.roman || n.v {
			return sqlerr.New(sqlerr.SyntaxError, `"EEEE" is incompatible with other formats`).
				WithDetail(`"EEEE" may only be used together with digit and decimal point patterns.`)
		}
		n.scientific = true
	}
	return nil
}

// numWriter writes one number by a template, element by element.
type numWriter struct {
	*numFormat
	out       []byte
	number    string // digits and point, without sign
	at        int    // into number
	negative  bool
	signDone  bool
	lead      int // positions before the number's first digit
	curr      int // position reached
	count     int
	lastDigit int // last digit that matters in fill mode, -1: all
	inNumber  bool
	lsignPost bool
	brackets  bool
}

func (w *numWriter) digit() byte {
	if w.at < len(w.number) {
		return w.number[w.at]
	}
	return 0
}

// write formats number, whose integer part has been checked to fit.
func (n *numFormat) write(out []byte, number string, negative bool, lead int) []byte {
	w := &numWriter{numFormat: n, out: out, number: number, negative: negative, lead: lead, lastDigit: -1, brackets: n.bracket}
	w.lsignPost = n.lsign == '>'
	if n.plus || n.minus {
		w.signDone = !(n.plus && !n.minus)
	} else {
		if !negative && n.fill {
			w.brackets = false
		}
		w.signDone = !negative && n.fill && n.lsign == 0
		if n.lsign == '<' && n.pre == n.lsignAt {
			w.lsignPost = true
		}
	}
	w.count = n.post + n.pre - 1
	if point := strings.IndexByte(number, '.'); n.fill && n.decimal && point >= 0 {
		w.lastDigit = point
		for i := point + 1; i < len(number); i++ {
			if number[i] != '0' {
				w.lastDigit = i
			}
		}
		if n.zeroEnd > lead {
			w.lastDigit = max(w.lastDigit, min(len(number)-1, n.zeroEnd-lead))
		}
	}
	if !w.signDone && lead == 0 {
		w.count++
	}
	for _, node := range n.nodes {
		w.element(node)
	}
	return w.out
}

func (w *numWriter) element(node numNode) {
	switch node.key {
	case num9, num0, numPoint:
		w.position(node.key)
	case numComma:
		switch {
		case w.inNumber:
			w.out = append(w.out, ',')
		case !w.fill:
			w.out = append(w.out, ' ')
		}
	case numCurrency:
		w.out = append(w.out, ' ')
	case numMI:
		w.sign(w.negative, '-')
	case numPL:
		w.sign(!w.negative, '+')
	case numSG:
		if w.negative {
			w.out = append(w.out, '-')
		} else {
			w.out = append(w.out, '+')
		}
	case numTH:
		if !w.negative && !w.decimal && !strings.HasPrefix(w.number, "#") {
			th := byte('T')
			if node.text[0] == 't' {
				th = 't'
			}
			w.out = append(w.out, ordinal([]byte(w.number), th)...)
		}
	case numLiteral:
		w.out = append(w.out, node.text...)
	}
}

func (w *numWriter) sign(write bool, c byte) {
	switch {
	case write:
		w.out = append(w.out, c)
	case !w.fill:
		w.out = append(w.out, ' ')
	}
}

// blankZero is the zero before the point that is not shown: 9.9 gives " .1".
func (w *numWriter) blankZero() bool {
	return !w.zero && w.at == 0 && w.digit() == '0' && w.post != 0
}

func (w *numWriter) pointLast() bool { return w.lastDigit >= 0 && w.number[w.lastDigit] == '.' }

func (w *numWriter) position(k numKey) {
	if !w.signDone && (w.curr >= w.lead || w.zero && w.zeroStart == w.curr) && (!w.blankZero() || w.pointLast()) {
		w.leadingSign()
	}
	switch {
	case w.curr < w.lead && (w.zeroStart > w.curr || !w.zero):
		if !w.fill {
			w.out = append(w.out, ' ')
		}
	case w.curr < w.lead:
		w.out = append(w.out, '0')
		w.inNumber = true
	default:
		c := w.digit()
		switch {
		case c == '.':
			w.out = append(w.out, '.')
		case w.lastDigit >= 0 && w.at > w.lastDigit && k != num0:
		case w.blankZero():
			if !w.fill {
				w.out = append(w.out, ' ')
			} else if w.pointLast() {
				w.out = append(w.out, '0')
			}
		case c != 0:
			w.out = append(w.out, c)
			w.inNumber = true
		}
		if c != 0 {
			w.at++
		}
	}
	end := w.count + btoi(w.lead > 0) + btoi(w.decimal)
	if w.lastDigit >= 0 && w.lastDigit == w.at {
		end = w.curr
	}
	if w.curr+1 == end {
		switch {
		case w.signDone && w.brackets:
			w.out = append(w.out, map[bool]byte{false: ' ', true: '>'}[w.negative])
		case w.lsign != 0 && w.lsignPost:
			w.out = append(w.out, map[bool]byte{false: '+', true: '-'}[w.negative])
		}
	}
	w.curr++
}

func (w *numWriter) leadingSign() {
	switch {
	case w.lsign != 0:
		if w.lsignPost {
			return
		}
		w.out = append(w.out, map[bool]byte{false: '+', true: '-'}[w.negative])
	case w.brackets:
		w.out = append(w.out, map[bool]byte{false: ' ', true: '<'}[w.negative])
	case w.negative:
		w.out = append(w.out, '-')
	case !w.fill:
		w.out = append(w.out, ' ')
	}
	w.signDone = true
}

// apply formats the text of a rounded number.
func (n *numFormat) apply(out []byte, text string) ([]byte, error) {
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	digits := strings.IndexByte(text, '.')
	if digits < 0 {
		digits = len(text)
	}
	pre, lead := n.pre+n.multi, 0
	switch {
	case digits < pre:
		lead = pre - digits
	case digits > pre:
		text = strings.Repeat("#", pre) + "." + strings.Repeat("#", n.post)
	}
	ordinal := func(k numNode) bool { return k.key == numTH }
	if last := text[len(text)-1]; !negative && !n.decimal && text[0] != '#' && (last < '0' || last > '9') && slices.ContainsFunc(n.nodes, ordinal) {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%s\" is not a number", text)
	}
	if !n.v {
		return n.write(out, text, negative, lead), nil
	}
	// Digits after V count as digits before the point.
	whole := *n
	whole.pre = pre
	for i := range whole.nodes {
		if whole.nodes[i].key == numV {
			whole.nodes = append(append([]numNode(nil), n.nodes[:i]...), n.nodes[i+1:]...)
			break
		}
	}
	return whole.write(out, text, negative, lead), nil
}

var romanDigits = [4][9]string{
	{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"},
	{"X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"},
	{"C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"},
	{"M", "MM", "MMM"},
}

// appendRoman writes 1 … 3999, 15 characters wide unless in fill mode.
func (n *numFormat) appendRoman(out []byte, v int64) []byte {
	s := strings.Repeat("#", 15)
	if v >= 1 && v <= 3999 {
		s = ""
		text := strconv.FormatInt(v, 10)
		for i, c := range []byte(text) {
			if c != '0' {
				s += romanDigits[len(text)-1-i][c-'1']
			}
		}
	}
	for _, node := range n.nodes {
		switch node.key {
		case numRN:
			r := s
			if node.text[0] == 'r' {
				r = strings.ToLower(s)
			}
			if !n.fill {
				r = strings.Repeat(" ", max(15-len(r), 0)) + r
			}
			out = append(out, r...)
		case numLiteral:
			out = append(out, node.text...)
		}
	}
	return out
}

// scientificText is d.ddde+xx with post digits, preceded by a blank or minus.
func scientificText(d types.Decimal, post int) string {
	text := d.Abs().String()
	digits := strings.TrimLeft(strings.Replace(text, ".", "", 1), "0")
	exp := 0
	if digits != "" {
		point := strings.IndexByte(text, '.')
		if point < 0 {
			point = len(text)
		}
		first := strings.IndexAny(text, "123456789")
		exp = point - first - 1
		if first > point {
			exp = point - first
		}
	}
	// Round to post+1 significant digits by means of a decimal of that scale; the digit
	// behind them decides alone.
	digits = digits[:min(len(digits), post+2)]
	m, err := types.ParseDecimal("0" + digits + "e" + strconv.Itoa(1-len(digits)))
	if err != nil {
		m = types.Decimal{}
	}
	m = m.Round(int32(post))
	sign := " "
	if d.Sign() < 0 {
		sign = "-"
	}
	e := strconv.Itoa(exp)
	if exp >= 0 {
		e = "+" + e
	}
	if len(e) < 3 {
		e = e[:1] + "0" + e[1:]
	}
	return sign + m.String() + "e" + e
}

func (n *numFormat) formatDecimal(out []byte, d types.Decimal) ([]byte, error) {
	switch {
	case n.roman:
		if !d.IsFinite() {
			what := "NaN"
			if !d.IsNaN() {
				what = "infinity"
			}
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert %s to integer", what)
		}
		v, err := d.Round(0).ToInt64()
		if err != nil || v != int64(int32(v)) {
			return nil, sqlerr.New(sqlerr.NumericValueOutOfRange, "integer out of range")
		}
		return n.appendRoman(out, v), nil
	case n.scientific:
		if !d.IsFinite() {
			return append(append(out, ' '), strings.Repeat("#", n.pre)+"."+strings.Repeat("#", n.post+4)...), nil
		}
		return append(out, scientificText(d, n.post)...), nil
	}
	if n.v {
		for range n.multi {
			d, _ = d.Mul(types.NewDecimal(10, 0)) // few digits: within the limits
		}
	}
	return n.apply(out, d.Round(int32(n.post)).String())
}

func (n *numFormat) formatFloat(out []byte, f float64, digits int) ([]byte, error) {
	if n.roman {
		return n.appendRoman(out, int64(math.RoundToEven(f))), nil
	}
	if f-f != 0 {
		if n.scientific {
			return append(append(out, ' '), strings.Repeat("#", n.pre)+"."+strings.Repeat("#", n.post+4)...), nil
		}
		text := "NaN"
		if math.IsInf(f, 0) {
			text = strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "+")
			text = strings.Replace(text, "Inf", "Infinity", 1)
		}
		known := *n
		known.post = max(min(n.post, digits-len(strings.TrimPrefix(text, "-"))), 0)
		return known.apply(out, text)
	}
	if n.scientific {
		s := strconv.FormatFloat(f, 'e', n.post, 64)
		if f >= 0 {
			s = " " + s
		}
		return append(out, s...), nil
	}
	if n.v {
		f *= math.Pow(10, float64(n.multi))
		if digits == float4Digits {
			f = float64(float32(f))
		}
	}
	whole := len(strconv.FormatFloat(math.Abs(f), 'f', 0, 64))
	post := n.post
	if whole >= digits {
		post = 0
	} else if whole+post > digits {
		post = digits - whole
	}
	known := *n // digits behind those that the type has are not there
	known.post = post
	return known.apply(out, strconv.FormatFloat(f, 'f', post, 64))
}

// float4Digits and float8Digits are the decimal digits that the types keep.
const (
	float4Digits = 6
	float8Digits = 15
)

// numFormatOf parses the template once per call.
func numFormatOf(c *callCtx, f []byte) (*numFormat, error) {
	return compiled(c, f, parseNumFormat)
}

func numToCharFuncs(r *registry) {
	addToChar(r, func(n *numFormat, out []byte, d types.Decimal) ([]byte, error) { return n.formatDecimal(out, d) }, "numeric_to_char")
	addToChar(r, func(n *numFormat, out []byte, v int64) ([]byte, error) {
		return n.formatDecimal(out, types.NewDecimal(v, 0))
	}, "int4_to_char", "int8_to_char")
	addToChar(r, func(n *numFormat, out []byte, f float64) ([]byte, error) { return n.formatFloat(out, f, float8Digits) }, "float8_to_char")
	addToChar(r, func(n *numFormat, out []byte, f float64) ([]byte, error) { return n.formatFloat(out, f, float4Digits) }, "float4_to_char")
	r.add(fnD(numericToNumber), "numeric_to_number")
}

func addToChar[T value](r *registry, format func(n *numFormat, out []byte, v T) ([]byte, error), srcs ...string) {
	r.add(fn2(func(c *callCtx, v T, f []byte) ([]byte, error) {
		n, err := numFormatOf(c, f)
		if err != nil {
			return nil, err
		}
		out, err := format(n, c.buf[:0], v)
		if err != nil {
			return nil, err
		}
		return c.keep(out), nil
	}), srcs...)
}
