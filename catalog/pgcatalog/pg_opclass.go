package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgOpclass(w *writer) {
	for _, c := range catalog.Opclasses() {
		w.oid(c.OID).oid(c.Method).str(c.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).oid(c.Family).oid(c.InType).
			bool(c.Default).oid(c.KeyType).end()
	}
	e := w.env.Snap.Extension(w.env.DB, "btree_gist")
	for _, c := range w.env.Snap.ExtensionOpclasses(w.env.DB) {
		w.oid(c.OID).oid(c.Method).str(c.Name).oid(w.env.namespace(e.Schema)).oid(catalog.OIDSuperuser).oid(c.Family).oid(c.InType).
			bool(c.Default).oid(c.KeyType).end()
	}
}
