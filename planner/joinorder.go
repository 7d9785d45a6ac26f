package planner

import (
	"cmp"
	"math/bits"
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// joinStep is a node of the chosen join tree: a unit, or two subtrees.
type joinStep struct {
	unit *unit
	l, r *joinStep
	set  uint64
	rows float64
	cost float64
	semi *semi // l is joined with it, r is its query
}

// maxExact is the number of units up to which all join orders are compared.
const maxExact = 10

// stepJoinOrder is the second step. For
//
//	FROM orders o, customers c, items i WHERE o.cust = c.id AND i.ord = o.id AND c.name = 'x'
//
// it starts with customers, which the filter makes smallest, then orders (joined
// to it), then items; a pair without a common condition comes last.
func (p *planner) stepJoinOrder(s *state) {
	n := len(s.units)
	if n == 0 {
		return
	}
	if u := s.units[0]; n == 1 && u.after.empty() && len(s.lefts) == 0 && (s.part || len(s.b.semis) == 0) {
		s.order = []*joinStep{{unit: u, set: 1, rows: u.node.rows, cost: u.node.cost}}
		return
	}
	g := newJoinGraph(p, s)
	g.addLefts()
	g.addSemis()
	g.link()
	if s.lead != nil && n <= maxExact && !g.lateral {
		if j := g.leading(s.lead); j != nil {
			s.order = []*joinStep{j}
		}
	}
	switch {
	case s.order != nil:
	case g.lateral && n > 1:
		s.order = []*joinStep{g.written()}
	case s.lead != nil && !s.part && !s.b.plannedOnce():
		return
	case p.NoOptimizer:
		s.order = []*joinStep{g.written()}
	case n <= maxExact:
		s.order = []*joinStep{g.exact()}
	default:
		s.order = []*joinStep{g.greedy()}
		if j := g.chains(); j != nil && j.cost < s.order[0].cost {
			s.order[0] = j
		}
	}
	g.joinedSemis(s.order[0])
	if n+len(g.semis) > 1 {
		p.note("join order", describeOrder(s.order[0]))
	}
}

func describeOrder(j *joinStep) string {
	if j.unit != nil {
		switch {
		case j.unit.rel != nil:
			return j.unit.rel.alias
		case j.unit.semi:
			return "subquery"
		}
		return "outer join"
	}
	link := " "
	switch {
	case j.semi == nil:
	case j.semi.kind == plan.Left:
		link = " left "
	case j.semi.kind == plan.Anti:
		link = " without "
	default:
		link = " with "
	}
	return "(" + describeOrder(j.l) + link + describeOrder(j.r) + ")"
}

// joinGraph has the units as bits and the conjuncts between them as edges.
type joinGraph struct {
	p       *planner
	s       *state
	leaves  []*joinStep
	semis   []*semiLeaf
	bit     map[int]uint64 // of each entry's unit
	conj    []plan.Expr    // what lookups may use
	edges   []joinEdge
	lateral bool
	rowsOf  map[uint64]float64
	// pairs are corrections of the share of pairs of two units that several equalities link.
	pairs  map[uint64]float64
	around []joinedWith // by the number of the unit's bit
	wide   []joinEdge   // between more than two units
	// lookups remembers lookupCost by the unit and those of the outer units that
	// share a conjunct with it, or whether any has a column of a class of it: no others
	// bear on the answer.
	lookups, semiLookups map[[3]uint64]float64
	// ranges remembers canRange in the same way.
	ranges map[[3]uint64]bool
}

// joinedWith are the units that a unit is joined with: those that share a conjunct of no
// class with it, and those that an edge between two, or an equality, links with it.
type joinedWith struct{ near, links, equis uint64 }

type joinEdge struct {
	set  uint64 // units that the conjunct reads
	sel  float64
	equi bool
	l, r uint64 // sides of an equality
	conj plan.Expr
	semi uint64 // of the semi join that it belongs to
	// that the equality is of, nil: of none
	class *equalClass
}

func newJoinGraph(p *planner, s *state) *joinGraph {
	g := &joinGraph{p: p, s: s, rowsOf: map[uint64]float64{}, lookups: map[[3]uint64]float64{}, semiLookups: map[[3]uint64]float64{}, ranges: map[[3]uint64]bool{}, pairs: map[uint64]float64{}, bit: map[int]uint64{}, conj: s.conj}
	for i, u := range s.units {
		b := uint64(1) << (i % 64)
		for id := range u.rels.all() {
			g.bit[id] = b
		}
		if !u.after.empty() {
			g.lateral = true
		}
		g.leaves = append(g.leaves, &joinStep{unit: u, set: b, rows: u.node.rows, cost: u.node.cost})
	}
	for _, c := range s.conj {
		if e := g.edge(c); bits.OnesCount64(e.set) > 1 {
			g.edges = append(g.edges, e)
		}
	}
	s.classes, s.classOf = nil, map[plan.Expr]*equalClass{}
	g.classes()
	g.correlate()
	return g
}

// link enters the edges where units are found that are joined with others.
func (g *joinGraph) link() {
	g.around = make([]joinedWith, min(len(g.leaves)+len(g.semis), 64))
	for _, e := range g.edges {
		if e.class == nil {
			for u := e.set; u != 0; u &= u - 1 {
				g.of(u).near |= e.set
			}
		}
		if bits.OnesCount64(e.set) != 2 {
			g.wide = append(g.wide, e)
			continue
		}
		rest := e.set & (e.set - 1)
		a, b := g.of(e.set), g.of(rest)
		a.links |= rest
		b.links |= e.set &^ rest
		if e.equi {
			a.equis |= rest
			b.equis |= e.set &^ rest
		}
	}
}

// of is what the first unit of a set is joined with.
func (g *joinGraph) of(set uint64) *joinedWith { return &g.around[bits.TrailingZeros64(set)] }

// edge is a conjunct as an edge between the units that it reads.
func (g *joinGraph) edge(c plan.Expr) joinEdge {
	setOf := func(e plan.Expr) uint64 { return g.unitsOf(relsOf(e)) }
	e := joinEdge{set: setOf(c), sel: g.p.selectivity(c, g.s.b.rels), conj: c}
	if l, r, ok := equality(c); ok {
		e.l, e.r = setOf(l), setOf(r)
		if e.l != 0 && e.r != 0 && e.l&e.r == 0 {
			e.equi = true
			e.sel = g.p.equiSel(l, r, g.s)
		}
	}
	return e
}

// unitsOf are the units that have the entries.
func (g *joinGraph) unitsOf(in relSet) (units uint64) {
	for id := range in.all() {
		units |= g.bit[id]
	}
	return units
}

// correlate corrects the share of several equalities between the same two units:
// columns that are joined together are seldom independent.
func (g *joinGraph) correlate() {
	pairs := map[uint64][]int{}
	for i, e := range g.edges {
		if e.equi && bits.OnesCount64(e.set) == 2 {
			pairs[e.set] = append(pairs[e.set], i)
		}
	}
	for set, edges := range pairs {
		if len(edges) < 2 {
			continue
		}
		edges = slices.DeleteFunc(edges, func(i int) bool { // a class counts once
			return g.edges[i].class != nil && slices.ContainsFunc(edges, func(k int) bool { return k < i && g.edges[k].class == g.edges[i].class })
		})
		sel, rows := 1.0, 1.0
		var conj []plan.Expr
		for _, i := range edges {
			sel *= g.edges[i].sel
			conj = append(conj, g.edges[i].conj)
		}
		for _, l := range g.leaves {
			if l.set&set != 0 {
				rows = max(rows, l.rows)
			}
		}
		if least := g.p.leastEquiSel(conj, rows, g.s.b.rels); sel < least {
			g.pairs[set] = least / sel
		}
	}
}

// leastEquiSel is a lower bound of the share of pairs for which all equalities
// between two sides hold, of which the larger has rows rows. A side has at most
// as many different keys as rows, and where the columns are a table's key the
// other side has no more than the table.
func (p *planner) leastEquiSel(conj []plan.Expr, rows float64, rels map[int]*rel) float64 {
	if len(conj) < 2 {
		return 0
	}
	cols := map[int]map[int]bool{}
	for _, c := range conj {
		l, r, _ := equality(c)
		for _, side := range []plan.Expr{l, r} {
			if v, ok := bareVar(side); ok {
				if cols[v.Rel] == nil {
					cols[v.Rel] = map[int]bool{}
				}
				cols[v.Rel][v.Col] = true
			}
		}
	}
	least := 1 / max(rows, 1)
	for id, set := range cols {
		if r := rels[id]; r != nil && r.table != nil && len(set) > 1 && coversKey(r.table, set) {
			least = max(least, 1/max(p.tableRows(r.table), 1))
		}
	}
	return least
}

// coversKey reports whether the columns have those of a unique key among them.
func coversKey(t *catalog.Table, cols map[int]bool) bool {
	in := func(c int) bool { return cols[c] }
	if len(t.PK) > 0 && all(t.PK, in) {
		return true
	}
	for _, ix := range t.Indexes {
		if ix.Unique && !ix.Invalid && ix.Where == "" && all(ix.Keys, func(k catalog.IndexKey) bool { return in(k.Col) }) {
			return true
		}
	}
	return false
}

func all[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !is(x) })
}

// joinDistinct is the number of values of one side of an equality between units.
func (p *planner) joinDistinct(e plan.Expr, s *state) float64 {
	rows := 1000.0
	if v, ok := bareVar(e); ok {
		var local []plan.Expr
		for _, u := range s.units {
			if u.rels.has(v.Rel) {
				rows, local = u.node.rows, u.local
			}
		}
		if r := s.b.rels[v.Rel]; r == nil || r.table == nil {
			return min(p.distinct(e, s.b.rels, rows), max(rows, 1))
		}
		// Conditions on other columns take rows away, and not values from those that the
		// other side meets: of a table's foreign keys as many lead to a filtered part of the
		// other table as that has rows of all.
		n := p.distinct(e, s.b.rels, rows)
		for _, c := range local {
			if o := oneSided(c); o != nil && o.Rel == v.Rel && o.Col == v.Col {
				n *= p.selectivity(c, s.b.rels)
			}
		}
		return max(n, 1)
	}
	return min(200, rows)
}

// equality splits l = r of a hashable equality.
func equality(c plan.Expr) (l, r plan.Expr, ok bool) {
	x, is := c.(*plan.Call)
	if !is || x.Op != "=" || len(x.Args) != 2 || volatileCall(c) {
		return nil, nil, false
	}
	return x.Args[0], x.Args[1], true
}

// rows estimates the rows of a joined set, the same for every order.
func (g *joinGraph) rows(set uint64) float64 {
	if r, ok := g.rowsOf[set]; ok {
		return r
	}
	r := 1.0
	for _, l := range g.leaves {
		if l.set&set != 0 {
			r *= l.rows
		}
	}
	for _, e := range g.edges {
		if e.class == nil && e.set&^set == 0 && !g.ignored(e, set) {
			r *= e.sel
		}
	}
	for _, c := range g.s.classes {
		r *= g.classSel(c, set)
	}
	for pair, more := range g.pairs {
		if pair&^set == 0 {
			r *= more
		}
	}
	r = max(g.semiRows(set, r), 1)
	g.rowsOf[set] = r
	return r
}

func (g *joinGraph) connected(a, b uint64) (any, equi bool) {
	g.p.tick()
	var linked, equal uint64
	for u := a; u != 0; u &= u - 1 {
		linked |= g.of(u).links
		equal |= g.of(u).equis
	}
	any, equi = linked&b != 0, equal&b != 0
	for _, e := range g.wide {
		if e.set&a != 0 && e.set&b != 0 && e.set&^(a|b) == 0 {
			any = true
			if e.equi && (e.l&^a == 0 && e.r&^b == 0 || e.l&^b == 0 && e.r&^a == 0) {
				equi = true
			}
		}
	}
	return
}

// join estimates the cheapest way to join two subtrees.
func (g *joinGraph) join(a, b *joinStep) joinStep {
	any, equi := g.connected(a.set, b.set)
	j := joinStep{l: a, r: b, set: a.set | b.set, rows: g.rows(a.set | b.set)}
	if equi {
		probe, build := a, b
		if b.leads(a) {
			probe, build = b, a
		}
		j.l, j.r = probe, build
		j.cost = a.cost + b.cost + probe.rows*costHash + build.rows*costBuild + j.rows*0.5
		for _, o := range [][2]*joinStep{{a, b}, {b, a}} {
			// each outer row costs its gets, and the inner scan is not done
			if c := o[0].cost + o[0].rows*(costStart+costGet); c >= j.cost || o[1].unit == nil {
				continue
			}
			if per := g.lookupCost(o[1], o[0].set); per > 0 {
				if c := o[0].cost + o[0].rows*per + j.rows*0.5; c < j.cost {
					j.cost, j.l, j.r = c, o[0], o[1]
				}
			}
		}
		return j
	}
	j.cost = a.cost + b.cost + a.rows*b.rows*costPair + j.rows*0.5
	if !any {
		j.cost += a.rows * b.rows * 0.5
	}
	if b.leads(a) {
		j.l, j.r = b, a
	}
	for _, o := range [][2]*joinStep{{a, b}, {b, a}} {
		c := o[0].cost + o[0].rows*2*costStart + j.rows*costGet
		if any && c < j.cost && g.canRange(o[1], o[0].set) {
			j.cost, j.l, j.r = c, o[0], o[1]
		}
	}
	return j
}

// leastCost is what a join of two subtrees costs at least: a unit may be read by lookups alone.
func leastCost(a, b *joinStep) float64 {
	c := a.cost + b.cost
	if a.unit != nil {
		c = min(c, b.cost)
	}
	if b.unit != nil {
		c = min(c, a.cost)
	}
	return c
}

// leads reports whether j is the better left side of a join with o: it has more
// rows, or as many and is written first, whose order the result then has.
func (j *joinStep) leads(o *joinStep) bool {
	return j.rows > o.rows || j.rows == o.rows && bits.TrailingZeros64(j.set) < bits.TrailingZeros64(o.set)
}

// exact compares all orders by dynamic programming over subsets.
func (g *joinGraph) exact() *joinStep {
	n := len(g.leaves) + len(g.semis)
	best := make([]*joinStep, 1<<n)
	for i, l := range g.leaves {
		best[1<<i] = l
	}
	for _, x := range g.semis {
		best[x.set] = x.unique
	}
	for set := 1; set < 1<<n; set++ {
		if best[set] != nil || set&(set-1) == 0 {
			continue
		}
		for pass := 0; pass < 2 && best[set] == nil; pass++ {
			// pairs without a condition only when there is nothing else
			for sub := (set - 1) & set; sub > 0; sub = (sub - 1) & set {
				other := set &^ sub
				if sub < other || best[sub] == nil || best[other] == nil {
					continue
				}
				if best[set] != nil && leastCost(best[sub], best[other]) >= best[set].cost {
					continue
				}
				if any, _ := g.connected(uint64(sub), uint64(other)); !any && pass == 0 {
					continue
				}
				j := g.join(best[sub], best[other])
				if best[set] == nil {
					best[set] = new(joinStep)
					*best[set] = j
				} else if j.cost < best[set].cost {
					*best[set] = j
				}
			}
		}
		g.semiSteps(uint64(set), best)
	}
	return best[1<<n-1]
}

// greedy joins the pair with the smallest result first.
func (g *joinGraph) greedy() *joinStep {
	list := append([]*joinStep(nil), g.leaves...)
	if len(list) > 64 {
		return g.leftDeep(list)
	}
	for len(list) > 1 {
		bi, bj := -1, -1
		var best joinStep
		bestLinked := false
		for i := range list {
			for k := i + 1; k < len(list); k++ {
				any, _ := g.connected(list[i].set, list[k].set)
				if bestLinked && !any {
					continue
				}
				j := g.join(list[i], list[k])
				if bi < 0 || any && !bestLinked || j.rows < best.rows || j.rows == best.rows && j.cost < best.cost {
					best, bi, bj, bestLinked = j, i, k, any
				}
			}
		}
		list[bi] = &best
		list = append(list[:bj], list[bj+1:]...)
	}
	return list[0]
}

// maxChained is the number of joins that chains looks at.
const maxChained = 2500

// chains is the cheapest of the orders that begin with one unit and join one after the
// other with it, nil where there are too many units. greedy may begin at a large table
// that is joined with a small one: of
//
//	FROM keyword k, movie_keyword mk, movie_info mi, info_type it, … WHERE k.keyword IN ('x', 'y') AND it.info = 'z' …
//
// the movies of two keywords are looked up in all others.
func (g *joinGraph) chains() *joinStep {
	n := len(g.leaves)
	if n > 64 {
		return nil
	}
	first := slices.Clone(g.leaves)
	slices.SortStableFunc(first, func(a, b *joinStep) int { return cmp.Compare(a.rows, b.rows) })
	var best *joinStep
	for _, l := range first[:min(n, max(1, 2*maxChained/(n*n)))] {
		if j := g.chain(l); best == nil || j.cost < best.cost {
			best = j
		}
	}
	return best
}

// chain joins next what takes most rows away, or adds fewest, for its cost.
func (g *joinGraph) chain(cur *joinStep) *joinStep {
	rest := slices.DeleteFunc(slices.Clone(g.leaves), func(l *joinStep) bool { return l == cur })
	for len(rest) > 0 {
		at, bestLinked, bestRank := -1, false, 0.0
		var best joinStep
		for i, l := range rest {
			linked, _ := g.connected(cur.set, l.set)
			if bestLinked && !linked {
				continue
			}
			j := g.join(cur, l)
			rank := (j.rows - cur.rows) / max(j.cost-cur.cost, 1)
			if at < 0 || linked && !bestLinked || rank < bestRank {
				best, at, bestLinked, bestRank = j, i, linked, rank
			}
		}
		cur, rest = &best, slices.Delete(rest, at, at+1)
	}
	return cur
}

// leftDeep joins the entries in their written order.
func (g *joinGraph) leftDeep(list []*joinStep) *joinStep {
	cur := list[0]
	for _, l := range list[1:] {
		cur = &joinStep{l: cur, r: l, cost: cur.cost + l.cost}
	}
	return cur
}

// written keeps the order of the FROM clause, in which LATERAL entries are after what
// they read, but that an entry without a condition on those before it waits for one that
// has something to do with them: of FROM a, b, LATERAL f(a.x) l WHERE b.y = l.y, b is last.
func (g *joinGraph) written() *joinStep {
	rest := slices.Clone(g.leaves)
	if g.p.NoOptimizer || len(rest) > 64 {
		return g.leftDeep(rest)
	}
	first := 0
	if l := g.s.lead; l != nil {
		first = max(0, slices.IndexFunc(rest, func(x *joinStep) bool { return x.unit.rels.has(l.rel.id) && x.unit.after.empty() }))
	}
	list, have := []*joinStep{rest[first]}, rest[first].set
	for rest = slices.Delete(rest, first, first+1); len(rest) > 0; {
		next := slices.IndexFunc(rest, func(l *joinStep) bool {
			if g.unitsOf(l.unit.after)&^have != 0 {
				return false
			}
			linked, _ := g.connected(have, l.set)
			return linked || !l.unit.after.empty()
		})
		next = max(next, 0)
		list, have = append(list, rest[next]), have|rest[next].set
		rest = slices.Delete(rest, next, next+1)
	}
	return g.leftDeep(list)
}

// lookupCost is what each row of the outer set costs that finds its rows in the leaf, a
// base table, by an index or a master key whose leading columns the outer set's
// equalities fix; 0 if there is none.
func (g *joinGraph) lookupCost(leaf *joinStep, outer uint64) float64 {
	return g.lookupCostBy(g.lookups, leaf, outer, g.p.lookupCost)
}

// semiLookupCost is lookupCost of a semi or anti join.
func (g *joinGraph) semiLookupCost(x *semiLeaf, outer uint64) float64 {
	return g.lookupCostBy(g.semiLookups, x.plain, outer, func(s *state, u *unit, by *path) float64 {
		return g.p.lookupCostOf(s, x.m.kind, u, x.m.conds, by)
	})
}

func (g *joinGraph) lookupCostBy(memo map[[3]uint64]float64, leaf *joinStep, outer uint64, cost func(*state, *unit, *path) float64) float64 {
	u := leaf.unit
	if g.p.NoOptimizer || u.rel == nil || u.rel.table == nil || u.rel.tree != nil || !u.after.empty() {
		return 0
	}
	return remembered(g, memo, leaf, outer, func(ids relSet) float64 {
		if x := g.p.lookupPath(g.s, u, slices.Concat(g.conj, u.local), ids); x != nil {
			return cost(g.s, u, x)
		}
		return 0
	})
}

// canRange reports whether the leaf is a table of which a key or an index is bounded
// by columns of the outer set, for rangeApply.
func (g *joinGraph) canRange(leaf *joinStep, outer uint64) bool {
	u := leaf.unit
	if g.p.NoOptimizer || u == nil || u.rel == nil || !ranges(u.rel) || u.rel.tree != nil || !u.after.empty() {
		return false
	}
	return remembered(g, g.ranges, leaf, outer, func(ids relSet) bool {
		return g.p.bounded(u.rel, u.local, g.s.conj, func(in relSet) bool { return !in.empty() && in.within(ids) })
	})
}

// remembered is the answer of find, which is given the entries of the outer set, for those
// of its units that share a conjunct with the leaf.
func remembered[T any](g *joinGraph, memo map[[3]uint64]T, leaf *joinStep, outer uint64, find func(ids relSet) T) T {
	key := [3]uint64{leaf.set, outer & g.of(leaf.set).near}
	for i, c := range g.s.classes {
		if c.set&leaf.set != 0 && c.set&outer != 0 {
			key[2] |= 1 << (i % 64)
		}
	}
	if x, ok := memo[key]; ok {
		return x
	}
	var ids relSet
	for id, b := range g.bit {
		if b&outer != 0 {
			ids.add(id)
		}
	}
	memo[key] = find(ids)
	return memo[key]
}
