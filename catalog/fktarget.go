package catalog

import (
	"slices"

	"kvsqld/catalog/types"
)

// Foreign keys that refer to a partitioned table. The rows that they refer to are
// in its partitions; pg_constraint has a constraint for each of these, below the
// one that was asked for, and errors name it. Only the foreign key at the top of
// the tree of referencing tables has them; its parts refer to the top of the tree
// of referenced ones alone.

// FKTarget is the constraint for a partition of the referenced table.
type FKTarget struct {
	OID   types.OID
	Name  string
	Table types.OID // the partition
	// Unwatched is ForeignKey.Unwatched for the rows of the partition.
	Unwatched bool
}

// TargetFor returns what a foreign key has for a partition, or nil.
func (fk *ForeignKey) TargetFor(table types.OID) *FKTarget {
	for i := range fk.Targets {
		if fk.Targets[i].Table == table {
			return &fk.Targets[i]
		}
	}
	return nil
}

// RootKey returns the foreign key, and its table, that another one is a part of at
// the top.
func (s *Snapshot) RootKey(t *Table, fk *ForeignKey) (*Table, *ForeignKey) {
	for fk.Parent != 0 {
		p := s.Parent(t)
		if p == nil {
			break
		}
		i := slices.IndexFunc(p.ForeignKeys, func(x *ForeignKey) bool { return x.OID == fk.Parent })
		if i < 0 {
			break
		}
		t, fk = p, p.ForeignKeys[i]
	}
	return t, fk
}

// PartOf returns the index of a member of a tree that is the part of an index above
// it, nil when it has none.
func (s *Snapshot) PartOf(index types.OID, t *Table) *Index {
	for _, own := range t.Indexes {
		for up, at := own, t; up != nil; {
			if up.OID == index {
				return own
			}
			if at = s.Parent(at); at == nil {
				break
			}
			up = at.IndexByOID(up.Parent)
		}
	}
	return nil
}

// Referencing returns the foreign keys that refer to the table, in the order of
// the referencing table's OID. Those that refer to a table above it refer to its
// rows as well: they are returned as if they named the table itself.
func (s *Snapshot) Referencing(db, table types.OID) []FKRef {
	out := s.referencing(db, table)
	t := s.Table(table)
	if t == nil {
		return out
	}
	at := columnsOf(t)
	for c := t; ; {
		p := s.Parent(c)
		if p == nil {
			return out
		}
		at = through(ColumnMap(p, c), at)
		for _, ref := range s.referencing(db, p.OID) {
			if own := s.narrow(ref, t, at); own != nil {
				out = append(out, *own)
			}
		}
		c = p
	}
}

// columnsOf maps the columns of a table to themselves.
func columnsOf(t *Table) []int {
	out := make([]int, len(t.Columns))
	for i := range out {
		out[i] = i
	}
	return out
}

// through combines two maps of columns.
func through(a, b []int) []int {
	out := make([]int, len(a))
	for i, c := range a {
		if out[i] = c; c >= 0 {
			out[i] = b[c]
		}
	}
	return out
}

// narrow returns a foreign key that refers to a table above t as one that refers to
// t. at tells where the upper table's columns are in t.
func (s *Snapshot) narrow(ref FKRef, t *Table, at []int) *FKRef {
	ix := s.PartOf(ref.FK.RefIndex, t)
	if ix == nil {
		return nil
	}
	fk := *ref.FK
	_, root := s.RootKey(ref.Table, ref.FK)
	if target := root.TargetFor(t.OID); target != nil {
		fk.Name = target.Name
	}
	fk.RefTable, fk.RefCols, fk.RefIndex = t.OID, mapped(fk.RefCols, at), ix.OID
	return &FKRef{Table: ref.Table, FK: &fk, Named: ref.FK.RefTable}
}

// referencing returns the foreign keys that name the table.
func (s *Snapshot) referencing(db, table types.OID) []FKRef {
	var out []FKRef
	for _, oid := range s.refs.get(table) {
		t := s.Table(oid)
		if t == nil || t.DB != db {
			continue
		}
		for _, fk := range t.ForeignKeys {
			if fk.RefTable == table {
				out = append(out, FKRef{t, fk, table})
			}
		}
	}
	return out
}

// addTargets gives a foreign key of t its constraints for the partitions of the
// referenced table that it has none for.
func (c *Change) addTargets(t *Table, fk *ForeignKey) {
	taken := func(n string) bool { return c.constraintTaken(t.Schema, n) || slices.Contains(t.constraintNames(), n) }
	for _, m := range c.snap.below(fk.RefTable) {
		if fk.TargetFor(m.OID) == nil {
			fk.addTarget(c.alloc, t, m.OID, taken)
		}
	}
}

// below returns the partitions below a table in the order of their bounds, each behind
// the one that it is a partition of and before the next one of that.
func (s *Snapshot) below(table types.OID) []*Table {
	parts := slices.DeleteFunc(s.Children(table), func(c *Table) bool { return c.Bound == nil })
	slices.SortStableFunc(parts, func(a, b *Table) int { return CompareBounds(a.Bound, b.Bound) })
	var out []*Table
	for _, c := range parts {
		out = append(append(out, c), s.below(c.OID)...)
	}
	return out
}

// addTarget gives a foreign key of t its constraint for one partition.
func (fk *ForeignKey) addTarget(alloc Allocator, t *Table, part types.OID, taken func(string) bool) {
	used := func(n string) bool {
		return n == fk.Name || taken(n) || slices.ContainsFunc(fk.Targets, func(x FKTarget) bool { return x.Name == n })
	}
	cols := make([]string, len(fk.Cols))
	for i, c := range fk.Cols {
		cols[i] = t.Columns[c].Name
	}
	name := chooseName(t.Name, joinColumnNames(cols), "fkey", used)
	fk.Targets = append(fk.Targets, FKTarget{OID: alloc.AllocOID(), Name: name, Table: part})
}

// retarget brings the constraints of the foreign keys that refer to a partitioned
// table, or to one above it, up to date after a partition came or went.
func (c *Change) retarget(parent types.OID) error {
	for oid := parent; ; {
		p := c.snap.Table(oid)
		for _, ref := range c.snap.referencing(c.DB, oid) {
			if ref.FK.Parent != 0 {
				continue
			}
			if err := c.settleTargets(ref.Table.OID, ref.FK.OID); err != nil {
				return err
			}
		}
		if p = c.snap.Parent(p); p == nil {
			return nil
		}
		oid = p.OID
	}
}

// settleTargets makes the targets of a foreign key those of the partitions that the
// referenced table has.
func (c *Change) settleTargets(table, key types.OID) error {
	_, err := c.edit(table, func(t *Table) error {
		i := slices.IndexFunc(t.ForeignKeys, func(fk *ForeignKey) bool { return fk.OID == key })
		fk := *t.ForeignKeys[i]
		fk.Targets = nil
		if fk.Parent == 0 {
			tree := c.snap.below(fk.RefTable)
			for _, x := range t.ForeignKeys[i].Targets {
				if slices.ContainsFunc(tree, func(m *Table) bool { return m.OID == x.Table }) {
					fk.Targets = append(fk.Targets, x)
				}
			}
			c.addTargets(t, &fk)
		}
		t.ForeignKeys[i] = &fk
		return nil
	})
	return err
}
