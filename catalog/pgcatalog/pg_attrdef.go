package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgAttrdef(w *writer) {
	rel, byRel := w.wantOID("adrelid")
	w.env.tables(func(oid types.OID, t *catalog.Table) {
		if byRel && oid != rel {
			return
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Default != "" && !c.Dropped {
				w.oid(synthOID("attrdef", oid, i+1)).oid(oid).int(int64(i + 1)).str(c.Default).end()
			}
		}
	})
}
