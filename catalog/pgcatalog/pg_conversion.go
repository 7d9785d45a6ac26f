package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgConversion(w *writer) {
	for _, c := range catalog.Conversions() {
		w.oid(c.OID).str(c.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).int(int64(c.From)).int(int64(c.To)).oid(c.Proc).bool(c.Default).end()
	}
}
