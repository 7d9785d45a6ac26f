package catalog

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// commoner is implemented by every object through its embedded Common.
type commoner interface {
	Object
	common() *Common
}

func (c *Common) common() *Common { return c }

// CommonOf returns the part that every object has.
func CommonOf(o Object) *Common {
	if c, ok := o.(commoner); ok {
		return c.common()
	}
	return nil
}

// Apply returns the snapshot with the delta applied, or the violated rule of
// validate.go as a *sqlerr.Error. The receiver is unchanged.
func (s *Snapshot) Apply(d *Delta) (*Snapshot, error) {
	if d.Empty() {
		return s, nil
	}
	put, del := d.Final()
	return s.apply(put, del)
}

func (s *Snapshot) apply(put []Object, del []types.OID) (*Snapshot, error) {
	n := s.clone()
	n.Version++
	for _, oid := range del {
		if old, ok := n.objs.lookup(oid); ok {
			n.unlink(old)
			n.unlinkFiles(old)
			n.unlinkUsers(old)
			n.countConstraints(old, -1)
			n.objs.delete(oid)
			n.lobs.delete(oid)
		}
	}
	// All old versions go before the first new one comes, so that objects may
	// exchange names within one delta.
	for _, o := range put {
		if old, ok := n.objs.lookup(o.ObjectOID()); ok {
			n.unlink(old)
			n.unlinkFiles(old)
			n.unlinkUsers(old)
			n.countConstraints(old, -1)
		}
	}
	for _, o := range put {
		n.objs.set(o.ObjectOID(), o)
		n.linkUsers(o)
		n.countConstraints(o, 1)
	}
	// Types first: the descriptions of domains look at their base types.
	for _, types := range []bool{true, false} {
		for _, o := range put {
			if _, ok := o.(*UserType); ok == types {
				if err := n.link(o); err != nil {
					return nil, err
				}
			}
		}
	}
	n.linkClusters(put)
	for _, o := range put {
		if err := n.linkFiles(o); err != nil {
			return nil, err
		}
	}
	if err := n.validateChange(s, put, del); err != nil {
		return nil, err
	}
	n.settle()
	return n, nil
}

// name enters a name, or fails when the name space has it already.
func (s *Snapshot) name(k nameKey, oid types.OID, dup func() *sqlerr.Error) error {
	if other, taken := s.names.lookup(k); taken && other != oid {
		return dup()
	}
	s.names.set(k, oid)
	return nil
}

// unname removes a name if it is the object's.
func (s *Snapshot) unname(k nameKey, oid types.OID) {
	if s.names.get(k) == oid {
		s.names.delete(k)
	}
}

func relationExists(name string) func() *sqlerr.Error {
	return func() *sqlerr.Error {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
}

func typeExists(name string) func() *sqlerr.Error {
	return func() *sqlerr.Error {
		return sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists", name)
	}
}

// link enters an object into the lookup maps (C1: names are unique).
func (s *Snapshot) link(o Object) error {
	switch x := o.(type) {
	case *Database:
		s.linkLargeObjects(x)
		return s.name(nameKey{space: spaceDatabase, name: x.Name}, x.OID, func() *sqlerr.Error {
			return sqlerr.New(sqlerr.DuplicateDatabase, "database \"%s\" already exists", x.Name)
		})
	case *Role:
		return s.name(nameKey{space: spaceRole, name: x.Name}, x.OID, func() *sqlerr.Error {
			return sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", x.Name)
		})
	case *Schema:
		dup := func() *sqlerr.Error {
			return sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", x.Name)
		}
		if builtinSchemas[x.Name] != nil {
			return dup()
		}
		return s.name(nameKey{spaceSchema, x.DB, "", x.Name}, x.OID, dup)
	case *Table:
		if err := s.linkRelation(&x.Common, x.RowType, x.RowArray); err != nil {
			return err
		}
		for _, fk := range x.ForeignKeys {
			s.addRef(fk.RefTable, x.OID)
		}
		for _, p := range x.Parents {
			addSorted(&s.children, p, x.OID)
		}
		return s.linkIndexes(x, x.OID)
	case *View:
		if err := s.linkRelation(&x.Common, x.RowType, x.RowArray); err != nil {
			return err
		}
		if x.Materialized != nil {
			return s.linkIndexes(x.Materialized, x.OID)
		}
	case *Sequence:
		return s.linkRelation(&x.Common, 0, 0)
	case *UserType:
		return s.linkType(x)
	case *Function:
		k := nameKey{spaceFunction, x.DB, x.Schema, x.Name}
		for _, other := range s.Functions(x.DB, x.Schema, x.Name) {
			if other.OID != x.OID && sameArgs(other.inputs(), x.inputs()) {
				return sqlerr.New(sqlerr.DuplicateFunction, "function \"%s\" already exists with same argument types", x.Name)
			}
		}
		if !slices.Contains(s.funcs.get(k), x.OID) {
			s.funcs.set(k, append(slices.Clone(s.funcs.get(k)), x.OID))
		}
	case *OwnOperator:
		return s.linkOperator(x)
	case *OwnCast:
		return s.linkCast(x)
	case *Policy:
		return s.linkPolicy(x)
	case *ExtStats:
		return s.linkExtStats(x)
	case *Extension:
		return s.linkExtension(x)
	case *Stats:
		s.stats.set(x.Table, x.OID)
	}
	return nil
}

func (s *Snapshot) linkRelation(c *Common, rowType, array types.OID) error {
	if err := s.name(nameKey{spaceRelation, c.DB, c.Schema, c.Name}, c.OID, relationExists(c.Name)); err != nil {
		return err
	}
	if rowType == 0 {
		return nil
	}
	if err := s.nameType(c, rowType); err != nil {
		return err
	}
	in := rowTypeInfo(rowType, c.Name, c.OID)
	in.Array = array
	s.typeInfos.set(rowType, in)
	s.linkArray(c, in)
	return nil
}

func (s *Snapshot) linkIndexes(t *Table, owner types.OID) error {
	for _, ix := range t.Indexes {
		if err := s.name(nameKey{spaceRelation, t.DB, t.Schema, ix.Name}, ix.OID, relationExists(ix.Name)); err != nil {
			return err
		}
		s.indexTable.set(ix.OID, owner)
	}
	return nil
}

func (s *Snapshot) linkType(u *UserType) error {
	if err := s.nameType(&u.Common, u.OID); err != nil {
		return err
	}
	if u.Kind == 'c' && u.RelOID != 0 {
		if err := s.name(nameKey{spaceRelation, u.DB, u.Schema, u.Name}, u.OID, relationExists(u.Name)); err != nil {
			return err
		}
	}
	var base *types.Info
	if of := u.builtOn(); of != 0 {
		base = s.TypeInfo(of)
		if base == nil {
			// It may be a type of the same delta that comes later.
			if b, ok := s.objs.get(of).(*UserType); ok {
				if err := s.linkType(b); err != nil {
					return err
				}
				base = s.TypeInfo(of)
			}
		}
	}
	in := userTypeInfo(u, base)
	s.typeInfos.set(u.OID, in)
	s.linkArray(&u.Common, in)
	return nil
}

// nameType enters the name of a type. An array type that has it already gets
// another one.
func (s *Snapshot) nameType(c *Common, oid types.OID) error {
	k := nameKey{spaceType, c.DB, c.Schema, c.Name}
	if other := s.names.get(k); other != oid && s.isArrayType(other) {
		s.names.delete(k)
		s.names.set(k, oid)
		arr := *s.typeInfos.get(other)
		s.nameArray(c, &arr, s.typeInfos.get(arr.Elem).Name)
		return nil
	}
	return s.name(k, oid, typeExists(c.Name))
}

// linkArray enters the array type of a user-defined type, if it has one.
func (s *Snapshot) linkArray(c *Common, elem *types.Info) {
	if elem.Array != 0 {
		s.nameArray(c, arrayInfo(elem, elem.Array), elem.Name)
	}
}

// nameArray enters an array type by the first free name that can be made of its
// element's.
func (s *Snapshot) nameArray(c *Common, arr *types.Info, elem string) {
	for arr.Name = arrayTypeName(elem); ; arr.Name = arrayTypeName(arr.Name) {
		k := nameKey{spaceType, c.DB, c.Schema, arr.Name}
		if other, taken := s.names.lookup(k); !taken || other == arr.OID {
			s.names.set(k, arr.OID)
			break
		}
	}
	s.typeInfos.set(arr.OID, arr)
}

// unlinkArray removes an array type; 0 is none.
func (s *Snapshot) unlinkArray(c *Common, array types.OID) {
	if in := s.typeInfos.get(array); in != nil {
		s.unname(nameKey{spaceType, c.DB, c.Schema, in.Name}, array)
		s.typeInfos.delete(array)
	}
}

// isArrayType reports whether the type is the array type of a user-defined type.
func (s *Snapshot) isArrayType(oid types.OID) bool {
	in := s.typeInfos.get(oid)
	return in != nil && in.Type == 'b' && in.Kind == types.KArray
}

func (s *Snapshot) addRef(target, from types.OID) { addSorted(&s.refs, target, from) }

// addSorted enters an OID into the list of another.
func addSorted(m *layered[types.OID, []types.OID], of, oid types.OID) {
	if was := m.get(of); !slices.Contains(was, oid) {
		list := append(slices.Clone(was), oid)
		slices.Sort(list)
		m.set(of, list)
	}
}

// removeFrom takes an OID out of the list of another.
func removeFrom(m *layered[types.OID, []types.OID], of, oid types.OID) {
	list := m.get(of)
	if !slices.Contains(list, oid) {
		return
	}
	if list = slices.DeleteFunc(slices.Clone(list), func(o types.OID) bool { return o == oid }); len(list) == 0 {
		m.delete(of)
		return
	}
	m.set(of, list)
}

// countConstraints adds to the number of constraints of each name for those of an object.
func (s *Snapshot) countConstraints(o Object, by int) {
	var names []string
	switch x := o.(type) {
	case *Table:
		names = x.constraintNames()
	case *UserType:
		for _, c := range x.Checks {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		k := constraintKey{CommonOf(o).DB, CommonOf(o).Schema, name}
		if n := s.constraints.get(k) + by; n == 0 {
			s.constraints.delete(k)
		} else {
			s.constraints.set(k, n)
		}
	}
}

// unlink removes an object from the lookup maps.
func (s *Snapshot) unlink(o Object) {
	switch x := o.(type) {
	case *Database:
		s.unname(nameKey{space: spaceDatabase, name: x.Name}, x.OID)
	case *Role:
		s.unname(nameKey{space: spaceRole, name: x.Name}, x.OID)
	case *Schema:
		s.unname(nameKey{spaceSchema, x.DB, "", x.Name}, x.OID)
	case *Table:
		s.unlinkRelation(&x.Common, x.RowType, x.RowArray)
		for _, fk := range x.ForeignKeys {
			removeFrom(&s.refs, fk.RefTable, x.OID)
		}
		for _, p := range x.Parents {
			removeFrom(&s.children, p, x.OID)
		}
		s.unlinkIndexes(x)
	case *View:
		s.unlinkRelation(&x.Common, x.RowType, x.RowArray)
		if x.Materialized != nil {
			s.unlinkIndexes(x.Materialized)
		}
	case *Sequence:
		s.unlinkRelation(&x.Common, 0, 0)
	case *UserType:
		s.unname(nameKey{spaceType, x.DB, x.Schema, x.Name}, x.OID)
		s.unname(nameKey{spaceRelation, x.DB, x.Schema, x.Name}, x.OID)
		s.typeInfos.delete(x.OID)
		s.unlinkArray(&x.Common, x.Array)
	case *Function:
		k := nameKey{spaceFunction, x.DB, x.Schema, x.Name}
		s.funcs.set(k, slices.DeleteFunc(slices.Clone(s.funcs.get(k)), func(o types.OID) bool { return o == x.OID }))
		if len(s.funcs.get(k)) == 0 {
			s.funcs.delete(k)
		}
	case *OwnOperator:
		s.unlinkOperator(x)
	case *OwnCast:
		s.unlinkCast(x)
	case *Policy:
		removeFrom(&s.parts, x.Table, x.OID)
	case *ExtStats:
		s.unlinkExtStats(x)
	case *Extension:
		s.unlinkExtension(x)
	case *Stats:
		if s.stats.get(x.Table) == x.OID {
			s.stats.delete(x.Table)
		}
	}
}

func (s *Snapshot) unlinkRelation(c *Common, rowType, array types.OID) {
	s.unname(nameKey{spaceRelation, c.DB, c.Schema, c.Name}, c.OID)
	if rowType != 0 {
		s.unname(nameKey{spaceType, c.DB, c.Schema, c.Name}, rowType)
		s.typeInfos.delete(rowType)
		s.unlinkArray(c, array)
	}
}

func (s *Snapshot) unlinkIndexes(t *Table) {
	for _, ix := range t.Indexes {
		s.unname(nameKey{spaceRelation, t.DB, t.Schema, ix.Name}, ix.OID)
		s.indexTable.delete(ix.OID)
	}
}

// inputs returns the types of the arguments that a call passes.
func (f *Function) inputs() []types.T {
	if f.ArgModes == nil {
		return f.Args
	}
	var out []types.T
	for i, t := range f.Args {
		if i < len(f.ArgModes) && (f.ArgModes[i] == 'o' || f.ArgModes[i] == 't') {
			continue
		}
		out = append(out, t)
	}
	return out
}

// Inputs returns the types of the arguments that a call passes: IN, INOUT and
// VARIADIC ones.
func (f *Function) Inputs() []types.T { return f.inputs() }

func sameArgs(a, b []types.T) bool {
	return slices.EqualFunc(a, b, func(x, y types.T) bool { return x.OID == y.OID })
}
