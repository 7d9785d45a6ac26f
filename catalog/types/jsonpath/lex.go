package jsonpath

import (
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// tokenKind is the kind of a token; punctuation has its text.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokPunct
	tokWord // an unquoted word that may be a keyword
	tokName // a word with escapes, never a keyword
	tokString
	tokVariable
	tokNumber
)

type token struct {
	kind tokenKind
	text string // without quotes and escapes
	src  string // what an error at this token shows: where the scanner stood
}

// maxItems bounds the nodes of a path, and so the depth of its recursion.
const maxItems = 10000

// lexer splits a path into tokens.
type lexer struct {
	src string
	pos int
}

func errNear(what, src string) error {
	if src == "" {
		return sqlerr.New(sqlerr.SyntaxError, "%s at end of jsonpath input", what)
	}
	return sqlerr.New(sqlerr.SyntaxError, "%s at or near \"%s\" of jsonpath input", what, src)
}

const special = `?%$.[]{}()|&!=<>@#,*:-+/`

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWord reports whether the byte continues an unquoted word.
func isWord(c byte) bool {
	return !isBlank(c) && c != '"' && c != '\\' && strings.IndexByte(special, c) < 0
}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.src) {
		switch rest := l.src[l.pos:]; {
		case isBlank(rest[0]):
			l.pos++
			continue
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return token{}, errNear("unexpected end of comment", "")
			}
			l.pos += end + 4
			continue
		}
		break
	}
	if l.pos >= len(l.src) {
		return token{}, nil
	}
	start := l.pos
	switch c := l.src[l.pos]; {
	case c == '"':
		text, err := l.quoted()
		return token{tokString, text, `"`}, err
	case c == '$':
		l.pos++
		if l.pos < len(l.src) && l.src[l.pos] == '"' {
			text, err := l.quoted()
			return token{tokVariable, text, `"`}, err
		}
		if l.pos < len(l.src) && (isWord(l.src[l.pos]) || l.src[l.pos] == '\\') {
			text, _, err := l.word()
			return token{tokVariable, text, l.src[start:l.pos]}, err
		}
		return token{tokPunct, "$", "$"}, nil
	case isDigit(c), c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		if run := l.run(); isDigit(c) && run > l.numberEnd() {
			break
		}
		return l.number()
	}
	switch c := l.src[l.pos]; {
	case isWord(c) || c == '\\':
		text, plain, err := l.word()
		kind := tokName
		if plain {
			kind = tokWord
		}
		return token{kind, text, l.blanks()}, err
	}
	for _, op := range []string{"&&", "||", "**", "==", "!=", "<>", "<=", ">="} {
		if strings.HasPrefix(l.src[l.pos:], op) {
			l.pos += len(op)
			return token{tokPunct, op, op}, nil
		}
	}
	l.pos++
	return token{tokPunct, l.src[start:l.pos], l.src[start:l.pos]}, nil
}

// blanks are those at the position: a word ends where they do.
func (l *lexer) blanks() string {
	end := l.pos
	for end < len(l.src) && isBlank(l.src[end]) {
		end++
	}
	return l.src[l.pos:end]
}

// run is where the word that begins at the position would end, were it one.
func (l *lexer) run() int {
	end := l.pos
	for end < len(l.src) && isWord(l.src[end]) {
		end++
	}
	return end
}

// numberEnd is the end of the number at the position, with the letter behind it
// that makes it none.
func (l *lexer) numberEnd() int {
	at := *l
	if _, err := at.number(); err != nil {
		return at.pos + 1
	}
	return at.pos
}

// number reads a number. A zero at the front is a number of its own.
func (l *lexer) number() (token, error) {
	start := l.pos
	digits := func() (n int) {
		for l.pos < len(l.src) && isDigit(l.src[l.pos]) {
			l.pos++
			n++
		}
		return n
	}
	junk := func() error {
		return errNear("trailing junk after numeric literal", l.src[start:min(l.pos+1, len(l.src))])
	}
	if digits() > 1 && l.src[start] == '0' {
		l.pos = start + 1
		return token{}, junk()
	}
	if l.pos < len(l.src) && l.src[l.pos] == '.' {
		l.pos++
		digits()
	}
	if l.pos < len(l.src) && l.src[l.pos]|0x20 == 'e' {
		l.pos++
		if l.pos < len(l.src) && (l.src[l.pos] == '+' || l.src[l.pos] == '-') {
			l.pos++
		}
		if digits() == 0 {
			return token{}, junk()
		}
	}
	if l.pos < len(l.src) && (isWord(l.src[l.pos]) || l.src[l.pos] == '\\') {
		return token{}, junk()
	}
	return token{tokNumber, l.src[start:l.pos], l.src[start:l.pos]}, nil
}

// word reads an unquoted word; plain says that it has no escapes.
func (l *lexer) word() (text string, plain bool, err error) {
	var b strings.Builder
	plain = true
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c == '\\' {
			plain = false
			if err := l.escape(&b); err != nil {
				return "", false, err
			}
			continue
		}
		if !isWord(c) {
			break
		}
		b.WriteByte(c)
		l.pos++
	}
	return b.String(), plain, nil
}

func (l *lexer) quoted() (string, error) {
	var b strings.Builder
	for l.pos++; l.pos < len(l.src); {
		switch c := l.src[l.pos]; c {
		case '"':
			l.pos++
			return b.String(), nil
		case '\\':
			if err := l.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	return "", errNear("unexpected end of quoted string", "")
}

// escape reads one escape sequence; the position is at its backslash.
func (l *lexer) escape(b *strings.Builder) error {
	start := l.pos
	l.pos++
	if l.pos >= len(l.src) {
		return errNear("unexpected end after backslash", "")
	}
	c := l.src[l.pos]
	l.pos++
	switch c {
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'v':
		b.WriteByte('\v')
	case 'x':
		r, ok := l.hex(2)
		if !ok {
			return errNear("invalid hex character sequence", l.src[start:l.hexRun(l.pos, 1)])
		}
		return l.write(b, r)
	case 'u':
		r, ok := l.unicode()
		if !ok {
			if strings.HasPrefix(l.src[l.pos:], "{") {
				return errNear("invalid unicode sequence", l.src[start:l.hexRun(l.pos+1, 6)])
			}
			return errNear("invalid unicode sequence", l.src[start:l.hexRun(l.pos, 3)])
		}
		if r >= 0xDC00 && r < 0xE000 {
			return errSurrogate("low surrogate must follow a high surrogate")
		}
		if r >= 0xD800 && r < 0xDC00 {
			if !strings.HasPrefix(l.src[l.pos:], `\u`) {
				return errSurrogate("low surrogate must follow a high surrogate")
			}
			l.pos += 2
			low, ok := l.unicode()
			if ok && low >= 0xD800 && low < 0xDC00 {
				return errSurrogate("high surrogate must not follow a high surrogate")
			}
			if !ok || low < 0xDC00 || low >= 0xE000 {
				return errSurrogate("low surrogate must follow a high surrogate")
			}
			r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
		}
		return l.write(b, r)
	default:
		l.pos--
		_, n := utf8.DecodeRuneInString(l.src[l.pos:])
		b.WriteString(l.src[l.pos : l.pos+n])
		l.pos += n
	}
	return nil
}

func errSurrogate(detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type jsonpath").WithDetail("Unicode %s.", detail)
}

func (l *lexer) write(b *strings.Builder, r rune) error {
	if r == 0 {
		return sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
			WithDetail("\\u0000 cannot be converted to text.")
	}
	if !utf8.ValidRune(r) {
		return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode code point")
	}
	b.WriteRune(r)
	return nil
}

// unicode reads what follows \u: four digits, or up to six in braces.
func (l *lexer) unicode() (rune, bool) {
	if l.pos < len(l.src) && l.src[l.pos] == '{' {
		end := strings.IndexByte(l.src[l.pos:], '}')
		if end < 2 || end > 7 {
			return 0, false
		}
		l.pos++
		r, ok := l.hex(end - 1)
		l.pos++
		return r, ok
	}
	return l.hex(4)
}

// hexRun is the end of at most n hexadecimal digits.
func (l *lexer) hexRun(at, n int) int {
	for ; n > 0 && at < len(l.src) && strings.IndexByte("0123456789abcdefABCDEF", l.src[at]) >= 0; n-- {
		at++
	}
	return at
}

func (l *lexer) hex(n int) (r rune, ok bool) {
	if l.pos+n > len(l.src) {
		return 0, false
	}
	for _, c := range []byte(l.src[l.pos : l.pos+n]) {
		switch {
		case isDigit(c):
			r = r<<4 + rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 + rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	l.pos += n
	return r, true
}
