package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
)

func rowsPgCollation(w *writer) {
	for _, c := range catalog.Collations() {
		locale := ""
		if c.Provider == 'i' {
			locale = strings.TrimSuffix(c.Name, "-x-icu")
		}
		w.oid(c.OID).str(c.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).chr(c.Provider).bool(c.Deterministic).
			int(int64(c.Encoding)).opt(c.Collate).opt(c.Ctype).opt(locale).null().end()
	}
}
