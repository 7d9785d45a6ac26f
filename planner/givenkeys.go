package planner

import (
	"slices"

	"kvsqld/planner/plan"
)

// Of the keys of
//
//	SELECT p.id, p.title, count(*) FROM … GROUP BY p.id, p.title
//
// the title is given by the primary key: groups are told apart by p.id, and rows in any
// order of the table's columns have those of one group side by side if the order ends
// with the primary key. The same holds for SELECT DISTINCT p.id, p.title.

// givenKeys tells which of the block's keys, those of GROUP BY or DISTINCT, have one value
// wherever the others have, and the tables of whose rows there is one for each of the
// others' values: those whose primary key is among them, and those that are looked up
// from these by their primary key. Nothing is given with grouping sets.
func (p *planner) givenKeys(b *block, keys []plan.Expr) (given []bool, tables relSet) {
	given = make([]bool, len(keys))
	if b.sets != nil || len(keys) < 2 && len(b.rels) < 2 || p.NoOptimizer {
		return given, relSet{}
	}
	column := map[[2]int]bool{}
	for _, k := range keys {
		if v, ok := k.(*plan.Var); ok && v.Level == 0 {
			column[[2]int{v.Rel, v.Col}] = true
		}
	}
	var roots relSet
	for _, r := range b.rels {
		if r.toldByKey() && all(r.table.PK, func(c int) bool { return column[[2]int{r.id, c}] }) {
			roots.add(r.id)
		}
	}
	if roots.empty() {
		return given, relSet{}
	}
	looks := p.keyLookups(b)
	tables = withLookups(roots, looks)
	ids := slices.Collect(roots.all())
	slices.Reverse(ids)
	for _, id := range ids { // of two that give each other the first in FROM stays
		others := roots.keep(func(x int) bool { return x != id })
		if withLookups(others, looks).has(id) {
			roots = others
		}
	}
	for i, k := range keys {
		if v, ok := k.(*plan.Var); ok && roots.has(v.Rel) && slices.Contains(b.rels[v.Rel].table.PK, v.Col) {
			continue
		}
		given[i] = followsFrom(k, tables)
	}
	return given, tables
}

// toldByKey reports whether one value of the primary key is one row. The key of a table with
// children says nothing of their rows, unless it is partitioned.
func (r *rel) toldByKey() bool {
	t := r.table
	return t != nil && len(t.PK) > 0 && (r.tree == nil || t.Key != nil) && !t.Deferrable(t.PrimaryIndex())
}

// followsFrom reports whether an expression has one value for one row of the tables.
func followsFrom(e plan.Expr, tables relSet) bool {
	if hasSub(e) || volatileCall(e) {
		return false
	}
	vars, from := 0, true
	plan.Visit(e, func(x plan.Expr) bool {
		if v, ok := x.(*plan.Var); ok {
			vars++
			from = from && v.Level == 0 && tables.has(v.Rel)
		}
		return from
	})
	return vars > 0 && from
}

// keyLookup is a table that is joined by its primary key: to one row of what the values are
// computed of, one row of it at most. outer are the conditions of the left join that it is
// the right side of.
type keyLookup struct {
	table  int
	values []plan.Expr
	outer  []plan.Expr
}

// withLookups adds to tables those of whose rows the lookups find one for each of theirs.
func withLookups(tables relSet, looks []keyLookup) relSet {
	out := tables
	for more := true; more; {
		more = false
		for _, l := range looks {
			if out.has(l.table) || !all(l.values, func(e plan.Expr) bool { return followsFrom(e, out) }) {
				continue
			}
			with := out
			if l.outer != nil {
				with.add(l.table)
			}
			// A row that is left without a partner for its own sake only.
			if all(l.outer, func(e plan.Expr) bool { return followsFrom(e, with) }) {
				out.add(l.table)
				more = true
			}
		}
	}
	return out
}

// keyLookups are the tables that inner joins, or left joins of which they are the right side,
// find by their primary keys.
func (p *planner) keyLookups(b *block) []keyLookup {
	var out []keyLookup
	conj := slices.Clone(b.where)
	var inner []*rel
	var walk func(j *joinItem, kept bool)
	walk = func(j *joinItem, kept bool) {
		switch {
		case j.rel != nil:
			if kept {
				inner = append(inner, j.rel)
			}
			return
		case j.kind == plan.Inner && kept:
			conj = append(conj, j.on...)
		case j.kind == plan.Left && j.r.rel != nil:
			if l, ok := lookupOf(j.r.rel, j.on); ok {
				l.outer = j.on
				out = append(out, l)
			}
		}
		walk(j.l, kept && (j.kind == plan.Inner || j.kind == plan.Left))
		walk(j.r, kept && (j.kind == plan.Inner || j.kind == plan.Right))
	}
	for _, j := range b.from {
		walk(j, true)
	}
	for _, r := range inner {
		if l, ok := lookupOf(r, conj); ok {
			out = append(out, l)
		}
	}
	return out
}

// lookupOf finds equalities of each column of r's primary key with something else.
func lookupOf(r *rel, conj []plan.Expr) (keyLookup, bool) {
	l := keyLookup{table: r.id}
	if !r.toldByKey() {
		return l, false
	}
	for _, c := range r.table.PK {
		i := slices.IndexFunc(conj, func(e plan.Expr) bool { return valueOf(r, c, e) != nil })
		if i < 0 {
			return l, false
		}
		l.values = append(l.values, valueOf(r, c, conj[i]))
	}
	return l, true
}

// valueOf is what an equality says that a column of r is, nil if it does not say that.
func valueOf(r *rel, col int, conj plan.Expr) plan.Expr {
	x, y, ok := equality(conj)
	if !ok || x.Type().OID != y.Type().OID || !hashable(x.Type()) {
		return nil
	}
	is := func(e plan.Expr) bool {
		v, ok := relabelled(e)
		return ok && v.Level == 0 && v.Rel == r.id && v.Col == col
	}
	switch {
	case is(x) && !is(y):
		return y
	case is(y) && !is(x):
		return x
	}
	return nil
}

// tellingColumns are the output columns that tell the rows of DISTINCT apart, nil for all.
func (p *planner) tellingColumns(b *block) []int {
	if b.grouped {
		return nil
	}
	given, _ := p.givenKeys(b, b.toldBy())
	if !slices.Contains(given, true) {
		return nil
	}
	var out []int
	for i, g := range given {
		if !g {
			out = append(out, i)
		}
	}
	return out
}
