package pgcatalog

func rowsSchemata(w *writer) {
	for _, n := range w.env.Snap.Schemas(w.env.DB) {
		w.str(w.env.dbName()).str(n.Name).str(n.Owner).nulls(4).end()
	}
}

func rowsCatalogName(w *writer) { w.str(w.env.dbName()).end() }
