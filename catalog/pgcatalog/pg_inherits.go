package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgInherits(w *writer) {
	env := w.env
	row := func(child types.OID, parents []types.OID) {
		for i, p := range parents {
			w.oid(child).oid(p).int(int64(i + 1)).bool(false).end()
		}
	}
	env.tables(func(oid types.OID, t *catalog.Table) {
		row(oid, t.Parents)
		for _, ix := range t.Indexes {
			if ix.Parent != 0 {
				row(ix.OID, []types.OID{ix.Parent})
			}
		}
	})
}
