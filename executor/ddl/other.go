package ddl

import (
	"maps"
	"math"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

func (x *exec) createSequence(s *ast.CreateSequence) error {
	schema, name, err := x.target(&s.Name, s.Temp)
	if err != nil {
		return err
	}
	if x.exists(schema, name, s.IfNotExists) {
		return nil
	}
	spec := &catalog.SequenceSpec{Schema: schema, Name: name, Owner: x.User, Temp: catalog.IsTempSchema(schema), Unlogged: s.Unlogged}
	if err := x.sequenceOptions(spec, s.Options); err != nil {
		return err
	}
	spec.Name = name
	_, err = x.Change.CreateSequence(spec)
	return err
}

func (x *exec) alterSequence(s *ast.AlterSequence) error {
	r := x.lookup(&s.Name)
	if r == nil {
		if x.findIndex(&s.Name) != nil {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", s.Name.Last())
		}
		if s.IfExists {
			x.notice(sqlerr.SuccessfulCompletion, "relation \"%s\" does not exist, skipping", fullName(&s.Name))
			return nil
		}
		return x.noRelation(&s.Name)
	}
	q, ok := r.(*catalog.Sequence)
	if !ok {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", s.Name.Last())
	}
	for _, o := range s.Options {
		if o.Name == "sequence_name" {
			return sqlerr.New(sqlerr.SyntaxError, "invalid sequence option SEQUENCE NAME").At(o.Pos())
		}
	}
	return x.changeSequence(q.OID, s.Options)
}

// changeSequence applies the options of ALTER SEQUENCE. A new type moves bounds
// that were the old type's own. Others see after the commit what has changed, and go
// on from there without the values that they keep; OWNED BY alone changes nothing of
// the sequence.
func (x *exec) changeSequence(oid types.OID, opts []ast.Option) error {
	if q, ok := x.snap().Object(oid).(*catalog.Sequence); ok {
		if err := x.holdSequence(q, kv.ShareRowExclusive); err != nil {
			return err
		}
	}
	spec := &catalog.SequenceSpec{}
	if q, ok := x.snap().Object(oid).(*catalog.Sequence); ok {
		spec.Schema, spec.Owner = q.Schema, q.Owner
	}
	if err := x.sequenceOptions(spec, opts); err != nil {
		return err
	}
	if err := x.mayOwn(oid, opts); err != nil {
		return err
	}
	var restart *int64
	q, err := x.Change.AlterSequence(oid, func(q *catalog.Sequence) error {
		return editSequence(q, spec, opts, &restart)
	})
	if err != nil {
		return err
	}
	var last int64 // must lie within the bounds, which may be new
	called := false
	switch {
	case restart != nil:
		last = *restart
	case x.LastValue == nil:
		return nil
	default:
		if last, called, err = x.LastValue(q); err != nil {
			return err
		}
	}
	if last < q.Min {
		return sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) cannot be less than MINVALUE (%d)", last, q.Min)
	}
	if last > q.Max {
		return sqlerr.New(sqlerr.InvalidParameterValue, "RESTART value (%d) cannot be greater than MAXVALUE (%d)", last, q.Max)
	}
	if slices.ContainsFunc(opts, func(o ast.Option) bool { return !ownedBy(o) }) {
		x.restart(q, last, called)
	} else if x.Unkept != nil {
		x.Unkept(oid)
	}
	return nil
}

func ownedBy(o ast.Option) bool { return o.Name == "owned_by" || o.Name == "owned by" }

// mayOwn refuses OWNED BY for the sequence of an identity column.
func (x *exec) mayOwn(oid types.OID, opts []ast.Option) error {
	q, _ := x.snap().Object(oid).(*catalog.Sequence)
	if q == nil || !q.Identity || !slices.ContainsFunc(opts, ownedBy) {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot change ownership of identity sequence").
		WithDetail("Sequence \"%s\" is linked to table \"%s\".", q.Name, x.snap().Table(q.OwnerTable).Name)
}

// editSequence applies options to a sequence; restart gets the value to go on with.
func editSequence(q *catalog.Sequence, spec *catalog.SequenceSpec, opts []ast.Option, restart **int64) error {
	set := func(dst *int64, v *int64) {
		if v != nil {
			*dst = *v
		}
	}
	bounds := func() (lo, hi int64, err error) {
		if lo, hi, err = catalog.SequenceRange(q.Type); q.Inc < 0 {
			return lo, -1, err
		}
		return 1, hi, err
	}
	for i := range opts {
		switch o := &opts[i]; o.Name {
		case "as":
			// bounds that were those of the old type become those of the new one
			lo, hi, err := catalog.SequenceRange(q.Type)
			if err != nil {
				return err
			}
			atLo, atHi := q.Min == lo, q.Max == hi
			q.Type = spec.Type
			if lo, hi, err = catalog.SequenceRange(q.Type); err != nil {
				return err
			}
			if atLo {
				q.Min = lo
			}
			if atHi {
				q.Max = hi
			}
		case "increment":
			set(&q.Inc, spec.Inc)
		case "minvalue":
			set(&q.Min, spec.Min)
		case "maxvalue":
			set(&q.Max, spec.Max)
		case "no minvalue":
			q.Min, _, _ = bounds()
		case "no maxvalue":
			_, q.Max, _ = bounds()
		case "start":
			set(&q.Start, spec.Start)
		case "cache":
			set(&q.Cache, spec.Cache)
		case "cycle", "no cycle":
			q.Cycle = spec.Cycle
		case "owned_by", "owned by":
			q.OwnerTable, q.OwnerCol = spec.OwnerTable, spec.OwnerCol
		case "restart":
			v := q.Start
			if o.X != nil {
				set(&v, spec.Restart)
			}
			*restart = &v
		}
	}
	return nil
}

// noOneRole reports whether something else than a role's name stands for roles.
func noOneRole(s string) bool { return s == ast.PublicRole || ast.RoleWord(s) != "" }

// roleName resolves CURRENT_USER and its like.
func (x *exec) roleName(s string) string {
	switch s {
	case ast.CurrentUser, ast.CurrentRole:
		return x.User
	case ast.SessionUser:
		return x.SessionUser
	}
	return s
}

func (x *exec) createType(s *ast.CreateType) error {
	schema, name, err := x.target(&s.Name, false)
	if err != nil {
		return err
	}
	switch s.Kind {
	case "ENUM":
		_, err = x.Change.CreateEnum(schema, name, s.Labels)
	case "COMPOSITE":
		cols, err := x.attributes(s.Columns)
		if err != nil {
			return err
		}
		if _, err = x.Change.CreateComposite(schema, name, cols); err != nil {
			return err
		}
	case "RANGE":
		return x.createRange(s, schema, name)
	default:
		return sqlerr.Unsupported(s.Pos(), "CREATE TYPE of kind %s", strings.ToLower(s.Kind))
	}
	return err
}

func (x *exec) createRole(s *ast.CreateRole) (string, error) {
	r := &catalog.Role{Inherit: true, Login: s.Kind == "USER", ConnLimit: -1}
	r.Name = s.Name
	if err := x.roleOptions(r, s.Options); err != nil {
		return "", err
	}
	groups := r.MemberOf
	r.MemberOf = nil
	if _, err := x.Change.CreateRole(r); err != nil {
		return "", err
	}
	return "CREATE ROLE", x.roleMembers(r.Name, groups, s.Options)
}

// roleMembers makes a new role a member of groups, and others members of it.
func (x *exec) roleMembers(name string, groups []string, opts []ast.Option) error {
	for _, g := range groups {
		if g = x.roleName(g); x.snap().Role(g) == nil {
			return noRole(g)
		}
		if err := x.addMember(g, name, false); err != nil {
			return err
		}
	}
	for i := range opts {
		o := &opts[i]
		if o.Name != "role" && o.Name != "user" && o.Name != "admin" {
			continue
		}
		for _, e := range o.List {
			m := x.roleName(optionText(&ast.Option{X: e}))
			if x.snap().Role(m) == nil {
				return noRole(m)
			}
			if err := x.addMember(name, m, o.Name == "admin"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exec) roleOptions(r *catalog.Role, opts []ast.Option) error {
	given := map[string]bool{}
	for i := range opts {
		o := &opts[i]
		kind := strings.TrimPrefix(o.Name, "no")
		if given[kind] {
			return redundant(o)
		}
		given[kind] = true
		v := o.X == nil || optionText(o) != "false"
		switch o.Name {
		case "superuser":
			r.Super = v
		case "nosuperuser":
			r.Super = false
		case "login":
			r.Login = v
		case "nologin":
			r.Login = false
		case "createdb":
			r.CreateDB = v
		case "nocreatedb":
			r.CreateDB = false
		case "createrole":
			r.CreateRole = v
		case "nocreaterole":
			r.CreateRole = false
		case "inherit":
			r.Inherit = v
		case "noinherit":
			r.Inherit = false
		case "replication":
			r.Replication = v
		case "noreplication":
			r.Replication = false
		case "bypassrls":
			r.BypassRLS = v
		case "nobypassrls":
			r.BypassRLS = false
		case "password":
			c, ok := o.X.(*ast.Const)
			if !ok || c.Kind == ast.ConstNull {
				r.Verifier = ""
				continue
			}
			if x.Verifier == nil {
				return sqlerr.Unsupported(o.Pos(), "PASSWORD here")
			}
			ver, err := x.Verifier(c.Val)
			if err != nil {
				return err
			}
			if ver == "" {
				x.notice(sqlerr.SuccessfulCompletion, "empty string is not a valid password, clearing password")
			}
			r.Verifier = ver
		case "connection limit", "connection_limit", "connectionlimit":
			n, err := optionInt(o)
			if err != nil {
				return err
			}
			if n < -1 || n > math.MaxInt32 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "invalid connection limit: %d", n)
			}
			r.ConnLimit = int(n)
		case "valid until", "valid_until", "validuntil":
			if err := x.validUntil(r, o); err != nil {
				return err
			}
		case "sysid":
			x.notice(sqlerr.SuccessfulCompletion, "SYSID can no longer be specified")
		case "role", "user", "admin":
		case "in role", "in group", "in_role", "inrole", "addroleto":
			for _, e := range append(o.List, o.X) {
				if e != nil {
					r.MemberOf = append(r.MemberOf, optionText(&ast.Option{X: e}))
				}
			}
		default:
			return sqlerr.Unsupported(o.Pos(), "role option %s", o.Name)
		}
	}
	return nil
}

func (x *exec) alterRole(s *ast.AlterRole) error {
	if s.Name == ast.AllRoles {
		if s.InDB == "" {
			if !x.snap().IsSuper(x.User) {
				return denied("must be superuser to alter settings globally")
			}
			return x.Change.SetEverybody(func(m map[string]string) (map[string]string, error) { return x.withSetting(m, s.Set) })
		}
		return x.alterDatabaseSetting(s.InDB, s.Set)
	}
	return x.Change.EditRole(x.roleName(s.Name), func(r *catalog.Role) (err error) {
		if s.InDB != "" && x.snap().Database(s.InDB) == nil {
			return noDatabase(s.InDB)
		}
		if s.Set != nil && s.InDB != "" {
			m, err := x.withSetting(r.InDatabase[s.InDB], s.Set)
			switch {
			case err != nil:
				return err
			case len(m) == 0:
				delete(r.InDatabase, s.InDB)
				return nil
			case r.InDatabase == nil:
				r.InDatabase = map[string]map[string]string{}
			}
			r.InDatabase[s.InDB] = m
			return nil
		}
		if s.Set != nil {
			r.Settings, err = x.withSetting(r.Settings, s.Set)
			return err
		}
		return x.roleOptions(r, s.Options)
	})
}

// withSetting is the settings of a role or database after SET or RESET.
func (x *exec) withSetting(have map[string]string, s *ast.SetVar) (map[string]string, error) {
	m := map[string]string{}
	if s.All || s.Reset && len(have) == 0 {
		return m, nil // the name is not even looked at where nothing is set
	}
	maps.Copy(m, have)
	v, err := x.Setting(s)
	if err != nil {
		return nil, err
	}
	if s.Reset || s.Default {
		delete(m, s.Name)
	} else {
		m[s.Name] = v
	}
	return m, nil
}

func (x *exec) alterObject(s *ast.AlterObject) error {
	c := x.Change
	if s.Action == ast.AllInTablespace {
		return x.moveAll(s)
	}
	switch s.Kind {
	case ast.LargeObject:
		return x.alterLargeObject(s)
	case "SCHEMA":
		switch s.Action {
		case "RENAME":
			return c.RenameSchema(s.Name.Last(), s.NewName)
		case "OWNER":
			sc := x.snap().Schema(x.db(), s.Name.Last())
			if sc == nil {
				return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.Name.Last())
			}
			if sc.Owner == x.roleName(s.NewName) {
				return nil
			}
			return c.SetOwner(sc.OID, x.roleName(s.NewName))
		}
	case "DATABASE":
		return x.alterDatabase(s)
	case "FUNCTION", "PROCEDURE", "ROUTINE", "AGGREGATE":
		return x.alterFunction(s)
	case "OPERATOR":
		return x.alterOperator(s)
	case "STATISTICS":
		return x.alterStatistics(s)
	case "EXTENSION":
		return x.alterExtension(s)
	case "ROLE", "USER", "GROUP":
		if s.Action == "RENAME" {
			return c.RenameRole(s.Name.Last(), s.NewName)
		}
		g := &ast.Grant{Off: s.Off, Revoke: s.Action == "DROP USER", Roles: []string{s.Name.Last()}}
		for i := range s.Options {
			g.Grantees = append(g.Grantees, s.Options[i].Name)
		}
		return x.grantRoles(g)
	case "TYPE", "DOMAIN":
		u := x.userType(&s.Name)
		if u == nil {
			return x.noType(&s.Name)
		}
		if s.Kind == "DOMAIN" && u.Kind != 'd' {
			return notDomain(&s.Name)
		}
		switch s.Action {
		case "RENAME":
			return c.RenameType(u.OID, s.NewName)
		case "OWNER":
			return c.SetOwner(u.OID, x.roleName(s.NewName))
		case "SET SCHEMA":
			return c.SetSchema(u.OID, s.NewName)
		case "ADD VALUE":
			neighbour, after := "", false
			for i := range s.Options {
				switch s.Options[i].Name {
				case "before":
					neighbour = optionText(&s.Options[i])
				case "after":
					neighbour, after = optionText(&s.Options[i]), true
				}
			}
			return c.AddEnumValue(u.OID, s.NewName, s.IfNotExists, neighbour, after)
		case "RENAME VALUE":
			for i := range s.Options {
				return x.renameEnumValue(s, u, optionText(&s.Options[i]), s.NewName)
			}
		}
	}
	return sqlerr.Unsupported(s.Pos(), "ALTER %s %s", s.Kind, s.Action)
}

func notDomain(n *ast.Name) error {
	return sqlerr.New(sqlerr.WrongObjectType, "%s is not a domain", fullName(n))
}

func noColumnComment(relation, kind string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "cannot set comment on relation \"%s\"", relation).
		WithDetail("This operation is not supported for %s.", kind)
}

// comment is COMMENT ON.
func (x *exec) comment(s *ast.Comment) error {
	text := s.Text
	if s.Null {
		text = ""
	}
	switch {
	case s.Provider != "":
		return sqlerr.New(sqlerr.InvalidParameterValue, "security label provider \"%s\" is not loaded", s.Provider)
	case s.Label:
		return sqlerr.New(sqlerr.InvalidParameterValue, "no security label providers have been loaded")
	}
	if s.Kind == "COLUMN" && len(s.Name.Parts) == 1 {
		return sqlerr.New(sqlerr.SyntaxError, "column name must be qualified")
	}
	c := x.Change
	if done, err := x.commentSystem(s, text); done {
		return withoutPosition(err)
	}
	switch s.Kind {
	case ast.LargeObject:
		return x.commentLargeObject(s)
	case "TABLE", "VIEW", "MATERIALIZED VIEW", "SEQUENCE":
		r, err := x.relation(&ast.Name{Off: -1, Parts: s.Name.Parts}) // the error has no position
		if err != nil {
			return withoutPosition(err)
		}
		if is := relationKind(r); is != strings.ToLower(s.Kind) {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a %s", s.Name.Last(), strings.ToLower(s.Kind))
		}
		if err := x.commenting(r); err != nil {
			return err
		}
		return c.SetComment(r.ObjectOID(), text)
	case "COLUMN":
		n := len(s.Name.Parts) - 1
		if u := x.userType(&ast.Name{Off: s.Name.Off, Parts: s.Name.Parts[:n]}); u != nil && u.Kind == 'c' {
			return c.SetAttributeComment(u.OID, s.Name.Parts[n], text)
		}
		of := &ast.Name{Off: -1, Parts: s.Name.Parts[:n]}
		if x.findIndex(of) != nil {
			return noColumnComment(of.Last(), "indexes")
		}
		r, err := x.relation(of)
		if err != nil {
			return withoutPosition(err)
		}
		if q, ok := r.(*catalog.Sequence); ok {
			return noColumnComment(q.Name, "sequences")
		}
		if err := x.commenting(r); err != nil {
			return err
		}
		return c.SetColumnComment(r.ObjectOID(), s.Name.Parts[n], text)
	case "INDEX":
		if ix := x.findIndex(&s.Name); ix != nil {
			return c.SetIndexComment(ix.OID, text)
		}
		if x.lookup(&s.Name) != nil {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", s.Name.Last())
		}
		return x.noRelation(&s.Name)
	case "DOMAIN CONSTRAINT":
		u := x.userType(s.On)
		if u == nil {
			return x.noType(s.On)
		}
		if u.Kind != 'd' {
			return notDomain(s.On)
		}
		return c.SetDomainComment(u.OID, s.Name.Last(), text)
	case "CONSTRAINT":
		t, err := x.findTable(s.On)
		if err != nil {
			return withoutPosition(err)
		}
		return c.SetConstraintComment(t.OID, s.Name.Last(), text)
	case "SCHEMA":
		sc := x.snap().Schema(x.db(), s.Name.Last())
		if sc == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.Name.Last())
		}
		return c.SetComment(sc.OID, text)
	case "DATABASE":
		d := x.snap().Database(s.Name.Last())
		if d == nil {
			x.tell("WARNING", sqlerr.InvalidCatalogName, "database \"%s\" does not exist", s.Name.Last())
			return nil
		}
		return c.SetComment(d.OID, text)
	case "ROLE":
		r := x.snap().Role(s.Name.Last())
		if r == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", s.Name.Last())
		}
		return c.SetComment(r.OID, text)
	case "TYPE", "DOMAIN":
		if u := x.userType(&s.Name); u != nil {
			if s.Kind == "DOMAIN" && u.Kind != 'd' {
				return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", fullName(&s.Name))
			}
			return c.SetComment(u.OID, text)
		}
		if x.builtinType(&s.Name) != nil {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", fullName(&s.Name))
		}
		return x.noType(&s.Name)
	case "FUNCTION", "PROCEDURE", "ROUTINE", "AGGREGATE":
		f, err := x.function(s.Kind, &s.Name, s.Args)
		if err != nil {
			return err
		}
		return c.SetComment(f.OID, text)
	case "OPERATOR":
		o, err := x.ownOperator(&s.Name, s.Args)
		if err != nil {
			return err
		}
		return c.SetComment(o.OID, text)
	case "CAST":
		k, err := x.ownCast(s.Args)
		if err != nil {
			return err
		}
		return c.SetComment(k.OID, text)
	case "EXTENSION":
		e, err := x.ownExtension(&s.Name)
		if err != nil {
			return err
		}
		return c.SetComment(e.OID, text)
	case "POLICY":
		t, err := x.policyTable(s.On)
		if err != nil {
			return err
		}
		pol := x.snap().Policy(t.OID, s.Name.Last())
		if pol == nil {
			return noPolicy(s.Name.Last(), t)
		}
		return c.SetComment(pol.OID, text)
	case "STATISTICS":
		e, err := x.ownStatistics(&s.Name)
		if err != nil {
			return err
		}
		return c.SetComment(e.OID, text)
	case "TRIGGER", "RULE", "CONVERSION", "EVENT TRIGGER", "PUBLICATION", "SUBSCRIPTION", "SERVER",
		"FOREIGN DATA WRAPPER", "TRANSFORM", "COLLATION", "LANGUAGE", "ACCESS METHOD", "TABLESPACE":
		// what is not there is missed, what is built in keeps its comment
		d := &ast.Drop{Off: s.Off, Kind: s.Kind, Names: []ast.Name{s.Name}, On: s.On, Args: [][]ast.TypeName{s.Args}}
		if err := x.dropAbsent(d, 0); sqlerr.CodeOf(err) != sqlerr.DependentObjectsStillExist && sqlerr.CodeOf(err) != sqlerr.InsufficientPrivilege {
			return err
		}
	}
	return sqlerr.Unsupported(s.Pos(), "COMMENT ON %s", s.Kind)
}
