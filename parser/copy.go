package parser

import (
	"strings"

	"kvsqld/parser/ast"
)

// copy is COPY, with options in parentheses or in the older spelling.
func (p *parser) copy() ast.Stmt {
	c := &ast.Copy{Off: p.off()}
	p.next()
	var old []ast.Option
	if p.isKw(kwBinary) && isName(p.peek(1), true, false) {
		old = append(old, formatOption(p.off(), "binary"))
		p.next()
	}
	if p.is(KindLParen) {
		p.next()
		c.Query = p.preparable()
		p.expect(KindRParen)
		p.expectKw(kwTo)
	} else {
		n := p.qualifiedName()
		c.Table = &n
		c.Cols = p.optParenNames()
		if c.From = p.acceptKw(kwFrom); !c.From {
			p.expectKw(kwTo)
		}
	}
	c.Program = p.acceptKw(kwProgram)
	switch {
	case isSconst(p.tok()):
		c.File = p.sconst()
	case c.Program:
		p.syntaxErr()
	case p.acceptKw(kwStdin), p.acceptKw(kwStdout):
	default:
		p.syntaxErr()
	}
	if p.isKw(kwDelimiters) || (p.isKw(kwUsing) && p.peek(1).Key == kwDelimiters) {
		p.acceptKw(kwUsing)
		old = append(old, ast.Option{Off: p.off(), Name: p.next().Key.String()[:9], X: p.stringConst()})
	}
	p.acceptKw(kwWith)
	if p.is(KindLParen) {
		c.Options = append(old, p.genericOptions()...)
	} else {
		c.Options = p.oldCopyOptions(old)
	}
	if p.acceptKw(kwWhere) {
		if !c.From {
			p.failf(p.lastEnd()-5, "WHERE clause not allowed with COPY TO")
		}
		c.Where = p.expr()
	}
	return c
}

func formatOption(off ast.Off, format string) ast.Option {
	return ast.Option{Off: off, Name: "format", X: &ast.Const{Off: off, Kind: ast.ConstString, Val: format}}
}

// oldCopyOptions are words without parentheses: CSV HEADER DELIMITER ',' ….
// They become the options of the newer spelling.
func (p *parser) oldCopyOptions(l []ast.Option) []ast.Option {
	for {
		o := ast.Option{Off: p.off()}
		str := func() {
			p.acceptKw(kwAs)
			o.X = p.stringConst()
		}
		switch t := p.tok(); t.Key {
		case kwBinary, kwCsv:
			p.next()
			o = formatOption(o.Off, t.Key.String())
		case kwFreeze, kwHeader:
			p.next()
			o.Name, o.X = t.Key.String(), &ast.Const{Off: o.Off, Kind: ast.ConstString, Val: "true"}
		case kwDelimiter, kwNull, kwQuote, kwEscape:
			p.next()
			o.Name = t.Key.String()
			str()
		case kwEncoding:
			p.next()
			o.Name, o.X = "encoding", p.stringConst()
		case kwForce:
			p.next()
			p.forceOption(&o)
		default:
			return l
		}
		l = append(l, o)
	}
}

// forceOption is FORCE QUOTE, FORCE NOT NULL or FORCE NULL.
func (p *parser) forceOption(o *ast.Option) {
	switch {
	case p.acceptKw(kwQuote):
		o.Name = "force_quote"
		if t := p.tok(); p.accept(KindStar) {
			o.X = &ast.ColumnRef{Off: ast.Off(t.Off), Star: true}
			return
		}
	case p.acceptKws(kwNot, kwNull):
		o.Name = "force_not_null"
	default:
		p.expectKw(kwNull)
		o.Name = "force_null"
	}
	o.List = commaList(p, func() ast.Expr { return &ast.Const{Off: p.off(), Kind: ast.ConstString, Val: p.colID()} })
}

// explain is EXPLAIN [(options) | ANALYZE VERBOSE] statement.
func (p *parser) explain() ast.Stmt {
	e := &ast.Explain{Off: p.off()}
	p.next()
	if p.is(KindLParen) && !p.startsQuery() {
		e.Options = p.explainOptions()
	} else {
		for _, k := range []Keyword{kwAnalyze, kwAnalyse, kwVerbose} {
			if o := (ast.Option{Off: p.off()}); p.acceptKw(k) {
				o.Name = strings.Replace(k.String(), "analyse", "analyze", 1)
				e.Options = append(e.Options, o)
			}
		}
	}
	e.Stmt = p.explainable()
	return e
}

// explainOptions is genericOptions, where ANALYZE, a reserved word, is a name.
func (p *parser) explainOptions() []ast.Option {
	l := p.genericOptions()
	for i := range l {
		if l[i].Name == "analyse" {
			l[i].Name = "analyze"
		}
	}
	return l
}

// explainable is a statement that has a plan.
func (p *parser) explainable() ast.Stmt {
	if s := p.optPreparable(); s != nil {
		return s
	}
	switch p.tok().Key {
	case kwExecute:
		return p.execute()
	case kwDeclare:
		return p.declare()
	case kwRefresh:
		return p.refresh()
	case kwCreate:
		at := p.tok()
		switch s := p.create().(type) {
		case *ast.CreateTable:
			if s.As != nil || s.AsExecute != nil {
				return s
			}
		case *ast.CreateView:
			if s.Materialized {
				return s
			}
		}
		p.syntaxErrAt(at)
	}
	p.syntaxErr()
	return nil
}
