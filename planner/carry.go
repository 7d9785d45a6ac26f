package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A condition on one side of an equality holds for the other side as well. Derived and
// partitioned tables, which no lookup reads, and the catalogs, which only constants are
// looked up in, get it in this way: in
//
//	SELECT … FROM customers c
//	LEFT JOIN (SELECT customer, sum(total) FROM orders GROUP BY customer) o ON o.customer = c.id
//	WHERE c.id = 7
//
// the orders of customer 7 alone are grouped. The equality stays: it is what the tables
// are joined by.

// carry returns the conditions on columns of an entry that follow from what is known of
// other entries' columns and from equalities with these.
func (p *planner) carry(r *rel, known, equal []plan.Expr) []plan.Expr {
	if p.NoOptimizer || r.lateral || r.tree == nil && (r.query == nil || barrier(r.view)) && !keyed(r) {
		return nil
	}
	type column = [2]int
	links := map[column][]*plan.Var{}
	for _, c := range equal {
		a, b, ok := equality(c)
		if !ok {
			continue
		}
		x, isX := a.(*plan.Var)
		y, isY := b.(*plan.Var)
		if !isX || !isY || x.Level != 0 || y.Level != 0 || x.Col < 0 || y.Col < 0 || x.T.OID != y.T.OID {
			continue
		}
		links[column{x.Rel, x.Col}] = append(links[column{x.Rel, x.Col}], y)
		links[column{y.Rel, y.Col}] = append(links[column{y.Rel, y.Col}], x)
	}
	if len(links) == 0 {
		return nil
	}
	var out []plan.Expr
	for _, c := range known {
		v := oneSided(c)
		if v == nil || v.Rel == r.id {
			continue
		}
		seen := map[column]bool{{v.Rel, v.Col}: true}
		for queue := []*plan.Var{v}; len(queue) > 0; queue = queue[1:] {
			from := column{queue[0].Rel, queue[0].Col}
			for _, to := range links[from] {
				at := column{to.Rel, to.Col}
				if seen[at] {
					continue
				}
				seen[at] = true
				queue = append(queue, to)
				if to.Rel == r.id {
					out = append(out, plan.Map(c, func(x plan.Expr) plan.Expr {
						if y, ok := x.(*plan.Var); ok && y.Rel == v.Rel && y.Col == v.Col {
							return to
						}
						return x
					}))
				}
			}
		}
	}
	return out
}

// keyed reports whether an entry is a declared relation that can be looked up in.
func keyed(r *rel) bool { return r.virt != nil && len(r.virt.Keys) > 0 }

// carryInto returns what follows from the block's conditions for the declared relations
// within its outer joins, of which these are planned first.
func (p *planner) carryInto(s *state) (out []plan.Expr) {
	var within func(j *joinItem)
	within = func(j *joinItem) {
		if j.rel == nil {
			within(j.l)
			within(j.r)
		} else if keyed(j.rel) {
			out = append(out, p.carry(j.rel, s.conj, s.conj)...)
		}
	}
	var walk func(j *joinItem)
	walk = func(j *joinItem) {
		switch {
		case j.rel != nil:
		case j.kind == plan.Inner:
			walk(j.l)
			walk(j.r)
		default:
			within(j)
		}
	}
	for _, j := range s.b.from {
		walk(j)
	}
	return out
}

// carryOver gives the block's units what follows for them from the conditions on others.
func (p *planner) carryOver(s *state) {
	var known []plan.Expr
	for _, u := range s.units {
		known = append(known, u.local...)
	}
	if len(known) == 0 {
		return
	}
	for _, u := range s.units {
		if u.rel != nil && u.node == nil && u.after.empty() {
			for _, c := range p.carry(u.rel, known, s.conj) {
				if key := exprKey(c); !slices.ContainsFunc(u.local, func(l plan.Expr) bool { return exprKey(l) == key }) { // carryInto may have told it
					u.local = append(u.local, c)
				}
			}
		}
	}
}

// oneOrder reports whether values of the two types have one order, in which those that are
// equal within a type lie together.
func oneOrder(a, b types.T) bool {
	return a.OID == b.OID || integer(a) && integer(b) || finerTime(a, b) || finerTime(b, a)
}

// oneSided is the column of a condition that compares it with values which are the same
// for all rows, nil if it is another condition.
func oneSided(e plan.Expr) *plan.Var {
	column := func(x plan.Expr) *plan.Var {
		if v, ok := x.(*plan.Var); ok && v.Level == 0 && v.Col >= 0 {
			return v
		}
		return nil
	}
	switch x := e.(type) {
	case *plan.Call:
		if len(x.Args) != 2 || !slices.Contains([]string{"=", "<", "<=", ">", ">="}, x.Op) || !oneOrder(x.Args[0].Type(), x.Args[1].Type()) {
			return nil
		}
		if v := column(x.Args[0]); v != nil && sameForAll(x.Args[1]) {
			return v
		}
		if v := column(x.Args[1]); v != nil && sameForAll(x.Args[0]) {
			return v
		}
	case *plan.InList:
		if v := column(x.X); v != nil && !x.Not && oneOrder(x.Elem, v.T) && all(x.List, sameForAll) {
			return v
		}
	case *plan.AnyArray:
		if v := column(x.X); v != nil && !x.All && x.Op == "=" && sameForAll(x.Array) {
			return v
		}
	}
	return nil
}
