package catalog

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// DefaultOpclass returns the default operator class of a type for btree, or 0.
func (s *Snapshot) DefaultOpclass(t types.T) types.OID {
	o := s.BaseType(t).OID
	in := s.TypeInfo(o)
	switch {
	case o == types.OVarchar:
		o = types.OText
	case o == types.OCidr:
		o = types.OInet
	case in == nil:
	case in.Kind == types.KOid && o != types.OOid:
		if k := FindCast(o, types.OOid); k != nil && k.Method == 'b' {
			o = types.OOid // the values are numbers of objects
		}
	case in.Kind == types.KArray && in.Category == 'A':
		o = types.OAnyarray
	case in.Kind == types.KEnum:
		o = types.OAnyenum
	case in.Kind == types.KRange:
		o = types.OAnyrange
	case in.Kind == types.KMultirange:
		o = types.OAnymultirange
	case in.Kind == types.KRecord:
		o = types.ORecord
	}
	return BtreeOpclass(o, "")
}

// BtreeOpclass returns the btree operator class of an input type: the one of the
// name, or the default; 0 when there is none.
func BtreeOpclass(in types.OID, name string) types.OID {
	if c := FindOpclass(OIDBtreeAm, in, name); c != nil {
		return c.OID
	}
	return 0
}

// FindOpclass returns the operator class of that name, or the default one of a
// type when name is "", or nil.
func FindOpclass(method, in types.OID, name string) *Opclass {
	list := Opclasses()
	for i := range list {
		c := &list[i]
		if c.Method == method && (name == "" && c.Default && c.InType == in || name != "" && c.Name == name) {
			return c
		}
	}
	return nil
}

// sortable checks that values of a type have an order, which an index needs.
func (c *Change) sortable(t types.T) error {
	if c.snap.DefaultOpclass(t) != 0 {
		return nil
	}
	return sqlerr.New(sqlerr.UndefinedObject, "data type %s has no default operator class for access method \"btree\"",
		c.snap.FormatType(t, c.DB, c.Path)).
		WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
}
