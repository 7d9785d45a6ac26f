package parser

import (
	"github.com/xwb1989/sqlparser"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// insert is INSERT INTO …; the rows or the query are one opaque row of the
// skeleton, and the SET list of ON CONFLICT is sqlparser's ON DUPLICATE KEY.
func (p *parser) insert(with *ast.With) ast.Stmt {
	ins := &ast.Insert{Off: p.off(), With: with}
	s := p.openSkeleton()
	s.word(p.expectKw(kwInsert), "insert ")
	s.word(p.expectKw(kwInto), "into ")
	at := p.tok()
	ins.Table = p.qualifiedName()
	if p.acceptKw(kwAs) {
		ins.Alias = p.colID()
	}
	s.name(at, ins.Table)
	if p.is(KindLParen) && !p.startsQuery() {
		s.word(p.next(), "(")
		for {
			t := p.tok()
			s.name(t, p.assignTarget())
			if c := p.tok(); p.accept(KindComma) {
				s.word(c, ",")
				continue
			}
			break
		}
		s.word(p.expect(KindRParen), ")")
	}
	if p.acceptKw(kwOverriding) {
		if p.acceptKw(kwUser) {
			ins.Overriding = "USER"
		} else {
			p.expectKw(kwSystem)
			ins.Overriding = "SYSTEM"
		}
		p.expectKw(kwValue)
	}
	data := p.tok()
	if data.Key == kwDefault && ins.Overriding == "" && s.buf[len(s.buf)-1] != ')' {
		p.next()
		p.expectKw(kwValues)
		ins.Default = true
		s.word(data, " values ()")
	} else {
		s.word(data, " values (")
		s.value(data, p.query())
		s.word(data, ")")
	}
	if p.isKw(kwOn) {
		p.onConflictInto(s, ins)
	}
	ins.Returning = p.returning()
	tree, ok := p.structure(s).(*sqlparser.Insert)
	if !ok {
		p.syntaxErr()
	}
	s.lowerInsert(tree, ins)
	p.closeSkeleton(s)
	return ins
}

func (s *skeleton) lowerInsert(tree *sqlparser.Insert, ins *ast.Insert) {
	ins.Table = s.nameRef(tree.Table.Name.String()).(ast.Name)
	for _, c := range tree.Columns {
		ins.Cols = append(ins.Cols, s.nameRef(c.String()).(ast.AssignTarget))
	}
	if rows, ok := tree.Rows.(sqlparser.Values); ok && !ins.Default {
		ins.Query = s.valueRef(rows[0][0]).(*ast.Select)
	}
	if ins.OnConflict != nil {
		ins.OnConflict.Set = s.lowerSet(sqlparser.UpdateExprs(tree.OnDup))
	}
}

// assignTarget is a column with subscripts or fields.
func (p *parser) assignTarget() ast.AssignTarget {
	t := ast.AssignTarget{Off: p.off(), Col: p.colID()}
	for {
		switch {
		case p.is(KindLBracket):
			t.Path = append(t.Path, p.subscript())
		case p.accept(KindDot):
			t.Path = append(t.Path, ast.PathStep{Field: p.colLabel()})
		default:
			return t
		}
	}
}

// assignLeft is the left side of an assignment in SET.
type assignLeft struct {
	off     ast.Off
	targets []ast.AssignTarget
	multi   bool
}

// setInto emits a SET list.
func (p *parser) setInto(s *skeleton) {
	for {
		t := p.tok()
		l := assignLeft{off: ast.Off(t.Off)}
		if p.accept(KindLParen) {
			l.multi = true
			l.targets = commaList(p, p.assignTarget)
			p.expect(KindRParen)
		} else {
			l.targets = []ast.AssignTarget{p.assignTarget()}
		}
		s.name(t, l)
		s.word(p.expect(KindEqual), "=")
		s.value(p.tok(), p.expr())
		c := p.tok()
		if !p.accept(KindComma) {
			return
		}
		s.word(c, ",")
	}
}

func (s *skeleton) lowerSet(list sqlparser.UpdateExprs) []ast.Assign {
	out := make([]ast.Assign, 0, len(list))
	for _, u := range list {
		l := s.nameRef(u.Name.Name.String()).(assignLeft)
		out = append(out, ast.Assign{Off: l.off, Targets: l.targets, Multi: l.multi, X: s.exprRef(u.Expr)})
	}
	return out
}

// onConflictInto reads ON CONFLICT and emits its SET list.
func (p *parser) onConflictInto(s *skeleton, ins *ast.Insert) {
	oc := &ast.OnConflict{Off: p.off()}
	ins.OnConflict = oc
	at := p.next()
	p.expectKw(kwConflict)
	switch {
	case p.is(KindLParen):
		oc.TargetOff = p.off()
		p.next()
		for {
			e := p.indexElem()
			switch {
			case e.Desc, e.Asc:
				p.fail(sqlerr.New(sqlerr.InvalidColumnReference, "ASC/DESC is not allowed in ON CONFLICT clause").At(int(oc.TargetOff)))
			case e.NullsFirst != nil:
				p.fail(sqlerr.New(sqlerr.InvalidColumnReference, "NULLS FIRST/LAST is not allowed in ON CONFLICT clause").At(int(oc.TargetOff)))
			}
			x := e.X
			if x == nil {
				x = &ast.ColumnRef{Off: e.Off, Parts: []string{e.Col}}
			}
			oc.Targets = append(oc.Targets, ast.ConflictTarget{X: x, Collate: e.Collate, Opclass: e.Opclass})
			if !p.accept(KindComma) {
				break
			}
		}
		p.expect(KindRParen)
		oc.Where = p.optWhere()
	case p.acceptKw(kwOn):
		p.expectKw(kwConstraint)
		oc.Constraint = p.colID()
	}
	p.expectKw(kwDo)
	if p.acceptKw(kwNothing) {
		return
	}
	p.expectKw(kwUpdate)
	p.expectKw(kwSet)
	oc.DoUpdate = true
	s.word(at, " on duplicate key update ")
	p.setInto(s)
	oc.UpdWhere = p.optWhere()
}

func (p *parser) optWhere() ast.Expr {
	if !p.acceptKw(kwWhere) {
		return nil
	}
	return p.expr()
}

func (p *parser) returning() []ast.Target {
	if !p.acceptKw(kwReturning) {
		return nil
	}
	return p.targets()
}

// targetTable is the table of UPDATE, DELETE or MERGE with its alias. SET is
// no alias there unless AS says so.
func (p *parser) targetTable() *ast.TableRef {
	t := p.relation()
	if p.acceptKw(kwAs) || (isName(p.tok(), true, false) && !p.isKw(kwSet)) {
		t.Alias = p.colID()
	}
	return t
}

// update is UPDATE …; its FROM list is a structure of its own.
func (p *parser) update(with *ast.With) ast.Stmt {
	u := &ast.Update{Off: p.off(), With: with}
	s := p.openSkeleton()
	s.word(p.expectKw(kwUpdate), "update ")
	t := p.tok()
	s.name(t, p.targetTable())
	s.word(p.expectKw(kwSet), " set ")
	p.setInto(s)
	if p.acceptKw(kwFrom) {
		u.From = p.fromList()
	}
	u.Current = p.whereInto(s)
	u.Returning = p.returning()
	tree, ok := p.structure(s).(*sqlparser.Update)
	if !ok || len(tree.TableExprs) != 1 {
		p.syntaxErr()
	}
	u.Table = s.targetRef(tree.TableExprs[0])
	u.Set = s.lowerSet(tree.Exprs)
	u.Where = s.whereRef(tree.Where)
	p.closeSkeleton(s)
	return u
}

// whereInto emits WHERE; of WHERE CURRENT OF it returns the cursor's name.
func (p *parser) whereInto(s *skeleton) (cursor string) {
	t := p.tok()
	if !p.acceptKw(kwWhere) {
		return ""
	}
	if p.isKws(kwCurrent, kwOf) {
		p.next()
		p.next()
		return p.colID()
	}
	s.word(t, " where ")
	s.value(p.tok(), p.expr())
	return ""
}

func (s *skeleton) targetRef(te sqlparser.TableExpr) *ast.TableRef {
	a, ok := te.(*sqlparser.AliasedTableExpr)
	if !ok {
		panic(fault{unexpectedNode(te)})
	}
	return s.nameRef(tableName(a)).(*ast.TableRef)
}

// delete is DELETE FROM …; its USING list is a structure of its own.
func (p *parser) delete(with *ast.With) ast.Stmt {
	d := &ast.Delete{Off: p.off(), With: with}
	s := p.openSkeleton()
	s.word(p.expectKw(kwDelete), "delete ")
	s.word(p.expectKw(kwFrom), "from ")
	t := p.tok()
	s.name(t, p.targetTable())
	if p.acceptKw(kwUsing) {
		d.Using = p.fromList()
	}
	d.Current = p.whereInto(s)
	d.Returning = p.returning()
	tree, ok := p.structure(s).(*sqlparser.Delete)
	if !ok || len(tree.TableExprs) != 1 {
		p.syntaxErr()
	}
	d.Table = s.targetRef(tree.TableExprs[0])
	d.Where = s.whereRef(tree.Where)
	p.closeSkeleton(s)
	return d
}

// merge is MERGE INTO …, which sqlparser does not know.
func (p *parser) merge(with *ast.With) ast.Stmt {
	m := &ast.Merge{Off: p.off(), With: with}
	p.expectKw(kwMerge)
	p.expectKw(kwInto)
	m.Table = p.targetTable()
	p.expectKw(kwUsing)
	m.Using = p.joinedTable(nil)
	p.expectKw(kwOn)
	m.On = p.expr()
	if !p.isKw(kwWhen) {
		p.syntaxErr()
	}
	for p.isKw(kwWhen) {
		m.Whens = append(m.Whens, p.mergeWhen())
	}
	return m
}

func (p *parser) mergeWhen() ast.MergeWhen {
	w := ast.MergeWhen{Off: p.off()}
	p.next()
	w.Matched = !p.acceptKw(kwNot)
	p.expectKw(kwMatched)
	if p.acceptKw(kwAnd) {
		w.Cond = p.expr()
	}
	p.expectKw(kwThen)
	switch {
	case p.acceptKws(kwDo, kwNothing):
		w.Action = "NOTHING"
	case w.Matched && p.acceptKw(kwDelete):
		w.Action = "DELETE"
	case w.Matched && p.acceptKw(kwUpdate):
		w.Action = "UPDATE"
		p.expectKw(kwSet)
		w.Set = p.setList()
	case !w.Matched && p.acceptKw(kwInsert):
		p.mergeInsert(&w)
	default:
		p.syntaxErr()
	}
	return w
}

// setList is a SET list outside a core.
func (p *parser) setList() []ast.Assign {
	s := p.openSkeleton()
	s.word(p.tok(), "update t set ")
	p.setInto(s)
	tree, ok := p.structure(s).(*sqlparser.Update)
	if !ok {
		p.syntaxErr()
	}
	l := s.lowerSet(tree.Exprs)
	p.closeSkeleton(s)
	return l
}

func (p *parser) mergeInsert(w *ast.MergeWhen) {
	w.Action = "INSERT"
	if p.accept(KindLParen) {
		w.Cols = commaList(p, p.assignTarget)
		p.expect(KindRParen)
	}
	if p.acceptKw(kwOverriding) {
		w.Overriding = "USER"
		if !p.acceptKw(kwUser) {
			p.expectKw(kwSystem)
			w.Overriding = "SYSTEM"
		}
		p.expectKw(kwValue)
	}
	if w.Cols == nil && w.Overriding == "" && p.acceptKws(kwDefault, kwValues) {
		w.Default = true
		return
	}
	p.expectKw(kwValues)
	w.Values = p.parenExprs()
}
