package parser

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// dropOther is DROP of the objects that tables, types and functions do not need:
// operators, casts, and the many kinds that exist only by name.
func (p *parser) dropOther(d *ast.Drop) ast.Stmt {
	d.Kind = p.otherKind()
	switch d.Kind {
	case "", "LARGE OBJECT", "DEFAULT CONVERSION", "CONSTRAINT TRIGGER", "TRUSTED LANGUAGE", "TRUSTED PROCEDURAL LANGUAGE":
		p.syntaxErr()
	case "PROCEDURAL LANGUAGE":
		d.Kind = "LANGUAGE"
	}
	d.IfExists = p.ifExists()
	p.otherNames(d)
	if d.Kind != "USER MAPPING" && d.Kind != "TABLESPACE" {
		d.Cascade = p.cascade()
	}
	return d
}

// otherNames reads the names of the objects of a kind.
func (p *parser) otherNames(d *ast.Drop) {
	one := func() { d.Names = append(d.Names, p.plainName()) }
	switch d.Kind {
	case "OPERATOR":
		for {
			name, args := p.operatorWithArgs()
			d.Names, d.Args = append(d.Names, name), append(d.Args, args)
			if !p.accept(KindComma) {
				break
			}
		}
	case "CAST":
		d.Names = []ast.Name{{Off: p.off(), Parts: []string{"cast"}}}
		d.Args = [][]ast.TypeName{p.castSides()}
	case "TRANSFORM":
		p.expectKw(kwFor)
		d.Args = [][]ast.TypeName{{p.typeName()}}
		p.expectKw(kwLanguage)
		one()
	case "TRIGGER", "POLICY", "RULE":
		one()
		p.expectKw(kwOn)
		n := p.anyName()
		d.On = &n
	case "OPERATOR CLASS", "OPERATOR FAMILY":
		d.Names = append(d.Names, p.anyName())
		p.expectKw(kwUsing)
		n := p.plainName()
		d.On = &n
	case "USER MAPPING":
		p.expectKw(kwFor)
		at := p.off()
		role := "user"
		if !p.acceptKw(kwUser) {
			role = p.roleName()
		}
		d.Names = []ast.Name{{Off: at, Parts: []string{role}}}
		p.expectKw(kwServer)
		n := p.plainName()
		d.On = &n
	case "LANGUAGE", "SUBSCRIPTION", "TABLESPACE":
		one()
	case "ACCESS METHOD", "EVENT TRIGGER", "FOREIGN DATA WRAPPER", "PUBLICATION", "SERVER":
		one()
		for p.accept(KindComma) {
			one()
		}
	default:
		d.Names = commaList(p, p.anyName)
	}
}

// plainName is a name without a schema.
func (p *parser) plainName() ast.Name {
	return ast.Name{Off: p.off(), Parts: []string{p.colID()}}
}

// operatorName is an operator's symbol, with a schema or without.
func (p *parser) operatorName() ast.Name {
	n := ast.Name{Off: p.off()}
	for isLabel(p.tok()) {
		n.Parts = append(n.Parts, p.colID())
		p.expect(KindDot)
	}
	n.Parts = append(n.Parts, p.anyOperator())
	return n
}

// operatorWithArgs is an operator and the types of its two sides; a type without
// a name is NONE.
func (p *parser) operatorWithArgs() (ast.Name, []ast.TypeName) {
	n := p.operatorName()
	p.expect(KindLParen)
	side := func() ast.TypeName {
		if p.isKw(kwNone) {
			off := p.off()
			p.next()
			return ast.TypeName{Off: off}
		}
		return p.typeName()
	}
	l := side()
	if p.is(KindRParen) {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "missing argument").At(int(p.off())).
			WithHint("Use NONE to denote the missing argument of a unary operator."))
	}
	p.expect(KindComma)
	args := []ast.TypeName{l, side()}
	p.expect(KindRParen)
	return n, args
}
