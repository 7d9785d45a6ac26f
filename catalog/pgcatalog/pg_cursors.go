package pgcatalog

func rowsPgCursors(w *writer) {
	if w.env.Cursors == nil {
		return
	}
	for _, c := range w.env.Cursors() {
		w.str(c.Name).str(c.Statement).bool(c.Hold).bool(c.Binary).bool(c.Scrollable).int(c.CreationTime).end()
	}
}
