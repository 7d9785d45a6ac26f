package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// The views of information_schema list what the current role owns or has a
// privilege on, pg_stats the columns that it may read. A view's definition names the
// privileges that count.

const (
	anyOfTable  = catalog.PrivSelect | changeTable
	anyOfColumn = catalog.PrivSelect | changeColumn

	changeTable  = catalog.PrivInsert | catalog.PrivUpdate | catalog.PrivDelete | catalog.PrivTruncate | catalog.PrivReferences | catalog.PrivTrigger
	changeColumn = catalog.PrivInsert | catalog.PrivUpdate | catalog.PrivReferences
)

// seesAll reports whether the role is a superuser, or the server asks for itself.
func (env *Env) seesAll() bool { return env.User == "" || env.Snap.IsSuper(env.User) }

// has reports whether the role has another, as the owner of an object: pg_has_role.
func (env *Env) has(role string) bool {
	return env.seesAll() || env.Snap.HasRole(env.DB, env.User, role)
}

// owned is has for an object's owner.
func (env *Env) owned(o catalog.Object) bool {
	_, co := env.Snap.KindOf(o)
	return co == nil || env.has(co.Owner)
}

// sees reports whether the role owns an object or has one of some privileges on it.
func (env *Env) sees(o catalog.Object, any catalog.Priv) bool {
	if env.owned(o) {
		return true
	}
	privs, _ := env.Snap.Privileges(env.User, o)
	return privs&any != 0
}

// seesRelation is sees with the privileges on any column.
func (env *Env) seesRelation(r catalog.Relation, table, column catalog.Priv) bool {
	if env.sees(r, table) {
		return true
	}
	for i := range r.RelColumns() {
		if privs, _ := env.Snap.ColumnPrivileges(env.User, r, i); privs&column != 0 {
			return true
		}
	}
	return false
}

// seesColumn reports whether the role owns a relation or has one of some privileges
// on a column of it.
func (env *Env) seesColumn(r catalog.Relation, col int, any catalog.Priv) bool {
	if env.sees(r, any) {
		return true
	}
	privs, _ := env.Snap.ColumnPrivileges(env.User, r, col)
	return privs&any != 0
}

// readsColumn reports whether the role may read a column of a table.
func (env *Env) readsColumn(t *catalog.Table, col int) bool {
	if env.seesAll() {
		return true
	}
	all, _ := env.Snap.Privileges(env.User, t)
	one, _ := env.Snap.ColumnPrivileges(env.User, t, col)
	return (all|one)&catalog.PrivSelect != 0
}

// mayExecute reports whether the role owns a routine or may execute it.
func (env *Env) mayExecute(oid types.OID) bool {
	if env.seesAll() {
		return true
	}
	if f, ok := env.Snap.Object(oid).(*catalog.Function); ok {
		return env.sees(f, catalog.PrivExecute)
	}
	p := catalog.ProcByOID(oid)
	if p == nil {
		return false
	}
	acl := env.procACL(p)
	if acl == nil {
		return true
	}
	for _, it := range acl {
		if (it.Grantee == "" || env.has(it.Grantee)) && it.Privs&catalog.PrivExecute != 0 {
			return true
		}
	}
	return false
}

// ownsRoutine reports whether the role has a routine's owner.
func (env *Env) ownsRoutine(oid types.OID) bool {
	if f, ok := env.Snap.Object(oid).(*catalog.Function); ok {
		return env.owned(f)
	}
	return env.seesAll()
}

// ownsType is ownsRoutine for a type.
func (env *Env) ownsType(oid types.OID) bool {
	if u := env.Snap.TypeByOID(oid); u != nil {
		return env.owned(u)
	}
	return env.seesAll()
}
