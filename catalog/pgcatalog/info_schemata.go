package pgcatalog

import "kvsqld/catalog"

func rowsSchemata(w *writer) {
	for _, n := range w.env.Snap.Schemas(w.env.DB) {
		if !w.env.sees(n, catalog.PrivCreate|catalog.PrivUsage) {
			continue
		}
		w.str(w.env.dbName()).str(n.Name).str(n.Owner).nulls(4).end()
	}
}

func rowsCatalogName(w *writer) { w.str(w.env.dbName()).end() }
