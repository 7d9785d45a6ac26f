package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgRange(w *writer) {
	for _, r := range catalog.RangeTypes() {
		w.oid(r.Type).oid(r.Subtype).oid(r.Multirange).oid(r.Collation).oid(r.Opclass).oid(r.Canonical).oid(r.SubDiff).end()
	}
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		if u.Kind != 'r' {
			continue
		}
		collation := w.env.collationOf(u.Range.Subtype)
		if c := catalog.CollationByName(u.Range.Collation); c != nil {
			collation = c.OID
		}
		w.oid(u.OID).oid(u.Range.Subtype.OID).oid(u.Range.Pair).oid(collation).oid(u.Range.Opclass).oid(0).oid(u.Range.Diff).end()
	}
}
