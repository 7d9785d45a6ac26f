package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgOpfamily(w *writer) {
	for _, f := range catalog.Opfamilies() {
		w.oid(f.OID).oid(f.Method).str(f.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).end()
	}
	for _, c := range w.env.Snap.ExtensionOpclasses(w.env.DB) {
		w.oid(c.Family).oid(c.Method).str(c.Name).oid(w.env.opclassNamespace(&c)).oid(catalog.OIDSuperuser).end()
	}
}
