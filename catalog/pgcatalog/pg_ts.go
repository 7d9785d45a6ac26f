package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Text search itself is refused where it is used: of its objects there are the rows that
// every database of PostgreSQL has.

func rowsPgTSParser(w *writer) {
	for _, p := range catalog.TSParsers() {
		w.oid(p.OID).str(p.Name).oid(catalog.OIDPgCatalog).oid(p.Start).oid(p.Token).oid(p.End).oid(p.Headline).oid(p.LexTyp).end()
	}
}

func rowsPgTSTemplate(w *writer) {
	for _, t := range catalog.TSTemplates() {
		w.oid(t.OID).str(t.Name).oid(catalog.OIDPgCatalog).oid(t.Init).oid(t.Lexize).end()
	}
}

func rowsPgTSDict(w *writer) {
	for _, d := range catalog.TSDicts() {
		w.oid(d.OID).str(d.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).oid(d.Template).opt(d.Options).end()
	}
}

func rowsPgTSConfig(w *writer) {
	for _, c := range catalog.TSConfigs() {
		w.oid(c.OID).str(c.Name).oid(catalog.OIDPgCatalog).oid(catalog.OIDSuperuser).oid(c.Parser).end()
	}
}

func rowsPgTSConfigMap(w *writer) {
	for _, c := range catalog.TSConfigs() {
		c.Mappings(func(token int, dict types.OID) { w.oid(c.OID).int(int64(token)).int(1).oid(dict).end() })
	}
}
