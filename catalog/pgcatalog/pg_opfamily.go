package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgOpfamily(w *writer) {
	for _, f := range catalog.Opfamilies() {
		w.oid(f.OID).oid(f.Method).str(f.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).end()
	}
}
