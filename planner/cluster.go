package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// Joins along a cluster. With geo, poi and event stored with each other,
//
//	geo JOIN poi ON poi.poi_id = geo.poi_id JOIN event ON event.poi_id = poi.poi_id AND event.language = poi.language
//
// follows the row keys, so one walk over the file gives the joined rows. What the
// conditions must say is that each child's foreign key equals its parent's primary
// key, in whatever way; other conditions stay filters.

// clusterGroup is a chain of tables read by one ClusterScan.
type clusterGroup struct {
	levels []clusterLevel
}

type clusterLevel struct {
	rel   *rel
	local []plan.Expr // conjuncts on the table alone
	outer bool
}

// clustered reports whether the entry may be part of a chain.
func clustered(r *rel) bool {
	return r != nil && r.table != nil && r.table.Cluster != nil && !r.needKey && !r.target
}

// stepCluster replaces units that form chains by one unit each.
func (p *planner) stepCluster(s *state) {
	if p.NoOptimizer {
		return
	}
	for {
		chain := p.longestChain(s)
		if len(chain) < 2 {
			return
		}
		g := &clusterGroup{}
		merged := &unit{}
		for _, u := range chain {
			g.levels = append(g.levels, clusterLevel{rel: u.rel, local: u.local})
			merged.rels.add(u.rel.id)
		}
		if !p.worthWalking(s, g) {
			return
		}
		pos := positions(g)
		var on []plan.Expr
		s.conj = slices.DeleteFunc(s.conj, func(c plan.Expr) bool {
			if implied(c, pos) {
				return true
			}
			in := s.entries(c)
			if !in.empty() && in.within(merged.rels) && !volatileCall(c) {
				on = append(on, c)
				return true
			}
			return false
		})
		for _, c := range append(slices.Clone(s.conj), on...) {
			needOf(c, s.need)
		}
		merged.node = p.filterOn(s, p.clusterNode(s, g), on)
		at := slices.Index(s.units, chain[0])
		s.units[at] = merged
		s.units = slices.DeleteFunc(s.units, func(u *unit) bool { return slices.Contains(chain, u) })
	}
}

// longestChain finds the longest chain of units each of which is stored with, and
// joined to, the one before it.
func (p *planner) longestChain(s *state) []*unit {
	var best []*unit
	var extend func(chain []*unit)
	extend = func(chain []*unit) {
		if len(chain) > len(best) {
			best = slices.Clone(chain)
		}
		last := chain[len(chain)-1]
		for _, u := range s.units {
			if u.node == nil && u.after.empty() && clustered(u.rel) && u.rel.table.Cluster.Parent == last.rel.table.OID &&
				!slices.Contains(chain, u) && joined(append(slices.Clone(chain), u), s.conj) {
				extend(append(slices.Clone(chain), u))
			}
		}
	}
	for _, u := range s.units {
		if u.node == nil && u.after.empty() && clustered(u.rel) {
			extend([]*unit{u})
		}
	}
	return best
}

// positions numbers the columns of a chain's row keys: see ClusterPositions.
func positions(g *clusterGroup) map[[2]int]int {
	pos := map[[2]int]int{}
	for _, l := range g.levels {
		for c, n := range l.rel.table.ClusterPositions() {
			pos[[2]int{l.rel.id, c}] = n
		}
	}
	return pos
}

// implied reports whether a conjunct is the equality of two columns that have the
// same position in the row keys of a chain.
func implied(c plan.Expr, pos map[[2]int]int) bool {
	l, r, ok := equality(c)
	if !ok {
		return false
	}
	a, ok1 := l.(*plan.Var)
	b, ok2 := r.(*plan.Var)
	if !ok1 || !ok2 || a.Rel == b.Rel {
		return false
	}
	m, ok1 := pos[[2]int{a.Rel, a.Col}]
	n, ok2 := pos[[2]int{b.Rel, b.Col}]
	return ok1 && ok2 && m == n
}

// joined reports whether the conjuncts make the foreign key of the chain's last
// unit equal to the primary key of the one before, directly or through others.
func joined(chain []*unit, conj []plan.Expr) bool {
	g := &clusterGroup{}
	for _, u := range chain {
		g.levels = append(g.levels, clusterLevel{rel: u.rel})
	}
	return follows(g, conj)
}

func follows(g *clusterGroup, conj []plan.Expr) bool {
	pos := positions(g)
	same := map[[2]int][2]int{} // union-find
	var find func(k [2]int) [2]int
	find = func(k [2]int) [2]int {
		if up, ok := same[k]; ok && up != k {
			return find(up)
		}
		return k
	}
	// The levels above the last are equal in their common columns already.
	at := map[int][2]int{}
	last := g.levels[len(g.levels)-1].rel
	for _, l := range g.levels[:len(g.levels)-1] {
		for c := range l.rel.table.ClusterPositions() {
			k := [2]int{l.rel.id, c}
			if first, ok := at[pos[k]]; ok {
				same[find(k)] = find(first)
			} else {
				at[pos[k]] = k
			}
		}
	}
	for _, c := range conj {
		if implied(c, pos) {
			l, r, _ := equality(c)
			a, b := l.(*plan.Var), r.(*plan.Var)
			same[find([2]int{a.Rel, a.Col})] = find([2]int{b.Rel, b.Col})
		}
	}
	for _, c := range last.table.ClusterKey().Cols {
		k := [2]int{last.id, c}
		if first, ok := at[pos[k]]; !ok || find(k) != find(first) {
			return false
		}
	}
	return true
}

// clusterAccess is how the first table of a chain is restricted.
func (p *planner) clusterAccess(g *clusterGroup) (area *plan.Area, key []plan.Expr) {
	top := g.levels[0]
	known := p.boundsOf(top.rel, top.local, relSet.empty)
	for _, c := range top.rel.table.PK {
		for _, b := range known.on(c) {
			if b.kind == "eq" && len(key) < len(top.rel.table.PK) {
				key = append(key, b.x)
				break
			}
		}
	}
	if len(key) == len(top.rel.table.PK) {
		return nil, key
	}
	return p.areaOf(top.rel, top.local), nil
}

// worthWalking compares the walk with reading each table by its best path.
func (p *planner) worthWalking(s *state, g *clusterGroup) bool {
	area, key := p.clusterAccess(g)
	if key != nil || area != nil && len(area.Circles)+len(area.Boxes) > 0 {
		return true
	}
	cost := p.walkCost(g, area)
	for _, l := range g.levels {
		out := s.need[l.rel.id]
		for _, x := range p.paths(l.rel, l.local, withTested(l.rel, l.local, nil, out), out) {
			if x.access != plan.FullScan && x.cost < cost/4 && x.rows < p.tableRows(l.rel.table)/20 {
				return false
			}
		}
	}
	return true
}

func (p *planner) walkCost(g *clusterGroup, area *plan.Area) float64 {
	part := 1.0
	if area != nil {
		part = p.areaPart(area)
	}
	return 4*costStart + part*p.clusterPairs(g.levels[0].rel.table)
}

// clusterNode plans the walk.
func (p *planner) clusterNode(s *state, g *clusterGroup) *pnode {
	area, key := p.clusterAccess(g)
	n := &plan.ClusterScan{Area: p.placeArea(area)}
	if key != nil {
		n.Key = p.planExprs(key, nil)
	}
	out := &pnode{lay: layout{}, group: g}
	rows := 1.0
	for i, l := range g.levels {
		r := l.rel
		out.rels.add(r.id)
		ranges, rest := p.tailRanges(l)
		for _, c := range rest {
			needOf(c, s.need)
		}
		level := plan.ClusterLevel{Table: r.table, Ranges: p.placeRanges(ranges), Outer: l.outer}
		lay := layout{}
		for _, c := range inOrder(s.need[r.id]) {
			lay[[2]int{r.id, c}] = len(level.Cols)
			out.lay[[2]int{r.id, c}] = len(n.Common.Cols)
			level.Cols = append(level.Cols, c)
			n.Common.Cols = append(n.Common.Cols, outCol(r, c))
		}
		if x := conjunction(byCost(rest)); x != nil {
			level.Filter = p.place(x, lay)
		}
		n.Levels = append(n.Levels, level)
		part := 1.0
		for _, c := range l.local {
			part *= p.selectivity(c, s.b.rels)
		}
		switch {
		case i > 0:
			part *= p.tableRows(r.table) / max(1, p.tableRows(g.levels[i-1].rel.table))
			if l.outer {
				part = max(part, 1)
			}
		case key != nil:
		case area != nil:
			part = p.tableRows(r.table) * p.areaPart(area)
		default:
			part *= p.tableRows(r.table)
		}
		rows *= part
	}
	out.rows = max(rows, 1)
	out.cost = p.walkCost(g, area)
	if key != nil {
		out.cost = costStart + 2*costGet + out.rows
	}
	n.Rows, n.Cost, n.Step = out.rows, out.cost, "join"
	out.node = n
	return out
}

// tailRanges turns what the conjuncts of a level say about the end of its row keys
// into ranges, and returns the other conjuncts.
func (p *planner) tailRanges(l clusterLevel) ([]plan.KeyRange, []plan.Expr) {
	t := l.rel.table
	var keys []catalog.IndexKey
	for _, c := range t.ClusterTail() {
		keys = append(keys, catalog.IndexKey{Col: c, Type: t.Columns[c].Type})
	}
	known := p.boundsOf(l.rel, l.local, relSet.empty)
	x := p.match(l.rel, nil, keys, false, known, p.tableRows(t))
	if x == nil {
		return nil, l.local
	}
	return x.ranges, slices.DeleteFunc(slices.Clone(l.local), func(c plan.Expr) bool { return x.answers(c) })
}

// clusterLeft plans an outer join that adds a child to a chain; nil if it does not.
func (p *planner) clusterLeft(s *state, l *joinItem, lp *pnode, down []plan.Expr, r *joinItem, rdown, on []plan.Expr) *pnode {
	if p.NoOptimizer || !clustered(r.rel) || r.rel.lateral {
		return nil
	}
	g := lp.group
	if g == nil {
		if l.rel == nil || !clustered(l.rel) || slices.ContainsFunc(down, hasSub) {
			return nil
		}
		g = &clusterGroup{levels: []clusterLevel{{rel: l.rel, local: down}}}
	}
	last := g.levels[len(g.levels)-1].rel
	if r.rel.table.Cluster.Parent != last.table.OID || slices.ContainsFunc(rdown, hasSub) {
		return nil
	}
	next := &clusterGroup{levels: append(slices.Clone(g.levels), clusterLevel{rel: r.rel, local: rdown, outer: true})}
	pos := positions(next)
	if slices.ContainsFunc(on, func(c plan.Expr) bool { return !implied(c, pos) }) || !follows(next, on) || !p.worthWalking(s, next) {
		return nil
	}
	return p.clusterNode(s, next)
}
