package pgcatalog

import (
	"strconv"

	"kvsqld/catalog"
)

// Sequences of identity columns are not listed, as the standard has it.
func rowsSequences(w *writer) {
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		q, ok := r.(*catalog.Sequence)
		if !ok || q.Identity || !w.env.sees(q, catalog.PrivSelect|catalog.PrivUpdate|catalog.PrivUsage) {
			continue
		}
		f := w.env.facts(q.Type)
		text := func(v int64) string { return strconv.FormatInt(v, 10) }
		w.str(w.env.dbName()).str(q.Schema).str(q.Name).str(f.dataType).num(f.Precision).num(f.Radix).num(f.Scale).
			str(text(q.Start)).str(text(q.Min)).str(text(q.Max)).str(text(q.Inc)).yes(q.Cycle).end()
	}
}
