package pgcatalog

import (
	"slices"

	"kvsqld/catalog/types"
)

func rowsPgGroup(w *writer) {
	for _, r := range w.env.Snap.Roles() {
		if r.Login {
			continue
		}
		var members []types.OID
		for _, m := range w.env.Snap.Roles() {
			if slices.Contains(m.MemberOf, r.Name) {
				members = append(members, m.OID)
			}
		}
		w.str(r.Name).oid(r.OID)
		intArray(w, members)
		w.end()
	}
}
