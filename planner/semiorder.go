package planner

import (
	"math"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Semi and anti joins take part in the join order: each is joined where that is cheapest,
// once the entries that its conditions read are there. A semi join by equalities may be
// an inner join as well, with the distinct rows of its query, and then begin the tree: in
//
//	FROM orders o JOIN items i ON i.ord = o.id WHERE o.cust IN (SELECT id FROM customers WHERE vip)
//
// the few customers lead to their orders, and these to their items, by lookups.

// semiLeaf is a semi or anti join in the join graph.
type semiLeaf struct {
	m     *semi
	set   uint64 // its own bit
	needs uint64 // the units that its conditions read
	share float64
	plain *joinStep // the rows of its query
	// The distinct rows, nil where it is no inner join. Its conditions are conjuncts then.
	unique *joinStep
}

// addSemis enters the block's semi joins into the graph, where its orders are compared
// exactly; others, and those that read no entry, are left to placeSemis.
func (g *joinGraph) addSemis() {
	s, p := g.s, g.p
	if s.part || p.NoOptimizer || g.lateral || len(s.units) == 0 || s.lead != nil || len(s.units)+len(g.semis)+len(s.b.semis) > maxExact {
		return
	}
	var above []*semi
	for _, m := range s.b.semis {
		var needs uint64
		for _, c := range m.conds {
			needs |= g.unitsOf(relsOf(c))
		}
		if needs == 0 {
			above = append(above, m)
			continue
		}
		if m.inner == nil {
			side := p.semiSide(s, m)
			m.inner = &side
		}
		side := *m.inner
		n := side.node
		if side.unit != nil {
			side.unit.node = n
		}
		x := &semiLeaf{m: m, set: 1 << (len(g.leaves) + len(g.semis)), needs: needs, share: p.semiShare(s, m.kind, m.conds, n)}
		u := side.unit
		if u == nil {
			u = &unit{node: n, rels: n.rels, semi: true}
		}
		x.plain = &joinStep{unit: u, set: x.set, rows: n.rows, cost: n.cost}
		if d := p.distinctSide(s, m, side); d != nil {
			x.unique = &joinStep{unit: d, set: x.set, rows: d.node.rows, cost: d.node.cost}
		}
		g.semis = append(g.semis, x)
		for id := range n.rels.all() {
			g.bit[id] = x.set
		}
	}
	s.b.semis = above
	for _, x := range g.semis {
		for _, c := range x.m.conds {
			e := g.edge(c)
			e.semi = x.set
			if _, _, nd := p.semiKey(s, c, x.plain.unit.node); e.equi {
				e.sel = 1 / max(1, max(nd, g.outerDistinct(c, x)))
			}
			g.edges = append(g.edges, e)
		}
		g.conj = append(g.conj[:len(g.conj):len(g.conj)], x.m.conds...)
	}
}

// outerDistinct is the number of values that the block's side of an equality has.
func (g *joinGraph) outerDistinct(c plan.Expr, x *semiLeaf) float64 {
	outer, _, _ := g.p.semiKey(g.s, c, x.plain.unit.node)
	if outer == nil {
		return 1
	}
	return g.p.joinDistinct(outer, g.s)
}

// semiRows multiplies the rows of a set by what its semi joins leave, and by the rows of
// those that are only distinct rows yet, as not all that they need is there.
func (g *joinGraph) semiRows(set uint64, rows float64) float64 {
	for _, x := range g.semis {
		switch {
		case set&x.set == 0:
		case g.closed(x, set):
			rows *= x.share
		case x.unique != nil:
			rows *= x.unique.rows
		default:
			rows *= x.plain.rows
		}
	}
	return rows
}

// closed reports whether a set has all that a semi join in it needs.
func (g *joinGraph) closed(x *semiLeaf, set uint64) bool {
	return set&x.set != 0 && x.needs&^set == 0
}

// ignored reports whether an edge does not count in a set, as its semi join does.
func (g *joinGraph) ignored(e joinEdge, set uint64) bool {
	return e.semi != 0 && slices.ContainsFunc(g.semis, func(x *semiLeaf) bool { return x.set == e.semi && g.closed(x, set) })
}

// semiSteps are the ways to make a set by a semi join of all the rest of it.
func (g *joinGraph) semiSteps(set uint64, best []*joinStep) {
	for _, x := range g.semis {
		l := best[set&^x.set]
		if set&x.set == 0 || l == nil || x.needs&^l.set != 0 {
			continue
		}
		j := g.semiStep(l, x)
		if best[set] == nil || j.cost < best[set].cost {
			best[set] = &j
		}
	}
}

func (g *joinGraph) semiStep(l *joinStep, x *semiLeaf) joinStep {
	j := joinStep{l: l, r: x.plain, set: l.set | x.set, rows: g.rows(l.set | x.set), semi: x.m}
	if _, equi := g.connected(l.set, x.set); equi {
		j.cost = l.cost + x.plain.cost + l.rows*costHash + x.plain.rows*costBuild
	} else {
		j.cost = l.cost + x.plain.cost + l.rows*x.plain.rows*pairCost(x.m.conds)
	}
	if !x.m.nullAware && x.plain.unit.rel != nil {
		if per := g.semiLookupCost(x, l.set); per > 0 {
			j.cost = min(j.cost, l.cost+l.rows*per)
		}
	}
	j.cost += j.rows * 0.5
	return j
}

// joinedSemis puts the conditions of the semi joins that have become inner ones among
// the conjuncts.
func (g *joinGraph) joinedSemis(j *joinStep) {
	if j.unit == nil {
		g.joinedSemis(j.l)
		if j.semi == nil {
			g.joinedSemis(j.r)
		}
		return
	}
	for _, x := range g.semis {
		if j == x.unique {
			g.s.conj = append(g.s.conj, x.m.conds...)
		}
	}
}

// semiKey takes an equality between the block and a semi join's query apart, and
// estimates the number of values that the query's side has; nil if it is none.
func (p *planner) semiKey(s *state, c plan.Expr, inner *pnode) (outer, own plan.Expr, values float64) {
	l, r, ok := equality(c)
	if !ok {
		return nil, nil, 0
	}
	within := func(e plan.Expr) bool {
		in := relsOf(e)
		return !in.empty() && in.within(inner.rels)
	}
	switch {
	case within(r) && !reads(l, inner.rels):
	case within(l) && !reads(r, inner.rels):
		l, r = r, l
	default:
		return nil, nil, 0
	}
	return l, r, max(1, min(p.distinct(r, s.b.rels, inner.rows), inner.rows))
}

// semiShare is the fraction of rows that a semi or anti join passes. As in PostgreSQL the
// values of the side with fewer of them are taken to be among those of the other; of a
// row's candidates, one has to meet the other conditions.
func (p *planner) semiShare(s *state, kind plan.JoinKind, conds []plan.Expr, inner *pnode) float64 {
	match, keys, each := 1.0, 1.0, 1.0
	for _, c := range conds {
		outer, _, values := p.semiKey(s, c, inner)
		if outer == nil {
			each *= p.selectivity(c, s.b.rels)
			continue
		}
		keys *= values
		v, ok := bareVar(outer)
		if !ok || s.b.rels[v.Rel] == nil || s.b.rels[v.Rel].table == nil || !p.knownDistinct(s.b.rels[v.Rel], v.Col) {
			match *= selBool
			continue
		}
		all := p.distinct(v, s.b.rels, p.tableRows(s.b.rels[v.Rel].table))
		match *= min(1, values/max(all, 1))
		if st := p.colStats(s.b.rels[v.Rel], v.Col); st != nil {
			match *= 1 - st.NullFrac
		}
	}
	candidates := inner.rows / max(1, min(keys, inner.rows))
	share := match * (1 - math.Pow(1-min(each, 1), candidates))
	if kind == plan.Anti {
		// that all rows have a partner is seldom quite true
		return max(1-share, 0.01)
	}
	return share
}

// distinctSide is a semi join's query as a side of an inner join, nil if it is none: rows
// that are equal must have one partner, which is so if they are compared column by column
// of one type.
func (p *planner) distinctSide(s *state, m *semi, side semiInner) *unit {
	if m.kind != plan.Semi || queryVolatile(m.q) {
		return nil
	}
	n := side.node
	var keys []*plan.Var
	for _, c := range m.conds {
		outer, own, _ := p.semiKey(s, c, n)
		v, ok := own.(*plan.Var)
		if !ok || hasSub(outer) || volatileCall(outer) || !oneKey(outer.Type(), v.T) {
			return nil
		}
		if !slices.ContainsFunc(keys, func(k *plan.Var) bool { return k.Rel == v.Rel && k.Col == v.Col }) {
			keys = append(keys, v)
		}
	}
	cols := map[int]bool{}
	for _, k := range keys {
		cols[k.Col] = true
	}
	switch {
	case side.unit != nil:
		if p.uniqueBy(side.unit.rel.table, cols) {
			u := *side.unit
			return &u
		}
	case len(cols) == len(m.q.cols) && uniqueRows(m.q):
		return &unit{node: n, rels: n.rels, semi: true}
	}
	out := &pnode{lay: layout{}, rels: n.rels, rows: 1}
	pr := &plan.Project{Input: n.node, Exprs: make([]plan.Expr, len(keys))}
	for i, k := range keys {
		out.lay[[2]int{k.Rel, k.Col}] = i
		out.rows *= max(1, min(p.distinct(k, s.b.rels, n.rows), n.rows))
		pr.Exprs[i] = p.place(k, n.lay)
		pr.Cols = append(pr.Cols, plan.OutCol{Name: k.Name, T: k.T})
	}
	out.rows = max(1, min(out.rows, n.rows))
	out.cost = n.cost + n.rows*costBuild
	pr.Rows, pr.Cost = n.rows, n.cost
	d := &plan.Distinct{Input: pr}
	d.Rows, d.Cost, d.Cols, d.Step = out.rows, out.cost, pr.Cols, "join"
	out.node = d
	return &unit{node: out, rels: n.rels, semi: true}
}

// oneKey reports whether equality of two types is that by which the rows of one of them
// are told apart.
func oneKey(a, b types.T) bool {
	return a.OID == b.OID && hashable(a) || integer(a) && integer(b)
}

// uniqueBy reports whether no two rows of a table have the same values in the columns,
// at any time.
func (p *planner) uniqueBy(t *catalog.Table, cols map[int]bool) bool {
	in := func(c int) bool { return cols[c] }
	if t.KeyIsRowKey() && all(t.PK, in) {
		return true
	}
	return slices.ContainsFunc(t.Indexes, func(ix *catalog.Index) bool {
		return ix.Unique && ix.Where == "" && !t.Deferrable(ix) && all(ix.Keys, func(k catalog.IndexKey) bool { return in(k.Col) }) && p.readable(ix)
	})
}

// uniqueRows reports whether no two rows of a query are the same.
func uniqueRows(q *query) bool {
	b := q.block
	switch {
	case q.ref != nil || q.dml != nil:
		return false
	case q.setop != nil:
		return !q.setop.all
	case b == nil || b.values != nil || b.hasSRF || b.distinctOn != nil:
		return false
	case b.distinct:
		return true
	case !b.grouped || b.sets != nil:
		return false
	}
	for i := range b.keys {
		if !slices.ContainsFunc(b.targets[:b.ncols], func(t target) bool {
			v, ok := t.x.(*plan.Var)
			return ok && v.Rel == b.grpRel && v.Col == i
		}) {
			return false
		}
	}
	return true
}

// queryDistinct estimates how many values a column of a query has among its rows, of
// which rows are read.
func (p *planner) queryDistinct(q *query, col int, rows float64) float64 {
	if n, ok := p.columnDistinct(q, col, rows); ok {
		return max(1, min(n, rows))
	}
	return max(1, rows*0.5)
}

// columnDistinct is queryDistinct where that is known of the tables below. The halves of
// a union mostly refer to the same things: it has as many values as the one with more.
func (p *planner) columnDistinct(q *query, col int, rows float64) (float64, bool) {
	if q.ref != nil && !q.work && !q.ref.recursive && q.ref.q != nil {
		return p.columnDistinct(q.ref.q, col, rows)
	}
	if q.setop != nil {
		l, known := p.columnDistinct(q.setop.l, col, rows)
		if !known || q.setop.op == "EXCEPT" {
			return l, known
		}
		r, known := p.columnDistinct(q.setop.r, col, rows)
		if q.setop.op == "INTERSECT" {
			return min(l, r), known
		}
		return max(l, r), known
	}
	b := q.block
	if b == nil || b.values != nil || col < 0 || col >= len(b.targets) {
		return 0, false
	}
	if b.ncols == 1 && uniqueRows(q) {
		return rows, true
	}
	x := b.targets[col].x
	if v, ok := x.(*plan.Var); ok && b.grouped && v.Rel == b.grpRel && v.Col >= 0 && v.Col < len(b.keys) {
		x = b.keys[v.Col]
	}
	switch x := x.(type) {
	case *plan.Const:
		return 1, true
	case *plan.Var:
		r := b.rels[x.Rel]
		if r != nil && r.query != nil {
			return p.columnDistinct(r.query, x.Col, rows)
		}
		return p.distinct(x, b.rels, rows), r != nil
	}
	return 0, false
}
