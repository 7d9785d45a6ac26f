package parser

import (
	"math"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// alter is ALTER; the words behind it decide.
func (p *parser) alter() ast.Stmt {
	off := p.off()
	p.next()
	switch k := p.tok().Key; k {
	case kwTable:
		return p.alterRelation(off, "TABLE", 1)
	case kwIndex:
		return p.alterRelation(off, "INDEX", 1)
	case kwView:
		return p.alterRelation(off, "VIEW", 1)
	case kwSequence:
		return p.alterSequence(off)
	case kwMaterialized:
		if p.peek(1).Key != kwView {
			p.next()
			p.syntaxErr()
		}
		return p.alterRelation(off, "MATERIALIZED VIEW", 2)
	case kwForeign:
		if p.peek(1).Key == kwTable {
			return p.alterRelation(off, "FOREIGN TABLE", 2)
		}
	case kwDatabase:
		return p.alterDatabase(off)
	case kwRole, kwUser:
		if p.peek(1).Key != kwMapping {
			return p.alterRole(off)
		}
	case kwGroup:
		return p.alterGroup(off)
	case kwSchema, kwType, kwDomain, kwFunction, kwProcedure, kwRoutine, kwAggregate, kwExtension:
		return p.alterObject(off)
	case kwOperator:
		if k := p.peek(1).Key; k != kwClass && k != kwFamily {
			return p.alterOperator(off)
		}
	case kwPolicy:
		return p.policy(off, true)
	case kwStatistics:
		return p.alterStatistics(off)
	case kwDefault:
		p.next()
		p.expectKw(kwPrivileges)
		return p.alterDefaults(off)
	case kwSystem:
		p.next()
		return p.restUnsupported(off, "ALTER SYSTEM")
	}
	kind := p.otherKind()
	switch kind {
	case "":
		p.syntaxErr()
	case ast.LargeObject:
		a := &ast.AlterObject{Off: off, Kind: kind, Action: "OWNER", Name: p.largeObject()}
		p.expectKws(kwOwner, kwTo)
		a.NewName = p.roleName()
		return a
	}
	return p.restUnsupported(off, "ALTER "+kind)
}

func (p *parser) ifExists() bool { return p.acceptKws(kwIf, kwExists) }

// alterTablespace is ALTER TABLE ALL IN TABLESPACE and the like; the roles behind OWNED
// BY are options.
func (p *parser) alterTablespace(off ast.Off, kind string) ast.Stmt {
	p.acceptKws(kwAll, kwIn, kwTablespace)
	a := &ast.AlterObject{Off: off, Kind: kind, Action: ast.AllInTablespace}
	a.Name = ast.Name{Off: p.off(), Parts: []string{p.colID()}}
	if p.acceptKw(kwOwned) {
		p.expectKw(kwBy)
		for _, r := range p.roleNames() {
			a.Options = append(a.Options, ast.Option{Off: off, Name: r})
		}
	}
	p.expectKws(kwSet, kwTablespace)
	a.NewName = p.colID()
	p.acceptKw(kwNowait)
	return a
}

// alterRelation is ALTER TABLE and its relatives; words is how many tokens
// the kind has.
func (p *parser) alterRelation(off ast.Off, kind string, words int) ast.Stmt {
	for range words {
		p.next()
	}
	if p.isKws(kwAll, kwIn, kwTablespace) {
		switch kind {
		case "TABLE", "INDEX", "MATERIALIZED VIEW":
			return p.alterTablespace(off, kind)
		}
	}
	a := &ast.AlterTable{Off: off, Kind: kind, IfExists: p.ifExists()}
	t := p.relation()
	a.Name, a.Only = t.Name, t.Only
	if act, ok := p.renameAction(); ok {
		a.Actions = []ast.AlterAction{act}
		return a
	}
	if act, ok := p.partitionAction(kind); ok {
		a.Actions = []ast.AlterAction{act}
		return a
	}
	a.Actions = commaList(p, p.alterAction)
	return a
}

// renameAction is RENAME or SET SCHEMA, which stand alone.
func (p *parser) renameAction() (ast.AlterAction, bool) {
	act := ast.AlterAction{Off: p.off()}
	switch {
	case p.acceptKws(kwSet, kwSchema):
		act.Kind, act.NewName = "SET SCHEMA", p.colID()
		return act, true
	case !p.acceptKw(kwRename):
		return act, false
	case p.acceptKw(kwTo):
		act.Kind, act.NewName = "RENAME", p.colID()
		return act, true
	case p.acceptKw(kwConstraint):
		act.Kind = "RENAME CONSTRAINT"
	default:
		act.Kind = "RENAME COLUMN"
		p.acceptKw(kwColumn)
	}
	act.Name = p.colID()
	p.expectKw(kwTo)
	act.NewName = p.colID()
	return act, true
}

// cascade is CASCADE, RESTRICT or nothing.
func (p *parser) cascade() bool {
	if p.acceptKw(kwCascade) {
		return true
	}
	p.acceptKw(kwRestrict)
	return false
}

// alterAction is one action of ALTER TABLE.
func (p *parser) alterAction() ast.AlterAction {
	act := ast.AlterAction{Off: p.off()}
	switch p.tok().Key {
	case kwAdd:
		p.next()
		p.addAction(&act)
	case kwAlter:
		p.next()
		if p.acceptKw(kwConstraint) {
			act.Kind, act.Name = "ALTER CONSTRAINT", p.colID()
			c := ast.Constraint{Off: act.Off, Name: act.Name}
			p.constraintAttributes(&c, "FOREIGN KEY")
			act.Constraint = &c
			break
		}
		p.acceptKw(kwColumn)
		p.alterColumn(&act)
	case kwDrop:
		p.next()
		act.Kind = "DROP COLUMN"
		if p.acceptKw(kwConstraint) {
			act.Kind = "DROP CONSTRAINT"
		} else {
			p.acceptKw(kwColumn)
		}
		act.IfExists = p.ifExists()
		act.Name = p.colID()
		act.Cascade = p.cascade()
	case kwValidate:
		p.next()
		p.expectKw(kwConstraint)
		act.Kind, act.Name = "VALIDATE CONSTRAINT", p.colID()
	case kwOwner:
		p.next()
		p.expectKw(kwTo)
		act.Kind, act.NewName = "OWNER", p.roleName()
	case kwCluster:
		p.next()
		p.expectKw(kwOn)
		act.Kind, act.Name = "CLUSTER", p.colID()
	case kwReset:
		p.next()
		act.Kind, act.Options = "RESET OPTIONS", p.resetOptions()
	case kwSet:
		p.next()
		p.setAction(&act)
	case kwEnable, kwDisable, kwInherit, kwNo, kwOf, kwNot, kwReplica, kwForce, kwDepends, kwOptions:
		if !p.memberAction(&act) && !p.typeAction(&act) {
			p.switchAction(&act)
		}
	default:
		p.syntaxErr()
	}
	return act
}

func (p *parser) addAction(act *ast.AlterAction) {
	if p.startsTableConstraint() {
		c := p.tableConstraint()
		act.Kind, act.Constraint, act.Name = "ADD CONSTRAINT", &c, c.Name
		return
	}
	act.Kind = "ADD COLUMN"
	p.acceptKw(kwColumn)
	act.IfExists = p.acceptKws(kwIf, kwNot, kwExists)
	c := p.columnDef()
	act.Column, act.Name = &c, c.Name
}

// setAction is SET … of a table: options, LOGGED, TABLESPACE and so on.
func (p *parser) setAction(act *ast.AlterAction) {
	switch {
	case p.is(KindLParen):
		act.Kind, act.Options = "SET OPTIONS", p.relOptions()
	case p.acceptKw(kwLogged):
		act.Kind = "LOGGED"
	case p.acceptKw(kwUnlogged):
		act.Kind = "UNLOGGED"
	case p.acceptKw(kwTablespace):
		act.Kind, act.NewName = "SET TABLESPACE", p.colID()
		p.acceptKw(kwNowait)
	case p.acceptKws(kwAccess, kwMethod):
		act.Kind, act.NewName = "SET ACCESS METHOD", p.colID()
	case p.acceptKws(kwWithout, kwCluster):
		act.Kind = "SET WITHOUT CLUSTER"
	default:
		p.expectKws(kwWithout, kwOids)
		act.Kind = "SET WITHOUT OIDS"
	}
}

// alterColumn is ALTER [COLUMN] name ….
func (p *parser) alterColumn(act *ast.AlterAction) {
	if p.is(KindInt) {
		off := p.off()
		act.Name = p.next().Text(p.lx.src)
		if !p.isKws(kwSet, kwStatistics) {
			p.syntaxErr()
		}
		if n, err := strconv.ParseInt(act.Name, 10, 16); err != nil || n == 0 {
			p.fail(sqlerr.New(sqlerr.InvalidParameterValue, "column number must be in range from 1 to %d", math.MaxInt16).At(int(off)))
		}
	} else {
		act.Name = p.colID()
	}
	switch {
	case p.alterDefault(act):
	case p.acceptKws(kwSet, kwStatistics):
		act.Kind, act.Expr = "SET STATISTICS", p.numericOnly()
	case p.acceptKws(kwSet, kwStorage):
		act.Kind, act.NewName = "SET STORAGE", p.nonReserved()
	case p.acceptKws(kwSet, kwCompression):
		act.Kind, act.NewName = "SET COMPRESSION", "default"
		if !p.acceptKw(kwDefault) {
			act.NewName = p.colID()
		}
	case p.isKw(kwSet) && p.peek(1).Kind == KindLParen:
		p.next()
		act.Kind, act.Options = "SET OPTIONS", p.relOptions()
	case p.isKw(kwReset):
		p.next()
		act.Kind, act.Options = "RESET OPTIONS", p.resetOptions()
	case p.acceptKws(kwAdd, kwGenerated):
		act.Kind = "ADD IDENTITY"
		c := ast.Constraint{Off: act.Off}
		p.generatedWhen(&c)
		p.identity(&c)
		act.Constraint = &c
	case p.acceptKws(kwDrop, kwIdentity):
		act.Kind, act.IfExists = "DROP IDENTITY", p.ifExists()
	case p.acceptKws(kwDrop, kwExpression):
		act.Kind, act.IfExists = "DROP EXPRESSION", p.ifExists()
	case p.isKw(kwType), p.isKws(kwSet, kwData, kwType):
		p.alterType(act)
	default:
		p.setIdentity(act)
	}
}

func (p *parser) alterType(act *ast.AlterAction) {
	act.Kind = "ALTER COLUMN TYPE"
	if !p.acceptKws(kwSet, kwData, kwType) {
		p.expectKw(kwType)
	}
	t := p.typeName()
	act.Type = &t
	if n := p.collate(); n != nil {
		act.Column = &ast.ColumnDef{Off: act.Off, Name: act.Name, Type: t, Collate: n}
	}
	if p.acceptKw(kwUsing) {
		act.Using = p.expr()
	}
}

// setIdentity is SET GENERATED …, SET sequence option, RESTART: one or more.
func (p *parser) setIdentity(act *ast.AlterAction) {
	act.Kind = "SET IDENTITY"
	for {
		switch {
		case p.isKw(kwRestart):
			o := ast.Option{Off: p.off(), Name: "restart"}
			p.next()
			if p.acceptKw(kwWith) || p.is(KindInt) || p.is(KindMinus) {
				o.X = p.numericOnly()
			}
			act.Options = append(act.Options, o)
		case p.isKws(kwSet, kwGenerated):
			o := ast.Option{Off: p.off(), Name: "generated always"}
			p.next()
			p.next()
			if !p.acceptKw(kwAlways) {
				p.expectKws(kwBy, kwDefault)
				o.Name = "generated by default"
			}
			act.Options = append(act.Options, o)
		case p.isKw(kwSet):
			p.next()
			l := p.sequenceOptions()
			if l == nil {
				p.syntaxErr()
			}
			act.Options = append(act.Options, l...)
		default:
			if act.Options == nil {
				p.syntaxErr()
			}
			return
		}
	}
}

func (p *parser) alterSequence(off ast.Off) ast.Stmt {
	p.next()
	s := &ast.AlterSequence{Off: off, IfExists: p.ifExists()}
	s.Name = p.qualifiedName()
	if act, ok := p.renameAction(); ok {
		return &ast.AlterTable{Off: off, Kind: "SEQUENCE", Name: s.Name, IfExists: s.IfExists, Actions: []ast.AlterAction{act}}
	}
	if k := p.tok().Key; k == kwSet || (k == kwOwner && p.peek(1).Key == kwTo) {
		return &ast.AlterTable{Off: off, Kind: "SEQUENCE", Name: s.Name, IfExists: s.IfExists,
			Actions: []ast.AlterAction{p.alterAction()}}
	}
	if s.Options = p.sequenceOptions(); s.Options == nil {
		p.syntaxErr()
	}
	return s
}

// setOption is SET of a setting as an option of ALTER DATABASE.
func setOption(v *ast.SetVar) []ast.Option {
	o := ast.Option{Off: v.Off, Name: v.Name, List: v.Values}
	if v.FromCurrent {
		o.X = &ast.Const{Off: v.Off, Kind: ast.ConstNull}
	}
	return []ast.Option{o}
}

func (p *parser) alterDatabase(off ast.Off) ast.Stmt {
	p.next()
	name := p.off()
	a := &ast.AlterObject{Off: off, Kind: "DATABASE", Name: ast.Name{Off: name, Parts: []string{p.colID()}}}
	v := &ast.SetVar{Off: p.off()}
	switch {
	case p.acceptKws(kwRename, kwTo):
		a.Action, a.NewName = "RENAME", p.colID()
	case p.isKws(kwOwner, kwTo):
		p.next()
		p.next()
		a.Action, a.NewName = "OWNER", p.roleName()
	case p.acceptKws(kwSet, kwTablespace):
		a.Action, a.NewName = "SET TABLESPACE", p.colID()
	case p.acceptKws(kwRefresh, kwCollation, kwVersion):
		a.Action = "REFRESH COLLATION VERSION"
	case p.acceptKw(kwSet):
		p.setRest(v)
		a.Action, a.Options = "SET", setOption(v)
	case p.acceptKw(kwReset):
		v.Name = p.settingName()
		a.Action, a.Options = "RESET", setOption(v)
	default:
		a.Action = "OPTIONS"
		p.acceptKw(kwWith)
		for isLabel(p.tok()) {
			a.Options = append(a.Options, p.databaseOption())
		}
	}
	return a
}

func (p *parser) alterRole(off ast.Off) ast.Stmt {
	p.next()
	r := &ast.AlterRole{Off: off}
	at := p.off()
	all := p.acceptKw(kwAll)
	if !all && p.peek(1).Key == kwRename {
		r.Name = p.roleID()
	} else if r.Name = ast.AllRoles; !all {
		r.Name = p.roleName()
	}
	if !all && p.acceptKws(kwRename, kwTo) {
		return &ast.AlterObject{Off: off, Kind: "ROLE", Name: ast.Name{Off: at, Parts: []string{r.Name}},
			Action: "RENAME", NewName: p.roleID()}
	}
	if p.acceptKw(kwIn) {
		p.expectKw(kwDatabase)
		r.InDB = p.colID()
	}
	v := &ast.SetVar{Off: p.off()}
	switch {
	case p.acceptKw(kwSet):
		p.setRest(v)
		r.Set = v
	case p.acceptKw(kwReset):
		p.resetName(v)
		r.Set = v
	case r.InDB != "" || all:
		p.syntaxErr()
	default:
		p.acceptKw(kwWith)
		r.Options = p.roleOptions(false)
	}
	return r
}

func (p *parser) alterGroup(off ast.Off) ast.Stmt {
	p.next()
	at := p.off()
	renamed := p.peek(1).Key == kwRename
	name := ""
	if renamed {
		name = p.roleID()
	} else {
		name = p.roleName()
	}
	a := &ast.AlterObject{Off: off, Kind: "GROUP", Name: ast.Name{Off: at, Parts: []string{name}}}
	switch {
	case renamed:
		p.next()
		p.expectKw(kwTo)
		a.Kind, a.Action, a.NewName = "ROLE", "RENAME", p.roleID()
		return a
	case p.acceptKw(kwAdd):
		a.Action = "ADD USER"
	default:
		p.expectKw(kwDrop)
		a.Action = "DROP USER"
	}
	p.expectKw(kwUser)
	a.Options = commaList(p, func() ast.Option { return ast.Option{Off: p.off(), Name: p.roleName()} })
	return a
}

// alterObject is ALTER SCHEMA, TYPE, DOMAIN, FUNCTION, …, EXTENSION.
func (p *parser) alterObject(off ast.Off) ast.Stmt {
	k := p.next().Key
	a := &ast.AlterObject{Off: off, Kind: upper(k)}
	switch k {
	case kwFunction, kwProcedure, kwRoutine, kwAggregate:
		a.Name, a.Args = p.routineWithArgs(k == kwAggregate)
	case kwSchema, kwExtension:
		at := p.off()
		a.Name = ast.Name{Off: at, Parts: []string{p.colID()}}
	default:
		a.Name = p.anyName()
	}
	switch {
	case p.acceptKws(kwRename, kwTo):
		a.Action, a.NewName = "RENAME", p.colID()
	case p.acceptKws(kwOwner, kwTo):
		a.Action, a.NewName = "OWNER", p.roleName()
	case k != kwSchema && p.acceptKws(kwSet, kwSchema):
		a.Action, a.NewName = "SET SCHEMA", p.colID()
	case k == kwType && p.peek(1).Key == kwAttribute:
		return p.alterAttributes(a)
	case k == kwType:
		p.alterTypeAction(a)
	case k == kwDomain:
		return p.alterDomain(a)
	case k == kwExtension:
		p.alterExtension(a)
	case k == kwFunction, k == kwProcedure, k == kwRoutine:
		p.alterFunction(a)
	default:
		p.syntaxErr()
	}
	return a
}

func (p *parser) alterTypeAction(a *ast.AlterObject) {
	label := func(name string) {
		a.Options = append(a.Options, ast.Option{Off: p.off(), Name: name, X: p.stringConst()})
	}
	switch {
	case p.acceptKws(kwAdd, kwValue):
		a.Action = "ADD VALUE"
		a.IfNotExists = p.acceptKws(kwIf, kwNot, kwExists)
		a.NewName = p.sconst()
		switch {
		case p.acceptKw(kwBefore):
			label("before")
		case p.acceptKw(kwAfter):
			label("after")
		}
	case p.acceptKws(kwRename, kwValue):
		a.Action = "RENAME VALUE"
		label("old")
		p.expectKw(kwTo)
		a.NewName = p.sconst()
	case p.isKw(kwSet) && p.peek(1).Kind == KindLParen:
		p.next()
		a.Action, a.Options = "SET", p.relOptions()
	default:
		switch p.tok().Key {
		case kwAdd, kwDrop, kwAlter, kwRename:
			p.next()
		}
		p.syntaxErr()
	}
}

// alterAttributes is the list of actions on the attributes of a composite type,
// or one renaming: an AlterTable of kind TYPE.
func (p *parser) alterAttributes(a *ast.AlterObject) ast.Stmt {
	t := &ast.AlterTable{Off: a.Off, Kind: "TYPE", Name: a.Name}
	for {
		act := ast.AlterAction{Off: p.off()}
		verb := p.next().Key
		p.expectKw(kwAttribute)
		act.Kind = upper(verb) + " ATTRIBUTE"
		switch verb {
		case kwAdd:
			c := p.attribute()
			act.Name, act.Column = c.Name, &c
		case kwDrop:
			act.IfExists, act.Name = p.ifExists(), p.colID()
		case kwAlter:
			c := ast.ColumnDef{Off: p.off(), Name: p.colID()}
			if !p.acceptKws(kwSet, kwData, kwType) {
				p.expectKw(kwType)
			}
			p.attributeType(&c)
			act.Name, act.Column = c.Name, &c
		case kwRename:
			if t.Actions != nil {
				p.syntaxErr()
			}
			act.Name = p.colID()
			p.expectKw(kwTo)
			act.NewName = p.colID()
		default:
			p.syntaxErr()
		}
		act.Cascade = p.cascade()
		t.Actions = append(t.Actions, act)
		if verb == kwRename || !p.accept(KindComma) {
			return t
		}
	}
}

// attribute is the definition of an attribute of a composite type.
func (p *parser) attribute() ast.ColumnDef {
	c := ast.ColumnDef{Off: p.off(), Name: p.colID()}
	p.attributeType(&c)
	return c
}

func (p *parser) attributeType(c *ast.ColumnDef) {
	c.Type = p.typeName()
	c.Collate = p.collate()
}

// alterDefault takes an action on the default or on NOT NULL, which columns and
// domains share; it reports whether one stands here.
func (p *parser) alterDefault(act *ast.AlterAction) bool {
	switch {
	case p.acceptKws(kwSet, kwDefault):
		act.Kind = "SET DEFAULT"
		act.Expr = p.expr()
	case p.acceptKws(kwDrop, kwDefault):
		act.Kind = "DROP DEFAULT"
	case p.acceptKws(kwSet, kwNot, kwNull):
		act.Kind = "SET NOT NULL"
	case p.acceptKws(kwDrop, kwNot, kwNull):
		act.Kind = "DROP NOT NULL"
	default:
		return false
	}
	return true
}

// alterDomain is ALTER DOMAIN with an action on defaults or constraints, which
// is an AlterTable of kind DOMAIN.
func (p *parser) alterDomain(a *ast.AlterObject) ast.Stmt {
	t := &ast.AlterTable{Off: a.Off, Kind: "DOMAIN", Name: a.Name}
	act := ast.AlterAction{Off: p.off()}
	switch {
	case p.alterDefault(&act):
	case p.acceptKw(kwAdd):
		c := p.tableConstraint()
		act.Kind, act.Constraint, act.Name = "ADD CONSTRAINT", &c, c.Name
	case p.acceptKws(kwDrop, kwConstraint):
		act.Kind, act.IfExists = "DROP CONSTRAINT", p.ifExists()
		act.Name = p.colID()
		act.Cascade = p.cascade()
	case p.acceptKws(kwValidate, kwConstraint):
		act.Kind, act.Name = "VALIDATE CONSTRAINT", p.colID()
	default:
		p.expectKws(kwRename, kwConstraint)
		act.Kind, act.Name = "RENAME CONSTRAINT", p.colID()
		p.expectKw(kwTo)
		act.NewName = p.colID()
	}
	t.Actions = []ast.AlterAction{act}
	return t
}

func (p *parser) alterExtension(a *ast.AlterObject) {
	switch {
	case p.acceptKw(kwUpdate):
		a.Action = "UPDATE"
		if p.acceptKw(kwTo) {
			a.Options = []ast.Option{{Off: p.off(), Name: "version", X: p.wordConst()}}
		}
	case p.isKw(kwAdd), p.isKw(kwDrop):
		a.Action = upper(p.next().Key)
		p.skipStatement()
	default:
		p.syntaxErr()
	}
}

func (p *parser) alterFunction(a *ast.AlterObject) {
	if p.isKw(kwDepends) || p.isKws(kwNo, kwDepends) {
		a.Action = "DEPENDS ON EXTENSION"
		p.skipStatement()
		return
	}
	f := &ast.CreateFunction{}
	p.funcOptions(f)
	if f.Options == nil || f.Body != "" || f.Language != "" {
		p.syntaxErr()
	}
	p.acceptKw(kwRestrict)
	a.Action, a.Options = "OPTIONS", f.Options
}
