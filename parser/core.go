package parser

import (
	"github.com/xwb1989/sqlparser"

	"kvsqld/parser/ast"
)

// selectCore parses SELECT … up to HAVING and WINDOW. The clauses are read in
// whatever order they come and emitted as they come; that the order is right,
// and how the joins nest, is decided by sqlparser's grammar.
func (p *parser) selectCore() *ast.Select {
	q := &ast.Select{Off: p.off()}
	s := p.openSkeleton()
	s.word(p.next(), "select ")
	if t := p.tok(); p.acceptKw(kwDistinct) {
		s.word(t, "distinct ")
		if p.acceptKw(kwOn) {
			q.DistinctOn = p.parenExprs()
		}
	} else {
		p.acceptKw(kwAll)
	}
	distinct := len(s.buf) > len("select ")
	none := p.targetsInto(s)
	if none && distinct {
		p.syntaxErr()
	}
	if p.acceptKw(kwInto) {
		q.Into = p.intoTarget()
	}
clauses:
	for {
		t := p.tok()
		switch t.Key {
		case kwFrom:
			p.next()
			s.word(t, " from ")
			p.fromInto(s)
		case kwWhere:
			p.next()
			s.word(t, " where ")
			s.value(p.tok(), p.expr())
		case kwGroup:
			p.groupInto(s, q)
		case kwHaving:
			p.next()
			s.word(t, " having ")
			s.value(p.tok(), p.expr())
		default:
			break clauses
		}
	}
	if p.isKw(kwWindow) {
		q.Windows = p.windowClause()
	}
	sel, ok := p.structure(s).(*sqlparser.Select)
	if !ok {
		p.syntaxErr()
	}
	s.lowerSelect(sel, q)
	if none {
		q.Targets = nil
	}
	p.closeSkeleton(s)
	return q
}

// lowerSelect fills q from sqlparser's tree.
func (s *skeleton) lowerSelect(sel *sqlparser.Select, q *ast.Select) {
	q.Distinct = sel.Distinct != "" && q.DistinctOn == nil
	q.Targets = make([]ast.Target, 0, len(sel.SelectExprs))
	for _, x := range sel.SelectExprs {
		a, ok := x.(*sqlparser.AliasedExpr)
		if !ok {
			panic(fault{unexpectedNode(x)})
		}
		t := s.valueRef(a.Expr).(ast.Target)
		if !a.As.IsEmpty() {
			t.Alias = s.nameRef(a.As.String()).(string)
		}
		q.Targets = append(q.Targets, t)
	}
	q.From = s.lowerFrom(sel.From)
	q.Where = s.whereRef(sel.Where)
	for _, g := range sel.GroupBy {
		q.GroupBy = append(q.GroupBy, s.valueRef(g).(ast.GroupItem))
	}
	q.Having = s.whereRef(sel.Having)
}

// targetsInto emits a SELECT list. none is true for an empty list, for which
// it emits one item, as sqlparser's grammar wants one.
func (p *parser) targetsInto(s *skeleton) (none bool) {
	if !p.startsTarget() {
		s.value(p.tok(), ast.Target{})
		return true
	}
	for {
		t := p.tok()
		x, alias, aliasTok := p.target()
		s.value(t, x)
		if alias != "" {
			s.word(aliasTok, " as ")
			s.name(aliasTok, alias)
		}
		if c := p.tok(); p.accept(KindComma) {
			s.word(c, ",")
			continue
		}
		return false
	}
}

// startsTarget tells an empty SELECT list from one with items.
func (p *parser) startsTarget() bool {
	t := p.tok()
	switch t.Kind {
	case KindEOF, KindRParen, KindSemi:
		return false
	}
	switch t.Key {
	case kwFrom, kwInto, kwWhere, kwGroup, kwHaving, kwWindow, kwUnion, kwIntersect, kwExcept,
		kwOrder, kwLimit, kwOffset, kwFetch, kwFor:
		return false
	}
	return true
}

// target is one item: an expression or *, and its label.
func (p *parser) target() (x ast.Target, alias string, at Token) {
	off := p.off()
	if p.accept(KindStar) {
		return ast.Target{Off: off, X: &ast.ColumnRef{Off: off, Star: true}}, "", at
	}
	x = ast.Target{Off: off, X: p.expr()}
	at = p.tok()
	switch {
	case p.acceptKw(kwAs):
		alias = p.colLabel()
	case at.Kind == KindQuoted || at.Kind == KindUIdent,
		at.Kind == KindIdent && (at.Key == noKeyword || keywordTable[at.Key].bare):
		alias = p.takeName()
	}
	return x, alias, at
}

// targets is a list of items outside a core: RETURNING.
func (p *parser) targets() []ast.Target {
	var l []ast.Target
	for {
		x, alias, _ := p.target()
		x.Alias = alias
		l = append(l, x)
		if !p.accept(KindComma) {
			return l
		}
	}
}

// intoTarget is the table of SELECT INTO.
func (p *parser) intoTarget() *ast.Name {
	switch p.tok().Key {
	case kwUnlogged:
		p.into = intoUnlogged
		p.next()
	case kwTemporary, kwTemp:
		p.into = intoTemp
		p.next()
	case kwLocal, kwGlobal:
		if k := p.peek(1).Key; k == kwTemp || k == kwTemporary {
			if p.into = intoTemp; p.isKw(kwGlobal) {
				p.global = ast.Off(p.off())
			}
			p.next()
			p.next()
		}
	}
	p.acceptKw(kwTable)
	n := p.qualifiedName()
	return &n
}

// groupInto emits GROUP BY.
func (p *parser) groupInto(s *skeleton, q *ast.Select) {
	s.word(p.next(), " group by ")
	p.expectKw(kwBy)
	if p.acceptKw(kwDistinct) {
		q.GroupDist = true
	} else {
		p.acceptKw(kwAll)
	}
	for {
		t := p.tok()
		s.value(t, p.groupItem())
		c := p.tok()
		if !p.accept(KindComma) {
			return
		}
		s.word(c, ",")
	}
}

// groupItem is an entry of GROUP BY or of GROUPING SETS.
func (p *parser) groupItem() ast.GroupItem {
	p.enter()
	defer p.leave()
	off := p.off()
	switch {
	case p.is(KindLParen) && p.peek(1).Kind == KindRParen:
		p.next()
		p.next()
		return ast.GroupItem{Off: off, Kind: "EMPTY"}
	case p.isKw(kwRollup) && p.peek(1).Kind == KindLParen:
		p.next()
		return ast.GroupItem{Off: off, Kind: "ROLLUP", Exprs: p.parenExprs()}
	case p.isKw(kwCube) && p.peek(1).Kind == KindLParen:
		p.next()
		return ast.GroupItem{Off: off, Kind: "CUBE", Exprs: p.parenExprs()}
	case p.isKws(kwGrouping, kwSets):
		p.next()
		p.next()
		p.expect(KindLParen)
		g := ast.GroupItem{Off: off, Kind: "SETS"}
		g.Sets = commaList(p, p.groupItem)
		p.expect(KindRParen)
		return g
	}
	return ast.GroupItem{Off: off, Exprs: []ast.Expr{p.expr()}}
}

func (p *parser) windowClause() []ast.Window {
	p.next()
	var l []ast.Window
	for {
		name := p.colID()
		p.expectKw(kwAs)
		w := p.windowSpec()
		w.Name = name
		l = append(l, *w)
		if !p.accept(KindComma) {
			return l
		}
	}
}
