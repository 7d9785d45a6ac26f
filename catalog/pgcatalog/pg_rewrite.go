package pgcatalog

import (
	"kvsqld/catalog"
)

// Views are kept as text, so that the rule's tree is not shown.
func rowsPgRewrite(w *writer) {
	for _, r := range catalog.Rules() {
		w.oid(r.OID).str(r.Name).oid(r.Relation).chr(r.Event).chr('O').bool(r.Instead).str("<>").str("<>").end()
	}
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if v, ok := r.(*catalog.View); ok {
			w.oid(synthOID("rewrite", v.OID, 0)).str("_RETURN").oid(v.OID).chr('1').chr('O').bool(true).str("<>").str("<>").end()
		}
	}
}
