package parser

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// createTable is CREATE TABLE behind its modifiers; off is CREATE's offset.
func (p *parser) createTable(off ast.Off, temp, unlogged bool) ast.Stmt {
	t := &ast.CreateTable{Off: off, Temp: temp, Unlogged: unlogged}
	p.expectKw(kwTable)
	t.IfNotExists = p.acceptKws(kwIf, kwNot, kwExists)
	t.Name = p.qualifiedName()
	defined := true // columns were given, be it none
	switch {
	case p.acceptKw(kwOf):
		n := p.anyName()
		t.OfType = &n
		p.columnOptions(t)
	case p.isKws(kwPartition, kwOf):
		p.next()
		p.next()
		p.partitionOf(t)
	case p.is(KindLParen):
		if k := p.peek(2).Kind; isLabel(p.peek(1)) && (k == KindComma || k == KindRParen) && isName(p.peek(1), true, false) {
			t.AsCols = p.parenNames()
			defined = false
		} else {
			p.tableElements(t)
		}
	default:
		defined = false
	}
	p.tableClauses(t)
	if !defined {
		p.expectKw(kwAs)
		p.tableAs(t)
	}
	return t
}

func (p *parser) tableAs(t *ast.CreateTable) {
	if p.isKw(kwExecute) {
		t.AsExecute = p.execute()
	} else {
		t.As = p.query()
	}
	t.WithNoData = p.withNoData()
}

func (p *parser) withNoData() bool {
	if p.acceptKws(kwWith, kwNo, kwData) {
		return true
	}
	p.acceptKws(kwWith, kwData)
	return false
}

// tableClauses reads INHERITS, PARTITION BY, USING, WITH, ON COMMIT, TABLESPACE.
func (p *parser) tableClauses(t *ast.CreateTable) {
	if p.acceptKw(kwInherits) {
		p.expect(KindLParen)
		t.Inherits = p.qualifiedNames()
		p.expect(KindRParen)
	}
	if p.isKws(kwPartition, kwBy) {
		p.next()
		p.next()
		t.PartitionBy = p.partitionKey()
	}
	if p.acceptKw(kwUsing) {
		t.Using = p.colID()
	}
	switch {
	case p.acceptKw(kwWith):
		t.With = p.relOptions()
	case p.acceptKw(kwWithout):
		p.expectKw(kwOids)
	}
	if p.acceptKws(kwOn, kwCommit) {
		switch {
		case p.acceptKw(kwDrop):
			t.OnCommit = "DROP"
		case p.acceptKws(kwDelete, kwRows):
			t.OnCommit = "DELETE ROWS"
		default:
			p.expectKws(kwPreserve, kwRows)
			t.OnCommit = "PRESERVE ROWS"
		}
	}
	if p.acceptKw(kwTablespace) {
		t.Tablespace = p.colID()
	}
}

func (p *parser) tableElements(t *ast.CreateTable) {
	p.expect(KindLParen)
	if p.accept(KindRParen) {
		return
	}
	for {
		switch {
		case p.isKw(kwLike):
			l := p.like()
			l.Place = len(t.Columns)
			t.Likes = append(t.Likes, l)
		case p.startsTableConstraint():
			t.Constraints = append(t.Constraints, p.tableConstraint())
		default:
			t.Columns = append(t.Columns, p.columnDef())
		}
		if !p.accept(KindComma) {
			break
		}
	}
	p.expect(KindRParen)
}

func (p *parser) like() ast.Like {
	l := ast.Like{Off: p.off()}
	p.next()
	l.Table = p.qualifiedName()
	for {
		w := p.tok().Key
		if w != kwIncluding && w != kwExcluding {
			return l
		}
		p.next()
		switch k := p.tok().Key; k {
		case kwComments, kwCompression, kwConstraints, kwDefaults, kwIdentity, kwGenerated, kwIndexes, kwStatistics, kwStorage, kwAll:
			p.next()
			l.Options = append(l.Options, upper(w)+" "+upper(k))
		default:
			p.syntaxErr()
		}
	}
}

func (p *parser) startsTableConstraint() bool {
	switch p.tok().Key {
	case kwConstraint, kwCheck, kwUnique, kwPrimary, kwForeign:
		return true
	case kwExclude:
		return p.peek(1).Kind == KindLParen || p.peek(1).Key == kwUsing
	}
	return false
}

// columnDef is name type, storage, and the constraints of a column.
func (p *parser) columnDef() ast.ColumnDef {
	c := ast.ColumnDef{Off: p.off(), Name: p.colID()}
	c.Type = p.typeName()
	for {
		switch {
		case p.acceptKw(kwStorage):
			c.Storage = p.nonReserved()
			continue
		case p.acceptKw(kwCompression):
			if p.acceptKw(kwDefault) {
				c.Compression = "default"
			} else {
				c.Compression = p.colID()
			}
			continue
		}
		break
	}
	c.Collate, c.Constraints = p.columnConstraints()
	return c
}

// collate is COLLATE name, which stands where COLLATE does; nil when it is not
// there.
func (p *parser) collate() *ast.Name {
	off := p.off()
	if !p.acceptKw(kwCollate) {
		return nil
	}
	n := p.anyName()
	n.Off = off
	return &n
}

// columnConstraints is the list behind a column's type, COLLATE included.
func (p *parser) columnConstraints() (collate *ast.Name, list []ast.Constraint) {
	for {
		off := p.off()
		if n := p.collate(); n != nil {
			if collate != nil {
				p.failf(off, "multiple COLLATE clauses not allowed")
			}
			collate = n
			continue
		}
		c := ast.Constraint{Off: off}
		named := p.acceptKw(kwConstraint)
		if named {
			c.Name = p.colID()
		}
		if p.columnConstraint(&c) {
			list = append(list, c)
			continue
		}
		if named {
			p.syntaxErr()
		}
		var last *ast.Constraint
		if len(list) > 0 {
			last = &list[len(list)-1]
		}
		if !p.constraintTiming(last) {
			return collate, list
		}
	}
}

// constraintTiming reads [NOT] DEFERRABLE and INITIALLY … of a column's last
// constraint.
func (p *parser) constraintTiming(c *ast.Constraint) bool {
	at := p.off()
	yes, no := true, false
	var d *bool
	initially := ""
	switch {
	case p.acceptKw(kwDeferrable):
		d = &yes
	case p.isKw(kwNot) && p.peek(1).Key == kwDeferrable:
		p.next()
		p.next()
		d = &no
	case p.acceptKws(kwInitially, kwDeferred):
		initially = "DEFERRED"
	case p.acceptKws(kwInitially, kwImmediate):
		initially = "IMMEDIATE"
	default:
		return false
	}
	if c == nil || (c.Kind != "UNIQUE" && c.Kind != "PRIMARY KEY" && c.Kind != "FOREIGN KEY" && c.Kind != "EXCLUDE") {
		what := map[bool]string{true: "DEFERRABLE", false: "INITIALLY " + initially}[initially == ""]
		if d == &no {
			what = "NOT DEFERRABLE"
		}
		p.failf(at, "misplaced %s clause", what)
	}
	switch {
	case d != nil && c.Deferrable != nil:
		p.failf(at, "multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed")
	case initially != "" && c.Initially != "":
		p.failf(at, "multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed")
	}
	if d != nil {
		c.Deferrable = d
	}
	if initially != "" {
		c.Initially = initially
	}
	if c.Initially == "DEFERRED" && c.Deferrable != nil && !*c.Deferrable {
		p.failf(at, "constraint declared INITIALLY DEFERRED must be DEFERRABLE")
	}
	return true
}

// columnConstraint reads one constraint into c, or nothing.
func (p *parser) columnConstraint(c *ast.Constraint) bool {
	switch p.tok().Key {
	case kwNot:
		if p.peek(1).Key == kwDeferrable {
			return false
		}
		p.next()
		p.expectKw(kwNull)
		c.Kind = "NOT NULL"
	case kwNull:
		p.next()
		c.Kind = "NULL"
	case kwUnique:
		p.next()
		c.Kind = "UNIQUE"
		c.NullsNotDist = p.nullsNotDistinct()
		p.indexParameters(c)
	case kwPrimary:
		p.next()
		p.expectKw(kwKey)
		c.Kind = "PRIMARY KEY"
		p.indexParameters(c)
	case kwCheck:
		p.check(c)
		c.NoInherit = p.acceptKws(kwNo, kwInherit)
	case kwDefault:
		p.next()
		c.Kind = "DEFAULT"
		c.Expr = p.bExpr()
	case kwGenerated:
		p.next()
		p.generated(c)
	case kwReferences:
		c.Kind = "FOREIGN KEY"
		p.references(c)
	default:
		return false
	}
	return true
}

func (p *parser) nullsNotDistinct() bool {
	if p.acceptKws(kwNulls, kwNot, kwDistinct) {
		return true
	}
	p.acceptKws(kwNulls, kwDistinct)
	return false
}

// indexParameters is WITH (…) and USING INDEX TABLESPACE of UNIQUE and PRIMARY KEY.
func (p *parser) indexParameters(c *ast.Constraint) {
	if p.acceptKw(kwWith) {
		c.With = p.relOptions()
	}
	if p.isKws(kwUsing, kwIndex, kwTablespace) {
		p.acceptKws(kwUsing, kwIndex, kwTablespace)
		c.Tablespace = p.colID()
	}
}

// check is CHECK (expr).
func (p *parser) check(c *ast.Constraint) {
	p.next()
	c.Kind = "CHECK"
	p.expect(KindLParen)
	c.Expr = p.expr()
	p.expect(KindRParen)
}

// generated reads behind GENERATED: … AS IDENTITY, or ALWAYS AS (expr) STORED.
func (p *parser) generated(c *ast.Constraint) {
	when := p.off()
	p.generatedWhen(c)
	if p.isKw(kwIdentity) {
		p.identity(c)
		return
	}
	c.Kind = "GENERATED"
	p.expect(KindLParen)
	c.Expr = p.expr()
	p.expect(KindRParen)
	p.expectKw(kwStored)
	if !c.Always {
		p.failf(when, "for a generated column, GENERATED ALWAYS must be specified")
	}
}

// generatedWhen is ALWAYS AS or BY DEFAULT AS.
func (p *parser) generatedWhen(c *ast.Constraint) {
	if p.acceptKw(kwAlways) {
		c.Always = true
	} else {
		p.expectKws(kwBy, kwDefault)
	}
	p.expectKw(kwAs)
}

// identity is IDENTITY [(sequence options)].
func (p *parser) identity(c *ast.Constraint) {
	p.expectKw(kwIdentity)
	c.Kind = "IDENTITY"
	if p.accept(KindLParen) {
		if c.SeqOptions = p.sequenceOptions(); c.SeqOptions == nil {
			p.syntaxErr()
		}
		p.expect(KindRParen)
	}
}

// references is REFERENCES table … with its actions.
func (p *parser) references(c *ast.Constraint) {
	p.expectKw(kwReferences)
	n := p.qualifiedName()
	c.RefTable = &n
	c.RefCols = p.optParenNames()
	if p.isKw(kwMatch) {
		at := p.off()
		p.next()
		switch k := p.tok().Key; k {
		case kwPartial:
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "MATCH PARTIAL not yet implemented").At(int(at)))
		case kwFull, kwSimple:
			p.next()
			c.Match = upper(k)
		default:
			p.syntaxErr()
		}
	}
	for n := 0; n < 2 && p.isKw(kwOn); n++ {
		at := p.off()
		p.next()
		switch {
		case c.OnDelete == "" && p.acceptKw(kwDelete):
			c.OnDelete, c.DelCols = p.refAction()
		default:
			if c.OnUpdate != "" {
				p.syntaxErr()
			}
			p.expectKw(kwUpdate)
			var cols []string
			if c.OnUpdate, cols = p.refAction(); cols != nil {
				p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "a column list with %s is only supported for ON DELETE actions", c.OnUpdate).At(int(at)))
			}
		}
	}
}

func (p *parser) refAction() (string, []string) {
	switch {
	case p.acceptKws(kwNo, kwAction):
		return "NO ACTION", nil
	case p.acceptKw(kwRestrict):
		return "RESTRICT", nil
	case p.acceptKw(kwCascade):
		return "CASCADE", nil
	}
	p.expectKw(kwSet)
	if p.acceptKw(kwNull) {
		return "SET NULL", p.optParenNames()
	}
	p.expectKw(kwDefault)
	return "SET DEFAULT", p.optParenNames()
}

// tableConstraint is [CONSTRAINT name] and a constraint over columns.
func (p *parser) tableConstraint() ast.Constraint {
	c := ast.Constraint{Off: p.off()}
	if p.acceptKw(kwConstraint) {
		c.Name = p.colID()
	}
	switch p.tok().Key {
	case kwCheck:
		p.check(&c)
	case kwUnique:
		p.next()
		c.Kind = "UNIQUE"
		p.keyConstraint(&c)
	case kwPrimary:
		p.next()
		p.expectKw(kwKey)
		c.Kind = "PRIMARY KEY"
		p.keyConstraint(&c)
	case kwForeign:
		p.next()
		p.expectKw(kwKey)
		c.Kind = "FOREIGN KEY"
		c.Cols = p.parenNames()
		p.references(&c)
	case kwExclude:
		p.exclude(&c)
	default:
		p.syntaxErr()
	}
	p.constraintAttributes(&c, c.Kind)
	return c
}

func (p *parser) keyConstraint(c *ast.Constraint) {
	if p.acceptKws(kwUsing, kwIndex) {
		c.UsingIndex = p.colID()
		return
	}
	if c.Kind == "UNIQUE" {
		c.NullsNotDist = p.nullsNotDistinct()
	}
	c.Cols = p.parenNames()
	if p.acceptKw(kwInclude) {
		c.Include = p.parenNames()
	}
	p.indexParameters(c)
}

// exclude is EXCLUDE (key WITH operator, …).
func (p *parser) exclude(c *ast.Constraint) {
	p.next()
	c.Kind = "EXCLUDE"
	if p.acceptKw(kwUsing) {
		c.Method = p.colID()
	}
	p.expect(KindLParen)
	for {
		e := ast.ExcludeElem{IndexElem: p.indexElem()}
		p.expectKw(kwWith)
		if p.isKw(kwOperator) {
			e.Schema, e.Op = p.qualifiedOperator()
		} else {
			n := p.operatorName()
			e.Schema, e.Op = n.Schema(), n.Last()
		}
		c.Exclude = append(c.Exclude, e)
		if !p.accept(KindComma) {
			break
		}
	}
	p.expect(KindRParen)
	if p.acceptKw(kwInclude) {
		c.Include = p.parenNames()
	}
	p.indexParameters(c)
	if p.acceptKw(kwWhere) {
		p.expect(KindLParen)
		c.Where = p.expr()
		p.expect(KindRParen)
	}
}

// constraintAttributes reads DEFERRABLE, INITIALLY, NOT VALID, NO INHERIT of a kind
// of constraint.
func (p *parser) constraintAttributes(c *ast.Constraint, kind string) {
	yes, no := true, false
	var refused string
	refuse := func(what string, kinds ...string) {
		if refused == "" && !slices.Contains(kinds, kind) {
			refused = what
		}
	}
	for {
		word := p.off()
		switch {
		case p.acceptKw(kwDeferrable):
			p.agrees(c, word, true, "")
			c.Deferrable = &yes
			refuse("DEFERRABLE", "UNIQUE", "PRIMARY KEY", "EXCLUDE", "FOREIGN KEY")
		case p.isKws(kwNot, kwDeferrable):
			p.next()
			p.next()
			p.agrees(c, word, false, "")
			c.Deferrable = &no
		case p.isKws(kwNot, kwValid):
			p.next()
			p.next()
			c.NotValid = true
			refuse("NOT VALID", "CHECK", "FOREIGN KEY")
			if kind == "FOREIGN KEY" && c.RefTable == nil {
				refuse("NOT VALID") // ALTER CONSTRAINT
			}
		case p.acceptKws(kwNo, kwInherit):
			c.NoInherit = true
			refuse("NO INHERIT", "CHECK")
		case p.acceptKws(kwInitially, kwDeferred):
			p.agrees(c, word, true, "DEFERRED")
			c.Initially = "DEFERRED"
			refuse("DEFERRABLE", "UNIQUE", "PRIMARY KEY", "EXCLUDE", "FOREIGN KEY")
		case p.acceptKws(kwInitially, kwImmediate):
			p.agrees(c, word, c.Deferrable == nil || *c.Deferrable, "IMMEDIATE")
			c.Initially = "IMMEDIATE"
		default:
			if refused != "" {
				// without a position, as the list of attributes begins with nothing in PostgreSQL's grammar
				p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "%s constraints cannot be marked %s", kind, refused))
			}
			return
		}
	}
}

// skipParens consumes balanced parentheses.
func (p *parser) skipParens() {
	p.expect(KindLParen)
	for depth := 1; depth > 0; {
		switch p.tok().Kind {
		case KindEOF:
			p.syntaxErr()
		case KindLParen:
			depth++
		case KindRParen:
			depth--
		}
		p.next()
	}
}

// skipStatement consumes the rest of a statement that is kept as text only.
func (p *parser) skipStatement() {
	for {
		switch p.tok().Kind {
		case KindEOF, KindSemi:
			return
		case KindLParen:
			p.skipParens()
		case KindRParen:
			p.syntaxErr()
		default:
			p.next()
		}
	}
}

// agrees refuses a word about the time of a constraint's check that another one
// before it contradicts.
func (p *parser) agrees(c *ast.Constraint, at ast.Off, deferrable bool, initially string) {
	if c.Deferrable == nil && c.Initially == "" {
		return
	}
	deferred := initially == "DEFERRED" || initially == "" && c.Initially == "DEFERRED"
	never := initially == "" && !deferrable || initially != "" && c.Deferrable != nil && !*c.Deferrable
	if deferred && never {
		p.failf(at, "constraint declared INITIALLY DEFERRED must be DEFERRABLE")
	}
	if initially == "" && c.Deferrable != nil && *c.Deferrable != deferrable || initially != "" && c.Initially != "" && c.Initially != initially {
		p.failf(at, "conflicting constraint properties")
	}
}
