package parser

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// create is CREATE; the words behind it decide.
func (p *parser) create() ast.Stmt {
	start := p.tok()
	off := ast.Off(start.Off)
	p.next()
	replace := p.acceptKws(kwOr, kwReplace)
	temp, unlogged := false, false
	var global ast.Off
	switch p.tok().Key {
	case kwTemporary, kwTemp:
		p.next()
		temp = true
	case kwLocal, kwGlobal:
		if p.isKw(kwGlobal) {
			global = ast.Off(p.off())
		}
		p.next()
		if !p.isKw(kwTemp) && !p.isKw(kwTemporary) {
			p.syntaxErr()
		}
		p.next()
		temp = true
	case kwUnlogged:
		p.next()
		unlogged = true
	}
	k := p.tok().Key
	switch {
	case k == kwTable && !replace:
		t := p.createTable(off, temp, unlogged)
		if c, ok := t.(*ast.CreateTable); ok {
			c.Global = global
		}
		return t
	case k == kwView, k == kwRecursive && p.peek(1).Key == kwView:
		v := p.createView(off, replace, temp)
		v.Unlogged, v.Global = unlogged, global
		return v
	case k == kwSequence && !replace:
		s := p.createSequence(off, temp)
		s.Unlogged, s.Global = unlogged, global
		return s
	case unlogged && k == kwMaterialized:
		v := p.createMatView(off)
		v.Unlogged = true
		return v
	case temp || unlogged:
		p.syntaxErr()
	case k == kwFunction || k == kwProcedure:
		return p.createFunction(off, replace)
	}
	switch k {
	case kwAggregate:
		return p.createAggregate(off, replace)
	case kwTrigger, kwRule, kwLanguage, kwTransform, kwTrusted, kwProcedural, kwConstraint:
		return p.createUnsupported(off)
	}
	if replace {
		p.syntaxErr()
	}
	switch k {
	case kwIndex, kwUnique:
		return p.createIndex(off)
	case kwMaterialized:
		return p.createMatView(off)
	case kwSchema:
		return p.createSchema(off)
	case kwDatabase:
		return p.createDatabase(off)
	case kwType:
		return p.createType(off)
	case kwDomain:
		return p.createDomain(off)
	case kwRole, kwUser, kwGroup:
		if k == kwUser && p.peek(1).Key == kwMapping {
			return p.createUnsupported(off)
		}
		return p.createRole(off)
	case kwExtension:
		return p.createExtension(off)
	case kwCast:
		return p.createCast(off)
	case kwPolicy:
		return p.policy(off, false)
	case kwStatistics:
		return p.createStatistics(off)
	case kwOperator:
		if k := p.peek(1).Key; k != kwClass && k != kwFamily {
			p.next()
			o := &ast.CreateOperator{Off: off, Name: p.operatorName()}
			o.Options = p.definition()
			return o
		}
	}
	return p.createUnsupported(off)
}

// createdKinds are the further objects of CREATE, DROP and ALTER, longest
// spelling first.
var createdKinds = [][]Keyword{
	{kwAccess, kwMethod}, {kwConstraint, kwTrigger}, {kwEvent, kwTrigger}, {kwForeign, kwData, kwWrapper},
	{kwForeign, kwTable}, {kwOperator, kwClass}, {kwOperator, kwFamily}, {kwText, kwSearch, kwConfiguration},
	{kwText, kwSearch, kwDictionary}, {kwText, kwSearch, kwParser}, {kwText, kwSearch, kwTemplate},
	{kwUser, kwMapping}, {kwDefault, kwConversion}, {kwTrusted, kwLanguage}, {kwTrusted, kwProcedural, kwLanguage},
	{kwProcedural, kwLanguage}, {kwAggregate}, {kwCast}, {kwCollation}, {kwConversion}, {kwLanguage}, {kwOperator},
	{kwPolicy}, {kwPublication}, {kwRule}, {kwServer}, {kwStatistics}, {kwSubscription}, {kwTablespace},
	{kwTransform}, {kwTrigger}, {kwRoutine}, {kwLarge, kwObject},
}

// otherKind consumes one of createdKinds and returns its words, or "".
func (p *parser) otherKind() string {
	for _, ks := range createdKinds {
		if p.acceptKws(ks...) {
			words := make([]string, len(ks))
			for i, k := range ks {
				words[i] = upper(k)
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

func (p *parser) createUnsupported(off ast.Off) ast.Stmt {
	kind := p.otherKind()
	if kind == "" || kind == "ROUTINE" || kind == "LARGE OBJECT" {
		p.syntaxErr()
	}
	return p.restUnsupported(off, "CREATE "+kind)
}

// restUnsupported keeps the rest of a statement, which must not be empty, as
// the text of one that nothing executes.
func (p *parser) restUnsupported(off ast.Off, what string) ast.Stmt {
	if p.is(KindEOF) || p.is(KindSemi) {
		p.syntaxErr()
	}
	p.skipStatement()
	return &ast.Unsupported{Off: off, What: what, Text: p.text(off, p.lastEnd())}
}

func (p *parser) createView(off ast.Off, replace, temp bool) *ast.CreateView {
	v := &ast.CreateView{Off: off, OrReplace: replace, Temp: temp}
	v.Recursive = p.acceptKw(kwRecursive)
	p.expectKw(kwView)
	v.Name = p.qualifiedName()
	v.Cols = p.optParenNames()
	if v.Recursive && v.Cols == nil {
		p.syntaxErr()
	}
	if p.acceptKw(kwWith) {
		v.With = p.relOptions()
	}
	p.expectKw(kwAs)
	v.Query = p.query()
	if v.CheckOff = p.off(); p.acceptKw(kwWith) {
		v.CheckOption = "CASCADED"
		if p.acceptKw(kwLocal) {
			v.CheckOption = "LOCAL"
		} else {
			p.acceptKw(kwCascaded)
		}
		p.expectKws(kwCheck, kwOption)
	}
	return v
}

func (p *parser) createMatView(off ast.Off) *ast.CreateView {
	v := &ast.CreateView{Off: off, Materialized: true}
	p.expectKws(kwMaterialized, kwView)
	v.IfNotExists = p.acceptKws(kwIf, kwNot, kwExists)
	v.Name = p.qualifiedName()
	v.Cols = p.optParenNames()
	if p.acceptKw(kwUsing) {
		v.Using = p.colID()
	}
	if p.acceptKw(kwWith) {
		v.With = p.relOptions()
	}
	if p.acceptKw(kwTablespace) {
		v.Tablespace = p.colID()
	}
	p.expectKw(kwAs)
	v.Query = p.query()
	v.WithNoData = p.withNoData()
	return v
}

func (p *parser) createSequence(off ast.Off, temp bool) *ast.CreateSequence {
	s := &ast.CreateSequence{Off: off, Temp: temp}
	p.expectKw(kwSequence)
	s.IfNotExists = p.acceptKws(kwIf, kwNot, kwExists)
	s.Name = p.qualifiedName()
	s.Options = p.sequenceOptions()
	return s
}

func (p *parser) createSchema(off ast.Off) ast.Stmt {
	s := &ast.CreateSchema{Off: off}
	p.expectKw(kwSchema)
	s.IfNotExists = p.acceptKws(kwIf, kwNot, kwExists)
	if !p.isKw(kwAuthorization) {
		s.Name = p.colID()
	}
	if p.acceptKw(kwAuthorization) {
		s.Owner = p.roleName()
	}
	for {
		at := p.off()
		if k := p.tok().Key; s.IfNotExists && (k == kwCreate || k == kwGrant) {
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "CREATE SCHEMA IF NOT EXISTS cannot include schema elements").At(int(at)))
		}
		switch p.tok().Key {
		case kwCreate:
			switch el := p.create().(type) {
			case *ast.CreateTable, *ast.CreateIndex, *ast.CreateView, *ast.CreateSequence, *ast.Unsupported:
				s.Elements = append(s.Elements, el)
			default:
				p.failf(at, "syntax error at or near \"CREATE\"")
			}
		case kwGrant:
			s.Elements = append(s.Elements, p.grant())
		default:
			return s
		}
	}
}

// roleWords stand for the roles that they tell.
var roleWords = map[Keyword]string{kwCurrentUser: ast.CurrentUser, kwCurrentRole: ast.CurrentRole, kwSessionUser: ast.SessionUser}

// roleName is the name of a role, or one of the words for a current one.
func (p *parser) roleName() string {
	if w := roleWords[p.tok().Key]; w != "" {
		p.next()
		return w
	}
	at := p.off()
	name := p.nonReserved()
	if name == "none" {
		p.fail(sqlerr.New(sqlerr.ReservedName, "role name \"none\" is reserved").At(int(at)))
	}
	return name
}

// roleID is the name of a role that is made or renamed, which no word can stand for.
func (p *parser) roleID() string {
	at := p.off()
	name := p.roleName()
	if w := ast.RoleWord(name); w != "" {
		p.fail(sqlerr.New(sqlerr.ReservedName, "%s cannot be used as a role name here", w).At(int(at)))
	}
	if name == ast.PublicRole {
		p.fail(sqlerr.New(sqlerr.ReservedName, "role name \"public\" is reserved").At(int(at)))
	}
	return name
}

func (p *parser) createDatabase(off ast.Off) ast.Stmt {
	d := &ast.CreateDatabase{Off: off}
	p.next()
	d.Name = p.colID()
	p.acceptKw(kwWith)
	for isLabel(p.tok()) {
		d.Options = append(d.Options, p.databaseOption())
	}
	return d
}

// databaseOption is name [=] value of CREATE and ALTER DATABASE; DEFAULT is no value.
func (p *parser) databaseOption() ast.Option {
	o := ast.Option{Off: p.off()}
	switch {
	case p.acceptKws(kwConnection, kwLimit):
		o.Name = "connection_limit"
	default:
		switch k := p.tok(); {
		case k.Key == kwEncoding, k.Key == kwLocation, k.Key == kwOwner, k.Key == kwTablespace, k.Key == kwTemplate:
		case k.Kind == KindIdent && k.Key == noKeyword:
		default:
			p.syntaxErr()
		}
		o.Name = p.takeName()
	}
	p.accept(KindEqual)
	if !p.acceptKw(kwDefault) {
		o.X = p.varValue()
	}
	return o
}

func (p *parser) createType(off ast.Off) ast.Stmt {
	t := &ast.CreateType{Off: off, Kind: "SHELL"}
	p.next()
	t.Name = p.anyName()
	switch {
	case p.is(KindLParen):
		t.Kind, t.Options = "BASE", p.relOptions()
	case p.acceptKws(kwAs, kwEnum):
		t.Kind = "ENUM"
		p.expect(KindLParen)
		if !p.is(KindRParen) {
			t.Labels = commaList(p, p.sconst)
		}
		p.expect(KindRParen)
	case p.acceptKws(kwAs, kwRange):
		t.Kind, t.Options = "RANGE", p.definition()
	case p.acceptKw(kwAs):
		t.Kind = "COMPOSITE"
		p.expect(KindLParen)
		if !p.is(KindRParen) {
			t.Columns = commaList(p, p.attribute)
		}
		p.expect(KindRParen)
	}
	return t
}

func (p *parser) createDomain(off ast.Off) ast.Stmt {
	d := &ast.CreateDomain{Off: off}
	p.next()
	d.Name = p.anyName()
	p.acceptKw(kwAs)
	d.Type = p.typeName()
	d.Collate, d.Constraints = p.columnConstraints()
	return d
}

func (p *parser) createRole(off ast.Off) ast.Stmt {
	r := &ast.CreateRole{Off: off, Kind: upper(p.next().Key)}
	r.Name = p.roleID()
	p.acceptKw(kwWith)
	r.Options = p.roleOptions(true)
	return r
}

// roleOptions is the list of CREATE and ALTER ROLE. Flags have no value; their
// negations are options of their own (nologin).
func (p *parser) roleOptions(create bool) []ast.Option {
	var l []ast.Option
	roles := func(o *ast.Option) {
		o.List = commaList(p, func() ast.Expr { return &ast.Const{Off: p.off(), Kind: ast.ConstString, Val: p.roleName()} })
	}
	for {
		o := ast.Option{Off: p.off()}
		t := p.tok()
		switch t.Key {
		case kwPassword, kwEncrypted:
			p.next()
			if t.Key == kwEncrypted {
				p.expectKw(kwPassword)
			}
			o.Name = "password"
			if !p.isKw(kwNull) || t.Key == kwEncrypted {
				o.X = p.stringConst()
			} else {
				o.X = &ast.Const{Off: p.off(), Kind: ast.ConstNull}
				p.next()
			}
		case kwUnencrypted:
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "UNENCRYPTED PASSWORD is no longer supported").At(int(o.Off)).
				WithHint("Remove UNENCRYPTED to store the password in encrypted form instead."))
		case kwInherit:
			p.next()
			o.Name = "inherit"
		case kwConnection:
			p.next()
			p.expectKw(kwLimit)
			o.Name, o.X = "connection_limit", p.numericOnly()
		case kwValid:
			p.next()
			p.expectKw(kwUntil)
			o.Name, o.X = "valid_until", p.stringConst()
		case kwUser:
			p.next()
			o.Name = "user"
			roles(&o)
		case kwSysid, kwAdmin, kwRole, kwIn:
			if !create {
				p.syntaxErr()
			}
			p.next()
			switch t.Key {
			case kwSysid:
				o.Name, o.X = "sysid", p.numericOnly()
			case kwIn:
				if !p.acceptKw(kwRole) {
					p.expectKw(kwGroup)
				}
				o.Name = "in_role"
				roles(&o)
			default:
				o.Name = t.Key.String()
				roles(&o)
			}
		default:
			if t.Kind != KindIdent || t.Key != noKeyword {
				return l
			}
			o.Name = t.ident(p.lx.src)
			switch strings.TrimPrefix(o.Name, "no") {
			case "superuser", "createrole", "replication", "createdb", "login", "bypassrls", "inherit":
				p.next()
			default:
				p.failf(o.Off, "unrecognized role option \"%s\"", o.Name)
			}
		}
		l = append(l, o)
	}
}

func (p *parser) createExtension(off ast.Off) ast.Stmt {
	e := &ast.CreateExtension{Off: off}
	p.next()
	e.IfNotExists = p.acceptKws(kwIf, kwNot, kwExists)
	e.Name = p.colID()
	p.acceptKw(kwWith)
	for {
		o := ast.Option{Off: p.off()}
		switch p.tok().Key {
		case kwSchema, kwVersion:
			o.Name = p.next().Key.String()
			if o.Name == "schema" {
				at := p.off()
				o.X = &ast.Const{Off: at, Kind: ast.ConstString, Val: p.colID()}
			} else {
				o.X = p.wordConst()
			}
		case kwCascade:
			p.next()
			o.Name = "cascade"
		case kwFrom:
			p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "CREATE EXTENSION ... FROM is no longer supported").At(int(o.Off)))
		default:
			return e
		}
		e.Options = append(e.Options, o)
	}
}
