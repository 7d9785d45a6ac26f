package ast

import "strings"

func (p *printer) alterTable(s *AlterTable) {
	p.put("ALTER ", s.Kind, " ", ifExists(s.IfExists))
	p.putIf(s.Only, "ONLY ")
	p.name(s.Name)
	for i := range s.Actions {
		p.putIf(i > 0, ",")
		p.put(" ")
		p.alterAction(s.Kind, &s.Actions[i])
	}
}

func (p *printer) rename(word string, a *AlterAction) {
	p.put(word, " ")
	p.ident(a.Name)
	p.put(" TO ")
	p.ident(a.NewName)
}

func (p *printer) alterAction(kind string, a *AlterAction) {
	named := func(words string) {
		p.put(words, " ")
		p.ident(a.Name)
	}
	target := func(words string) {
		p.put(words, " ")
		p.ident(a.NewName)
	}
	switch a.Kind {
	case "ADD COLUMN":
		p.put("ADD COLUMN ", ifNotExists(a.IfExists))
		p.column(a.Column)
	case "ADD ATTRIBUTE":
		p.put(a.Kind, " ")
		p.column(a.Column)
		p.putIf(a.Cascade, " CASCADE")
	case "ALTER ATTRIBUTE":
		named(a.Kind)
		p.put(" TYPE ")
		p.typeName(a.Column.Type)
		p.indexSuffix(a.Column.Collate, nil)
		p.putIf(a.Cascade, " CASCADE")
	case "RENAME ATTRIBUTE":
		p.rename(a.Kind, a)
		p.putIf(a.Cascade, " CASCADE")
	case "ADD CONSTRAINT":
		p.put("ADD ")
		p.constraint(a.Constraint, false)
	case "DROP COLUMN", "DROP CONSTRAINT", "DROP ATTRIBUTE":
		p.put(a.Kind, " ", ifExists(a.IfExists))
		p.ident(a.Name)
		p.putIf(a.Cascade, " CASCADE")
	case "VALIDATE CONSTRAINT":
		named(a.Kind)
	case "ALTER CONSTRAINT":
		named(a.Kind)
		p.timing(a.Constraint)
	case "RENAME COLUMN", "RENAME CONSTRAINT":
		p.rename(a.Kind, a)
	case "RENAME":
		target("RENAME TO")
	case "SET SCHEMA", "SET TABLESPACE", "SET ACCESS METHOD":
		target(a.Kind)
	case "OWNER":
		p.put("OWNER TO ")
		p.role(a.NewName)
	case "CLUSTER":
		named("CLUSTER ON")
	case "LOGGED", "UNLOGGED":
		p.put("SET ", a.Kind)
	case "SET OPTIONS", "RESET OPTIONS":
		if a.Name != "" {
			p.columnHead(a)
		}
		p.put(strings.TrimSuffix(a.Kind, "OPTIONS"))
		p.relOptions(a.Options)
	case "SET DEFAULT", "DROP DEFAULT", "SET NOT NULL", "DROP NOT NULL":
		if kind != "DOMAIN" {
			p.columnHead(a)
		}
		p.put(a.Kind)
		p.where(" ", a.Expr)
	case "ALTER COLUMN TYPE":
		p.columnHead(a)
		p.put("TYPE ")
		p.typeName(*a.Type)
		if a.Column != nil {
			p.indexSuffix(a.Column.Collate, nil)
		}
		p.where(" USING ", a.Using)
	case "ADD IDENTITY":
		p.columnHead(a)
		p.put("ADD ")
		p.constraint(a.Constraint, true)
	case "SET IDENTITY":
		p.columnHead(a)
		p.setIdentity(a.Options)
	case "DROP IDENTITY", "DROP EXPRESSION":
		p.columnHead(a)
		p.put(a.Kind, " ", ifExists(a.IfExists))
	case "SET STATISTICS":
		p.columnHead(a)
		p.put("SET STATISTICS ")
		p.expr(a.Expr, 0)
	case "SET STORAGE", "SET COMPRESSION":
		p.columnHead(a)
		p.put(a.Kind, " ")
		p.defaultWord(a.NewName)
	case "INHERIT", "NO INHERIT", "ATTACH PARTITION", "DETACH PARTITION":
		p.put(a.Kind, " ")
		p.name(*a.Other)
		if a.Bound != nil {
			p.partitionBound(a.Bound)
		}
		for _, o := range a.Options {
			p.put(" ", strings.ToUpper(o.Name))
		}
	case "OF":
		p.put("OF ")
		p.name(*a.Other)
	default:
		p.put(a.Kind)
		if a.Name != "" {
			p.put(" ")
			p.ident(a.Name)
		}
	}
}

// columnHead writes ALTER COLUMN name; a column of an index is a number.
func (p *printer) columnHead(a *AlterAction) {
	p.put("ALTER COLUMN ")
	if a.Name[0] >= '0' && a.Name[0] <= '9' {
		p.put(a.Name)
	} else {
		p.ident(a.Name)
	}
	p.put(" ")
}

func (p *printer) setIdentity(l []Option) {
	for i, o := range l {
		p.putIf(i > 0, " ")
		switch {
		case strings.HasPrefix(o.Name, "generated"):
			p.put("SET ", strings.ToUpper(o.Name))
		case o.Name == "restart":
			p.sequenceOptions("", l[i:i+1])
		default:
			p.sequenceOptions("SET ", l[i:i+1])
		}
	}
}

// AllInTablespace is the action of AlterObject for ALTER TABLE ALL IN TABLESPACE, and of
// indexes and materialized views: from tablespace Name to NewName, of owners Options.
const AllInTablespace = "ALL IN TABLESPACE"

// LargeObject is the kind of objects that a number names, in GRANT, COMMENT and ALTER.
const LargeObject = "LARGE OBJECT"

// object writes the name of an object of a kind.
func (p *printer) object(kind string, n Name) {
	if kind == LargeObject {
		p.put(n.Last())
		return
	}
	p.name(n)
}

func (p *printer) alterObject(s *AlterObject) {
	if s.Action == AllInTablespace {
		p.put("ALTER ", s.Kind, " ", s.Action, " ")
		p.name(s.Name)
		for i, o := range s.Options {
			if i == 0 {
				p.put(" OWNED BY ")
			}
			p.putIf(i > 0, ", ")
			p.role(o.Name)
		}
		p.put(" SET TABLESPACE ")
		p.ident(s.NewName)
		return
	}
	p.put("ALTER ", s.Kind, " ")
	p.putIf(s.IfExists, "IF EXISTS ")
	if s.Kind == "OPERATOR" {
		p.operatorRef(s.Name, s.Args)
	} else {
		p.object(s.Kind, s.Name)
		p.funcArgs(s.Kind, s.Args)
	}
	p.put(" ")
	switch s.Action {
	case "SET OPTIONS":
		p.put("SET")
		p.defItems(s.Options)
	case "RENAME":
		p.put("RENAME TO ")
		p.ident(s.NewName)
	case "OWNER":
		p.put("OWNER TO ")
		p.role(s.NewName)
	case "SET STATISTICS":
		p.put("SET STATISTICS ")
		p.expr(s.Options[0].X, 0)
	case "SET SCHEMA", "SET TABLESPACE":
		p.put(s.Action, " ")
		p.ident(s.NewName)
	case "ADD VALUE":
		p.put("ADD VALUE ", ifNotExists(s.IfNotExists))
		p.literal(s.NewName)
		for _, o := range s.Options {
			p.put(" ", strings.ToUpper(o.Name), " ")
			p.expr(o.X, 0)
		}
	case "RENAME VALUE":
		p.put("RENAME VALUE ")
		p.expr(s.Options[0].X, 0)
		p.put(" TO ")
		p.literal(s.NewName)
	case "ADD USER", "DROP USER":
		p.put(s.Action, " ")
		for i, o := range s.Options {
			p.putIf(i > 0, ", ")
			p.role(o.Name)
		}
	case "UPDATE":
		p.put("UPDATE")
		for _, o := range s.Options {
			p.put(" TO ")
			p.expr(o.X, 0)
		}
	case "SET", "RESET":
		p.alterSetting(s)
	case "OPTIONS":
		if s.Kind == "DATABASE" {
			p.databaseOptions(s.Options)
		} else {
			p.funcOptions(s.Options)
		}
	default:
		p.put(s.Action)
		p.put(s.NewName)
	}
}

// alterSetting writes SET and RESET of ALTER DATABASE and ALTER TYPE.
func (p *printer) alterSetting(s *AlterObject) {
	p.put(s.Action, " ")
	if s.Kind == "TYPE" {
		p.relOptions(s.Options)
		return
	}
	o := s.Options[0]
	v := SetVar{Name: o.Name, Values: o.List, Default: o.List == nil, FromCurrent: o.X != nil}
	p.setting(o.Name)
	if s.Action == "SET" {
		p.settingValue(&v)
	}
}
