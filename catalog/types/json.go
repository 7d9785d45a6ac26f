package types

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// jsonKind orders the kinds of JSON values as jsonb does.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonString
	jsonNumber
	jsonBool
	jsonArray
	jsonObject
)

// jsonNode is a parsed JSON value.
type jsonNode struct {
	kind  jsonKind
	truth bool
	text  []byte // of a string, unescaped
	num   Decimal
	items []jsonNode // elements, or an object's values
	keys  [][]byte   // an object's keys, beside items
}

// maxJSONDepth bounds nesting, so that hostile input cannot exhaust the stack.
const maxJSONDepth = 6000

// jsonParser reads RFC 8259 text. Without build it only checks; strings that name
// no text pass unless texts is set.
type jsonParser struct {
	src          string
	pos          int
	build, texts bool
	depth        int
}

func checkJSON(s string) error {
	p := jsonParser{src: s}
	_, err := p.document()
	return err
}

// CheckJSONTexts fails when a string of a stored json value has escapes that stand
// for no text: the functions that take values apart need them all.
func CheckJSONTexts(b []byte) error {
	if !bytes.Contains(b, []byte(`\u`)) {
		return nil
	}
	p := jsonParser{src: string(b), texts: true}
	_, err := p.document()
	return err
}

// canonicalJSONB returns jsonb's text: one blank after colons and commas, keys
// by length and then bytes with the last of equal ones, numbers as numeric.
//
// CanonicalJSONB is the way for most text.
func canonicalJSONB(s string) ([]byte, error) {
	p := jsonParser{src: s, build: true}
	n, err := p.document()
	if err != nil {
		return nil, err
	}
	return n.append(make([]byte, 0, len(s)+8)), nil
}

// fail is the error of a token that ends before end.
func (p *jsonParser) fail(end int, detail string, args ...any) error {
	e := sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(detail, args...)
	return p.at(e, end)
}

// ended is the error of a text that stops too early.
func (p *jsonParser) ended() error { return p.fail(len(p.src), "The input string ended unexpectedly.") }

// excerpt bounds what an error shows of the line.
const excerpt = 50

// at adds the line of the fault to an error, as far as the fault.
func (p *jsonParser) at(e *sqlerr.Error, end int) error {
	end = min(end, len(p.src))
	lines := strings.Count(p.src[:p.pos], "\n")
	start := strings.LastIndexByte(p.src[:p.pos], '\n') + 1
	from := start
	for end-from >= excerpt {
		_, n := utf8.DecodeRuneInString(p.src[from:])
		from += n
	}
	before, after := "...", ""
	if from-start <= 3 {
		from, before = start, ""
	}
	if rest := p.src[end:]; rest != "" && rest[0] != '\n' && rest[0] != '\r' {
		after = "..."
	}
	e.Where = "JSON data, line " + itoa(int64(lines+1)) + ": " + before + p.src[from:end] + after
	return e
}

func (p *jsonParser) blanks() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// expected complains about the token at the position.
func (p *jsonParser) expected(what string) error {
	if p.pos >= len(p.src) {
		return p.ended()
	}
	start := p.pos
	switch c := p.src[start]; {
	case strings.IndexByte("{}[],:", c) >= 0:
		return p.fail(start+1, "Expected %s, but found \"%c\".", what, c)
	case c == '"':
		if _, err := p.str(); err != nil {
			return err
		}
		return p.fail(p.pos, "Expected %s, but found \"%s\".", what, p.src[start:p.pos])
	}
	if c := p.src[start]; c == '-' || isDigit(c) {
		if _, err := p.number(); err != nil {
			return err
		}
		return p.fail(p.pos, "Expected %s, but found \"%s\".", what, p.src[start:p.pos])
	}
	end := start
	for end < len(p.src) && isJSONWord(p.src[end]) {
		end++
	}
	if end == start {
		end++
	}
	word := p.src[start:end]
	if word == "true" || word == "false" || word == "null" {
		return p.fail(end, "Expected %s, but found \"%s\".", what, word)
	}
	return p.fail(end, "Token \"%s\" is invalid.", word)
}

// isJSONWord reports whether a byte continues a word outside of strings.
func isJSONWord(c byte) bool { return isAlpha(c) || isDigit(c) || c == '_' || c >= 0x80 }

func (p *jsonParser) document() (jsonNode, error) {
	n, err := p.value("JSON value")
	if err != nil {
		return n, err
	}
	if p.blanks(); p.pos < len(p.src) {
		return n, p.expected("end of input")
	}
	return n, nil
}

func (p *jsonParser) value(what string) (n jsonNode, err error) {
	p.blanks()
	if p.pos >= len(p.src) {
		return n, p.ended()
	}
	switch c := p.src[p.pos]; {
	case c == '{' || c == '[':
		if p.depth++; p.depth > maxJSONDepth {
			return n, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
				WithHint("JSON values may be nested %d deep.", maxJSONDepth)
		}
		if c == '{' {
			n, err = p.object()
		} else {
			n, err = p.array()
		}
		p.depth--
		return n, err
	case c == '"':
		n.kind = jsonString
		n.text, err = p.str()
		return n, err
	case c == '-' || isDigit(c):
		return p.number()
	}
	for _, w := range [...]string{"true", "false", "null"} {
		if rest, ok := strings.CutPrefix(p.src[p.pos:], w); ok && (rest == "" || !isJSONWord(rest[0])) {
			p.pos += len(w)
			if w == "null" {
				return n, nil
			}
			return jsonNode{kind: jsonBool, truth: w == "true"}, nil
		}
	}
	return n, p.expected(what)
}

func (p *jsonParser) peek() byte {
	p.blanks()
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *jsonParser) array() (jsonNode, error) {
	n := jsonNode{kind: jsonArray}
	p.pos++
	if p.peek() == ']' {
		p.pos++
		return n, nil
	}
	for {
		v, err := p.value("JSON value")
		if err != nil {
			return n, err
		}
		if p.build {
			n.items = append(n.items, v)
		}
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return n, nil
		default:
			return n, p.expected(`"," or "]"`)
		}
	}
}

func (p *jsonParser) object() (jsonNode, error) {
	n := jsonNode{kind: jsonObject}
	p.pos++
	if p.peek() == '}' {
		p.pos++
		return n, nil
	}
	what := `string or "}"`
	for {
		if p.peek() != '"' {
			return n, p.expected(what)
		}
		what = "string"
		key, err := p.str()
		if err != nil {
			return n, err
		}
		if p.peek() != ':' {
			return n, p.expected(`":"`)
		}
		p.pos++
		v, err := p.value("JSON value")
		if err != nil {
			return n, err
		}
		if p.build {
			n.keys = append(n.keys, key)
			n.items = append(n.items, v)
		}
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			n.sortKeys()
			return n, nil
		default:
			return n, p.expected(`"," or "}"`)
		}
	}
}

// sortKeys brings an object's members into jsonb's order and keeps the last of
// equal keys.
func (n *jsonNode) sortKeys() {
	order := make([]int, len(n.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if c := cmp.Compare(len(n.keys[a]), len(n.keys[b])); c != 0 {
			return c
		}
		return bytes.Compare(n.keys[a], n.keys[b])
	})
	keys, items := make([][]byte, 0, len(order)), make([]jsonNode, 0, len(order))
	for i, at := range order {
		if i+1 < len(order) && bytes.Equal(n.keys[at], n.keys[order[i+1]]) {
			continue
		}
		keys, items = append(keys, n.keys[at]), append(items, n.items[at])
	}
	n.keys, n.items = keys, items
}

func (p *jsonParser) number() (jsonNode, error) {
	start := p.pos
	i := p.pos
	if p.src[i] == '-' {
		i++
	}
	ok := i < len(p.src) && isDigit(p.src[i])
	if ok && p.src[i] == '0' {
		i++
	} else {
		i = skipDigits(p.src, i)
	}
	if i < len(p.src) && p.src[i] == '.' {
		j := skipDigits(p.src, i+1)
		ok = ok && j > i+1
		i = j
	}
	if ok && i < len(p.src) && p.src[i]|0x20 == 'e' {
		i++
		if i < len(p.src) && (p.src[i] == '+' || p.src[i] == '-') {
			i++
		}
		j := skipDigits(p.src, i)
		ok = j > i
		i = j
	}
	end := i
	for end < len(p.src) && isJSONWord(p.src[end]) {
		end++
	}
	if !ok || end != i {
		return jsonNode{}, p.fail(max(end, start+1), "Token \"%s\" is invalid.", p.src[start:max(end, start+1)])
	}
	p.pos = i
	n := jsonNode{kind: jsonNumber}
	if !p.build {
		return n, nil
	}
	var err error
	n.num, err = ParseDecimal(p.src[start:i])
	return n, err
}

// str reads a string at the position; the text is only made when building.
func (p *jsonParser) str() ([]byte, error) {
	start := p.pos
	p.pos++
	var out []byte
	high := rune(0) // a high surrogate waiting for its partner
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if high != 0 && c != '\\' {
			_, n := utf8.DecodeRuneInString(p.src[p.pos:])
			return nil, p.fail(p.pos+n, "Unicode low surrogate must follow a high surrogate.")
		}
		switch {
		case c == '"':
			p.pos++
			if p.build && out == nil {
				out = []byte{}
			}
			return out, nil
		case c < 0x20:
			return nil, p.fail(p.pos, "Character with value 0x%02x must be escaped.", c)
		case c == '\\':
			r, size, err := p.escape(start)
			if err != nil {
				return nil, err
			}
			p.pos += size
			if !p.build && !p.texts { // plain JSON keeps its escapes, whatever they name
				continue
			}
			low, surrogate := r >= 0xdc00, utf16.IsSurrogate(r)
			switch {
			case high != 0 && surrogate && !low:
				return nil, p.fail(p.pos, "Unicode high surrogate must not follow a high surrogate.")
			case (high != 0) != (surrogate && low):
				return nil, p.fail(p.pos, "Unicode low surrogate must follow a high surrogate.")
			case high != 0:
				r = utf16.DecodeRune(high, r)
				high = 0
			case surrogate:
				high = r
				continue
			}
			out = utf8.AppendRune(out, r)
		default:
			if p.build {
				out = append(out, c)
			}
			p.pos++
		}
	}
	return nil, p.unclosed(start)
}

// unclosed is the error of a string without its end.
func (p *jsonParser) unclosed(start int) error {
	return p.fail(len(p.src), "Token \"%s\" is invalid.", p.src[start:])
}

// escape reads an escape sequence at the position, of a string that begins at start.
func (p *jsonParser) escape(start int) (r rune, size int, err error) {
	if p.pos+1 >= len(p.src) {
		return 0, 0, p.unclosed(start)
	}
	switch c := p.src[p.pos+1]; c {
	case '"', '\\', '/':
		return rune(c), 2, nil
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
		for i := p.pos + 2; i < p.pos+6; i++ {
			if i == len(p.src) {
				return 0, 0, p.unclosed(start)
			}
			d, ok := HexDigit(p.src[i])
			if !ok {
				_, n := utf8.DecodeRuneInString(p.src[i:])
				return 0, 0, p.fail(i+n, "\"\\u\" must be followed by four hexadecimal digits.")
			}
			r = r<<4 | rune(d)
		}
		if r == 0 && (p.build || p.texts) {
			return 0, 0, p.at(sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
				WithDetail(`\u0000 cannot be converted to text.`), p.pos+6)
		}
		return r, 6, nil
	}
	_, n := utf8.DecodeRuneInString(p.src[p.pos+1:])
	return 0, 0, p.fail(p.pos+1+n, "Escape sequence \"%s\" is invalid.", p.src[p.pos:p.pos+1+n])
}

func (n *jsonNode) append(buf []byte) []byte {
	switch n.kind {
	case jsonNull:
		return append(buf, "null"...)
	case jsonBool:
		if n.truth {
			return append(buf, "true"...)
		}
		return append(buf, "false"...)
	case jsonNumber:
		return n.num.AppendText(buf)
	case jsonString:
		return AppendJSONString(buf, n.text)
	case jsonArray:
		buf = append(buf, '[')
		for i := range n.items {
			if i > 0 {
				buf = append(buf, ", "...)
			}
			buf = n.items[i].append(buf)
		}
		return append(buf, ']')
	}
	buf = append(buf, '{')
	for i := range n.items {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = append(AppendJSONString(buf, n.keys[i]), ": "...)
		buf = n.items[i].append(buf)
	}
	return append(buf, '}')
}

// AppendJSONString appends text as a JSON string with PostgreSQL's escapes.
func AppendJSONString(buf, text []byte) []byte {
	buf = append(buf, '"')
	from := 0 // of what is copied as it is
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		buf = append(buf, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\b':
			buf = append(buf, `\b`...)
		case '\f':
			buf = append(buf, `\f`...)
		case '\n':
			buf = append(buf, `\n`...)
		case '\r':
			buf = append(buf, `\r`...)
		case '\t':
			buf = append(buf, `\t`...)
		default:
			buf = hex.AppendEncode(append(buf, `\u00`...), []byte{c})
		}
	}
	return append(append(buf, text[from:]...), '"')
}

func parseStoredJSONB(b []byte) jsonNode {
	p := jsonParser{src: string(b), build: true}
	n, _ := p.document()
	return n
}
