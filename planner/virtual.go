package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// Declared relations, those of the catalog, are read by the lookups that they offer.

// virtualRows estimates a whole declared relation. Those with lookups have rows for each
// of the database's relations, beside those for the system's.
func (p *planner) virtualRows(v *catalog.Virtual) float64 {
	const some, system = 200, 2000
	if len(v.Keys) == 0 {
		return some
	}
	return max(system, float64(len(p.Snap.Relations(p.DB))))
}

// virtualKeys picks an equality lookup that the relation offers.
func (p *planner) virtualKeys(r *rel, v *plan.VirtualScan, conj []plan.Expr) []plan.Expr {
	known := p.boundsOf(r, conj, relSet.empty)
	for _, key := range r.virt.Keys {
		var cols []int
		var vals []plan.Expr
		for _, c := range key {
			for _, b := range known.on(c) {
				if b.kind == "eq" {
					cols, vals = append(cols, c), append(vals, b.x)
					break
				}
			}
		}
		if len(cols) == len(key) && len(key) > len(v.KeyCols) {
			v.KeyCols, v.KeyVals = cols, p.planExprs(vals, nil)
		}
	}
	if v.KeyCols == nil {
		p.virtualAnyOf(r, v, conj, known)
	}
	return conj // a lookup may return more; the filter stays
}

// virtualAnyOf picks a lookup by several values of one column:
//
//	WHERE oid IN (1, 2)
//	WHERE oid = 1 OR oid = ANY ('{2,3}')
func (p *planner) virtualAnyOf(r *rel, v *plan.VirtualScan, conj []plan.Expr, known bounds) {
	ors := p.orsOf(r, conj, nil)
	for _, key := range r.virt.Keys {
		if len(key) > 1 {
			continue
		}
		vals := valuesOf(known.on(key[0]), "any")
		for _, o := range ors {
			if vals == nil {
				vals = o.valuesOf(key[0])
			}
		}
		if vals != nil {
			v.KeyCols, v.KeyVals, v.AnyOf = key, p.planExprs(vals, nil), true
			return
		}
	}
}

// valuesOf are the values of the first bound of one of the kinds, nil if there is none.
func valuesOf(list []bound, kinds ...string) []plan.Expr {
	for _, b := range list {
		if slices.Contains(kinds, b.kind) {
			return []plan.Expr{b.x}
		}
	}
	return nil
}

// valuesOf are the values that the arms give a column, nil if one does not.
func (o *orBounds) valuesOf(col int) []plan.Expr {
	var out []plan.Expr
	for _, a := range o.arms {
		vals := valuesOf(a.bounds.on(col), "eq", "any")
		if vals == nil {
			return nil
		}
		out = append(out, vals...)
	}
	return out
}

// looksUp reports whether a declared relation finds its rows by one column's value.
func looksUp(v *catalog.Virtual, col int) bool {
	return slices.ContainsFunc(v.Keys, func(k []int) bool { return len(k) == 1 && k[0] == col })
}

// lookedUp reports whether the rows of one side of a hash join, which cost so much to be
// read, are better looked up by the keys of the other's, which is then read first. How many
// rows that has is a guess, and it costs little if they turn out to be many.
func lookedUp(side plan.Node, keys []plan.Expr, other, cost float64) bool {
	return 4*other < cost && looksUpKeys(side, keys)
}

// unkeyed reports whether a side of a join is one of the small relations of the catalog,
// which are read whole. They had better be the build side, whatever is joined with them:
// clients of PostgreSQL, which has nested loops there, meet the other side's order.
func unkeyed(n plan.Node) bool {
	v, ok := n.(*plan.VirtualScan)
	return ok && len(v.Rel.Keys) == 0
}

// looksUpKeys reports whether the rows of one side of a hash join with few values of one
// of its keys are looked up.
func looksUpKeys(n plan.Node, keys []plan.Expr) bool {
	return slices.ContainsFunc(keys, func(k plan.Expr) bool {
		c, ok := plan.KeyCol(k)
		return ok && looksUpIn(n, c.Idx)
	})
}

// looksUpIn reports whether the rows with few values of one of its columns, which a hash
// join above wants, cost a plan little: they are looked up in the relation below. Tables
// have lookup joins for that.
func looksUpIn(n plan.Node, col int) bool {
	column := func(in plan.Node, list []plan.Expr) bool {
		if col >= len(list) {
			return false
		}
		c, ok := list[col].(*plan.Col)
		return ok && looksUpIn(in, c.Idx)
	}
	switch n := n.(type) {
	case *plan.VirtualScan:
		return n.KeyCols == nil && looksUp(n.Rel, n.Cols[col])
	case *plan.Project:
		return column(n.Input, n.Exprs)
	case *plan.Group:
		return n.Sets == nil && column(n.Input, n.Keys)
	case *plan.HashJoin:
		width := len(n.Left.Base().Cols)
		switch {
		case col >= width:
			return n.Kind == plan.Inner && !n.Retain && looksUpIn(n.Right, col-width)
		case n.Kind != plan.Full && n.Kind != plan.Right:
			return looksUpIn(n.Left, col)
		}
	}
	return false
}
