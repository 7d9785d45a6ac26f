package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgSequences(w *writer) {
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		q, ok := r.(*catalog.Sequence)
		if !ok {
			continue
		}
		w.str(q.Schema).str(q.Name).str(q.Owner).oid(q.Type.OID).int(q.Start).int(q.Min).int(q.Max).int(q.Inc).bool(q.Cycle).int(q.Cache)
		last, called := int64(0), false
		if w.env.Sequence != nil {
			var err error
			if last, called, err = w.env.Sequence(q.OID); err != nil {
				w.err, w.done = err, true
			}
		}
		if called && w.env.sees(q, catalog.PrivSelect|catalog.PrivUsage) {
			w.int(last)
		} else {
			w.null()
		}
		w.end()
	}
}
