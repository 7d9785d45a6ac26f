package parser

import (
	"fmt"
	"strconv"

	"github.com/xwb1989/sqlparser"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// skeleton is a statement core reduced to its structure, in the words of
// sqlparser's grammar: a name or FROM item is `tN`, a region of expression
// :vN, N being the index in refs of what was read there. Neither quoting nor
// reserved words nor literals of the original reach sqlparser, and each node
// of its tree leads back, through N, to ours.
type skeleton struct {
	buf    []byte
	refs   []any
	pieces []piece
}

// piece remembers which token of ours a part of the skeleton stands for.
type piece struct {
	start int
	tok   Token
}

// openSkeleton takes a spare skeleton; cores nest, so each has its own.
func (p *parser) openSkeleton() *skeleton {
	if n := len(p.spare); n > 0 {
		s := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return s
	}
	return &skeleton{buf: make([]byte, 0, 256), refs: make([]any, 0, 16), pieces: make([]piece, 0, 32)}
}

func (p *parser) closeSkeleton(s *skeleton) {
	clear(s.refs)
	s.buf, s.refs, s.pieces = s.buf[:0], s.refs[:0], s.pieces[:0]
	p.spare = append(p.spare, s)
}

// word emits structure; t is the token it was written with.
func (s *skeleton) word(t Token, text string) {
	s.pieces = append(s.pieces, piece{len(s.buf), t})
	s.buf = append(s.buf, text...)
}

// value emits :vN for an expression region that began at t.
func (s *skeleton) value(t Token, x any) {
	s.pieces = append(s.pieces, piece{len(s.buf), t})
	s.buf = append(s.buf, ":v"...)
	s.buf = strconv.AppendInt(s.buf, int64(len(s.refs)), 10)
	s.refs = append(s.refs, x)
}

// name emits `tN` for a name or FROM item that began at t.
func (s *skeleton) name(t Token, x any) {
	s.pieces = append(s.pieces, piece{len(s.buf), t})
	s.buf = append(s.buf, "`t"...)
	s.buf = strconv.AppendInt(s.buf, int64(len(s.refs)), 10)
	s.buf = append(s.buf, '`')
	s.refs = append(s.refs, x)
}

// structure hands the skeleton to sqlparser. A refusal is PostgreSQL's syntax
// error at the token that the refused part stands for.
func (p *parser) structure(s *skeleton) sqlparser.Statement {
	end := len(s.buf)
	stmt, err := sqlparser.Parse(string(append(s.buf, ' ')))
	if err == nil {
		return stmt
	}
	at := p.tok()
	var pos int
	if _, scanErr := fmt.Sscanf(err.Error(), "syntax error at position %d", &pos); scanErr == nil {
		// The position is one past the character behind the refused token; at
		// the end, which the space was put behind, the fault is at our current one.
		for _, pc := range s.pieces {
			if pc.start <= pos-2 && pos-2 < end {
				at = pc.tok
			}
		}
	}
	p.syntaxErrAt(at)
	return nil
}

// valueRef returns what the :vN of a sqlparser expression stands for.
func (s *skeleton) valueRef(x sqlparser.Expr) any {
	v, ok := x.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.ValArg || len(v.Val) < 3 {
		panic(fault{unexpectedNode(x)})
	}
	return s.refs[number(v.Val[2:])]
}

// nameRef returns what `tN` stands for.
func (s *skeleton) nameRef(name string) any {
	return s.refs[number([]byte(name)[1:])]
}

func number(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// exprRef is valueRef for a region that is one expression.
func (s *skeleton) exprRef(x sqlparser.Expr) ast.Expr {
	e, ok := s.valueRef(x).(ast.Expr)
	if !ok {
		panic(fault{unexpectedNode(x)})
	}
	return e
}

// whereRef returns the condition of a WHERE or HAVING, or nil.
func (s *skeleton) whereRef(w *sqlparser.Where) ast.Expr {
	if w == nil {
		return nil
	}
	return s.exprRef(w.Expr)
}

// unexpectedNode reports a tree that no skeleton of ours can lead to.
func unexpectedNode(n any) error {
	return sqlerr.New(sqlerr.InternalError, "unexpected node %T in a statement's structure", n)
}
