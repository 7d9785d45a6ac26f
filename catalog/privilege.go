package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Roles whose members may do something to every object.
const (
	roleDatabaseOwner = "pg_database_owner"
	roleReadAllData   = "pg_read_all_data"
	roleWriteAllData  = "pg_write_all_data"

	RoleReadAllStats  = "pg_read_all_stats"
	RoleSignalBackend = "pg_signal_backend"
)

// IsSuper reports whether a role is a superuser.
func (s *Snapshot) IsSuper(role string) bool {
	r := s.Role(role)
	return r != nil && r.Super
}

// IsMember reports whether a role is another or a member of it, directly or
// through others; the owner of the database db is a member of pg_database_owner.
func (s *Snapshot) IsMember(db types.OID, role, of string) bool {
	return s.member(db, role, of, false, map[string]bool{})
}

// HasRole reports whether a role has another's privileges without SET ROLE:
// memberships count as far as the members inherit. A superuser has all.
func (s *Snapshot) HasRole(db types.OID, role, of string) bool {
	return role == of || s.IsSuper(role) || s.member(db, role, of, true, map[string]bool{})
}

func (s *Snapshot) member(db types.OID, role, of string, inherit bool, seen map[string]bool) bool {
	if role == of {
		return true
	}
	if seen[role] {
		return false
	}
	seen[role] = true
	r := s.Role(role)
	if r == nil || inherit && !r.Inherit {
		return false
	}
	if d, ok := s.objs.get(db).(*Database); ok && d.Owner == role && s.member(db, roleDatabaseOwner, of, inherit, seen) {
		return true
	}
	return slices.ContainsFunc(r.MemberOf, func(m string) bool { return s.member(db, m, of, inherit, seen) })
}

// IsAdmin reports whether a role may grant membership in another: a superuser,
// or a member WITH ADMIN OPTION.
func (s *Snapshot) IsAdmin(db types.OID, role, of string) bool {
	if s.IsSuper(role) {
		return true
	}
	for _, r := range s.Roles() {
		if slices.Contains(r.AdminOf, of) && s.IsMember(db, role, r.Name) {
			return true
		}
	}
	return false
}

// KindOf returns the kind of privileges that an object has, and the object that
// has them (for the table in a materialized view, the view).
func (s *Snapshot) KindOf(o Object) (ACLKind, *Common) {
	switch x := o.(type) {
	case *Table:
		if v, ok := s.objs.get(x.OID).(*View); ok {
			return ACLTable, &v.Common
		}
		return ACLTable, &x.Common
	case *View:
		return ACLTable, &x.Common
	case *Virtual:
		return ACLTable, &x.Common
	case *Sequence:
		return ACLSequence, &x.Common
	case *Database:
		return ACLDatabase, &x.Common
	case *Schema:
		return ACLSchema, &x.Common
	case *Function:
		return ACLFunction, &x.Common
	case *UserType:
		return ACLType, &x.Common
	case *LargeObject:
		return ACLLargeObject, &x.Common
	case *DatabaseLanguage:
		return ACLLanguage, &x.Common
	case *Tablespace:
		return ACLTablespace, &x.Common
	case *Parameter:
		return ACLParameter, &x.Common
	case *OwnOperator:
		return 0, &x.Common // which has no privileges
	case *ExtStats:
		return 0, &x.Common
	case *Extension:
		return 0, &x.Common
	}
	return 0, nil
}

// EffectiveACL is an object's ACL with defaults filled in.
func (s *Snapshot) EffectiveACL(o Object) ACL {
	kind, co := s.KindOf(o)
	if co == nil {
		return nil
	}
	if acl := storedACL(o, co); acl != nil {
		return acl
	}
	if v, ok := o.(*Virtual); ok {
		return s.SystemACL(v.Name)
	}
	return DefaultACL(kind, co.Owner)
}

// storedACL is the ACL that differs from the default, nil for the default. The
// schema public that comes with a database lets everybody use it, as the built-in
// ones do but for pg_toast.
func storedACL(o Object, co *Common) ACL {
	if n, ok := o.(*Schema); ok && co.ACL == nil &&
		(n.Name == SchemaPublic && n.Owner == roleDatabaseOwner || builtinSchemas[n.Name] == n && n.Name != SchemaToast) {
		return ACL{{Grantee: n.Owner, Grantor: n.Owner, Privs: ACLSchema.All()}, {Grantor: n.Owner, Privs: PrivUsage}}
	}
	return co.ACL
}

// StoredACL is what the catalog relations show: nil when it is the default.
func (s *Snapshot) StoredACL(o Object) ACL {
	if _, co := s.KindOf(o); co != nil {
		return storedACL(o, co)
	}
	return nil
}

// holds returns what an ACL gives a role, with what may be granted on.
func (s *Snapshot) holds(db types.OID, role string, acl ACL) (privs, grant Priv) {
	for _, it := range acl {
		if it.Grantee == "" || s.HasRole(db, role, it.Grantee) {
			privs |= it.Privs
			grant |= it.Grant
		}
	}
	return privs, grant
}

// Privileges returns what a role may do with an object, and what of it it may
// grant to others. Superusers may do everything; an owner may grant everything.
func (s *Snapshot) Privileges(role string, o Object) (privs, grant Priv) {
	kind, co := s.KindOf(o)
	if co == nil {
		return 0, 0
	}
	db := co.DB
	if kind == ACLDatabase {
		db = co.OID
	}
	if s.IsSuper(role) {
		return kind.All(), kind.All()
	}
	if _, ok := o.(*Virtual); ok {
		return s.holds(db, role, s.EffectiveACL(o))
	}
	privs, grant = s.holds(db, role, s.EffectiveACL(o))
	if s.HasRole(db, role, co.Owner) {
		grant = kind.All()
	}
	switch kind {
	case ACLTable, ACLSequence, ACLSchema:
		read, write := s.HasRole(db, role, roleReadAllData), s.HasRole(db, role, roleWriteAllData)
		switch {
		case kind == ACLSchema && (read || write):
			privs |= PrivUsage
		case kind != ACLSchema && read:
			privs |= PrivSelect
		}
		if kind == ACLTable && write {
			privs |= PrivInsert | PrivUpdate | PrivDelete
		}
		if kind == ACLSequence && write {
			privs |= PrivUpdate
		}
	}
	return privs, grant
}

// secretRelations of pg_catalog and information_schema are read by superusers only.
var secretRelations = map[string]bool{
	"pg_authid": true, "pg_shadow": true, "pg_statistic": true, "pg_statistic_ext_data": true, "pg_user_mapping": true,
	"pg_hba_file_rules": true, "pg_file_settings": true, "pg_config": true, "pg_largeobject": true, "pg_ident_file_mappings": true,
	"pg_shmem_allocations": true, "pg_backend_memory_contexts": true, "pg_replication_origin_status": true, "pg_subscription": true,
	"_pg_foreign_data_wrappers": true, "_pg_foreign_servers": true, "_pg_foreign_table_columns": true, "_pg_foreign_tables": true,
	"_pg_user_mappings": true, "sql_parts": true, "transforms": true,
}

// statsRelations are those of them that members of pg_read_all_stats read, too.
var statsRelations = map[string]bool{"pg_shmem_allocations": true, "pg_backend_memory_contexts": true}

// secretColumns are the columns that make a relation secret; the others of it are
// read by everybody.
var secretColumns = map[string]string{"pg_subscription": "subconninfo"}

// ColumnPrivileges returns what the ACL of a relation's column gives a role.
func (s *Snapshot) ColumnPrivileges(role string, r Relation, col int) (privs, grant Priv) {
	if t, ok := r.(*Table); ok && col < -1 && len(t.SystemGrants) > 0 {
		return s.holds(t.DB, role, t.systemACL(col))
	}
	cols := s.aclColumns(r)
	if col < 0 || col >= len(cols) || cols[col].ACL == nil {
		return 0, 0
	}
	_, co := s.KindOf(r)
	return s.holds(co.DB, role, cols[col].ACL)
}

// aclColumns are the columns whose ACLs count.
func (s *Snapshot) aclColumns(r Relation) []Column {
	if t, ok := r.(*Table); ok {
		if v, ok := s.objs.get(t.OID).(*View); ok {
			return v.Columns
		}
	}
	return r.RelColumns()
}

// Owns reports whether a role may alter and drop an object: its owner, a member
// of the owner, or a superuser.
func (s *Snapshot) Owns(role string, o Object) bool {
	_, co := s.KindOf(o)
	if co == nil {
		return s.IsSuper(role)
	}
	db := co.DB
	if _, ok := o.(*Database); ok {
		db = co.OID
	}
	return co.Owner != "" && s.HasRole(db, role, co.Owner) || s.IsSuper(role)
}

// Right is what a statement needs of one relation.
type Right struct {
	Rel  Relation
	As   string // the role that needs it; "" for the current one
	Need Priv
	// Select, Insert and Update are the columns concerned. Without columns, a
	// right on any column serves SELECT and INSERT.
	Select, Insert, Update []int
}

// Read adds a column that is read.
func (r *Right) Read(col int) {
	r.Need |= PrivSelect
	if !slices.Contains(r.Select, col) {
		r.Select = append(r.Select, col)
	}
}

// CheckRight reports 42501 when a role lacks what a statement needs.
func (s *Snapshot) CheckRight(user string, r *Right) error {
	if r.As != "" {
		user = r.As
	}
	has, _ := s.Privileges(user, r.Rel)
	missing := r.Need &^ has
	if missing == 0 {
		return nil
	}
	for _, c := range []struct {
		p    Priv
		cols []int
	}{{PrivSelect, r.Select}, {PrivInsert, r.Insert}, {PrivUpdate, r.Update}} {
		if missing&c.p != 0 && s.columnsAllow(user, r.Rel, c.p, c.cols) {
			missing &^= c.p
		}
	}
	if missing == 0 {
		return nil
	}
	return s.Denied(r.Rel)
}

// columnsAllow reports whether the columns' own ACLs give a privilege for all of
// them, or without columns for any.
func (s *Snapshot) columnsAllow(user string, r Relation, p Priv, cols []int) bool {
	if len(cols) == 0 {
		for i := range s.aclColumns(r) {
			if got, _ := s.ColumnPrivileges(user, r, i); got&p != 0 {
				return true
			}
		}
		return false
	}
	for _, c := range cols {
		if got, _ := s.ColumnPrivileges(user, r, c); got&p == 0 {
			return false
		}
	}
	return true
}

// ObjectKind is what messages call an object.
func ObjectKind(o Object) string {
	switch x := o.(type) {
	case *Table:
		return "table"
	case Relation:
		return RelationKind(x)
	case *Database:
		return "database"
	case *Schema:
		return "schema"
	case *Function:
		return routineKind(x)
	case *LargeObject:
		return "large object"
	case *DatabaseLanguage:
		return "language"
	case *Tablespace:
		return "tablespace"
	case *Parameter:
		return "parameter"
	case *OwnOperator:
		return "operator"
	case *ExtStats:
		return "statistics object"
	case *Extension:
		return "extension"
	case *UserType:
		if x.Kind == 'd' {
			return "domain"
		}
		return "type"
	}
	return "object"
}

// Denied is the error of a missing privilege.
func (s *Snapshot) Denied(o Object) error {
	kind := ObjectKind(o)
	if t, ok := o.(*Table); ok {
		if _, mat := s.objs.get(t.OID).(*View); mat {
			kind = "materialized view"
		}
	}
	if kind == "domain" {
		kind = "type"
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s %s", kind, CommonOf(o).Name)
}

// NotOwner is the error of a statement that only an owner may run.
func (s *Snapshot) NotOwner(o Object) error {
	kind := ObjectKind(o)
	name := CommonOf(o).Name
	switch o.(type) {
	case *Table, *View:
		if t, ok := o.(*Table); ok {
			if _, mat := s.objs.get(t.OID).(*View); mat {
				kind = "materialized view"
			}
		}
	case *Virtual:
		kind = "table"
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of %s %s", kind, name)
}

// CheckPriv reports 42501 when a role lacks privileges on an object.
func (s *Snapshot) CheckPriv(role string, o Object, need Priv) error {
	if has, _ := s.Privileges(role, o); has&need != need {
		return s.Denied(o)
	}
	return nil
}

// MayUseSchema reports 42501 if a role may not use a schema, and nothing of one that is
// not there.
func (s *Snapshot) MayUseSchema(db types.OID, role, schema string) error {
	n := s.Schema(db, schema)
	if n == nil {
		return nil
	}
	return s.CheckPriv(role, n, PrivUsage)
}
