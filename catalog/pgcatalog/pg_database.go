package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
)

// rowsPgDatabase lists postgres first, as a new server of PostgreSQL does: clients take
// the first row.
func rowsPgDatabase(w *writer) {
	list := slices.Clone(w.env.Snap.Databases())
	slices.SortStableFunc(list, func(a, b *catalog.Database) int { return later(a) - later(b) })
	for _, d := range list {
		w.oid(d.OID).str(d.Name).oid(w.env.role(d.Owner)).int(encodingUTF8).chr('c').bool(d.Template).bool(!d.Closed).
			int(int64(d.ConnLimit)).int(716).int(1).oid(oidDefaultTablespace).str("C").str("C").null().null().acl(w.env.Snap.StoredACL(d)).end()
	}
}

func later(d *catalog.Database) int {
	if d.OID == catalog.OIDPostgres {
		return 0
	}
	return 1
}
