package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgCast(w *writer) {
	for _, c := range catalog.Casts() {
		w.oid(c.OID).oid(c.Source).oid(c.Target).oid(c.Func).chr(c.Context).chr(c.Method).end()
	}
}
