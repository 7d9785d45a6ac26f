package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// The relations that tell what views and routines use are read from pg_depend, as
// PostgreSQL's are.

// dependencies returns the rows of pg_depend.
func (env *Env) dependencies() (out []catalog.Dependency) {
	_ = ByOID(oidPgDepend).Rows(env, nil, func(r []types.Datum) bool {
		out = append(out, catalog.Dependency{Class: types.OID(r[0].I), OID: types.OID(r[1].I), Sub: int(r[2].I),
			RefClass: types.OID(r[3].I), RefOID: types.OID(r[4].I), RefSub: int(r[5].I), Kind: r[6].B[0]})
		return true
	})
	return out
}

const oidPgDepend types.OID = 2608

// viewUses calls f once for each of what views use of a catalog.
func (w *writer) viewUses(class types.OID, f func(schema, view string, on object)) {
	all := w.env.dependencies()
	views := make(map[types.OID]types.OID) // by their rules
	for _, d := range all {
		if d.Class == oidPgRewrite && d.RefClass == oidPgClass && d.Kind == 'i' {
			views[d.OID] = d.RefOID
		}
	}
	type use struct {
		view types.OID
		on   object
	}
	seen := make(map[use]bool)
	for _, d := range all {
		u := use{views[d.OID], object{class: d.RefClass, oid: d.RefOID, sub: d.RefSub}}
		if d.Class != oidPgRewrite || d.RefClass != class || d.Kind != 'n' || u.view == d.RefOID || seen[u] {
			continue
		}
		seen[u] = true
		r := w.env.Snap.RelationByOID(w.env.DB, u.view)
		if v, ok := r.(*catalog.View); ok && v.Materialized != nil {
			continue
		}
		if r != nil {
			schema, name := r.RelName()
			f(schema, name, u.on)
		}
	}
}

func rowsViewTableUsage(w *writer) {
	db := w.env.dbName()
	seen := make(map[[4]string]bool)
	w.viewUses(oidPgClass, func(schema, view string, on object) {
		if r := w.env.Snap.RelationByOID(w.env.DB, on.oid); r != nil && w.env.owned(r) {
			s, name := r.RelName()
			if k := [4]string{schema, view, s, name}; !seen[k] {
				seen[k] = true
				w.str(db).str(schema).str(view).str(db).str(s).str(name).end()
			}
		}
	})
}

func rowsViewColumnUsage(w *writer) {
	db := w.env.dbName()
	w.viewUses(oidPgClass, func(schema, view string, on object) {
		if r := w.env.Snap.RelationByOID(w.env.DB, on.oid); r != nil && w.env.owned(r) && on.sub > 0 && on.sub <= len(r.RelColumns()) {
			s, name := r.RelName()
			w.str(db).str(schema).str(view).str(db).str(s).str(name).str(r.RelColumns()[on.sub-1].Name).end()
		}
	})
}

func rowsViewRoutineUsage(w *writer) {
	db := w.env.dbName()
	w.viewUses(oidPgProc, func(schema, view string, on object) {
		if r, ok := w.env.routine(on.oid); ok && w.env.ownsRoutine(on.oid) {
			w.str(db).str(schema).str(view).str(db).str(r.schema).str(specificName(r.name, on.oid)).end()
		}
	})
}

func rowsRoutineRoutineUsage(w *writer) {
	db := w.env.dbName()
	for _, d := range w.env.dependencies() {
		if d.Class != oidPgProc || d.RefClass != oidPgProc || d.Kind != 'n' {
			continue
		}
		of, ok := w.env.routine(d.OID)
		on, known := w.env.routine(d.RefOID)
		if ok && known && w.env.ownsRoutine(d.RefOID) {
			w.str(db).str(of.schema).str(specificName(of.name, d.OID)).str(db).str(on.schema).str(specificName(on.name, d.RefOID)).end()
		}
	}
}

// routineUses writes the names of routines and of the relations that they use, each
// pair once: of columns for those with a number, of the relation for 0.
func (w *writer) routineUses(wanted func(r catalog.Relation, col int) bool, more func(r catalog.Relation, col int)) {
	db := w.env.dbName()
	type pair struct {
		routine, rel types.OID
		col          int
	}
	seen := make(map[pair]bool)
	for _, d := range w.env.dependencies() {
		if d.Class != oidPgProc || d.RefClass != oidPgClass {
			continue
		}
		of, ok := w.env.routine(d.OID)
		r := w.env.Snap.RelationByOID(w.env.DB, d.RefOID)
		if !ok || r == nil || !w.env.owned(r) || !wanted(r, d.RefSub) {
			continue
		}
		k := pair{routine: d.OID, rel: d.RefOID}
		if more != nil {
			k.col = d.RefSub
		}
		if seen[k] {
			continue
		}
		seen[k] = true
		schema, name := r.RelName()
		w.str(db).str(of.schema).str(specificName(of.name, d.OID)).str(db).str(of.schema).str(of.name).str(db).str(schema).str(name)
		if more != nil {
			more(r, d.RefSub)
		}
		w.end()
	}
}

// holdsTable reports whether a relation is a table or a plain view.
func holdsTable(r catalog.Relation) bool {
	switch x := r.(type) {
	case *catalog.View:
		return x.Materialized == nil
	case *catalog.Sequence:
		return false
	}
	return true
}

func rowsRoutineTableUsage(w *writer) {
	w.routineUses(func(r catalog.Relation, _ int) bool { return holdsTable(r) }, nil)
}

func rowsRoutineSequenceUsage(w *writer) {
	w.routineUses(func(r catalog.Relation, _ int) bool { _, is := r.(*catalog.Sequence); return is }, nil)
}

func rowsRoutineColumnUsage(w *writer) {
	w.routineUses(func(r catalog.Relation, col int) bool { return holdsTable(r) && col > 0 && col <= len(r.RelColumns()) },
		func(r catalog.Relation, col int) { w.str(r.RelColumns()[col-1].Name) })
}

// rowsColumnColumnUsage lists the columns that generated columns are computed from.
func rowsColumnColumnUsage(w *writer) {
	db := w.env.dbName()
	w.env.tables(func(_ types.OID, t *catalog.Table) {
		for i := range t.Columns {
			c := &t.Columns[i]
			if !c.Generated || c.Dropped || !w.env.owned(t) {
				continue
			}
			for _, on := range c.DefaultCols {
				w.str(db).str(t.Schema).str(t.Name).str(t.Columns[on].Name).str(c.Name).end()
			}
		}
	})
}
