package expr

import (
	"math"
	"strconv"
	"strings"

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
	numB
	numSP
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
	{"EEEE", numE}, {"FM", numFM}, {"MI", numMI}, {"PL", numPL}, {"PR", numPR}, {"RN", numRN}, {"SG", numSG}, {"SP", numSP},
	{"TH", numTH}, {",", numComma}, {".", numPoint}, {"0", num0}, {"9", num9}, {"B", numB}, {"D", numPoint}, {"G", numComma},
	{"L", numCurrency}, {"S", numS}, {"V", numV},
}

func errFormat(format string, args ...any) error {
	return sqlerr.New(sqlerr.SyntaxError, format, args...)
}

func parseNumFormat(f string) (*numFormat, error) {
	n := &numFormat{}
	for f != "" {
		if f[0] == '"' {
			lit, rest := quotedLiteral(f[1:])
			n.nodes, f = append(n.nodes, numNode{text: lit}), rest
			continue
		}
		node := numNode{text: f[:1]}
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
			return errFormat(`"EEEE" is incompatible with other formats`)
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
func (n *numFormat) apply(out []byte, text string) []byte {
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
	if !n.v {
		return n.write(out, text, negative, lead)
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
	return whole.write(out, text, negative, lead)
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
	// Round to post+1 significant digits by means of a decimal of that scale.
	m, err := types.ParseDecimal("0" + digits + "e" + strconv.Itoa(1-len(digits)))
	if err != nil {
		m = types.Decimal{}
	}
	m = m.Round(int32(post))
	if m.Cmp(types.NewDecimal(10, 0)) >= 0 {
		m, _ = m.Div(types.NewDecimal(10, 0)) // exact: the value is 10
		m = m.Round(int32(post))
		exp++
	}
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

func (n *numFormat) formatDecimal(out []byte, d types.Decimal) []byte {
	switch {
	case n.roman:
		v, err := d.Round(0).ToInt64()
		if err != nil {
			v = 0
		}
		return n.appendRoman(out, v)
	case n.scientific:
		if !d.IsFinite() {
			return append(append(out, ' '), strings.Repeat("#", n.pre)+"."+strings.Repeat("#", n.post+4)...)
		}
		return append(out, scientificText(d, n.post)...)
	}
	if n.v {
		for range n.multi {
			d, _ = d.Mul(types.NewDecimal(10, 0)) // few digits: within the limits
		}
	}
	return n.apply(out, d.Round(int32(n.post)).String())
}

func (n *numFormat) formatFloat(out []byte, f float64, digits int) []byte {
	if n.roman {
		return n.appendRoman(out, int64(math.RoundToEven(f)))
	}
	if f-f != 0 {
		if n.scientific {
			return append(append(out, ' '), strings.Repeat("#", n.pre)+"."+strings.Repeat("#", n.post+4)...)
		}
		text := "NaN"
		if math.IsInf(f, 0) {
			text = strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "+")
			text = strings.Replace(text, "Inf", "Infinity", 1)
		}
		return n.apply(out, text)
	}
	if n.scientific {
		s := strconv.FormatFloat(f, 'e', n.post, 64)
		if f >= 0 {
			s = " " + s
		}
		return append(out, s...)
	}
	if n.v {
		f *= math.Pow(10, float64(n.multi))
	}
	whole := len(strconv.FormatFloat(math.Abs(f), 'f', 0, 64))
	post := n.post
	if whole >= digits {
		post = 0
	} else if whole+post > digits {
		post = digits - whole
	}
	return n.apply(out, strconv.FormatFloat(f, 'f', post, 64))
}

// numFormatOf parses the template once per call.
func numFormatOf(c *callCtx, f []byte) (*numFormat, error) {
	type cached struct {
		text string
		n    *numFormat
	}
	if k, ok := c.state.(cached); ok && k.text == string(f) {
		return k.n, nil
	}
	n, err := parseNumFormat(string(f))
	c.state = cached{string(f), n}
	if err != nil {
		c.state = nil
	}
	return n, err
}

func numToCharFuncs(r *registry) {
	r.add(fn2(func(c *callCtx, d types.Decimal, f []byte) ([]byte, error) {
		n, err := numFormatOf(c, f)
		if err != nil {
			return nil, err
		}
		return c.keep(n.formatDecimal(c.buf[:0], d)), nil
	}), "numeric_to_char")
	r.add(fn2(func(c *callCtx, v int64, f []byte) ([]byte, error) {
		n, err := numFormatOf(c, f)
		if err != nil {
			return nil, err
		}
		return c.keep(n.formatDecimal(c.buf[:0], types.NewDecimal(v, 0))), nil
	}), "int4_to_char", "int8_to_char")
	r.add(fn2(func(c *callCtx, v float64, f []byte) ([]byte, error) {
		n, err := numFormatOf(c, f)
		if err != nil {
			return nil, err
		}
		return c.keep(n.formatFloat(c.buf[:0], v, 15)), nil
	}), "float8_to_char")
	r.add(fn2(func(c *callCtx, v float64, f []byte) ([]byte, error) {
		n, err := numFormatOf(c, f)
		if err != nil {
			return nil, err
		}
		return c.keep(n.formatFloat(c.buf[:0], v, 6)), nil
	}), "float4_to_char")
	r.add(fnD(numericToNumber), "numeric_to_number")
}

// numericToNumber is to_number: the template tells where digits and signs may
// stand in the text.
func numericToNumber(_ *callCtx, a []types.Datum) (types.Datum, error) {
	n, err := parseNumFormat(string(a[1].B))
	if err != nil {
		return null, err
	}
	if len(a[1].B) == 0 {
		return null, nil
	}
	if n.roman {
		return null, sqlerr.Unsupported(-1, `"RN" for input`)
	}
	if n.scientific {
		return null, sqlerr.New(sqlerr.FeatureNotSupported, `"EEEE" not supported for input`)
	}
	s, digits, negative := string(a[0].B), []byte{}, false
	point, pre, post := false, 0, 0
	signs := func() {
		for s != "" && (s[0] == ' ' || s[0] == '-' || s[0] == '+' || s[0] == '<' || s[0] == '>') {
			negative = negative || s[0] == '-' || s[0] == '<'
			s = s[1:]
		}
	}
	for _, node := range n.nodes {
		switch node.key {
		case num9, num0, numPoint:
			signs()
			if s == "" {
				continue
			}
			switch {
			case s[0] >= '0' && s[0] <= '9' && node.key != numPoint:
				if !point && pre < n.pre+n.multi || point && post < n.post {
					digits = append(digits, s[0])
					pre, post = pre+btoi(!point), post+btoi(point)
				}
				s = s[1:]
			case s[0] == '.' && n.decimal && !point:
				digits, point = append(digits, '.'), true
				s = s[1:]
			}
		case numComma:
			s = strings.TrimPrefix(s, ",")
		case numS, numMI, numPL, numSG, numPR:
			signs()
		case numTH, numLiteral, numCurrency:
			for range node.text {
				if s != "" && (s[0] < '0' || s[0] > '9') {
					s = s[1:]
				}
			}
		}
	}
	if strings.HasPrefix(s, "-") {
		negative = true
	}
	text := string(digits)
	if text == "" || text == "." {
		return null, sqlerr.New(sqlerr.InvalidTextRepresentation, `invalid input syntax for type numeric: " "`)
	}
	if negative {
		text = "-" + text
	}
	d, err := types.ParseDecimal(text)
	if err == nil && n.v {
		d, err = d.Mul(types.NewDecimal(1, int32(n.multi)))
	}
	if err == nil && d.Scale() < int32(post) {
		d = d.Round(int32(post))
	}
	return types.Datum{Dec: d}, err
}
