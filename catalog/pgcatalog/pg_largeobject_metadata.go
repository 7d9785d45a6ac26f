package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgLargeobjectMetadata(w *writer) {
	one, _ := w.wantOID("oid")
	w.largeObjects(one, func(o *catalog.LargeObject) {
		w.oid(o.OID).oid(w.env.Snap.RoleOID(o.Owner)).acl(o.ACL).end()
	})
}

// largeObjects passes the large objects, or the one of an OID.
func (w *writer) largeObjects(one types.OID, f func(*catalog.LargeObject)) {
	if w.env.LargeObjects == nil {
		return
	}
	if err := w.env.LargeObjects(one, f); err != nil {
		w.err = err
	}
}
