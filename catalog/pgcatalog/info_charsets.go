package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsCharacterSets(w *writer) {
	db := w.env.dbName()
	w.nulls(2).str("UTF8").str("UCS").str("UTF8").str(db).str(catalog.SchemaPgCatalog).str("ucs_basic").end()
}

// utf8Collations calls f for the collations of this server's encoding.
func utf8Collations(f func(*catalog.Collation)) {
	for _, c := range catalog.Collations() {
		if c.Encoding == -1 || c.Encoding == encodingUTF8 {
			f(&c)
		}
	}
}

func rowsCollations(w *writer) {
	utf8Collations(func(c *catalog.Collation) {
		w.str(w.env.dbName()).str(catalog.SchemaPgCatalog).str(c.Name).str("NO PAD").end()
	})
}

func rowsCollationCharacterSets(w *writer) {
	utf8Collations(func(c *catalog.Collation) {
		w.str(w.env.dbName()).str(catalog.SchemaPgCatalog).str(c.Name).nulls(2).str("UTF8").end()
	})
}
