package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Dependencies are computed where DROP needs them; this relation shows those
// that clients ask for: sequences owned by columns, what belongs to a table, and
// what views read.
func rowsPgDepend(w *writer) {
	env := w.env
	dep := func(class, obj types.OID, sub int, refClass, ref types.OID, refSub int, kind byte) {
		w.oid(class).oid(obj).int(int64(sub)).oid(refClass).oid(ref).int(int64(refSub)).chr(kind).end()
	}
	for _, r := range env.Snap.Relations(env.DB) {
		co := commonOf(r)
		dep(oidPgClass, co.OID, 0, oidPgNamespace, env.namespace(co.Schema), 0, 'n')
		switch x := r.(type) {
		case *catalog.Sequence:
			if x.OwnerTable != 0 {
				kind := byte('a')
				if x.Identity {
					kind = 'i'
				}
				dep(oidPgClass, x.OID, 0, oidPgClass, x.OwnerTable, x.OwnerCol+1, kind)
			}
		case *catalog.View:
			rule := synthOID("rewrite", x.OID, 0)
			dep(oidPgRewrite, rule, 0, oidPgClass, x.OID, 0, 'i')
			for _, d := range x.Deps {
				named := false
				for _, c := range x.ColDeps {
					if c.Rel == d {
						named = true
						dep(oidPgRewrite, rule, 0, oidPgClass, d, c.Col+1, 'n')
					}
				}
				if !named {
					dep(oidPgRewrite, rule, 0, oidPgClass, d, 0, 'n')
				}
			}
			dep(oidPgType, x.RowType, 0, oidPgClass, x.OID, 0, 'i')
			defaultDepends(x.OID, x.Columns, dep)
		case *catalog.Table:
			dep(oidPgType, x.RowType, 0, oidPgClass, x.OID, 0, 'i')
		}
		if t := storageTable(r); t != nil {
			tableDepends(co.OID, t, dep)
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		dep(oidPgType, u.OID, 0, oidPgNamespace, env.namespace(u.Schema), 0, 'n')
	}
	for _, f := range env.Snap.AllFunctions(env.DB) {
		dep(oidPgProc, f.OID, 0, oidPgNamespace, env.namespace(f.Schema), 0, 'n')
	}
}

func tableDepends(oid types.OID, t *catalog.Table, dep func(types.OID, types.OID, int, types.OID, types.OID, int, byte)) {
	defaultDepends(oid, t.Columns, dep)
	for _, u := range t.Uniques {
		for _, c := range u.Cols {
			dep(oidPgConstraint, u.OID, 0, oidPgClass, oid, c+1, 'a')
		}
		dep(oidPgClass, u.Index, 0, oidPgConstraint, u.OID, 0, 'i')
	}
	for _, k := range t.Checks {
		for _, c := range k.Cols {
			dep(oidPgConstraint, k.OID, 0, oidPgClass, oid, c+1, 'a')
		}
	}
	for _, k := range t.ForeignKeys {
		for _, c := range k.Cols {
			dep(oidPgConstraint, k.OID, 0, oidPgClass, oid, c+1, 'a')
		}
		for _, c := range k.RefCols {
			dep(oidPgConstraint, k.OID, 0, oidPgClass, k.RefTable, c+1, 'n')
		}
		dep(oidPgConstraint, k.OID, 0, oidPgClass, k.RefIndex, 0, 'n')
	}
	for _, ix := range t.Indexes {
		if ix.Constraint == 0 {
			for _, k := range ix.Keys {
				if k.Col >= 0 {
					dep(oidPgClass, ix.OID, 0, oidPgClass, oid, k.Col+1, 'a')
				}
			}
		}
	}
}

// defaultDepends tells what the defaults of columns need.
func defaultDepends(oid types.OID, cols []catalog.Column, dep func(types.OID, types.OID, int, types.OID, types.OID, int, byte)) {
	for i := range cols {
		c := &cols[i]
		if c.Dropped || c.Default == "" {
			continue
		}
		dflt := synthOID("attrdef", oid, i+1)
		dep(oidPgAttrdef, dflt, 0, oidPgClass, oid, i+1, 'a')
		if c.Sequence != 0 && c.Identity == 0 {
			dep(oidPgAttrdef, dflt, 0, oidPgClass, c.Sequence, 0, 'n')
		}
		for _, d := range c.DefaultDeps {
			dep(oidPgAttrdef, dflt, 0, oidPgClass, d, 0, 'n')
		}
	}
}
