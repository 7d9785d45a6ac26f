package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgDescription(w *writer) {
	env := w.env
	put := func(oid, class types.OID, sub int, text string) {
		if text != "" {
			w.oid(oid).oid(class).int(int64(sub)).str(text).end()
		}
	}
	one, asked := w.wantOID("objoid")
	builtin := catalog.Descriptions()
	if asked {
		builtin = catalog.DescriptionsOf(one)
	}
	for _, d := range builtin {
		if n, _ := env.Snap.SystemNote(env.DB, d.Class, d.OID, 0); !n.Described {
			put(d.OID, d.Class, 0, d.Text)
		}
	}
	for _, n := range env.Snap.SystemNotes(env.DB) {
		put(n.OID, n.Class, n.Sub, n.Comment)
	}
	relation := func(r catalog.Relation) {
		co := commonOf(r)
		put(co.OID, oidPgClass, 0, co.Comment)
		for i, c := range r.RelColumns() {
			put(co.OID, oidPgClass, i+1, c.Comment)
		}
		t := catalog.StorageOf(r)
		if t == nil {
			return
		}
		for _, ix := range t.Indexes {
			put(ix.OID, oidPgClass, 0, ix.Comment)
		}
		for _, u := range t.Uniques {
			put(u.OID, oidPgConstraint, 0, u.Comment)
		}
		for _, k := range t.Checks {
			put(k.OID, oidPgConstraint, 0, k.Comment)
		}
		for _, k := range t.ForeignKeys {
			put(k.OID, oidPgConstraint, 0, k.Comment)
		}
	}
	object := func(o catalog.Object) {
		switch o := o.(type) {
		case *catalog.Schema:
			if note, _ := env.Snap.SystemNote(env.DB, oidPgNamespace, o.OID, 0); !note.Described {
				put(o.OID, oidPgNamespace, 0, o.Comment)
			}
		case *catalog.UserType:
			put(o.OID, oidPgType, 0, o.Comment)
			for _, k := range o.Checks {
				put(k.OID, oidPgConstraint, 0, k.Comment)
			}
			for i, c := range o.Columns {
				put(o.RelOID, oidPgClass, i+1, c.Comment)
			}
		case *catalog.Policy:
			put(o.OID, oidPgPolicy, 0, o.Comment)
		case *catalog.Extension:
			put(o.OID, oidPgExtension, 0, o.Comment)
		case *catalog.ExtStats:
			put(o.OID, oidPgStatisticExt, 0, o.Comment)
		case *catalog.OwnOperator:
			put(o.OID, oidPgOperator, 0, o.Comment)
		case *catalog.OwnCast:
			put(o.OID, oidPgCast, 0, o.Comment)
		case *catalog.Function:
			put(o.OID, oidPgProc, 0, o.Comment)
		case catalog.Relation:
			relation(o)
		}
	}
	switch known, indexed := env.Snap.Object(one), env.Snap.TableOfIndex(env.DB, one); {
	case asked && known != nil:
		if known.DatabaseOID() == env.DB {
			object(known)
		}
	case asked && indexed != nil:
		relation(indexed)
	case asked && one < types.FirstUserOID: // built in: of that only schemas are objects
		eachObject(env.Snap.Schemas(env.DB), object)
	case asked: // a constraint, or the columns of a type
		for _, o := range env.partOwners()[one] {
			object(o)
		}
	default:
		eachObject(env.Snap.Schemas(env.DB), object)
		eachObject(env.Snap.Relations(env.DB), object)
		eachObject(env.Snap.UserTypes(env.DB), object)
		eachObject(env.Snap.AllPolicies(env.DB), object)
		eachObject(env.Snap.Extensions(env.DB), object)
		eachObject(env.Snap.AllExtStats(env.DB), object)
		eachObject(env.Snap.AllOperators(env.DB), object)
		eachObject(env.Snap.AllCasts(env.DB), object)
		eachObject(env.Snap.AllFunctions(env.DB), object)
	}
	w.largeObjects(one, func(o *catalog.LargeObject) { put(o.OID, oidPgLargeobject, 0, o.Comment) })
}

func eachObject[T catalog.Object](list []T, f func(catalog.Object)) {
	for _, o := range list {
		f(o)
	}
}

// partsOf is the key of a database's part owners among what a snapshot remembers.
type partsOf types.OID

// partOwners tells of which objects the constraints and row types with comments are.
func (env *Env) partOwners() map[types.OID][]catalog.Object {
	relations := env.Snap.Relations(env.DB)
	return env.Snap.Memo(partsOf(env.DB), func() any {
		out := map[types.OID][]catalog.Object{}
		add := func(o catalog.Object, part types.OID, comment string) {
			if comment != "" {
				out[part] = append(out[part], o)
			}
		}
		for _, r := range relations {
			t := catalog.StorageOf(r)
			if t == nil {
				continue
			}
			for _, u := range t.Uniques {
				add(r, u.OID, u.Comment)
			}
			for _, k := range t.Checks {
				add(r, k.OID, k.Comment)
			}
			for _, k := range t.ForeignKeys {
				add(r, k.OID, k.Comment)
			}
		}
		for _, t := range env.Snap.UserTypes(env.DB) {
			for _, k := range t.Checks {
				add(t, k.OID, k.Comment)
			}
			for _, c := range t.Columns {
				add(t, t.RelOID, c.Comment)
			}
		}
		return out
	}).(map[types.OID][]catalog.Object)
}
