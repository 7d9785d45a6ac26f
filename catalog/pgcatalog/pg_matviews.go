package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgMatviews(w *writer) {
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if v, ok := r.(*catalog.View); ok && v.Materialized != nil {
			w.str(v.Schema).str(v.Name).str(v.Owner).null().bool(len(v.Materialized.Indexes) > 0).bool(v.Populated).str(w.env.viewText(v, false, 0)).end()
		}
	}
}
