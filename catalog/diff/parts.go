package diff

import (
	"cmp"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// part is a constraint or an index of a table.
type part struct {
	kind    byte // f foreign key, i index, u unique or primary key, c check
	name    string
	def     string // after ADD CONSTRAINT name, or the whole CREATE INDEX
	oid     types.OID
	cols    []int // columns of its own table that it reads
	comment string
	fk      *catalog.ForeignKey
	index   types.OID // of unique constraints
	// indexComment is that of a unique constraint's index, which has one of its own.
	indexComment string
	parent       types.OID // what it is a part of in the tree of a partition, or 0
	// inherited tells of a check that the table has from its parents alone.
	inherited bool
}

// parts lists a table's constraints and its indexes that serve no constraint.
func (d *side) parts(t *catalog.Table) []part {
	var out []part
	add := func(p part) {
		if p.def == "" {
			p.def, _ = d.env.GetConstraintDef(p.oid, false)
		}
		out = append(out, p)
	}
	for _, u := range t.Uniques {
		p := part{kind: 'u', name: u.Name, oid: u.OID, cols: slices.Clone(u.Cols), comment: u.Comment, index: u.Index, parent: u.Parent,
			def: d.env.UniqueCommand(t, u)}
		if ix := t.IndexByOID(u.Index); ix != nil {
			p.cols = append(append(p.cols, ix.Include...), ix.ExprCols...)
			p.indexComment = ix.Comment
		}
		add(p)
	}
	for _, k := range t.Checks {
		add(part{kind: 'c', name: k.Name, oid: k.OID, cols: k.Cols, comment: k.Comment, inherited: k.NotLocal})
	}
	for _, ix := range t.Indexes {
		if ix.Primary || ix.Constraint != 0 {
			continue
		}
		p := part{kind: 'i', name: ix.Name, oid: ix.OID, comment: ix.Comment, index: ix.OID, parent: ix.Parent}
		p.cols = append(append(p.cols, ix.ExprCols...), ix.Include...)
		for _, k := range ix.Keys {
			if k.Col >= 0 {
				p.cols = append(p.cols, k.Col)
			}
		}
		p.def, _ = d.env.GetIndexDef(ix.OID, 0, false)
		add(p)
	}
	for _, fk := range t.ForeignKeys {
		add(part{kind: 'f', name: fk.Name, oid: fk.OID, cols: append(slices.Clone(fk.Cols), fk.DelCols...), comment: fk.Comment, fk: fk, parent: fk.Parent})
	}
	slices.SortFunc(out, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return out
}

func find(list []part, p *part) *part {
	for i := range list {
		if list[i].kind == p.kind && list[i].name == p.name {
			return &list[i]
		}
	}
	return nil
}

// stays reports whether a part of an old table is left alone.
func (d *differ) stays(c *tableChange, p *part) bool {
	same := find(d.b.parts(c.to), p)
	if same == nil || same.def != p.def || d.goesWithParent(c, p) {
		return false
	}
	for _, i := range p.cols {
		if c.touched(c.old.Columns[i].Name) {
			return false
		}
	}
	if p.fk == nil {
		return true
	}
	ref := d.a.snap.Table(p.fk.RefTable)
	rc := d.change(relName(ref))
	if rc == nil {
		return false
	}
	for _, i := range p.fk.RefCols {
		if rc.touched(ref.Columns[i].Name) {
			return false
		}
	}
	for _, other := range d.a.parts(ref) {
		if other.index != 0 && other.index == p.fk.RefIndex {
			return d.stays(rc, &other)
		}
	}
	return true
}

// qualified is an index's name with its schema.
func qualified(t *catalog.Table, name string) string { return catalog.QualifiedIdent(t.Schema, name) }

// dropParts drops the parts that do not stay, and what else is in the way of the
// columns' changes.
func (d *differ) dropParts() {
	var droppedTables []*catalog.Table
	for _, n := range sortedKeys(d.a.rels) {
		if t := d.a.table(n); t != nil && d.b.table(n) == nil {
			droppedTables = append(droppedTables, t)
		}
	}
	for _, kind := range []byte{'f', 'i', 'u', 'c'} {
		for _, c := range d.tables {
			for _, p := range d.a.parts(c.old) {
				switch {
				case p.kind != kind || d.stays(c, &p) || d.goesWithParent(c, &p):
				case d.remains(c) && (p.parent != 0 || p.inherited && find(d.b.parts(c.to), &p) != nil):
					d.refuse("changing %s of partition %s, which belongs to its parent's", catalog.QuoteIdent(p.name), c.name)
				case d.remains(c) && p.inherited: // it goes with the parent's
				case kind == 'i':
					d.add("DROP INDEX ", qualified(c.old, p.name))
				case d.checkOfParents(c, &p) && p.inherited: // it goes with the parents'
				case d.checkOfParents(c, &p):
					d.refuse("changing check %s of table %s, which its parents have, too,", p.name, c.name)
				default:
					d.add("ALTER TABLE ", c.name, " DROP CONSTRAINT ", catalog.QuoteIdent(p.name))
				}
			}
		}
		if kind != 'f' {
			continue
		}
		for _, t := range droppedTables {
			for _, fk := range t.ForeignKeys {
				if fk.Parent != 0 || d.holdsPlace(t, fk) {
					continue // it goes with that of the parent, or with the table
				}
				d.add("ALTER TABLE ", relName(t), " DROP CONSTRAINT ", catalog.QuoteIdent(fk.Name))
			}
		}
	}
	for _, n := range sortedKeys(d.a.rels) {
		v, ok := d.a.rels[n].(*catalog.View)
		to, _ := d.b.rels[n].(*catalog.View)
		if !ok || v.Materialized == nil || to == nil || d.again[n] != nil {
			continue
		}
		for _, p := range d.a.parts(v.Materialized) {
			if same := find(d.b.parts(to.Materialized), &p); same == nil || same.def != p.def {
				d.add("DROP INDEX ", qualified(v.Materialized, p.name))
			}
		}
	}
	for _, c := range d.tables {
		alter := "ALTER TABLE " + c.name + " "
		if d.follows[c] {
			continue
		}
		for _, x := range live(c.old) {
			n := catalog.QuoteIdent(x.Name)
			if d.dropsDefault(c, x) {
				d.add(alter, "ALTER COLUMN ", n, " DROP DEFAULT")
			}
			if d.dropsIdentity(c, x) {
				d.add(alter, "ALTER COLUMN ", n, " DROP IDENTITY")
			}
		}
	}
	d.keepSequences()
}

// dropRelations drops columns, tables and sequences.
func (d *differ) dropRelations() {
	for _, c := range d.tables {
		if d.follows[c] {
			continue
		}
		for _, pass := range []bool{true, false} { // generated columns read others
			for _, x := range live(c.old) {
				if x.Generated == pass && (c.remade[x.Name] || slices.Contains(c.gone, x.Name)) {
					d.add("ALTER TABLE ", c.name, " DROP COLUMN ", catalog.QuoteIdent(x.Name))
				}
			}
		}
	}
	var tables []*catalog.Table
	for _, n := range sortedKeys(d.a.rels) {
		if t := d.a.table(n); t != nil && d.b.table(n) == nil && !d.goesWithTable(t) {
			tables = append(tables, t)
		}
	}
	slices.SortStableFunc(tables, func(a, b *catalog.Table) int {
		return cmp.Or(d.depth(b)-d.depth(a), d.a.generation(b)-d.a.generation(a))
	})
	for _, t := range tables {
		d.add("DROP TABLE ", relName(t))
	}
	for _, n := range sortedKeys(d.a.rels) {
		q := d.a.sequence(n)
		if q == nil || d.b.sequence(n) != nil {
			continue
		}
		if table, col := d.a.ownerOf(q); table != "" {
			c := d.change(table)
			if c == nil || c.remade[col] || slices.Contains(c.gone, col) {
				continue // went with its column
			}
		}
		d.add("DROP SEQUENCE ", n)
	}
}

// makeParts makes constraints and indexes; foreign keys last.
func (d *differ) makeParts() {
	var partial []tablePart
	for _, kind := range []byte{'u', 'c', 'i', 'f'} {
		if kind == 'f' {
			d.attachPartitions()
			d.joinParents()
			d.attachIndexes()
			for _, x := range partial {
				d.makePart(x.t, &x.p)
			}
		}
		for _, n := range d.deepestFirst(sortedKeys(d.b.rels)) {
			t := d.b.table(n)
			if t == nil {
				continue
			}
			c := d.change(n)
			for _, p := range d.b.parts(t) {
				if p.kind != kind || d.comesWithParent(t, &p) {
					continue
				}
				if c != nil {
					if old := find(d.a.parts(c.old), &p); old != nil && d.stays(c, old) {
						d.partComment(t, &p, old)
						continue
					}
				}
				if t.Key != nil && kind == 'i' && t.IndexByOID(p.oid).Invalid {
					if d.b.anyHas(t, p.oid) {
						d.refuse("making index %s, which some partitions of table %s have and others do not,", p.name, n)
					}
					partial = append(partial, tablePart{t, p}) // attaching partitions would give them theirs
					continue
				}
				d.makePart(t, &p)
			}
		}
	}
}

func (d *differ) makePart(t *catalog.Table, p *part) {
	if p.kind == 'i' {
		d.add(p.def)
	} else {
		d.add("ALTER TABLE ", only(t, p), relName(t), " ADD CONSTRAINT ", catalog.QuoteIdent(p.name), " ", p.def)
	}
	d.partComment(t, p, &part{})
}

func (d *differ) partComment(t *catalog.Table, p, old *part) {
	if p.kind == 'i' {
		d.comment("INDEX", qualified(t, p.name), old.comment, p.comment)
		return
	}
	d.comment("CONSTRAINT", catalog.QuoteIdent(p.name)+" ON "+relName(t), old.comment, p.comment)
	d.comment("INDEX", qualified(t, p.name), old.indexComment, p.indexComment)
}
