package parser

import "kvsqld/parser/ast"

// definition is (name = value, …) of CREATE AGGREGATE, CREATE OPERATOR and CREATE
// TYPE … AS RANGE. A value is a number, a string, a type (an ast.Cast of NULL to it) or an operator (an
// ast.ColumnRef of its schema and symbol).
func (p *parser) definition() []ast.Option {
	p.expect(KindLParen)
	l := commaList(p, func() ast.Option {
		o := ast.Option{Off: p.off(), Name: p.colLabel()}
		if p.accept(KindEqual) {
			o.X = p.definitionValue()
		}
		return o
	})
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
	return commaList(p, p.funcParam)
}

// createCast is CREATE CAST.
func (p *parser) createCast(off ast.Off) ast.Stmt {
	p.next()
	c := &ast.CreateCast{Off: off}
	p.expect(KindLParen)
	c.Source = p.typeName()
	p.expectKw(kwAs)
	c.Target = p.typeName()
	p.expect(KindRParen)
	switch {
	case p.acceptKws(kwWithout, kwFunction):
		c.Method = "WITHOUT FUNCTION"
	case p.acceptKws(kwWith, kwInout):
		c.Method = "WITH INOUT"
	default:
		p.expectKws(kwWith, kwFunction)
		c.Method = "WITH FUNCTION"
		c.Func, c.Args = p.funcWithArgs()
	}
	switch {
	case p.acceptKws(kwAs, kwImplicit):
		c.Context = "IMPLICIT"
	case p.acceptKws(kwAs, kwAssignment):
		c.Context = "ASSIGNMENT"
	}
	return c
}

// castSides is (source AS target).
func (p *parser) castSides() []ast.TypeName {
	p.expect(KindLParen)
	from := p.typeName()
	p.expectKw(kwAs)
	to := p.typeName()
	p.expect(KindRParen)
	return []ast.TypeName{from, to}
}

// alterOperator is ALTER OPERATOR name(left, right).
func (p *parser) alterOperator(off ast.Off) ast.Stmt {
	p.next()
	a := &ast.AlterObject{Off: off, Kind: "OPERATOR"}
	a.Name, a.Args = p.operatorWithArgs()
	switch {
	case p.acceptKws(kwOwner, kwTo):
		a.Action, a.NewName = "OWNER", p.roleName()
	case p.acceptKws(kwSet, kwSchema):
		a.Action, a.NewName = "SET SCHEMA", p.colID()
	default:
		p.expectKw(kwSet)
		a.Action, a.Options = "SET OPTIONS", p.definition()
	}
	return a
}
