package pgcatalog

import (
	"cmp"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// acl writes aclitem[], NULL for the default of the object's kind.
func (w *writer) acl(a catalog.ACL) *writer {
	if a == nil {
		return w.null()
	}
	return w.strArray(a.Strings())
}

// systemOwner is the role that owns what every database has.
func (env *Env) systemOwner() string {
	if r, ok := env.Snap.Object(catalog.OIDSuperuser).(*catalog.Role); ok {
		return r.Name
	}
	return "postgres"
}

// schemaACL is a schema's stored ACL; everybody may use the built-in ones.
func (env *Env) schemaACL(n *catalog.Schema) catalog.ACL {
	if n.ACL == nil && (n.Name == catalog.SchemaPgCatalog || n.Name == catalog.SchemaInformation) {
		return env.Snap.SchemaACL(n.Name)
	}
	return env.Snap.StoredACL(n)
}

// granted is a system relation with what GRANT has given on it in the database.
func (env *Env) granted(r *Relation) *catalog.Virtual {
	if v, ok := env.Snap.RelationByOID(env.DB, r.OID).(*catalog.Virtual); ok {
		return v
	}
	return r.Virtual
}

// systemACL is the stored ACL of a system relation.
func (env *Env) systemACL(r *Relation) catalog.ACL {
	if v := env.granted(r); v.ACL != nil {
		return v.ACL
	}
	return env.firstACL(r)
}

// firstACL is what a system relation begins with.
func (env *Env) firstACL(r *Relation) catalog.ACL {
	acl := env.Snap.SystemACL(r.Name)
	if len(acl) == 1 && r.Schema == catalog.SchemaInformation {
		return nil // the owner's alone: nothing was granted or revoked
	}
	return acl
}

// rowsPgInitPrivs lists the ACLs that the server's own objects began with, so
// that dumps leave them out.
func rowsPgInitPrivs(w *writer) {
	for _, n := range w.env.Snap.Schemas(w.env.DB) {
		switch n.Name {
		case catalog.SchemaPgCatalog:
			w.oid(n.OID).oid(oidPgNamespace).int(0).chr('i').acl(w.env.Snap.SchemaACL(n.Name)).end()
		case catalog.SchemaPublic:
			w.oid(n.OID).oid(oidPgNamespace).int(0).chr('i').acl(w.env.Snap.StoredACL(publicSchema)).end()
		}
	}
	for _, p := range catalog.Procs() {
		if acl := catalog.ProcACL(p.OID, w.env.systemOwner()); acl != nil {
			w.oid(p.OID).oid(oidPgProc).int(0).chr('i').acl(acl).end()
		}
	}
	for _, r := range All() {
		if r.Schema == catalog.SchemaInformation {
			continue // whose privileges come after those of a new database
		}
		w.oid(r.OID).oid(oidPgClass).int(0).chr('i').acl(w.env.firstACL(r)).end()
		for i, c := range r.Columns {
			if c.ACL != nil {
				w.oid(r.OID).oid(oidPgClass).int(int64(i + 1)).chr('i').acl(c.ACL).end()
			}
		}
	}
}

// publicSchema is the schema public as a new database has it.
var publicSchema = &catalog.Schema{Common: catalog.Common{Name: catalog.SchemaPublic, Owner: "pg_database_owner"}}

// procACL is the ACL of a built-in function.
func (env *Env) procACL(p *catalog.Proc) catalog.ACL {
	return env.Snap.FunctionACL(env.DB, p.OID)
}

func rowsPgDefaultACL(w *writer) {
	for i, p := range w.env.defaultPrivileges() {
		kind := byte(p.Kind)
		if p.Kind == catalog.ACLSequence {
			kind = 'S'
		}
		var schema types.OID
		if p.Schema != "" {
			schema = w.env.namespace(p.Schema)
		}
		w.oid(synthOID("defaultacl", w.env.DB, i)).oid(w.env.role(p.Role)).oid(schema).chr(kind).acl(w.env.sorted(p.ACL)).end()
	}
}

// sorted is an ACL in the order in which PostgreSQL keeps default privileges: by the
// OIDs of the roles.
func (env *Env) sorted(a catalog.ACL) catalog.ACL {
	oid := func(name string) types.OID {
		if name == "" {
			return 0
		}
		return env.role(name)
	}
	a = slices.Clone(a)
	slices.SortStableFunc(a, func(x, y catalog.ACLItem) int {
		return cmp.Or(cmp.Compare(oid(x.Grantee), oid(y.Grantee)), cmp.Compare(oid(x.Grantor), oid(y.Grantor)))
	})
	return a
}
