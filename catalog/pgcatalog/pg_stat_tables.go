package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// The statistics views of tables and indexes. Rows are known from ANALYZE;
// scans and writes are counted per server and not per table, so they are zero.
func (w *writer) statTables(system, user bool, row func(oid types.OID, schema, name string, t *catalog.Table)) {
	if system {
		for _, r := range All() {
			if !r.View {
				row(r.OID, r.Schema, r.Name, nil)
			}
		}
	}
	if user {
		w.env.tables(func(oid types.OID, t *catalog.Table) { row(oid, t.Schema, t.Name, t) })
	}
}

func rowsPgStatTables(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statTables(system, user, func(oid types.OID, schema, name string, t *catalog.Table) {
			rows, _ := w.env.reltuples(oid)
			w.oid(oid).str(schema).str(name).int(0).int(0)
			if t != nil && len(t.Indexes) == 0 {
				w.null().null()
			} else {
				w.int(0).int(0)
			}
			w.int(0).int(0).int(0).int(0).int(int64(max(rows, 0))).int(0).int(0).int(0).nulls(4).int(0).int(0).int(0).int(0).end()
		})
	}
}

func rowsPgStatXactTables(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statTables(system, user, func(oid types.OID, schema, name string, _ *catalog.Table) {
			w.oid(oid).str(schema).str(name)
			for range 8 {
				w.int(0)
			}
			w.end()
		})
	}
}

func rowsPgStatioTables(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statTables(system, user, func(oid types.OID, schema, name string, _ *catalog.Table) {
			w.oid(oid).str(schema).str(name)
			for range 4 {
				w.int(0)
			}
			w.nulls(4).end()
		})
	}
}

// rowsPgStatIndexes writes the index views, which end with counters columns.
func rowsPgStatIndexes(system, user bool, counters int) func(*writer) {
	return func(w *writer) {
		row := func(rel, index types.OID, schema, table, name string) {
			w.oid(rel).oid(index).str(schema).str(table).str(name)
			for range counters {
				w.int(0)
			}
			w.end()
		}
		if system {
			for _, ix := range catalog.SystemIndexes() {
				if r := ByOID(ix.Table); r != nil {
					row(r.OID, ix.OID, r.Schema, r.Name, ix.Name)
				}
			}
		}
		if user {
			w.env.tables(func(oid types.OID, t *catalog.Table) {
				for _, ix := range t.Indexes {
					row(oid, ix.OID, t.Schema, t.Name, ix.Name)
				}
			})
		}
	}
}

func rowsPgStatioSequences(w *writer) {
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if q, ok := r.(*catalog.Sequence); ok {
			w.oid(q.OID).str(q.Schema).str(q.Name).int(0).int(0).end()
		}
	}
}
