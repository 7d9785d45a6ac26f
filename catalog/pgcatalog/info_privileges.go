package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// enabledNames are the roles whose grants the user sees.
func (env *Env) enabledNames() map[string]bool {
	out := map[string]bool{}
	for _, r := range env.enabled() {
		out[r.Name] = true
	}
	return out
}

// grantRow is one privilege that one role has from another.
type grantRow struct {
	grantor, grantee, privilege string
	grantable                   bool
}

// grants lists what an ACL gives to or by roles that the user has; public tells
// whether grants to everybody count whoever made them. What an owner has may be
// granted on.
func (env *Env) grants(acl catalog.ACL, owner string, seen map[string]bool, public bool) []grantRow {
	var out []grantRow
	for _, it := range acl {
		if !seen[it.Grantor] && !seen[it.Grantee] && (it.Grantee != "" || !public) {
			continue
		}
		grantee := it.Grantee
		if grantee == "" {
			grantee = "PUBLIC"
		}
		for _, name := range it.Privs.Names() {
			p := catalog.PrivByName(name)
			holds := it.Grantee != "" && env.Snap.HasRole(env.DB, it.Grantee, owner)
			out = append(out, grantRow{it.Grantor, grantee, name, it.Grant&p != 0 || holds})
		}
	}
	return out
}

// relationGrants calls f for each privilege on each relation; sequences have none
// here.
func (w *writer) relationGrants(public bool, f func(schema, name string, r catalog.Relation, g grantRow)) {
	seen := w.env.enabledNames()
	w.eachRelation(func(schema, name, owner string, r catalog.Relation) {
		for _, g := range w.env.grants(w.env.Snap.EffectiveACL(r), owner, seen, public) {
			f(schema, name, r, g)
		}
	})
}

func rowsTablePrivileges(w *writer)  { w.tablePrivileges(true) }
func rowsRoleTableGrants(w *writer)  { w.tablePrivileges(false) }
func rowsColumnPrivileges(w *writer) { w.columnPrivileges(true) }
func rowsRoleColumnGrants(w *writer) { w.columnPrivileges(false) }

func (w *writer) tablePrivileges(public bool) {
	db := w.env.dbName()
	w.relationGrants(public, func(schema, name string, _ catalog.Relation, g grantRow) {
		w.str(g.grantor).str(g.grantee).str(db).str(schema).str(name).str(g.privilege).yes(g.grantable).yes(g.privilege == "SELECT").end()
	})
}

// columnPrivileges lists the privileges that columns have, from their relation or
// of their own.
func (w *writer) columnPrivileges(public bool) {
	db := w.env.dbName()
	row := func(schema, name, col string, g grantRow) {
		w.str(g.grantor).str(g.grantee).str(db).str(schema).str(name).str(col).str(g.privilege).yes(g.grantable).end()
	}
	w.relationGrants(public, func(schema, name string, r catalog.Relation, g grantRow) {
		if catalog.PrivByName(g.privilege)&catalog.ACLColumn.All() == 0 {
			return
		}
		for _, c := range r.RelColumns() {
			if !c.Dropped {
				row(schema, name, c.Name, g)
			}
		}
	})
	seen := w.env.enabledNames()
	w.eachRelation(func(schema, name, owner string, r catalog.Relation) {
		whole := w.env.grants(w.env.Snap.EffectiveACL(r), owner, seen, public)
		for _, c := range r.RelColumns() {
			for _, g := range w.env.grants(c.ACL, owner, seen, public) {
				if !c.Dropped && !slices.Contains(whole, g) {
					row(schema, name, c.Name, g)
				}
			}
		}
	})
}

func rowsRoutinePrivileges(w *writer) { w.routinePrivileges(true) }
func rowsRoleRoutineGrants(w *writer) { w.routinePrivileges(false) }

func (w *writer) routinePrivileges(public bool) {
	env := w.env
	db, seen := env.dbName(), env.enabledNames()
	row := func(schema, name string, oid types.OID, acl catalog.ACL, owner string) {
		for _, g := range env.grants(acl, owner, seen, public) {
			w.str(g.grantor).str(g.grantee).str(db).str(schema).str(specificName(name, oid)).str(db).str(schema).str(name).
				str(g.privilege).yes(g.grantable).end()
		}
	}
	for _, p := range catalog.Procs() {
		row(p.In(), p.Name, p.OID, env.Snap.EffectiveACL(env.Snap.BuiltinFunction(env.DB, p)), env.systemOwner())
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		row(f.Schema, f.Name, f.OID, env.Snap.EffectiveACL(f), f.Owner)
	}
}

func rowsUdtPrivileges(w *writer)   { w.udtPrivileges(true) }
func rowsRoleUdtGrants(w *writer)   { w.udtPrivileges(false) }
func rowsUsagePrivileges(w *writer) { w.usagePrivileges(true) }
func rowsRoleUsageGrants(w *writer) { w.usagePrivileges(false) }

// udtPrivileges lists the composite types, those of relations' rows included.
func (w *writer) udtPrivileges(public bool) {
	env := w.env
	db, seen := env.dbName(), env.enabledNames()
	row := func(schema, name, owner string, acl catalog.ACL) {
		for _, g := range env.grants(acl, owner, seen, public) {
			w.str(g.grantor).str(g.grantee).str(db).str(schema).str(name).str("TYPE USAGE").yes(g.grantable).end()
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		if u.Kind == 'c' {
			row(u.Schema, u.Name, u.Owner, env.Snap.EffectiveACL(u))
		}
	}
	w.eachRelation(func(schema, name, owner string, r catalog.Relation) {
		row(schema, name, owner, catalog.DefaultACL(catalog.ACLType, owner))
	})
	for _, r := range env.Snap.Relations(env.DB) {
		if v, ok := r.(*catalog.View); ok && v.Materialized != nil {
			row(v.Schema, v.Name, v.Owner, catalog.DefaultACL(catalog.ACLType, v.Owner))
		}
	}
}

// usagePrivileges lists collations, domains and sequences.
func (w *writer) usagePrivileges(public bool) {
	db, seen := w.env.dbName(), w.env.enabledNames()
	rows := func(schema, name, owner, kind string, acl catalog.ACL) {
		for _, g := range w.env.grants(acl, owner, seen, public) {
			if g.privilege == "USAGE" {
				w.str(g.grantor).str(g.grantee).str(db).str(schema).str(name).str(kind).str("USAGE").yes(g.grantable).end()
			}
		}
	}
	row := func(o catalog.Object, kind string) {
		co := catalog.CommonOf(o)
		rows(co.Schema, co.Name, co.Owner, kind, w.env.Snap.EffectiveACL(o))
	}
	system := w.env.systemOwner()
	utf8Collations(func(c *catalog.Collation) {
		// Everybody may use a collation, and nobody may grant it.
		rows(catalog.SchemaPgCatalog, c.Name, system, "COLLATION", catalog.ACL{{Grantor: system, Privs: catalog.PrivUsage}})
	})
	for _, d := range catalog.InformationDomains() {
		rows(catalog.SchemaInformation, d.Name, system, "DOMAIN", catalog.DefaultACL(catalog.ACLType, system))
	}
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		if u.Kind == 'd' {
			row(u, "DOMAIN")
		}
	}
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if q, ok := r.(*catalog.Sequence); ok && q.ACL != nil {
			row(q, "SEQUENCE")
		}
	}
}
