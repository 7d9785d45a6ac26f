package parser

import (
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// Statement is one statement of a script: its tree, its own text, where that
// lies in the script (bytes), and the highest $n in it, not counting those of a
// statement that it prepares or a function that it defines. Offsets in the
// tree count from the script's start.
type Statement struct {
	Stmt      ast.Stmt
	Text      string
	Off, End  int
	NumParams int
}

// Parse returns the statements of a script; empty ones are skipped. The first
// syntax error anywhere in it is the result of the whole.
func Parse(sql string) (list []Statement, err error) { return (*Strings)(nil).Parse(sql) }

// Parse is the function Parse with string literals read as st says.
func (st *Strings) Parse(sql string) (list []Statement, err error) {
	if err := checkEncoding(sql); err != nil {
		return nil, err
	}
	defer catch(&err)
	p := newParser(sql)
	p.lx.strings = st
	for {
		for p.accept(KindSemi) {
		}
		if p.is(KindEOF) {
			p.room(p.read)
			return list, nil
		}
		list = append(list, p.statement())
	}
}

// statement parses one statement and stands on its semicolon, or the end.
func (p *parser) statement() Statement {
	p.params = 0
	off := p.tok().Off
	stmt := p.stmt()
	if !p.is(KindSemi) && !p.is(KindEOF) {
		p.syntaxErr()
	}
	end := p.last
	return Statement{Stmt: stmt, Text: p.lx.src[off:end], Off: int(off), End: int(end), NumParams: p.params}
}

// ParseOne returns the only statement of sql, or one without Stmt when sql is
// empty. More than one is a 42601, as in the extended protocol.
func ParseOne(sql string) (Statement, error) { return (*Strings)(nil).ParseOne(sql) }

// ParseOne is the function ParseOne with string literals read as st says.
func (st *Strings) ParseOne(sql string) (Statement, error) {
	list, err := st.Parse(sql)
	switch {
	case err != nil:
		return Statement{}, err
	case len(list) == 0:
		return Statement{}, nil
	case len(list) > 1:
		return Statement{}, sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	return list[0], nil
}

// Texts parses what the catalog keeps as text, for the planner.
type Texts struct{}

func (Texts) ParseExpr(sql string) (ast.Expr, error) { return ParseExpr(sql) }

func (Texts) ParseBody(sql string, standard bool) ([]ast.Stmt, error) {
	return ParseBody(sql, standard)
}

// ParseQuery parses the text of a view.
func (Texts) ParseQuery(sql string) (*ast.Select, error) {
	st, err := ParseOne(strings.TrimSpace(sql))
	if err != nil {
		return nil, err
	}
	q, ok := st.Stmt.(*ast.Select)
	if !ok {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "the stored text of a view is no query")
	}
	return q, nil
}

// ParseExpr parses sql as one value expression.
func ParseExpr(sql string) (x ast.Expr, err error) {
	if err := checkEncoding(sql); err != nil {
		return nil, err
	}
	defer catch(&err)
	p := newParser(sql)
	x = p.expr()
	if !p.is(KindEOF) {
		p.syntaxErr()
	}
	return x, nil
}

// ParseTypeName parses sql as the name of a type, such as numeric(10,2)[].
func ParseTypeName(sql string) (t ast.TypeName, err error) {
	if err := checkEncoding(sql); err != nil {
		return t, err
	}
	defer catch(&err)
	p := newParser(sql)
	t = p.typeName()
	if !p.is(KindEOF) {
		p.syntaxErr()
	}
	return t, nil
}

// LineCol returns the 1-based line and column (in characters) of the byte
// offset off in sql.
func LineCol(sql string, off int) (line, col int) {
	off = min(max(off, 0), len(sql))
	before := sql[:off]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// ParseBody parses the body of a function: statements, or with standard RETURN
// or BEGIN ATOMIC … END.
func ParseBody(sql string, standard bool) (out []ast.Stmt, err error) {
	if !standard {
		list, err := Parse(sql)
		for _, st := range list {
			out = append(out, st.Stmt)
		}
		return out, err
	}
	defer catch(&err)
	p := newParser(sql)
	f := &ast.CreateFunction{}
	p.standardBody(f)
	if !p.is(KindEOF) {
		p.syntaxErr()
	}
	return f.SQLBody, nil
}
