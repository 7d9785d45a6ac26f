package planner

import (
	"slices"

	"kvsqld/planner/plan"
)

// The first rows of the first groups are read without the groups behind them: given an
// index on a,
//
//	SELECT … FROM (SELECT …, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t) x
//	WHERE n <= 3 ORDER BY a, n LIMIT 50
//
// groups come in the index's order, are sorted and numbered one by one, and no more of
// them than fifty rows need.

// rowsPerGroup is a guess of how many rows have to be read for one that is wanted.
const rowsPerGroup = 20

// passesOrder moves the ORDER BY of a query that does nothing else but number its rows'
// groups to the derived table that has the window, in whose order the query has it then.
// It returns the order in terms of the derived table's columns, nil if it cannot.
func (p *planner) passesOrder(s *state, u *unit) []orderCol {
	q, b, sub := s.q, s.b, u.rel.query
	limit := p.limitOf(s)
	if p.NoOptimizer || limit == 0 || !passing(s) || sub.block == nil || sub.ref != nil || len(sub.sort) > 0 || sub.limit != nil || sub.offset != nil || len(sub.locks) > 0 {
		return nil
	}
	in := sub.block
	if len(in.wins) != 1 || len(in.wins[0].stop) != len(u.local) || in.grouped || in.distinct || in.hasSRF || len(in.semis) > 0 ||
		len(in.from) != 1 || in.from[0].rel == nil || in.from[0].rel.table == nil {
		return nil
	}
	var keys []sortKey
	var order []orderCol
	for i, k := range q.sort {
		v, ok := b.targets[k.target].x.(*plan.Var)
		if !ok || v.Rel != u.rel.id || v.Col < 0 {
			return nil
		}
		if x := exprKey(in.targets[v.Col].x); i == 0 && !slices.ContainsFunc(in.wins[0].partition, func(y plan.Expr) bool { return exprKey(y) == x }) {
			return nil
		}
		order = append(order, orderCol{rel: u.rel.id, col: v.Col, desc: k.desc, nullsFirst: k.nullsFirst})
		k.target = v.Col
		keys = append(keys, k)
	}
	c := *sub
	c.sort, c.expect = keys, limit*rowsPerGroup
	u.rel.query = &c
	return order
}

// passing reports whether a block with ORDER BY passes its only entry's rows on, but for
// those that conditions on them leave out.
func passing(s *state) bool {
	b, q := s.b, s.q
	return len(q.sort) > 0 && len(s.conj) == 0 && len(s.units) == 1 && !s.part && len(b.semis) == 0 && !b.grouped && !b.distinct &&
		len(b.wins) == 0 && !b.hasSRF && len(b.having) == 0 && len(q.locks) == 0 && !q.ties
}
