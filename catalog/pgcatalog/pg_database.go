package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgDatabase(w *writer) {
	for _, d := range w.env.Snap.Databases() {
		template := d.OID == catalog.OIDTemplate0 || d.OID == catalog.OIDTemplate1
		w.oid(d.OID).str(d.Name).oid(w.env.role(d.Owner)).int(encodingUTF8).chr('c').bool(template).bool(d.OID != catalog.OIDTemplate0).
			int(-1).int(716).int(1).oid(oidDefaultTablespace).str("C").str("C").null().null().acl(w.env.Snap.StoredACL(d)).end()
	}
}
