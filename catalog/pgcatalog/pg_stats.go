package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgStats(w *writer) {
	env := w.env
	env.tables(func(oid types.OID, t *catalog.Table) {
		st := env.Snap.Stats(oid)
		if st == nil {
			return
		}
		for i := range st.Cols {
			if i >= len(t.Columns) || t.Columns[i].Dropped || st.Cols[i].NDistinct == 0 && st.Cols[i].NullFrac == 0 {
				continue
			}
			if !env.readsColumn(t, i) || env.Snap.SubjectTo(t, env.User) {
				continue
			}
			c := &st.Cols[i]
			w.str(t.Schema).str(t.Name).str(t.Columns[i].Name).bool(false).float(c.NullFrac).int(int64(c.AvgWidth)).float(c.NDistinct)
			w.values(c.MCV)
			w.floats(c.MCF)
			w.values(c.Histogram)
			w.float(c.Correlation)
			if len(c.Elems) > 0 && t.Columns[i].Type.Kind() == types.KArray {
				w.values(c.Elems)
				// PostgreSQL has the least, the greatest and NULL's behind them
				w.floats(append(slices.Clone(c.ElemFreq), slices.Min(c.ElemFreq), slices.Max(c.ElemFreq), c.ElemNull))
				w.nulls(1).end()
			} else {
				w.nulls(3).end()
			}
		}
	})
}

// values writes an anyarray of a column's values, NULL when there are none.
func (w *writer) values(list []types.Datum) {
	if len(list) == 0 {
		w.null()
		return
	}
	d := w.next()
	d.B = types.NewVector(list[0].T, list).B
}

func (w *writer) floats(list []float64) {
	if len(list) == 0 {
		w.null()
		return
	}
	out := make([]types.Datum, len(list))
	for i, f := range list {
		out[i] = types.Float(types.TFloat4, float64(float32(f)))
	}
	w.array(out)
}
