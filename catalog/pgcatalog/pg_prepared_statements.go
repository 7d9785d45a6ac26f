package pgcatalog

func rowsPgPreparedStatements(w *writer) {
	if w.env.Prepared == nil {
		return
	}
	for _, p := range w.env.Prepared() {
		w.str(p.Name).str(p.Statement).int(p.PrepareTime)
		intArray(w, p.Params)
		w.bool(p.FromSQL).int(p.Generic).int(p.Custom).end()
	}
}
