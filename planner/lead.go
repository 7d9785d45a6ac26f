package planner

import (
	"cmp"
	"maps"
	"slices"

	"kvsqld/planner/plan"
)

// A join that is asked for its first rows in some table's order may begin with that
// table, read in the order, and look the others up: for
//
//	SELECT … FROM orders o JOIN customers c ON c.id = o.customer ORDER BY o.id DESC LIMIT 20
//
// twenty rows of each are read. Inner joins, and outer, semi and anti joins that keep the
// table's rows, pass them in order. Where no order is asked for, it may begin with any table: one
// of those that have most rows, as the others are looked up for each of its rows.

// lead is a table that a join begins with, and the order in which it is read; no columns
// are any order.
type lead struct {
	rel  *rel
	want wanted
}

// leadOf is the table, nil if there is none, in whose order the block's first rows
// are wanted.
func (p *planner) leadOf(s *state) *lead {
	if len(s.q.sort) == 0 || !p.mayLead(s) {
		return nil
	}
	b := s.b
	first, ok := b.targets[s.q.sort[0].target].x.(*plan.Var)
	if ok && b.grouped {
		if first.Rel != b.grpRel || first.Col >= len(b.keys) {
			return nil
		}
		first, ok = b.keys[first.Col].(*plan.Var)
	}
	if !ok || first.Col < 0 || b.rels[first.Rel] == nil || b.rels[first.Rel].table == nil {
		return nil
	}
	r := b.rels[first.Rel]
	var w wanted
	switch {
	case b.grouped: // groups are complete when the next row of the table comes
		w = p.groupOrder(s, r, p.tableRows(r.table))
	case b.distinct:
		w = p.distinctOrder(s, r, p.tableRows(r.table))
	default:
		w = p.sortOrder(s)
	}
	if len(w.cols) == 0 {
		return nil
	}
	if i := slices.IndexFunc(w.cols, func(o orderCol) bool { return o.rel != r.id }); i >= 0 {
		w.cols, w.rest = w.cols[:i], true
	}
	return &lead{r, w}
}

// lateral reports whether entries of FROM are run for each row of others.
func (b *block) lateral() bool {
	for _, r := range b.rels {
		if r.lateral && r.table == nil {
			return true
		}
	}
	return false
}

// plannedOnce reports whether the block has what cannot be planned twice: entries of FROM,
// or what another table's rows are looked up by, that are run for each row of others.
func (b *block) plannedOnce() bool {
	once := b.lateral()
	check := func(list []plan.Expr) { once = once || slices.ContainsFunc(list, b.looksUpByQuery) }
	check(b.where)
	b.eachItem(func(j *joinItem) { check(j.on) })
	return once
}

// looksUpByQuery reports whether a condition is an equality of a table's column with what a
// subquery says of another table's rows.
func (b *block) looksUpByQuery(c plan.Expr) bool {
	x, y, ok := equality(c)
	if !ok || volatileWithin(c) {
		return false
	}
	by := func(x, y plan.Expr) bool {
		v, ok := bareVar(x)
		sub, is := y.(*subquery)
		if !ok || !is || !correlated(sub.q) || b.rels[v.Rel] == nil {
			return false
		}
		in := relsOf(y)
		return !in.has(v.Rel) && !b.own(in).empty()
	}
	return by(x, y) || by(y, x)
}

// mayLead reports whether a few rows of a join of tables are wanted as they come.
func (p *planner) mayLead(s *state) bool {
	b := s.b
	if p.NoOptimizer || p.limitOf(s) == 0 || len(b.rels) < 2 || b.distinctOn != nil || b.grouped && b.distinct || len(b.wins) > 0 || b.hasSRF {
		return false
	}
	for _, r := range b.rels {
		if r.lateral && r.table == nil {
			continue // it is run for each row that the others give
		}
		if slices.ContainsFunc(b.semis, func(m *semi) bool { return m.q.rel == r.id }) {
			continue
		}
		if r.table == nil || r.tree != nil || r.lateral || r.cursor != "" || r.table.Cluster != nil || len(r.secure) > 0 {
			return false
		}
	}
	plain := true
	check := func(list []plan.Expr) {
		for _, c := range list {
			plain = plain && (!hasSub(c) && !volatileCall(c) || b.looksUpByQuery(c))
		}
	}
	check(b.where)
	b.eachItem(func(j *joinItem) { check(j.on) })
	return plain
}

// maxLeads is the number of tables with which a join without an order is tried to begin.
const maxLeads = 2

// anyLeads are leads for a block that is planned to its join, of which a few rows are
// wanted in no order: the largest of the tables whose rows its joins keep.
func (p *planner) anyLeads(s *state) []*lead {
	if len(s.q.sort) > 0 || s.b.grouped || s.b.distinct || s.b.plannedOnce() || !p.mayLead(s) {
		return nil
	}
	limit := p.limitOf(s)
	if s.cur.rows <= 2*limit || firstRows(s.cur.node, limit/s.cur.rows) <= costStart+limit*costGet {
		return nil
	}
	var rels []*rel
	var add func(j *joinItem)
	add = func(j *joinItem) {
		switch {
		case j.rel != nil:
			rels = append(rels, j.rel)
		default:
			if j.kind == plan.Inner || j.kind == plan.Left {
				add(j.l)
			}
			if j.kind == plan.Inner || j.kind == plan.Right {
				add(j.r)
			}
		}
	}
	for _, j := range s.b.from {
		add(j)
	}
	slices.SortStableFunc(rels, func(a, b *rel) int { return cmp.Compare(p.tableRows(b.table), p.tableRows(a.table)) })
	var out []*lead
	for _, r := range rels[:min(len(rels), maxLeads)] {
		out = append(out, &lead{r, wanted{limit: limit}})
	}
	return out
}

// firstRows is what a share of a node's rows costs, if nobody asks for the others.
func firstRows(n plan.Node, share float64) float64 {
	start, all := startCost(n), n.Base().Cost
	return start + max(all-start, 0)*min(share, 1)
}

// startCost is what a node costs before its first row comes.
func startCost(n plan.Node) float64 {
	switch n := n.(type) {
	case *plan.Scan, *plan.VirtualScan, *plan.Values, *plan.FuncScan:
		return 0
	case *plan.HashJoin:
		r := n.Right.Base()
		return startCost(n.Left) + r.Cost + r.Rows*costBuild
	case *plan.LoopJoin:
		return startCost(n.Left) + n.Right.Base().Cost
	case *plan.LookupJoin, *plan.Apply, *plan.Project, *plan.Filter, *plan.Append, *plan.Limit:
		if in := n.Children(); len(in) > 0 {
			return startCost(in[0])
		}
	}
	return n.Base().Cost
}

// joinInOrder plans the block's joins so that they begin with its lead, and puts
// them in the place of those that are planned where that is cheaper. semis are the
// block's, whose queries are planned: they come above the others.
func (p *planner) joinInOrder(s *state, l *lead, semis []*semi) {
	if slices.ContainsFunc(semis, func(m *semi) bool { return m.inner == nil }) {
		return
	}
	defer func(left []*semi) { s.b.semis = left }(s.b.semis)
	s.b.semis = slices.Clone(semis)
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
	rows := alt.cur.rows
	if len(l.want.cols) == 0 {
		if firstRows(alt.cur.node, l.want.limit/rows) < firstRows(s.cur.node, l.want.limit/s.cur.rows) {
			s.cur, s.order, p.steps = alt.cur, alt.order, took
		}
		return
	}
	n, reverse := orderedBy(alt.cur.order, l.want.cols)
	if n == 0 || reverse {
		return
	}
	read, sort := min(rows, l.want.limit), 0.0
	if b := s.b; b.grouped || b.distinct {
		keys := b.toldBy()
		given, _ := p.givenKeys(b, keys)
		read = rows * min(1, p.groupsAsked(s)/p.groups(b, keys, given, rows))
	}
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
func (s *state) leads(rels relSet) bool { return s.lead != nil && rels.has(s.lead.rel.id) }

// leading is the join tree that begins with the lead and looks up what follows, nil
// if there is none.
func (g *joinGraph) leading(l *lead) *joinStep {
	i := slices.IndexFunc(g.leaves, func(j *joinStep) bool { return j.unit.rels.has(l.rel.id) })
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
