package pgcatalog

func rowsPgDbRoleSetting(w *writer) {
	for _, d := range w.env.Snap.Databases() {
		if len(d.Settings) > 0 {
			w.oid(d.OID).oid(0).strArray(options(d.Settings)).end()
		}
	}
	for _, r := range w.env.Snap.Roles() {
		if len(r.Settings) > 0 {
			w.oid(0).oid(r.OID).strArray(options(r.Settings)).end()
		}
	}
}
