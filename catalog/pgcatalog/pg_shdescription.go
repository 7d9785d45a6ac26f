package pgcatalog

import "kvsqld/catalog"

func rowsPgShdescription(w *writer) {
	for _, d := range w.env.Snap.Databases() {
		if d.Comment != "" {
			w.oid(d.OID).oid(oidPgDatabase).str(d.Comment).end()
		}
	}
	for _, t := range w.env.Snap.Tablespaces() {
		if t.Comment != "" {
			w.oid(t.OID).oid(catalog.OIDTablespaceClass).str(t.Comment).end()
		}
	}
	for _, r := range w.env.Snap.Roles() {
		if r.Comment != "" {
			w.oid(r.OID).oid(oidPgAuthid).str(r.Comment).end()
		}
	}
}
