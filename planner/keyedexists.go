package planner

import (
	"math"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// keyedExists has EXISTS within an expression, where it is no join, look for the keys that
// its query has where the query is correlated by equalities alone: they are collected
// once. In
//
//	WHERE a.live OR EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND b.y > 5)
//
// it becomes (a.x IN (SELECT DISTINCT x FROM b WHERE y > 5)) IS TRUE. Few rows, at most
// most, for which an index leads to those of the query, run it each.
func (p *planner) keyedExists(s *state, e plan.Expr, most float64) plan.Expr {
	if !hasSub(e) {
		return e
	}
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		sub, ok := x.(*subquery)
		if !ok || sub.kind != plan.SubExists {
			return x
		}
		return s.once(sub.q, x, func() plan.Expr { return p.existsByKey(s, sub, most) })
	})
}

func (p *planner) existsByKey(s *state, sub *subquery, most float64) plan.Expr {
	q := sub.q
	if q.block != nil {
		p.pullUp(q)
	}
	if dropConstLimit(q) != nil {
		return nil
	}
	c := *q
	c.limit = nil
	if !pullable(&c) || c.block.distinctOn != nil || len(c.block.from) == 0 || queryVolatile(&c) {
		return nil
	}
	b := *c.block
	b.targets, c.block = nil, &b
	link := p.keysOf(s, &c)
	if link == nil || p.fewRuns(s, &c, link.inner, most) {
		return nil
	}
	in := &subquery{At: sub.At, kind: plan.SubAny, q: q, xrel: p.newRel(), op: "=", eq: true}
	var test []plan.Expr
	for i, cond := range link.conds {
		call := *(cond.(*plan.Call))
		call.Args = slices.Clone(call.Args)
		k := slices.IndexFunc(call.Args, func(x plan.Expr) bool { return x == link.inner[i] })
		if k < 0 || !oneForm(call.Args[0].Type(), call.Args[1].Type()) {
			return nil
		}
		key, x := call.Args[k], call.Args[1-k]
		call.Args[k] = &plan.Var{At: plan.At{T: key.Type(), Off: -1}, Rel: q.rel, Col: i, Name: "key"}
		call.Args[1-k] = &plan.Var{At: plan.At{T: x.Type(), Off: -1}, Rel: in.xrel, Col: i}
		test, in.x = append(test, &call), append(in.x, x)
		b.targets = append(b.targets, target{x: key, name: "key"})
	}
	in.test = conjunction(test)
	b.where, b.ncols, b.distinct = link.local, len(b.targets), true
	q.block, q.limit, q.sort, q.cols = &b, nil, nil, nil
	for _, t := range b.targets {
		q.cols = append(q.cols, plan.OutCol{Name: t.name, T: t.x.Type()})
	}
	return &plan.Is{At: plan.At{T: types.TBool, Off: sub.Off}, X: in, Test: plan.IsTrue, Not: sub.not}
}

// oneForm reports whether equal values of two types are kept in one form, by which they
// are found in a set.
func oneForm(a, b types.T) bool {
	if a.OID == b.OID {
		switch a.Kind() {
		case types.KText, types.KNumeric, types.KDate, types.KTimestamp, types.KTimestamptz, types.KUUID:
			return true
		}
	}
	return integer(a) && integer(b)
}

func integer(t types.T) bool {
	k := t.Kind()
	return k == types.KInt2 || k == types.KInt4 || k == types.KInt8
}

// once is what find makes of an expression over a query, x itself where that is nil: an
// expression such as NULLIF holds its subquery twice.
func (s *state) once(q *query, x plan.Expr, find func() plan.Expr) plan.Expr {
	y, seen := s.joined[q]
	if !seen {
		y = find()
		if s.joined == nil {
			s.joined = map[*query]plan.Expr{}
		}
		s.joined[q] = y
	}
	if y == nil {
		return x
	}
	return y
}

// rowsOfTarget is the number of rows at most for which a target is computed: those that
// LIMIT leaves, if it is computed above that (see lateTargets).
func (p *planner) rowsOfTarget(s *state, i int) float64 {
	q, b := s.q, s.b
	if b.hasSRF || b.distinct || b.distinctOn != nil || q.ties || len(q.locks) > 0 || slices.ContainsFunc(q.sort, func(k sortKey) bool { return k.target == i }) {
		return math.Inf(1)
	}
	if n := p.limitOf(s); n > 0 {
		return n
	}
	return math.Inf(1)
}

// rowsOfFilter is the number of rows at most for which a conjunct is probably computed:
// where the rows come in the order that is asked for, or in any, as many as lead to those
// that LIMIT leaves.
func (p *planner) rowsOfFilter(s *state, c plan.Expr) float64 {
	q, b := s.q, s.b
	limit := p.limitOf(s)
	if limit == 0 || !hasSub(c) || b.grouped || b.distinct || b.distinctOn != nil || len(b.wins) > 0 || b.hasSRF {
		return math.Inf(1)
	}
	if len(q.sort) > 0 {
		v, ok := p.sortColumn(b, b.targets[q.sort[0].target].x)
		if !ok || b.rels[v.Rel] == nil || b.rels[v.Rel].table == nil || v.Col < 0 || !leadsTo(b.rels[v.Rel].table, v.Col, nil) {
			return math.Inf(1)
		}
	}
	return limit / max(p.selectivity(c, b.rels), 1e-9)
}
