package planner

import (
	"slices"

	"kvsqld/planner/plan"
)

// Conditions on a derived table that is planned on its own go down into it, where they
// hold for its columns' expressions as well: into each side of a set operation, below
// GROUP BY where they are on keys, below window functions where they leave out whole
// partitions.

// pushIntoQuery moves conjuncts on a derived table's plain columns into it, into
// a security_barrier view those alone that tell nothing of the rows it hides.
func (p *planner) pushIntoQuery(u *unit) {
	if p.NoOptimizer {
		return
	}
	var rest []plan.Expr
	for _, c := range u.local {
		if volatileCall(c) || hasSub(c) || barrier(u.rel.view) && leaks(c) {
			rest = append(rest, c)
			continue
		}
		if !p.pushInto(u.rel.query, u.rel.id, c) {
			rest = append(rest, c)
			p.runCondition(u.rel, c)
		}
	}
	u.local = rest
}

// pushInto adds a condition on the columns of entry id, which the query stands for, to
// the query, and reports whether no row of it fails the condition now.
func (p *planner) pushInto(q *query, id int, c plan.Expr) bool {
	for q.ref != nil {
		if q.work || !p.inlined(q.ref) {
			return false
		}
		q = q.ref.q
	}
	if q.dml != nil || q.limit != nil || q.offset != nil {
		return false
	}
	if q.setop != nil {
		if q.setop.op == "EXCEPT" {
			return false
		}
		l := p.pushInto(q.setop.l, id, c)
		r := p.pushInto(q.setop.r, id, c)
		return l && r
	}
	b := q.block
	if b == nil || b.values != nil {
		return false
	}
	ok := true
	plan.Visit(c, func(x plan.Expr) bool {
		if v, is := x.(*plan.Var); is && v.Rel == id {
			ok = ok && pushable(b, v)
		}
		return ok
	})
	if !ok {
		return false
	}
	b.where = append(b.where, plan.Map(c, func(x plan.Expr) plan.Expr {
		v, is := x.(*plan.Var)
		if !is || v.Rel != id {
			return x
		}
		t := b.targets[v.Col].x
		if b.grouped {
			t = b.keys[t.(*plan.Var).Col]
		}
		return plan.Map(t, func(y plan.Expr) plan.Expr { return y })
	}))
	return true
}

// pushable reports whether rows of the block may be left out by a column's value before
// the block groups, numbers and chooses among them.
func pushable(b *block, v *plan.Var) bool {
	if v.Col < 0 || v.Col >= len(b.targets) {
		return false
	}
	t := b.targets[v.Col].x
	if t.Type().OID != v.T.OID || volatileCall(t) || hasSub(t) || b.hasSRF && holdsSet(t) {
		return false
	}
	if b.distinctOn != nil && !slices.Contains(b.distinctOn, v.Col) {
		return false
	}
	for _, w := range b.wins {
		if !slices.ContainsFunc(w.partition, func(x plan.Expr) bool { return exprKey(x) == exprKey(t) }) {
			return false
		}
	}
	if b.grouped {
		g, is := t.(*plan.Var)
		return is && g.Rel == b.grpRel && g.Col < len(b.keys) && b.sets == nil
	}
	return true
}
