package parser

import (
	"strings"

	"kvsqld/parser/ast"
)

// definition is (name = value, …) of CREATE AGGREGATE, CREATE OPERATOR and CREATE
// TYPE … AS RANGE. A value is a number, a string, a type (an ast.Cast of NULL to it) or an operator (an
// ast.ColumnRef of its schema and symbol).
func (p *parser) definition() []ast.Option {
	p.expect(KindLParen)
	var l []ast.Option
	for {
		o := ast.Option{Off: p.off(), Name: strings.ToLower(p.colLabel())}
		if p.accept(KindEqual) {
			o.X = p.definitionValue()
		}
		l = append(l, o)
		if !p.accept(KindComma) {
			break
		}
	}
	p.expect(KindRParen)
	return l
}

func (p *parser) definitionValue() ast.Expr {
	t := p.tok()
	switch {
	case isSconst(t):
		return p.stringConst()
	case t.Kind == KindInt, t.Kind == KindNumeric,
		(t.Kind == KindPlus || t.Kind == KindMinus) && (p.peek(1).Kind == KindInt || p.peek(1).Kind == KindNumeric):
		return p.numericOnly()
	case isOperator(t.Kind):
		off := p.off()
		return &ast.ColumnRef{Off: off, Parts: []string{p.anyOperator()}}
	case t.Key == kwOperator && p.peek(1).Kind == KindLParen:
		p.next()
		p.next()
		n := p.operatorName()
		p.expect(KindRParen)
		return &ast.ColumnRef{Off: n.Off, Parts: n.Parts}
	case t.Kind == KindIdent && (keywordTable[t.Key].cat == Reserved || t.Key == kwNone):
		return p.labelConst()
	}
	off := p.off()
	return &ast.Cast{Off: off, X: &ast.Const{Off: off, Kind: ast.ConstNull}, Type: p.funcTypeName()}
}

// createAggregate is CREATE [OR REPLACE] AGGREGATE.
func (p *parser) createAggregate(off ast.Off, replace bool) ast.Stmt {
	p.next()
	a := &ast.CreateAggregate{Off: off, OrReplace: replace, Name: p.funcName()}
	if p.is(KindLParen) && p.peek(2).Kind == KindEqual && isLabel(p.peek(1)) {
		a.Options = p.definition() // the types of the arguments are among the options
		return a
	}
	a.HasArgs = true
	p.expect(KindLParen)
	switch {
	case p.accept(KindStar):
	case p.isKw(kwOrder):
	default:
		a.Params = p.aggregateParams()
	}
	if p.acceptKw(kwOrder) {
		p.expectKw(kwBy)
		a.OrderBy = p.aggregateParams()
	}
	p.expect(KindRParen)
	a.Options = p.definition()
	return a
}

func (p *parser) aggregateParams() []ast.FuncParam {
	l := []ast.FuncParam{p.funcParam()}
	for p.accept(KindComma) {
		l = append(l, p.funcParam())
	}
	return l
}
