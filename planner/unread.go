package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// unread tells which columns of a table an UPDATE need not read: their attribute
// files are not written, and no index or foreign key looks at them. nil means
// that all are read: rows may move, or the message of a constraint may have to
// tell the whole row. NULL may stand for the others.
//
// Given CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int UNIQUE, d int NOT NULL) WITH (layout = 'column'):
//
//	UPDATE t SET a = 1        reads a, c and d, not b
//	UPDATE t SET id = id + 1  reads all
//	UPDATE t SET d = 1        reads all
func (p *planner) unread(t *catalog.Table, set []int) []bool {
	if len(t.Groups) == 0 || len(t.Checks) > 0 || t.Cluster != nil || t.Bound != nil ||
		slices.ContainsFunc(set, func(c int) bool { return t.Columns[c].NotNull || slices.Contains(t.PK, c) }) {
		return nil
	}
	out := make([]bool, len(t.Columns))
	for i := range t.Groups {
		g := &t.Groups[i]
		if slices.ContainsFunc(g.Cols, func(c int) bool { return slices.Contains(set, c) }) {
			continue
		}
		for _, c := range g.Cols {
			col := &t.Columns[c]
			out[c] = !col.NotNull && p.Snap.BaseType(col.Type) == col.Type
		}
	}
	looked, ok := p.lookedAt(t)
	if !ok {
		return nil
	}
	for c := range out {
		out[c] = out[c] && !looked[c]
	}
	return out
}

// undeleted lists the columns of a table that a DELETE need not read: their
// attribute files lose the row's keys whatever is there, and nothing looks at the
// values. With RETURNING all are read.
func (p *planner) undeleted(t *catalog.Table) []int {
	if t.Cluster != nil || len(t.Groups) == 0 {
		return nil
	}
	looked, _ := p.lookedAt(t)
	var out []int
	for i := range t.Groups {
		g := &t.Groups[i]
		if slices.ContainsFunc(g.Cols, func(c int) bool { return looked[c] }) {
			continue
		}
		for _, c := range g.Cols {
			if !t.Columns[c].Dropped {
				out = append(out, c)
			}
		}
	}
	return out
}

// lookedAt tells which columns of a table its indexes, foreign keys and domains
// look at when a row is written; false if there are generated columns.
func (p *planner) lookedAt(t *catalog.Table) (out []bool, ok bool) {
	out = make([]bool, len(t.Columns))
	read := func(cols []int) {
		for _, c := range cols {
			if c >= 0 {
				out[c] = true
			}
		}
	}
	for _, ix := range t.Indexes {
		for _, k := range ix.Keys {
			read([]int{k.Col})
		}
		read(ix.Include)
	}
	for _, fk := range t.ForeignKeys {
		read(fk.Cols)
	}
	ex, err := TableExprs(p.Context, t)
	if err != nil {
		fail(err)
	}
	lists := append([][]plan.Expr{ex.Domains, ex.Preds}, ex.IndexKeys...)
	for _, l := range lists {
		for _, e := range l {
			if e == nil {
				continue
			}
			plan.Map(e, func(x plan.Expr) plan.Expr {
				if c, ok := x.(*plan.Col); ok {
					read(ex.Live[c.Idx : c.Idx+1])
				}
				return x
			})
		}
	}
	for _, e := range ex.Generated {
		if e != nil {
			return out, false
		}
	}
	return out, true
}
