package parser

import "kvsqld/parser/ast"

// keyElem is a column, a function call or a parenthesised expression, with
// collation and operator class: what the keys of indexes and of partitions share.
func (p *parser) keyElem() ast.IndexElem {
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
	e.Collate = p.collate()
	if isName(p.tok(), true, false) && !p.isKw(kwNulls) {
		n := p.anyName()
		e.Opclass = &n
	}
	return e
}

// indexElem is a column, a function call or a parenthesised expression, with
// collation, operator class and order.
func (p *parser) indexElem() ast.IndexElem {
	e := p.keyElem()
	if e.Opclass != nil {
		if p.is(KindLParen) {
			p.unsupported(p.off(), "operator class parameters")
		}
	}
	if p.acceptKw(kwDesc) {
		e.Desc = true
	} else {
		e.Asc = p.acceptKw(kwAsc)
	}
	e.NullsFirst = p.nullsOrder()
	return e
}

// createIndex is CREATE [UNIQUE] INDEX.
func (p *parser) createIndex(off ast.Off) ast.Stmt {
	x := &ast.CreateIndex{Off: off}
	x.Unique = p.acceptKw(kwUnique)
	p.expectKw(kwIndex)
	x.Concurrently = p.acceptKw(kwConcurrently)
	if p.acceptKws(kwIf, kwNot, kwExists) {
		x.IfNotExists = true
		x.Name = p.colID()
	} else if !p.isKw(kwOn) {
		x.Name = p.colID()
	}
	p.expectKw(kwOn)
	t := p.relation()
	x.Table, x.Only = t.Name, t.Only
	if p.acceptKw(kwUsing) {
		x.Method = p.colID()
	}
	p.expect(KindLParen)
	x.Elems = commaList(p, p.indexElem)
	p.expect(KindRParen)
	if p.acceptKw(kwInclude) {
		x.Include = p.parenNames()
	}
	x.NullsNotDist = p.nullsNotDistinct()
	if p.acceptKw(kwWith) {
		x.With = p.relOptions()
	}
	if p.acceptKw(kwTablespace) {
		x.Tablespace = p.colID()
	}
	if p.acceptKw(kwWhere) {
		x.Where = p.expr()
	}
	return x
}
