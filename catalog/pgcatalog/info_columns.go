package pgcatalog

import (
	"strconv"

	"kvsqld/catalog"
)

func rowsColumns(w *writer) {
	env := w.env
	want, byName := w.wantName("table_name")
	db := env.dbName()
	w.eachRelation(func(schema, name, _ string, r catalog.Relation) {
		if byName && name != want {
			return
		}
		_, into := env.updatable(r)
		cols := r.RelColumns()
		for i := range cols {
			if c := &cols[i]; !c.Dropped && env.seesColumn(r, i, anyOfColumn) {
				w.columnRow(db, schema, name, i+1, c, into(i))
			}
		}
	})
}

func (w *writer) columnRow(db, schema, name string, num int, c *catalog.Column, updatable bool) {
	env := w.env
	f := env.facts(c.Type)
	f.collation = env.collationShown(c)
	notNull := c.NotNull
	if u := env.Snap.TypeByOID(c.Type.OID); u != nil && u.Kind == 'd' && u.NotNull {
		notNull = true
	}
	w.str(db).str(schema).str(name).str(c.Name).int(int64(num))
	if c.Generated || c.Default == "" {
		w.null()
	} else {
		w.str(env.exprText(c.Default, false))
	}
	w.yes(!notNull).str(f.dataType).num(f.CharMax).num(f.Octets).numberColumns(&f).nulls(3).collationColumns(&f)
	if f.domainName == "" {
		w.nulls(3)
	} else {
		w.str(db).str(f.domainSchema).str(f.domainName)
	}
	w.udtColumns(&f).nulls(3).null().str(strconv.Itoa(num)).yes(false)
	w.identityColumns(c)
	if c.Generated {
		w.str("ALWAYS").str(env.exprText(c.Default, false))
	} else {
		w.str("NEVER").null()
	}
	w.yes(updatable).end()
}

// identityColumns writes is_identity to identity_cycle.
func (w *writer) identityColumns(c *catalog.Column) {
	q, ok := w.env.Snap.Object(c.Sequence).(*catalog.Sequence)
	if c.Identity == 0 || !ok {
		w.yes(false).nulls(5).yes(false)
		return
	}
	kind := "BY DEFAULT"
	if c.Identity == 'a' {
		kind = "ALWAYS"
	}
	text := func(v int64) string { return strconv.FormatInt(v, 10) }
	w.yes(true).str(kind).str(text(q.Start)).str(text(q.Inc)).str(text(q.Max)).str(text(q.Min)).yes(q.Cycle)
}
