package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// turnTo plans the hash join to which a lookup join turns where its left rows, or what
// they find, are far more than was expected. nil where there is none that passes the same
// rows.
func (p *planner) turnTo(s *state, l *pnode, u *unit, on []plan.Expr, x *path, n *plan.LookupJoin) *plan.Turn {
	r := u.rel
	if p.NoOptimizer || r.table.Cluster != nil {
		return nil
	}
	t := &plan.Turn{PerRow: costStart, PerFound: costGet}
	if n.Index == nil || n.IndexOnly { // see lookupCost
		t.PerRow, t.PerFound = costStart+costGet, 1
	}
	lay, cols := layout{}, slices.Clone(n.Cols)
	for i, c := range cols {
		lay[[2]int{r.id, c}] = i
	}
	add := func(c int) {
		if _, has := lay[[2]int{r.id, c}]; !has {
			lay[[2]int{r.id, c}] = len(cols)
			cols = append(cols, c)
		}
	}
	for i, e := range x.ranges[0].Eq {
		if relsOf(e).empty() {
			continue // its condition is one of the filter
		}
		c := x.keyCol(r.table, i)
		if c < 0 {
			return nil
		}
		a, b, ok := p.keyPair(e, &plan.Var{At: plan.At{T: r.cols[c].T, Off: -1}, Rel: r.id, Col: c, Name: r.cols[c].Name})
		if !ok || hasSub(a) {
			return nil
		}
		add(c)
		t.LeftKeys, t.RightKeys = append(t.LeftKeys, p.place(a, l.lay)), append(t.RightKeys, p.place(b, lay))
	}
	var filter []plan.Expr
	for _, c := range slices.Concat(u.local, on) {
		if !s.entries(c).within(u.rels) {
			continue
		}
		if hasSub(c) || volatileCall(c) {
			return nil
		}
		filter = append(filter, c)
		for _, c := range inOrder(withTested(r, []plan.Expr{c}, nil, nil)) {
			add(c)
		}
	}
	sc := &plan.Scan{Table: r.table, Alias: r.alias, Access: plan.FullScan, Cols: cols, Parts: p.partsOf(r, cols)}
	sc.Common.Cols = slices.Grow(sc.Common.Cols, len(cols))
	for _, c := range cols {
		sc.Common.Cols = append(sc.Common.Cols, outCol(r, c))
	}
	if c := conjunction(byCost(filter)); c != nil {
		sc.Filter = p.place(c, lay)
	}
	all := p.tableRows(r.table)
	sc.Rows, sc.Cost, sc.Step = max(1, all*p.jointSelectivity(filter, s.b.rels)), costStart+all, "join"
	t.Right = sc
	t.Cost = sc.Cost + sc.Rows*costBuild
	return t
}

// keyCol is the column of a table that is the i-th of a path's file, negative if it is an
// expression.
func (x *path) keyCol(t *catalog.Table, i int) int {
	if x.index == nil {
		return t.PK[i]
	}
	return x.index.Keys[i].Col
}
