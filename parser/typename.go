package parser

import (
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// systemType is the name of a type that the grammar itself knows.
func systemType(off ast.Off, name string) ast.TypeName {
	return ast.TypeName{Off: off, Name: ast.Name{Off: off, Parts: []string{"pg_catalog", name}}}
}

// typeName is a type with array bounds, as in a column definition or a cast.
func (p *parser) typeName() ast.TypeName {
	off := p.off()
	setof := p.acceptKw(kwSetof)
	t := p.simpleTypeName()
	t.Off, t.SetOf = off, setof
	switch {
	case p.is(KindLBracket):
		for p.accept(KindLBracket) {
			if p.is(KindInt) {
				p.next()
			}
			p.expect(KindRBracket)
			t.Dims++
		}
	case p.acceptKw(kwArray):
		t.Dims = 1
		if p.accept(KindLBracket) {
			p.expect(KindInt)
			p.expect(KindRBracket)
		}
	}
	return t
}

// funcTypeName is a type in a function's signature: also name%TYPE.
func (p *parser) funcTypeName() ast.TypeName {
	off := p.off()
	n := 0
	if p.isKw(kwSetof) {
		n = 1
	}
	if isLabel(p.peek(n)) && p.peek(n+1).Kind == KindDot {
		k := n + 1
		for p.peek(k).Kind == KindDot && isLabel(p.peek(k+1)) {
			k += 2
		}
		if p.peek(k).Kind == KindPercent && p.peek(k+1).Key == kwType {
			setof := p.acceptKw(kwSetof)
			parts := []string{p.typeFuncName()}
			for p.accept(KindDot) {
				parts = append(parts, p.colLabel())
			}
			p.next()
			p.next()
			return ast.TypeName{Off: off, Name: ast.Name{Off: off, Parts: parts}, SetOf: setof, PctType: true}
		}
	}
	return p.typeName()
}

// simpleTypeName is a type without SETOF and array bounds.
func (p *parser) simpleTypeName() ast.TypeName {
	off := p.off()
	if t, ok := p.grammarType(false); ok {
		return t
	}
	parts := []string{p.typeFuncName()}
	for p.accept(KindDot) {
		parts = append(parts, p.colLabel())
	}
	t := ast.TypeName{Off: off, Name: ast.Name{Off: off, Parts: parts}}
	if p.is(KindLParen) {
		t.Mods = p.parenExprs()
	}
	return t
}

// grammarType is a type that has a syntax of its own; ok is false, and nothing
// consumed, when the current token starts none. literal says that a string
// follows (date 'x'), where a missing length means none.
func (p *parser) grammarType(literal bool) (t ast.TypeName, ok bool) {
	off := p.off()
	simple := func(name string) (ast.TypeName, bool) {
		p.next()
		return systemType(off, name), true
	}
	switch p.tok().Key {
	case kwInt, kwInteger:
		return simple("int4")
	case kwSmallint:
		return simple("int2")
	case kwBigint:
		return simple("int8")
	case kwReal:
		return simple("float4")
	case kwBoolean:
		return simple("bool")
	case kwFloat:
		return p.floatType(off), true
	case kwDouble:
		if p.peek(1).Key != kwPrecision {
			return t, false
		}
		p.next()
		return simple("float8")
	case kwDecimal, kwDec, kwNumeric:
		p.next()
		t = systemType(off, "numeric")
		if p.is(KindLParen) {
			t.Mods = p.parenExprs()
		}
		return t, true
	case kwBit:
		return p.bitType(off, literal), true
	case kwCharacter, kwChar, kwNchar, kwVarchar, kwNational:
		return p.charType(off, literal), true
	case kwTime, kwTimestamp:
		return p.timeType(off), true
	case kwInterval:
		p.next()
		t = systemType(off, "interval")
		if p.is(KindLParen) {
			t.Mods = p.precision()
		} else {
			p.intervalFields(&t)
		}
		return t, true
	}
	return t, false
}

func (p *parser) floatType(off ast.Off) ast.TypeName {
	p.next()
	if !p.accept(KindLParen) {
		return systemType(off, "float8")
	}
	t := p.expect(KindInt)
	n, err := strconv.Atoi(t.Text(p.lx.src))
	p.expect(KindRParen)
	switch {
	case err != nil || n > 53:
		p.fail(sqlerr.New(sqlerr.InvalidParameterValue, "precision for type float must be less than 54 bits").At(int(t.Off)))
	case n < 1:
		p.fail(sqlerr.New(sqlerr.InvalidParameterValue, "precision for type float must be at least 1 bit").At(int(t.Off)))
	case n <= 24:
		return systemType(off, "float4")
	}
	return systemType(off, "float8")
}

func (p *parser) bitType(off ast.Off, literal bool) ast.TypeName {
	p.next()
	t := systemType(off, "bit")
	if p.acceptKw(kwVarying) {
		t = systemType(off, "varbit")
	}
	switch {
	case p.is(KindLParen):
		t.Mods = p.parenExprs()
	case t.Name.Last() == "bit" && !literal:
		t.Mods = []ast.Expr{&ast.Const{Off: -1, Kind: ast.ConstInt, Val: "1"}}
	}
	return t
}

func (p *parser) charType(off ast.Off, literal bool) ast.TypeName {
	k := p.next().Key
	if k == kwNational && !p.acceptKw(kwCharacter) {
		p.expectKw(kwChar)
	}
	name := "bpchar"
	if k == kwVarchar || p.acceptKw(kwVarying) {
		name = "varchar"
	}
	t := systemType(off, name)
	switch {
	case p.is(KindLParen):
		t.Mods = p.precision()
	case name == "bpchar" && !literal:
		t.Mods = []ast.Expr{&ast.Const{Off: -1, Kind: ast.ConstInt, Val: "1"}}
	}
	return t
}

func (p *parser) timeType(off ast.Off) ast.TypeName {
	name := "time"
	if p.next().Key == kwTimestamp {
		name = "timestamp"
	}
	var mods []ast.Expr
	if p.is(KindLParen) {
		mods = p.precision()
	}
	switch {
	case p.acceptKws(kwWith, kwTime, kwZone):
		name += "tz"
	case p.acceptKws(kwWithout, kwTime, kwZone):
	}
	t := systemType(off, name)
	t.Mods = mods
	return t
}

// precision is (n), kept as a one-element list of modifiers.
func (p *parser) precision() []ast.Expr {
	p.expect(KindLParen)
	t := p.expect(KindInt)
	p.expect(KindRParen)
	return []ast.Expr{&ast.Const{Off: ast.Off(t.Off), Kind: ast.ConstInt, Val: t.Text(p.lx.src)}}
}

// intervalFields reads YEAR, DAY TO SECOND(3) and the like into t.
func (p *parser) intervalFields(t *ast.TypeName) {
	switch p.tok().Key {
	case kwYear:
		p.next()
		t.Interval = "YEAR"
		if p.acceptKw(kwTo) {
			p.expectKw(kwMonth)
			t.Interval = "YEAR TO MONTH"
		}
	case kwMonth:
		p.next()
		t.Interval = "MONTH"
	case kwDay, kwHour, kwMinute:
		from := p.next().Key
		t.Interval = map[Keyword]string{kwDay: "DAY", kwHour: "HOUR", kwMinute: "MINUTE"}[from]
		if !p.acceptKw(kwTo) {
			return
		}
		switch to := p.tok().Key; {
		case to == kwHour && from == kwDay:
			p.next()
			t.Interval += " TO HOUR"
		case to == kwMinute && from != kwMinute:
			p.next()
			t.Interval += " TO MINUTE"
		case to == kwSecond:
			t.Interval += " TO SECOND"
			p.intervalSecond(t)
		default:
			p.syntaxErr()
		}
	case kwSecond:
		t.Interval = "SECOND"
		p.intervalSecond(t)
	}
}

func (p *parser) intervalSecond(t *ast.TypeName) {
	p.next()
	if p.is(KindLParen) {
		t.Mods = p.precision()
	}
}

// parenExprs is a comma list of expressions in parentheses.
func (p *parser) parenExprs() []ast.Expr {
	p.expect(KindLParen)
	l := p.exprList()
	p.expect(KindRParen)
	return l
}
