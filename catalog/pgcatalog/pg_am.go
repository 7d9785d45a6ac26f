package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgAm(w *writer) {
	for _, a := range catalog.Ams() {
		w.oid(a.OID).str(a.Name).oid(a.Handler).chr(a.Type).end()
	}
}
