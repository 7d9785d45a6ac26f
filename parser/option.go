package parser

import "kvsqld/parser/ast"

// relOptions is (name [= value], …), where names may have a namespace. A quoted
// name keeps its case, so that "Fillfactor" is no parameter.
func (p *parser) relOptions() []ast.Option {
	p.expect(KindLParen)
	l := commaList(p, func() ast.Option {
		o := ast.Option{Off: p.off(), Name: p.colLabel()}
		if p.accept(KindDot) {
			o.Name += "." + p.colLabel()
		}
		if p.accept(KindEqual) {
			o.X = p.defArg()
		}
		return o
	})
	p.expect(KindRParen)
	return l
}

// defArg is the value of an option: a number, a string, or a word.
func (p *parser) defArg() ast.Expr {
	t := p.tok()
	switch t.Kind {
	case KindInt, KindNumeric, KindPlus, KindMinus:
		return p.numericOnly()
	}
	if isSconst(t) {
		return p.stringConst()
	}
	if isOperator(t.Kind) {
		off := p.off()
		return &ast.Const{Off: off, Kind: ast.ConstString, Val: p.anyOperator()}
	}
	if t.Kind == KindIdent && (keywordTable[t.Key].cat == Reserved || t.Key == kwNone) {
		return p.labelConst()
	}
	off := p.off()
	start := p.tok()
	p.funcTypeName()
	if p.last == start.End {
		return &ast.Const{Off: off, Kind: ast.ConstString, Val: p.tokenName(start)}
	}
	return &ast.Const{Off: off, Kind: ast.ConstString, Val: p.text(off, p.lastEnd())}
}

// tokenName is the name a consumed token stands for.
func (p *parser) tokenName(t Token) string {
	if t.Kind == KindUIdent {
		return t.Text(p.lx.src)
	}
	return t.ident(p.lx.src)
}

// genericOptions is (name [value | (list)], …) of COPY, EXPLAIN, VACUUM ….
// Values are words, strings, numbers, * or lists of words and strings.
func (p *parser) genericOptions() []ast.Option {
	p.expect(KindLParen)
	var l []ast.Option
	for {
		o := ast.Option{Off: p.off(), Name: p.colLabel()}
		switch t := p.tok(); {
		case t.Kind == KindComma, t.Kind == KindRParen:
		case t.Kind == KindLParen:
			p.next()
			o.List = commaList(p, p.varValue)
			p.expect(KindRParen)
		case t.Kind == KindStar:
			p.next()
			o.X = &ast.ColumnRef{Off: ast.Off(t.Off), Star: true}
		case t.Key == kwDefault:
			o.X = p.labelConst()
		default:
			o.X = p.varValue()
		}
		l = append(l, o)
		if !p.accept(KindComma) {
			break
		}
	}
	p.expect(KindRParen)
	return l
}

// sequenceOptions reads the options of a sequence; nil when there is none.
func (p *parser) sequenceOptions() []ast.Option {
	var l []ast.Option
	for {
		o := ast.Option{Off: p.off()}
		switch p.tok().Key {
		case kwAs:
			p.next()
			start := p.off()
			t := p.simpleTypeName()
			o.Name, o.X = "as", &ast.Const{Off: start, Kind: ast.ConstString, Val: t.Name.Last()}
		case kwIncrement:
			p.next()
			p.acceptKw(kwBy)
			o.Name, o.X = "increment", p.numericOnly()
		case kwMinvalue, kwMaxvalue, kwCache:
			o.Name = p.next().Key.String()
			o.X = p.numericOnly()
		case kwStart:
			p.next()
			p.acceptKw(kwWith)
			o.Name, o.X = "start", p.numericOnly()
		case kwRestart:
			p.next()
			o.Name = "restart"
			if p.acceptKw(kwWith) || p.is(KindInt) || p.is(KindMinus) || p.is(KindPlus) || p.is(KindNumeric) {
				o.X = p.numericOnly()
			}
		case kwCycle:
			p.next()
			o.Name = "cycle"
		case kwNo:
			p.next()
			switch k := p.tok().Key; k {
			case kwMinvalue, kwMaxvalue, kwCycle:
				p.next()
				o.Name = "no " + k.String()
			default:
				p.syntaxErr()
			}
		case kwOwned:
			p.next()
			p.expectKw(kwBy)
			n := p.anyName()
			o.Name, o.X = "owned_by", &ast.ColumnRef{Off: n.Off, Parts: n.Parts}
		case kwSequence:
			p.next()
			p.expectKw(kwName)
			n := p.anyName()
			o.Name, o.X = "sequence_name", &ast.ColumnRef{Off: n.Off, Parts: n.Parts}
		default:
			return l
		}
		l = append(l, o)
	}
}
