package parser

import (
	"slices"

	"kvsqld/parser/ast"
)

// funcCall parses the arguments of a function whose name has been read, and
// the clauses behind them. A string behind a plain call makes it a literal of
// a type with modifiers.
func (p *parser) funcCall(name ast.Name) ast.Expr {
	p.enter()
	defer p.leave()
	c := &ast.Call{Off: name.Off, Name: name}
	windowless := p.windowless
	p.windowless = false
	var named ast.Off
	p.expect(KindLParen)
	switch {
	case p.accept(KindStar):
		c.Star = true
	case p.is(KindRParen):
	default:
		if p.acceptKw(kwDistinct) {
			c.Distinct = true
		} else {
			p.acceptKw(kwAll)
		}
		named = p.callArgs(c)
		if p.isKw(kwOrder) {
			c.OrderBy = p.orderBy()
		}
	}
	p.expect(KindRParen)
	if isSconst(p.tok()) && !c.Star && !c.Distinct && !c.Variadic && c.OrderBy == nil && len(c.Args) > 0 {
		if c.ArgNames != nil {
			p.failf(named, "type modifier cannot have parameter name")
		}
		return p.namedLiteral(name, c.Args)
	}
	if !windowless {
		p.callClauses(c)
	}
	return c
}

// callArgs is the argument list: positional, named (=> or :=), VARIADIC.
// It returns the offset of the first name, or -1.
func (p *parser) callArgs(c *ast.Call) (named ast.Off) {
	named = -1
	for {
		if p.acceptKw(kwVariadic) {
			c.Variadic = true
		}
		name := ""
		if next := p.peek(1).Kind; (next == KindArrow || next == KindAssign) && isName(p.tok(), false, true) {
			off := p.off()
			if named < 0 {
				named = off
			}
			name = p.takeName()
			p.next()
			if slices.Contains(c.ArgNames, name) {
				p.failf(off, "argument name \"%s\" used more than once", name)
			}
		} else if named >= 0 {
			p.failf(p.off(), "positional argument cannot follow named argument")
		}
		if name != "" && c.ArgNames == nil {
			c.ArgNames = make([]string, len(c.Args))
		}
		c.Args = append(c.Args, p.expr())
		if c.ArgNames != nil {
			c.ArgNames = append(c.ArgNames, name)
		}
		if c.Variadic || !p.accept(KindComma) {
			return named
		}
	}
}

// callClauses parses WITHIN GROUP, FILTER and OVER.
func (p *parser) callClauses(c *ast.Call) {
	if t := p.tok(); p.acceptKw(kwWithin) {
		p.expectKw(kwGroup)
		switch {
		case c.OrderBy != nil:
			p.failf(ast.Off(t.Off), "cannot use multiple ORDER BY clauses with WITHIN GROUP")
		case c.Distinct:
			p.failf(ast.Off(t.Off), "cannot use DISTINCT with WITHIN GROUP")
		case c.Variadic:
			p.failf(ast.Off(t.Off), "cannot use VARIADIC with WITHIN GROUP")
		}
		p.expect(KindLParen)
		c.OrderBy = p.orderBy()
		c.WithinGrp = true
		p.expect(KindRParen)
	}
	if p.acceptKw(kwFilter) {
		p.expect(KindLParen)
		p.expectKw(kwWhere)
		c.Filter = p.expr()
		p.expect(KindRParen)
	}
	if p.acceptKw(kwOver) {
		if p.is(KindLParen) {
			c.Over = p.windowSpec()
		} else {
			off := p.off()
			c.Over = &ast.Window{Off: off, Name: p.colID()}
		}
	}
}

// windowSpec is the parenthesised definition of a window.
func (p *parser) windowSpec() *ast.Window {
	w := &ast.Window{Off: p.off()}
	p.expect(KindLParen)
	if isName(p.tok(), true, false) && !p.startsFrame() && !p.isKw(kwPartition) {
		w.Base = p.colID()
	}
	if p.acceptKw(kwPartition) {
		p.expectKw(kwBy)
		w.PartitionBy = p.exprList()
	}
	if p.isKw(kwOrder) {
		w.OrderBy = p.orderBy()
	}
	if p.startsFrame() {
		w.Frame = p.frame()
	}
	p.expect(KindRParen)
	return w
}

func (p *parser) startsFrame() bool {
	k := p.tok().Key
	return k == kwRange || k == kwRows || k == kwGroups
}

func (p *parser) frame() *ast.Frame {
	f := &ast.Frame{Mode: map[Keyword]string{kwRange: "RANGE", kwRows: "ROWS", kwGroups: "GROUPS"}[p.next().Key]}
	f.Between = p.acceptKw(kwBetween)
	start := p.off()
	f.Start = p.bound()
	end := start
	if f.Between {
		p.expectKw(kwAnd)
		end = p.off()
		f.End = p.bound()
	} else {
		f.End = ast.Bound{Kind: "CURRENT ROW"}
	}
	p.checkFrame(start, end, f)
	if p.acceptKw(kwExclude) {
		switch {
		case p.acceptKws(kwCurrent, kwRow):
			f.Exclude = "CURRENT ROW"
		case p.acceptKw(kwGroup):
			f.Exclude = "GROUP"
		case p.acceptKw(kwTies):
			f.Exclude = "TIES"
		default:
			p.expectKws(kwNo, kwOthers)
		}
	}
	return f
}

// checkFrame refuses the combinations of bounds that can hold no row.
func (p *parser) checkFrame(startOff, endOff ast.Off, f *ast.Frame) {
	bad := func(msg string) { p.fail(windowingError(endOff, msg)) }
	start, end := f.Start.Kind, f.End.Kind
	switch {
	case start == "UNBOUNDED FOLLOWING":
		p.fail(windowingError(startOff, "frame start cannot be UNBOUNDED FOLLOWING"))
	case end == "UNBOUNDED PRECEDING":
		bad("frame end cannot be UNBOUNDED PRECEDING")
	case start == "CURRENT ROW" && end == "PRECEDING":
		bad("frame starting from current row cannot have preceding rows")
	case start == "FOLLOWING" && !f.Between:
		bad("frame starting from following row cannot end with current row")
	case start == "FOLLOWING" && (end == "PRECEDING" || end == "CURRENT ROW"):
		bad("frame starting from following row cannot have preceding rows")
	}
}

func (p *parser) bound() ast.Bound {
	switch {
	case p.acceptKws(kwUnbounded, kwPreceding):
		return ast.Bound{Kind: "UNBOUNDED PRECEDING"}
	case p.acceptKws(kwUnbounded, kwFollowing):
		return ast.Bound{Kind: "UNBOUNDED FOLLOWING"}
	case p.acceptKws(kwCurrent, kwRow):
		return ast.Bound{Kind: "CURRENT ROW"}
	}
	x := p.expr()
	if p.acceptKw(kwPreceding) {
		return ast.Bound{Kind: "PRECEDING", X: x}
	}
	p.expectKw(kwFollowing)
	return ast.Bound{Kind: "FOLLOWING", X: x}
}

// orderBy is ORDER BY item, ….
func (p *parser) orderBy() []ast.SortItem {
	p.expectKws(kwOrder, kwBy)
	var l []ast.SortItem
	for {
		it := ast.SortItem{X: p.expr()}
		switch {
		case p.acceptKw(kwAsc):
		case p.acceptKw(kwDesc):
			it.Desc = true
		case p.acceptKw(kwUsing):
			it.OpOff = p.off()
			if p.isKw(kwOperator) {
				schema, op := p.qualifiedOperator()
				it.Using = op
				if schema != "" {
					it.Using = schema + "." + op
				}
			} else {
				it.Using = p.anyOperator()
			}
		}
		it.NullsFirst = p.nullsOrder()
		l = append(l, it)
		if !p.accept(KindComma) {
			return l
		}
	}
}

func (p *parser) nullsOrder() *bool {
	if !p.isKw(kwNulls) {
		return nil
	}
	first := p.peek(1).Key == kwFirst
	if !first && p.peek(1).Key != kwLast {
		return nil
	}
	p.next()
	p.next()
	return &first
}
