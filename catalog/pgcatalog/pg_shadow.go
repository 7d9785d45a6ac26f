package pgcatalog

// passwd is the verifier; who is no superuser may not read the view.
func rowsPgShadow(w *writer) {
	for _, r := range w.env.Snap.Roles() {
		if r.Login {
			w.str(r.Name).oid(r.OID).bool(r.CreateDB).bool(r.Super).bool(r.Replication).bool(r.BypassRLS).opt(r.Verifier).time(r.ValidUntil).
				optArray(settingList(r.Settings)).end()
		}
	}
}
