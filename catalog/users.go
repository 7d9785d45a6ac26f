package catalog

import (
	"cmp"
	"slices"

	"kvsqld/catalog/types"
)

// references yields the OIDs of what o says that it is made of or reads: types, and of
// an array type its elements' as well, relations, sequences and functions. An OID may
// come more than once. Foreign keys, parents, and what belongs to a relation have lists
// of their own; what a stored text names is found by binding it.
func references(o Object, yield func(types.OID)) {
	typ := func(t types.T) {
		yield(t.OID)
		if t.User == types.KArray {
			yield(t.Elem)
		}
	}
	columns := func(cols []Column) {
		for i := range cols {
			if c := &cols[i]; !c.Dropped {
				typ(c.Type)
				yield(c.Sequence)
				each(c.DefaultDeps, yield)
			}
		}
	}
	switch x := o.(type) {
	case *Table:
		columns(x.Columns)
		yield(x.OfType)
	case *View:
		columns(x.Columns)
		each(x.Deps, yield)
	case *Sequence:
		yield(x.OwnerTable)
	case *UserType:
		typ(x.Base)
		columns(x.Columns)
		if x.Range != nil {
			typ(x.Range.Subtype)
			yield(x.Range.Pair)
			yield(x.Range.Diff)
		}
	case *Function:
		typ(x.Ret)
		each(x.Args, typ)
		yield(x.RangeType)
		if x.Agg != nil {
			typ(x.Agg.State)
			each(x.Agg.Uses(), yield)
			yield(x.Agg.SortOp)
		}
	case *OwnOperator:
		each([]types.T{x.Left, x.Right, x.Result}, typ)
		yield(x.Function)
	case *OwnCast:
		typ(x.Source)
		typ(x.Target)
		yield(x.Function)
	case *Policy:
		each(x.Using.Deps, yield)
		each(x.Check.Deps, yield)
	}
}

func each[T any](list []T, f func(T)) {
	for _, v := range list {
		f(v)
	}
}

// linkUsers enters an object with what it references.
func (s *Snapshot) linkUsers(o Object) {
	references(o, func(to types.OID) {
		if to >= types.FirstUserOID {
			addSorted(&s.users, to, o.ObjectOID())
		}
	})
}

// unlinkUsers is the reverse of linkUsers.
func (s *Snapshot) unlinkUsers(o Object) {
	references(o, func(to types.OID) {
		if to >= types.FirstUserOID {
			removeFrom(&s.users, to, o.ObjectOID())
		}
	})
}

// usersOf returns the objects of one Go type in the database that reference an OID, in
// OID order. There are no lists for built-in objects, of which next to nobody asks.
func usersOf[T Object](s *Snapshot, db, oid types.OID) (out []T) {
	if oid < types.FirstUserOID {
		return objectsOf(s, func(o T) (found bool) {
			references(o, func(to types.OID) { found = found || to == oid })
			return found && o.DatabaseOID() == db
		})
	}
	for _, u := range s.users.get(oid) {
		if o, ok := s.objs.get(u).(T); ok && o.DatabaseOID() == db {
			out = append(out, o)
		}
	}
	return out
}

// Users returns the objects of the database that reference an OID (see references), in OID
// order.
func (s *Snapshot) Users(db, oid types.OID) []Object { return usersOf[Object](s, db, oid) }

// Holding returns the relations with a column of the type or of one that is made of it,
// whatever the number of steps between, in OID order.
func (s *Snapshot) Holding(db, typ types.OID) (list []Relation) {
	seen := map[types.OID]bool{}
	var visit func(types.OID)
	visit = func(t types.OID) {
		if t == 0 || seen[t] {
			return
		}
		seen[t] = true
		if in := s.TypeInfo(t); in != nil {
			visit(in.Array)
		}
		for _, o := range usersOf[Object](s, db, t) {
			switch x := o.(type) {
			case *UserType:
				visit(x.OID)
			case *Table:
				visit(x.RowType)
			case *View:
				visit(x.RowType)
			}
			if r := asRelation(o); r != nil && !seen[o.ObjectOID()] {
				seen[o.ObjectOID()] = true
				list = append(list, r)
			}
		}
	}
	visit(typ)
	slices.SortFunc(list, func(a, b Relation) int { return cmp.Compare(a.ObjectOID(), b.ObjectOID()) })
	return list
}
