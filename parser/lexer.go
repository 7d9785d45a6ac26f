package parser

import (
	"strings"

	"kvsqld/catalog/sqlerr"
)

// Character classes of the lexer.
const (
	clSpace      = 1 << iota // white space
	clIdentStart             // letter, underscore, byte above 127
	clIdent                  // clIdentStart, digit, dollar
	clDigit
	clOp // may be part of an operator
)

var charClass = func() (t [256]uint8) {
	for _, c := range " \t\n\r\f\v" {
		t[c] |= clSpace
	}
	for c := 0; c < 256; c++ {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 128:
			t[c] |= clIdentStart | clIdent
		case c >= '0' && c <= '9':
			t[c] |= clDigit | clIdent
		}
	}
	t['$'] |= clIdent
	for _, c := range "~!@#^&|`?+-*/%<>=" {
		t[c] |= clOp
	}
	return t
}()

// lexer cuts a text into PostgreSQL's tokens, one at a time. A text must be
// shorter than 2 GB.
type lexer struct {
	src     string
	pos     int
	strings *Strings
}

// Lex returns the tokens of sql without the end marker. Offsets are bytes. It
// fails on text that is no UTF-8 (22021) and on unterminated literals (42601).
func Lex(sql string) ([]Token, error) {
	if err := checkEncoding(sql); err != nil {
		return nil, err
	}
	lx := lexer{src: sql}
	toks := make([]Token, 0, len(sql)/6+4)
	for {
		t, err := lx.next()
		if err != nil {
			return nil, err
		}
		if t.Kind == KindEOF {
			return toks, nil
		}
		toks = append(toks, t)
	}
}

// errorf is a 42601 that quotes the text from off to the end, as the
// lexer's complaints do.
func (lx *lexer) errorf(off int, msg string) error {
	return sqlerr.New(sqlerr.SyntaxError, "%s at or near \"%s\"", msg, lx.src[off:]).At(off)
}

// errorTo is errorf quoting only up to end.
func (lx *lexer) errorTo(off, end int, msg string) error {
	return sqlerr.New(sqlerr.SyntaxError, "%s at or near \"%s\"", msg, lx.src[off:end]).At(off)
}

// skipSpace skips white space and comments, which nest.
func (lx *lexer) skipSpace() error {
	s := lx.src
	for lx.pos < len(s) {
		c := s[lx.pos]
		switch {
		case charClass[c]&clSpace != 0:
			lx.pos++
		case c == '-' && lx.pos+1 < len(s) && s[lx.pos+1] == '-':
			lx.pos = lineEnd(s, lx.pos)
		case c == '/' && lx.pos+1 < len(s) && s[lx.pos+1] == '*':
			end := blockCommentEnd(s, lx.pos)
			if end < 0 {
				return lx.errorf(lx.pos, "unterminated /* comment")
			}
			lx.pos = end
		default:
			return nil
		}
	}
	return nil
}

// lineEnd returns the offset of the line break that ends a -- comment.
func lineEnd(s string, i int) int {
	if n := strings.IndexAny(s[i:], "\n\r"); n >= 0 {
		return i + n
	}
	return len(s)
}

// blockCommentEnd returns the offset behind the comment that starts at i, or
// -1 when it is not terminated.
func blockCommentEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return -1
}

// next returns the next token, KindEOF at the end.
func (lx *lexer) next() (Token, error) {
	if err := lx.skipSpace(); err != nil {
		return Token{}, err
	}
	s, start := lx.src, lx.pos
	if start >= len(s) {
		return Token{Kind: KindEOF, Off: int32(len(s)), End: int32(len(s))}, nil
	}
	c := s[start]
	cl := charClass[c]
	switch {
	case cl&clIdentStart != 0:
		return lx.word(c)
	case cl&clDigit != 0:
		return lx.number()
	case cl&clOp != 0:
		return lx.operator()
	}
	single := func(k Kind, n int) (Token, error) {
		lx.pos = start + n
		return Token{Kind: k, Off: int32(start), End: int32(start + n)}, nil
	}
	var d byte
	if start+1 < len(s) {
		d = s[start+1]
	}
	switch c {
	case '(':
		return single(KindLParen, 1)
	case ')':
		return single(KindRParen, 1)
	case ',':
		return single(KindComma, 1)
	case ';':
		return single(KindSemi, 1)
	case '[':
		return single(KindLBracket, 1)
	case ']':
		return single(KindRBracket, 1)
	case '\'':
		return lx.plainString(start)
	case '"':
		return lx.quotedIdent(KindQuoted, start, start)
	case '.':
		if charClass[d]&clDigit != 0 {
			return lx.number()
		}
		if d == '.' {
			return single(KindDotDot, 2)
		}
		return single(KindDot, 1)
	case ':':
		switch d {
		case ':':
			return single(KindCast, 2)
		case '=':
			return single(KindAssign, 2)
		}
		return single(KindColon, 1)
	case '$':
		return lx.dollar(d)
	}
	return Token{}, lx.errorTo(start, start+1, "syntax error")
}

// word scans an identifier or a literal with a letter in front.
func (lx *lexer) word(c byte) (Token, error) {
	s, start := lx.src, lx.pos
	if start+1 < len(s) && s[start+1] == '\'' {
		switch c {
		case 'e', 'E':
			return lx.escapeString(start, start+1)
		case 'b', 'B':
			return lx.quoted(KindBit, start, start+1, "unterminated bit string literal")
		case 'x', 'X':
			return lx.quoted(KindHexBit, start, start+1, "unterminated hexadecimal string literal")
		case 'n', 'N':
			return lx.quoted(KindNString, start, start+1, "unterminated quoted string")
		}
	}
	if (c == 'u' || c == 'U') && start+2 < len(s) && s[start+1] == '&' {
		switch s[start+2] {
		case '\'':
			if lx.strings != nil && lx.strings.Escapes {
				return Token{}, sqlerr.New(sqlerr.FeatureNotSupported, "unsafe use of string constant with Unicode escapes").At(start).
					WithDetail("String constants with Unicode escapes cannot be used when standard_conforming_strings is off.")
			}
			return lx.quoted(KindUString, start, start+2, "unterminated quoted string")
		case '"':
			return lx.quotedIdent(KindUIdent, start, start+2)
		}
	}
	i := start + 1
	for i < len(s) && charClass[s[i]]&clIdent != 0 {
		i++
	}
	lx.pos = i
	return Token{Kind: KindIdent, Key: lookupKeyword(s[start:i]), Off: int32(start), End: int32(i)}, nil
}

// quoted scans '…' whose quote is at open, with its continuations.
func (lx *lexer) quoted(k Kind, start, open int, msg string) (Token, error) {
	s, i := lx.src, open+1
	for {
		n := strings.IndexByte(s[i:], '\'')
		if n < 0 {
			return Token{}, lx.errorf(start, msg)
		}
		i += n + 1
		if i < len(s) && s[i] == '\'' {
			i++
			continue
		}
		if next := skipContinuation(s, i); next > 0 {
			i = next
			continue
		}
		lx.pos = i
		return Token{Kind: k, Off: int32(start), End: int32(i)}, nil
	}
}

// skipContinuation looks behind a closing quote for white space with a line
// break and a further quote, and returns the offset after that quote, or 0.
func skipContinuation(s string, i int) int {
	newline := false
	for i < len(s) {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			newline = true
			i++
		case charClass[c]&clSpace != 0:
			i++
		case c == '-' && i+1 < len(s) && s[i+1] == '-':
			i = lineEnd(s, i)
		case c == '\'' && newline:
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// escapeString scans E'…' whose quote is at open.
func (lx *lexer) escapeString(start, open int) (Token, error) {
	s, i := lx.src, open+1
	for i < len(s) {
		switch s[i] {
		case '\\':
			if lx.strings != nil && lx.strings.NoQuote && i+1 < len(s) && s[i+1] == '\'' {
				return Token{}, lx.unsafeQuote(start)
			}
			i += 2
		case '\'':
			i++
			if i < len(s) && s[i] == '\'' {
				i++
				continue
			}
			if next := skipContinuation(s, i); next > 0 {
				i = next
				continue
			}
			lx.pos = i
			return Token{Kind: KindEString, Off: int32(start), End: int32(i)}, nil
		default:
			i++
		}
	}
	return Token{}, lx.errorf(start, "unterminated quoted string")
}

// quotedIdent scans "…" whose quote is at open.
func (lx *lexer) quotedIdent(k Kind, start, open int) (Token, error) {
	s, i := lx.src, open+1
	for {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return Token{}, lx.errorf(start, "unterminated quoted identifier")
		}
		i += n + 1
		if i < len(s) && s[i] == '"' {
			i++
			continue
		}
		if i == open+2 {
			return Token{}, lx.errorTo(start, i, "zero-length delimited identifier")
		}
		lx.pos = i
		return Token{Kind: k, Off: int32(start), End: int32(i)}, nil
	}
}

// dollar scans $1 or a dollar-quoted string; d is the byte after the dollar.
func (lx *lexer) dollar(d byte) (Token, error) {
	s, start := lx.src, lx.pos
	i := start + 1
	if charClass[d]&clDigit != 0 {
		for i < len(s) && charClass[s[i]]&clDigit != 0 {
			i++
		}
		if i < len(s) && charClass[s[i]]&clIdentStart != 0 {
			return Token{}, lx.errorTo(start, lx.junkEnd(i), "trailing junk after parameter")
		}
		lx.pos = i
		return Token{Kind: KindParam, Off: int32(start), End: int32(i)}, nil
	}
	if charClass[d]&clIdentStart != 0 {
		for i < len(s) && charClass[s[i]]&clIdent != 0 && s[i] != '$' {
			i++
		}
	}
	if i >= len(s) || s[i] != '$' {
		return Token{}, lx.errorTo(start, start+1, "syntax error")
	}
	i++
	tag := s[start:i]
	n := strings.Index(s[i:], tag)
	if n < 0 {
		return Token{}, lx.errorf(start, "unterminated dollar-quoted string")
	}
	lx.pos = i + n + len(tag)
	return Token{Kind: KindDollar, Off: int32(start), End: int32(lx.pos)}, nil
}

// junkEnd returns the end of the word glued to a number.
func (lx *lexer) junkEnd(i int) int {
	for i < len(lx.src) && charClass[lx.src[i]]&clIdent != 0 {
		i++
	}
	return i
}

// number scans an integer, a decimal or a number with an exponent.
func (lx *lexer) number() (Token, error) {
	s, start := lx.src, lx.pos
	i, kind := start, KindInt
	digits := func() {
		for i < len(s) && charClass[s[i]]&clDigit != 0 {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' && !(i+1 < len(s) && s[i+1] == '.' && i > start) {
		kind = KindNumeric
		i++
		digits()
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j >= len(s) || charClass[s[j]]&clDigit == 0 {
			return Token{}, lx.errorTo(start, min(j, len(s)), "trailing junk after numeric literal")
		}
		kind, i = KindNumeric, j
		digits()
	}
	if i < len(s) && charClass[s[i]]&clIdentStart != 0 {
		return Token{}, lx.errorTo(start, lx.junkEnd(i), "trailing junk after numeric literal")
	}
	lx.pos = i
	return Token{Kind: kind, Off: int32(start), End: int32(i)}, nil
}

var opKinds = map[string]Kind{
	"<": KindLess, ">": KindGreater, "=": KindEqual, "+": KindPlus, "-": KindMinus, "*": KindStar,
	"/": KindSlash, "%": KindPercent, "^": KindCaret, "<=": KindLessEq, ">=": KindGreatEq,
	"<>": KindNotEq, "!=": KindNotEq, "=>": KindArrow,
}

// operator scans the longest operator: it ends where a comment begins, and it
// may end in + or - only when it holds a character that no standard operator has.
func (lx *lexer) operator() (Token, error) {
	s, start := lx.src, lx.pos
	i := start
	special := false
	for i < len(s) && charClass[s[i]]&clOp != 0 {
		if i+1 < len(s) && (s[i] == '/' && s[i+1] == '*' || s[i] == '-' && s[i+1] == '-') {
			break
		}
		switch s[i] {
		case '~', '!', '@', '#', '^', '&', '|', '`', '?', '%':
			special = true
		}
		i++
	}
	for !special && i > start+1 && (s[i-1] == '+' || s[i-1] == '-') {
		i--
	}
	if i-start > maxIdentLen {
		return Token{}, lx.errorTo(start, i, "operator too long")
	}
	lx.pos = i
	t := Token{Kind: KindOp, Off: int32(start), End: int32(i)}
	if i-start <= 2 {
		if k, ok := opKinds[s[start:i]]; ok {
			t.Kind = k
		}
	}
	return t, nil
}
