package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// unread lists the columns of a table of which an UPDATE need not read the old
// values: NULL may stand for them. Nothing that looks at them can be changed by it,
// and their attribute files are not written, or written anew whatever is there.
// None if rows may move or have generated columns. The writer reads what it lacks
// when the message of a constraint has to tell the whole row.
//
// Given CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int UNIQUE, d int NOT NULL, e int CHECK (e > a)) WITH (layout = 'column'):
//
//	UPDATE t SET b = 1        reads none of them
//	UPDATE t SET a = 1        reads e
//	UPDATE t SET c = 1        reads c
//	UPDATE t SET d = d + b    reads d and b, for the new value
//	UPDATE t SET id = id + 1  reads all
func (p *planner) unread(t *catalog.Table, set []int) (out []int) {
	if len(t.Groups) == 0 || t.Cluster != nil || t.Bound != nil ||
		slices.ContainsFunc(set, func(c int) bool { return slices.Contains(t.PK, c) }) {
		return nil
	}
	isSet := func(c int) bool { return slices.Contains(set, c) }
	looked, ok := p.lookedAt(t, isSet)
	if !ok {
		return nil
	}
	for i := range t.Groups {
		g := &t.Groups[i]
		live := slices.DeleteFunc(slices.Clone(g.Cols), func(c int) bool { return t.Columns[c].Dropped })
		if slices.ContainsFunc(live, isSet) && (g.Elements || !allOf(live, isSet)) {
			continue // part of what is stored stays
		}
		for _, c := range live {
			if !looked[c] && p.Snap.BaseType(t.Columns[c].Type) == t.Columns[c].Type {
				out = append(out, c)
			}
		}
	}
	return out
}

func allOf(cols []int, is func(int) bool) bool {
	return !slices.ContainsFunc(cols, func(c int) bool { return !is(c) })
}

// undeleted lists the columns of a table that a DELETE need not read: no index looks at
// their values, and the row, or their attribute file, loses its key whatever is there. So
// an index may have all that is wanted of the rows to be deleted. With RETURNING all are
// read.
func (p *planner) undeleted(t *catalog.Table) []int {
	if t.Cluster != nil {
		return nil
	}
	unread := make([]bool, len(t.Columns))
	for c := range t.Columns {
		unread[c] = !t.Columns[c].Dropped
	}
	looked := p.indexed(t, nil)
	for _, c := range looked {
		unread[c] = false
	}
	for i := range t.Groups { // one value with that of a column that is read
		if cols := t.Groups[i].Cols; slices.ContainsFunc(cols, func(c int) bool { return slices.Contains(looked, c) }) {
			for _, c := range cols {
				unread[c] = false
			}
		}
	}
	var out []int
	for c, is := range unread {
		if is {
			out = append(out, c)
		}
	}
	return out
}

// lookedAt tells which columns of a table its indexes, foreign keys, domains and
// CHECK constraints look at when those of set are written; false if there are
// generated columns.
func (p *planner) lookedAt(t *catalog.Table, set func(int) bool) (out []bool, ok bool) {
	out = make([]bool, len(t.Columns))
	read := func(cols []int) {
		for _, c := range cols {
			out[c] = true
		}
	}
	ex, err := TableExprs(p.Context, t)
	if err != nil {
		fail(err)
	}
	read(p.indexed(t, set))
	for _, fk := range t.ForeignKeys {
		if slices.ContainsFunc(fk.Cols, set) {
			read(fk.Cols)
		}
	}
	for i, c := range ex.Checks {
		if c == nil {
			continue
		}
		// What a row has satisfied, it does as long as none of these columns changes.
		if cols := plan.ColsIn(c, ex.Live); t.Checks[i].NotValid || slices.ContainsFunc(cols, set) {
			read(cols)
		}
	}
	for _, e := range ex.Domains {
		read(plan.ColsIn(e, ex.Live))
	}
	for _, e := range ex.Generated {
		if e != nil {
			return out, false
		}
	}
	return out, true
}

// indexed lists the columns that an UPDATE of columns in set needs for the entries of
// the table's indexes; set is nil for a DELETE, which needs what all their keys have.
// Keys and predicates that are computed are computed always.
func (p *planner) indexed(t *catalog.Table, set func(int) bool) (out []int) {
	ex, err := TableExprs(p.Context, t)
	if err != nil {
		fail(err)
	}
	for i, ix := range t.Indexes {
		var cols []int
		computed := ix.Where != ""
		for _, k := range ix.Keys {
			if computed = computed || k.Col < 0; k.Col >= 0 {
				cols = append(cols, k.Col)
			}
		}
		if set != nil {
			cols = append(cols, ix.Include...)
		}
		if set != nil && !computed && !slices.ContainsFunc(cols, set) {
			continue
		}
		out = append(out, cols...)
		for _, e := range append(slices.Clone(ex.IndexKeys[i]), ex.Preds[i]) {
			if e != nil {
				out = append(out, plan.ColsIn(e, ex.Live)...)
			}
		}
	}
	return out
}
