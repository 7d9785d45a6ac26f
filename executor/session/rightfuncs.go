package session

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// privilege answers has_…_privilege([role,] object [, column], privileges) and
// pg_has_role([role,] role, privileges): NULL when the object's OID is nobody's,
// an error when its name is.
func (c *catalogCall) privilege() (types.Datum, error) {
	for _, a := range c.a {
		if a.Null {
			return c.null()
		}
	}
	what, _, _ := strings.Cut(strings.TrimPrefix(c.src, "has_"), "_privilege")
	if strings.HasPrefix(c.src, "pg_has_role") {
		what = "role"
	}
	n := 2
	if what == "column" {
		n = 3
	}
	args, role := c.a, c.user
	list := string(args[len(args)-1].B)
	if what == "parameter" {
		for _, word := range strings.Split(list, ",") {
			word = strings.TrimSpace(word)
			if name := strings.TrimSuffix(strings.ToUpper(word), " WITH GRANT OPTION"); name != "SET" && name != "ALTER SYSTEM" {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", word)
			}
		}
	}
	if len(args) > n {
		var err error
		if role, err = c.roleArg(args[0]); err != nil {
			return types.Datum{}, err
		}
		args = args[1:]
	}
	switch what {
	case "role":
		return c.hasRole(role, args[0], list)
	case "parameter":
		return c.boolean(c.parameterPrivilege(role, strings.ToLower(string(args[0].B)), list), true)
	}
	kinds := map[string]catalog.ACLKind{"table": catalog.ACLTable, "any_column": catalog.ACLColumn, "column": catalog.ACLColumn,
		"sequence": catalog.ACLSequence, "database": catalog.ACLDatabase, "schema": catalog.ACLSchema, "function": catalog.ACLFunction,
		"type": catalog.ACLType, "language": catalog.ACLLanguage, "tablespace": catalog.ACLTablespace}
	var wanted []wantedPriv
	var o catalog.Object
	var found bool
	object := func() (err error) {
		o, found, err = c.privilegeObject(what, args[0])
		return err
	}
	words := func() (err error) {
		wanted, err = privilegeList(list, kinds[what].All())
		return err
	}
	steps := []func() error{object, words}
	if what == "sequence" { // asks for the privilege's name first
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return types.Datum{}, err
		}
	}
	if !found {
		return c.null()
	}
	snap := c.snapshot()
	var privs, grant catalog.Priv
	switch {
	case o == nil:
		// built in: everybody may use it
		privs = kinds[what].All()
		if c.isSuper(role) {
			grant = privs
		}
	default:
		privs, grant = snap.Privileges(role, o)
		if what == "schema" && catalog.CommonOf(o).Name == c.tempName() {
			privs |= c.inOwnTemp(role)
		}
	}
	r, _ := o.(catalog.Relation)
	switch what {
	case "column":
		i, known, err := c.columnArg(r, args[1])
		if err != nil {
			return types.Datum{}, err
		}
		if !known {
			return c.null()
		}
		p, g := snap.ColumnPrivileges(role, r, i)
		privs, grant = privs|p, grant|g
	case "any_column":
		for i := range r.RelColumns() {
			p, g := snap.ColumnPrivileges(role, r, i)
			privs, grant = privs|p, grant|g
		}
	}
	for _, w := range wanted {
		if !w.grant && privs&w.priv != 0 || w.grant && grant&w.priv != 0 {
			return types.Bool(true), nil
		}
	}
	return types.Bool(false), nil
}

// wantedPriv is one of the privileges that has_…_privilege is asked for.
type wantedPriv struct {
	priv  catalog.Priv
	grant bool // WITH GRANT OPTION
}

func privilegeList(list string, allowed catalog.Priv) ([]wantedPriv, error) {
	var out []wantedPriv
	for _, word := range strings.Split(list, ",") {
		word = strings.TrimSpace(word)
		name, grant := strings.CutSuffix(strings.ToUpper(word), " WITH GRANT OPTION")
		p := catalog.PrivByName(name)
		if p == 0 && name == "RULE" && allowed == catalog.ACLTable.All() {
			continue // was a privilege once
		}
		if p == 0 || p&allowed == 0 {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", word)
		}
		out = append(out, wantedPriv{p, grant})
	}
	return out, nil
}

func isName(d types.Datum) bool { return d.T.Rep() == types.RepBytes }

// roleArg is the role that a name or an OID stands for; "public" and OIDs of
// nobody have what PUBLIC has.
func (c *catalogCall) roleArg(d types.Datum) (string, error) {
	if isName(d) {
		name := string(d.B)
		if name != "public" && c.snapshot().Role(name) == nil {
			return "", sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
		}
		if name == "public" {
			name = ""
		}
		return name, nil
	}
	if r, ok := c.snapshot().Object(types.OID(d.I)).(*catalog.Role); ok {
		return r.Name, nil
	}
	return "", nil
}

// privilegeObject resolves the object of has_…_privilege; a nil object that was
// found is one of the server's own.
func (c *catalogCall) privilegeObject(what string, d types.Datum) (o catalog.Object, found bool, err error) {
	snap := c.snapshot()
	oid := types.OID(d.I)
	name := string(d.B)
	if what == "database" || what == "schema" {
		if n := c.tempObject(what, d); n != nil {
			return n, true, nil
		}
		switch {
		case !isName(d):
			if n := snap.SchemaByOID(oid); n != nil && what == "schema" {
				if catalog.IsBuiltinSchema(n.Name) {
					n = snap.Schema(c.db, n.Name)
				}
				return n, true, nil
			}
			if db, ok := snap.Object(oid).(*catalog.Database); ok && what == "database" {
				return db, true, nil
			}
			return nil, false, nil
		case what == "database":
			if db := snap.Database(name); db != nil {
				return db, true, nil
			}
			return nil, false, sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
		}
		if n := snap.Schema(c.db, name); n != nil {
			return n, true, nil
		}
		return nil, false, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
	}
	reg := map[string]types.OID{"table": types.ORegclass, "any_column": types.ORegclass, "column": types.ORegclass,
		"sequence": types.ORegclass, "function": types.ORegprocedure, "type": types.ORegtype}[what]
	if reg == 0 {
		for _, l := range catalog.Languages() {
			if what == "language" && (isName(d) && name == l.Name || !isName(d) && oid == l.OID) {
				return snap.Language(c.db, l.Name), true, nil
			}
		}
		for _, t := range snap.Tablespaces() {
			if what == "tablespace" && (isName(d) && name == t.Name || !isName(d) && oid == t.OID) {
				return t, true, nil
			}
		}
		if !isName(d) {
			return nil, false, nil
		}
		kind := what
		if what == "foreign_data_wrapper" {
			kind = "foreign-data wrapper"
		}
		return nil, false, sqlerr.New(sqlerr.UndefinedObject, "%s \"%s\" does not exist", kind, name)
	}
	if isName(d) {
		n, bad := strconv.ParseUint(name, 10, 32)
		switch {
		case bad == nil && reg != types.ORegclass:
			oid = types.OID(n)
		default:
			if oid, err = c.pgEnv().RegIn(reg, name); err != nil {
				return nil, false, err
			}
		}
	}
	if reg == types.ORegclass {
		r := snap.RelationByOID(c.db, oid)
		if r == nil {
			return nil, false, nil
		}
		if _, is := r.(*catalog.Sequence); what == "sequence" && !is {
			return nil, false, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", catalog.CommonOf(r).Name)
		}
		return r, true, nil
	}
	if o = snap.Object(oid); o != nil {
		if k, _ := snap.KindOf(o); k == catalog.ACLFunction || k == catalog.ACLType {
			return o, true, nil
		}
	}
	if reg == types.ORegtype {
		return nil, snap.TypeInfo(oid) != nil, nil
	}
	p := catalog.ProcByOID(oid)
	if p != nil {
		return snap.BuiltinFunction(c.db, p), true, nil
	}
	return nil, false, nil
}

// tempObject is the temporary schema of a name or OID, or nil: it belongs to the
// server, which grants nothing on it to anybody.
func (c *catalogCall) tempObject(what string, d types.Datum) catalog.Object {
	if what != "schema" {
		return nil
	}
	name, env := string(d.B), c.pgEnv()
	if !isName(d) {
		name = env.TempSchemaByOID(types.OID(d.I))
	}
	if !env.HasTempSchema(name) {
		return nil
	}
	co := catalog.Common{DB: c.db, Name: name}
	if r, ok := c.snapshot().Object(catalog.OIDSuperuser).(*catalog.Role); ok {
		co.Owner = r.Name
	}
	return &catalog.Schema{Common: co}
}

// inOwnTemp is what a role may do in the session's temporary schema: use it, and make
// objects there when it may make temporary ones in the database.
func (c *catalogCall) inOwnTemp(role string) catalog.Priv {
	if in, _ := c.snapshot().Privileges(role, c.snapshot().Object(c.db)); in&catalog.PrivTemp == 0 {
		return catalog.PrivUsage
	}
	return catalog.ACLSchema.All()
}

// stored reports whether a relation has system columns.
func stored(r catalog.Relation) bool {
	switch x := r.(type) {
	case *catalog.View:
		return x.Materialized != nil
	case *catalog.Virtual:
		return !x.View
	}
	return true
}

// columnArg resolves the column of has_column_privilege.
func (c *catalogCall) columnArg(r catalog.Relation, d types.Datum) (i int, known bool, err error) {
	cols := r.RelColumns()
	if !isName(d) {
		i = int(d.I) - 1
		return i, i >= 0 && i < len(cols) && !cols[i].Dropped || stored(r) && catalog.IsSystemColumnAt(i), nil
	}
	if name := string(d.B); stored(r) && catalog.IsSystemColumn(name) {
		return catalog.SystemColumn(name), true, nil
	}
	for i := range cols {
		if !cols[i].Dropped && cols[i].Name == string(d.B) {
			return i, true, nil
		}
		if cols[i].Dropped && catalog.DroppedColumnName(i+1) == string(d.B) {
			return i, false, nil
		}
	}
	return 0, false, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", d.B, catalog.CommonOf(r).Name)
}

// hasRole answers pg_has_role: MEMBER counts memberships however they inherit,
// USAGE those whose rights are there without SET ROLE.
func (c *catalogCall) hasRole(role string, of types.Datum, list string) (types.Datum, error) {
	snap := c.snapshot()
	name, err := c.roleArg(of)
	if err != nil {
		return types.Datum{}, err
	}
	for _, word := range strings.Split(list, ",") {
		w, admin := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(word)), " WITH GRANT OPTION")
		if !admin {
			w, admin = strings.CutSuffix(w, " WITH ADMIN OPTION")
		}
		switch {
		case w != "MEMBER" && w != "USAGE":
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", strings.TrimSpace(word))
		case admin:
			if snap.IsAdmin(c.db, role, name) {
				return types.Bool(true), nil
			}
		case w == "MEMBER" && (snap.IsSuper(role) || snap.IsMember(c.db, role, name)), w == "USAGE" && snap.HasRole(c.db, role, name):
			return types.Bool(true), nil
		}
	}
	return types.Bool(false), nil
}

// parameterPrivilege reports whether a role has one of the privileges of a list on a
// configuration parameter.
func (c *catalogCall) parameterPrivilege(role, name, list string) bool {
	held, options := c.snapshot().Privileges(role, c.snapshot().Parameter(name))
	for _, word := range strings.Split(strings.ToUpper(list), ",") {
		word, grant := strings.CutSuffix(strings.TrimSpace(word), " WITH GRANT OPTION")
		p := catalog.PrivByName(word)
		if grant && options&p != 0 || !grant && held&p != 0 {
			return true
		}
	}
	return false
}
