package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// stepGroup is the fourth step: GROUP BY by hash, or in order where the input
// is ordered by the keys; then HAVING, then window functions.
func (p *planner) stepGroup(s *state) {
	b := s.b
	if b.grouped {
		p.liftSets(s, b.keys)
		p.planGroup(s)
	}
	p.finishGroups(s)
}

// finishGroups puts HAVING and window functions above the grouping.
func (p *planner) finishGroups(s *state) {
	b := s.b
	if b.grouped {
		rels := s.cur.rels
		s.cur = p.filterOn(s, s.cur, b.having)
		s.cur.rels = rels
	}
	p.liftWindowSets(s)
	for _, w := range b.wins {
		p.planWindow(s, w)
	}
}

func (p *planner) planGroup(s *state) {
	b, in := s.b, s.cur
	if len(b.keys) == 0 && len(b.aggs) == 0 && b.sets == nil {
		// HAVING alone: there is one group whatever the input has, which is not read
		in = noInput()
	}
	g := &plan.Group{Input: in.node, Sets: b.sets}
	lay := layout{}
	given, tables := p.givenKeys(b, b.keys)
	var keys []plan.Expr
	for _, last := range []bool{false, true} {
		for i, k := range b.keys {
			if given[i] == last {
				lay[[2]int{b.grpRel, i}] = len(keys)
				if last {
					g.Given++
				}
				keys = append(keys, k)
				g.Cols = append(g.Cols, plan.OutCol{Name: "key", T: k.Type()})
			}
		}
	}
	g.Keys = p.planExprs(keys, in.lay)
	groups := p.groups(b, b.keys, given, in.rows)
	keysLay := maps.Clone(lay)
	for i := range b.aggs {
		a := b.aggs[i]
		var direct []plan.Expr
		args := a.Args
		if a.PerGroup && b.sets != nil {
			direct, args = p.planExprs(p.overKeys(b, args[:a.Direct]), keysLay), args[a.Direct:]
		}
		a.Args = append(direct, p.planExprs(args, in.lay)...)
		if a.Filter != nil {
			a.Filter = p.place(a.Filter, in.lay)
		}
		a.OrderBy = p.placeKeys(a.OrderBy, in.lay)
		g.Aggs = append(g.Aggs, a)
		lay[[2]int{b.grpRel, len(b.keys) + i}] = len(b.keys) + i
		g.Cols = append(g.Cols, plan.OutCol{Name: a.Proc.Name, T: a.T})
	}
	if b.sets != nil {
		lay[[2]int{b.grpRel, maskCol}] = len(g.Cols)
		g.Cols = append(g.Cols, plan.OutCol{Name: "grouping", T: types.TInt4})
	}
	g.Ordered = p.groupOrdered(b, in, given, tables)
	var order []orderCol
	if g.Ordered {
		order = groupsOrder(b, in.order)
	}
	rows := groups
	if len(b.keys) == 0 {
		rows = 1
	}
	g.Rows, g.Cost, g.Step = rows, in.cost+in.rows*costBuild, "group by"
	s.cur = &pnode{node: g, lay: lay, rels: relSetOf(b.grpRel), rows: rows, cost: g.Cost, order: order}
}

// overKeys makes expressions over grouped columns ones over the keys, which have other
// values in the grouping sets that they are not in.
func (p *planner) overKeys(b *block, es []plan.Expr) []plan.Expr {
	var over func(e plan.Expr) plan.Expr
	over = func(e plan.Expr) plan.Expr {
		for i, k := range b.keys {
			if exprKey(k) == exprKey(e) {
				return &plan.Var{At: plan.At{T: k.Type(), Off: e.Pos()}, Rel: b.grpRel, Col: i}
			}
		}
		return plan.MapChildren(e, over)
	}
	out := make([]plan.Expr, len(es))
	for i, e := range es {
		out[i] = over(e)
	}
	return out
}

// groupsOrder is the order of groups that are made of rows in an order.
func groupsOrder(b *block, order []orderCol) []orderCol {
	var out []orderCol
	for _, o := range order {
		k := slices.IndexFunc(b.keys, func(x plan.Expr) bool {
			v, ok := x.(*plan.Var)
			return ok && v.Rel == o.rel && v.Col == o.col
		})
		if k < 0 {
			if o.fixed {
				continue
			}
			break
		}
		o.rel, o.col = b.grpRel, k
		out = append(out, o)
	}
	return out
}

func (p *planner) placeKeys(keys []plan.SortKey, lay layout) []plan.SortKey {
	return mapKeys(keys, func(x plan.Expr) plan.Expr { return p.place(x, lay) })
}

// groups estimates how many groups rows have.
func (p *planner) groups(b *block, keys []plan.Expr, given []bool, rows float64) float64 {
	n := 1.0
	for i, k := range keys {
		if !given[i] {
			n *= p.distinct(k, b.rels, rows)
		}
	}
	return max(1, min(n, rows))
}

// groupOrdered reports whether the input's order keeps equal keys together. given and
// tables are those of givenKeys.
func (p *planner) groupOrdered(b *block, in *pnode, given []bool, tables relSet) bool {
	if b.sets != nil || len(b.keys) == 0 || p.NoOptimizer {
		return false
	}
	want := map[[2]int]bool{}
	for i, k := range b.keys {
		if given[i] {
			continue
		}
		v, ok := k.(*plan.Var)
		if !ok {
			return false
		}
		want[[2]int{v.Rel, v.Col}] = true
	}
	for _, o := range in.order {
		k := [2]int{o.rel, o.col}
		if (o.fixed || tables.has(o.rel)) && !want[k] {
			continue
		}
		if !want[k] {
			return false
		}
		delete(want, k)
		if len(want) == 0 {
			keepOrder(in.node)
			return true
		}
	}
	return false
}
