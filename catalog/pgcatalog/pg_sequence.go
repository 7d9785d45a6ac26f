package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgSequence(w *writer) {
	row := func(r catalog.Relation) {
		if q, ok := r.(*catalog.Sequence); ok {
			w.oid(q.OID).oid(q.Type.OID).int(q.Start).int(q.Inc).int(q.Max).int(q.Min).int(q.Cache).bool(q.Cycle).end()
		}
	}
	if rel, one := w.wantOID("seqrelid"); one {
		row(w.env.Snap.RelationByOID(w.env.DB, rel))
		return
	}
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		row(r)
	}
}
