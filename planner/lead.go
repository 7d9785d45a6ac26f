package planner

import (
	"maps"
	"slices"

	"kvsqld/planner/plan"
)

// A join that is asked for its first rows in some table's order may begin with that
// table, read in the order, and look the others up: for
//
//	SELECT … FROM orders o JOIN customers c ON c.id = o.customer ORDER BY o.id DESC LIMIT 20
//
// twenty rows of each are read. Inner joins and outer joins that keep the table's
// rows pass them in order.

// lead is a table that a join begins with, and the order in which it is read.
type lead struct {
	rel  *rel
	want wanted
}

// leadOf is the table, nil if there is none, in whose order the block's first rows
// are wanted.
func (p *planner) leadOf(s *state) *lead {
	b, q := s.b, s.q
	if p.NoOptimizer || p.limitOf(s) == 0 || len(q.sort) == 0 || len(b.rels) < 2 || b.grouped || b.distinct || len(b.wins) > 0 || b.hasSRF || len(b.semis) > 0 {
		return nil
	}
	for _, r := range b.rels {
		if r.table == nil || r.tree != nil || r.lateral || r.cursor != "" || r.table.Cluster != nil || len(r.secure) > 0 {
			return nil
		}
	}
	plain := true
	check := func(list []plan.Expr) {
		for _, c := range list {
			plain = plain && !hasSub(c) && !volatileCall(c)
		}
	}
	check(b.where)
	b.eachItem(func(j *joinItem) { check(j.on) })
	w := p.sortOrder(s)
	if !plain || len(w.cols) == 0 {
		return nil
	}
	r := b.rels[w.cols[0].rel]
	if r == nil {
		return nil
	}
	if i := slices.IndexFunc(w.cols, func(o orderCol) bool { return o.rel != r.id }); i >= 0 {
		w.cols, w.rest = w.cols[:i], true
	}
	return &lead{r, w}
}

// joinInOrder plans the block's joins so that they begin with its lead, and puts
// them in the place of those that are planned where that is cheaper.
func (p *planner) joinInOrder(s *state, l *lead) {
	notes, implied := p.steps, p.implied
	p.steps, p.implied = nil, maps.Clone(implied)
	alt := &state{q: s.q, b: s.b, need: map[int]map[int]bool{}, joined: s.joined, lead: l}
	p.stepFilter(alt)
	p.stepJoinOrder(alt)
	took := p.steps
	p.steps, p.implied = notes, implied
	if alt.order == nil {
		return
	}
	p.steps = nil
	p.stepJoin(alt)
	took = append(took, p.steps...)
	p.steps = notes
	n, reverse := orderedBy(alt.cur.order, l.want.cols)
	if n == 0 || reverse {
		return
	}
	rows := alt.cur.rows
	read, sort := min(rows, l.want.limit), 0.0
	if n < len(l.want.cols) || l.want.rest {
		runs := 1.0
		for _, o := range l.want.cols[:n] {
			runs *= p.distinct(&plan.Var{Rel: o.rel, Col: o.col}, s.b.rels, rows)
		}
		read = min(rows, l.want.limit+rows/max(1, min(runs, rows)))
		sort = read * costSort
	}
	if costStart+alt.cur.cost*read/rows+sort < s.cur.cost+s.cur.rows*costSort {
		s.cur, s.order, p.steps = alt.cur, alt.order, took
	}
}

// leads reports whether the rels have the table that the join begins with.
func (s *state) leads(rels map[int]bool) bool { return s.lead != nil && rels[s.lead.rel.id] }

// leading is the join tree that begins with the lead and looks up what follows, nil
// if there is none.
func (g *joinGraph) leading(l *lead) *joinStep {
	i := slices.IndexFunc(g.leaves, func(j *joinStep) bool { return j.unit.rels[l.rel.id] })
	if i < 0 {
		return g.exact()
	}
	cur := g.leaves[i]
	left := slices.Delete(slices.Clone(g.leaves), i, i+1)
	for len(left) > 0 {
		best := -1
		for i, x := range left {
			if g.lookupCost(x, cur.set) > 0 && (best < 0 || g.rows(cur.set|x.set) < g.rows(cur.set|left[best].set)) {
				best = i
			}
		}
		if best < 0 {
			return nil
		}
		x := left[best]
		rows := g.rows(cur.set | x.set)
		cur = &joinStep{l: cur, r: x, set: cur.set | x.set, rows: rows, cost: cur.cost + cur.rows*(costStart+costGet) + rows}
		left = slices.Delete(left, best, best+1)
	}
	return cur
}
