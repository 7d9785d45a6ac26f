package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
)

func rowsPgCast(w *writer) {
	list := slices.Clone(catalog.Casts())
	for _, d := range w.env.Snap.Installed(w.env.DB) {
		list = append(list, d.Casts()...)
	}
	for _, k := range w.env.Snap.AllCasts(w.env.DB) {
		list = append(list, k.Row())
	}
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		if u.Kind == 'r' {
			if c := w.env.Snap.MultirangeCast(u.OID, u.Range.Pair); c != nil {
				c.OID = synthOID("cast", u.OID, 0)
				list = append(list, c)
			}
		}
	}
	for _, c := range list {
		w.oid(c.OID).oid(c.Source).oid(c.Target).oid(w.env.shownProc(c.Func)).chr(c.Context).chr(c.Method).end()
	}
}
