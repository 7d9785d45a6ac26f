package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Changes of what children have from their parents. A column or a check that a
// table has from one parent alone goes with the parent's; one that another parent
// has, or that the table has of its own, stays.

// Inherit makes a table the child of one more parent. It keeps its columns and
// checks in their places and must have all those of the parent.
func (c *Change) Inherit(child, parent types.OID) error {
	p, err := c.table(parent)
	if err != nil {
		return err
	}
	_, err = c.edit(child, func(t *Table) error {
		if slices.Contains(t.Parents, parent) {
			return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" would be inherited from more than once", p.Name)
		}
		if err := c.inheritColumns(p, t); err != nil {
			return err
		}
		t.Parents = append(slices.Clone(t.Parents), parent)
		return inheritChecks(p, t)
	})
	return err
}

// Disinherit makes a table no longer a child of the parent. It keeps what it has.
func (c *Change) Disinherit(child, parent types.OID) error {
	p, err := c.table(parent)
	if err != nil {
		return err
	}
	_, err = c.edit(child, func(t *Table) error {
		if !slices.Contains(t.Parents, parent) {
			return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" is not a parent of relation \"%s\"", p.Name, t.Name)
		}
		t.Parents = slices.DeleteFunc(slices.Clone(t.Parents), func(o types.OID) bool { return o == parent })
		for _, at := range ColumnMap(p, t) {
			if at >= 0 && t.Columns[at].Parents > 0 {
				t.Columns[at].leave()
			}
		}
		for i, k := range t.Checks {
			if k.Parents > 0 && slices.ContainsFunc(p.Checks, func(o *Check) bool { return o.Name == k.Name && !o.NoInherit }) {
				own := *k
				own.leave()
				t.Checks[i] = &own
			}
		}
		return nil
	})
	return err
}

// EditCheck changes a copy of a check constraint.
func (c *Change) EditCheck(table types.OID, name string, change func(k *Check)) error {
	_, err := c.edit(table, func(t *Table) error {
		for i, k := range t.Checks {
			if k.Name == name {
				n := *k
				change(&n)
				t.Checks[i] = &n
			}
		}
		return nil
	})
	return err
}

// DropColumn drops a column of a table, and of the tables below that have it from
// there; with only, these keep it.
func (c *Change) DropColumn(table types.OID, name string, cascade, only bool) error {
	mark := c.Mark()
	var gone []node
	err := c.columnGoes(table, name, only, false, &gone)
	if err == nil {
		err = c.drop(cascade, gone...)
	}
	if err != nil {
		c.RollbackTo(mark)
	}
	return err
}

func (c *Change) columnGoes(table types.OID, name string, only, below bool, gone *[]node) error {
	t, err := c.table(table)
	if err != nil {
		return err
	}
	i := t.Col(name)
	switch {
	case i < 0 && slices.Contains(systemColumns, name):
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot drop system column \"%s\"", name)
	case i < 0:
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, t.Name)
	case t.Columns[i].Parents > 0 && !below:
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop inherited column \"%s\"", name)
	case t.InKey(i):
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop column \"%s\" because it is part of the partition key of relation \"%s\"", name, t.Name)
	}
	children := c.snap.Children(table)
	if only && t.Key != nil && len(children) > 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop column from only the partitioned table when partitions exist").
			WithHint("Do not specify the ONLY keyword.")
	}
	for _, child := range children {
		// As it is now: it may be a child of another child, too.
		if child, err = c.table(child.OID); err != nil {
			return err
		}
		k := child.Col(name)
		if col := child.Columns[k]; !only && col.Parents == 1 && col.NotLocal {
			err = c.columnGoes(child.OID, name, only, true, gone)
		} else {
			_, err = c.EditColumn(child.OID, name, func(_ *Table, col *Column) error {
				col.Parents--
				col.NotLocal = col.NotLocal && !only && col.Parents > 0
				return nil
			})
		}
		if err != nil {
			return err
		}
	}
	*gone = append(*gone, node{kind: nodeRelation, oid: table, sub: i + 1})
	return nil
}

// InKey reports whether the partition key reads a column.
func (t *Table) InKey(col int) bool {
	return t.Key != nil && slices.ContainsFunc(t.Key.Keys, func(k PartKeyCol) bool { return k.Col == col || slices.Contains(k.ExprCols, col) })
}

// DropConstraint drops a constraint of a table, and a check of the tables below
// that have it from there; with only, these keep it.
func (c *Change) DropConstraint(table types.OID, name string, cascade, only bool) error {
	mark := c.Mark()
	err := c.constraintGoes(table, name, cascade, only, false)
	if err != nil {
		c.RollbackTo(mark)
	}
	return err
}

func (c *Change) constraintGoes(table types.OID, name string, cascade, only, below bool) error {
	t, err := c.table(table)
	if err != nil {
		return err
	}
	oid := t.ConstraintOID(name)
	for _, fk := range t.ForeignKeys {
		if slices.ContainsFunc(fk.Targets, func(x FKTarget) bool { return x.Name == name }) {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop inherited constraint \"%s\" of relation \"%s\"", name, t.Name)
		}
	}
	if oid == 0 {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", name, t.Name)
	}
	if t.constraintParents(oid) > 0 && !below {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop inherited constraint \"%s\" of relation \"%s\"", name, t.Name)
	}
	i := slices.IndexFunc(t.Checks, func(k *Check) bool { return k.OID == oid })
	check := i >= 0
	goes := !check || t.Checks[i].NoInherit
	if err := c.drop(cascade, node{kind: nodeConstraint, oid: oid, table: table}); err != nil || goes {
		return err
	}
	children := c.snap.Children(table)
	if only && t.Key != nil && len(children) > 0 {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot remove constraint from only the partitioned table when partitions exist").
			WithHint("Do not specify the ONLY keyword.")
	}
	for _, child := range children {
		if child, err = c.table(child.OID); err != nil {
			return err
		}
		i := slices.IndexFunc(child.Checks, func(k *Check) bool { return k.Name == name })
		if k := child.Checks[i]; !only && k.Parents == 1 && k.NotLocal {
			err = c.constraintGoes(child.OID, name, cascade, only, true)
		} else {
			err = c.EditCheck(child.OID, name, func(k *Check) {
				k.Parents--
				k.NotLocal = k.NotLocal && !only && k.Parents > 0
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// constraintParents returns how many parents of the table have a constraint.
func (t *Table) constraintParents(oid types.OID) int {
	for _, k := range t.Checks {
		if k.OID == oid {
			return k.Parents
		}
	}
	part := slices.ContainsFunc(t.Uniques, func(u *Unique) bool { return u.OID == oid && u.Parent != 0 }) ||
		slices.ContainsFunc(t.ForeignKeys, func(k *ForeignKey) bool { return k.OID == oid && k.Parent != 0 })
	if part {
		return 1
	}
	return 0
}
