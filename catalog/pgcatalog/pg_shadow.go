package pgcatalog

// passwd is never shown, not even to superusers.
func rowsPgShadow(w *writer) {
	for _, r := range w.env.Snap.Roles() {
		if r.Login {
			w.str(r.Name).oid(r.OID).bool(r.CreateDB).bool(r.Super).bool(r.Replication).bool(r.BypassRLS).null().time(r.ValidUntil).
				optArray(settingList(r.Settings)).end()
		}
	}
}
