package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// scalarJoins replaces scalar aggregate subqueries correlated by equalities by
// columns of left-joined derived tables. The expression is computed for most rows at most.
func (p *planner) scalarJoins(s *state, e plan.Expr, most float64) plan.Expr {
	if !hasSub(e) {
		return e
	}
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		sub, ok := x.(*subquery)
		if !ok || sub.kind != plan.SubScalar {
			return x
		}
		return s.once(sub.q, x, func() plan.Expr { return p.scalarJoin(s, sub, most) })
	})
}

func (p *planner) scalarJoin(s *state, sub *subquery, most float64) plan.Expr {
	q := sub.q
	p.pullUp(q)
	if q.block == nil || q.setop != nil || q.ref != nil || len(q.ctes) > 0 || q.limit != nil || q.offset != nil || len(s.b.from) == 0 {
		return nil
	}
	b := q.block
	if !b.grouped || len(b.keys) > 0 || b.sets != nil || len(b.having) > 0 || len(b.wins) > 0 || b.hasSRF || b.distinct || b.ncols != 1 {
		return nil
	}
	x := b.targets[0].x
	if hasSub(x) || volatileCall(x) || !correlated(q) {
		return nil
	}
	empty := make([]plan.Expr, len(b.aggs))
	for i := range b.aggs {
		known := false
		if empty[i], known = overNothing(&b.aggs[i]); !known {
			return nil
		}
	}
	link := p.keysOf(s, q)
	if link == nil || p.fewRuns(s, q, link.inner, most) {
		return nil
	}
	// The derived table's columns are the aggregates, then the keys. What is computed
	// of the aggregates is computed above the join, where those of rows without a
	// group have their values over no rows.
	b.where = link.local
	at := p.alsoBy(b, link.inner)
	b.targets, q.cols = nil, nil
	column := func(i int, t types.T, name string) {
		b.targets = append(b.targets, target{x: &plan.Var{At: plan.At{T: t, Off: -1}, Rel: b.grpRel, Col: i}, name: name})
		q.cols = append(q.cols, plan.OutCol{Name: name, T: t})
	}
	for i, a := range b.aggs {
		column(len(b.keys)+i, a.T, a.Proc.Name)
	}
	for i, k := range link.inner {
		column(at[i], k.Type(), "key")
	}
	b.ncols = len(b.targets)
	q.sort = nil
	r := p.queryRel(q, "subquery")
	s.b.rels[r.id] = r
	item := &joinItem{kind: plan.Left, r: &joinItem{rel: r}}
	for i, c := range link.conds {
		key := exprKey(link.inner[i])
		kv := &plan.Var{At: plan.At{T: link.inner[i].Type(), Off: -1}, Rel: r.id, Col: len(b.aggs) + i}
		call := *(c.(*plan.Call))
		call.Args = slices.Clone(call.Args)
		for k := range call.Args {
			if exprKey(call.Args[k]) == key {
				call.Args[k] = kv
				break
			}
		}
		item.on = append(item.on, &call)
	}
	// the derived table joins what is there so far
	left := s.b.from[0]
	for _, f := range s.b.from[1:] {
		left = &joinItem{kind: plan.Inner, l: left, r: f}
	}
	item.l = left
	s.b.from = []*joinItem{item}
	return plan.Map(x, func(e plan.Expr) plan.Expr {
		v, ok := e.(*plan.Var)
		if !ok || v.Rel != b.grpRel {
			return e
		}
		col := &plan.Var{At: v.At, Rel: r.id, Col: v.Col}
		if empty[v.Col] == nil {
			return col
		}
		return &plan.Coalesce{At: v.At, Args: []plan.Expr{col, empty[v.Col]}}
	})
}

// overNothing is the value of an aggregate over no rows, nil for NULL; false where it is
// not known.
func overNothing(a *plan.Agg) (plan.Expr, bool) {
	if a.User != nil || a.Proc.Schema != "" {
		return nil, false
	}
	switch a.Proc.Name {
	case "count", "regr_count":
		return &plan.Const{At: plan.At{T: a.T, Off: -1}, Val: types.Int(a.T, 0)}, true
	case "rank", "dense_rank", "percent_rank", "cume_dist":
		return nil, false
	}
	return nil, true
}

// linkedKeys are equalities between expressions of a subquery and of the block that it
// stands in.
type linkedKeys struct {
	conds []plan.Expr // the equalities
	inner []plan.Expr // their sides in the subquery
	local []plan.Expr // the subquery's other conditions
}

// keysOf finds the equalities that correlate a grouped query with the block; nil if
// anything else correlates them, or nothing.
func (p *planner) keysOf(s *state, q *query) *linkedKeys {
	b := q.block
	inner := ownRels(q)
	isOwn := func(id int) bool { return inner.has(id) }
	var link linkedKeys
	var local []plan.Expr
	for _, c := range b.where {
		if !outerVars(c, isOwn) {
			local = append(local, c)
			continue
		}
		l, r, ok := equality(c)
		if !ok || hasSub(c) {
			return nil
		}
		if outerVars(l, isOwn) {
			l, r = r, l
		}
		// l: inner expression, r: outer expression
		if outerVars(l, isOwn) || relsOf(l).empty() || outerVars(r, func(id int) bool { return s.b.rels[id] != nil }) {
			return nil
		}
		link.conds = append(link.conds, c)
		link.inner = append(link.inner, l)
	}
	if len(link.conds) == 0 {
		return nil
	}
	probe := *b
	probe.where = local
	pq := *q
	pq.block = &probe
	if correlated(&pq) {
		return nil
	}
	link.local = local
	return &link
}
