package catalog

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// DefaultOpclass returns the access method's default operator class of a type,
// which may be one of its whole family (anyarray), or nil.
func (s *Snapshot) DefaultOpclass(method types.OID, t types.T) *Opclass {
	o := s.BaseType(t).OID
	if in := s.TypeInfo(o); in != nil && in.Kind == types.KOid && o != types.OOid {
		if c := FindOpclass(method, o, ""); c != nil {
			return c
		}
	}
	return FindOpclass(method, s.opclassType(t), "")
}

// opclassType is the type whose operators, and operator classes, serve a type.
func (s *Snapshot) opclassType(t types.T) types.OID {
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
	return o
}

// FindOpclass returns the access method's operator class of that name, or the
// default one of an input type when name is "", or nil.
func FindOpclass(method, in types.OID, name string) *Opclass {
	for _, list := range [][]Opclass{Opclasses(), typeOpclasses()} {
		for i := range list {
			c := &list[i]
			if c.Method == method && (name == "" && c.Default && c.InType == in || name != "" && c.Name == name) {
				return c
			}
		}
	}
	return nil
}

// OpclassAccepts reports whether values of a type can be keys of an operator class:
// whether they are of its input type, or become so without a change.
func (s *Snapshot) OpclassAccepts(c *Opclass, t types.T) bool {
	of := s.BaseType(t).OID
	if c.InType == of || c.InType == s.opclassType(t) {
		return true
	}
	cast := FindCast(of, c.InType)
	return cast != nil && cast.Method == 'b'
}

// resolveOpclass returns the name by which a key of the type keeps an operator class
// that was given by name: "" for the type's default one.
func (c *Change) resolveOpclass(method types.OID, name string, t types.T) (string, error) {
	class := c.snap.KeyOpclass(c.DB, method, t, name)
	if class == nil || !c.snap.OpclassAccepts(class, t) {
		return "", sqlerr.New(sqlerr.DatatypeMismatch, "operator class \"%s\" does not accept data type %s", name, c.typeName(t))
	}
	if d := c.snap.KeyOpclass(c.DB, method, t, ""); d != nil && d.OID == class.OID {
		return "", nil
	}
	return name, nil
}

// hasOpclass checks that a type can be a key of the access method: that its values
// have an order, or a hash.
func (c *Change) hasOpclass(method types.OID, name string, t types.T) error {
	if c.snap.KeyOpclass(c.DB, method, t, "") != nil {
		return nil
	}
	return c.noOpclass(t, name)
}

// Clusterable refuses an index by which CLUSTER cannot order a table.
func (ix *Index) Clusterable() error {
	switch {
	case ix.Kind != KindBtree:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot cluster on index \"%s\" because access method does not support clustering", ix.Name)
	case ix.Where != "":
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot cluster on partial index \"%s\"", ix.Name)
	case ix.Invalid:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot cluster on invalid index \"%s\"", ix.Name)
	}
	return nil
}

// oidTSVector is the type that gin knows in PostgreSQL and does not here.
const oidTSVector types.OID = 3614

func (c *Change) noOpclass(t types.T, method string) error {
	of := c.snap.BaseType(t)
	if of.Kind() == types.KHstore && method == KindGist || of.OID == oidTSVector && method == KindGin {
		return sqlerr.Unsupported(-1, "an index of type %s with access method \"%s\"", c.typeName(of), method)
	}
	return sqlerr.New(sqlerr.UndefinedObject, "data type %s has no default operator class for access method \"%s\"",
		c.typeName(t), method).
		WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
}
