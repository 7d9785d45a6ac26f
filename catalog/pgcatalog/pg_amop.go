package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgAmop(w *writer) {
	for _, a := range catalog.Amops() {
		w.oid(a.OID).oid(a.Family).oid(a.Left).oid(a.Right).int(int64(a.Strategy)).chr(a.Purpose).oid(a.Operator).oid(a.Method).
			oid(a.SortFamily).end()
	}
}
