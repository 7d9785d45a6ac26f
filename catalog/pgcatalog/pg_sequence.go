package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgSequence(w *writer) {
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if q, ok := r.(*catalog.Sequence); ok {
			w.oid(q.OID).oid(q.Type.OID).int(q.Start).int(q.Inc).int(q.Max).int(q.Min).int(q.Cache).bool(q.Cycle).end()
		}
	}
}
