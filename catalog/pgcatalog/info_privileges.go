package pgcatalog

import (
	"kvsqld/catalog"
)

// Privileges are not kept per object: an owner has all of them, which is what
// these views show.
var tablePrivileges = []string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}

func rowsTablePrivileges(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, owner string, _ catalog.Relation) {
		for _, p := range tablePrivileges {
			w.str(owner).str(owner).str(db).str(schema).str(name).str(p).yes(true).yes(p == "SELECT").end()
		}
	})
}

func rowsColumnPrivileges(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, owner string, r catalog.Relation) {
		for _, c := range r.RelColumns() {
			if c.Dropped {
				continue
			}
			for _, p := range []string{"INSERT", "SELECT", "UPDATE", "REFERENCES"} {
				w.str(owner).str(owner).str(db).str(schema).str(name).str(c.Name).str(p).yes(true).end()
			}
		}
	})
}
