package parser

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// Literal is a literal that a Fingerprinter took out of a statement.
type Literal struct {
	Kind ast.ConstKind // ConstInt, ConstNumeric or ConstString
	Val  string        // decoded; it may share the statement's memory
	Off  int           // byte offset of the token
}

// maxLiterals bounds the literals of a fingerprint. Statements with more are
// bulk loads, whose plans nobody asks for again.
const maxLiterals = 128

// Fingerprinter takes the literals out of statements. Its Key and Lits are
// overwritten by the next Run. The zero value is ready.
type Fingerprinter struct {
	// Key identifies the statement without its literals: equal keys mean equal
	// token streams but for literals, which agree in kind and, for integers, in
	// being an int4, an int8 or wider.
	Key []byte
	// Lits are the literals in their order in the text.
	Lits []Literal
}

// Codes that begin a token in a key. Kinds of tokens are below 0x80.
const (
	keyKeyword = 0x80 + iota // and two bytes of the keyword's number
	keyIdent                 // and the name and a zero byte
	keyText                  // and the token's text and a zero byte
	keyInt4                  // a literal that was taken out
	keyInt8
	keyWideInt
	keyNumeric
	keyString
)

// clause is the kind of clause that a level of parentheses is in.
type clause uint8

const (
	clauseFrom clause = iota // literals stay, subqueries are looked into
	clauseList               // SELECT list, GROUP BY, …: literals stay at any depth
	clauseOpen               // literals become parameters
)

// level is what the scan knows about one level of parentheses.
type level struct {
	clause   clause
	frozen   bool // nothing inside becomes a parameter: type modifiers, EXTRACT, …
	conflict bool // between ON CONFLICT and DO, where the arbiter stands
}

// scan is the state of one Run.
type scan struct {
	f      *Fingerprinter
	sql    string
	levels [32]level
	depth  int
	prev   Token
	typ    bool // the tokens before may be a type's name
}

// Run scans one statement and reports whether it could take the literals out.
// It cannot when the statement is no SELECT, INSERT, UPDATE, DELETE or VALUES,
// when there are several, when it has $n already, and when it does not lex.
//
// Literals stay in the key where their value is part of the statement's
// meaning: in SELECT lists, GROUP BY, HAVING and ORDER BY (ordinals, and
// expressions that must be recognised as equal), in FROM, in type modifiers and
// typed literals, in the arbiter of ON CONFLICT, and as patterns and JSON paths.
func (f *Fingerprinter) Run(sql string) bool {
	f.Key, f.Lits = f.Key[:0], f.Lits[:0]
	if !utf8.ValidString(sql) || strings.IndexByte(sql, 0) >= 0 {
		return false
	}
	lx := lexer{src: sql}
	t, err := lx.next()
	if err != nil {
		return false
	}
	switch t.Key {
	case kwSelect, kwInsert, kwUpdate, kwDelete, kwValues, kwWith:
	default:
		return false
	}
	s := scan{f: f, sql: sql}
	for {
		switch t.Kind {
		case KindEOF:
			return s.depth == 0
		case KindSemi:
			t, err = lx.next()
			return err == nil && t.Kind == KindEOF && s.depth == 0
		}
		if !s.token(t) {
			return false
		}
		s.prev = t
		if t, err = lx.next(); err != nil {
			return false
		}
	}
}

// token adds one token to the key or the literals; false gives up.
func (s *scan) token(t Token) bool {
	f := s.f
	switch t.Kind {
	case KindParam:
		return false
	case KindIdent:
		if t.Key == noKeyword {
			if t.End-t.Off > maxIdentLen {
				return false // its writer is told each time that it is cut
			}
			f.Key = append(f.Key, keyIdent)
			f.Key = appendFolded(f.Key, t.Text(s.sql))
			f.Key = append(f.Key, 0)
			return true
		}
		f.Key = append(f.Key, keyKeyword, byte(t.Key>>8), byte(t.Key))
		return s.keyword(t.Key)
	case KindQuoted, KindUIdent:
		if t.End-t.Off > maxIdentLen {
			return false
		}
		s.text(t)
		return true
	case KindBit, KindHexBit, KindNString, KindUString:
		s.text(t)
		s.typ = false
		return true
	case KindInt, KindNumeric, KindString, KindEString, KindDollar:
		return s.literal(t)
	case KindOp:
		s.text(t)
		s.typ = false
		return true
	case KindLParen:
		if !s.openParen() {
			return false
		}
	case KindRParen:
		if s.depth--; s.depth < 0 {
			return false
		}
		s.typ = false
	case KindCast:
		s.typ = true
	case KindDot, KindLBracket, KindRBracket:
	default:
		s.typ = false
	}
	f.Key = append(f.Key, byte(t.Kind))
	return true
}

func (s *scan) text(t Token) {
	s.f.Key = append(s.f.Key, keyText)
	s.f.Key = append(s.f.Key, t.Text(s.sql)...)
	s.f.Key = append(s.f.Key, 0)
}

// openParen starts a level.
func (s *scan) openParen() bool {
	if s.depth+1 == len(s.levels) {
		return false
	}
	up := s.levels[s.depth]
	s.depth++
	l := &s.levels[s.depth]
	*l = level{clause: up.clause, frozen: up.frozen || up.clause == clauseList, conflict: up.conflict}
	switch {
	case s.typ && s.prev.Kind != KindCast && s.prev.Key != kwAs:
		l.frozen = true // modifiers of a type
	case s.prev.Kind == KindIdent && keywordTable[s.prev.Key].cat == ColName:
		switch s.prev.Key {
		case kwCoalesce, kwGreatest, kwLeast, kwNullif, kwRow, kwValues, kwExists:
		default:
			l.frozen = true // a type's modifiers, or EXTRACT and the like
		}
	}
	s.typ = false
	return true
}

// keyword follows the clauses.
func (s *scan) keyword(k Keyword) bool {
	l := &s.levels[s.depth]
	if keywordTable[k].cat == Reserved {
		s.typ = k == kwAs
	}
	switch k {
	case kwWhere, kwOn, kwValues, kwSet, kwLimit, kwOffset:
		if !l.conflict && s.prev.Key != kwDistinct {
			l.clause = clauseOpen
		}
	case kwConflict:
		l.clause, l.conflict = clauseFrom, true
	case kwDo:
		l.clause, l.conflict = clauseFrom, false
	case kwSelect, kwGroup, kwHaving, kwOrder, kwWindow, kwReturning:
		l.clause = clauseList
	case kwFrom, kwUsing, kwJoin, kwUnion, kwIntersect, kwExcept, kwFetch, kwFor:
		l.clause = clauseFrom
	case kwInto: // SELECT INTO makes a table
		return s.prev.Key == kwInsert
	}
	return true
}

// mayParam reports whether a literal behind the token before is an operand.
func (s *scan) mayParam() bool {
	l := s.levels[s.depth]
	if l.clause != clauseOpen || l.frozen || l.conflict || s.typ {
		return false
	}
	switch p := s.prev; {
	case p.Kind == KindLParen, p.Kind == KindComma:
		return true
	case p.Kind == KindOp:
		return !strings.ContainsAny(p.Text(s.sql), "~>#")
	case isOperator(p.Kind):
		return true
	default:
		switch p.Key {
		case kwWhere, kwOn, kwAnd, kwOr, kwNot, kwBetween, kwSymmetric, kwCase, kwWhen, kwThen, kwElse, kwLimit, kwOffset:
			return true
		}
	}
	return false
}

// literal takes a literal out, or keeps it in the key.
func (s *scan) literal(t Token) bool {
	f := s.f
	if t.Kind >= KindString && t.Kind <= KindDollar && s.prev.Kind == KindRParen {
		return false // a literal of a type with modifiers
	}
	if !s.mayParam() {
		s.text(t)
		s.typ = s.typ && t.Kind == KindInt
		return true
	}
	if len(f.Lits) == maxLiterals {
		return false
	}
	if k := s.prev.Kind; (k == KindSlash || k == KindPercent) && t.Text(s.sql) == "0" {
		return false // it fails as a constant, whatever the rows
	}
	l := Literal{Off: int(t.Off)}
	switch t.Kind {
	case KindInt:
		l.Kind, l.Val = ast.ConstInt, t.Text(s.sql)
		f.Key = append(f.Key, intWidth(l.Val))
	case KindNumeric:
		l.Kind, l.Val = ast.ConstNumeric, t.Text(s.sql)
		f.Key = append(f.Key, keyNumeric)
	default:
		v, err := t.value(s.sql)
		if err != nil {
			return false
		}
		l.Kind, l.Val = ast.ConstString, v
		f.Key = append(f.Key, keyString)
	}
	f.Lits = append(f.Lits, l)
	return true
}

// intWidth is the key's code for an integer by the type it has as a literal.
func intWidth(digits string) byte {
	if len(digits) < 10 {
		return keyInt4
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		return keyWideInt
	case n > 1<<31-1:
		return keyInt8
	}
	return keyInt4
}

func appendFolded(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// ParseNormalized parses a statement whose literals at the offsets of lits
// become ast.Param{Num: 1…}, in their order. Literals that are no operands
// there make it fail (42601): the caller then parses the statement as it is.
func ParseNormalized(sql string, lits []Literal) (st Statement, err error) {
	if err := checkEncoding(sql); err != nil {
		return st, err
	}
	defer catch(&err)
	p := newParser(sql)
	p.lits = lits
	st = p.statement()
	for p.accept(KindSemi) {
	}
	if !p.is(KindEOF) {
		return Statement{}, sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	if p.taken != len(lits) {
		return Statement{}, sqlerr.New(sqlerr.SyntaxError, "a literal of the statement cannot be a parameter")
	}
	st.NumParams = len(lits)
	return st, nil
}

// literalParam returns the parameter number of a literal token, if it is one
// of those that ParseNormalized was given.
func (p *parser) literalParam(t Token) (int, bool) {
	if p.lits == nil {
		return 0, false
	}
	i := sort.Search(len(p.lits), func(i int) bool { return p.lits[i].Off >= int(t.Off) })
	if i == len(p.lits) || p.lits[i].Off != int(t.Off) {
		return 0, false
	}
	p.taken++
	return i + 1, true
}
