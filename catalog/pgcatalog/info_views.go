package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
)

func rowsViews(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		if !isView(r) {
			return
		}
		check := "NONE"
		w.str(db).str(schema).str(name)
		if v, ok := r.(*catalog.View); ok {
			w.str(w.env.viewText(v, false, 0))
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

// eachView calls f for each view and relation that it reads.
func (w *writer) eachViewDep(f func(v *catalog.View, r catalog.Relation)) {
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		v, ok := r.(*catalog.View)
		if !ok || v.Materialized != nil {
			continue
		}
		for _, d := range v.Deps {
			if dep := w.env.Snap.RelationByOID(w.env.DB, d); dep != nil {
				f(v, dep)
			}
		}
	}
}

func rowsViewTableUsage(w *writer) {
	db := w.env.dbName()
	w.eachViewDep(func(v *catalog.View, r catalog.Relation) {
		schema, name := r.RelName()
		w.str(db).str(v.Schema).str(v.Name).str(db).str(schema).str(name).end()
	})
}

func rowsViewColumnUsage(w *writer) {
	db := w.env.dbName()
	w.eachViewDep(func(v *catalog.View, r catalog.Relation) {
		schema, name := r.RelName()
		for _, c := range v.ColDeps {
			if c.Rel == r.ObjectOID() && c.Col >= 0 && c.Col < len(r.RelColumns()) {
				w.str(db).str(v.Schema).str(v.Name).str(db).str(schema).str(name).str(r.RelColumns()[c.Col].Name).end()
			}
		}
	})
}
