package pgcatalog

func rowsPgDatabase(w *writer) {
	for _, d := range w.env.Snap.Databases() {
		w.oid(d.OID).str(d.Name).oid(w.env.role(d.Owner)).int(encodingUTF8).chr('c').bool(d.Template).bool(!d.Closed).
			int(int64(d.ConnLimit)).int(716).int(1).oid(oidDefaultTablespace).str("C").str("C").null().null().acl(w.env.Snap.StoredACL(d)).end()
	}
}
