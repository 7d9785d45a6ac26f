package catalog

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// SetComment sets an object's comment; "" removes it.
func (c *Change) SetComment(oid types.OID, text string) error {
	o := c.snap.objs.get(oid)
	if o == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "object with OID %d does not exist", oid)
	}
	return c.put(withCommon(o, func(co *Common) { co.Comment = text }))
}

// SetColumnComment sets the comment of a column of a table or view.
func (c *Change) SetColumnComment(rel types.OID, name, text string) error {
	if v, ok := c.snap.objs.get(rel).(*View); ok {
		n := *v
		n.Columns = append([]Column(nil), v.Columns...)
		for i := range n.Columns {
			if n.Columns[i].Name == name {
				n.Columns[i].Comment = text
				return c.put(&n)
			}
		}
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, v.Name)
	}
	_, err := c.EditColumn(rel, name, func(_ *Table, col *Column) error {
		col.Comment = text
		return nil
	})
	return err
}

// SetAttributeComment sets the comment of an attribute of a composite type.
func (c *Change) SetAttributeComment(typ types.OID, name, text string) error {
	u, ok := c.snap.objs.get(typ).(*UserType)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedObject, "object with OID %d does not exist", typ)
	}
	n := *u
	n.Columns = append([]Column(nil), u.Columns...)
	for i := range n.Columns {
		if n.Columns[i].Name == name {
			n.Columns[i].Comment = text
			return c.put(&n)
		}
	}
	return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, u.Name)
}

// SetDomainComment sets the comment of a domain's constraint.
func (c *Change) SetDomainComment(domain types.OID, name, text string) error {
	return c.editType(domain, func(u *UserType) error {
		for i, k := range u.Checks {
			if k.Name == name {
				n := *k
				n.Comment = text
				u.Checks[i] = &n
				return nil
			}
		}
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for domain %s does not exist", name, QuoteIdent(u.Name))
	})
}

// SetIndexComment sets an index's comment.
func (c *Change) SetIndexComment(index types.OID, text string) error {
	return c.EditIndex(index, func(ix *Index) { ix.Comment = text })
}

// SetConstraintComment sets the comment of a table's constraint.
func (c *Change) SetConstraintComment(table types.OID, name, text string) error {
	_, err := c.edit(table, func(t *Table) error {
		if !t.editConstraint(name, func(_, comment *string) { *comment = text }) {
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", name, t.Name)
		}
		return nil
	})
	return err
}

// editConstraint changes the name and comment of a copy of a constraint.
func (t *Table) editConstraint(name string, change func(name, comment *string)) bool {
	for i, k := range t.Uniques {
		if k.Name == name {
			n := *k
			change(&n.Name, &n.Comment)
			t.Uniques[i] = &n
			return true
		}
	}
	for i, k := range t.Checks {
		if k.Name == name {
			n := *k
			change(&n.Name, &n.Comment)
			t.Checks[i] = &n
			return true
		}
	}
	for i, k := range t.ForeignKeys {
		if k.Name == name {
			n := *k
			change(&n.Name, &n.Comment)
			t.ForeignKeys[i] = &n
			return true
		}
	}
	return false
}
