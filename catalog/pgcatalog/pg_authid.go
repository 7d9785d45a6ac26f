package pgcatalog

// rolpassword is the verifier, which pg_dumpall and poolers ask for; who is no superuser
// may not read the relation.
func rowsPgAuthid(w *writer) {
	for _, r := range w.env.Snap.Roles() {
		w.oid(r.OID).str(r.Name).bool(r.Super).bool(r.Inherit).bool(r.CreateRole).bool(r.CreateDB).bool(r.Login).
			bool(r.Replication).bool(r.BypassRLS).int(int64(r.ConnLimit)).opt(r.Verifier).time(r.ValidUntil).end()
	}
}
