package diff

import "kvsqld/catalog"

// Typed tables. A table that stays is no table of its type while columns and types
// change, and becomes one again when its columns are those of the type.

// typeOf is the name of the type that a table is of, "" for others.
func (d *side) typeOf(t *catalog.Table) string {
	if t == nil || t.OfType == 0 {
		return ""
	}
	u := d.snap.TypeByOID(t.OfType)
	return catalog.QualifiedIdent(u.Schema, u.Name)
}

// staysTyped reports whether nothing changes in what a table has of its type.
func (d *differ) staysTyped(c *tableChange) bool {
	return c != nil && d.a.typeOf(c.old) == d.b.typeOf(c.to) && d.sameColumns(c)
}

// releaseTyped makes typed tables that change ordinary ones.
func (d *differ) releaseTyped() {
	for _, c := range d.tables {
		if c.old.OfType != 0 && !d.staysTyped(c) {
			d.add("ALTER TABLE ", c.name, " NOT OF")
		}
	}
}

// bindTyped makes tables with all their columns tables of types.
func (d *differ) bindTyped() {
	for _, n := range sortedKeys(d.b.rels) {
		if t := d.b.table(n); t != nil && t.OfType != 0 && !d.staysTyped(d.change(n)) {
			d.add("ALTER TABLE ", n, " OF ", d.b.typeOf(t))
		}
	}
}
