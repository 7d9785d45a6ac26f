package planner

import (
	"math"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// decorrelate turns conjuncts EXISTS (…), x IN (…) and their negations into
// semi and anti joins, and scalar aggregates correlated by equalities into
// joins with a grouped derived table:
//
//	WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x)       semi join on x
//	WHERE a.x NOT IN (SELECT x FROM b)                   null-aware anti join
//	WHERE a.y > ALL (SELECT y FROM b WHERE b.x = a.x)    anti join on x and (a.y > b.y) IS NOT TRUE
//	WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x GROUP BY y HAVING sum(z) > 5)
//	                                                     semi join of (SELECT x FROM b GROUP BY y, x HAVING sum(z) > 5)
//	WHERE a.q < (SELECT avg(q) FROM b WHERE b.x = a.x)   left join of (SELECT x, avg(q) FROM b GROUP BY x)
//
// What it cannot turn stays a subplan, run per row with its results kept.
func (p *planner) decorrelate(s *state) {
	if p.NoOptimizer || s.b.values != nil {
		return
	}
	var keep []plan.Expr
	for _, c := range s.b.where {
		c = p.anyOfCtids(c)
		if sub, ok := c.(*subquery); ok {
			if m := p.semiOf(s, sub); m != nil {
				s.b.semis = append(s.b.semis, m)
				continue
			}
		}
		keep = append(keep, c)
	}
	for i := range keep {
		most := p.rowsOfFilter(s, keep[i])
		keep[i] = p.keyedExists(s, p.scalarJoins(s, keep[i], most), most)
	}
	s.b.where = keep
	if !s.b.grouped {
		for i := range s.b.targets {
			most := p.rowsOfTarget(s, i)
			s.b.targets[i].x = p.keyedExists(s, p.scalarJoins(s, s.b.targets[i].x, most), most)
		}
	}
	p.sameRows(s)
}

// pullable reports whether a query is a plain block whose rows can be matched
// one by one.
func pullable(q *query) bool {
	if q.ref != nil || q.dml != nil || q.setop != nil || q.block == nil || q.block.values != nil || len(q.ctes) > 0 {
		return false
	}
	b := q.block
	return !b.grouped && q.limit == nil && q.offset == nil && len(b.wins) == 0 && !b.hasSRF && b.distinctOn == nil && len(q.locks) == 0
}

// outerVars reports whether e reads columns that do not belong to the rels.
func outerVars(e plan.Expr, own func(int) bool) bool {
	for id := range relsOf(e).all() {
		if !own(id) {
			return true
		}
	}
	return false
}

// ownRels collects all entry numbers that are defined inside a query.
func ownRels(q *query) (in relSet) {
	addRels(q, &in, map[*query]bool{})
	return in
}

// addRels leaves out the queries that it has seen: mapQuery comes to those that
// lie deep as well.
func addRels(q *query, into *relSet, seen map[*query]bool) {
	if q == nil || seen[q] {
		return
	}
	seen[q] = true
	into.add(q.rel)
	for _, c := range q.ctes {
		addRels(c.q, into, seen)
		addRels(c.stepQ, into, seen)
	}
	if q.ref != nil && !q.work {
		addRels(q.ref.q, into, seen)
	}
	if q.setop != nil {
		addRels(q.setop.l, into, seen)
		addRels(q.setop.r, into, seen)
	}
	if b := q.block; b != nil {
		into.add(b.grpRel)
		for _, w := range b.wins {
			into.add(w.rel)
		}
		for _, r := range b.rels {
			into.add(r.id)
			addRels(r.query, into, seen)
		}
	}
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if sub, ok := e.(*subquery); ok {
			into.add(sub.xrel)
			addRels(sub.q, into, seen)
		}
		return e
	})
}

// correlated reports whether the query reads columns of enclosing blocks.
func correlated(q *query) bool {
	own := ownRels(q)
	found := false
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if v, ok := e.(*plan.Var); ok && !own.has(v.Rel) {
			found = true
		}
		return e
	})
	return found
}

// semiOf makes a semi or anti join of a conjunct, or returns nil.
func (p *planner) semiOf(s *state, sub *subquery) *semi {
	q := sub.q
	if q.block != nil {
		p.blockFaults(q.block) // as long as its conditions are together
		p.pullUp(q)
	}
	m := &semi{kind: plan.Semi, q: q}
	if sub.not != (sub.kind == plan.SubAll) {
		m.kind = plan.Anti
	}
	switch sub.kind {
	case plan.SubExists:
		onlyExistence(q)
	case plan.SubAny, plan.SubAll:
	default:
		return nil
	}
	in := sub.kind == plan.SubAny && sub.eq
	if !correlated(q) {
		if !in {
			return nil // runs once as it is
		}
		if m.conds = p.inConds(sub, m); m.conds == nil {
			return nil
		}
		return m
	}
	if sub.kind == plan.SubExists && q.block != nil && q.block.grouped {
		return p.groupedSemi(s, m)
	}
	if !pullable(q) {
		return nil
	}
	b := q.block
	own := func(id int) bool { _, ok := b.rels[id]; return ok }
	inner := ownRels(q)
	isOwn := func(id int) bool { return own(id) || inner.has(id) }
	// correlated conjuncts of the inner WHERE become the join condition
	var local, conds []plan.Expr
	for _, c := range b.where {
		if !outerVars(c, isOwn) {
			local = append(local, c)
			continue
		}
		if hasSub(c) || volatileCall(c) {
			return nil
		}
		conds = append(conds, c)
	}
	// nothing else may be correlated
	probe := *b
	probe.where = local
	pq := *q
	pq.block = &probe
	if correlated(&pq) {
		return nil
	}
	// the condition must not reach over this block
	for _, c := range conds {
		for id := range relsOf(c).all() {
			if !isOwn(id) && s.b.rels[id] == nil {
				return nil
			}
		}
	}
	if sub.kind != plan.SubExists {
		var tests []plan.Expr
		if in && !(sub.not && len(conds) > 0) { // NULLs of NOT IN count per group
			tests = p.inConds(sub, m)
		} else if p.tellsRows(s, conds, isOwn) && !queryVolatile(q) {
			tests = quantified(sub)
		}
		if tests == nil {
			return nil
		}
		// the compared columns are the inner block's expressions; those with
		// subqueries, which may read the block's tables, are computed in it
		for i := range tests {
			tests[i] = plan.Map(tests[i], func(e plan.Expr) plan.Expr {
				if v, ok := e.(*plan.Var); ok && v.Rel == q.rel && !hasSub(b.targets[v.Col].x) {
					return b.targets[v.Col].x
				}
				return e
			})
		}
		conds = append(conds, tests...)
	}
	b.where = local
	// columns that the condition reads become the query's output
	m.conds = p.exportCols(q, conds)
	return m
}

// onlyExistence drops what a query computes that is only asked whether it has rows: the
// select list is not even evaluated, as by PostgreSQL.
func onlyExistence(q *query) {
	b := q.block
	if b == nil || b.grouped || b.values != nil || q.setop != nil || q.ref != nil || q.offset != nil || len(q.locks) > 0 || q.dml != nil {
		return
	}
	q.limit = dropConstLimit(q)
	q.sort, b.distinct, b.distinctOn = nil, false, nil
	if len(b.wins) == 0 && !b.hasSRF {
		for i := range b.targets {
			b.targets[i].x = constBool(true)
		}
	}
}

func dropConstLimit(q *query) plan.Expr {
	if c, ok := q.limit.(*plan.Const); ok && (c.Val.Null || c.Val.I > 0) {
		return nil
	}
	return q.limit
}

// inConds are the equalities of x IN (q), over x and the query's columns.
func (p *planner) inConds(sub *subquery, m *semi) []plan.Expr {
	test := sub.testOfRow()
	if test == nil {
		return nil
	}
	conds := conjuncts(test, nil)
	if sub.not {
		if len(conds) != 1 {
			return nil
		}
		// null-awareness is the hash join's: both sides must be its keys
		l, r, ok := equality(conds[0])
		if !ok || l.Type().OID != r.Type().OID || !hashable(l.Type()) {
			return nil
		}
		if relsOf(sub.x[0]).empty() {
			return nil // a constant or a parameter is no key
		}
		m.nullAware = true
	}
	return conds
}

// testOfRow is the test of an ANY or ALL over the block's and the query's columns, nil if
// it must not be computed for each row of the query.
func (sub *subquery) testOfRow() plan.Expr {
	for _, x := range sub.x {
		if hasSub(x) || volatileCall(x) {
			return nil
		}
	}
	return plan.Map(sub.test, func(e plan.Expr) plan.Expr {
		if v, ok := e.(*plan.Var); ok && v.Rel == sub.xrel {
			return sub.x[v.Col]
		}
		return e
	})
}

// quantified is the condition on the rows of an ANY or ALL, one of which makes it, or its
// negation, true (of a semi join) or not true (of an anti join).
func quantified(sub *subquery) []plan.Expr {
	test := sub.testOfRow()
	if test == nil {
		return nil
	}
	is := &plan.Is{At: plan.At{T: types.TBool, Off: sub.Off}, X: test, Test: plan.IsFalse}
	switch {
	case sub.kind == plan.SubAny && !sub.not:
		return conjuncts(test, nil)
	case sub.kind == plan.SubAny:
		is.Not = true
	case !sub.not:
		is.Test, is.Not = plan.IsTrue, true
	}
	return []plan.Expr{is}
}

// fewKeys is how many rows of a block there have to be for each value by which a query is
// correlated, so that it had better run once for each value and its rows be kept.
const fewKeys = 10

// tellsRows reports whether a query is correlated by equalities, and by more than a few
// values that many rows of the block share.
func (p *planner) tellsRows(s *state, conds []plan.Expr, own func(int) bool) bool {
	linked, values := false, 1.0
	for _, c := range conds {
		l, r, ok := equality(c)
		if ok && outerVars(l, own) {
			l, r = r, l
		}
		if !ok || outerVars(l, own) || !outerVars(r, own) {
			values = math.Inf(1)
			continue
		}
		linked = true
		if v, ok := bareVar(r); ok && s.b.rels[v.Rel] != nil && s.b.rels[v.Rel].table != nil {
			values *= p.distinctOf(v, s.b.rels)
		} else {
			values = math.Inf(1)
		}
	}
	return linked && values*fewKeys > p.rowsOfBlock(s)
}

// exportCols makes the inner columns that conds read the query's targets, beside
// the targets that conds name, and rewrites conds over the query's entry.
func (p *planner) exportCols(q *query, conds []plan.Expr) []plan.Expr {
	b := q.block
	before := b.targets
	b.targets, q.cols = nil, nil
	index := map[[2]int]int{}
	out := make([]plan.Expr, len(conds))
	for i, c := range conds {
		out[i] = plan.Map(c, func(e plan.Expr) plan.Expr {
			v, ok := e.(*plan.Var)
			if !ok || v.Rel != q.rel && b.rels[v.Rel] == nil {
				return e
			}
			k := [2]int{v.Rel, v.Col}
			n, ok := index[k]
			if !ok {
				n = len(b.targets)
				index[k] = n
				x := plan.Expr(v)
				if v.Rel == q.rel {
					x = before[v.Col].x
				}
				b.targets = append(b.targets, target{x: x, name: v.Name})
				q.cols = append(q.cols, plan.OutCol{Name: v.Name, T: v.T})
			}
			return &plan.Var{At: v.At, Rel: q.rel, Col: n, Name: v.Name}
		})
	}
	b.ncols = len(b.targets)
	b.distinct, b.distinctOn, q.sort = false, nil, nil
	return out
}

type semiInner struct {
	node *pnode
	unit *unit
}

// semiSide plans the query of a semi join. A query that reads one base table
// with plain columns is offered for lookups as well.
func (p *planner) semiSide(s *state, m *semi) semiInner {
	q := m.q
	r := p.semiRel(s, m)
	if b := q.block; b != nil && q.setop == nil && q.ref == nil && !m.nullAware && !b.grouped && len(b.from) == 1 && b.from[0].rel != nil &&
		b.from[0].rel.table != nil && b.from[0].rel.tree == nil && len(b.semis) == 0 && pullable(q) && !slices.ContainsFunc(b.where, hasSub) {
		base := b.from[0].rel
		ok := true
		for _, t := range b.targets[:b.ncols] {
			_, is := t.x.(*plan.Var)
			ok = ok && is
		}
		if ok {
			// the table joins this block directly
			for i := range m.conds {
				m.conds[i] = plan.Map(m.conds[i], func(e plan.Expr) plan.Expr {
					if v, is := e.(*plan.Var); is && v.Rel == q.rel {
						return b.targets[v.Col].x
					}
					return e
				})
			}
			s.b.rels[base.id] = base
			u := &unit{rel: base, rels: relSetOf(base.id), local: base.ordered(base.restricted(b.where))}
			for _, c := range append(slices.Clone(m.conds), u.local...) {
				needOf(c, s.need)
			}
			if s.need[base.id] == nil {
				s.need[base.id] = map[int]bool{}
			}
			u.node = p.planScan(s, u, nil)
			u.node.rels = u.rels
			return semiInner{u.node, u}
		}
	}
	n := &pnode{node: p.planQuery(q), lay: layout{}, rels: relSetOf(r.id)}
	for i := range q.cols {
		n.lay[[2]int{r.id, i}] = i
	}
	n.rows, n.cost = n.node.Base().Rows, n.node.Base().Cost
	return semiInner{node: n}
}

// semiRel enters the query into the block's range table under its own number.
func (p *planner) semiRel(s *state, m *semi) *rel {
	r := &rel{id: m.q.rel, alias: "subquery", query: m.q, cols: m.q.cols}
	s.b.rels[r.id] = r
	return r
}
