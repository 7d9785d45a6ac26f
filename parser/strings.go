package parser

import (
	"strings"

	"kvsqld/catalog/sqlerr"
)

// Strings says how string literals are read where it is not as the SQL standard
// has them. A nil Strings is the default of the server.
type Strings struct {
	// Escapes gives the backslash in '…' the meaning that it has in E'…'
	// (standard_conforming_strings = off).
	Escapes bool
	// NoQuote refuses \' in literals with escapes (backslash_quote).
	NoQuote bool
	// Warn is told of each '…' with a backslash; nil: nobody is.
	Warn func(*sqlerr.Error)
	// Room asks whether there is memory for so many bytes, as a long text is read and
	// when its tree is complete; nil: nobody is asked. An error ends the parsing.
	Room func(bytes int64) error
}

// What a token takes, about: in the tree, and in what is made of the tree.
const (
	tokenMemory = 256
	askEvery    = 1 << 16 // tokens
)

// room makes sure that there is memory for what n tokens become.
func (p *parser) room(n int) {
	if st := p.lx.strings; st != nil && st.Room != nil && n >= askEvery {
		if err := st.Room(int64(n) * tokenMemory); err != nil {
			p.fail(err)
		}
	}
}

// plainString scans '…' where backslashes may be escapes.
func (lx *lexer) plainString(start int) (Token, error) {
	if lx.strings == nil || !lx.strings.Escapes {
		return lx.quoted(KindString, start, start, "unterminated quoted string")
	}
	t, err := lx.escapeString(start, start)
	if err != nil {
		return t, err
	}
	s := t.Text(lx.src)
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		t.Kind = KindString
		return t, nil
	}
	if lx.strings.Warn != nil {
		lx.strings.Warn(escapeWarning(s[i+1]).At(start))
	}
	return t, nil
}

// escapeWarning is what is said of a literal whose first escape is \c.
func escapeWarning(c byte) *sqlerr.Error {
	what, hint := "escape", `Use the escape string syntax for escapes, e.g., E'\r\n'.`
	switch c {
	case '\'':
		what, hint = `\'`, "Use '' to write quotes in strings, or use the escape string syntax (E'...')."
	case '\\':
		what, hint = `\\`, `Use the escape string syntax for backslashes, e.g., E'\\'.`
	}
	w := sqlerr.New(sqlerr.NonstandardUseOfEscape, "nonstandard use of %s in a string literal", what).WithHint("%s", hint)
	w.Severity = "WARNING"
	return w
}

// unsafeQuote refuses \' where clients of some encodings would not see that it
// is one.
func (lx *lexer) unsafeQuote(start int) error {
	return sqlerr.New(sqlerr.NonstandardUseOfEscape, `unsafe use of \' in a string literal`).At(start).
		WithHint(`Use '' to write quotes in strings. \' is insecure in client-only encodings.`)
}
