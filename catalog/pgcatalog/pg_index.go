package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgIndex(w *writer) {
	env := w.env
	if oid, ok := w.wantOID("indexrelid"); ok {
		if t, ix := env.Snap.IndexByOID(env.DB, oid); ix != nil {
			w.index(t.OID, t, ix)
			return
		}
	}
	if oid, ok := w.wantOID("indrelid"); ok {
		if r := env.Snap.RelationByOID(env.DB, oid); r != nil {
			if t := catalog.StorageOf(r); t != nil {
				for _, ix := range t.Indexes {
					w.index(oid, t, ix)
				}
			}
			if _, system := r.(*catalog.Virtual); !system {
				return
			}
		}
	}
	for _, ix := range catalog.SystemIndexes() {
		w.systemIndex(&ix)
	}
	env.toasts(func(t *toast) bool {
		w.toastIndex(t)
		return !w.done
	})
	env.tables(func(oid types.OID, t *catalog.Table) {
		for _, ix := range t.Indexes {
			w.index(oid, t, ix)
		}
	})
}

func (w *writer) index(rel types.OID, t *catalog.Table, ix *catalog.Index) {
	env := w.env
	immediate := !t.Deferrable(ix)
	var opts []int
	var colls, classes []types.OID
	for i := range ix.Keys {
		k := &ix.Keys[i]
		opt := 0
		if k.Desc {
			opt |= 1
		}
		if k.NullsFirst {
			opt |= 2
		}
		opts = append(opts, opt)
		colls = append(colls, env.keyCollation(t, k))
		classes = append(classes, env.opclass(ix, k))
	}
	keys := indexColumns(ix)
	w.oid(ix.OID).oid(rel).int(int64(len(keys))).int(int64(len(ix.Keys))).bool(ix.Unique).bool(ix.NullsNotDistinct).
		bool(ix.Primary).bool(t.Exclusion(ix) != nil).bool(immediate).bool(ix.Clustered).bool(!ix.Invalid).bool(false).bool(!ix.Unready).bool(true).bool(ix.Identity)
	vector(w, keys)
	vector(w, colls)
	vector(w, classes)
	vector(w, opts)
	w.opt(indexExprs(ix)).opt(ix.Where).end()
}

// indexColumns are the attnums of an index's columns, those that it only includes
// last; 0 stands for an expression.
func indexColumns(ix *catalog.Index) []int {
	var out []int
	for i := range ix.Keys {
		out = append(out, ix.Keys[i].Col+1)
	}
	for _, c := range ix.Include {
		out = append(out, c+1)
	}
	return out
}

// IndexColumns are the attnums of an index's columns, nil when there is no such
// index.
func (env *Env) IndexColumns(index types.OID) []int {
	for _, ix := range catalog.SystemIndexes() {
		if ix.OID == index {
			return ix.Keys
		}
	}
	if _, ix := env.Snap.IndexByOID(env.DB, index); ix != nil {
		return indexColumns(ix)
	}
	return nil
}

// indexExprs returns the expressions of an index as pg_get_expr shows them.
func indexExprs(ix *catalog.Index) string {
	var parts []string
	for _, k := range ix.Keys {
		if k.Col < 0 {
			parts = append(parts, k.Expr)
		}
	}
	return strings.Join(parts, ", ")
}

func (w *writer) systemIndex(ix *catalog.SystemIndex) {
	r := ByOID(ix.Table)
	var colls []types.OID
	for _, k := range ix.Keys {
		coll := types.OID(0)
		if r != nil && k >= 1 && k <= len(r.Columns) {
			coll = w.env.columnCollation(&r.Columns[k-1])
		}
		colls = append(colls, coll)
	}
	w.oid(ix.OID).oid(ix.Table).int(int64(len(ix.Keys))).int(int64(len(ix.Keys))).bool(ix.Unique).bool(false).
		bool(ix.Primary).bool(false).bool(true).bool(false).bool(true).bool(false).bool(true).bool(true).bool(false)
	vector(w, ix.Keys)
	vector(w, colls)
	vector(w, ix.Opclasses)
	vector(w, make([]int, len(ix.Keys)))
	w.null().null().end()
}
