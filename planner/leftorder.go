package planner

import (
	"slices"

	"kvsqld/planner/plan"
)

// A left join among inner joins takes part in the join order, as its other side gives the
// rows of the first one nothing but columns and repetitions. In
//
//	FROM orders o LEFT JOIN notes n ON n.ord = o.id JOIN customers c ON c.id = o.cust WHERE c.name = 'x'
//
// the notes of one customer's orders are looked up, not all notes joined with all orders.
// Conditions on the other side would have to wait for it: with such a one the join is
// planned as a unit.

// waits reports whether a left join with the side r, of which among says that it has inner
// joins beside it, is left to the join order.
func (p *planner) waits(s *state, j, r *joinItem, among bool) bool {
	if !among || p.NoOptimizer || s.lead != nil || j.kind != plan.Left && j.kind != plan.Right || !p.outerDeps(s, j).empty() || !p.outerDeps(s, r).empty() {
		return false
	}
	for _, x := range s.b.rels {
		if x.lateral {
			return false // it may read the other side, and keeps the written order anyway
		}
	}
	if r.rel != nil && r.rel.table != nil && r.rel.table.Cluster != nil {
		return false // see clusterLeft
	}
	for _, c := range j.on {
		if hasSub(c) || volatileCall(c) {
			return false
		}
	}
	ids := r.ids()
	on := func(c plan.Expr) bool { return reads(c, ids) || volatileCall(c) }
	return !slices.ContainsFunc(s.conj, on) && !slices.ContainsFunc(s.above, on) &&
		!slices.ContainsFunc(s.b.semis, func(m *semi) bool { return slices.ContainsFunc(m.conds, on) })
}

// leftSide plans the other side of a left join that waits.
func (p *planner) leftSide(s *state, j, l, r *joinItem) *semi {
	lids, rids := l.ids(), r.ids()
	within := func(c plan.Expr, ids relSet) bool {
		in := s.entries(c)
		return !in.empty() && in.within(ids)
	}
	var own, on, known []plan.Expr
	for _, c := range p.factorOrs(j.on) {
		needOf(c, s.need)
		if within(c, rids) {
			own = append(own, c)
		} else {
			on = append(on, c)
		}
	}
	for _, c := range s.conj {
		if within(c, lids) {
			known = append(known, c)
		}
	}
	if r.rel != nil {
		own = append(own, p.carry(r.rel, known, on)...)
	}
	n := p.planPart(s, []*joinItem{r}, own, on)
	return &semi{kind: plan.Left, conds: on, inner: &semiInner{node: n, unit: p.unitOf(r, own)}, beside: lids}
}

// addLefts enters the left joins that wait into the graph, where its orders are compared
// exactly; others come above the inner joins.
func (g *joinGraph) addLefts() {
	s := g.s
	if g.lateral || len(s.units)+len(s.lefts)+len(s.b.semis) > maxExact {
		return
	}
	for _, m := range s.lefts {
		n, u := m.inner.node, m.inner.unit
		if u == nil {
			u = &unit{node: n, rels: n.rels}
		} else {
			u.node = n
		}
		x := &semiLeaf{m: m, set: 1 << (len(g.leaves) + len(g.semis)), share: n.rows}
		x.plain = &joinStep{unit: u, set: x.set, rows: n.rows, cost: n.cost}
		for id := range n.rels.all() {
			g.bit[id] = x.set
		}
		for _, c := range m.conds {
			x.needs |= g.unitsOf(relsOf(c)) &^ x.set
		}
		if x.needs == 0 { // for all rows the same ones
			x.needs = g.unitsOf(m.beside)
		}
		g.semis = append(g.semis, x)
		for _, c := range m.conds {
			e := g.edge(c)
			e.semi = x.set
			x.share *= e.sel
			g.edges = append(g.edges, e)
		}
		x.share = max(x.share, 1)
		g.conj = append(g.conj[:len(g.conj):len(g.conj)], m.conds...)
	}
	s.lefts = nil
}
