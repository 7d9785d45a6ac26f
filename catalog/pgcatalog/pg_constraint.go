package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgConstraint(w *writer) {
	env := w.env
	rel, byRel := w.wantOID("conrelid")
	env.tablesOf(rel, byRel, func(oid types.OID, t *catalog.Table) {
		ns := env.namespace(t.Schema)
		for _, k := range t.Checks {
			w.constraint(k.OID, k.Name, ns, 'c', false, false, !k.NotValid, t.OID, 0, 0, 0)
			w.oid(0).chr(' ').chr(' ').chr(' ').bool(!k.NotLocal).int(int64(k.Parents)).bool(k.NoInherit).attnums(k.Cols).nulls(6).str(k.Expr)
			w.end()
		}
		for _, u := range t.Uniques {
			kind := byte('u')
			if u.Primary {
				kind = 'p'
			}
			if u.Exclude != nil {
				w.exclusion(t, u, ns)
				continue
			}
			w.constraint(u.OID, u.Name, ns, kind, u.Deferrable, u.InitiallyDeferred, true, t.OID, 0, u.Index, u.Parent)
			w.oid(0).chr(' ').chr(' ').chr(' ').bool(u.Parent == 0).int(count(u.Parent)).bool(!u.Derived).attnums(u.Cols).nulls(7)
			w.end()
		}
		for _, k := range t.ForeignKeys {
			w.foreignKey(t, k, ns, k.OID, k.Name, k.Parent)
			for i := range k.Targets {
				x, ref := &k.Targets[i], env.Snap.Table(k.Targets[i].Table)
				if narrowed := env.targetKey(t, k, ref); narrowed != nil {
					w.foreignKey(t, narrowed, ns, x.OID, x.Name, env.targetParent(k, ref))
				}
			}
		}
	})
	for _, ix := range catalog.SystemIndexes() {
		if ix.Constraint != 0 && (!byRel || ix.Table == rel) {
			kind := byte('u')
			if ix.Primary {
				kind = 'p'
			}
			w.constraint(ix.Constraint, ix.Name, catalog.OIDPgCatalog, kind, false, false, true, ix.Table, 0, ix.OID, 0)
			w.oid(0).chr(' ').chr(' ').chr(' ').bool(true).int(0).bool(true)
			intArray(w, ix.Keys).nulls(7).end()
		}
	}
	if byRel && rel != 0 {
		return
	}
	for _, u := range env.checkedTypes() {
		for _, k := range u.Checks {
			w.constraint(k.OID, k.Name, env.namespace(u.Schema), 'c', false, false, !k.NotValid, 0, u.OID, 0, 0)
			w.oid(0).chr(' ').chr(' ').chr(' ').bool(true).int(0).bool(false).nulls(7).str(k.Expr)
			w.end()
		}
	}
}

// exclusion writes the row of an EXCLUDE constraint.
func (w *writer) exclusion(t *catalog.Table, u *catalog.Unique, ns types.OID) {
	var keys []int
	if ix := t.IndexByOID(u.Index); ix != nil {
		for i := range ix.Keys {
			keys = append(keys, ix.Keys[i].Col)
		}
	}
	w.constraint(u.OID, u.Name, ns, 'x', u.Deferrable, u.InitiallyDeferred, true, t.OID, 0, u.Index, 0)
	w.oid(0).chr(' ').chr(' ').chr(' ').bool(true).int(0).bool(true).attnums(keys).nulls(5)
	intArray(w, w.env.Snap.ExclusionOperators(t, u)).null().end()
}

// foreignKey writes the row of a foreign key, or of its constraint for a partition
// of the referenced table.
func (w *writer) foreignKey(t *catalog.Table, k *catalog.ForeignKey, ns, oid types.OID, name string, parent types.OID) {
	w.constraint(oid, name, ns, 'f', k.Deferrable, k.InitiallyDeferred, !k.NotValid, t.OID, 0, k.RefIndex, parent)
	w.oid(k.RefTable).chr(k.OnUpdate).chr(k.OnDelete).chr(k.Match).bool(parent == 0).int(count(parent)).bool(parent == 0 && t.Key == nil).attnums(k.Cols).attnums(k.RefCols)
	pf, pp, ff := w.env.foreignKeyOperators(t, k)
	intArray(w, pf)
	intArray(w, pp)
	intArray(w, ff)
	w.attnums(k.DelCols).null().null()
	w.end()
}

// targetKey is a foreign key as it is for a partition of the referenced table.
func (env *Env) targetKey(t *catalog.Table, k *catalog.ForeignKey, ref *catalog.Table) *catalog.ForeignKey {
	if ref == nil {
		return nil
	}
	for _, x := range env.Snap.Referencing(env.DB, ref.OID) {
		if x.Table == t && x.FK.OID == k.OID && x.FK.RefTable == ref.OID {
			return x.FK
		}
	}
	return nil
}

// targetParent is the constraint that one for a partition is a part of: that for
// the table above the partition.
func (env *Env) targetParent(k *catalog.ForeignKey, ref *catalog.Table) types.OID {
	if p := env.Snap.Parent(ref); p != nil {
		if x := k.TargetFor(p.OID); x != nil {
			return x.OID
		}
	}
	return k.OID
}

// count is the number of parents of what is a part or is none.
func count(parent types.OID) int64 {
	if parent != 0 {
		return 1
	}
	return 0
}

// constraint writes the columns up to conparentid.
func (w *writer) constraint(oid types.OID, name string, ns types.OID, kind byte, deferrable, deferred, valid bool, rel, typ, index, parent types.OID) {
	w.oid(oid).str(name).oid(ns).chr(kind).bool(deferrable).bool(deferred).bool(valid).oid(rel).oid(typ).oid(index).oid(parent)
}

// foreignKeyOperators returns the equality operators that compare referenced
// with referencing, referenced with referenced, and referencing with
// referencing columns.
func (env *Env) foreignKeyOperators(t *catalog.Table, k *catalog.ForeignKey) (pf, pp, ff []types.OID) {
	ref := env.Snap.Table(k.RefTable)
	for i := range k.Cols {
		p, f := types.OText, types.OText
		if ref != nil {
			p = env.Snap.BaseType(ref.Columns[k.RefCols[i]].Type).OID
		}
		f = env.Snap.BaseType(t.Columns[k.Cols[i]].Type).OID
		pf = append(pf, equality(p, f))
		pp = append(pp, equality(p, p))
		ff = append(ff, equality(f, f))
	}
	return pf, pp, ff
}

// equality returns the operator that compares the two types, or 0.
func equality(l, r types.OID) types.OID {
	text := func(o types.OID) types.OID {
		if o == types.OVarchar {
			return types.OText
		}
		return o
	}
	l, r = text(l), text(r)
	for _, op := range catalog.OperatorsByName("=") {
		if op.Left == l && op.Right == r {
			return op.OID
		}
	}
	if l != r {
		return equality(l, l)
	}
	return 0
}
