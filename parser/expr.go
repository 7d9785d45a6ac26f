package parser

import (
	"kvsqld/parser/ast"
)

// Binding powers of PostgreSQL's operators, weakest first.
const (
	precNone    = iota
	precOr      // OR
	precAnd     // AND
	precNot     // NOT
	precIs      // IS ISNULL NOTNULL
	precCmp     // < > = <= >= <>, no chains
	precIn      // BETWEEN IN LIKE ILIKE SIMILAR, no chains
	precOp      // every other operator
	precAdd     // + -
	precMul     // * / %
	precPow     // ^
	precAt      // AT TIME ZONE
	precCollate // COLLATE
	precUnary   // prefix + -
	precCast    // ::
)

// expr is PostgreSQL's a_expr.
func (p *parser) expr() ast.Expr { return p.exprMin(precNone, false) }

// bExpr is PostgreSQL's b_expr: what may stand between BETWEEN and AND, or in
// a DEFAULT, without AND, OR, NOT, IN, LIKE and IS NULL at its top.
func (p *parser) bExpr() ast.Expr { return p.exprMin(precNone, true) }

// exprList is a comma list of expressions.
func (p *parser) exprList() []ast.Expr {
	return commaList(p, p.expr)
}

// exprMin parses an expression whose infix operators bind at least as tightly
// as min; b restricts it to b_expr.
func (p *parser) exprMin(min int, b bool) ast.Expr {
	p.enter()
	x := p.infix(p.prefix(b), min, b)
	p.leave()
	return x
}

// prefix parses an operand with the prefix operators in front of it.
func (p *parser) prefix(b bool) ast.Expr {
	t := p.tok()
	switch t.Kind {
	case KindMinus, KindPlus:
		p.next()
		return signed(t, p.exprMin(precUnary, b), p.lx.src)
	case KindOp:
		p.next()
		return &ast.Unary{Off: ast.Off(t.Off), Op: t.Text(p.lx.src), X: p.exprMin(precOp+1, b)}
	case KindIdent:
		switch t.Key {
		case kwNot:
			if !b {
				p.next()
				return &ast.Not{Off: ast.Off(t.Off), X: p.exprMin(precNot, b)}
			}
		case kwOperator:
			if p.peek(1).Kind == KindLParen {
				schema, op := p.qualifiedOperator()
				return &ast.Unary{Off: ast.Off(t.Off), Schema: schema, Op: op, X: p.exprMin(precOp+1, b)}
			}
		}
	}
	return p.primary()
}

// signed applies a prefix sign. A minus before a number literal is part of the
// literal, so that -2147483648 is an int4.
func signed(t Token, x ast.Expr, sql string) ast.Expr {
	if c, ok := x.(*ast.Const); ok && t.Kind == KindMinus && (c.Kind == ast.ConstInt || c.Kind == ast.ConstNumeric) {
		if c.Val[0] == '-' {
			return &ast.Const{Off: ast.Off(t.Off), Kind: c.Kind, Val: c.Val[1:]}
		}
		return &ast.Const{Off: ast.Off(t.Off), Kind: c.Kind, Val: "-" + c.Val}
	}
	return &ast.Unary{Off: ast.Off(t.Off), Op: t.Text(sql), X: x}
}

// qualifiedOperator reads OPERATOR(schema.op).
func (p *parser) qualifiedOperator() (schema, op string) {
	p.expectKw(kwOperator)
	p.expect(KindLParen)
	for isLabel(p.tok()) {
		if schema != "" {
			schema += "."
		}
		schema += p.colID()
		p.expect(KindDot)
	}
	op = p.anyOperator()
	p.expect(KindRParen)
	return schema, op
}

// isOperator reports whether t is any operator symbol.
func isOperator(k Kind) bool { return k >= KindOp && k <= KindCaret }

// anyOperator is an operator symbol; != is <>.
func (p *parser) anyOperator() string {
	t := p.tok()
	if !isOperator(t.Kind) {
		p.syntaxErr()
	}
	p.next()
	return opText(t, p.lx.src)
}

func opText(t Token, sql string) string {
	if t.Kind == KindNotEq {
		return "<>"
	}
	return t.Text(sql)
}

// infixPrec returns the binding power of the token as an infix operator, or
// precNone. NOT counts when IN, LIKE and the like follow.
func (p *parser) infixPrec(t Token, b bool) int {
	switch t.Kind {
	case KindLess, KindGreater, KindEqual, KindLessEq, KindGreatEq, KindNotEq:
		return precCmp
	case KindOp:
		return precOp
	case KindPlus, KindMinus:
		return precAdd
	case KindStar, KindSlash, KindPercent:
		return precMul
	case KindCaret:
		return precPow
	case KindCast:
		return precCast
	case KindIdent:
	default:
		return precNone
	}
	switch t.Key {
	case kwIs:
		return precIs
	case kwOperator:
		if p.peek(1).Kind == KindLParen {
			return precOp
		}
	}
	if b {
		return precNone
	}
	switch t.Key {
	case kwOr:
		return precOr
	case kwAnd:
		return precAnd
	case kwIsnull, kwNotnull:
		return precIs
	case kwBetween, kwIn, kwLike, kwIlike:
		return precIn
	case kwSimilar:
		if p.peek(1).Key == kwTo {
			return precIn
		}
	case kwNot:
		switch p.peek(1).Key {
		case kwBetween, kwIn, kwLike, kwIlike, kwSimilar:
			return precIn
		}
	case kwAt: // else a label without AS
		if p.peek(1).Key == kwTime {
			return precAt
		}
	case kwCollate: // likewise
		if isName(p.peek(1), true, false) {
			return precCollate
		}
	}
	return precNone
}

// infix extends left by the operators that bind at least as tightly as min.
func (p *parser) infix(left ast.Expr, min int, b bool) ast.Expr {
	closed := 0 // a level without chains that left has used up
	for n := 0; ; n++ {
		t := p.tok()
		prec := p.infixPrec(t, b)
		if prec == precNone || prec < min {
			return left
		}
		if prec == closed {
			p.syntaxErr()
		}
		if n > maxChain && prec != precAnd && prec != precOr {
			p.fail(errTooDeep(int(t.Off)))
		}
		closed = 0
		switch prec {
		case precOr:
			left = p.orChain(left)
		case precAnd:
			left = p.andChain(left)
		case precIs:
			var open bool
			if left, open = p.isTest(left, b); open {
				closed = precIs
			}
		case precIn:
			var open bool
			if left, open = p.inTest(left); open {
				closed = precIn
			}
		case precAt:
			p.next()
			p.next()
			p.expectKw(kwZone)
			zone := p.exprMin(precAt+1, b)
			left = &ast.Call{Off: ast.Off(t.Off), Name: systemName(t, "timezone"), Args: []ast.Expr{zone, left}, Form: "timezone"}
		case precCollate:
			n := p.collate()
			left = &ast.Collate{Off: ast.Off(t.Off), X: left, Name: *n}
		case precCast:
			p.next()
			left = &ast.Cast{Off: ast.Off(t.Off), X: left, Type: p.typeName()}
		default:
			var schema, op string
			if t.Kind == KindIdent {
				schema, op = p.qualifiedOperator()
			} else {
				p.next()
				op = opText(t, p.lx.src)
			}
			if q := p.quantified(left, schema, op, t, b); q != nil {
				left = q
				continue
			}
			left = &ast.Binary{Off: ast.Off(t.Off), Schema: schema, Op: op, L: left, R: p.exprMin(prec+1, b)}
			if prec == precCmp {
				closed = precCmp
			}
		}
	}
}

func systemName(t Token, name string) ast.Name {
	return ast.Name{Off: ast.Off(t.Off), Parts: []string{"pg_catalog", name}}
}

func (p *parser) orChain(left ast.Expr) ast.Expr {
	or := &ast.Or{Off: p.off(), Args: []ast.Expr{left}}
	for p.acceptKw(kwOr) {
		or.Args = append(or.Args, p.exprMin(precOr+1, false))
	}
	return or
}

func (p *parser) andChain(left ast.Expr) ast.Expr {
	and := &ast.And{Off: p.off(), Args: []ast.Expr{left}}
	for p.acceptKw(kwAnd) {
		and.Args = append(and.Args, p.exprMin(precAnd+1, false))
	}
	return and
}

// quantified reads ANY|SOME|ALL (…) behind an operator, or returns nil.
func (p *parser) quantified(left ast.Expr, schema, op string, at Token, b bool) ast.Expr {
	k := p.tok().Key
	if b || (k != kwAny && k != kwSome && k != kwAll) {
		return nil
	}
	p.next()
	q := &ast.Quantified{Off: ast.Off(at.Off), L: left, Schema: schema, Op: op, All: k == kwAll}
	if query, x := p.parenQueryOrExpr(); query != nil {
		q.Query = query
	} else {
		q.Array = x
	}
	return q
}

// isTest parses what follows IS, and ISNULL and NOTNULL. open is true when the
// result may not be followed by another test of the level.
func (p *parser) isTest(left ast.Expr, b bool) (x ast.Expr, open bool) {
	t := p.next()
	off := ast.Off(t.Off)
	switch t.Key {
	case kwIsnull:
		return &ast.Is{Off: off, X: left, Test: "NULL"}, false
	case kwNotnull:
		return &ast.Is{Off: off, X: left, Not: true, Test: "NULL"}, false
	}
	not := p.acceptKw(kwNot)
	switch k := p.tok().Key; {
	case k == kwDistinct:
		p.next()
		p.expectKw(kwFrom)
		return &ast.Distinct{Off: off, L: left, R: p.exprMin(precIs+1, b), Not: not}, true
	case k == kwDocument:
		p.next()
		return &ast.Is{Off: off, X: left, Not: not, Test: "DOCUMENT"}, false
	case b:
		p.syntaxErr()
	case k == kwNull:
		p.next()
		return &ast.Is{Off: off, X: left, Not: not, Test: "NULL"}, false
	case k == kwTrue:
		p.next()
		return &ast.Is{Off: off, X: left, Not: not, Test: "TRUE"}, false
	case k == kwFalse:
		p.next()
		return &ast.Is{Off: off, X: left, Not: not, Test: "FALSE"}, false
	case k == kwUnknown:
		p.next()
		return &ast.Is{Off: off, X: left, Not: not, Test: "UNKNOWN"}, false
	case k == kwNormalized:
		p.next()
		return &ast.Is{Off: off, X: left, Not: not, Test: "NORMALIZED"}, false
	case k == kwNfc || k == kwNfd || k == kwNfkc || k == kwNfkd:
		form := normalForms[k]
		p.next()
		p.expectKw(kwNormalized)
		return &ast.Is{Off: off, X: left, Not: not, Test: form + " NORMALIZED"}, false
	}
	p.syntaxErr()
	return nil, false
}

var normalForms = map[Keyword]string{kwNfc: "NFC", kwNfd: "NFD", kwNfkc: "NFKC", kwNfkd: "NFKD"}

// inTest parses [NOT] BETWEEN, IN, LIKE, ILIKE and SIMILAR TO.
func (p *parser) inTest(left ast.Expr) (x ast.Expr, open bool) {
	t := p.tok()
	not := p.acceptKw(kwNot)
	off := ast.Off(t.Off)
	switch k := p.next(); k.Key {
	case kwBetween:
		return p.between(left, off, not), true
	case kwIn:
		in := &ast.In{Off: off, X: left, Not: not}
		q, items := p.parenQueryOrList()
		in.Query, in.List = q, items
		return in, false
	case kwLike, kwIlike:
		op := "~~"
		if k.Key == kwIlike {
			op = "~~*"
		}
		if not {
			op = "!" + op
		}
		if q := p.quantified(left, "", op, t, false); q != nil {
			return q, false
		}
		pat := p.exprMin(precIn+1, false)
		if e := p.tok(); p.acceptKw(kwEscape) {
			pat = &ast.Call{Off: ast.Off(e.Off), Name: systemName(e, "like_escape"),
				Args: []ast.Expr{pat, p.exprMin(precIn+1, false)}}
		}
		return &ast.Binary{Off: off, Op: op, L: left, R: pat}, true
	default:
		p.expectKw(kwTo)
		pat := p.exprMin(precIn+1, false)
		call := &ast.Call{Off: ast.Off(k.Off), Name: systemName(k, "similar_to_escape"), Args: []ast.Expr{pat}}
		if p.acceptKw(kwEscape) {
			call.Args = append(call.Args, p.exprMin(precIn+1, false))
		}
		op := "~"
		if not {
			op = "!~"
		}
		return &ast.Binary{Off: off, Op: op, L: left, R: call}, true
	}
}

func (p *parser) between(left ast.Expr, off ast.Off, not bool) ast.Expr {
	bt := &ast.Between{Off: off, X: left, Not: not}
	if p.acceptKw(kwSymmetric) {
		bt.Symmetric = true
	} else {
		p.acceptKw(kwAsymmetric)
	}
	bt.Lo = p.bExpr()
	p.expectKw(kwAnd)
	bt.Hi = p.exprMin(precIn+1, false)
	return bt
}
