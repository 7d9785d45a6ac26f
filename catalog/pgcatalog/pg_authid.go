package pgcatalog

// rolpassword is never shown, not even to superusers.
func rowsPgAuthid(w *writer) {
	for _, r := range w.env.Snap.Roles() {
		w.oid(r.OID).str(r.Name).bool(r.Super).bool(r.Inherit).bool(r.CreateRole).bool(r.CreateDB).bool(r.Login).
			bool(r.Replication).bool(r.BypassRLS).int(int64(r.ConnLimit)).null().time(r.ValidUntil).end()
	}
}
