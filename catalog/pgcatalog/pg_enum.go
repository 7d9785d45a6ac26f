package pgcatalog

func rowsPgEnum(w *writer) {
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		for _, l := range u.Labels {
			w.oid(l.OID).oid(u.OID).float(l.Order).str(l.Label).end()
		}
	}
}
