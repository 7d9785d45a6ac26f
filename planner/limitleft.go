package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Left joins keep each row of the table that they begin with, so that of
//
//	SELECT c.name, o.total
//	FROM customers c LEFT JOIN (SELECT customer, sum(total) AS total FROM orders GROUP BY customer) o ON o.customer = c.id
//	ORDER BY c.id LIMIT 20
//
// the first twenty customers are enough: the orders of these alone are grouped. Tables
// that are joined by lookups do without this (see lead.go); derived tables have none.

// limitLeft puts the block's first table into a derived table with the block's WHERE, ORDER
// BY and LIMIT, where left joins to derived tables follow.
func (p *planner) limitLeft(q *query) {
	b := q.block
	if p.NoOptimizer || q.limit == nil || q.ties || drawn(q) || len(q.sort) == 0 || len(q.locks) > 0 || b.values != nil || len(b.from) != 1 ||
		b.grouped || b.distinct || len(b.wins) > 0 || b.hasSRF || len(b.semis) > 0 {
		return
	}
	first, derived := b.from[0], false
	for first.rel == nil {
		if first.kind != plan.Left {
			return
		}
		first.r.each(func(j *joinItem) { derived = derived || j.rel != nil && j.rel.query != nil && !j.rel.lateral })
		first = first.l
	}
	r := first.rel
	if !derived || r.table == nil || r.tree != nil || r.cursor != "" || r.sample != nil || r.table.Cluster != nil || len(r.secure) > 0 {
		return
	}
	for c := range usedColumns(q)[r.id] {
		if c < 0 || c >= len(r.cols) || r.cols[c].Name == "" {
			return
		}
	}
	own := func(e plan.Expr) bool { return followsFrom(e, relSetOf(r.id)) }
	if !all(b.where, own) || !all(q.sort, func(k sortKey) bool { return own(b.targets[k.target].x) }) {
		return
	}
	inner := *r
	inner.id, inner.parts, inner.exprs = p.newRel(), nil, nil
	within := func(e plan.Expr) plan.Expr {
		return plan.Map(e, func(x plan.Expr) plan.Expr {
			v, ok := x.(*plan.Var)
			if !ok || v.Rel != r.id {
				return x
			}
			c := *v
			c.Rel = inner.id
			return &c
		})
	}
	in := &block{from: []*joinItem{{rel: &inner}}, rels: map[int]*rel{inner.id: &inner}, ncols: len(r.cols)}
	for _, c := range b.where {
		in.where = append(in.where, within(c))
	}
	cols := slices.Clone(r.cols)
	for i, c := range cols {
		var x plan.Expr = &plan.Var{At: plan.At{T: c.T, Off: -1}, Rel: inner.id, Col: i, Name: c.Name}
		if c.Name == "" { // dropped
			cols[i].T = types.TText
			x = &plan.Const{At: plan.At{T: types.TText, Off: -1}, Val: types.Null(types.TText)}
		}
		in.targets = append(in.targets, target{x: x, name: c.Name})
	}
	sub := &query{rel: r.id, cols: cols, block: in, limit: p.limitAndOffset(q)}
	for _, k := range q.sort {
		in.targets = append(in.targets, target{x: within(b.targets[k.target].x)})
		k.target = len(in.targets) - 1
		sub.sort = append(sub.sort, k)
	}
	outer := *b
	outer.where, outer.rels = nil, maps.Clone(b.rels)
	outer.rels[r.id] = &rel{id: r.id, alias: r.alias, cols: cols, names: r.names, query: sub}
	var replace func(j *joinItem) *joinItem
	replace = func(j *joinItem) *joinItem {
		c := *j
		if c.rel != nil {
			c.rel = outer.rels[r.id]
		} else {
			c.l = replace(c.l)
		}
		return &c
	}
	outer.from = []*joinItem{replace(b.from[0])}
	outer.targets = slices.Clone(b.targets)
	q.block = &outer
}

// limitAndOffset is the number of rows that LIMIT and OFFSET need.
func (p *planner) limitAndOffset(q *query) plan.Expr {
	if q.offset == nil {
		return q.limit
	}
	limit, isLimit := q.limit.(*plan.Const)
	offset, isOffset := q.offset.(*plan.Const)
	if isLimit && isOffset && !limit.Val.Null && !offset.Val.Null && max(limit.Val.I, offset.Val.I) < 1<<61 {
		return &plan.Const{At: limit.At, Val: types.Int(types.TInt8, limit.Val.I+offset.Val.I)}
	}
	most := func(e plan.Expr) plan.Expr { // the sum is no error
		return &plan.MinMax{At: plan.At{T: types.TInt8, Off: -1}, Least: true, Args: []plan.Expr{e, &plan.Const{At: plan.At{T: types.TInt8, Off: -1}, Val: types.Int(types.TInt8, 1<<61)}}}
	}
	return p.operator("pg_catalog", "+", most(q.limit), most(q.offset), -1)
}
