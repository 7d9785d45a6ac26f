package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// ATTACH and DETACH PARTITION: a table becomes a partition of another one, or
// stops being one; and the same for an index of a partition.

// AttachPartition makes a table a partition. The table keeps its columns in their
// places; it gets its parts of the parent's indexes and foreign keys. Whether its
// rows are within the bound is the caller's business.
func (c *Change) AttachPartition(parent, child types.OID, bound *PartBound) error {
	mark := c.Mark()
	err := c.attachPartition(parent, child, bound)
	if err != nil {
		c.RollbackTo(mark)
	}
	return err
}

func (c *Change) attachPartition(parent, child types.OID, bound *PartBound) error {
	p, err := c.table(parent)
	if err != nil {
		return err
	}
	_, err = c.edit(child, func(t *Table) error {
		if err := c.inheritColumns(p, t); err != nil {
			return err
		}
		if err := inheritChecks(p, t); err != nil {
			return err
		}
		t.Parents, t.Bound = []types.OID{parent}, bound
		return nil
	})
	if err != nil {
		return err
	}
	return c.giveParts(parent, child)
}

// MayAttach checks that a table can become a partition of p, but for its columns,
// constraints, rows and bound.
func (c *Change) MayAttach(p, t *Table) error {
	wrong := func(format string, args ...any) error { return sqlerr.New(sqlerr.WrongObjectType, format, args...) }
	switch {
	case t.Bound != nil:
		return wrong("\"%s\" is already a partition", t.Name)
	case t.OfType != 0:
		return wrong("cannot attach a typed table as partition")
	case len(t.Parents) > 0:
		return wrong("cannot attach inheritance child as partition")
	case t.Key == nil && c.snap.HasChildren(t.OID):
		return wrong("cannot attach inheritance parent as partition")
	case slices.Contains(c.snap.Tree(t), p):
		return sqlerr.New(sqlerr.DuplicateTable, "circular inheritance not allowed").WithDetail("\"%s\" is already a child of \"%s\".", p.Name, t.Name)
	case p.Temp && !t.Temp:
		return wrong("cannot attach a permanent relation as partition of temporary relation \"%s\"", p.Name)
	case !p.Temp && t.Temp:
		return wrong("cannot attach a temporary relation as partition of permanent relation \"%s\"", p.Name)
	}
	for i := range t.Columns {
		if col := &t.Columns[i]; !col.Dropped && p.Col(col.Name) < 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "table \"%s\" contains column \"%s\" not found in parent \"%s\"", t.Name, col.Name, p.Name).
				WithDetail("The new partition may contain only the columns present in parent.")
		}
	}
	for _, fk := range p.ForeignKeys { // its part would be a foreign key of the table to itself
		if slices.ContainsFunc(c.snap.Tree(t), func(m *Table) bool { return m.OID == fk.RefTable }) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot attach table \"%s\" as a partition because it is referenced by foreign key \"%s\"", t.Name, fk.Name)
		}
	}
	return nil
}

// inheritColumns marks the columns of t, which are those of its new parent.
func (c *Change) inheritColumns(p, t *Table) error {
	for i := range p.Columns {
		pc := &p.Columns[i]
		if pc.Dropped {
			continue
		}
		at := t.Col(pc.Name)
		if at < 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table is missing column \"%s\"", pc.Name)
		}
		col := &t.Columns[at]
		switch {
		case col.Type != pc.Type:
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table \"%s\" has different type for column \"%s\"", t.Name, pc.Name)
		case pc.NotNull && !col.NotNull:
			return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" in child table must be marked NOT NULL", pc.Name)
		case pc.Generated && !col.Generated:
			return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" in child table must be a generated column", pc.Name)
		case pc.Generated && pc.Default != col.Default:
			return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" in child table has a conflicting generation expression", pc.Name)
		case pc.Collation != col.Collation:
			return sqlerr.New(sqlerr.CollationMismatch, "child table \"%s\" has different collation for column \"%s\"", t.Name, pc.Name)
		}
		col.Inherited = Inherited{Parents: col.Parents + 1, NotLocal: p.Key != nil || col.NotLocal}
	}
	return nil
}

// inheritChecks finds the checks of a new parent among those of t.
func inheritChecks(p, t *Table) error {
	for _, k := range p.Checks {
		if k.NoInherit {
			continue
		}
		i := slices.IndexFunc(t.Checks, func(own *Check) bool { return own.Name == k.Name })
		if i < 0 {
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table is missing constraint \"%s\"", k.Name)
		}
		own := *t.Checks[i]
		switch {
		case own.Expr != k.Expr:
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table \"%s\" has different definition for check constraint \"%s\"", t.Name, k.Name)
		case own.NoInherit:
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "constraint \"%s\" conflicts with non-inherited constraint on child table \"%s\"", k.Name, t.Name)
		case own.NotValid && !k.NotValid:
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "constraint \"%s\" conflicts with NOT VALID constraint on child table \"%s\"", k.Name, t.Name)
		}
		own.Inherited = Inherited{Parents: own.Parents + 1, NotLocal: p.Key != nil || own.NotLocal}
		t.Checks[i] = &own
	}
	return nil
}

// DetachPartition makes a partition a table of its own. It keeps what it has.
func (c *Change) DetachPartition(parent, child types.OID) error {
	p, err := c.table(parent)
	if err != nil {
		return err
	}
	_, err = c.edit(child, func(t *Table) error {
		for _, at := range ColumnMap(p, t) {
			if at >= 0 {
				t.Columns[at].leave()
			}
		}
		for i, k := range t.Checks {
			if k.Parents > 0 {
				own := *k
				own.leave()
				t.Checks[i] = &own
			}
		}
		for i, ix := range t.Indexes {
			if ix.Parent != 0 {
				own := *ix
				own.Parent = 0
				t.Indexes[i] = &own
			}
		}
		for i, u := range t.Uniques {
			if u.Parent != 0 {
				own := *u
				own.Parent = 0
				t.Uniques[i] = &own
			}
		}
		for i, fk := range t.ForeignKeys {
			if fk.Parent != 0 {
				own := *fk
				own.Parent = 0
				t.ForeignKeys[i] = &own
			}
		}
		t.Parents, t.Bound = nil, nil
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.retarget(parent); err != nil {
		return err
	}
	t, err := c.table(child)
	if err != nil {
		return err
	}
	for _, fk := range t.ForeignKeys {
		if err := c.settleTargets(child, fk.OID); err != nil {
			return err
		}
	}
	return nil
}

// leave takes one parent away. What no parent has is the table's own.
func (i *Inherited) leave() {
	if i.Parents--; i.Parents <= 0 {
		*i = Inherited{}
	}
}

// AttachIndex makes an index of a partition the part of an index of its parent.
func (c *Change) AttachIndex(parent, index types.OID) error {
	p, ix := c.snap.IndexByOID(c.DB, parent)
	t, own := c.snap.IndexByOID(c.DB, index)
	if own.Parent == parent {
		return c.completeIndex(parent) // its last part may have become valid since
	}
	refused := func(code sqlerr.Code, detail string, args ...any) error {
		return sqlerr.New(code, "cannot attach index \"%s\" as a partition of index \"%s\"", own.Name, ix.Name).WithDetail(detail, args...)
	}
	if slices.ContainsFunc(t.Indexes, func(x *Index) bool { return x.Parent == parent }) {
		return refused(sqlerr.ObjectNotInPrerequisite, "Another index is already attached for partition \"%s\".", t.Name)
	}
	if own.Parent != 0 {
		return refused(sqlerr.ObjectNotInPrerequisite, "Index \"%s\" is already attached to another index.", own.Name)
	}
	if c.snap.Parent(t) != p {
		return refused(sqlerr.ObjectNotInPrerequisite, "Index \"%s\" is not an index on any partition of table \"%s\".", own.Name, p.Name)
	}
	pu, u := p.uniqueOf(ix), t.uniqueOf(own)
	if !sameIndex(ix, own, ColumnMap(p, t)) {
		return refused(sqlerr.InvalidObjectDefinition, "The index definitions do not match.")
	}
	if pu != nil && u == nil {
		return refused(sqlerr.InvalidObjectDefinition, "The index \"%s\" belongs to a constraint in table \"%s\" but no constraint exists for index \"%s\".",
			ix.Name, p.Name, own.Name)
	}
	if err := c.joinPart(t, own, ix, pu); err != nil {
		return err
	}
	return c.completeIndex(parent)
}

// completeIndex makes an index of a partitioned table valid once each partition
// has its part of it, and with it the index that it is a part of itself.
func (c *Change) completeIndex(index types.OID) error {
	for index != 0 {
		t, ix := c.snap.IndexByOID(c.DB, index)
		if !ix.Invalid {
			return nil
		}
		for _, child := range c.snap.Children(t.OID) {
			if !slices.ContainsFunc(child.Indexes, func(x *Index) bool { return x.Parent == index && !x.Invalid }) {
				return nil
			}
		}
		if err := c.EditIndex(index, func(ix *Index) { ix.Invalid = false }); err != nil {
			return err
		}
		index = ix.Parent
	}
	return nil
}
