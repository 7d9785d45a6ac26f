package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgDescription(w *writer) {
	env := w.env
	put := func(oid, class types.OID, sub int, text string) {
		if text != "" {
			w.oid(oid).oid(class).int(int64(sub)).str(text).end()
		}
	}
	if one, ok := w.wantOID("objoid"); !ok || one < types.FirstUserOID {
		for _, d := range catalog.Descriptions() {
			if n, _ := env.Snap.SystemNote(env.DB, d.Class, d.OID, 0); !n.Described {
				put(d.OID, d.Class, 0, d.Text)
			}
		}
	}
	for _, n := range env.Snap.SystemNotes(env.DB) {
		put(n.OID, n.Class, n.Sub, n.Comment)
	}
	for _, n := range env.Snap.Schemas(env.DB) {
		if note, _ := env.Snap.SystemNote(env.DB, oidPgNamespace, n.OID, 0); !note.Described {
			put(n.OID, oidPgNamespace, 0, n.Comment)
		}
	}
	for _, r := range env.Snap.Relations(env.DB) {
		co := commonOf(r)
		put(co.OID, oidPgClass, 0, co.Comment)
		for i, c := range r.RelColumns() {
			put(co.OID, oidPgClass, i+1, c.Comment)
		}
		t := catalog.StorageOf(r)
		if t == nil {
			continue
		}
		for _, ix := range t.Indexes {
			put(ix.OID, oidPgClass, 0, ix.Comment)
		}
		for _, u := range t.Uniques {
			put(u.OID, oidPgConstraint, 0, u.Comment)
		}
		for _, k := range t.Checks {
			put(k.OID, oidPgConstraint, 0, k.Comment)
		}
		for _, k := range t.ForeignKeys {
			put(k.OID, oidPgConstraint, 0, k.Comment)
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		put(u.OID, oidPgType, 0, u.Comment)
		for _, k := range u.Checks {
			put(k.OID, oidPgConstraint, 0, k.Comment)
		}
		for i, c := range u.Columns {
			put(u.RelOID, oidPgClass, i+1, c.Comment)
		}
	}
	for _, p := range env.Snap.AllPolicies(env.DB) {
		put(p.OID, oidPgPolicy, 0, p.Comment)
	}
	for _, e := range env.Snap.Extensions(env.DB) {
		put(e.OID, oidPgExtension, 0, e.Comment)
	}
	for _, e := range env.Snap.AllExtStats(env.DB) {
		put(e.OID, oidPgStatisticExt, 0, e.Comment)
	}
	for _, o := range env.Snap.AllOperators(env.DB) {
		put(o.OID, oidPgOperator, 0, o.Comment)
	}
	for _, k := range env.Snap.AllCasts(env.DB) {
		put(k.OID, oidPgCast, 0, k.Comment)
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		put(f.OID, oidPgProc, 0, f.Comment)
	}
	one, _ := w.wantOID("objoid")
	w.largeObjects(one, func(o *catalog.LargeObject) { put(o.OID, oidPgLargeobject, 0, o.Comment) })
}
