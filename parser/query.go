package parser

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// query is a whole SELECT, VALUES or TABLE, or set operations of them, with
// WITH in front and ORDER BY, LIMIT and locking behind.
func (p *parser) query() *ast.Select {
	p.enter()
	defer p.leave()
	off := p.off()
	var with *ast.With
	if p.isKw(kwWith) {
		with = p.with()
	}
	q := p.queryTail(p.setOps(p.queryOperand(), 0))
	if with != nil {
		p.attachWith(q, with, off)
	}
	return q
}

func (p *parser) attachWith(q *ast.Select, with *ast.With, off ast.Off) {
	if q.With != nil {
		p.failf(off, "multiple WITH clauses not allowed")
	}
	q.With = with
}

// queryFrom goes on with a query whose first operand has been read.
func (p *parser) queryFrom(left *ast.Select) *ast.Select {
	return p.queryTail(p.setOps(left, 0))
}

// queryOperand is an operand of a set operation.
func (p *parser) queryOperand() *ast.Select {
	switch p.tok().Key {
	case kwSelect:
		return p.selectCore()
	case kwValues:
		return p.values()
	case kwTable:
		q := &ast.Select{Off: p.off()}
		p.next()
		t := p.relation()
		q.Targets = []ast.Target{{Off: t.Off, X: &ast.ColumnRef{Off: -1, Star: true}}}
		q.From = []ast.FromItem{t}
		return q
	}
	return p.parenQuery()
}

// setOps extends left by set operations: INTERSECT (level 1) binds tighter
// than UNION and EXCEPT (level 0).
func (p *parser) setOps(left *ast.Select, level int) *ast.Select {
	for n := 0; ; n++ {
		t := p.tok()
		prec := 0
		switch t.Key {
		case kwUnion, kwExcept:
		case kwIntersect:
			prec = 1
		default:
			return left
		}
		if prec < level {
			return left
		}
		if n > maxChain {
			p.fail(errTooDeep(int(t.Off)))
		}
		p.next()
		op := &ast.SetOp{Op: upper(t.Key), All: p.acceptKw(kwAll)}
		if !op.All {
			p.acceptKw(kwDistinct)
		}
		op.L = left
		op.R = p.setOps(p.queryOperand(), prec+1)
		if r := op.R; r.Into != nil {
			p.failf(ast.Off(r.Into.Pos()), "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT")
		}
		// INTO of the first is the statement's
		into := left.Into
		left.Into = nil
		left = &ast.Select{Off: ast.Off(t.Off), SetOp: op, Into: into}
	}
}

// queryTail reads ORDER BY, LIMIT/OFFSET/FETCH and FOR … into q.
func (p *parser) queryTail(q *ast.Select) *ast.Select {
	if p.isKw(kwOrder) {
		at := ast.Off(p.peek(2).Off)
		items := p.orderBy()
		if q.OrderBy != nil {
			p.failf(at, "multiple ORDER BY clauses not allowed")
		}
		q.OrderBy = items
	}
	limits, locked := 0, false
	for {
		switch p.tok().Key {
		case kwLimit, kwOffset, kwFetch:
			if limits++; limits > 1 {
				p.syntaxErr()
			}
			p.limitClause(q)
		case kwFor:
			if limits > 0 && locked {
				p.syntaxErr() // one list, before the limits or after them
			}
			for p.isKw(kwFor) {
				p.lockingClause(q)
			}
			locked = true
		default:
			return q
		}
	}
}

// limitClause is LIMIT and OFFSET in either order.
func (p *parser) limitClause(q *ast.Select) {
	limit, offset := false, false
	for {
		t := p.tok()
		switch t.Key {
		case kwLimit, kwFetch:
			if limit {
				p.syntaxErr()
			}
			limit = true
			if q.Limit != nil {
				p.failf(ast.Off(p.peek(1).Off), "multiple LIMIT clauses not allowed")
			}
			p.next()
			if t.Key == kwFetch {
				p.fetchFirst(q)
			} else if p.isKw(kwAll) {
				q.Limit = &ast.Const{Off: p.off(), Kind: ast.ConstNull} // as LIMIT NULL, which is the same
				p.next()
			} else {
				q.Limit = p.expr()
				if p.is(KindComma) {
					p.next()
					p.expr()
					p.fail(sqlerr.New(sqlerr.SyntaxError, "LIMIT #,# syntax is not supported").At(int(t.Off)).
						WithHint("Use separate LIMIT and OFFSET clauses."))
				}
			}
		case kwOffset:
			if offset {
				p.syntaxErr()
			}
			offset = true
			if q.Offset != nil {
				p.failf(ast.Off(p.peek(1).Off), "multiple OFFSET clauses not allowed")
			}
			p.next()
			q.Offset = p.expr()
			if !p.acceptKw(kwRow) {
				p.acceptKw(kwRows)
			}
		default:
			return
		}
	}
}

// fetchFirst is FETCH {FIRST|NEXT} [n] {ROW|ROWS} {ONLY|WITH TIES}.
func (p *parser) fetchFirst(q *ast.Select) {
	if !p.acceptKw(kwFirst) {
		p.expectKw(kwNext)
	}
	switch {
	case p.isKw(kwRow), p.isKw(kwRows):
		q.Limit = &ast.Const{Off: -1, Kind: ast.ConstInt, Val: "1"}
	case p.is(KindPlus), p.is(KindMinus):
		t := p.next()
		if k := p.tok().Kind; k != KindInt && k != KindNumeric {
			p.syntaxErr()
		}
		q.Limit = signed(t, p.primary(), p.lx.src)
	default:
		q.Limit = p.primary()
	}
	if !p.acceptKw(kwRow) {
		p.expectKw(kwRows)
	}
	if p.isKw(kwWith) {
		p.expectKws(kwWith, kwTies)
		q.WithTies = true
		if q.OrderBy == nil {
			p.failf(-1, "WITH TIES cannot be specified without ORDER BY clause")
		}
		return
	}
	p.expectKw(kwOnly)
}

// lockingClause is FOR UPDATE and its relatives, or FOR READ ONLY.
func (p *parser) lockingClause(q *ast.Select) {
	l := ast.Locking{Off: p.off()}
	p.next()
	switch {
	case p.acceptKws(kwRead, kwOnly):
		return
	case p.acceptKw(kwUpdate):
		l.Strength = "UPDATE"
	case p.acceptKws(kwNo, kwKey, kwUpdate):
		l.Strength = "NO KEY UPDATE"
	case p.acceptKw(kwShare):
		l.Strength = "SHARE"
	default:
		p.expectKws(kwKey, kwShare)
		l.Strength = "KEY SHARE"
	}
	if p.acceptKw(kwOf) {
		l.Of = p.qualifiedNames()
	}
	switch {
	case p.acceptKw(kwNowait):
		l.NoWait = true
	case p.acceptKw(kwSkip):
		p.expectKw(kwLocked)
		l.SkipLocked = true
	}
	q.Locking = append(q.Locking, l)
}

// with is WITH [RECURSIVE] and its list.
func (p *parser) with() *ast.With {
	w := &ast.With{Off: p.off()}
	p.next()
	w.Recursive = p.acceptKw(kwRecursive)
	for {
		c := ast.CTE{Off: p.off(), Name: p.colID(), Cols: p.optParenNames()}
		p.expectKw(kwAs)
		switch {
		case p.acceptKw(kwMaterialized):
			yes := true
			c.Materialized = &yes
		case p.acceptKws(kwNot, kwMaterialized):
			no := false
			c.Materialized = &no
		}
		p.expect(KindLParen)
		c.Stmt = p.preparable()
		p.expect(KindRParen)
		if p.isKw(kwSearch) {
			c.Search = p.search()
		}
		if p.isKw(kwCycle) {
			c.Cycle = p.cycle()
		}
		w.CTEs = append(w.CTEs, c)
		if !p.accept(KindComma) {
			return w
		}
	}
}

// search is SEARCH {DEPTH|BREADTH} FIRST BY columns SET column.
func (p *parser) search() *ast.Search {
	s := &ast.Search{Off: p.off()}
	p.next()
	if s.Breadth = p.acceptKw(kwBreadth); !s.Breadth {
		p.expectKw(kwDepth)
	}
	p.expectKws(kwFirst, kwBy)
	s.By = p.nameList()
	p.expectKw(kwSet)
	s.Set = p.colID()
	return s
}

// cycle is CYCLE columns SET column [TO literal DEFAULT literal] USING column.
func (p *parser) cycle() *ast.Cycle {
	c := &ast.Cycle{Off: p.off(), Value: &ast.Const{Off: -1, Kind: ast.ConstBool, Val: "true"},
		Default: &ast.Const{Off: -1, Kind: ast.ConstBool, Val: "false"}}
	p.next()
	c.Cols = p.nameList()
	p.expectKw(kwSet)
	c.Mark = p.colID()
	if p.acceptKw(kwTo) {
		c.Value = p.literal()
		p.expectKw(kwDefault)
		c.Default = p.literal()
	}
	p.expectKw(kwUsing)
	c.Path = p.colID()
	return c
}

// literal is a constant, possibly with its type in front of it.
func (p *parser) literal() ast.Expr {
	at := p.tok()
	x := p.primary()
	switch c := x.(type) {
	case *ast.Const:
		if off := p.off(); p.accept(KindCast) {
			return &ast.Cast{Off: off, X: c, Type: p.typeName()}
		}
		return c
	case *ast.Cast:
		if c.Literal {
			return c
		}
	}
	p.syntaxErrAt(at)
	return nil
}

// preparable is a query, INSERT, UPDATE, DELETE or MERGE, with its WITH.
func (p *parser) preparable() ast.Stmt {
	if s := p.optPreparable(); s != nil {
		return s
	}
	p.syntaxErr()
	return nil
}

// optPreparable is preparable, or nil when the current token starts none.
func (p *parser) optPreparable() ast.Stmt {
	t := p.tok()
	switch {
	case t.Kind == KindLParen:
		return p.query()
	case t.Key == kwSelect, t.Key == kwValues, t.Key == kwTable:
		return p.query()
	case t.Key == kwInsert:
		return p.insert(nil)
	case t.Key == kwUpdate:
		return p.update(nil)
	case t.Key == kwDelete:
		return p.delete(nil)
	case t.Key == kwMerge:
		return p.merge(nil)
	case t.Key != kwWith:
		return nil
	}
	p.enter()
	defer p.leave()
	w := p.with()
	switch p.tok().Key {
	case kwInsert:
		return p.insert(w)
	case kwUpdate:
		return p.update(w)
	case kwDelete:
		return p.delete(w)
	case kwMerge:
		return p.merge(w)
	}
	q := p.queryTail(p.setOps(p.queryOperand(), 0))
	p.attachWith(q, w, w.Off)
	return q
}
