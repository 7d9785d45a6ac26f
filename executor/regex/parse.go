package regex

import (
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with a pattern, in PostgreSQL's words.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// What can be wrong.
const (
	errCollate  Error = "invalid collating element"
	errClass    Error = "invalid character class"
	errEscape   Error = `invalid escape \ sequence`
	errBackref  Error = "invalid backreference number"
	errBrackets Error = "brackets [] not balanced"
	errParens   Error = "parentheses () not balanced"
	errBraces   Error = "braces {} not balanced"
	errCount    Error = "invalid repetition count(s)"
	errRange    Error = "invalid character range"
	errOperand  Error = "quantifier operand invalid"
	errPattern  Error = "invalid regexp (reg version 0.8)"
	errOption   Error = "invalid embedded option"
	errSize     Error = "regular expression is too complex"
)

// Flags choose the flavour and the meaning of a pattern.
type Flags struct {
	Fold     bool // letters match in either case
	Expanded bool // white space and comments in the pattern are ignored
	Literal  bool // the pattern is a string
	Extended bool // POSIX extended syntax: no escapes
	Basic    bool // POSIX basic syntax
	DotLine  bool // . and [^ ] do not match newlines
	Lines    bool // ^ and $ match at newlines
}

// Option applies an option letter; false when there is no such.
func (f *Flags) Option(c byte) bool {
	switch c {
	case 'b':
		f.Basic, f.Extended, f.Literal = true, false, false
	case 'c':
		f.Fold = false
	case 'e':
		f.Extended, f.Basic, f.Literal = true, false, false
	case 'i':
		f.Fold = true
	case 'm', 'n':
		f.DotLine, f.Lines = true, true
	case 'p':
		f.DotLine, f.Lines = true, false
	case 'q':
		f.Literal, f.Basic, f.Extended = true, false, false
	case 's':
		f.DotLine, f.Lines = false, false
	case 't':
		f.Expanded = false
	case 'w':
		f.DotLine, f.Lines = false, true
	case 'x':
		f.Expanded = true
	default:
		return false
	}
	return true
}

// parser reads a pattern; it panics with an Error.
type parser struct {
	src    string
	at     int
	flags  Flags
	groups int
	closed map[int]*node // groups that back references may name
	look   int           // lookaround around the present place
	depth  int
	read   int // branches, pieces and elements of brackets
}

// maxDepth bounds nested parentheses.
const maxDepth = 1000

// maxRead bounds what is read of a pattern before the size of its automaton is known.
const maxRead = 4 * MaxInstrs

func (p *parser) count() {
	if p.read++; p.read > maxRead {
		panic(errSize)
	}
}

func parse(src string, f Flags) (n *node, groups int, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	p := &parser{src: src, flags: f, closed: map[int]*node{}}
	p.prefixes()
	if p.flags.Literal {
		return p.literal(), 0, nil
	}
	n = p.alternatives()
	if !p.end() {
		panic(errParens)
	}
	return n, p.groups, nil
}

// prefixes reads what may stand before the pattern: ***= and ***: and options.
func (p *parser) prefixes() {
	if p.flags.Literal {
		return
	}
	if strings.HasPrefix(p.src, "***") {
		switch p.peek(3) {
		case '=':
			p.at = 4
			p.flags.Literal = true
			return
		case ':':
			p.at = 4
			p.flags.Extended, p.flags.Basic = false, false
		case '?':
			panic(errPattern)
		default:
			panic(errOperand)
		}
	}
	if p.flags.Extended || p.flags.Basic || p.peek(0) != '(' || p.peek(1) != '?' || !isLetter(p.peek(2)) {
		return
	}
	for p.at += 2; isLetter(p.peek(0)); p.at++ {
		if !p.flags.Option(p.peek(0)) {
			panic(errOption)
		}
	}
	if p.peek(0) != ')' {
		panic(errOption)
	}
	p.at++
	if p.flags.Literal {
		p.flags.Expanded, p.flags.DotLine, p.flags.Lines = false, false, false
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// peek returns the byte n places ahead, 0 behind the end.
func (p *parser) peek(n int) byte {
	if p.at+n < len(p.src) {
		return p.src[p.at+n]
	}
	return 0
}

func (p *parser) end() bool { return p.at >= len(p.src) }

func (p *parser) has(s string) bool { return strings.HasPrefix(p.src[p.at:], s) }

func (p *parser) accept(s string) bool {
	if p.has(s) {
		p.at += len(s)
		return true
	}
	return false
}

func (p *parser) rune() rune {
	r, w := utf8.DecodeRuneInString(p.src[p.at:])
	p.at += w
	return r
}

func (p *parser) advanced() bool { return !p.flags.Extended && !p.flags.Basic }

// skip passes comments and, in expanded syntax, white space.
func (p *parser) skip() {
	for {
		switch c := p.peek(0); {
		case p.end():
			return
		case p.flags.Expanded && (c == ' ' || c >= '\t' && c <= '\r'):
			p.at++
		case p.flags.Expanded && c == '#':
			for !p.end() && p.peek(0) != '\n' {
				p.at++
			}
		case p.advanced() && p.has("(?#"):
			i := strings.IndexByte(p.src[p.at:], ')')
			if i < 0 {
				p.at = len(p.src)
				return
			}
			p.at += i + 1
		default:
			return
		}
	}
}

// one is a node for one character.
func (p *parser) one(r rune) *node {
	pairs := []rune{r, r}
	if p.flags.Fold {
		pairs = folded(pairs)
	}
	return &node{op: opClass, set: newClass(pairs, false)}
}

func (p *parser) literal() *node {
	n := &node{op: opCat}
	for !p.end() {
		p.count()
		n.subs = append(n.subs, p.one(p.rune()))
	}
	return n
}

// closes reports whether a group ends here.
func (p *parser) closes() bool {
	if p.depth == 0 {
		return false
	}
	if p.flags.Basic {
		return p.has(`\)`)
	}
	return p.peek(0) == ')'
}

// alternatives reads branches up to the end of the group.
func (p *parser) alternatives() *node {
	n := &node{op: opAlt}
	for {
		n.subs = append(n.subs, p.branch())
		if p.flags.Basic || p.peek(0) != '|' || p.end() {
			break
		}
		p.at++
	}
	if len(n.subs) == 1 {
		return n.subs[0]
	}
	return n
}

func (p *parser) branch() *node {
	p.count()
	n := &node{op: opCat}
	for p.skip(); !p.end() && !p.closes() && (p.flags.Basic || p.peek(0) != '|'); p.skip() {
		if p.depth == 0 && p.peek(0) == ')' && p.advanced() {
			panic(errParens)
		}
		// In the basic syntax an asterisk is a character at the start, also after ^.
		first := len(n.subs) == 0 || len(n.subs) == 1 && n.subs[0].op == opAssert && p.src[p.at-1] == '^'
		if x := p.piece(first); x != nil {
			n.subs = append(n.subs, x)
		}
	}
	if len(n.subs) == 1 {
		return n.subs[0]
	}
	return n
}

// piece reads an atom with its quantifier, or a constraint. It is nil for an atom
// that is to be repeated zero times.
func (p *parser) piece(first bool) *node {
	p.count()
	if c := p.constraint(first); c != nil {
		return c
	}
	x := p.atom(first)
	p.skip()
	n, ok := p.quantifier()
	if !ok {
		return x
	}
	if n.max == 0 {
		return nil
	}
	n.subs = []*node{x}
	return n
}

// constraint reads what matches the empty string at some positions.
func (p *parser) constraint(first bool) *node {
	assert := func(kind byte, w int) *node {
		p.at += w
		return &node{op: opAssert, kind: kind}
	}
	start, end := byte(textStart), byte(textEnd)
	if p.flags.Lines {
		start, end = lineStart, lineEnd
	}
	switch c := p.peek(0); {
	case p.has("[[:<:]]"):
		return assert(wordStart, 7)
	case p.has("[[:>:]]"):
		return assert(wordEnd, 7)
	case p.flags.Basic:
		rest := p.src[p.at:]
		switch {
		case c == '^' && first:
			return assert(start, 1)
		case c == '$' && (len(rest) == 1 || strings.HasPrefix(rest[1:], `\)`)):
			return assert(end, 1)
		case strings.HasPrefix(rest, `\<`):
			return assert(wordStart, 2)
		case strings.HasPrefix(rest, `\>`):
			return assert(wordEnd, 2)
		}
	case c == '^':
		return assert(start, 1)
	case c == '$':
		return assert(end, 1)
	case c == '\\' && p.advanced():
		if e := p.peek(1); strings.IndexByte("AZmMyY", e) >= 0 && e != 0 {
			return assert(e, 2)
		}
	case p.advanced() && p.has("(?"):
		for _, l := range []struct {
			open            string
			behind, negated bool
		}{{"(?=", false, false}, {"(?!", false, true}, {"(?<=", true, false}, {"(?<!", true, true}} {
			if p.accept(l.open) {
				p.look++
				x := p.inner()
				p.look--
				return &node{op: opLook, subs: []*node{x}, behind: l.behind, negated: l.negated}
			}
		}
	}
	return nil
}

// inner reads the inside of parentheses and the closing one.
func (p *parser) inner() *node {
	if p.depth++; p.depth > maxDepth {
		panic(errSize)
	}
	x := p.alternatives()
	p.depth--
	if p.flags.Basic && p.accept(`\)`) || !p.flags.Basic && p.accept(")") {
		return x
	}
	panic(errParens)
}

func (p *parser) atom(first bool) *node {
	c := p.peek(0)
	if p.flags.Basic {
		return p.basicAtom(first)
	}
	switch c {
	case '*', '+', '?':
		panic(errOperand)
	case '{':
		if isDigit(p.peek(1)) {
			panic(errOperand)
		}
	case '(':
		return p.group("(")
	case '[':
		return p.bracket()
	case '.':
		p.at++
		return p.any()
	case '\\':
		if p.at+1 >= len(p.src) {
			panic(errEscape)
		}
		if p.advanced() {
			return p.escape()
		}
		p.at++
	}
	return p.one(p.rune())
}

// basicAtom reads an atom of the basic syntax.
func (p *parser) basicAtom(first bool) *node {
	switch c := p.peek(0); {
	case c == '*' && !first:
		panic(errOperand)
	case c == '[':
		return p.bracket()
	case c == '.':
		p.at++
		return p.any()
	case p.has(`\(`):
		return p.group(`\(`)
	case p.has(`\)`):
		panic(errParens)
	case p.has(`\{`):
		panic(errOperand)
	case c == '\\' && isDigit(p.peek(1)) && p.peek(1) != '0':
		p.at += 2
		return p.backref(int(p.src[p.at-1] - '0'))
	case c == '\\':
		if p.at++; p.end() {
			panic(errEscape)
		}
	}
	return p.one(p.rune())
}

func (p *parser) any() *node {
	if p.flags.DotLine {
		return &node{op: opClass, set: newClass([]rune{'\n', '\n'}, true)}
	}
	return &node{op: opClass, set: newClass(nil, true)}
}

// group reads parentheses, which are a group unless marked otherwise or inside of
// lookaround.
func (p *parser) group(open string) *node {
	p.at += len(open)
	if p.advanced() && p.peek(0) == '?' {
		if p.peek(1) != ':' {
			panic(errOperand)
		}
		p.at += 2
		return p.inner()
	}
	if p.look > 0 {
		return p.inner()
	}
	p.groups++
	k := p.groups
	n := &node{op: opGroup, group: k}
	n.subs = []*node{p.inner()}
	p.closed[k] = n
	return n
}

func (p *parser) backref(k int) *node {
	if p.closed[k] == nil || p.look > 0 {
		panic(errBackref)
	}
	return &node{op: opBack, group: k, subs: p.closed[k].subs, fold: p.flags.Fold}
}

// quantifier reads one, if there is one.
func (p *parser) quantifier() (*node, bool) {
	n := &node{op: opRepeat, prefer: longer, max: unbounded}
	switch c := p.peek(0); {
	case p.end():
		return nil, false
	case c == '*':
	case p.flags.Basic:
		if !p.accept(`\{`) {
			return nil, false
		}
		p.bounds(n, `\}`)
		return n, true
	case c == '+':
		n.min = 1
	case c == '?':
		n.max = 1
	case c == '{' && isDigit(p.peek(1)):
		p.at++
		p.bounds(n, "}")
		return n, true
	default:
		return nil, false
	}
	p.at++
	if p.advanced() && p.accept("?") {
		n.prefer = shorter
	}
	return n, true
}

const maxRepetition = 255

// bounds reads {m,n} after the opening brace.
func (p *parser) bounds(n *node, closing string) {
	number := func() int {
		v := 0
		for isDigit(p.peek(0)) {
			if v = 10*v + int(p.peek(0)-'0'); v > maxRepetition {
				panic(errCount)
			}
			p.at++
		}
		return v
	}
	if !strings.Contains(p.src[p.at:], closing) && strings.Trim(p.src[p.at:], "0123456789,") == "" {
		panic(errBraces)
	}
	if !isDigit(p.peek(0)) {
		panic(errCount)
	}
	n.min = number()
	n.max, n.prefer = n.min, 0
	if p.accept(",") {
		n.max, n.prefer = unbounded, longer
		if isDigit(p.peek(0)) {
			if n.max = number(); n.max < n.min {
				panic(errCount)
			}
		}
	}
	if !p.accept(closing) {
		panic(errCount)
	}
	if p.advanced() && p.accept("?") && n.prefer != 0 {
		n.prefer = shorter
	}
}
