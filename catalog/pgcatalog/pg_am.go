package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// The method inverted, which PostgreSQL does not have, is listed in databases that have an
// index of it.
func rowsPgAm(w *writer) {
	for _, a := range catalog.Ams() {
		if a.OID != catalog.OIDInvertedAm || w.env.hasInverted() {
			w.oid(a.OID).str(a.Name).oid(a.Handler).chr(a.Type).end()
		}
	}
}

// hasInverted reports whether the database has an inverted index.
func (env *Env) hasInverted() (found bool) {
	env.tables(func(_ types.OID, t *catalog.Table) {
		found = found || slices.ContainsFunc(t.Indexes, func(ix *catalog.Index) bool { return ix.Kind == catalog.KindInverted })
	})
	return found
}
