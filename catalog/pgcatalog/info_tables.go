package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsTables(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		if !w.env.seesRelation(r, anyOfTable, anyOfColumn) {
			return
		}
		kind, insertable := "BASE TABLE", true
		if t, ok := r.(*catalog.Table); ok && t.Temp {
			kind = "LOCAL TEMPORARY"
		}
		if isView(r) {
			events, _ := w.env.updatable(r)
			kind, insertable = "VIEW", events&eventInsert != 0
		}
		w.str(db).str(schema).str(name).str(kind).nulls(5).yes(insertable).yes(false).null().end()
	})
}
