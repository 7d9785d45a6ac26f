package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
)

func rowsPgNamespace(w *writer) {
	for _, n := range w.env.Snap.Schemas(w.env.DB) {
		w.oid(n.OID).str(n.Name).oid(w.env.role(n.Owner)).acl(w.env.schemaACL(n)).end()
	}
	// What other sessions have there is listed, too, and needs its schema.
	temp := w.env.Snap.TempSchemas(w.env.DB)
	for _, name := range w.env.SearchPath {
		if catalog.IsTempSchema(name) && !slices.Contains(temp, name) {
			temp = append(slices.Clone(temp), name)
		}
	}
	for _, name := range temp {
		w.oid(w.env.namespace(name)).str(name).oid(catalog.OIDSuperuser).null().end()
	}
}
