package pgcatalog

func rowsPgTables(w *writer) {
	env := w.env
	for _, r := range All() {
		if r.View {
			continue
		}
		c := env.systemClass(r)
		w.str(r.Schema).str(r.Name).str("postgres")
		if c.shared {
			w.str("pg_global")
		} else {
			w.null()
		}
		w.bool(c.hasIndex).bool(false).bool(false).bool(false).end()
	}
	for _, t := range env.Snap.Tables(env.DB) {
		w.str(t.Schema).str(t.Name).str(t.Owner).null().bool(len(t.Indexes) > 0).bool(false).bool(env.hasTriggers(t)).bool(t.RowSecurity).end()
	}
}
