package parser

import (
	"github.com/xwb1989/sqlparser"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// joinOp is a join operator as written; it is kept with the FROM item behind
// it, which is the leftmost leaf of the operator's right side.
type joinOp struct {
	off     ast.Off
	kind    string
	natural bool
}

// leaf is a FROM item of the skeleton with the operator in front of it.
type leaf struct {
	item ast.FromItem
	op   joinOp
}

// joinCond is ON or USING.
type joinCond struct {
	on    ast.Expr
	using []string
	alias string
}

// fromInto emits a FROM list. All joins with a condition are emitted as one
// kind of sqlparser's, those without as another: which condition belongs to
// which join, the only question here, has the same answer in both grammars.
func (p *parser) fromInto(s *skeleton) {
	for {
		p.joinInto(s, nil)
		c := p.tok()
		if !p.accept(KindComma) {
			return
		}
		s.word(c, ",")
	}
}

// joinInto emits one entry of a FROM list with its joins; first is the leading
// item when it has been read already. A condition that no join waits for is not
// of the entry: MERGE has its own behind the source.
func (p *parser) joinInto(s *skeleton, first ast.FromItem) {
	t := p.tok()
	if first == nil {
		first = p.fromItem()
	}
	s.name(t, leaf{item: first})
	waiting := 0
	for {
		t := p.tok()
		if t.Key == kwOn || t.Key == kwUsing {
			if waiting == 0 {
				return
			}
			waiting--
		}
		switch t.Key {
		case kwOn:
			p.next()
			s.word(t, " on ")
			s.value(p.tok(), joinCond{on: p.expr()})
			continue
		case kwUsing:
			p.next()
			s.word(t, " on ")
			at := p.tok()
			c := joinCond{using: p.parenNames()}
			if p.acceptKw(kwAs) {
				c.alias = p.colID()
			}
			s.value(at, c)
			continue
		}
		op, ok := p.joinOperator()
		if !ok {
			return
		}
		if op.natural || op.kind == "CROSS" {
			s.word(t, " natural join ")
		} else {
			s.word(t, " left join ")
			waiting++
		}
		at := p.tok()
		s.name(at, leaf{item: p.fromItem(), op: op})
	}
}

// joinOperator reads [NATURAL] [INNER|LEFT|RIGHT|FULL [OUTER]] JOIN or CROSS JOIN.
func (p *parser) joinOperator() (joinOp, bool) {
	op := joinOp{off: p.off(), kind: "INNER"}
	if p.acceptKw(kwCross) {
		op.kind = "CROSS"
		p.expectKw(kwJoin)
		return op, true
	}
	op.natural = p.acceptKw(kwNatural)
	switch k := p.tok().Key; k {
	case kwJoin:
	case kwInner:
		p.next()
	case kwLeft, kwRight, kwFull:
		op.kind = upper(k)
		p.next()
		p.acceptKw(kwOuter)
	default:
		if op.natural {
			p.syntaxErr()
		}
		return op, false
	}
	p.expectKw(kwJoin)
	return op, true
}

// lowerFrom turns sqlparser's FROM list into ours. A core without FROM comes
// back with sqlparser's stand-in for it, whose name no skeleton uses.
func (s *skeleton) lowerFrom(list sqlparser.TableExprs) []ast.FromItem {
	var out []ast.FromItem
	for _, te := range list {
		if a, ok := te.(*sqlparser.AliasedTableExpr); ok && tableName(a) == "dual" {
			continue
		}
		item, _ := s.lowerJoin(te)
		out = append(out, item)
	}
	return out
}

func tableName(a *sqlparser.AliasedTableExpr) string {
	n, ok := a.Expr.(sqlparser.TableName)
	if !ok {
		panic(fault{unexpectedNode(a.Expr)})
	}
	return n.Name.String()
}

// lowerJoin returns the item and the operator in front of its leftmost leaf.
func (s *skeleton) lowerJoin(te sqlparser.TableExpr) (ast.FromItem, joinOp) {
	switch te := te.(type) {
	case *sqlparser.AliasedTableExpr:
		l := s.nameRef(tableName(te)).(leaf)
		return l.item, l.op
	case *sqlparser.JoinTableExpr:
		left, before := s.lowerJoin(te.LeftExpr)
		right, op := s.lowerJoin(te.RightExpr)
		j := &ast.Join{Off: op.off, Kind: op.kind, Natural: op.natural, L: left, R: right}
		if te.Condition.On != nil {
			c := s.valueRef(te.Condition.On).(joinCond)
			j.On, j.Using, j.UsingAlias = c.on, c.using, c.alias
		}
		return j, before
	}
	panic(fault{unexpectedNode(te)})
}

// fromList is a FROM list outside a SELECT core: UPDATE … FROM, DELETE … USING.
func (p *parser) fromList() []ast.FromItem {
	s := p.openSkeleton()
	s.word(p.tok(), "select :v from ")
	p.fromInto(s)
	return p.lowerFromOnly(s)
}

// joinedTable is one entry of a FROM list with its joins.
func (p *parser) joinedTable(first ast.FromItem) ast.FromItem {
	s := p.openSkeleton()
	s.word(p.tok(), "select :v from ")
	p.joinInto(s, first)
	return p.lowerFromOnly(s)[0]
}

func (p *parser) lowerFromOnly(s *skeleton) []ast.FromItem {
	sel, ok := p.structure(s).(*sqlparser.Select)
	if !ok {
		p.syntaxErr()
	}
	l := s.lowerFrom(sel.From)
	p.closeSkeleton(s)
	return l
}

// fromItem is one operand of a join.
func (p *parser) fromItem() ast.FromItem {
	off := p.off()
	lateral := p.acceptKw(kwLateral)
	if p.is(KindLParen) {
		if lateral {
			return p.subqueryRef(off, true, p.parenQuery())
		}
		q, item := p.parenFrom()
		if q != nil {
			return p.subqueryRef(off, false, q)
		}
		return item
	}
	if p.isKw(kwXmltable) && p.peek(1).Kind == KindLParen {
		p.unsupported(off, "XMLTABLE")
	}
	if p.isKws(kwRows, kwFrom) && p.peek(2).Kind == KindLParen {
		return p.rowsFrom(off, lateral)
	}
	if p.startsFunction() {
		f := &ast.FuncRef{Off: off, Lateral: lateral, Calls: []ast.FuncCall{{X: p.tableFunction()}}}
		p.funcAlias(f)
		return f
	}
	if lateral {
		p.qualifiedName()
		p.syntaxErr()
	}
	t := p.relation()
	t.Alias, t.Cols = p.alias()
	if p.acceptKw(kwTablesample) {
		ts := &ast.Tablesample{Off: p.off(), Method: joinDots(p.funcName().Parts), Args: p.parenExprs()}
		if p.acceptKw(kwRepeatable) {
			p.expect(KindLParen)
			ts.Seed = p.expr()
			p.expect(KindRParen)
		}
		t.Tablesample = ts
	}
	return t
}

// relation is [ONLY] name [*], without alias.
func (p *parser) relation() *ast.TableRef {
	t := &ast.TableRef{Off: p.off()}
	if p.acceptKw(kwOnly) {
		t.Only = true
		if p.accept(KindLParen) {
			t.Name = p.qualifiedName()
			p.expect(KindRParen)
			return t
		}
		t.Name = p.qualifiedName()
		return t
	}
	t.Name = p.qualifiedName()
	p.accept(KindStar)
	return t
}

// alias is [AS] name [(columns)], or nothing.
func (p *parser) alias() (string, []string) {
	if !p.acceptKw(kwAs) && !isName(p.tok(), true, false) {
		return "", nil
	}
	return p.colID(), p.optParenNames()
}

func (p *parser) subqueryRef(off ast.Off, lateral bool, q *ast.Select) ast.FromItem {
	r := &ast.SubqueryRef{Off: off, Lateral: lateral, Query: q}
	r.Alias, r.Cols = p.alias()
	if r.Alias == "" {
		what, example := "subquery", "(SELECT ...)"
		if q.Values != nil {
			what, example = "VALUES", "(VALUES ...)"
		}
		p.fail(sqlerr.New(sqlerr.SyntaxError, "%s in FROM must have an alias", what).At(int(off)).
			WithHint("For example, FROM %s [AS] foo.", example))
	}
	return r
}

// parenFrom parses parentheses in FROM: a query, which may go on behind them,
// or a joined table with its alias.
func (p *parser) parenFrom() (*ast.Select, ast.FromItem) {
	p.enter()
	defer p.leave()
	p.expect(KindLParen)
	if isQueryStart(p.tok(), p.peek(1)) {
		q := p.query()
		p.expect(KindRParen)
		return q, nil
	}
	var first ast.FromItem
	if p.is(KindLParen) {
		off := p.off()
		q, item := p.parenFrom()
		if q != nil {
			switch {
			case p.accept(KindRParen):
				return q, nil
			case p.continuesQuery():
				q = p.queryFrom(q)
				p.expect(KindRParen)
				return q, nil
			}
			item = p.subqueryRef(off, false, q)
		}
		first = item
	}
	item := p.joinedTable(first)
	j, ok := item.(*ast.Join)
	if !ok || (j.Alias != "" && item == first) {
		p.syntaxErr() // one table alone stands in no parentheses
	}
	p.expect(KindRParen)
	if alias, cols := p.alias(); alias != "" {
		j.Alias, j.Cols = alias, cols
	}
	return nil, j
}

// startsFunction tells a table function from a table.
func (p *parser) startsFunction() bool {
	t := p.tok()
	if _, ok := niladic[t.Key]; ok {
		return true
	}
	if t.Kind == KindIdent && keywordTable[t.Key].cat == ColName {
		return p.peek(1).Kind == KindLParen
	}
	if t.Kind == KindIdent && keywordTable[t.Key].cat == Reserved {
		return t.Key == kwCast
	}
	if t.Key == kwCollation && p.peek(1).Key == kwFor {
		return true
	}
	n := 1
	for p.peek(n).Kind == KindDot && isLabel(p.peek(n+1)) {
		n += 2
	}
	return p.peek(n).Kind == KindLParen && isLabel(t)
}

// tableFunction is a call in FROM.
func (p *parser) tableFunction() ast.Expr {
	at := p.tok()
	p.windowless = true
	x := p.primary()
	p.windowless = false
	switch c := x.(type) {
	case *ast.Special:
		return x
	case *ast.Call:
		return x
	case *ast.Cast:
		if !c.Literal {
			return x
		}
	}
	p.syntaxErrAt(at)
	return nil
}

func (p *parser) rowsFrom(off ast.Off, lateral bool) ast.FromItem {
	f := &ast.FuncRef{Off: off, Lateral: lateral, RowsFrom: true}
	p.next()
	p.next()
	p.expect(KindLParen)
	for {
		c := ast.FuncCall{X: p.tableFunction()}
		if p.acceptKw(kwAs) {
			c.Cols = p.columnDefList()
		}
		f.Calls = append(f.Calls, c)
		if !p.accept(KindComma) {
			break
		}
	}
	p.expect(KindRParen)
	p.funcAlias(f)
	return f
}

// funcAlias reads WITH ORDINALITY and the alias of a table function, whose
// columns may have types.
func (p *parser) funcAlias(f *ast.FuncRef) {
	f.Ordinality = p.acceptKws(kwWith, kwOrdinality)
	as := p.acceptKw(kwAs)
	if as && p.is(KindLParen) {
		f.Cols = p.columnDefList()
		return
	}
	if !as && !isName(p.tok(), true, false) {
		return
	}
	f.Alias = p.colID()
	if !p.is(KindLParen) {
		return
	}
	if k := p.peek(2).Kind; k == KindComma || k == KindRParen {
		for _, name := range p.parenNames() {
			f.Cols = append(f.Cols, ast.ColDef{Name: name})
		}
		return
	}
	f.Cols = p.columnDefList()
}

// columnDefList is (name type [COLLATE c], …).
func (p *parser) columnDefList() []ast.ColDef {
	p.expect(KindLParen)
	l := commaList(p, func() ast.ColDef {
		off, name := p.off(), p.colID()
		t := p.typeName()
		if p.isKw(kwCollate) {
			p.unsupported(p.off(), "COLLATE in a column definition list")
		}
		return ast.ColDef{Off: off, Name: name, Type: &t}
	})
	p.expect(KindRParen)
	return l
}

// funcName is the name of a function outside an expression.
func (p *parser) funcName() ast.Name {
	off := p.off()
	if p.peek(1).Kind != KindDot {
		return ast.Name{Off: off, Parts: []string{p.typeFuncName()}}
	}
	return p.anyName()
}
