package pgcatalog

import (
	"fmt"
	"slices"
	"strings"

	"kvsqld/catalog"
)

// systemTables are the tables of pg_catalog with their keys.
func systemTables() []*catalog.Table {
	var out []*catalog.Table
	for _, r := range All() {
		if r.View {
			continue
		}
		t := &catalog.Table{Common: r.Common, Columns: r.Columns}
		for _, ix := range catalog.SystemIndexes() {
			if ix.Table == r.OID && ix.Constraint != 0 {
				u := &catalog.Unique{OID: ix.Constraint, Name: ix.Name, Primary: ix.Primary, Index: ix.OID}
				for _, k := range ix.Keys {
					u.Cols = append(u.Cols, k-1)
				}
				t.Uniques = append(t.Uniques, u)
			}
		}
		out = append(out, t)
	}
	return out
}

// constrained are the tables that information_schema tells the constraints of.
func (env *Env) constrained() []*catalog.Table {
	return append(systemTables(), env.Snap.Tables(env.DB)...)
}

// relation is what privileges of a table of constrained are on.
func (env *Env) relation(t *catalog.Table) catalog.Relation {
	if r := ByOID(t.OID); r != nil {
		return r.Virtual
	}
	return t
}

// uniqueKeys are a table's primary key and unique constraints: information_schema
// knows nothing of exclusion constraints.
func uniqueKeys(t *catalog.Table) []*catalog.Unique {
	return slices.DeleteFunc(slices.Clone(t.Uniques), func(u *catalog.Unique) bool { return u.Exclude != nil })
}

func rowsTableConstraints(w *writer) {
	env := w.env
	db := env.dbName()
	row := func(t *catalog.Table, name, kind string, deferrable, deferred bool) {
		w.str(db).str(t.Schema).str(name).str(db).str(t.Schema).str(t.Name).str(kind).yes(deferrable).yes(deferred).yes(true)
		if kind == "UNIQUE" {
			w.yes(nullsDistinct(t, name)).end()
		} else {
			w.null().end()
		}
	}
	for _, t := range env.constrained() {
		if !env.seesRelation(env.relation(t), changeTable, changeColumn) {
			continue
		}
		for _, k := range t.Checks {
			row(t, k.Name, "CHECK", false, false)
		}
		for _, u := range uniqueKeys(t) {
			kind := "UNIQUE"
			if u.Primary {
				kind = "PRIMARY KEY"
			}
			row(t, u.Name, kind, u.Deferrable, u.InitiallyDeferred)
		}
		for _, k := range t.ForeignKeys {
			row(t, k.Name, "FOREIGN KEY", k.Deferrable, k.InitiallyDeferred)
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; c.NotNull && !c.Dropped {
				row(t, env.notNullName(t, i), "CHECK", false, false)
			}
		}
	}
}

func nullsDistinct(t *catalog.Table, constraint string) bool {
	for _, ix := range t.Indexes {
		if ix.Name == constraint {
			return !ix.NullsNotDistinct
		}
	}
	return true
}

// notNullName is the name that information_schema makes up for a NOT NULL.
func (env *Env) notNullName(t *catalog.Table, col int) string {
	return fmt.Sprintf("%d_%d_%d_not_null", env.namespace(t.Schema), t.OID, col+1)
}

func rowsCheckConstraints(w *writer) {
	env := w.env
	db := env.dbName()
	type row struct{ schema, name, clause string }
	listed := map[row]bool{} // an inherited one is there once
	check := func(schema string, k *catalog.Check) {
		if r := (row{schema, k.Name, env.checkClause(k)}); !listed[r] {
			listed[r] = true
			w.str(db).str(r.schema).str(r.name).str(r.clause).end()
		}
	}
	for _, u := range env.checkedTypes() {
		if !env.owned(u) {
			continue
		}
		for _, k := range u.Checks {
			check(u.Schema, k)
		}
	}
	for _, t := range env.constrained() {
		if !env.owned(env.relation(t)) {
			continue
		}
		for _, k := range t.Checks {
			check(t.Schema, k)
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; c.NotNull && !c.Dropped {
				w.str(db).str(t.Schema).str(env.notNullName(t, i)).str(c.Name + " IS NOT NULL").end()
			}
		}
	}
}

// checkClause is the constraint's definition without CHECK.
func (env *Env) checkClause(k *catalog.Check) string {
	return strings.TrimPrefix(env.checkDef(k, false), "CHECK ")
}

func rowsKeyColumnUsage(w *writer) {
	env := w.env
	db := env.dbName()
	for _, t := range env.constrained() {
		row := func(name string, i, col, inUnique int) {
			if !env.seesColumn(env.relation(t), col, anyOfColumn) {
				return
			}
			w.str(db).str(t.Schema).str(name).str(db).str(t.Schema).str(t.Name).str(t.Columns[col].Name).int(int64(i + 1)).num(int64(inUnique)).end()
		}
		for _, u := range uniqueKeys(t) {
			for i, c := range u.Cols {
				row(u.Name, i, c, -1)
			}
		}
		for _, k := range t.ForeignKeys {
			for i, c := range k.Cols {
				row(k.Name, i, c, env.uniquePosition(k, i))
			}
		}
	}
}

// uniquePosition returns the place of a referenced column in its unique key,
// from 1.
func (env *Env) uniquePosition(k *catalog.ForeignKey, i int) int {
	if ref := env.Snap.Table(k.RefTable); ref != nil {
		if ix := ref.IndexByOID(k.RefIndex); ix != nil {
			return slices.Index(ix.KeyCols(), k.RefCols[i]) + 1
		}
	}
	return -1
}

func rowsConstraintColumnUsage(w *writer) {
	env := w.env
	db := env.dbName()
	for _, t := range env.constrained() {
		row := func(of *catalog.Table, col int, name string) {
			if !env.owned(env.relation(of)) {
				return
			}
			w.str(db).str(of.Schema).str(of.Name).str(of.Columns[col].Name).str(db).str(t.Schema).str(name).end()
		}
		for _, k := range t.Checks {
			for _, c := range k.Cols {
				row(t, c, k.Name)
			}
		}
		for _, u := range uniqueKeys(t) {
			for _, c := range u.Cols {
				row(t, c, u.Name)
			}
		}
		for _, k := range t.ForeignKeys {
			if ref := env.Snap.Table(k.RefTable); ref != nil {
				for _, c := range k.RefCols {
					row(ref, c, k.Name)
				}
			}
		}
	}
}

func rowsConstraintTableUsage(w *writer) {
	env := w.env
	db := env.dbName()
	for _, t := range env.constrained() {
		for _, u := range uniqueKeys(t) {
			if !env.owned(env.relation(t)) {
				break
			}
			w.str(db).str(t.Schema).str(t.Name).str(db).str(t.Schema).str(u.Name).end()
		}
		for _, k := range t.ForeignKeys {
			if ref := env.Snap.Table(k.RefTable); ref != nil && env.owned(ref) {
				w.str(db).str(ref.Schema).str(ref.Name).str(db).str(t.Schema).str(k.Name).end()
			}
		}
	}
}

var referentialRules = map[byte]string{'a': "NO ACTION", 'r': "RESTRICT", 'c': "CASCADE", 'n': "SET NULL", 'd': "SET DEFAULT"}

func rowsReferentialConstraints(w *writer) {
	env := w.env
	db := env.dbName()
	for _, t := range env.constrained() {
		if !env.seesRelation(env.relation(t), changeTable, changeColumn) {
			continue
		}
		for _, k := range t.ForeignKeys {
			w.str(db).str(t.Schema).str(k.Name)
			if ref, u := env.referencedKey(k); u != nil {
				w.str(db).str(ref.Schema).str(u.Name)
			} else {
				w.nulls(3)
			}
			match := "NONE"
			if k.Match == 'f' {
				match = "FULL"
			}
			w.str(match).str(referentialRules[k.OnUpdate]).str(referentialRules[k.OnDelete]).end()
		}
	}
}

// referencedKey returns the constraint that a foreign key refers to, or nil when
// it refers to a bare unique index.
func (env *Env) referencedKey(k *catalog.ForeignKey) (*catalog.Table, *catalog.Unique) {
	ref := env.Snap.Table(k.RefTable)
	if ref == nil {
		return nil, nil
	}
	for _, u := range ref.Uniques {
		if u.Index == k.RefIndex {
			return ref, u
		}
	}
	return ref, nil
}
