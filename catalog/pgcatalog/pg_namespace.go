package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgNamespace(w *writer) {
	for _, n := range w.env.Snap.Schemas(w.env.DB) {
		w.oid(n.OID).str(n.Name).oid(w.env.role(n.Owner)).acl(w.env.schemaACL(n)).end()
	}
	for _, name := range w.env.SearchPath {
		if catalog.IsTempSchema(name) {
			w.oid(w.env.namespace(name)).str(name).oid(catalog.OIDSuperuser).null().end()
		}
	}
}
