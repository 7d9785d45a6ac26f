package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgOperator(w *writer) {
	for _, o := range catalog.Operators() {
		w.oid(o.OID).str(o.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).chr(o.Kind).bool(o.CanMerge).bool(o.CanHash).
			oid(o.Left).oid(o.Right).oid(o.Result).oid(o.Com).oid(o.Negate).oid(o.Proc).oid(o.Rest).oid(o.Join).end()
	}
}
