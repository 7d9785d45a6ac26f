package parser

import (
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// Kind is a token's class.
type Kind uint8

// The token kinds. Single characters and operators are kinds of their own
// where the grammar names them; every other operator is KindOp.
const (
	KindEOF      Kind = iota
	KindIdent         // an unquoted word, keyword or not
	KindQuoted        // "x"
	KindUIdent        // U&"x"
	KindString        // 'x'
	KindEString       // E'x', and 'x' whose backslashes are escapes
	KindUString       // U&'x'
	KindDollar        // $$x$$
	KindNString       // N'x'
	KindBit           // B'x'
	KindHexBit        // X'x'
	KindInt           // 42
	KindNumeric       // 4.2, 4e2
	KindParam         // $1
	KindOp            // any other operator
	KindLess          // <
	KindGreater       // >
	KindEqual         // =
	KindLessEq        // <=
	KindGreatEq       // >=
	KindNotEq         // <> and !=
	KindPlus          // +
	KindMinus         // -
	KindStar          // *
	KindSlash         // /
	KindPercent       // %
	KindCaret         // ^
	KindLParen        // (
	KindRParen        // )
	KindLBracket      // [
	KindRBracket      // ]
	KindComma         // ,
	KindSemi          // ;
	KindColon         // :
	KindDot           // .
	KindDotDot        // ..
	KindCast          // ::
	KindAssign        // :=
	KindArrow         // =>
)

// Token is one token of a text: sql[Off:End] is its spelling.
type Token struct {
	Kind Kind
	Key  Keyword // of KindIdent; 0 when it is no keyword
	Off  int32
	End  int32
}

// Text returns the token as written.
func (t Token) Text(sql string) string { return sql[t.Off:t.End] }

// maxIdentLen is NAMEDATALEN-1: longer names are cut, at a character boundary.
const maxIdentLen = 63

func truncateIdent(s string) string {
	if len(s) <= maxIdentLen {
		return s
	}
	n := maxIdentLen
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// foldIdent lowers the ASCII letters of an unquoted name.
func foldIdent(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// ident returns the name that a KindIdent or KindQuoted token stands for.
func (t Token) ident(sql string) string { return truncateIdent(t.name(sql)) }

// name is ident at its full length.
func (t Token) name(sql string) string {
	s := t.Text(sql)
	if t.Kind == KindIdent {
		if t.Key != noKeyword {
			return keywordTable[t.Key].word
		}
		return foldIdent(s)
	}
	s = s[1 : len(s)-1]
	if strings.Contains(s, `""`) {
		s = strings.ReplaceAll(s, `""`, `"`)
	}
	return s
}

// quotedSegments joins the parts of a string literal that was continued on a
// further line ('a'<newline>'b') and undoubles quotes. s starts at the quote.
func quotedSegments(s string) string {
	body := s[1 : len(s)-1]
	if strings.IndexByte(body, '\'') < 0 {
		return body
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		i = nextSegment(s, i)
	}
	return b.String()
}

// nextSegment returns the offset of the opening quote that continues a literal
// whose segment was closed at i, or len(s).
func nextSegment(s string, i int) int {
	if j := strings.IndexByte(s[i+1:], '\''); j >= 0 {
		// comments between segments may not hold quotes that matter: the lexer
		// accepted only white space and -- comments there
		k := skipContinuation(s, i+1)
		if k > 0 {
			return k - 1
		}
	}
	return len(s)
}

// value decodes a literal token: strings to their text, numbers as written,
// bit strings to their digits.
func (t Token) value(sql string) (string, error) {
	s := t.Text(sql)
	switch t.Kind {
	case KindString:
		return quotedSegments(s), nil
	case KindNString, KindBit, KindHexBit:
		return quotedSegments(s[1:]), nil
	case KindEString:
		if s[0] == '\'' {
			return decodeEscapes(s, int(t.Off))
		}
		return decodeEscapes(s[1:], int(t.Off)+1)
	case KindDollar:
		n := strings.IndexByte(s[1:], '$') + 2
		return s[n : len(s)-n], nil
	}
	return s, nil
}

// decodeEscapes decodes the body of E'…'; s starts at the quote and off is its
// offset in the whole text.
func decodeEscapes(s string, off int) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return quotedSegments(s), nil
	}
	b := make([]byte, 0, len(s))
	high := false // a byte above 127 came from an escape: the result must be checked
	var pair rune // a pending first half of a surrogate pair
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			r, n, kind := oneEscape(s[i:])
			switch {
			case kind == escBad:
				return "", sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid Unicode escape").At(off + i).
					WithHint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.")
			case kind == escRune && r >= 0xD800 && r < 0xDC00:
				if pair != 0 {
					return "", badPair(off+i, s[i:i+n])
				}
				pair = r
			case kind == escRune && r >= 0xDC00 && r < 0xE000:
				if pair == 0 {
					return "", badPair(off+i, s[i:i+n])
				}
				b = utf8.AppendRune(b, 0x10000+(pair-0xD800)<<10+(r-0xDC00))
				pair = 0
			case pair != 0 && kind != escRune:
				return "", badPair(off+i, s[i:i+1])
			case pair != 0:
				return "", badPair(off+i, s[i:i+n])
			case kind == escRune:
				if r == 0 || r > 0x10FFFF {
					return "", sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape value at or near \"%s\"", s[i:i+n]).At(off + i)
				}
				b = utf8.AppendRune(b, r)
			default:
				high = high || r == 0 || r > 127
				b = append(b, byte(r))
			}
			i += n - 1
			continue
		}
		if pair != 0 {
			return "", badPair(off+i, string(rune(c)))
		}
		if c == '\'' {
			if i+1 < len(s) && s[i+1] == '\'' {
				b = append(b, '\'')
				i++
				continue
			}
			i = nextSegment(s, i)
			continue
		}
		b = append(b, c)
	}
	if pair != 0 {
		return "", badPair(off+len(s)-1, "'")
	}
	if high {
		if err := checkEncoding(string(b)); err != nil {
			return "", err
		}
	}
	return string(b), nil
}

func badPair(off int, near string) error {
	return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair at or near \"%s\"", near).At(off)
}

type escKind uint8

const (
	escByte escKind = iota
	escRune
	escBad
)

// oneEscape decodes the backslash escape at the start of s and returns its
// length. A backslash never ends the literal, so s has a second byte.
func oneEscape(s string) (r rune, n int, kind escKind) {
	switch c := s[1]; c {
	case 'b':
		return '\b', 2, escByte
	case 'f':
		return '\f', 2, escByte
	case 'n':
		return '\n', 2, escByte
	case 'r':
		return '\r', 2, escByte
	case 't':
		return '\t', 2, escByte
	case 'x':
		n = 2
		for n < 4 && n < len(s) && hexVal(s[n]) >= 0 {
			r = r<<4 | hexVal(s[n])
			n++
		}
		if n == 2 {
			return 'x', 2, escByte
		}
		return r, n, escByte
	case 'u', 'U':
		want := 4
		if c == 'U' {
			want = 8
		}
		for n = 2; n < 2+want; n++ {
			if n >= len(s) || hexVal(s[n]) < 0 {
				return 0, n, escBad
			}
			if r > 0x0FFFFFF {
				r = 0x0FFFFFF // out of range whatever follows, without overflow
			}
			r = r<<4 | hexVal(s[n])
		}
		return r, n, escRune
	default:
		if c >= '0' && c <= '7' {
			for n = 1; n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7'; n++ {
				r = r<<3 | rune(s[n]-'0')
			}
			return r & 0xFF, n, escByte
		}
		return rune(c), 2, escByte
	}
}

func hexVal(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// decodeUnicode decodes the body of U&'…' or U&"…" (quotes undoubled already)
// with the given escape character; off is the offset of its first byte.
func decodeUnicode(body string, esc byte, off int) (string, error) {
	if strings.IndexByte(body, esc) < 0 {
		return body, nil
	}
	b := make([]byte, 0, len(body))
	var pair rune
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c != esc || (i+1 < len(body) && body[i+1] == esc) {
			if pair != 0 {
				return "", lonePair(off + i)
			}
			if c == esc {
				i++
			}
			b = append(b, c)
			continue
		}
		start, digits := i+1, 4
		if start < len(body) && body[start] == '+' {
			start, digits = start+1, 6
		}
		var r rune
		for k := start; k < start+digits; k++ {
			if k >= len(body) || hexVal(body[k]) < 0 {
				return "", sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").At(off + i).
					WithHint("Unicode escapes must be \\XXXX or \\+XXXXXX.")
			}
			r = r<<4 | hexVal(body[k])
		}
		at := off + i
		i = start + digits - 1
		switch {
		case r == 0 || r > 0x10FFFF:
			return "", sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape value").At(at)
		case r >= 0xD800 && r < 0xDC00 && pair == 0:
			pair = r
		case r >= 0xDC00 && r < 0xE000 && pair != 0:
			b = utf8.AppendRune(b, 0x10000+(pair-0xD800)<<10+(r-0xDC00))
			pair = 0
		case pair != 0 || (r >= 0xD800 && r < 0xE000):
			return "", lonePair(at)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	if pair != 0 {
		return "", lonePair(off + len(body))
	}
	return string(b), nil
}

// lonePair is badPair for U&'…', which PostgreSQL's parser reads and not its lexer.
func lonePair(off int) error {
	return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair").At(off)
}

// checkEncoding refuses text that is not UTF-8 or holds a zero byte, in the
// words of PostgreSQL's encoding check.
func checkEncoding(s string) error {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return nil
	}
	for i := 0; i < len(s); {
		if c := s[i]; c != 0 && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if s[i] == 0 || (r == utf8.RuneError && n <= 1) {
			return badBytes(s[i:])
		}
		i += n
	}
	return nil
}

// badBytes words the complaint about the sequence that starts s.
func badBytes(s string) error {
	n := 1
	switch c := s[0]; {
	case c >= 0xF0 && c < 0xF8:
		n = 4
	case c >= 0xE0 && c < 0xF0:
		n = 3
	case c >= 0xC0 && c < 0xE0:
		n = 2
	}
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := 0; i < n && i < len(s); i++ {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("0x")
		b.WriteByte(digits[s[i]>>4])
		b.WriteByte(digits[s[i]&15])
	}
	return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", b.String())
}

// undouble replaces each doubled quote by one.
func undouble(s string, quote byte) string {
	if strings.IndexByte(s, quote) < 0 {
		return s
	}
	return strings.ReplaceAll(s, string([]byte{quote, quote}), string(quote))
}
