package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgAttrdef(w *writer) {
	rel, byRel := w.wantOID("adrelid")
	row := func(oid types.OID, cols []catalog.Column) {
		for i := range cols {
			if c := &cols[i]; c.Default != "" && !c.Dropped {
				w.oid(synthOID("attrdef", oid, i+1)).oid(oid).int(int64(i + 1)).str(c.Default).end()
			}
		}
	}
	if !byRel {
		w.env.withDefaults(row)
		return
	}
	if r := w.env.Snap.RelationByOID(w.env.DB, rel); r != nil && hasDefaults(r) {
		row(rel, r.RelColumns())
	}
}

// withDefaults calls f for each relation whose columns may have defaults: tables
// and views.
func (env *Env) withDefaults(f func(oid types.OID, cols []catalog.Column)) {
	for _, r := range env.Snap.Relations(env.DB) {
		if hasDefaults(r) {
			f(r.ObjectOID(), r.RelColumns())
		}
	}
}

func hasDefaults(r catalog.Relation) bool {
	switch r.(type) {
	case *catalog.Table, *catalog.View:
		return true
	}
	return false
}
