package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// editType changes a copy of a user-defined type.
func (c *Change) editType(oid types.OID, change func(u *UserType) error) error {
	old := c.snap.TypeByOID(oid)
	if old == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", oid)
	}
	u := *old
	u.Labels, u.Checks, u.Columns = slices.Clone(old.Labels), slices.Clone(old.Checks), slices.Clone(old.Columns)
	if err := change(&u); err != nil {
		return err
	}
	return c.put(&u)
}

// AddEnumValue adds a label to an enum: at the end, or before or after a
// neighbour. The order numbers of the others stay as they are.
func (c *Change) AddEnumValue(oid types.OID, label string, ifNotExists bool, neighbour string, after bool) error {
	return c.editType(oid, func(u *UserType) error {
		if u.Kind != 'e' {
			return sqlerr.New(sqlerr.WrongObjectType, "%s is not an enum", c.snap.FormatType(types.Of(oid), c.DB, c.Path))
		}
		at := func(name string) int {
			return slices.IndexFunc(u.Labels, func(l EnumLabel) bool { return l.Label == name })
		}
		if at(label) >= 0 {
			if ifNotExists {
				n := c.notice("enum label \"%s\" already exists, skipping", label)
				n.Code = sqlerr.DuplicateObject
				c.tell(n)
				return nil
			}
			return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists", label)
		}
		pos, order := len(u.Labels), 1.0
		if len(u.Labels) > 0 {
			order = u.Labels[len(u.Labels)-1].Order + 1
		}
		if neighbour != "" {
			i := at(neighbour)
			if i < 0 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "\"%s\" is not an existing enum label", neighbour)
			}
			if after {
				i++
			}
			if pos = i; i < len(u.Labels) {
				if i == 0 {
					order = u.Labels[0].Order - 1
				} else {
					order = (u.Labels[i-1].Order + u.Labels[i].Order) / 2
				}
			}
		}
		l := EnumLabel{OID: c.alloc.AllocOID(), Label: label, Order: order}
		if pos > 0 && u.Labels[pos-1].Order == order || pos < len(u.Labels) && u.Labels[pos].Order == order {
			return sqlerr.New(sqlerr.FeatureNotSupported, "no order number is left between two labels of type \"%s\"", u.Name).Refusal()
		}
		u.Labels = slices.Insert(u.Labels, pos, l)
		if c.labels == nil {
			c.labels = map[types.OID]bool{}
		}
		c.labels[l.OID] = true
		return nil
	})
}

// RenameEnumValue renames a label. Stored rows hold labels, so that rewriting
// them is the caller's business.
func (c *Change) RenameEnumValue(oid types.OID, old, new string) error {
	err := c.editType(oid, func(u *UserType) error {
		i := slices.IndexFunc(u.Labels, func(l EnumLabel) bool { return l.Label == old })
		if i < 0 {
			return sqlerr.New(sqlerr.InvalidParameterValue, "\"%s\" is not an existing enum label", old)
		}
		if slices.ContainsFunc(u.Labels, func(l EnumLabel) bool { return l.Label == new }) {
			return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists", new)
		}
		u.Labels[i].Label = new
		return nil
	})
	if err != nil {
		return err
	}
	return c.renameInBounds(oid, old, new)
}

// renameInBounds renames a label in the bounds of partitions.
func (c *Change) renameInBounds(enum types.OID, old, new string) error {
	renamed := func(d types.Datum) (types.Datum, bool) {
		if d.Null || d.T.OID != enum || string(types.EnumLabel(d.B)) != old {
			return d, false
		}
		rank := d.B[:len(d.B)-len(old)]
		d.B = append(slices.Clone(rank), new...)
		return d, true
	}
	for _, t := range c.snap.Tables(c.DB) {
		if t.Bound == nil {
			continue
		}
		b, found := *t.Bound, false
		b.In = slices.Clone(b.In)
		for i := range b.In {
			d, is := renamed(b.In[i])
			b.In[i], found = d, found || is
		}
		for _, end := range []*[]BoundValue{&b.From, &b.To} {
			*end = slices.Clone(*end)
			for i := range *end {
				d, is := renamed((*end)[i].Val)
				(*end)[i].Val, found = d, found || is
			}
		}
		if !found {
			continue
		}
		if _, err := c.edit(t.OID, func(t *Table) error { t.Bound = &b; return nil }); err != nil {
			return err
		}
	}
	return nil
}

// SetAttributes gives a composite type its attributes. Stored values have a field
// for each: bringing them into the new form is the caller's business.
func (c *Change) SetAttributes(oid types.OID, cols []Column) error {
	return c.editType(oid, func(u *UserType) error { u.Columns = cols; return nil })
}

// AlterDomain changes a copy of a domain: default, NOT NULL.
func (c *Change) AlterDomain(oid types.OID, change func(u *UserType) error) error {
	return c.editType(oid, func(u *UserType) error {
		if u.Kind != 'd' {
			return sqlerr.New(sqlerr.WrongObjectType, "%s is not a domain", c.snap.FormatType(types.Of(oid), c.DB, c.Path))
		}
		return change(u)
	})
}

// AddDomainCheck adds a CHECK to a domain. Whether stored values satisfy it is
// the caller's business.
func (c *Change) AddDomainCheck(oid types.OID, k Check) error {
	return c.AlterDomain(oid, func(u *UserType) error { return c.addDomainCheck(u, k) })
}

// DropDomainConstraint removes a CHECK of a domain.
func (c *Change) DropDomainConstraint(oid types.OID, name string) error {
	return c.AlterDomain(oid, func(u *UserType) error {
		i := slices.IndexFunc(u.Checks, func(k *Check) bool { return k.Name == name })
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of domain \"%s\" does not exist", name, u.Name)
		}
		u.Checks = slices.Delete(u.Checks, i, i+1)
		return nil
	})
}
