package pgcatalog

func rowsPgRoles(w *writer) {
	for _, r := range w.env.Snap.Roles() {
		w.str(r.Name).bool(r.Super).bool(r.Inherit).bool(r.CreateRole).bool(r.CreateDB).bool(r.Login).bool(r.Replication).
			int(int64(r.ConnLimit)).str("********").time(r.ValidUntil).bool(r.BypassRLS).optArray(settingList(r.Settings)).oid(r.OID).end()
	}
}
