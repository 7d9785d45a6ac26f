package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgIndexes(w *writer) {
	env := w.env
	for _, ix := range catalog.SystemIndexes() {
		if r := ByOID(ix.Table); r != nil {
			space := ""
			if Shared(r) {
				space = "pg_global"
			}
			w.str(r.Schema).str(r.Name).str(ix.Name).opt(space).str(systemIndexDef(&ix)).end()
		}
	}
	env.tables(func(_ types.OID, t *catalog.Table) {
		for _, ix := range t.Indexes {
			w.str(t.Schema).str(t.Name).str(ix.Name).null().str(env.indexDef(t, ix)).end()
		}
	})
}
