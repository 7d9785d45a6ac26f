package planner

import (
	"slices"

	"kvsqld/planner/plan"
)

// rangeApply joins a table by bounds that the columns of the other side give: for each
// of its rows the table's key or an index is read between them. Given
//
//	SELECT … FROM days d LEFT JOIN orders o ON o.at >= d.day AND o.at < d.day + 1
//
// a day's orders are read by their index, where testing all pairs costs more than that;
// loop is what the pairs cost. A disjunction bounds the table where each of its arms does:
//
//	SELECT … FROM people p JOIN calls c ON c.caller = p.id OR c.callee = p.id
//
// It returns nil otherwise.
func (p *planner) rangeApply(s *state, kind plan.JoinKind, l *pnode, ru *unit, on []plan.Expr, loop, rows float64) *pnode {
	if p.NoOptimizer || ru == nil || ru.rel == nil || !ranges(ru.rel) || ru.rel.cursor != "" || kind != plan.Inner && kind != plan.Left {
		return nil
	}
	r := ru.rel
	own := l.rels.union(relSetOf(r.id))
	for _, c := range on {
		if hasSub(c) || volatileCall(c) || !relsOf(c).within(own) {
			return nil
		}
	}
	if !p.bounded(r, ru.local, on, func(in relSet) bool { return !in.empty() }) {
		return nil
	}
	q := &query{block: &block{where: slices.Concat(ru.local, on)}}
	refs := p.outerParams(q, l.lay)
	inner := *s
	inner.lead = nil
	right := p.planUnit(&inner, &unit{rel: r, rels: ru.rels, local: q.block.where})
	cost := l.cost + l.rows*(costStart+right.cost)
	if !ranged(right.node) || cost >= l.cost+loop {
		return nil
	}
	n := &plan.Apply{Kind: kind, Left: l.node, Right: right.node, Outer: subParams(refs, l.lay)}
	out := &pnode{node: n, lay: layout{}, rels: l.rels.union(right.rels), rows: rows, cost: cost, order: l.order}
	width := len(l.node.Base().Cols)
	for k, v := range l.lay {
		out.lay[k] = v
	}
	for k, v := range right.lay {
		out.lay[k] = width + v
	}
	n.Rows, n.Cost, n.Step = rows, cost, "join"
	n.Cols = append(slices.Clone(l.node.Base().Cols), right.node.Base().Cols...)
	return out
}

// ranged reports whether a node reads parts of a table that its keys or indexes bound.
func ranged(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		return len(n.Ranges) > 0
	case *plan.VirtualScan:
		return n.KeyCols != nil
	case *plan.IndexUnion:
		return true
	case *plan.Project:
		return ranged(n.Input)
	case *plan.Append:
		return len(n.Inputs) > 0 && all(n.Inputs, ranged)
	}
	return false
}

// ranges reports whether parts of an entry can be read by bounds.
func ranges(r *rel) bool {
	return r.virt != nil || r.table != nil && r.table.Cluster == nil
}

// bounded reports whether conjuncts, or all arms of a disjunction among them, bound a
// column with which a key of the table begins, behind columns of which local conjuncts
// tell the value, by what foreign allows.
func (p *planner) bounded(r *rel, local, conj []plan.Expr, foreign func(relSet) bool) bool {
	fixed := fixedCols(p.boundsOf(r, local, relSet.empty))
	leads := func(conj []plan.Expr, foreign func(relSet) bool) bool {
		for _, b := range p.boundsOf(r, conj, foreign) {
			switch {
			case b.col < 0:
			case r.virt != nil:
				if (b.kind == "eq" || b.kind == "any") && looksUp(r.virt, b.col) {
					return true
				}
			case b.kind == "range" && p.rangesBy(r, b.col), b.kind != "range" && leadsTo(r.table, b.col, fixed):
				return true
			}
		}
		return false
	}
	if leads(conj, foreign) {
		return true
	}
	free := func(in relSet) bool { return in.empty() || foreign(in) }
	return slices.ContainsFunc(conj, func(c plan.Expr) bool {
		or, ok := c.(*plan.Or)
		return ok && len(or.Args) <= maxUnion && all(or.Args, func(a plan.Expr) bool { return leads(conjuncts(a, nil), free) })
	})
}
