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
		var of *catalog.UserType
		if t, ok := r.(*catalog.Table); ok {
			if of = w.env.Snap.TypeByOID(t.OfType); t.Temp {
				kind = "LOCAL TEMPORARY"
			}
		}
		if isView(r) {
			events, _ := w.env.updatable(r)
			kind, insertable = "VIEW", events&eventInsert != 0
		}
		w.str(db).str(schema).str(name).str(kind).nulls(2)
		if of != nil {
			w.str(db).str(of.Schema).str(of.Name)
		} else {
			w.nulls(3)
		}
		w.yes(insertable).yes(of != nil).null().end()
	})
}
