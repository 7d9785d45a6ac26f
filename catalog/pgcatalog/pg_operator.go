package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgOperator(w *writer) {
	row := func(o *catalog.Operator) {
		schema, owner := catalog.OIDPgCatalog, catalog.OIDSuperuser
		if o.Own != nil {
			schema, owner = w.env.namespace(o.Own.Schema), w.env.role(o.Own.Owner)
		} else if o.Extension != "" {
			schema = w.env.namespace(w.env.Snap.ExtensionSchema(w.env.DB, o.Extension))
		}
		w.oid(o.OID).str(o.Name).oid(schema).oid(owner).chr(o.Kind).bool(o.CanMerge).bool(o.CanHash).
			oid(o.Left).oid(o.Right).oid(o.Result).oid(o.Com).oid(o.Negate).oid(w.env.shownProc(o.Proc)).oid(o.Rest).oid(o.Join).end()
	}
	for _, o := range catalog.Operators() {
		row(o)
	}
	for _, d := range w.env.Snap.Installed(w.env.DB) {
		for _, o := range d.Operators() {
			row(o)
		}
	}
	for _, o := range w.env.Snap.AllOperators(w.env.DB) {
		row(o.Row())
	}
}
