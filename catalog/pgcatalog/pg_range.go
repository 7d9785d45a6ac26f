package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgRange(w *writer) {
	for _, r := range catalog.RangeTypes() {
		w.oid(r.Type).oid(r.Subtype).oid(r.Multirange).oid(r.Collation).oid(r.Opclass).oid(r.Canonical).oid(r.SubDiff).end()
	}
}
