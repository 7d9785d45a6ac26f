package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsColumnDomainUsage(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		for _, c := range r.RelColumns() {
			if f := w.env.facts(c.Type); f.domainName != "" && !c.Dropped && w.env.ownsType(c.Type.OID) {
				w.str(db).str(f.domainSchema).str(f.domainName).str(db).str(schema).str(name).str(c.Name).end()
			}
		}
	})
}

func rowsColumnUdtUsage(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		for _, c := range r.RelColumns() {
			if f := w.env.facts(c.Type); !c.Dropped && w.env.ownsType(w.env.over(c.Type).OID) {
				w.udtColumns(&f).str(db).str(schema).str(name).str(c.Name).end()
			}
		}
	})
}
