package parser

import (
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// primary is PostgreSQL's c_expr.
func (p *parser) primary() ast.Expr {
	t := p.tok()
	off := ast.Off(t.Off)
	switch t.Kind {
	case KindInt, KindNumeric:
		p.next()
		if n, ok := p.literalParam(t); ok {
			return &ast.Param{Off: off, Num: n}
		}
		kind := ast.ConstInt
		if t.Kind == KindNumeric {
			kind = ast.ConstNumeric
		}
		return &ast.Const{Off: off, Kind: kind, Val: t.Text(p.lx.src)}
	case KindString, KindEString, KindUString, KindDollar:
		p.next()
		if n, ok := p.literalParam(t); ok {
			return &ast.Param{Off: off, Num: n}
		}
		return &ast.Const{Off: off, Kind: ast.ConstString, Val: p.stringValue(t)}
	case KindNString:
		p.next()
		return &ast.Cast{Off: off, X: &ast.Const{Off: off, Kind: ast.ConstString, Val: p.stringValue(t)},
			Type: systemType(off, "bpchar"), Literal: true}
	case KindBit:
		p.next()
		return &ast.Const{Off: off, Kind: ast.ConstBit, Val: p.stringValue(t)}
	case KindHexBit:
		p.next()
		return &ast.Const{Off: off, Kind: ast.ConstHexBit, Val: p.stringValue(t)}
	case KindParam:
		p.next()
		return p.indirection(p.param(t))
	case KindLParen:
		return p.parenExpr()
	case KindQuoted, KindUIdent:
		return p.nameExpr()
	case KindIdent:
		return p.wordExpr(t)
	}
	p.syntaxErr()
	return nil
}

func (p *parser) param(t Token) ast.Expr {
	n, err := strconv.ParseUint(t.Text(p.lx.src)[1:], 10, 31)
	if err != nil {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "there is no parameter %s", t.Text(p.lx.src)).At(int(t.Off)))
	}
	p.params = max(p.params, int(n))
	return &ast.Param{Off: ast.Off(t.Off), Num: int(n)}
}

// wordExpr is a primary that begins with an unquoted word.
func (p *parser) wordExpr(t Token) ast.Expr {
	off := ast.Off(t.Off)
	if t.Key == noKeyword {
		return p.nameExpr()
	}
	switch t.Key {
	case kwTrue, kwFalse:
		p.next()
		return &ast.Const{Off: off, Kind: ast.ConstBool, Val: t.Key.String()}
	case kwNull:
		p.next()
		return &ast.Const{Off: off, Kind: ast.ConstNull}
	case kwDefault:
		p.next()
		return &ast.Special{Off: off, Kind: "DEFAULT"}
	case kwCase:
		return p.caseExpr()
	case kwCast:
		return p.castCall()
	case kwArray:
		p.next()
		if p.is(KindLBracket) {
			return p.arrayExpr(off)
		}
		if !p.startsQuery() {
			p.syntaxErr()
		}
		return &ast.Subquery{Off: off, Query: p.parenQuery(), Array: true}
	case kwExists:
		if p.peek(1).Kind == KindLParen {
			p.next()
			return &ast.Exists{Off: off, Query: p.parenQuery()}
		}
	case kwRow:
		if p.peek(1).Kind == KindLParen {
			row := p.explicitRow()
			return p.overlaps(row, row.Elems)
		}
	case kwUnique:
		p.next()
		p.parenQuery()
		p.unsupported(off, "UNIQUE predicate")
	}
	if x := p.specialForm(t); x != nil {
		return x
	}
	if x := p.typedLiteral(); x != nil {
		return x
	}
	return p.nameExpr()
}

// typedLiteral is timestamp '…', interval '…' day, varchar(3) '…': a type with
// grammar of its own before a string. It returns nil when this is none.
func (p *parser) typedLiteral() ast.Expr {
	switch next := p.peek(1); {
	case keywordTable[p.tok().Key].cat != ColName && p.tok().Key != kwDouble:
		return nil
	case isSconst(next), next.Kind == KindLParen:
	default:
		switch next.Key {
		case kwVarying, kwPrecision, kwCharacter, kwChar, kwWith, kwWithout:
		default:
			return nil
		}
	}
	at := p.mark()
	off := p.off()
	t, ok := p.grammarType(true)
	if !ok || !isSconst(p.tok()) {
		p.reset(at)
		return nil
	}
	p.unmark()
	val := &ast.Const{Off: p.off(), Kind: ast.ConstString}
	val.Val = p.sconst()
	if t.Name.Last() == "interval" && t.Mods == nil {
		p.intervalFields(&t)
	}
	return &ast.Cast{Off: off, X: val, Type: t, Literal: true}
}

// nameExpr is a column reference, a function call, or a literal of a named type.
func (p *parser) nameExpr() ast.Expr {
	t := p.tok()
	off := ast.Off(t.Off)
	switch {
	case isName(t, true, false): // a column or, if the name allows it, a function
	case isName(t, false, true) && t.Kind == KindIdent:
		switch k := p.peek(1); {
		case k.Kind == KindLParen:
		case isSconst(k):
		default:
			p.next()
			p.syntaxErr()
		}
	default:
		p.syntaxErr()
	}
	colNameOnly := t.Kind == KindIdent && keywordTable[t.Key].cat == ColName
	first := p.takeName()
	if k := p.tok().Kind; k != KindDot {
		switch {
		case k == KindLParen && !colNameOnly:
			return p.funcCall(ast.Name{Off: off, Parts: []string{first}})
		case isSconst(p.tok()) && !colNameOnly:
			return p.namedLiteral(ast.Name{Off: off, Parts: []string{first}}, nil)
		}
		ref := &ast.ColumnRef{Off: off, Parts: []string{first}}
		if k == KindLBracket {
			return p.indirection(ref)
		}
		return ref
	}
	parts := append(make([]string, 0, 3), first)
	for p.is(KindDot) {
		p.next()
		if p.accept(KindStar) {
			ref := &ast.ColumnRef{Off: off, Parts: parts, Star: true}
			p.afterStar(ref)
			return ref
		}
		parts = append(parts, p.colLabel())
	}
	switch k := p.tok(); {
	case k.Kind == KindLParen:
		return p.funcCall(ast.Name{Off: off, Parts: parts})
	case isSconst(k):
		return p.namedLiteral(ast.Name{Off: off, Parts: parts}, nil)
	}
	return p.indirection(&ast.ColumnRef{Off: off, Parts: parts})
}

// namedLiteral is type 'text' or type(mods) 'text'.
func (p *parser) namedLiteral(name ast.Name, mods []ast.Expr) ast.Expr {
	val := &ast.Const{Off: p.off(), Kind: ast.ConstString}
	val.Val = p.sconst()
	return &ast.Cast{Off: name.Off, X: val, Type: ast.TypeName{Off: name.Off, Name: name, Mods: mods}, Literal: true}
}

// indirection extends x by subscripts and fields.
func (p *parser) indirection(x ast.Expr) ast.Expr {
	for n := 0; ; n++ {
		if n > maxChain {
			p.fail(errTooDeep(int(p.tok().Off)))
		}
		t := p.tok()
		switch t.Kind {
		case KindLBracket:
			step := p.subscript()
			ix := &ast.Index{Off: ast.Off(t.Off), X: x, Slice: step.Slice, Lo: step.Lo, Hi: step.Hi}
			if n == 0 {
				_, ix.Apart = x.(*ast.Index)
			}
			x = ix
		case KindDot:
			p.next()
			if p.accept(KindStar) {
				x = &ast.Field{Off: ast.Off(t.Off), X: x, Name: "*"}
				p.afterStar(x)
				return x
			}
			x = &ast.Field{Off: ast.Off(t.Off), X: x, Name: p.colLabel()}
		default:
			return x
		}
	}
}

// afterStar refuses subscripts and fields of a star.
func (p *parser) afterStar(x ast.Expr) {
	if !p.is(KindDot) && !p.is(KindLBracket) {
		return
	}
	p.indirection(x)
	if t := p.tok(); t.Kind != KindEOF {
		p.failf(ast.Off(t.Off), "improper use of \"*\" at or near \"%s\"", t.Text(p.lx.src))
	}
	p.failf(p.off(), "improper use of \"*\" at end of input")
}

// subscript is [x] or [lo:hi], either bound of a slice being optional.
func (p *parser) subscript() ast.PathStep {
	p.expect(KindLBracket)
	var s ast.PathStep
	if !p.is(KindColon) {
		s.Lo = p.expr()
	}
	if p.accept(KindColon) {
		s.Slice = true
		if !p.is(KindRBracket) {
			s.Hi = p.expr()
		}
	}
	p.expect(KindRBracket)
	return s
}

// startsQuery reports whether the parentheses at the current token open a
// query. A run of them is looked at once: the answer holds for all of it.
func (p *parser) startsQuery() bool {
	t := p.tok()
	if t.Kind != KindLParen {
		return false
	}
	if t.Off < p.runEnd && t.Off >= p.runStart {
		return p.runQuery
	}
	n := 1
	for p.peek(n).Kind == KindLParen {
		n++
	}
	p.runStart, p.runEnd = t.Off, p.peek(n).Off
	p.runQuery = isQueryStart(p.peek(n), p.peek(n+1))
	return p.runQuery
}

func isQueryStart(t, next Token) bool {
	switch t.Key {
	case kwSelect, kwTable, kwWith:
		return true
	case kwValues:
		return next.Kind == KindLParen
	}
	return false
}

// continuesQuery reports whether the current token goes on with a query whose
// first operand was in parentheses.
func (p *parser) continuesQuery() bool {
	switch p.tok().Key {
	case kwUnion, kwIntersect, kwExcept, kwOrder, kwLimit, kwOffset, kwFetch, kwFor:
		return true
	}
	return false
}

// parenGroup parses the parentheses at the current token: a query, or a list
// of expressions (more than one is a row).
func (p *parser) parenGroup() (*ast.Select, []ast.Expr) {
	p.expect(KindLParen)
	p.enter()
	defer p.leave()
	if isQueryStart(p.tok(), p.peek(1)) {
		q := p.query()
		p.expect(KindRParen)
		return q, nil
	}
	var first ast.Expr
	if p.startsQuery() {
		innerOff := p.off()
		q, items := p.parenGroup()
		if q != nil {
			switch {
			case p.accept(KindRParen):
				return q, nil
			case p.continuesQuery():
				q = p.queryFrom(q)
				p.expect(KindRParen)
				return q, nil
			}
			first = p.indirection(&ast.Subquery{Off: innerOff, Query: q})
		} else {
			first = p.groupExpr(innerOff, items)
		}
		first = p.infix(first, precNone, false)
	} else {
		first = p.expr()
	}
	items := []ast.Expr{first}
	comma := p.off()
	for p.accept(KindComma) {
		items = append(items, p.expr())
	}
	p.firstComma = comma
	p.expect(KindRParen)
	return nil, items
}

// groupExpr makes an expression of a parenthesised list: one element with its
// subscripts and fields, or a row, which has none.
func (p *parser) groupExpr(off ast.Off, items []ast.Expr) ast.Expr {
	if len(items) == 1 {
		return p.indirection(items[0])
	}
	return p.overlaps(&ast.Row{Off: off, Elems: items}, items)
}

// overlaps continues a row by OVERLAPS row, if that follows.
func (p *parser) overlaps(row ast.Expr, left []ast.Expr) ast.Expr {
	t := p.tok()
	if t.Key != kwOverlaps {
		return row
	}
	p.next()
	var right []ast.Expr
	at := p.off()
	if p.isKw(kwRow) {
		right = p.explicitRow().Elems
	} else {
		if _, right = p.parenGroup(); right == nil {
			p.failf(at, "wrong number of parameters on right side of OVERLAPS expression")
		}
	}
	if len(left) != 2 {
		p.failf(ast.Off(row.Pos()), "wrong number of parameters on left side of OVERLAPS expression")
	}
	if len(right) != 2 {
		p.failf(at, "wrong number of parameters on right side of OVERLAPS expression")
	}
	args := append(append([]ast.Expr{}, left...), right...)
	return &ast.Call{Off: ast.Off(t.Off), Name: systemName(t, "overlaps"), Args: args, Form: "overlaps"}
}

// parenExpr is a primary in parentheses with its indirection.
func (p *parser) parenExpr() ast.Expr {
	off := p.off()
	q, items := p.parenGroup()
	if q != nil {
		return p.indirection(&ast.Subquery{Off: off, Query: q})
	}
	return p.groupExpr(off, items)
}

// parenQuery is a query in parentheses, and nothing else.
func (p *parser) parenQuery() *ast.Select {
	if !p.startsQuery() {
		for p.accept(KindLParen) {
		}
		p.syntaxErr()
	}
	q, _ := p.parenGroup()
	if q == nil {
		p.syntaxErr()
	}
	return q
}

// parenQueryOrExpr is a query, or one expression, in parentheses.
func (p *parser) parenQueryOrExpr() (*ast.Select, ast.Expr) {
	q, items := p.parenGroup()
	if q != nil {
		return q, nil
	}
	if len(items) > 1 {
		p.failf(p.firstComma, "syntax error at or near \",\"")
	}
	return nil, items[0]
}

// parenQueryOrList is the right side of IN.
func (p *parser) parenQueryOrList() (*ast.Select, []ast.Expr) {
	if !p.is(KindLParen) {
		p.syntaxErr()
	}
	return p.parenGroup()
}

func (p *parser) arrayExpr(off ast.Off) ast.Expr {
	p.enter()
	defer p.leave()
	p.expect(KindLBracket)
	a := &ast.Array{Off: off}
	if p.accept(KindRBracket) {
		return a
	}
	nested := p.is(KindLBracket)
	for {
		if nested {
			a.Elems = append(a.Elems, p.arrayExpr(p.off()))
		} else {
			a.Elems = append(a.Elems, p.expr())
		}
		if !p.accept(KindComma) {
			break
		}
	}
	p.expect(KindRBracket)
	return a
}

func (p *parser) explicitRow() *ast.Row {
	row := &ast.Row{Off: p.off(), Explicit: true}
	p.expectKw(kwRow)
	p.expect(KindLParen)
	if !p.is(KindRParen) {
		row.Elems = p.exprList()
	}
	p.expect(KindRParen)
	return row
}

func (p *parser) caseExpr() ast.Expr {
	c := &ast.Case{Off: p.off()}
	p.next()
	if !p.isKw(kwWhen) {
		c.Operand = p.expr()
	}
	if !p.isKw(kwWhen) {
		p.syntaxErr()
	}
	for p.isKw(kwWhen) {
		off := p.off()
		p.next()
		cond := p.expr()
		p.expectKw(kwThen)
		c.Whens = append(c.Whens, ast.When{Off: off, Cond: cond, Result: p.expr()})
	}
	if p.acceptKw(kwElse) {
		c.Else = p.expr()
	}
	p.expectKw(kwEnd)
	return c
}

// castCall is CAST(x AS type).
func (p *parser) castCall() ast.Expr {
	off := p.off()
	p.next()
	p.expect(KindLParen)
	x := p.expr()
	p.expectKw(kwAs)
	c := &ast.Cast{Off: off, X: x, Type: p.typeName()}
	p.expect(KindRParen)
	return c
}
