package pgcatalog

// rowsRefused lists the features that statements asked for and were refused, so
// that a user sees what an application needs.
func rowsRefused(w *writer) {
	if w.env.Refused == nil {
		return
	}
	for _, r := range w.env.Refused() {
		w.str(r.Feature).str(r.SQLState).str(r.Application).int(r.Count).end()
	}
}
