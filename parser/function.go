package parser

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// createFunction is CREATE [OR REPLACE] FUNCTION or PROCEDURE.
func (p *parser) createFunction(off ast.Off, replace bool) ast.Stmt {
	f := &ast.CreateFunction{Off: off, OrReplace: replace}
	f.Procedure = p.next().Key == kwProcedure
	f.Name = p.funcName()
	f.Params = p.funcParams(true)
	if !f.Procedure && p.acceptKw(kwReturns) {
		if p.acceptKw(kwTable) {
			p.expect(KindLParen)
			f.RetTable = commaList(p, func() ast.FuncParam {
				return ast.FuncParam{Off: p.off(), Name: p.typeFuncName(), Type: p.funcTypeName()}
			})
			p.expect(KindRParen)
			if slices.ContainsFunc(f.Params, func(x ast.FuncParam) bool { return x.Mode == "OUT" || x.Mode == "INOUT" }) {
				p.fail(sqlerr.New(sqlerr.SyntaxError, "OUT and INOUT arguments aren't allowed in TABLE functions"))
			}
		} else {
			t := p.funcTypeName()
			f.Returns = &t
		}
	}
	p.funcOptions(f)
	outer := p.params // $n of the body are the function's own
	defer func() { p.params = outer }()
	p.standardBody(f)
	return f
}

// standardBody is RETURN expr or BEGIN ATOMIC … END, if there is one.
func (p *parser) standardBody(f *ast.CreateFunction) {
	switch {
	case p.isKw(kwReturn):
		start := p.off()
		f.SQLBody = []ast.Stmt{p.returnStmt()}
		f.BodyText = p.text(start, p.lastEnd())
	case p.isKws(kwBegin, kwAtomic):
		p.atomicBody(f)
	}
}

// returnStmt is RETURN expr, which is SELECT expr.
func (p *parser) returnStmt() ast.Stmt {
	off := p.off()
	p.expectKw(kwReturn)
	at := p.off()
	return &ast.Select{Off: off, Return: true, Targets: []ast.Target{{Off: at, X: p.expr()}}}
}

// atomicBody is BEGIN ATOMIC statement; … END.
func (p *parser) atomicBody(f *ast.CreateFunction) {
	start := p.off()
	p.next()
	p.next()
	f.SQLBody = []ast.Stmt{}
	for !p.isKw(kwEnd) {
		switch {
		case p.accept(KindSemi):
			continue
		case p.isKw(kwReturn):
			f.SQLBody = append(f.SQLBody, p.returnStmt())
		default:
			f.SQLBody = append(f.SQLBody, p.stmt())
		}
		p.expect(KindSemi)
	}
	p.next()
	f.BodyText = p.text(start, p.lastEnd())
}

// funcParams is the parenthesised parameter list of a function's definition,
// or of a reference to it, where defaults are not allowed.
func (p *parser) funcParams(defaults bool) []ast.FuncParam {
	p.expect(KindLParen)
	if p.accept(KindRParen) {
		return nil
	}
	l := commaList(p, func() ast.FuncParam {
		f := p.funcParam()
		if defaults && (p.acceptKw(kwDefault) || p.accept(KindEqual)) {
			f.Default = p.expr()
		}
		return f
	})
	p.expect(KindRParen)
	return l
}

// funcParam is [mode] [name] type, or name mode type.
func (p *parser) funcParam() ast.FuncParam {
	f := ast.FuncParam{Off: p.off(), Mode: p.paramMode()}
	if p.namesParam() {
		f.Name = p.typeFuncName()
		if f.Mode == "" {
			f.Mode = p.paramMode()
		}
	}
	f.Type = p.funcTypeName()
	return f
}

// namesParam tells a parameter's name from the type that may stand alone.
func (p *parser) namesParam() bool {
	next := p.peek(1)
	if !isName(p.tok(), false, true) || !isLabel(next) {
		return false
	}
	switch {
	case next.Key == kwDefault, next.Key == kwOrder, next.Key == kwArray && p.peek(2).Kind != KindDot:
		return false
	case p.isKw(kwDouble) && next.Key == kwPrecision, p.isKw(kwSetof):
		return false
	}
	return true
}

func (p *parser) paramMode() string {
	switch p.tok().Key {
	case kwIn:
		p.next()
		if p.acceptKw(kwOut) {
			return "INOUT"
		}
		return "IN"
	case kwOut, kwInout, kwVariadic:
		return upper(p.next().Key)
	}
	return ""
}

// funcOptions is the list of attributes, AS and LANGUAGE included.
func (p *parser) funcOptions(f *ast.CreateFunction) {
	for {
		o := ast.Option{Off: p.off()}
		word := func(name, val string) {
			o.Name, o.X = name, &ast.Const{Off: o.Off, Kind: ast.ConstString, Val: val}
		}
		switch t := p.tok(); t.Key {
		case kwAs:
			p.next()
			if f.HasBody {
				p.failf(o.Off, "conflicting or redundant options")
			}
			f.BodyOff = p.off()
			f.HasBody, f.Body = true, p.sconst()
			f.BodyText = p.text(f.BodyOff, p.lastEnd())
			if p.accept(KindComma) {
				f.Body2 = p.sconst()
			}
			continue
		case kwLanguage:
			p.next()
			if f.Language != "" {
				p.failf(o.Off, "conflicting or redundant options")
			}
			if isSconst(p.tok()) {
				f.Language = p.sconst()
			} else {
				f.Language = p.nonReserved()
			}
			continue
		case kwImmutable, kwStable, kwVolatile:
			p.next()
			word("volatility", t.Key.String())
		case kwStrict:
			p.next()
			o.Name = "strict"
		case kwCalled:
			p.next()
			p.expectKws(kwOn, kwNull, kwInput)
			o.Name = "called on null input"
		case kwReturns:
			p.next()
			p.expectKws(kwNull, kwOn, kwNull, kwInput)
			o.Name = "strict"
		case kwExternal, kwSecurity:
			if p.acceptKw(kwExternal) && !p.isKw(kwSecurity) {
				p.syntaxErr()
			}
			p.next()
			switch k := p.tok().Key; k {
			case kwDefiner, kwInvoker:
				p.next()
				word("security", k.String())
			default:
				p.syntaxErr()
			}
		case kwLeakproof:
			p.next()
			o.Name = "leakproof"
		case kwNot:
			p.next()
			p.expectKw(kwLeakproof)
			o.Name = "not leakproof"
		case kwWindow:
			p.next()
			o.Name = "window"
		case kwCost, kwRows:
			p.next()
			o.Name, o.X = t.Key.String(), p.numericOnly()
		case kwSupport:
			p.next()
			n := p.anyName()
			word("support", joinDots(n.Parts))
		case kwParallel:
			p.next()
			word("parallel", p.colID())
		case kwSet:
			p.next()
			start := p.off()
			v := &ast.SetVar{Off: start}
			p.setRest(v)
			word("set", p.text(start, p.lastEnd()))
			o.Set = v
		case kwReset:
			p.next()
			start := p.off()
			o.Set = &ast.SetVar{Off: start}
			p.resetName(o.Set)
			word("reset", p.text(start, p.lastEnd()))
		case kwTransform:
			p.unsupported(p.off(), "TRANSFORM of CREATE FUNCTION")
		default:
			return
		}
		f.Options = append(f.Options, o)
	}
}

// funcWithArgs is a reference to a function: its name and the types of its
// input parameters. args is nil when none were written.
func (p *parser) funcWithArgs() (name ast.Name, args []ast.TypeName) {
	name = p.funcName()
	if !p.is(KindLParen) {
		return name, nil
	}
	if p.peek(1).Kind == KindStar {
		p.next()
		p.next()
		p.expect(KindRParen)
		return name, []ast.TypeName{}
	}
	return name, inputTypes(p.funcParams(false))
}

// routineWithArgs is a reference to a function or, with ORDER BY before the arguments
// that are sorted, to an aggregate.
func (p *parser) routineWithArgs(aggregate bool) (name ast.Name, args []ast.TypeName) {
	n := 1
	for p.peek(n).Kind == KindDot {
		n += 2
	}
	if aggregate && p.peek(n).Kind == KindLParen && p.peek(n+1).Kind == KindRParen { // without arguments it is (*)
		p.funcName()
		p.next()
		p.syntaxErr()
	}
	if !aggregate || p.peek(n).Kind != KindLParen || p.peek(n+1).Kind == KindRParen || p.peek(n+1).Kind == KindStar {
		return p.funcWithArgs()
	}
	name = p.funcName()
	p.expect(KindLParen)
	var direct, sorted []ast.FuncParam
	if !p.isKw(kwOrder) {
		direct = p.aggregateParams()
	}
	if p.acceptKw(kwOrder) {
		p.expectKw(kwBy)
		sorted = p.aggregateParams()
	}
	p.expect(KindRParen)
	if k := len(direct) - 1; k >= 0 && sorted != nil && direct[k].Mode == "VARIADIC" {
		// They are the same arguments, as many as the call has.
		if len(sorted) != 1 || sorted[0].Mode != "VARIADIC" {
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "an ordered-set aggregate with a VARIADIC direct argument must have one VARIADIC aggregated argument of the same data type").At(int(direct[k].Off)))
		}
		sorted = nil
	}
	return name, inputTypes(append(direct, sorted...))
}

// inputTypes are the types of parameters but those that only return.
func inputTypes(params []ast.FuncParam) []ast.TypeName {
	args := []ast.TypeName{}
	moded := slices.ContainsFunc(params, func(f ast.FuncParam) bool { return f.Mode != "" })
	for _, f := range params {
		if f.Mode != "OUT" {
			f.Type.In = moded
			args = append(args, f.Type)
		}
	}
	return args
}
