package catalog

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"kvsqld/catalog/types"
)

// Type returns what is known of the type by its pg_type name, or nil: built-in
// types in pg_catalog, information_schema's types, and user types, their
// arrays and row types in the database's schemas.
func (s *Snapshot) Type(db types.OID, schema, name string) *types.Info {
	switch schema {
	case SchemaPgCatalog:
		in := types.ByName(name)
		if in == nil || in.Name != name {
			return nil
		}
		return in
	case SchemaInformation:
		for _, in := range informationInfos() {
			if in.Name == name {
				return in
			}
		}
		return nil
	}
	if oid := s.names.get(nameKey{spaceType, db, schema, name}); oid != 0 {
		return s.TypeInfo(oid)
	}
	return nil
}

// TypeInfo returns what is known of a type, built-in or user-defined, or nil.
func (s *Snapshot) TypeInfo(o types.OID) *types.Info {
	if in := types.Lookup(o); in != nil {
		return in
	}
	if in := s.typeInfos.get(o); in != nil {
		return in
	}
	if o < types.FirstUserOID {
		return informationInfos()[o]
	}
	return nil
}

// TypeByOID returns the enum, domain or composite type, or nil.
func (s *Snapshot) TypeByOID(o types.OID) *UserType {
	u, _ := s.objs.get(o).(*UserType)
	return u
}

// TypeSchema returns the schema in which a database has the type, or "".
func (s *Snapshot) TypeSchema(db, o types.OID) string {
	if in := types.Lookup(o); in != nil && in.Extension != "" {
		return s.ExtensionSchema(db, in.Extension)
	} else if in != nil {
		return SchemaPgCatalog
	}
	if owner := s.typeOwner(o); owner != nil {
		return owner.common().Schema
	}
	if informationInfos()[o] != nil {
		return SchemaInformation
	}
	return ""
}

// TypeOwner returns the role that owns a type, "" for one that no object brought about.
func (s *Snapshot) TypeOwner(o types.OID) string {
	if owner := s.typeOwner(o); owner != nil {
		return owner.common().Owner
	}
	return ""
}

// typeOwner returns the object that brought a type about: the user type itself
// (also for its array), or the relation of a row type.
func (s *Snapshot) typeOwner(o types.OID) commoner {
	in := s.typeInfos.get(o)
	if in == nil {
		return nil
	}
	if s.isArrayType(o) {
		if o = in.Elem; s.typeInfos.get(o) != nil {
			in = s.typeInfos.get(o)
		}
	}
	if in.RelID != 0 && in.Elem == 0 {
		if owner, ok := s.objs.get(in.RelID).(commoner); ok {
			return owner
		}
	}
	owner, _ := s.objs.get(o).(commoner)
	return owner
}

// T returns the type of an OID and modifier as a value has it, with the kind of
// user-defined types filled in; false when there is no such type.
func (s *Snapshot) T(o types.OID, mod int32) (types.T, bool) {
	if types.Lookup(o) != nil {
		return types.T{OID: o, Mod: mod}, true
	}
	in := s.TypeInfo(o)
	if in == nil {
		return types.T{OID: o, Mod: mod}, false
	}
	t := types.T{OID: o, Mod: mod, User: in.Kind, Elem: in.Elem}
	if in.Type == 'd' {
		b := s.BaseType(t)
		switch t.Elem = b.OID; {
		case in.Kind == types.KArray:
			t.Elem = s.BaseType(types.T{OID: s.TypeInfo(b.OID).Elem, Mod: -1}).OID
		case b.User == types.KRange || b.User == types.KMultirange:
			t.Elem = b.Elem
		case b.OID == types.OBpchar: // tells which blanks the values lack
			t.Mod = b.Mod
		}
	} else if in.Subtype != 0 {
		// bounds of a domain are stored as values of what the domain is over
		t.Elem = s.BaseType(types.T{OID: in.Subtype, Mod: -1}).OID
	} else if in.Kind == types.KArray {
		// elements of domains are stored as values of what the domain is over
		of := s.BaseType(types.T{OID: in.Elem, Mod: -1})
		if t.Elem = of.OID; of.OID != in.Elem {
			t.Mod = -1
		}
	}
	return t, true
}

// BaseType looks through domains: the type whose values the domain holds, with
// the modifier that applies. Other types are returned unchanged.
func (s *Snapshot) BaseType(t types.T) types.T {
	for {
		if u, ok := s.objs.get(t.OID).(*UserType); ok && u.Kind == 'd' {
			t = u.Base
			continue
		}
		if t.OID < types.FirstUserOID {
			for _, d := range InformationDomains() {
				if d.OID == t.OID && d.Kind == 'd' {
					return types.T{OID: d.Base, Mod: d.BaseMod}
				}
			}
		}
		return t
	}
}

// BelowDomains is the type that values of t are read as: that below a domain, or an array
// of what the elements' domain is over, with its modifier. It is false for other types. An
// array of arrays, which the elements' domains make, has no OID.
func (s *Snapshot) BelowDomains(t types.T) (types.T, bool) {
	below := s.BaseType(t)
	if in := s.TypeInfo(below.OID); in != nil && in.Kind == types.KArray {
		if elem, ok := s.BelowDomains(types.T{OID: in.Elem, Mod: -1}); ok {
			array := types.OID(0)
			if of := s.TypeInfo(elem.OID); of != nil {
				array = of.Array
			}
			if below, ok = s.T(array, elem.Mod); !ok {
				below = types.T{Mod: elem.Mod, User: types.KArray, Elem: elem.OID}
			}
		}
	}
	return below, below.OID != t.OID
}

// TypeCollation returns the collation that a domain, or an array of one, brings along,
// "" for none.
func (s *Snapshot) TypeCollation(t types.T) string {
	if t.OID < types.FirstUserOID {
		return ""
	}
	if u, ok := s.objs.get(t.OID).(*UserType); ok {
		return u.Collation
	}
	if in := s.TypeInfo(t.OID); in != nil && in.Kind == types.KArray {
		if u, ok := s.objs.get(in.Elem).(*UserType); ok {
			return u.Collation
		}
	}
	return ""
}

// UserTypes returns the user-defined types of the database in OID order.
func (s *Snapshot) UserTypes(db types.OID) []*UserType {
	return objectsOf(s, func(u *UserType) bool { return u.DB == db })
}

// TypeInfos returns the types that the database's objects brought about (user
// types, their arrays, row types, types of extensions) in OID order.
func (s *Snapshot) TypeInfos(db types.OID) []*types.Info {
	var out []*types.Info
	for oid, in := range s.typeInfos.all() {
		if owner := s.typeOwner(oid); owner != nil && owner.common().DB == db {
			out = append(out, in)
		}
	}
	for _, d := range s.Installed(db) {
		out = append(out, types.ExtensionTypes(d.Name)...)
	}
	slices.SortFunc(out, func(a, b *types.Info) int { return int(int64(a.OID) - int64(b.OID)) })
	return out
}

// The functions that read domains.
const (
	procDomainIn   types.OID = 2597
	procDomainRecv types.OID = 2598
)

// informationInfos are the types of information_schema: its domains, the row types
// of its relations, and the arrays of both.
var informationInfos = sync.OnceValue(func() map[types.OID]*types.Info {
	out := make(map[types.OID]*types.Info)
	for _, d := range InformationDomains() {
		base := types.Lookup(d.Base)
		if base == nil {
			continue
		}
		in := *base
		in.OID, in.Name, in.SQLName = d.OID, d.Name, d.Format
		in.Type, in.Array, in.Len, in.Preferred, in.Elem = d.Kind, d.Array, int16(d.Len), false, 0
		in.In, in.Recv, in.ModIn, in.ModOut = procDomainIn, procDomainRecv, 0, 0
		out[d.OID] = &in
		out[d.Array] = arrayInfo(&in, d.Array)
	}
	for _, r := range SystemRelations() {
		if r.Schema == SchemaInformation {
			in := rowTypeInfo(r.RowType, r.Name, r.OID)
			in.SQLName, in.Array = SchemaInformation+"."+r.Name, r.RowType-1
			out[in.OID], out[in.Array] = in, arrayInfo(in, in.Array)
		}
	}
	return out
})

var informationTypes = sync.OnceValue(func() []*types.Info {
	return slices.SortedFunc(maps.Values(informationInfos()), func(a, b *types.Info) int { return cmp.Compare(a.OID, b.OID) })
})

// InformationTypes returns the types of information_schema in the order of their
// OIDs. The slice is shared.
func InformationTypes() []*types.Info { return informationTypes() }

// arrayInfo describes the array type of a user-defined type.
func arrayInfo(elem *types.Info, oid types.OID) *types.Info {
	arr := types.Lookup(types.OTextArr)
	in := types.Info{OID: oid, Name: arrayTypeName(elem.Name), SQLName: elem.SQLName + "[]", Kind: types.KArray, Len: -1,
		Type: 'b', Category: 'A', Elem: elem.OID, Delim: ',', Align: 'i', Storage: 'x'}
	if elem.Align == 'd' {
		in.Align = 'd'
	}
	if arr != nil {
		in.In, in.Out, in.Recv, in.Send = arr.In, arr.Out, arr.Recv, arr.Send
	}
	return &in
}

// arrayTypeName is the name of a type's array type: an underscore in front,
// cut to the length of a name.
func arrayTypeName(name string) string { return clipName("_"+name, maxNameLen) }

// builtOn is the type that a domain is over, or that a range's bounds have; 0 for
// others.
func (u *UserType) builtOn() types.OID {
	switch {
	case u.Kind == 'd':
		return u.Base.OID
	case u.Range != nil:
		return u.Range.Subtype.OID
	}
	return 0
}

// userTypeInfo describes a user-defined type; base describes what it is built on.
func userTypeInfo(u *UserType, base *types.Info) *types.Info {
	in := &types.Info{OID: u.OID, Name: u.Name, SQLName: u.Name, Array: u.Array, Delim: ',', Type: u.Kind}
	proc := func(src string) types.OID {
		if p := ProcBySrc(src); p != nil {
			return p.OID
		}
		return 0
	}
	switch u.Kind {
	case 'e':
		in.Kind, in.Len, in.ByVal, in.Category, in.Align, in.Storage = types.KEnum, 4, true, 'E', 'i', 'p'
		in.In, in.Out, in.Recv, in.Send = proc("enum_in"), proc("enum_out"), proc("enum_recv"), proc("enum_send")
	case 'c':
		in.Kind, in.Len, in.Category, in.Align, in.Storage, in.RelID = types.KRecord, -1, 'C', 'd', 'x', u.RelOID
		in.In, in.Out, in.Recv, in.Send = proc("record_in"), proc("record_out"), proc("record_recv"), proc("record_send")
	case 'r', 'm':
		in.Len, in.Category, in.Align, in.Storage, in.Subtype = -1, 'R', 'i', 'x', u.Range.Subtype.OID
		if base != nil && base.Align == 'd' {
			in.Align = 'd'
		}
		kind := "range_"
		if in.Kind, in.Multirange = types.KRange, u.Range.Pair; u.Kind == 'm' {
			kind, in.Kind, in.Multirange, in.Range = "multirange_", types.KMultirange, 0, u.Range.Pair
		}
		in.In, in.Out, in.Recv, in.Send = proc(kind+"in"), proc(kind+"out"), proc(kind+"recv"), proc(kind+"send")
	case 'd':
		if base != nil {
			cp := *base
			cp.OID, cp.Name, cp.SQLName, cp.Array, cp.Type = in.OID, in.Name, in.SQLName, in.Array, 'd'
			cp.Preferred, cp.Elem, cp.RelID, cp.Subtype, cp.Range, cp.Multirange = false, 0, 0, 0, 0, 0
			in = &cp
		}
		in.In, in.Recv, in.ModIn, in.ModOut = procDomainIn, procDomainRecv, 0, 0
	}
	return in
}

// rowTypeInfo describes a relation's row type.
func rowTypeInfo(oid types.OID, name string, rel types.OID) *types.Info {
	return userTypeInfo(&UserType{Common: Common{OID: oid, Name: name}, Kind: 'c', RelOID: rel}, nil)
}
