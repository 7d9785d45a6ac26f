package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Tablespaces cannot be made; the two of a new PostgreSQL server are shown.
func rowsPgTablespace(w *writer) {
	for _, t := range w.env.Snap.Tablespaces() {
		w.oid(t.OID).str(t.Name).oid(w.env.role(t.Owner))
		w.acl(t.ACL)
		w.null().end()
	}
}

// parameterOID is the OID of a parameter's privileges.
func parameterOID(p *catalog.Parameter) types.OID { return synthOID("parameter "+p.Name, 0, 0) }

// rowsPgParameterACL lists the parameters that privileges were granted on.
func rowsPgParameterACL(w *writer) {
	for _, p := range w.env.Snap.Parameters() {
		w.oid(parameterOID(p)).str(p.Name)
		w.acl(p.ACL)
		w.end()
	}
}
