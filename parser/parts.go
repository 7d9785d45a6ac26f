package parser

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// policy is CREATE and ALTER POLICY.
func (p *parser) policy(off ast.Off, alter bool) ast.Stmt {
	p.expectKw(kwPolicy)
	s := &ast.CreatePolicy{Off: off, Alter: alter, Name: p.colID()}
	p.expectKw(kwOn)
	s.Table = p.qualifiedName()
	if alter && p.acceptKws(kwRename, kwTo) {
		s.NewName = p.colID()
		return s
	}
	if !alter {
		p.policyKind(s)
	}
	if p.acceptKw(kwTo) {
		s.Roles = p.roleNames()
	}
	if p.acceptKw(kwUsing) {
		s.Using = p.parenthesized()
	}
	if p.acceptKws(kwWith, kwCheck) {
		s.Check = p.parenthesized()
	}
	return s
}

// policyKind is AS PERMISSIVE or RESTRICTIVE, and FOR command.
func (p *parser) policyKind(s *ast.CreatePolicy) {
	if p.acceptKw(kwAs) {
		at := p.off()
		switch kind := p.colID(); kind {
		case "permissive":
		case "restrictive":
			s.Restrictive = true
		default:
			p.fail(sqlerr.New(sqlerr.SyntaxError, "unrecognized row security option \"%s\"", kind).At(int(at)).
				WithHint("Only PERMISSIVE or RESTRICTIVE policies are supported currently."))
		}
	}
	if p.acceptKw(kwFor) {
		switch k := p.tok().Key; k {
		case kwAll, kwSelect, kwInsert, kwUpdate, kwDelete:
			p.next()
			s.Command = upper(k)
		default:
			p.syntaxErr()
		}
	}
}

// parenthesized is an expression in parentheses that belong to the clause.
func (p *parser) parenthesized() ast.Expr {
	p.expect(KindLParen)
	x := p.expr()
	p.expect(KindRParen)
	return x
}

// createStatistics is CREATE STATISTICS.
func (p *parser) createStatistics(off ast.Off) ast.Stmt {
	p.expectKw(kwStatistics)
	s := &ast.CreateStatistics{Off: off, IfNotExists: p.acceptKws(kwIf, kwNot, kwExists), Name: p.anyName()}
	if p.is(KindLParen) {
		s.Kinds = p.optParenNames()
	}
	p.expectKw(kwOn)
	s.Exprs = commaList(p, p.statisticsItem)
	p.expectKw(kwFrom)
	s.From = p.fromList()
	return s
}

// statisticsItem is a column, a call or an expression in parentheses.
func (p *parser) statisticsItem() ast.Expr {
	switch {
	case p.is(KindLParen):
		return p.parenthesized()
	case p.startsFunction():
		return p.tableFunction()
	}
	at := p.off()
	return &ast.ColumnRef{Off: at, Parts: []string{p.colID()}}
}

// alterStatistics is ALTER STATISTICS.
func (p *parser) alterStatistics(off ast.Off) ast.Stmt {
	p.expectKw(kwStatistics)
	a := &ast.AlterObject{Off: off, Kind: "STATISTICS"}
	a.IfExists = p.ifExists()
	a.Name = p.anyName()
	switch {
	case !a.IfExists && p.acceptKws(kwRename, kwTo):
		a.Action, a.NewName = "RENAME", p.colID()
	case !a.IfExists && p.acceptKws(kwOwner, kwTo):
		a.Action, a.NewName = "OWNER", p.roleName()
	case !a.IfExists && p.acceptKws(kwSet, kwSchema):
		a.Action, a.NewName = "SET SCHEMA", p.colID()
	default:
		p.expectKws(kwSet, kwStatistics)
		a.Action, a.Options = "SET STATISTICS", []ast.Option{{Off: p.off(), Name: "statistics", X: p.numericOnly()}}
	}
	return a
}
