package parser

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

func windowingError(off ast.Off, msg string) error {
	return sqlerr.New(sqlerr.WindowingError, "%s", msg).At(int(off))
}

// niladic lists the value functions without parentheses; true where a
// precision may follow.
var niladic = map[Keyword]bool{
	kwCurrentDate: false, kwCurrentTime: true, kwCurrentTimestamp: true, kwLocaltime: true,
	kwLocaltimestamp: true, kwCurrentRole: false, kwCurrentUser: false, kwSessionUser: false,
	kwUser: false, kwCurrentCatalog: false, kwCurrentSchema: false,
}

var niladicNames = map[Keyword]string{
	kwCurrentDate: "CURRENT_DATE", kwCurrentTime: "CURRENT_TIME", kwCurrentTimestamp: "CURRENT_TIMESTAMP",
	kwLocaltime: "LOCALTIME", kwLocaltimestamp: "LOCALTIMESTAMP", kwCurrentRole: "CURRENT_ROLE",
	kwCurrentUser: "CURRENT_USER", kwSessionUser: "SESSION_USER", kwUser: "USER",
	kwCurrentCatalog: "CURRENT_CATALOG", kwCurrentSchema: "CURRENT_SCHEMA",
}

// specialForm parses the functions that have a grammar of their own. It
// returns nil when the word t is used as an ordinary name.
func (p *parser) specialForm(t Token) ast.Expr {
	off := ast.Off(t.Off)
	if prec, ok := niladic[t.Key]; ok {
		if t.Key == kwCurrentSchema && p.peek(1).Kind == KindLParen {
			return nil // current_schema is also an ordinary function name
		}
		p.next()
		s := &ast.Special{Off: off, Kind: niladicNames[t.Key]}
		if prec && p.is(KindLParen) {
			s.Args = p.precision()
		}
		return s
	}
	if p.peek(1).Kind != KindLParen {
		if t.Key == kwCollation && p.peek(1).Key == kwFor {
			p.next()
			p.next()
			p.expect(KindLParen)
			x := p.expr()
			p.expect(KindRParen)
			return &ast.Call{Off: off, Name: systemName(t, "pg_collation_for"), Args: []ast.Expr{x}, Form: "pg_collation_for"}
		}
		return nil
	}
	switch t.Key {
	case kwCoalesce, kwGreatest, kwLeast, kwGrouping:
		p.next()
		return &ast.Special{Off: off, Kind: upper(t.Key), Args: p.parenExprs()}
	case kwNullif:
		p.next()
		p.expect(KindLParen)
		a := p.expr()
		p.expect(KindComma)
		b := p.expr()
		p.expect(KindRParen)
		return &ast.Special{Off: off, Kind: "NULLIF", Args: []ast.Expr{a, b}}
	case kwExtract:
		return p.extract()
	case kwPosition:
		return p.position()
	case kwSubstring:
		return p.substring()
	case kwOverlay:
		return p.overlay()
	case kwTrim:
		return p.trim()
	case kwNormalize:
		return p.normalize()
	case kwTreat:
		p.unsupported(off, "TREAT")
	case kwXmlconcat, kwXmlelement, kwXmlexists, kwXmlforest, kwXmlparse, kwXmlpi, kwXmlroot, kwXmlserialize:
		p.unsupported(off, upper(t.Key))
	}
	return nil
}

func upper(k Keyword) string {
	b := []byte(keywordTable[k].word)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// formCall opens a special form: it consumes its word and the parenthesis.
func (p *parser) formCall(name, form string) *ast.Call {
	t := p.next()
	p.expect(KindLParen)
	return &ast.Call{Off: ast.Off(t.Off), Name: systemName(t, name), Form: form}
}

// extract is EXTRACT(field FROM x).
func (p *parser) extract() ast.Expr {
	c := p.formCall("extract", "extract")
	field := &ast.Const{Off: p.off(), Kind: ast.ConstString}
	t := p.tok()
	switch {
	case isSconst(t):
		field.Val = p.sconst()
	case t.Kind == KindQuoted || t.Kind == KindUIdent || (t.Kind == KindIdent && t.Key == noKeyword):
		field.Val = p.takeName()
	default:
		switch t.Key {
		case kwYear, kwMonth, kwDay, kwHour, kwMinute, kwSecond:
			field.Val = p.takeName()
		default:
			p.syntaxErr()
		}
	}
	p.expectKw(kwFrom)
	c.Args = []ast.Expr{field, p.expr()}
	p.expect(KindRParen)
	return c
}

// position is POSITION(a IN b).
func (p *parser) position() ast.Expr {
	c := p.formCall("position", "position")
	a := p.bExpr()
	p.expectKw(kwIn)
	c.Args = []ast.Expr{p.bExpr(), a}
	p.expect(KindRParen)
	return c
}

// substring is SUBSTRING(x FROM a FOR b), SUBSTRING(x SIMILAR p ESCAPE e), or
// a plain call, whose name then stays open to other definitions.
func (p *parser) substring() ast.Expr {
	t := p.tok()
	c := p.formCall("substring", "substring")
	if p.plainArgs(c, t) {
		return c
	}
	switch {
	case p.acceptKw(kwSimilar):
		c.Form = "substring similar"
		c.Args = append(c.Args, p.expr())
		p.expectKw(kwEscape)
		c.Args = append(c.Args, p.expr())
	case p.acceptKw(kwFrom):
		c.Args = append(c.Args, p.expr())
		if p.acceptKw(kwFor) {
			c.Args = append(c.Args, p.expr())
		}
	default:
		p.expectKw(kwFor)
		n := p.expr()
		var from ast.Expr
		if p.acceptKw(kwFrom) {
			from = p.expr()
		} else {
			from = &ast.Const{Off: -1, Kind: ast.ConstInt, Val: "1"}
			n = &ast.Cast{Off: -1, X: n, Type: systemType(-1, "int4")}
		}
		c.Args = append(c.Args, from, n)
	}
	p.expect(KindRParen)
	return c
}

// overlay is OVERLAY(x PLACING a FROM b FOR c) or a plain call.
func (p *parser) overlay() ast.Expr {
	t := p.tok()
	c := p.formCall("overlay", "overlay")
	if p.plainArgs(c, t) {
		return c
	}
	p.expectKw(kwPlacing)
	c.Args = append(c.Args, p.expr())
	p.expectKw(kwFrom)
	c.Args = append(c.Args, p.expr())
	if p.acceptKw(kwFor) {
		c.Args = append(c.Args, p.expr())
	}
	p.expect(KindRParen)
	return c
}

// plainArgs parses the arguments up to where a keyword would continue the
// special form; it reports whether the call was a plain one, complete now.
func (p *parser) plainArgs(c *ast.Call, t Token) bool {
	if !p.is(KindRParen) {
		p.callArgs(c)
		if p.is(KindRParen) || len(c.Args) != 1 || c.ArgNames != nil || c.Variadic {
			p.expect(KindRParen)
			c.Name, c.Form = ast.Name{Off: c.Off, Parts: []string{t.Key.String()}}, ""
			return true
		}
		return false
	}
	p.next()
	c.Name, c.Form = ast.Name{Off: c.Off, Parts: []string{t.Key.String()}}, ""
	return true
}

// trim is TRIM([BOTH|LEADING|TRAILING] [a] FROM x), or TRIM(x, a).
func (p *parser) trim() ast.Expr {
	c := p.formCall("btrim", "trim")
	switch {
	case p.acceptKw(kwLeading):
		c.Name.Parts[1] = "ltrim"
	case p.acceptKw(kwTrailing):
		c.Name.Parts[1] = "rtrim"
	default:
		p.acceptKw(kwBoth)
	}
	if p.acceptKw(kwFrom) {
		c.Args = p.exprList()
	} else {
		c.Args = p.exprList()
		if len(c.Args) == 1 && p.acceptKw(kwFrom) {
			c.Args = append(p.exprList(), c.Args[0])
		}
	}
	p.expect(KindRParen)
	return c
}

// normalize is NORMALIZE(x [, form]).
func (p *parser) normalize() ast.Expr {
	c := p.formCall("normalize", "normalize")
	c.Args = []ast.Expr{p.expr()}
	if p.accept(KindComma) {
		form, ok := normalForms[p.tok().Key]
		if !ok {
			p.syntaxErr()
		}
		c.Args = append(c.Args, &ast.Const{Off: p.off(), Kind: ast.ConstString, Val: form})
		p.next()
	}
	p.expect(KindRParen)
	return c
}
