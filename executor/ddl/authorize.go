package ddl

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

// authorize checks, before a statement does anything, that the current role may
// run it. What the statement names and does not exist is left to the statement,
// whose error says so. Superusers may do everything.
func (x *exec) authorize(stmt ast.Stmt) error {
	if x.snap().IsSuper(x.User) {
		return nil
	}
	switch s := stmt.(type) {
	case *ast.CreateTable:
		err := x.mayCreate(&s.Name, s.Temp)
		if e, ok := err.(*sqlerr.Error); ok && s.As == nil {
			err = e.At(s.Name.Pos())
		}
		return err
	case *ast.CreateIndex:
		return x.ownsNamed(&s.Table)
	case *ast.CreateView:
		if r := x.lookup(&s.Name); r != nil && s.OrReplace {
			if err := x.owns(r); err != nil {
				return err
			}
		}
		return x.mayCreate(&s.Name, s.Temp)
	case *ast.Refresh:
		return x.ownsNamed(&s.Name)
	case *ast.CreateSequence:
		return x.mayCreate(&s.Name, s.Temp)
	case *ast.AlterSequence:
		return x.ownsNamed(&s.Name)
	case *ast.CreateSchema:
		return x.mayCreateSchema(s)
	case *ast.CreateDatabase:
		if r := x.snap().Role(x.User); r == nil || !r.CreateDB {
			return denied("permission denied to create database")
		}
		return x.mayCopyDatabase(s)
	case *ast.DropDatabase:
		return x.ownsDatabase(s.Name)
	case *ast.CreateType:
		return x.mayCreate(&s.Name, false)
	case *ast.CreateDomain:
		return x.mayCreate(&s.Name, false)
	case *ast.CreateFunction:
		return x.mayCreate(&s.Name, false)
	case *ast.CreateAggregate:
		return x.mayCreate(&s.Name, false)
	case *ast.CreateOperator:
		return x.mayCreate(&s.Name, false)
	case *ast.CreateRole:
		return x.mayCreateRole(s)
	case *ast.AlterRole:
		return x.mayAlterRole(s)
	case *ast.CreateExtension:
		return x.mayInDatabase(catalog.PrivCreate)
	case *ast.Drop:
		return x.mayDrop(s)
	case *ast.AlterTable:
		return x.mayAlterTable(s)
	case *ast.AlterObject:
		return x.mayAlterObject(s)
	case *ast.Truncate:
		for i := range s.Tables {
			if err := x.needs(&s.Tables[i].Name, catalog.PrivTruncate); err != nil {
				return err
			}
		}
	case *ast.Comment:
		return x.mayComment(s)
	}
	return nil
}

func denied(format string, args ...any) error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, format, args...)
}

// owns reports 42501 unless the current role owns the object.
func (x *exec) owns(o catalog.Object) error {
	if x.snap().Owns(x.User, o) {
		return nil
	}
	if u, ok := o.(*catalog.UserType); ok {
		return denied("must be owner of type %s", x.typeName(types.Of(u.OID)))
	}
	return x.snap().NotOwner(o)
}

// ownsNamed is owns for a relation or an index by name.
func (x *exec) ownsNamed(n *ast.Name) error {
	if r := x.lookup(n); r != nil {
		if err := x.usable(n); err != nil {
			return err
		}
		return x.owns(r)
	}
	if ix := x.findIndex(n); ix != nil {
		return x.ownsIndex(ix)
	}
	return x.usable(n)
}

func (x *exec) ownsIndex(ix *catalog.Index) error {
	if t := x.snap().TableOfIndex(x.db(), ix.OID); t != nil && !x.snap().Owns(x.User, t) {
		return denied("must be owner of index %s", ix.Name)
	}
	return nil
}

// namespace is usable for the name of a function or a type: its schema must be there.
func (x *exec) namespace(n *ast.Name) error {
	if s := n.Schema(); s != "" && x.schemaNamed(s) != x.Temp && x.snap().Schema(x.db(), s) == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
	}
	return x.usable(n)
}

// noType is the error of a type that was not found.
func (x *exec) noType(n *ast.Name) error {
	if err := x.namespace(n); err != nil {
		return err
	}
	return sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", fullName(n))
}

// usable checks the schema of a qualified name.
func (x *exec) usable(n *ast.Name) error {
	return x.snap().MayUseSchema(x.db(), x.User, n.Schema())
}

// mayUseType checks USAGE on the type of a new column, parameter or operand; an array
// has the rights of its elements' type.
func (x *exec) mayUseType(t types.T) error {
	if in := x.snap().TypeInfo(t.OID); in != nil && in.Elem != 0 {
		t.OID = in.Elem
	}
	if u := x.snap().TypeByOID(t.OID); u != nil {
		return x.snap().CheckPriv(x.User, u, catalog.PrivUsage)
	}
	return nil
}

// needs checks a privilege on a relation.
func (x *exec) needs(n *ast.Name, p catalog.Priv) error {
	if err := x.usable(n); err != nil {
		return err
	}
	if r := x.lookup(n); r != nil {
		return x.snap().CheckPriv(x.User, r, p)
	}
	return nil
}

// mayCreate checks CREATE on the schema where a new object goes.
func (x *exec) mayCreate(n *ast.Name, temp bool) error {
	schema, _, err := x.target(n, temp)
	if err != nil {
		return nil
	}
	if catalog.IsTempSchema(schema) {
		d, ok := x.snap().Object(x.db()).(*catalog.Database)
		if has, _ := x.snap().Privileges(x.User, d); ok && has&catalog.PrivTemp == 0 {
			return denied("permission denied to create temporary tables in database \"%s\"", d.Name)
		}
		return nil
	}
	return x.mayCreateIn(schema, x.User)
}

func (x *exec) mayCreateIn(schema, role string) error {
	if s := x.snap().Schema(x.db(), schema); s != nil {
		return x.snap().CheckPriv(role, s, catalog.PrivCreate)
	}
	return nil
}

func (x *exec) mayInDatabase(p catalog.Priv) error {
	if d, ok := x.snap().Object(x.db()).(*catalog.Database); ok {
		return x.snap().CheckPriv(x.User, d, p)
	}
	return nil
}

func (x *exec) ownsDatabase(name string) error {
	if d := x.snap().Database(name); d != nil {
		return x.owns(d)
	}
	return nil
}

func (x *exec) ownsSchema(name string) error {
	if s := x.snap().Schema(x.db(), name); s != nil {
		return x.owns(s)
	}
	return nil
}

func (x *exec) mayCreateSchema(s *ast.CreateSchema) error {
	if err := x.mayInDatabase(catalog.PrivCreate); err != nil {
		return err
	}
	if s.Owner == "" {
		return nil
	}
	return x.memberOf(x.roleName(s.Owner))
}

// memberOf checks that the current role may act for another.
func (x *exec) memberOf(role string) error {
	if x.snap().Role(role) == nil || x.snap().IsMember(x.db(), x.User, role) {
		return nil
	}
	return denied("must be member of role \"%s\"", role)
}

// createsRoles reports whether the current role has CREATEROLE.
func (x *exec) createsRoles() bool {
	r := x.snap().Role(x.User)
	return r != nil && (r.Super || r.CreateRole)
}

func (x *exec) mayCreateRole(s *ast.CreateRole) error {
	for i := range s.Options {
		switch o := &s.Options[i]; o.Name {
		case "superuser":
			return denied("must be superuser to create superusers")
		case "replication":
			return denied("must be superuser to create replication users")
		case "bypassrls":
			return denied("must be superuser to create bypassrls users")
		}
	}
	if !x.createsRoles() {
		return denied("permission denied to create role")
	}
	return nil
}

func (x *exec) mayAlterRole(s *ast.AlterRole) error {
	if s.Name == ast.AllRoles {
		return x.ownsDatabase(s.InDB)
	}
	name := x.roleName(s.Name)
	r := x.snap().Role(name)
	if r == nil {
		return nil
	}
	for i := range s.Options {
		switch s.Options[i].Name {
		case "superuser", "nosuperuser":
			return denied("must be superuser to alter superuser roles or change superuser attribute")
		case "replication", "noreplication":
			return denied("must be superuser to alter replication roles or change replication attribute")
		case "bypassrls", "nobypassrls":
			return denied("must be superuser to change bypassrls attribute")
		}
	}
	if r.Super {
		return denied("must be superuser to alter superuser roles or change superuser attribute")
	}
	if x.createsRoles() {
		return nil
	}
	own := name == x.User
	for i := range s.Options {
		own = own && s.Options[i].Name == "password"
	}
	if !own {
		return denied("permission denied")
	}
	return nil
}

func (x *exec) mayDrop(s *ast.Drop) error {
	switch s.Kind {
	case "ROLE", "USER", "GROUP":
		if !x.createsRoles() {
			return denied("permission denied to drop role")
		}
		for _, n := range s.Names {
			if noOneRole(n.Last()) {
				return nil
			}
			if x.snap().IsSuper(n.Last()) {
				return denied("must be superuser to drop superusers")
			}
		}
		return nil
	}
	for i := range s.Names {
		n := &s.Names[i]
		var err error
		switch s.Kind {
		case "TABLE", "VIEW", "MATERIALIZED VIEW", "SEQUENCE", "INDEX":
			// whoever owns the schema may drop what is in it
			if r := x.lookup(n); r != nil && x.ownsSchemaOf(r) {
				continue
			}
			err = x.ownsNamed(n)
		case "SCHEMA":
			err = x.ownsSchema(n.Last())
		case "TYPE", "DOMAIN":
			if u := x.userType(n); u != nil && !x.ownsSchemaOf(u) {
				err = x.owns(u)
			}
		case "FUNCTION", "PROCEDURE", "ROUTINE", "AGGREGATE":
			if f, e := x.function(s.Kind, n, argsOf(s, i)); e == nil && !x.ownsSchemaOf(f) {
				err = x.ownsRoutine(f, s.Kind)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ownsRoutine is owns of a function that a statement calls one of a kind.
func (x *exec) ownsRoutine(f *catalog.Function, kind string) error {
	if x.snap().Owns(x.User, f) {
		return nil
	}
	return denied("must be owner of %s %s", strings.ToLower(kind), f.Name)
}

func (x *exec) ownsSchemaOf(o catalog.Object) bool {
	s := x.snap().Schema(x.db(), catalog.CommonOf(o).Schema)
	return s != nil && x.snap().Owns(x.User, s)
}

func (x *exec) mayAlterTable(s *ast.AlterTable) error {
	if s.Kind == "DOMAIN" || s.Kind == "TYPE" {
		if u := x.userType(&s.Name); u != nil {
			return x.owns(u)
		}
		return nil
	}
	if err := x.ownsNamed(&s.Name); err != nil {
		return err
	}
	r := x.lookup(&s.Name)
	if r == nil {
		return nil
	}
	schema, _ := r.RelName()
	for i := range s.Actions {
		switch a := &s.Actions[i]; a.Kind {
		case "OWNER":
			if err := x.mayGive(schema, x.roleName(a.NewName)); err != nil {
				return err
			}
		case "SET SCHEMA":
			if err := x.mayCreateIn(a.NewName, x.User); err != nil {
				return err
			}
		case "RENAME":
			if err := x.mayCreateIn(schema, x.User); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayGive checks that an object of a schema may be given to a role.
func (x *exec) mayGive(schema, role string) error {
	if err := x.memberOf(role); err != nil {
		return err
	}
	return x.mayCreateIn(schema, role)
}

func (x *exec) mayAlterObject(s *ast.AlterObject) error {
	switch s.Kind {
	case "SCHEMA":
		if n := x.snap().Schema(x.db(), s.Name.Last()); n != nil && x.stays(s, n) {
			return nil
		}
		if err := x.ownsSchema(s.Name.Last()); err != nil {
			return err
		}
		if s.Action == "OWNER" {
			if err := x.memberOf(x.roleName(s.NewName)); err != nil {
				return err
			}
		}
		return x.mayInDatabase(catalog.PrivCreate)
	case "DATABASE":
		if d := x.snap().Database(s.Name.Last()); d != nil && x.stays(s, d) {
			return nil
		}
		if err := x.ownsDatabase(s.Name.Last()); err != nil {
			return err
		}
		if s.Action == "OWNER" {
			return x.memberOf(x.roleName(s.NewName))
		}
	case "ROLE", "USER":
		if !x.createsRoles() {
			return denied("permission denied to rename role")
		}
		if x.snap().IsSuper(s.Name.Last()) {
			return denied("must be superuser to rename superusers")
		}
	case "GROUP":
		if !x.createsRoles() && !x.snap().IsAdmin(x.db(), x.User, s.Name.Last()) {
			return denied("permission denied")
		}
	case "TYPE", "DOMAIN":
		u := x.userType(&s.Name)
		if u == nil || s.Action == "OWNER" && x.stays(s, u) {
			return nil
		}
		if err := x.owns(u); err != nil {
			return err
		}
		switch s.Action {
		case "OWNER":
			return x.mayGive(u.Schema, x.roleName(s.NewName))
		case "SET SCHEMA":
			return x.mayCreateIn(s.NewName, x.User)
		}
	case "FUNCTION", "PROCEDURE", "ROUTINE", "AGGREGATE":
		f, err := x.function(s.Kind, &s.Name, s.Args)
		if err != nil || x.stays(s, f) {
			return nil
		}
		kind := s.Kind
		switch s.Action {
		case "RENAME", "OWNER", "SET SCHEMA": // go by where the object is kept
			kind = "FUNCTION"
		}
		if s.Action == "SET SCHEMA" { // is looked at first
			if x.snap().Schema(x.db(), s.NewName) == nil {
				return nil
			}
			if err := x.mayMove(s, f.Schema); err != nil {
				return err
			}
		}
		if err := x.ownsRoutine(f, kind); err != nil {
			return err
		}
		return x.mayMove(s, f.Schema)
	}
	return nil
}

// stays reports whether an object is where, or whose, a statement wants it to be: that
// is no change, which asks for no rights.
func (x *exec) stays(s *ast.AlterObject, o catalog.Object) bool {
	switch co := catalog.CommonOf(o); s.Action {
	case "OWNER":
		return co.Owner == x.roleName(s.NewName)
	case "SET SCHEMA":
		return co.Schema == s.NewName
	}
	return false
}

// mayMove checks the rights that a new name, schema or owner needs besides the
// ownership of the object, which is in that schema now.
func (x *exec) mayMove(s *ast.AlterObject, schema string) error {
	if x.snap().IsSuper(x.User) {
		return nil // the new owner needs no rights either
	}
	switch s.Action {
	case "RENAME":
		return x.mayCreateIn(schema, x.User)
	case "SET SCHEMA":
		return x.mayCreateIn(s.NewName, x.User)
	case "OWNER":
		return x.mayGive(schema, x.roleName(s.NewName))
	}
	return nil
}

func (x *exec) mayComment(s *ast.Comment) error {
	relation := func(n *ast.Name) error {
		var o catalog.Object
		if r := x.lookup(n); r != nil {
			o = r
		} else if u := x.composite(n); u != nil {
			o = u
		}
		if o != nil && !x.snap().Owns(x.User, o) {
			return denied("must be owner of relation %s", n.Last())
		}
		return nil
	}
	switch s.Kind {
	case "TABLE", "VIEW", "MATERIALIZED VIEW", "SEQUENCE", "INDEX":
		return x.ownsNamed(&s.Name)
	case "COLUMN":
		return relation(&ast.Name{Off: s.Name.Off, Parts: s.Name.Parts[:len(s.Name.Parts)-1]})
	case "CONSTRAINT":
		if s.On != nil {
			return relation(s.On)
		}
	case "DOMAIN CONSTRAINT":
		if u := x.userType(s.On); u != nil && u.Kind == 'd' {
			return x.owns(u)
		}
	case "SCHEMA":
		return x.ownsSchema(s.Name.Last())
	case "DATABASE":
		if x.snap().Database(s.Name.Last()) == nil {
			return nil // a warning
		}
		return x.ownsDatabase(s.Name.Last())
	case "ROLE":
		switch {
		case x.snap().IsSuper(s.Name.Last()):
			return denied("must be superuser")
		case !x.createsRoles():
			return denied("must have CREATEROLE privilege")
		}
	case "TYPE", "DOMAIN":
		if u := x.userType(&s.Name); u != nil {
			return x.owns(u)
		}
	case "FUNCTION", "PROCEDURE", "ROUTINE", "AGGREGATE":
		if f, err := x.function(s.Kind, &s.Name, s.Args); err == nil {
			return x.ownsRoutine(f, s.Kind)
		}
	}
	return nil
}

// references checks that the current role may make foreign keys on columns.
func (x *exec) references(t *catalog.Table, cols []int) error {
	if has, _ := x.snap().Privileges(x.User, t); has&catalog.PrivReferences != 0 {
		return nil
	}
	for _, c := range cols {
		if has, _ := x.snap().ColumnPrivileges(x.User, t, c); has&catalog.PrivReferences == 0 {
			return x.snap().Denied(t)
		}
	}
	if len(cols) == 0 {
		return x.snap().Denied(t)
	}
	return nil
}
