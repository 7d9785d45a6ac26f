package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// ExtStats is what CREATE STATISTICS made: columns and expressions of a table whose
// values go together. It is kept and shown.
type ExtStats struct {
	Common
	Table  types.OID
	Cols   []int    // of the table, ascending
	Exprs  []string // texts over the table's columns
	Kinds  string   // of d ndistinct, f dependencies, m mcv, e expressions
	Target int      // of SET STATISTICS, -1 is the default
	// ExprCols are the columns that the expressions read.
	ExprCols []int
}

// ExtStatsOf returns the statistics objects of a table in the order of their names.
func (s *Snapshot) ExtStatsOf(table types.OID) []*ExtStats { return partsOf[*ExtStats](s, table) }

// AllExtStats returns the statistics objects of the database in OID order.
func (s *Snapshot) AllExtStats(db types.OID) []*ExtStats {
	return objectsOf(s, func(e *ExtStats) bool { return e.DB == db })
}

// ExtStats returns the statistics object of a schema and name, or nil.
func (s *Snapshot) ExtStats(db types.OID, schema, name string) *ExtStats {
	e, _ := s.objs.get(s.names.get(nameKey{spaceStatistics, db, schema, name})).(*ExtStats)
	return e
}

// FindExtStats returns the statistics object that a name alone stands for, or nil. Those
// of temporary schemas are only found by their full names.
func (s *Snapshot) FindExtStats(db types.OID, path []string, name string) *ExtStats {
	for _, schema := range path {
		if e := s.ExtStats(db, schema, name); e != nil && !IsTempSchema(schema) {
			return e
		}
	}
	return nil
}

func (s *Snapshot) linkExtStats(e *ExtStats) error {
	err := s.name(nameKey{spaceStatistics, e.DB, e.Schema, e.Name}, e.OID, func() *sqlerr.Error {
		return sqlerr.New(sqlerr.DuplicateObject, "statistics object \"%s\" already exists", e.Name)
	})
	if err == nil {
		addSorted(&s.parts, e.Table, e.OID)
	}
	return err
}

func (s *Snapshot) unlinkExtStats(e *ExtStats) {
	s.unname(nameKey{spaceStatistics, e.DB, e.Schema, e.Name}, e.OID)
	removeFrom(&s.parts, e.Table, e.OID)
}

// PutExtStats records a new or changed statistics object; a new one has no OID yet.
func (c *Change) PutExtStats(e *ExtStats) error {
	n := *e
	if n.OID == 0 {
		if err := c.creatable(e.Schema, e.Name); err != nil {
			return err
		}
		n.Common = c.common(e.Schema, e.Name)
	}
	return c.put(&n)
}

// CopyExtStats makes a statistics object like another one, over a table that has all
// of its columns by the same names.
func (c *Change) CopyExtStats(e *ExtStats, comment bool, t *Table) error {
	from := asRelation(c.snap.objs.get(e.Table)).RelColumns()
	n := &ExtStats{Table: t.OID, Exprs: e.Exprs, Kinds: e.Kinds, Target: -1}
	words := ""
	place := func(list []int, named bool) (out []int) {
		for _, i := range list {
			at := t.Col(from[i].Name)
			out = append(out, at)
			if named {
				words += "_" + from[i].Name
			}
		}
		slices.Sort(out)
		return out
	}
	n.Cols, n.ExprCols = place(e.Cols, true), place(e.ExprCols, false)
	words += strings.Repeat("_expr", len(e.Exprs))
	n.Schema, n.Name = t.Schema, chooseName(t.Name, strings.TrimPrefix(words, "_"), "stat", func(name string) bool {
		return c.snap.ExtStats(c.DB, t.Schema, name) != nil
	})
	made := n
	made.Common = c.common(n.Schema, n.Name)
	if comment {
		made.Comment = e.Comment
	}
	return c.put(made)
}

// DropExtStats drops statistics objects.
func (c *Change) DropExtStats(cascade bool, oids ...types.OID) error {
	var names []node
	for _, oid := range oids {
		names = append(names, node{kind: nodePart, oid: oid})
	}
	return c.drop(cascade, names...)
}

// statisticsOf adds the statistics objects of a table, or of its column attnum sub.
func (c *Change) statisticsOf(n node, add func(bool, node)) {
	for _, e := range c.snap.ExtStatsOf(n.oid) {
		if n.sub == 0 || slices.Contains(e.Cols, n.sub-1) || slices.Contains(e.ExprCols, n.sub-1) {
			add(true, node{kind: nodePart, oid: e.OID})
		}
	}
}

func (s *Snapshot) validateExtStats(e *ExtStats) error {
	r := asRelation(s.objs.get(e.Table))
	if r == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "statistics object \"%s\" is of relation with OID %d, which does not exist", e.Name, e.Table)
	}
	cols := r.RelColumns()
	for _, i := range e.Cols {
		if i < 0 || i >= len(cols) || cols[i].Dropped {
			return sqlerr.New(sqlerr.UndefinedColumn, "statistics object \"%s\" has a column that \"%s\" has not", e.Name, s.relationName(e.Table))
		}
	}
	if strings.Trim(e.Kinds, "dfme") != "" {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "statistics object \"%s\" has an unknown kind", e.Name)
	}
	return nil
}

// table returns the table, or the rows of the materialized view, of an object's
// expressions.
func (e *ExtStats) table(s *Snapshot) *Table { return s.storageTable(e.Table, e.DB) }

func (w *xmlWriter) extStats(e *ExtStats) {
	a := w.common(&e.Common, "statisticsName")
	w.partRef(&a, e.Table)
	a.set("kinds", e.Kinds)
	if e.Target >= 0 {
		a.num("target", int64(e.Target))
	}
	w.ownership(&a, &e.Common)
	w.open("ExtendedStatistics", a)
	var t *Table
	if !w.ids {
		t = &Table{Columns: asRelation(w.snap.objs.get(e.Table)).RelColumns()}
	}
	w.columnList("stAttribute", t, e.Cols)
	for _, x := range e.Exprs {
		w.text("stExpression", nil, x)
	}
	w.columnList("stReads", t, e.ExprCols)
	w.close("ExtendedStatistics")
}

func (r *xmlReader) extStats(e *element, c Common) Object {
	st := &ExtStats{Common: r.common(e, c, "statisticsName")}
	r.schemaOf(&st.Common)
	var cols []Column
	if st.Table = r.partRef(e); !r.ids {
		if rel := r.relation(e, "tableName", r.str(e, "tableSchema"), r.need(e, "tableName")); rel != nil {
			cols = rel.columns
		}
	}
	st.Kinds = r.str(e, "kinds")
	st.Target = int(r.num(e, "target", -1, 10000, -1))
	st.Cols = r.columnRefs(e, "stAttribute", cols)
	st.ExprCols = r.columnRefs(e, "stReads", cols)
	for _, x := range e.children {
		if x.name == "stExpression" {
			st.Exprs = append(st.Exprs, x.content())
			r.known(x)
		}
	}
	r.known(e, "stAttribute", "stExpression", "stReads")
	return st
}
