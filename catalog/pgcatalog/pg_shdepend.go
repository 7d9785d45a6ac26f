package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// firstUnpinned is the first OID of objects that can be dropped: what needs a role
// below it is not listed.
const firstUnpinned types.OID = 12000

// rowsPgShdepend lists what needs roles: the objects that they own and those with
// privileges for them.
func rowsPgShdepend(w *writer) {
	env := w.env
	needs := func(db types.OID, of object, owner string, acl catalog.ACL) {
		dep := func(role string, kind byte) {
			if o := env.Snap.RoleOID(role); o >= firstUnpinned {
				w.oid(db).oid(of.class).oid(of.oid).int(int64(of.sub)).oid(oidPgAuthid).oid(o).chr(kind).end()
			}
		}
		dep(owner, 'o')
		told := []string{owner, ""}
		for _, item := range acl {
			for _, role := range []string{item.Grantee, item.Grantor} {
				if !slices.Contains(told, role) {
					told = append(told, role)
					dep(role, 'a')
				}
			}
		}
	}
	for _, d := range env.Snap.Databases() {
		needs(0, object{class: oidPgDatabase, oid: d.OID}, d.Owner, d.ACL)
	}
	for _, n := range env.Snap.Schemas(env.DB) {
		needs(env.DB, object{class: oidPgNamespace, oid: n.OID}, n.Owner, n.ACL)
	}
	for _, r := range env.Snap.Relations(env.DB) {
		co := commonOf(r)
		needs(env.DB, relationObject(co.OID), co.Owner, co.ACL)
		column := func(i int, acl catalog.ACL) {
			needs(env.DB, columnObject(co.OID, i), "", slices.DeleteFunc(slices.Clone(acl), func(a catalog.ACLItem) bool { return a.Grantee == co.Owner }))
		}
		if t, ok := r.(*catalog.Table); ok {
			for _, g := range t.SystemGrants {
				column(catalog.SystemColumn(g.Column), g.ACL)
			}
		}
		cols := r.RelColumns()
		for i := range cols {
			if acl := cols[i].ACL; acl != nil && !cols[i].Dropped {
				column(i, acl)
			}
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		needs(env.DB, object{class: oidPgType, oid: u.OID}, u.Owner, u.ACL)
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		owner := f.Owner
		if f.RangeType != 0 {
			owner = "" // that of the type
		}
		needs(env.DB, object{class: oidPgProc, oid: f.OID}, owner, f.ACL)
	}
	for _, e := range env.Snap.Extensions(env.DB) {
		needs(env.DB, object{class: oidPgExtension, oid: e.OID}, e.Owner, nil)
	}
	for _, e := range env.Snap.AllExtStats(env.DB) {
		needs(env.DB, object{class: oidPgStatisticExt, oid: e.OID}, e.Owner, nil)
	}
	for _, p := range env.Snap.AllPolicies(env.DB) {
		for _, r := range p.Roles {
			if o := env.Snap.RoleOID(r); o >= firstUnpinned {
				w.oid(env.DB).oid(oidPgPolicy).oid(p.OID).int(0).oid(oidPgAuthid).oid(o).chr('r').end()
			}
		}
	}
	for _, n := range env.Snap.SystemNotes(env.DB) {
		needs(env.DB, object{class: n.Class, oid: n.OID, sub: n.Sub}, "", n.ACL)
	}
	w.largeObjects(0, func(o *catalog.LargeObject) {
		needs(env.DB, object{class: oidPgLargeobject, oid: o.OID}, o.Owner, o.ACL)
	})
	for i, p := range env.defaultPrivileges() {
		needs(env.DB, object{class: oidPgDefaultACL, oid: synthOID("defaultacl", env.DB, i)}, p.Role, p.ACL)
	}
}

// defaultPrivileges are those of the connected database.
func (env *Env) defaultPrivileges() []catalog.DefaultPrivileges {
	if d, ok := env.Snap.Object(env.DB).(*catalog.Database); ok {
		return d.Defaults
	}
	return nil
}
