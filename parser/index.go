package parser

import "kvsqld/parser/ast"

// indexElem is a column, a function call or a parenthesised expression, with
// collation, operator class and order.
func (p *parser) indexElem() ast.IndexElem {
	e := ast.IndexElem{Off: p.off()}
	switch {
	case p.is(KindLParen):
		p.next()
		e.X = p.expr()
		p.expect(KindRParen)
	case p.startsFunction():
		e.X = p.tableFunction()
	default:
		e.Col = p.colID()
	}
	if p.acceptKw(kwCollate) {
		n := p.anyName()
		e.Collate = &n
	}
	if isName(p.tok(), true, false) && !p.isKw(kwNulls) {
		n := p.anyName()
		e.Opclass = &n
		if p.is(KindLParen) {
			p.unsupported(p.off(), "operator class parameters")
		}
	}
	if p.acceptKw(kwDesc) {
		e.Desc = true
	} else {
		p.acceptKw(kwAsc)
	}
	e.NullsFirst = p.nullsOrder()
	return e
}
