package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// grant runs GRANT and REVOKE.
func (x *exec) grant(s *ast.Grant) error {
	if len(s.Roles) > 0 {
		return x.grantRoles(s)
	}
	if s.GrantedBy != "" && x.roleName(s.GrantedBy) != x.User {
		if x.snap().Role(x.roleName(s.GrantedBy)) == nil {
			return noRole(s.GrantedBy)
		}
		return sqlerr.New(sqlerr.FeatureNotSupported, "grantor must be current user")
	}
	var targets []catalog.Object
	var err error
	switch s.ObjKind {
	case ast.LargeObject, "LANGUAGE", "TABLESPACE", "PARAMETER":
	default:
		if targets, err = x.grantTargets(s); err != nil {
			return err
		}
	}
	grantees, err := x.grantees(s)
	if err != nil {
		return err
	}
	switch s.ObjKind {
	case ast.LargeObject:
		return x.grantLargeObjects(s, grantees)
	case "LANGUAGE":
		return x.grantLanguages(s, grantees)
	case "TABLESPACE", "PARAMETER":
		return x.grantShared(s, grantees)
	}
	var oids []types.OID // of the database's own objects, which change at once
	var specs []*catalog.GrantSpec
	for _, o := range targets {
		if err := x.changing(o); err != nil {
			return err
		}
		spec := &catalog.GrantSpec{Revoke: s.Revoke, Grantees: grantees, Option: s.GrantOpt, Cascade: s.Cascade}
		if err := x.grantPrivileges(s, o, spec); err != nil {
			return err
		}
		if o == nil {
			continue
		}
		v, virtual := o.(*catalog.Virtual)
		f, function := o.(*catalog.Function)
		n, schema := o.(*catalog.Schema)
		switch {
		case schema && catalog.IsBuiltinSchema(n.Name):
			err = x.Change.GrantSchema(n, spec)
		case virtual:
			err = x.Change.GrantSystem(v, spec)
		case function && f.OID < types.FirstUserOID:
			err = x.Change.GrantBuiltin(f, spec)
		default:
			oids, specs = append(oids, o.ObjectOID()), append(specs, spec)
		}
		if err != nil {
			return err
		}
	}
	return x.Change.Grant(oids, specs)
}

func noRole(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
}

// grantees resolves the roles of a grant; PUBLIC is "".
func (x *exec) grantees(s *ast.Grant) ([]string, error) {
	var out []string
	for _, g := range s.Grantees {
		name := x.roleName(g)
		if g == "public" {
			name = ""
		} else if x.snap().Role(name) == nil {
			return nil, noRole(g)
		}
		out = append(out, name)
	}
	return out, nil
}

// grantPrivileges reads the privileges of a grant on one object.
func (x *exec) grantPrivileges(s *ast.Grant, o catalog.Object, spec *catalog.GrantSpec) error {
	kind, _ := x.snap().KindOf(o)
	noun := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(s.ObjKind, " IN SCHEMA"), "ALL "), "S"))
	allowed := kind.All()
	switch noun {
	case "table":
		noun, allowed = "relation", catalog.ACLTable.All()|catalog.ACLSequence.All()
	case "routine", "procedure":
		allowed = catalog.ACLFunction.All()
	case "domain", "type":
		allowed = catalog.ACLType.All()
	}
	for i, word := range s.Privileges {
		var cols []string
		if i < len(s.Cols) {
			cols = s.Cols[i]
		}
		p := catalog.PrivByName(word)
		if word == "ALL" {
			if spec.All = true; cols != nil {
				p = catalog.ACLColumn.All()
			} else {
				p = kind.All()
			}
		}
		switch {
		case p == 0:
			return sqlerr.New(sqlerr.SyntaxError, "unrecognized privilege type \"%s\"", strings.ToLower(word))
		case cols != nil && p&^catalog.ACLColumn.All() != 0:
			return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for column", word)
		case word != "ALL" && p&^allowed != 0 && o != nil:
			return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for %s", word, noun)
		}
		if cols != nil {
			if err := x.grantColumns(o, cols, p, spec); err != nil {
				return err
			}
			continue
		}
		spec.Privs |= p
	}
	if extra := spec.Privs &^ kind.All(); extra != 0 {
		if kind != catalog.ACLSequence {
			return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for table", extra.Names()[0])
		}
		w := sqlerr.New(sqlerr.InvalidGrantOperation, "sequence \"%s\" only supports USAGE, SELECT, and UPDATE privileges", catalog.CommonOf(o).Name)
		w.Severity = "WARNING"
		x.Notice(w)
		spec.Privs &= kind.All()
	}
	return nil
}

func (x *exec) grantColumns(o catalog.Object, names []string, p catalog.Priv, spec *catalog.GrantSpec) error {
	r, ok := o.(catalog.Relation)
	if !ok {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "column privileges are only valid for relations")
	}
	if spec.Cols == nil {
		spec.Cols = map[int]catalog.Priv{}
	}
	cols := r.RelColumns()
	for _, n := range names {
		i := slices.IndexFunc(cols, func(c catalog.Column) bool { return !c.Dropped && c.Name == n })
		if i < 0 && catalog.IsSystemColumn(n) {
			v, view := o.(*catalog.View)
			if _, table := o.(*catalog.Table); table {
				spec.Cols[catalog.SystemColumn(n)] |= p
				continue
			}
			if !view || v.Materialized != nil {
				return sqlerr.Unsupported(-1, "GRANT on system column \"%s\" of %s \"%s\"", n, catalog.ObjectKind(o), catalog.CommonOf(o).Name)
			}
		}
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n, catalog.CommonOf(o).Name)
		}
		spec.Cols[i] |= p
	}
	return nil
}

// grantTargets resolves the objects of a grant. Built-in types keep the rights that everybody
// has: grants on them are refused.
func (x *exec) grantTargets(s *ast.Grant) ([]catalog.Object, error) {
	var out []catalog.Object
	for i := range s.Objects {
		n := &s.Objects[i]
		var o catalog.Object
		switch s.ObjKind {
		case "TABLE", "SEQUENCE":
			r := x.lookup(n)
			if r == nil {
				if x.findIndex(n) != nil {
					return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", n.Last())
				}
				if err := x.usable(n); err != nil {
					return nil, err
				}
				return nil, x.noRelation(n)
			}
			if _, is := r.(*catalog.Sequence); !is && s.ObjKind == "SEQUENCE" {
				return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", n.Last())
			}
			if err := x.usable(n); err != nil {
				return nil, err
			}
			o = r
		case "SCHEMA":
			sc := x.snap().Schema(x.db(), n.Last())
			if sc == nil {
				return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", n.Last())
			}
			o = sc
		case "DATABASE":
			d := x.snap().Database(n.Last())
			if d == nil {
				return nil, noDatabase(n.Last())
			}
			o = d
		case "TYPE", "DOMAIN":
			u := x.userType(n)
			if u == nil {
				path := x.Planner().SearchPath
				if sc := n.Schema(); sc != "" {
					path = []string{sc}
				}
				for _, sc := range path {
					if x.snap().Type(x.db(), sc, n.Last()) != nil {
						return nil, sqlerr.Unsupported(n.Pos(), "GRANT on built-in type \"%s\"", n.Last())
					}
				}
				return nil, x.noType(n)
			}
			if s.ObjKind == "DOMAIN" && u.Kind != 'd' {
				return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a domain", n.Last())
			}
			o = u
		case "FUNCTION", "PROCEDURE", "ROUTINE":
			f, err := x.grantedFunction(s, i)
			if err != nil {
				return nil, err
			}
			o = f
		default:
			if strings.HasPrefix(s.ObjKind, "ALL ") {
				list, err := x.allIn(s.ObjKind, n)
				if err != nil {
					return nil, err
				}
				out = append(out, list...)
				continue
			}
			return nil, sqlerr.Unsupported(s.Pos(), "GRANT ON %s", s.ObjKind)
		}
		out = append(out, o)
	}
	return out, nil
}

func (x *exec) grantedFunction(s *ast.Grant, i int) (*catalog.Function, error) {
	n := &s.Objects[i]
	var args []ast.TypeName
	if i < len(s.Args) {
		args = s.Args[i]
	}
	f, err := x.function(s.ObjKind, n, args)
	if err == nil {
		return f, nil
	}
	if p := x.builtinRoutine(s.ObjKind, n, args); p != nil {
		if args == nil && len(catalog.ProcsByName(p.Name)) > 1 {
			what := strings.ToLower(s.ObjKind)
			return nil, sqlerr.New(sqlerr.AmbiguousFunction, "%s name \"%s\" is not unique", what, fullName(n)).
				WithHint("Specify the argument list to select the %s unambiguously.", what)
		}
		return x.snap().BuiltinFunction(x.db(), p), nil
	}
	return nil, err
}

// allIn lists the objects of ALL … IN SCHEMA.
func (x *exec) allIn(kind string, schema *ast.Name) ([]catalog.Object, error) {
	if x.snap().Schema(x.db(), schema.Last()) == nil {
		return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", schema.Last())
	}
	var out []catalog.Object
	if strings.Contains(kind, "TABLES") || strings.Contains(kind, "SEQUENCES") {
		for _, r := range x.snap().Relations(x.db()) {
			sc, _ := r.RelName()
			_, seq := r.(*catalog.Sequence)
			if sc == schema.Last() && seq == strings.Contains(kind, "SEQUENCES") {
				out = append(out, r)
			}
		}
		if catalog.IsBuiltinSchema(schema.Last()) && strings.Contains(kind, "TABLES") {
			for _, v := range x.snap().Overlay().Virtuals() {
				if v.Schema == schema.Last() {
					out = append(out, x.snap().Relation(x.db(), v.Schema, v.Name))
				}
			}
		}
		return out, nil
	}
	if schema.Last() == catalog.SchemaPgCatalog {
		return nil, sqlerr.Unsupported(schema.Pos(), "GRANT on all functions of schema \"%s\"", schema.Last())
	}
	for _, f := range x.snap().AllFunctions(x.db()) {
		if f.Schema != schema.Last() || strings.Contains(kind, "PROCEDURES") && !f.Procedure || strings.Contains(kind, "FUNCTIONS") && f.Procedure {
			continue
		}
		out = append(out, f)
	}
	return out, nil
}

// grantRoles runs GRANT and REVOKE of memberships.
func (x *exec) grantRoles(s *ast.Grant) error {
	for _, r := range s.Roles {
		role := x.roleName(r)
		if x.snap().Role(role) == nil {
			return noRole(r)
		}
		for _, g := range s.Grantees {
			member := x.roleName(g)
			if x.snap().Role(member) == nil {
				return noRole(g)
			}
			if s.Revoke {
				if err := x.mayAdmin(role); err != nil {
					return err
				}
				if err := x.removeMember(role, member, s.GrantOpt); err != nil {
					return err
				}
			} else if err := x.addMember(role, member, s.GrantOpt); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayAdmin checks that the current role may change who is a member of another.
func (x *exec) mayAdmin(role string) error {
	switch {
	case x.snap().IsSuper(x.User):
		return nil
	case x.snap().IsSuper(role):
		return denied("must be superuser to alter superusers")
	case x.createsRoles() || x.snap().IsAdmin(x.db(), x.User, role):
		return nil
	}
	return denied("must have admin option on role \"%s\"", role)
}

func (x *exec) addMember(role, member string, admin bool) error {
	switch {
	case role == "pg_database_owner":
		return sqlerr.New(sqlerr.InternalError, "role \"%s\" cannot have explicit members", role)
	case member == "pg_database_owner":
		return sqlerr.New(sqlerr.InternalError, "role \"%s\" cannot be a member of any role", member)
	}
	if err := x.mayAdmin(role); err != nil {
		return err
	}
	if x.snap().IsMember(0, role, member) {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "role \"%s\" is a member of role \"%s\"", role, member)
	}
	m := x.snap().Role(member)
	if slices.Contains(m.MemberOf, role) && (!admin || slices.Contains(m.AdminOf, role)) {
		x.notice(sqlerr.SuccessfulCompletion, "role \"%s\" is already a member of role \"%s\"", member, role)
		return nil
	}
	return x.Change.EditRole(member, func(r *catalog.Role) error {
		if !slices.Contains(r.MemberOf, role) {
			r.MemberOf = append(r.MemberOf, role)
		}
		if admin {
			r.AdminOf = append(slices.Clone(r.AdminOf), role)
		}
		return nil
	})
}

func (x *exec) removeMember(role, member string, adminOnly bool) error {
	if !slices.Contains(x.snap().Role(member).MemberOf, role) {
		w := sqlerr.New(sqlerr.Warning, "role \"%s\" is not a member of role \"%s\"", member, role)
		w.Severity = "WARNING"
		x.Notice(w)
		return nil
	}
	is := func(o string) bool { return o == role }
	return x.Change.EditRole(member, func(r *catalog.Role) error {
		if !adminOnly {
			r.MemberOf = slices.DeleteFunc(slices.Clone(r.MemberOf), is)
		}
		r.AdminOf = slices.DeleteFunc(slices.Clone(r.AdminOf), is)
		return nil
	})
}

var defaultKinds = map[string]catalog.ACLKind{"TABLES": catalog.ACLTable, "SEQUENCES": catalog.ACLSequence,
	"FUNCTIONS": catalog.ACLFunction, "TYPES": catalog.ACLType, "SCHEMAS": catalog.ACLSchema}

// alterDefaults runs ALTER DEFAULT PRIVILEGES.
func (x *exec) alterDefaults(s *ast.AlterDefaults) error {
	kind := defaultKinds[s.Grant.ObjKind]
	grantees, err := x.grantees(s.Grant)
	if err != nil {
		return err
	}
	spec := &catalog.GrantSpec{Revoke: s.Grant.Revoke, Grantees: grantees, Option: s.Grant.GrantOpt, Cascade: s.Grant.Cascade}
	for i, word := range s.Grant.Privileges {
		p := catalog.PrivByName(word)
		if word == "ALL" {
			p = kind.All()
		}
		switch {
		case i < len(s.Grant.Cols) && s.Grant.Cols[i] != nil:
			return sqlerr.New(sqlerr.InvalidGrantOperation, "default privileges cannot be set for columns")
		case p == 0:
			return sqlerr.New(sqlerr.SyntaxError, "unrecognized privilege type \"%s\"", strings.ToLower(word))
		case p&^kind.All() != 0:
			noun := strings.ToLower(strings.TrimSuffix(s.Grant.ObjKind, "S"))
			if noun == "table" {
				noun = "relation"
			}
			return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for %s", word, noun)
		}
		spec.Privs |= p
	}
	if spec.Option && !spec.Revoke && slices.Contains(grantees, "") {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")
	}
	roles, schemas := s.Roles, s.Schemas
	if roles == nil {
		roles = []string{x.User}
	}
	if schemas == nil {
		schemas = []string{""}
	} else if kind == catalog.ACLSchema {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS")
	}
	for _, r := range roles {
		role := x.roleName(r)
		if x.snap().Role(role) == nil {
			return noRole(r)
		}
		if !x.snap().IsSuper(x.User) {
			if err := x.memberOf(role); err != nil {
				return err
			}
		}
		for _, schema := range schemas {
			if schema != "" && x.snap().Schema(x.db(), schema) == nil {
				return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
			}
			if err := x.Change.AlterDefaults(role, schema, kind, spec); err != nil {
				return err
			}
		}
	}
	return nil
}

// owned runs REASSIGN OWNED and DROP OWNED.
func (x *exec) owned(s *ast.Owned) error {
	verb := "drop"
	if s.To != "" {
		verb = "reassign"
	}
	var roles []string
	for _, r := range s.Roles {
		role := x.roleName(r)
		o := x.snap().Role(role)
		if o == nil {
			return noRole(r)
		}
		if !x.snap().HasRole(x.db(), x.User, role) {
			return denied("permission denied to %s objects", verb)
		}
		if o.OID < types.FirstUserOID {
			if s.To != "" {
				verb = "reassign ownership of"
			}
			return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot %s objects owned by role %s because they are required by the database system",
				verb, catalog.QuoteIdent(role))
		}
		roles = append(roles, role)
	}
	if s.To == "" {
		if err := x.ownedLargeObjects(roles, ""); err != nil {
			return err
		}
		return x.Change.DropOwned(roles, s.Cascade)
	}
	to := x.roleName(s.To)
	if x.snap().Role(to) == nil {
		return noRole(s.To)
	}
	if !x.snap().HasRole(x.db(), x.User, to) {
		return denied("permission denied to reassign objects")
	}
	if err := x.ownedLargeObjects(roles, to); err != nil {
		return err
	}
	return x.Change.ReassignOwned(roles, to)
}

// validUntil reads when a role's password ends.
func (x *exec) validUntil(r *catalog.Role, o *ast.Option) error {
	d, err := types.Parse(types.TTimestamptz, optionText(o), x.Planner().Fmt)
	r.ValidUntil = d.I
	return err
}
