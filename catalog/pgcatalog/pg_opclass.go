package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgOpclass(w *writer) {
	for _, c := range catalog.Opclasses() {
		w.oid(c.OID).oid(c.Method).str(c.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).oid(c.Family).oid(c.InType).
			bool(c.Default).oid(c.KeyType).end()
	}
	for _, c := range w.env.Snap.ExtensionOpclasses(w.env.DB) {
		w.oid(c.OID).oid(c.Method).str(c.Name).oid(w.env.opclassNamespace(&c)).oid(catalog.OIDSuperuser).oid(c.Family).oid(c.InType).
			bool(c.Default).oid(c.KeyType).end()
	}
}

// opclassNamespace is the schema of the extension that an operator class comes with.
func (env *Env) opclassNamespace(c *catalog.Opclass) types.OID {
	return env.namespace(env.Snap.ExtensionSchema(env.DB, catalog.OpclassExtension(c)))
}
