package pgcatalog

func rowsPgShdescription(w *writer) {
	for _, d := range w.env.Snap.Databases() {
		if d.Comment != "" {
			w.oid(d.OID).oid(oidPgDatabase).str(d.Comment).end()
		}
	}
	for _, r := range w.env.Snap.Roles() {
		if r.Comment != "" {
			w.oid(r.OID).oid(oidPgAuthid).str(r.Comment).end()
		}
	}
}
