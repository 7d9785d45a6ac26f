package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgAttrdef(w *writer) {
	rel, byRel := w.wantOID("adrelid")
	w.env.withDefaults(func(oid types.OID, cols []catalog.Column) {
		if byRel && oid != rel {
			return
		}
		for i := range cols {
			if c := &cols[i]; c.Default != "" && !c.Dropped {
				w.oid(synthOID("attrdef", oid, i+1)).oid(oid).int(int64(i + 1)).str(c.Default).end()
			}
		}
	})
}

// withDefaults calls f for each relation whose columns may have defaults: tables
// and views.
func (env *Env) withDefaults(f func(oid types.OID, cols []catalog.Column)) {
	for _, r := range env.Snap.Relations(env.DB) {
		switch r.(type) {
		case *catalog.Table, *catalog.View:
			f(r.ObjectOID(), r.RelColumns())
		}
	}
}
