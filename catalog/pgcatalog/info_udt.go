package pgcatalog

import (
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsUserDefinedTypes(w *writer) {
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		if u.Kind == 'c' {
			w.str(w.env.dbName()).str(u.Schema).str(u.Name).str("STRUCTURED").yes(true).nulls(24).end()
		}
	}
}

func rowsAttributes(w *writer) {
	db := w.env.dbName()
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		if u.Kind != 'c' {
			continue
		}
		for i := range u.Columns {
			c := &u.Columns[i]
			f := w.env.facts(c.Type)
			w.str(db).str(u.Schema).str(u.Name).str(c.Name).int(int64(i + 1)).null().yes(!c.NotNull).str(f.dataType).num(f.CharMax).num(f.Octets).
				nulls(3).collationColumns(&f).numberColumns(&f).udtColumns(&f).nulls(4).str(strconv.Itoa(i + 1)).yes(false).end()
		}
	}
}

func rowsDomains(w *writer) {
	env := w.env
	db := env.dbName()
	row := func(schema, name, dflt string, base types.T) {
		f := env.facts(base)
		if schema == catalog.SchemaInformation && env.systemCollation(base) != 0 {
			f.collation = "C"
		}
		w.str(db).str(schema).str(name).str(f.dataType).num(f.CharMax).num(f.Octets).nulls(3).collationColumns(&f).numberColumns(&f).
			opt(dflt).udtColumns(&f).nulls(4).str("1").end()
	}
	for _, d := range catalog.InformationDomains() {
		if d.Kind == 'd' {
			row(catalog.SchemaInformation, d.Name, "", types.T{OID: d.Base, Mod: d.BaseMod})
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		if u.Kind == 'd' {
			row(u.Schema, u.Name, env.exprText(u.Default, false), u.Base)
		}
	}
}

func rowsDomainConstraints(w *writer) {
	db := w.env.dbName()
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		for _, k := range u.Checks {
			w.str(db).str(u.Schema).str(k.Name).str(db).str(u.Schema).str(u.Name).yes(false).yes(false).end()
		}
	}
}

func rowsElementTypes(w *writer) {
	db := w.env.dbName()
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		for i, c := range r.RelColumns() {
			in := w.env.Snap.TypeInfo(w.env.Snap.BaseType(c.Type).OID)
			if c.Dropped || in == nil || in.Elem == 0 || in.Category != 'A' {
				continue
			}
			elem, _ := w.env.Snap.T(in.Elem, -1)
			f := w.env.facts(elem)
			if r.ObjectOID() < types.FirstUserOID && w.env.systemCollation(elem) != 0 {
				f.collation = "C"
			}
			w.str(db).str(schema).str(name).str("TABLE").str(strconv.Itoa(i + 1)).str(f.dataType).nulls(2).nulls(3).collationColumns(&f).
				nulls(6).null().udtColumns(&f).nulls(4).str("a" + strconv.Itoa(i+1)).end()
		}
	})
}
