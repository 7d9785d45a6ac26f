package diff

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Partitions, in the way of pg_dump: a partition that leaves its place is detached
// before anything else happens; each table is made alone, with its own indexes and
// constraints, those of partitioned tables without their partitions; then what is
// new in its place is attached.

// membership is a table's place as a partition: the parent's name and the bound; ""
// for other tables.
func membership(s *side, t *catalog.Table) string {
	if t == nil || t.Bound == nil {
		return ""
	}
	return relName(s.snap.Parent(t)) + " ATTACH PARTITION " + relName(t) + " " + catalog.BoundText(t.Bound, nil)
}

// inTree reports whether a table is partitioned or a partition.
func inTree(t *catalog.Table) bool { return t != nil && (t.Key != nil || t.Bound != nil) }

// remains reports whether a table is the same partition in both schemas.
func (d *differ) remains(c *tableChange) bool {
	return c != nil && c.old.Bound != nil && membership(d.a, c.old) == membership(d.b, c.to)
}

// sameColumns reports whether no statement is needed to change columns.
func (d *differ) sameColumns(c *tableChange) bool {
	a, b := live(c.old), live(c.to)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || c.touched(a[i].Name) || d.a.typ(a[i].Type) != d.b.typ(b[i].Type) || a[i].Default != b[i].Default ||
			a[i].NotNull != b[i].NotNull || a[i].Identity != b[i].Identity || a[i].Generated != b[i].Generated {
			return false
		}
	}
	return true
}

// comparePartitions refuses what cannot be done to a table of a tree.
func (d *differ) comparePartitions(n string, old, to *catalog.Table) {
	key := func(s *side, t *catalog.Table) string {
		def, _ := s.env.GetPartKeyDef(t.OID)
		return def
	}
	if old != nil && to != nil && key(d.a, old) != key(d.b, to) {
		d.refuse("changing the partition key of table %s", n)
	}
}

// detachPartitions takes partitions that stay as tables out of the places that they
// have no more.
func (d *differ) detachPartitions() {
	for _, c := range d.tables {
		if (inTree(c.old) || inTree(c.to)) && !d.sameColumns(c) && !d.leads[c] && !d.follows[c] {
			d.refuse("changing the columns of table %s, which is partitioned or a partition, in a script of differences", c.name)
		}
		if c.old.Bound != nil && !d.remains(c) {
			d.detach(c.old)
		}
	}
	for _, n := range sortedKeys(d.a.rels) {
		// one that foreign keys refer to through its parent is not dropped in its place
		t := d.a.table(n)
		if t != nil && t.Bound != nil && d.b.table(n) == nil && !d.goesWithTable(t) &&
			slices.ContainsFunc(d.a.snap.Referencing(d.a.db, t.OID), func(r catalog.FKRef) bool { return r.Named != t.OID }) {
			d.detach(t)
		}
	}
}

func (d *differ) detach(t *catalog.Table) {
	d.add("ALTER TABLE ", relName(d.a.snap.Parent(t)), " DETACH PARTITION ", relName(t))
}

// attachPartitions puts tables in their places.
func (d *differ) attachPartitions() {
	for _, n := range sortedKeys(d.b.rels) {
		if t := d.b.table(n); t != nil && t.Bound != nil && !d.remains(d.change(n)) {
			d.add("ALTER TABLE ONLY ", membership(d.b, t))
		}
	}
}

// tablePart is a part with its table.
type tablePart struct {
	t *catalog.Table
	p part
}

// anyHas reports whether a partition of a table has a part of an index.
func (s *side) anyHas(t *catalog.Table, index types.OID) bool {
	return slices.ContainsFunc(s.snap.Children(t.OID), func(c *catalog.Table) bool {
		return slices.ContainsFunc(c.Indexes, func(ix *catalog.Index) bool { return ix.Parent == index })
	})
}

// attachIndexes makes new indexes of partitions that remain where they are the
// parts of those of their parents.
func (d *differ) attachIndexes() {
	for _, c := range d.tables {
		if !d.remains(c) {
			continue
		}
		p := d.b.snap.Parent(c.to)
		for _, x := range d.b.parts(c.to) {
			if x.index == 0 || x.parent == 0 {
				continue
			}
			if old := find(d.a.parts(c.old), &x); old != nil && d.stays(c, old) {
				continue
			}
			d.add("ALTER INDEX ", qualified(p, d.b.indexName(p, c.to.IndexByOID(x.index).Parent)), " ATTACH PARTITION ", qualified(c.to, x.name))
		}
	}
}

func (s *side) indexName(t *catalog.Table, oid types.OID) string {
	if ix := t.IndexByOID(oid); ix != nil {
		return ix.Name
	}
	return ""
}

// parentPart returns the part of the parent that a part of a partition belongs to.
func (s *side) parentPart(t *catalog.Table, x *part) (*catalog.Table, *part) {
	p := s.snap.Parent(t)
	if p == nil || x.parent == 0 {
		return nil, nil
	}
	list := s.parts(p)
	if i := slices.IndexFunc(list, func(y part) bool { return y.oid == x.parent }); i >= 0 {
		return p, &list[i]
	}
	return nil, nil
}

// goesWithParent reports whether a part of an old partition is dropped with that of
// its parent, which does not stay.
func (d *differ) goesWithParent(c *tableChange, x *part) bool {
	if !d.remains(c) {
		return false
	}
	p, up := d.a.parentPart(c.old, x)
	if up == nil {
		return false
	}
	pc := d.change(relName(p))
	return pc == nil || !d.stays(pc, up)
}

// comesWithParent reports whether a part of a new table is made with that of its
// parent: foreign keys and checks are, unless their names differ.
func (d *differ) comesWithParent(t *catalog.Table, x *part) bool {
	if x.kind == 'c' {
		return x.inherited && (t.Bound == nil || d.remains(d.change(relName(t))))
	}
	if x.kind != 'f' {
		return false
	}
	_, up := d.b.parentPart(t, x)
	return up != nil && up.name == x.name
}

// partitionBy is the clause of CREATE TABLE, "" for tables without partitions.
func (d *differ) partitionBy(t *catalog.Table) string {
	if t.Key == nil {
		return ""
	}
	def, _ := d.b.env.GetPartKeyDef(t.OID)
	return " PARTITION BY " + def
}

// goesWithTable reports whether an old table is dropped with the one that it is a
// partition of.
func (d *differ) goesWithTable(t *catalog.Table) bool {
	p := d.a.snap.Parent(t)
	return p != nil && (d.b.table(relName(p)) == nil || d.goesWithTable(p))
}

// only is ONLY behind ALTER TABLE for constraints that partitions get on their own.
func only(t *catalog.Table, x *part) string {
	if t.Key != nil && x.kind == 'u' {
		return "ONLY "
	}
	return ""
}

// depth is the number of tables above a partition.
func depth(s *side, t *catalog.Table) int {
	n := 0
	for p := s.snap.Parent(t); p != nil; p = s.snap.Parent(p) {
		n++
	}
	return n
}

// deepestFirst orders names of tables of the new schema so that partitions come
// before what they are partitions of.
func (d *differ) deepestFirst(names []string) []string {
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := d.b.table(a), d.b.table(b)
		if x == nil || y == nil {
			return strings.Compare(a, b)
		}
		return depth(d.b, y) - depth(d.b, x)
	})
	return names
}
