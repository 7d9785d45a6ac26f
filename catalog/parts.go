package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// The parts of a partitioned table's indexes and constraints: each partition has
// an index of its own for each index of the table, and so on downwards.

// mapped translates columns of a parent into those of a child.
func mapped(cols []int, at []int) []int {
	if cols == nil {
		return nil
	}
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = at[c]
	}
	return out
}

// uniqueOf returns the constraint that the index serves, or nil.
func (t *Table) uniqueOf(ix *Index) *Unique {
	for _, u := range t.Uniques {
		if u.Index == ix.OID {
			return u
		}
	}
	return nil
}

// findPart returns an index of the partition that can be the part of an index of
// its parent: one of the same definition that is no part yet, and is valid if it must be.
func findPart(parent *Table, ix *Index, child *Table, at []int, valid bool) *Index {
	for _, own := range child.Indexes {
		if own.Parent == 0 && !(valid && own.Invalid) && samePart(parent, ix, child, own, at) {
			return own
		}
	}
	return nil
}

func samePart(parent *Table, ix *Index, child *Table, own *Index, at []int) bool {
	// A constraint's index is a part only with a constraint of its own.
	u, pu := child.uniqueOf(own), parent.uniqueOf(ix)
	return sameIndex(ix, own, at) && (pu == nil || u != nil && u.Primary == pu.Primary && u.Deferrable == pu.Deferrable)
}

// sameIndex reports whether an index of a partition has the definition of one of
// its parent.
func sameIndex(ix, own *Index, at []int) bool {
	if own.Unique != ix.Unique || own.Kind != ix.Kind || own.Where != ix.Where || own.NullsNotDistinct != ix.NullsNotDistinct ||
		len(own.Keys) != len(ix.Keys) || !slices.Equal(own.Include, mapped(ix.Include, at)) {
		return false
	}
	for i, k := range ix.Keys {
		o := own.Keys[i]
		if k.Col >= 0 {
			k.Col = at[k.Col]
		}
		if o.Col != k.Col || o.Expr != k.Expr || o.Desc != k.Desc || o.NullsFirst != k.NullsFirst || o.Opclass != k.Opclass ||
			o.Collation != k.Collation {
			return false
		}
	}
	return true
}

func sameForeignKey(fk, own *ForeignKey, at []int) bool {
	return fk.RefTable == own.RefTable && slices.Equal(own.Cols, mapped(fk.Cols, at)) && slices.Equal(fk.RefCols, own.RefCols) &&
		fk.OnDelete == own.OnDelete && fk.OnUpdate == own.OnUpdate && fk.Match == own.Match && fk.Deferrable == own.Deferrable &&
		fk.InitiallyDeferred == own.InitiallyDeferred && slices.Equal(own.DelCols, mapped(fk.DelCols, at))
}

// keyCovers checks that a unique index of a partitioned table has the columns of
// the partition key: otherwise equal keys could be in two partitions.
func (t *Table) keyCovers(ix *Index, what string) error {
	if t.Key == nil {
		return nil
	}
	for _, k := range t.Key.Keys {
		if k.Col < 0 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "unsupported %s constraint with partition key definition", what).
				WithDetail("%s constraints cannot be used when partition keys include expressions.", what)
		}
		if !slices.ContainsFunc(ix.Keys, func(x IndexKey) bool { return x.Col == k.Col }) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "unique constraint on partitioned table must include all partitioning columns").
				WithDetail("%s constraint on table \"%s\" lacks column \"%s\" which is part of the partition key.", what, t.Name, t.Columns[k.Col].Name)
		}
	}
	return nil
}

// giveParts makes the parts of all indexes and foreign keys of a partitioned table
// in one partition, and in what is below it.
func (c *Change) giveParts(parent, child types.OID) error {
	p, err := c.table(parent)
	if err != nil {
		return err
	}
	for _, ix := range p.Indexes {
		if err := c.givePart(parent, ix.OID, child, true); err != nil {
			return err
		}
	}
	if err := c.retarget(parent); err != nil {
		return err
	}
	if p, err = c.table(parent); err != nil {
		return err
	}
	for _, fk := range p.ForeignKeys {
		if err := c.giveForeignKey(parent, fk, child); err != nil {
			return err
		}
	}
	return nil
}

// spreadConstraint gives the partitions of a table their parts of the constraint
// that was added last.
func (c *Change) spreadConstraint(t *Table, spec *ConstraintSpec) (*Table, error) {
	var err error
	switch spec.Kind {
	case 'p', 'u':
		err = c.settleIndex(t.OID, t.Uniques[len(t.Uniques)-1].Index, spec.Only)
	case 'f':
		err = c.spreadForeignKey(t.OID, t.ForeignKeys[len(t.ForeignKeys)-1])
	}
	if err != nil {
		return nil, err
	}
	return c.table(t.OID)
}

// settleIndex completes a new index of a partitioned table: its partitions get
// their parts or, when only the table itself was named, it waits for them.
func (c *Change) settleIndex(table, index types.OID, only bool) error {
	if !only {
		return c.spreadIndex(table, index)
	}
	if !c.snap.HasChildren(table) {
		return nil
	}
	return c.EditIndex(index, func(ix *Index) { ix.Invalid = true })
}

// spreadIndex makes the parts of a new index of a partitioned table.
func (c *Change) spreadIndex(table, index types.OID) error {
	for _, child := range c.snap.Children(table) {
		if child.Bound == nil {
			continue
		}
		if err := c.givePart(table, index, child.OID, false); err != nil {
			return err
		}
	}
	return nil
}

// givePart gives a partition its part of an index: one that it has, or a new one. A new
// index of the parent also takes one that is not valid, and is not valid itself then.
func (c *Change) givePart(parent, index, child types.OID, valid bool) error {
	p, err := c.table(parent)
	if err != nil {
		return err
	}
	t, err := c.table(child)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(t.Indexes, func(x *Index) bool { return x.Parent == index }) {
		return nil // a part came along with its parent
	}
	ix, at := p.IndexByOID(index), ColumnMap(p, t)
	pu := p.uniqueOf(ix)
	if own := findPart(p, ix, t, at, valid); own != nil { // with parts of its own, or waiting for them
		if err := c.joinPart(t, own, ix, pu); err != nil || !own.Invalid {
			return err
		}
		return c.EditIndex(index, func(ix *Index) { ix.Invalid = true })
	}
	part, err := c.newPart(p, t, ix, pu, at)
	if err != nil || t.Key == nil {
		return err
	}
	if err := c.spreadIndex(child, part); err != nil {
		return err
	}
	if _, made := c.snap.IndexByOID(c.DB, part); made.Invalid {
		return c.EditIndex(index, func(ix *Index) { ix.Invalid = true })
	}
	return nil
}

// joinPart makes an index of a partition the part of its parent's.
func (c *Change) joinPart(t *Table, own, ix *Index, pu *Unique) error {
	n := copyTable(t)
	for i := range n.Indexes {
		if n.Indexes[i] == own {
			x := *own
			x.Parent = ix.OID
			n.Indexes[i] = &x
		}
	}
	for i, u := range n.Uniques {
		if pu != nil && u.Index == own.OID {
			x := *u
			x.Parent = pu.OID
			n.Uniques[i] = &x
		}
	}
	return c.put(n)
}

// newPart makes a partition's part of an index of its parent.
func (c *Change) newPart(parent, t *Table, ix *Index, pu *Unique, at []int) (types.OID, error) {
	n := copyTable(t)
	own := *ix
	own.OID, own.Parent, own.Comment, own.Constraint, own.Invalid = c.alloc.AllocOID(), ix.OID, "", 0, false
	own.Space, own.File = 0, ""
	own.Include, own.ExprCols = mapped(ix.Include, at), mapped(ix.ExprCols, at)
	own.Keys = slices.Clone(ix.Keys)
	var names []string
	for i := range own.Keys {
		k := &own.Keys[i]
		name := parent.KeyName(k)
		names = addName(names, name)
		if k.Col >= 0 {
			if k.Col, k.Name = at[k.Col], name; name == t.Columns[k.Col].Name {
				k.Name = ""
			}
		}
	}
	for _, i := range own.Include {
		names = addName(names, t.Columns[i].Name)
	}
	label, middle := "idx", joinColumnNames(names)
	switch {
	case pu != nil && pu.Primary:
		label, middle = "pkey", ""
	case pu != nil:
		label = "key"
	}
	own.Name = chooseName(t.Name, middle, label, func(s string) bool {
		return c.relationTaken(t.Schema, s) || pu != nil && c.constraintTaken(t.Schema, s)
	})
	if pu != nil {
		u := *pu
		u.OID, u.Name, u.Index, u.Parent, u.Comment = c.alloc.AllocOID(), own.Name, own.OID, pu.OID, ""
		u.Derived = true
		u.Cols = mapped(pu.Cols, at)
		own.Constraint = u.OID
		if pu.Primary {
			if len(n.PK) > 0 {
				return 0, sqlerr.New(sqlerr.InvalidTableDefinition, "multiple primary keys for table \"%s\" are not allowed", t.Name)
			}
			n.PK = u.Cols
			for _, i := range n.PK {
				n.Columns[i].NotNull = true
			}
		}
		n.Uniques = append(n.Uniques, &u)
	}
	if err := n.keyCovers(&own, keyWord(pu)); own.Unique && err != nil {
		return 0, err
	}
	if !own.Primary || n.Cluster != nil || pu.Deferrable {
		c.indexFile(n, &own, "")
	}
	n.Indexes = append(n.Indexes, &own)
	return own.OID, c.put(n)
}

// keyWord names a constraint in messages.
func keyWord(u *Unique) string {
	if u != nil && u.Primary {
		return "PRIMARY KEY"
	}
	return "UNIQUE"
}

// giveForeignKey gives a partition its part of a foreign key.
func (c *Change) giveForeignKey(parent types.OID, fk *ForeignKey, child types.OID) error {
	p, err := c.table(parent)
	if err != nil {
		return err
	}
	t, err := c.table(child)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(t.ForeignKeys, func(x *ForeignKey) bool { return x.Parent == fk.OID }) {
		return nil // as of an index
	}
	at := ColumnMap(p, t)
	n := copyTable(t)
	own := *fk
	own.Parent, own.Comment, own.Targets = fk.OID, "", nil
	own.Unchecked, own.Unwatched = false, false
	own.Cols, own.DelCols = mapped(fk.Cols, at), mapped(fk.DelCols, at)
	i := slices.IndexFunc(n.ForeignKeys, func(x *ForeignKey) bool { return x.Parent == 0 && sameForeignKey(fk, x, at) })
	if i >= 0 {
		own.OID, own.Name, own.Comment = n.ForeignKeys[i].OID, n.ForeignKeys[i].Name, n.ForeignKeys[i].Comment
		n.ForeignKeys[i] = &own
	} else {
		own.OID = c.alloc.AllocOID()
		if slices.Contains(n.constraintNames(), own.Name) {
			var names []string
			for _, i := range own.Cols {
				names = append(names, n.Columns[i].Name)
			}
			own.Name = chooseName(n.Name, joinColumnNames(names), "fkey", func(s string) bool { return c.constraintTaken(n.Schema, s) })
		}
		n.ForeignKeys = append(n.ForeignKeys, &own)
	}
	if err := c.put(n); err != nil || n.Key == nil {
		return err
	}
	return c.spreadForeignKey(n.OID, &own)
}

// spreadForeignKey makes the parts of a new foreign key of a partitioned table.
func (c *Change) spreadForeignKey(table types.OID, fk *ForeignKey) error {
	for _, child := range c.snap.Children(table) {
		if child.Bound == nil {
			continue
		}
		if err := c.giveForeignKey(table, fk, child.OID); err != nil {
			return err
		}
	}
	return nil
}
