package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// Query trees are made of a query that was bound for its text: constants are not
// folded, views stay names, and a recorder keeps what each clause was bound to.
// The parts have a file each: what the binder notes (querytree_record.go), SELECT
// (querytree_select.go), FROM and the names of its columns (querytree_from.go,
// querytree_names.go), and expressions (querytree_expr.go).

// bindForText binds a query for its text.
func (p *planner) bindForText(s *ast.Select) *query {
	p.rec = newRecorder()
	q := p.bindSelect(s, nil)
	p.resolveUnknowns(q)
	return q
}

// textPlanner is a planner that binds for the text: nothing is folded.
func textPlanner(c *Context) *planner {
	unfolded := *c
	unfolded.Consts, unfolded.literals = nil, c.Consts
	return newPlanner(&unfolded)
}

// ViewTree binds a view's query and takes it apart.
func ViewTree(c *Context, v *catalog.View) (t *catalog.QueryTree, err error) {
	return viewTree(c, v, false)
}

// ConditionTree is ViewTree of a query that stands for a condition over a table: the
// columns of this are bare names outside of subqueries.
func ConditionTree(c *Context, v *catalog.View) (t *catalog.QueryTree, err error) {
	return viewTree(c, v, true)
}

func viewTree(c *Context, v *catalog.View, bare bool) (t *catalog.QueryTree, err error) {
	s, err := c.Texts.ParseQuery(v.Query)
	if err != nil {
		return nil, err
	}
	p := textPlanner(c)
	defer p.recover(&err)
	p.stored, p.only = true, v.CallsOf(v.Query)
	q := p.bindForText(s)
	w := newTreeWriter(p, c.Snap)
	w.bareNext, w.made = bare, v.MadeAliases
	return w.query(q, s, columnNamesOf(c.Snap, v), true), nil
}

// treeWriter makes the tree of a query; the names of its entries are unlike
// those of the queries around it.
type treeWriter struct {
	*planner
	names *catalog.Snapshot
	refs  map[int]string         // names of entries
	cols  map[[2]int]string      // names of their columns
	using map[*ast.Join][]string // names of the columns that they merge
	taken map[string]bool
	// made are the aliases of the text before that nobody wrote, given those of this one
	made  []string
	given *[]string
	// function is what qualifies the names of parameters in a function's body; they
	// have numbers if it is ""
	function string
	// named gives output columns that have no name their name all the same: the text will
	// be read again, and might give them another one then
	named bool
	// bare writes columns without the names of their entries, bareNext those of the
	// next query alone
	bare, bareNext bool
	// pieces of the expression that is being written
	pieces [][]catalog.TreePart
}

// reservedRefs are names that no entry gets, for rules have them.
var reservedRefs = map[string]bool{"old": true, "new": true}

func newTreeWriter(p *planner, names *catalog.Snapshot) *treeWriter {
	return &treeWriter{planner: p, names: names, refs: map[int]string{}, cols: map[[2]int]string{}, using: map[*ast.Join][]string{}, given: new([]string), taken: maps.Clone(reservedRefs)}
}

// giveUp refuses a query that has no tree.
func giveUp(what string) { unsupported(-1, "the text of a query with %s", what) }

// query takes a bound query apart. cols are the names of a view's columns;
// visible tells that all output names are shown.
func (w *treeWriter) query(q *query, s *ast.Select, cols []string, visible bool) *catalog.QueryTree {
	if q == nil {
		giveUp("this subquery")
	}
	q = unconverted(q)
	in := *w
	in.taken = maps.Clone(w.taken)
	in.bare, in.bareNext = w.bareNext, false
	out := &catalog.QueryTree{}
	in.nameList(s.From)
	if s.With != nil {
		out.Recursive, out.With = in.with(s.With)
	}
	switch {
	case s.SetOp != nil:
		out.SetOp, out.All = s.SetOp.Op, s.SetOp.All
		out.L = in.query(in.rec.bound[s.SetOp.L], s.SetOp.L, cols, visible)
		out.R = in.query(in.rec.bound[s.SetOp.R], s.SetOp.R, cols, false)
		out.OrderBy = numbered(q.sort)
	case s.Values != nil:
		in.values(q, out, cols)
	default:
		in.core(s, q, out, cols, visible)
	}
	opt := func(e plan.Expr) *catalog.TreeExpr {
		if e == nil {
			return nil
		}
		t := in.expr(e, false)
		return &t
	}
	switch {
	case s.Limit != nil && noLimit(q.limit):
		out.Limit = &catalog.TreeExpr{Text: "ALL"}
	case s.Limit != nil:
		out.Limit = opt(q.limit)
	}
	if s.Offset != nil {
		out.Offset = opt(q.offset)
	}
	out.WithTies = s.WithTies
	for i := range s.Locking {
		out.Locking = append(out.Locking, in.locking(&s.Locking[i], s.From)...)
	}
	return out
}

// unconverted is the query itself, of one that converts the columns of another.
func unconverted(q *query) *query {
	for q.block != nil && len(q.block.from) == 1 && q.block.from[0].rel != nil && q.block.from[0].rel.alias == convertedName {
		q = q.block.from[0].rel.query
	}
	return q
}

func numbered(keys []sortKey) []catalog.SortTree {
	var out []catalog.SortTree
	for _, k := range keys {
		out = append(out, catalog.SortTree{Num: k.target + 1, Desc: k.desc, NullsFirst: k.nullsFirst, Using: k.using})
	}
	return out
}

// locking is a clause for each entry of FROM that it locks.
func (w *treeWriter) locking(l *ast.Locking, from []ast.FromItem) []catalog.LockTree {
	wait := ""
	switch {
	case l.NoWait:
		wait = "NOWAIT"
	case l.SkipLocked:
		wait = "SKIP LOCKED"
	}
	var out []catalog.LockTree
	eachEntry(from, func(f ast.FromItem) {
		r := w.rec.froms[f]
		named := slices.ContainsFunc(l.Of, func(n ast.Name) bool { return n.Last() == r.alias })
		if named || len(l.Of) == 0 && notLockable(r) == "" {
			out = append(out, catalog.LockTree{Strength: l.Strength, Of: []string{w.refs[r.id]}, Wait: wait})
		}
	})
	return out
}

// eachEntry calls f for the entries of FROM that are no joins.
func eachEntry(from []ast.FromItem, f func(ast.FromItem)) {
	for _, x := range from {
		if j, ok := x.(*ast.Join); ok {
			eachEntry([]ast.FromItem{j.L, j.R}, f)
		} else {
			f(x)
		}
	}
}

func (w *treeWriter) with(s *ast.With) (recursive bool, out []catalog.WithTree) {
	for i := range s.CTEs {
		c := &s.CTEs[i]
		t := catalog.WithTree{Name: c.Name, Cols: c.Cols, Materialized: c.Materialized}
		sel, ok := c.Stmt.(*ast.Select)
		if !ok {
			t.Change = w.change(c.Stmt, true)
			out = append(out, t)
			continue
		}
		if q := w.rec.bound[sel]; q != nil {
			t.Query = w.query(q, sel, nil, true)
		} else { // a recursive one: its sides are bound apart
			t.Query = &catalog.QueryTree{SetOp: sel.SetOp.Op, All: sel.SetOp.All}
			t.Query.L = w.query(w.rec.bound[sel.SetOp.L], sel.SetOp.L, nil, true)
			t.Query.R = w.query(w.rec.bound[sel.SetOp.R], sel.SetOp.R, nil, false)
		}
		if x := c.Search; x != nil {
			t.Search = &catalog.SearchTree{Breadth: x.Breadth, By: x.By, Set: x.Set}
		}
		if x := c.Cycle; x != nil {
			t.Cycle = &catalog.CycleTree{Cols: x.Cols, Mark: x.Mark, Path: x.Path, Value: w.expr(w.noted(x.Value), false), Default: w.expr(w.noted(x.Default), false)}
		}
		out = append(out, t)
	}
	return s.Recursive, out
}
