package pgcatalog

import (
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsUserDefinedTypes(w *writer) {
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		if u.Kind == 'c' && w.env.sees(u, catalog.PrivUsage) {
			w.str(w.env.dbName()).str(u.Schema).str(u.Name).str("STRUCTURED").yes(true).nulls(24).end()
		}
	}
}

func rowsAttributes(w *writer) {
	db := w.env.dbName()
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		if u.Kind != 'c' || !w.env.sees(u, catalog.PrivUsage) {
			continue
		}
		for i := range u.Columns {
			c := &u.Columns[i]
			f := w.env.ownFacts(c.Type)
			f.TypeNumbers = w.env.facts(c.Type).TypeNumbers
			f.collation = w.env.collationShown(c)
			w.str(db).str(u.Schema).str(u.Name).str(c.Name).int(int64(i + 1)).null().yes(!c.NotNull).str(f.dataType).num(f.CharMax).num(f.Octets).
				nulls(3).collationColumns(&f).numberColumns(&f).udtColumns(&f).nulls(4).str(strconv.Itoa(i + 1)).yes(false).end()
		}
	}
}

func rowsDomains(w *writer) {
	env := w.env
	db := env.dbName()
	row := func(schema, name, dflt string, base types.T, collation string) {
		f := env.ownFacts(base)
		if f.dataType == "ARRAY" { // of which information_schema knows in columns alone
			f.dataType = "USER-DEFINED"
			if f.udtSchema == catalog.SchemaPgCatalog {
				f.dataType = types.FormatTypeNoMod(base.OID)
			}
		}
		f.collation = env.collationShown(&catalog.Column{Type: base, Collation: collation})
		if schema == catalog.SchemaInformation && env.systemCollation(base) != 0 {
			f.collation = "C"
		}
		w.str(db).str(schema).str(name).str(f.dataType).num(f.CharMax).num(f.Octets).nulls(3).collationColumns(&f).numberColumns(&f).
			opt(dflt).udtColumns(&f).nulls(4).str("1").end()
	}
	for _, d := range catalog.InformationDomains() {
		if d.Kind == 'd' {
			dflt := ""
			if d.Name == "time_stamp" {
				dflt = "CURRENT_TIMESTAMP(2)"
			}
			row(catalog.SchemaInformation, d.Name, dflt, types.T{OID: d.Base, Mod: d.BaseMod}, "")
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		if u.Kind == 'd' && env.sees(u, catalog.PrivUsage) {
			row(u.Schema, u.Name, env.exprText(u.Default, false), u.Base, u.Collation)
		}
	}
}

func rowsDomainConstraints(w *writer) {
	db := w.env.dbName()
	for _, u := range w.env.checkedTypes() {
		if !w.env.sees(u, catalog.PrivUsage) {
			continue
		}
		for _, k := range u.Checks {
			w.str(db).str(u.Schema).str(k.Name).str(db).str(u.Schema).str(u.Name).yes(false).yes(false).end()
		}
	}
}

// rowsDomainUdtUsage lists what domains are over, of the types that the user owns.
func rowsDomainUdtUsage(w *writer) {
	env := w.env
	seen := env.enabledNames()
	row := func(schema, name string, base types.T) {
		owner := env.systemOwner()
		if u := env.Snap.TypeByOID(base.OID); u != nil {
			owner = u.Owner
		}
		if f := env.ownFacts(base); seen[owner] {
			w.udtColumns(&f).str(env.dbName()).str(schema).str(name).end()
		}
	}
	for _, d := range catalog.InformationDomains() {
		row(catalog.SchemaInformation, d.Name, types.T{OID: d.Base, Mod: d.BaseMod})
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		if u.Kind == 'd' {
			row(u.Schema, u.Name, u.Base)
		}
	}
}

// described is an object that has types which information_schema describes: a
// relation, composite type, domain or routine.
type described struct {
	schema, name, kind string
	id                 int // within the object: its dtd_identifier
	t                  types.T
	collation          string
}

// eachDescribed calls f for the types of columns, attributes, domains, arguments
// and results. The type of attributes and results of procedures is left out.
func (w *writer) eachDescribed(f func(d described)) {
	env := w.env
	columns := func(schema, name, kind string, cols []catalog.Column, seen func(i int) bool) {
		for i := range cols {
			if c := &cols[i]; !c.Dropped && seen(i) {
				f(described{schema, name, kind, i + 1, c.Type, c.Collation})
			}
		}
	}
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		columns(schema, name, "TABLE", r.RelColumns(), func(i int) bool { return env.seesColumn(r, i, anyOfColumn) })
	})
	for _, d := range catalog.InformationDomains() {
		f(described{catalog.SchemaInformation, d.Name, "DOMAIN", 1, types.T{OID: d.Base, Mod: d.BaseMod}, ""})
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		if !env.sees(u, catalog.PrivUsage) {
			continue
		}
		switch u.Kind {
		case 'c':
			columns(u.Schema, u.Name, "USER-DEFINED TYPE", u.Columns, func(int) bool { return true })
		case 'd':
			f(described{u.Schema, u.Name, "DOMAIN", 1, u.Base, u.Collation})
		}
	}
	routine := func(oid types.OID) {
		r, ok := env.routine(oid)
		if !ok || !env.mayExecute(oid) {
			return
		}
		name := specificName(r.name, oid)
		of := func(i int, o types.OID) {
			if t, ok := env.Snap.T(o, -1); ok {
				f(described{r.schema, name, "ROUTINE", i, t, ""})
			}
		}
		for i, a := range r.args {
			of(i+1, a)
		}
		if !r.procedure {
			of(0, r.ret)
		}
	}
	for _, p := range catalog.Procs() {
		routine(p.OID)
	}
	for _, fn := range env.Snap.AllFunctions(env.DB) {
		routine(fn.OID)
	}
}

func rowsDataTypePrivileges(w *writer) {
	db := w.env.dbName()
	w.eachDescribed(func(d described) { w.str(db).str(d.schema).str(d.name).str(d.kind).str(strconv.Itoa(d.id)).end() })
}

func rowsElementTypes(w *writer) {
	db := w.env.dbName()
	w.eachDescribed(func(d described) {
		in := w.env.Snap.TypeInfo(d.t.OID)
		if in == nil || in.Elem == 0 || in.Category != 'A' {
			return
		}
		elem, _ := w.env.Snap.T(in.Elem, -1)
		f := w.env.ownFacts(elem)
		if d.collation != "" {
			f.collation = d.collation
		}
		if d.kind == "ROUTINE" {
			f.collation = ""
		}
		id := strconv.Itoa(d.id)
		w.str(db).str(d.schema).str(d.name).str(d.kind).str(id).str(f.dataType).nulls(2).nulls(3).collationColumns(&f).
			nulls(6).null().udtColumns(&f).nulls(4).str("a" + id).end()
	})
}
