package parser

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// maxDepth bounds the nesting of expressions, queries and joins. PostgreSQL
// bounds the bytes of its stack instead, with its default of 2 MB to some thousands
// of levels, depending on the construct.
const maxDepth = 10000

// maxChain bounds how many operators of one level may be chained (a+b+c…):
// such a chain makes a tree that is as deep as it is long.
const maxChain = 10000

// window is the number of consumed tokens after which the buffer is compacted.
const window = 4096

// parser reads tokens on demand, so that a text of any size needs only a
// bounded window of them. Faults travel as panics of type fault up to the
// exported functions and never leave the package.
type parser struct {
	lx     lexer
	toks   []Token // window of tokens, toks[i] is the current one
	i      int
	marks  int   // outstanding marks: the window must not be compacted
	last   int32 // end of the token consumed last
	depth  int
	params int       // highest $n seen
	read   int       // tokens
	lits   []Literal // literals that become parameters (ParseNormalized)
	taken  int       // how many of them have
	// the run of opening parentheses that startsQuery looked at last
	runStart, runEnd int32
	runQuery         bool

	into       intoKind // of a SELECT INTO other than a plain table
	global     ast.Off  // where GLOBAL stands in it, 0: it does not
	windowless bool     // the next call is a table function: no FILTER, no OVER
	firstComma ast.Off  // first comma of the last parenGroup that was a list

	spare []*skeleton // emptied skeletons, for the next core
}

// intoKind tells SELECT INTO TEMPORARY and UNLOGGED from the plain form.
type intoKind uint8

const (
	intoPlain intoKind = iota
	intoTemp
	intoUnlogged
)

// fault carries an error to the exported function that recovers it.
type fault struct{ err error }

func (p *parser) fail(err error) { panic(fault{err}) }

// catch turns a fault into *err; any other panic goes on.
func catch(err *error) {
	if r := recover(); r != nil {
		f, ok := r.(fault)
		if !ok {
			panic(r)
		}
		*err = f.err
	}
}

func newParser(sql string) *parser {
	return &parser{lx: lexer{src: sql}, toks: make([]Token, 0, min(len(sql)/5+4, 256))}
}

func (p *parser) fill(n int) {
	for len(p.toks) <= n {
		t, err := p.lx.next()
		if err != nil {
			p.fail(err)
		}
		p.toks = append(p.toks, t)
		if p.read++; p.read%askEvery == 0 {
			p.room(askEvery)
		}
	}
}

// tok returns the current token.
func (p *parser) tok() Token {
	if p.i >= len(p.toks) {
		p.fill(p.i)
	}
	return p.toks[p.i]
}

// peek returns the token n places ahead; peek(0) is the current one.
func (p *parser) peek(n int) Token {
	if p.i+n >= len(p.toks) {
		p.fill(p.i + n)
	}
	return p.toks[p.i+n]
}

// next consumes the current token. The end marker stays.
func (p *parser) next() Token {
	t := p.tok()
	if t.Kind == KindEOF {
		return t
	}
	p.i++
	p.last = t.End
	if p.i >= window && p.marks == 0 {
		n := copy(p.toks, p.toks[p.i:])
		p.toks, p.i = p.toks[:n], 0
	}
	return t
}

// mark remembers the position for reset; each mark is ended by reset or unmark.
func (p *parser) mark() int    { p.marks++; return p.i }
func (p *parser) reset(at int) { p.i = at; p.marks-- }
func (p *parser) unmark()      { p.marks-- }

// off is the offset of the current token.
func (p *parser) off() ast.Off { return ast.Off(p.tok().Off) }

// enter counts one level of nesting; leave undoes it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(errTooDeep(int(p.tok().Off)))
	}
}

func (p *parser) leave() { p.depth-- }

func errTooDeep(off int) error {
	return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").At(off).
		WithHint("The statement nests expressions or queries too deeply.")
}

// syntaxErr is PostgreSQL's complaint about the current token.
func (p *parser) syntaxErr() { p.syntaxErrAt(p.tok()) }

func (p *parser) syntaxErrAt(t Token) {
	if t.Kind == KindEOF {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "syntax error at end of input").At(int(t.Off)))
	}
	p.fail(sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", t.Text(p.lx.src)).At(int(t.Off)))
}

// failf fails with a 42601 of another wording.
func (p *parser) failf(off ast.Off, format string, args ...any) {
	p.fail(sqlerr.New(sqlerr.SyntaxError, format, args...).At(int(off)))
}

// unsupported refuses a construct of the grammar by name.
func (p *parser) unsupported(off ast.Off, what string) {
	p.fail(sqlerr.Unsupported(int(off), "%s", what))
}

func (p *parser) is(k Kind) bool { return p.tok().Kind == k }

func (p *parser) accept(k Kind) bool {
	if p.tok().Kind != k {
		return false
	}
	p.next()
	return true
}

// commaList parses items with commas between them, one at least.
func commaList[T any](p *parser, item func() T) []T {
	var l []T
	for {
		l = append(l, item())
		if !p.accept(KindComma) {
			return l
		}
	}
}

func (p *parser) expect(k Kind) Token {
	if p.tok().Kind != k {
		p.syntaxErr()
	}
	return p.next()
}

func (p *parser) isKw(k Keyword) bool {
	t := p.tok()
	return t.Key == k && t.Kind == KindIdent
}

// isKws reports whether the next tokens are these keywords.
func (p *parser) isKws(ks ...Keyword) bool {
	for n, k := range ks {
		if p.peek(n).Key != k {
			return false
		}
	}
	return true
}

func (p *parser) acceptKw(k Keyword) bool {
	if p.tok().Key != k {
		return false
	}
	p.next()
	return true
}

// acceptKws consumes all of the keywords, or nothing.
func (p *parser) acceptKws(ks ...Keyword) bool {
	if !p.isKws(ks...) {
		return false
	}
	for range ks {
		p.next()
	}
	return true
}

func (p *parser) expectKw(k Keyword) Token {
	if p.tok().Key != k {
		p.syntaxErr()
	}
	return p.next()
}

func (p *parser) expectKws(ks ...Keyword) {
	for _, k := range ks {
		p.expectKw(k)
	}
}

// text returns the source between two offsets.
func (p *parser) text(from, to ast.Off) string { return p.lx.src[from:to] }

// lastEnd returns the end of the token that was consumed last.
func (p *parser) lastEnd() ast.Off { return ast.Off(p.last) }

// isName reports whether t is a name of one of the keyword categories allowed.
func isName(t Token, colName, typeFunc bool) bool {
	switch t.Kind {
	case KindQuoted, KindUIdent:
		return true
	case KindIdent:
		switch keywordTable[t.Key].cat {
		case NotKeyword, Unreserved:
			return true
		case ColName:
			return colName
		case TypeFuncName:
			return typeFunc
		}
	}
	return false
}

// takeName consumes the current token as a name.
func (p *parser) takeName() string {
	t := p.next()
	if t.Kind == KindUIdent {
		return p.unicodeIdent(t)
	}
	return t.ident(p.lx.src)
}

// unicodeIdent decodes U&"…" with its UESCAPE.
func (p *parser) unicodeIdent(t Token) string {
	q := Token{Kind: KindQuoted, Off: t.Off + 2, End: t.End}
	s := q.Text(p.lx.src)
	s = undouble(s[1:len(s)-1], '"')
	v, err := decodeUnicode(s, p.uescape(), int(t.Off)+3)
	if err != nil {
		p.fail(err)
	}
	return truncateIdent(v)
}

// uescape reads UESCAPE 'c' behind a U& literal; the default is a backslash.
func (p *parser) uescape() byte {
	if !p.acceptKw(kwUescape) {
		return '\\'
	}
	t := p.tok()
	if t.Kind != KindString {
		p.failf(p.off(), "UESCAPE must be followed by a simple string literal at or near \"%s\"", t.Text(p.lx.src))
	}
	p.next()
	v, _ := t.value(p.lx.src)
	if len(v) != 1 || hexVal(v[0]) >= 0 || v[0] == '+' || v[0] == '\'' || v[0] == '"' || charClass[v[0]]&clSpace != 0 {
		p.failf(ast.Off(t.Off), "invalid Unicode escape character at or near \"%s\"", t.Text(p.lx.src))
	}
	return v[0]
}

// colID is the name of a column, table or the like.
func (p *parser) colID() string {
	if !isName(p.tok(), true, false) {
		p.syntaxErr()
	}
	return p.takeName()
}

// typeFuncName is the unqualified name of a function or type.
func (p *parser) typeFuncName() string {
	if !isName(p.tok(), false, true) {
		p.syntaxErr()
	}
	return p.takeName()
}

// nonReserved is a word that may be any keyword but a reserved one.
func (p *parser) nonReserved() string {
	if !isName(p.tok(), true, true) {
		p.syntaxErr()
	}
	return p.takeName()
}

// isLabel reports whether t is any word.
func isLabel(t Token) bool {
	return t.Kind == KindIdent || t.Kind == KindQuoted || t.Kind == KindUIdent
}

// colLabel is any word.
func (p *parser) colLabel() string {
	if !isLabel(p.tok()) {
		p.syntaxErr()
	}
	return p.takeName()
}

// anyName is a dotted name of a relation, type, collation and so on.
func (p *parser) anyName() ast.Name {
	off := p.off()
	parts := []string{p.colID()}
	for p.is(KindDot) {
		p.next()
		parts = append(parts, p.colLabel())
	}
	return ast.Name{Off: off, Parts: parts}
}

// qualifiedName is anyName with at most three parts.
func (p *parser) qualifiedName() ast.Name {
	n := p.anyName()
	if len(n.Parts) > 3 {
		p.failf(n.Off, "improper qualified name (too many dotted names): %s", joinDots(n.Parts))
	}
	return n
}

func joinDots(parts []string) string {
	s := parts[0]
	for _, x := range parts[1:] {
		s += "." + x
	}
	return s
}

// nameList is a comma list of column names.
func (p *parser) nameList() []string {
	return commaList(p, p.colID)
}

// parenNames is a name list in parentheses.
func (p *parser) parenNames() []string {
	p.expect(KindLParen)
	l := p.nameList()
	p.expect(KindRParen)
	return l
}

// optParenNames is parenNames or nothing.
func (p *parser) optParenNames() []string {
	if !p.is(KindLParen) {
		return nil
	}
	return p.parenNames()
}

// qualifiedNames is a comma list of relation names.
func (p *parser) qualifiedNames() []ast.Name {
	return commaList(p, p.qualifiedName)
}

// sconst is a string literal, decoded.
func (p *parser) sconst() string {
	s, ok := p.optSconst()
	if !ok {
		p.syntaxErr()
	}
	return s
}

func isSconst(t Token) bool { return t.Kind >= KindString && t.Kind <= KindDollar }

func (p *parser) optSconst() (string, bool) {
	t := p.tok()
	if !isSconst(t) {
		return "", false
	}
	p.next()
	return p.stringValue(t), true
}

// stringValue decodes a string token that has been consumed.
func (p *parser) stringValue(t Token) string {
	if t.Kind == KindUString {
		s, err := decodeUnicode(quotedSegments(p.lx.src[t.Off+2:t.End]), p.uescape(), int(t.Off)+3)
		if err != nil {
			p.fail(err)
		}
		return s
	}
	s, err := t.value(p.lx.src)
	if err != nil {
		p.fail(err)
	}
	return s
}
