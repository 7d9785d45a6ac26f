package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
)

func rowsPgAuthMembers(w *writer) {
	for _, r := range w.env.Snap.Roles() {
		for _, of := range r.MemberOf {
			w.oid(w.env.role(of)).oid(r.OID).oid(catalog.OIDSuperuser).bool(slices.Contains(r.AdminOf, of)).end()
		}
	}
}
