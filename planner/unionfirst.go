package planner

import (
	"slices"

	"kvsqld/planner/plan"
)

// The first rows of a UNION ALL in some order are among the first rows of its
// members: given an index on created of each table,
//
//	SELECT id, created FROM a UNION ALL SELECT id, created FROM b ORDER BY created LIMIT 5
//
// five rows of each are read, and merged. So it is where the UNION ALL is a view or a
// derived table that a query passes on as it is.

// passesOn moves ORDER BY and LIMIT of a query that does nothing else to the UNION ALL
// that it reads, where no more rows are sorted than are wanted. It returns the order in
// terms of the UNION ALL's columns, in which the query has its rows then; nil if it cannot.
func (p *planner) passesOn(s *state, u *unit) []orderCol {
	q, b, sub := s.q, s.b, u.rel.query
	if q.limit == nil || len(u.local) > 0 || !passing(s) {
		return nil
	}
	if sub.setop == nil || len(sub.sort) > 0 || sub.limit != nil || sub.offset != nil || !foreseen(q.limit) || q.offset != nil && !foreseen(q.offset) {
		return nil
	}
	var keys []sortKey
	var order []orderCol
	for _, k := range q.sort {
		v, ok := b.targets[k.target].x.(*plan.Var)
		if !ok || v.Rel != u.rel.id || v.Col < 0 {
			return nil
		}
		order = append(order, orderCol{rel: u.rel.id, col: v.Col, desc: k.desc, nullsFirst: k.nullsFirst})
		k.target = v.Col
		keys = append(keys, k)
	}
	c := *sub
	c.sort, c.limit, c.offset, c.atMost = keys, q.limit, q.offset, true
	u.rel.query = &c
	return order
}

// firstOfEach has the members of a UNION ALL pass their first rows in its order, as many
// as are wanted of all. It returns the members, or nil where they have to be read whole.
func (p *planner) firstOfEach(q *query, members []*query) []*query {
	if p.NoOptimizer || !q.setop.all || len(q.sort) == 0 || q.limit == nil || q.ties || !foreseen(q.limit) || q.offset != nil && !foreseen(q.offset) {
		return nil
	}
	out := make([]*query, len(members))
	for i, m := range members {
		if m.ref != nil || m.dml != nil || len(m.sort) > 0 || m.limit != nil || m.offset != nil || len(m.locks) > 0 || queryVolatile(m) {
			return nil
		}
		c := *m
		c.sort, c.limit, c.offset, c.atMost = slices.Clone(q.sort), q.limit, q.offset, true
		out[i] = &c
	}
	return out
}
