package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
)

func rowsViews(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		if !isView(r) || !w.env.seesRelation(r, anyOfTable, anyOfColumn) {
			return
		}
		check := "NONE"
		w.str(db).str(schema).str(name)
		if v, ok := r.(*catalog.View); ok {
			if w.env.owned(v) {
				w.str(w.env.viewText(v, false, 0))
			} else {
				w.null()
			}
			if v.CheckOption != "" {
				check = strings.ToUpper(v.CheckOption)
			}
		} else {
			w.null()
		}
		events, _ := w.env.updatable(r)
		const both = eventUpdate | eventDelete
		w.str(check).yes(events&both == both).yes(events&eventInsert != 0).yes(false).yes(false).yes(false).end()
	})
}
