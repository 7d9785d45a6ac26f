package pgcatalog

import (
	"kvsqld/catalog"
)

// The system views are listed without a definition: they are computed.
func rowsPgViews(w *writer) {
	for _, r := range All() {
		if r.View {
			w.str(r.Schema).str(r.Name).str("postgres").null().end()
		}
	}
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if v, ok := r.(*catalog.View); ok && v.Materialized == nil {
			w.str(v.Schema).str(v.Name).str(v.Owner).str(w.env.viewText(v, false, 0)).end()
		}
	}
}
