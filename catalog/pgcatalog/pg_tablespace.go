package pgcatalog

import (
	"kvsqld/catalog"
)

// Tablespaces cannot be made; the two of a new PostgreSQL server are shown.
func rowsPgTablespace(w *writer) {
	w.oid(oidDefaultTablespace).str("pg_default").oid(catalog.OIDSuperuser).null().null().end()
	w.oid(oidGlobalTablespace).str("pg_global").oid(catalog.OIDSuperuser).null().null().end()
}
