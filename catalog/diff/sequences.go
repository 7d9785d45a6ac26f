package diff

import (
	"strconv"

	"kvsqld/catalog"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// sequenceOptions are the options that make the sequence what it is.
func (d *side) sequenceOptions(q *catalog.Sequence) string {
	s := " INCREMENT BY " + itoa(q.Inc) + " MINVALUE " + itoa(q.Min) + " MAXVALUE " + itoa(q.Max) + " START WITH " + itoa(q.Start) +
		" CACHE " + itoa(q.Cache)
	if q.Cycle {
		return s + " CYCLE"
	}
	return s + " NO CYCLE"
}

// sequence returns the side's sequence of that name, unless an identity column
// has it or it is of another kind.
func (d *side) sequence(name string) *catalog.Sequence {
	q, ok := d.rels[name].(*catalog.Sequence)
	if !ok || d.identity[q.OID] || q.Temp {
		return nil
	}
	return q
}

// ownerOf names the column that a sequence belongs to: table and column, or "".
func (d *side) ownerOf(q *catalog.Sequence) (table, column string) {
	if t := d.snap.Table(q.OwnerTable); t != nil {
		return relName(t), t.Columns[q.OwnerCol].Name
	}
	return "", ""
}

// sequences makes and changes the sequences that columns may draw from. Owners
// come when the tables are there.
func (d *differ) sequences() {
	for _, n := range sortedKeys(d.b.rels) {
		q := d.b.sequence(n)
		if q == nil {
			continue
		}
		old := d.a.sequence(n)
		switch {
		case old == nil:
			kind := "CREATE SEQUENCE "
			if q.Unlogged {
				kind = "CREATE UNLOGGED SEQUENCE "
			}
			d.add(kind, n, " AS ", d.b.typ(q.Type), d.b.sequenceOptions(q))
		case d.a.typ(old.Type) != d.b.typ(q.Type) || d.a.sequenceOptions(old) != d.b.sequenceOptions(q):
			d.add("ALTER SEQUENCE ", n, " AS ", d.b.typ(q.Type), d.b.sequenceOptions(q))
		}
		was := ""
		if old != nil {
			was = old.Owner
			if q.Unlogged != old.Unlogged {
				d.add("ALTER SEQUENCE ", n, " ", persistence(q.Unlogged))
			}
		}
		if table, _ := d.b.ownerOf(q); table == "" {
			d.owner("SEQUENCE", n, was, q.Owner)
		}
		oldComment := ""
		if old != nil {
			oldComment = old.Comment
		}
		d.comment("SEQUENCE", n, oldComment, q.Comment)
	}
}

// linkSequences gives sequences to columns. One that a table has taken along when it
// became logged or unlogged gets back what it shall be.
func (d *differ) linkSequences() {
	for _, n := range sortedKeys(d.b.rels) {
		q := d.b.sequence(n)
		if q == nil {
			continue
		}
		if old := d.a.sequence(n); old != nil {
			of, _ := d.a.ownerOf(old)
			if t := d.switched(of); t != nil && q.Unlogged != t.Unlogged {
				d.add("ALTER SEQUENCE ", n, " ", persistence(q.Unlogged))
			}
		}
		table, column := d.b.ownerOf(q)
		if table == "" {
			continue
		}
		if old := d.a.sequence(n); old != nil {
			if t, c := d.a.ownerOf(old); t == table && c == column && !d.detached(table, column) {
				continue
			}
		}
		// A sequence belongs to a column of a table of the same owner, and then
		// follows it.
		d.add("ALTER SEQUENCE ", n, " OWNER TO ", catalog.QuoteIdent(q.Owner))
		d.add("ALTER SEQUENCE ", n, " OWNED BY ", table, ".", catalog.QuoteIdent(column))
	}
}

// persistence is the action of ALTER that makes a relation unlogged or logged.
func persistence(unlogged bool) string {
	if unlogged {
		return "SET UNLOGGED"
	}
	return "SET LOGGED"
}

// switched returns a table that stays and becomes logged or unlogged, as it shall be; nil
// for another one.
func (d *differ) switched(table string) *catalog.Table {
	for _, c := range d.tables {
		if c.name == table && c.old.Unlogged != c.to.Unlogged {
			return c.to
		}
	}
	return nil
}

// detached reports whether the column was dropped and made again.
func (d *differ) detached(table, column string) bool {
	for _, c := range d.tables {
		if c.name == table {
			return c.moved[column] || c.remade[column]
		}
	}
	return false
}

// keepSequences takes the sequences that stay from columns that go.
func (d *differ) keepSequences() {
	for _, n := range sortedKeys(d.a.rels) {
		old := d.a.sequence(n)
		if old == nil || d.b.sequence(n) == nil {
			continue
		}
		table, column := d.a.ownerOf(old)
		if table == "" {
			continue
		}
		newTable, newColumn := d.b.ownerOf(d.b.sequence(n))
		if newTable != table || newColumn != column || d.detached(table, column) {
			d.add("ALTER SEQUENCE ", n, " OWNED BY NONE")
		}
	}
}
