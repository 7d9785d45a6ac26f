package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// noInput is the input of a query without FROM.
func noInput() *pnode {
	v := &plan.Values{Rows: [][]plan.Expr{{}}}
	v.Common.Rows, v.Common.Cost = 1, 0
	return &pnode{node: v, lay: layout{}, rows: 1}
}

// stepJoin is the third step: it builds the join tree, choosing for each join
// a hash table in memory (spilled when over budget), lookups, or pairs.
func (p *planner) stepJoin(s *state) {
	if len(s.units) == 0 {
		s.cur = noInput()
	} else {
		if !s.part {
			p.placeSemis(s)
		}
		s.cur = p.buildJoin(s, s.order[0])
	}
	for _, m := range s.lefts {
		s.cur = p.semiJoin(s, s.cur, m)
	}
	s.cur = p.filterOn(s, s.cur, s.conj)
	s.conj = nil
	if s.part {
		return
	}
	for _, m := range s.b.semis {
		s.cur = p.semiJoin(s, s.cur, m)
	}
	s.b.semis = nil
}

// buildJoin plans a subtree of the chosen join tree and the semi joins on it.
func (p *planner) buildJoin(s *state, j *joinStep) *pnode {
	n := p.buildStep(s, j)
	for _, m := range s.semis[j] {
		n = p.semiJoin(s, n, m)
	}
	return n
}

func (p *planner) buildStep(s *state, j *joinStep) *pnode {
	if j.unit != nil {
		return j.unit.node
	}
	l := p.buildJoin(s, j.l)
	if j.semi != nil {
		return p.semiJoin(s, l, j.semi)
	}
	var ru *unit
	if j.r.unit != nil && len(s.semis[j.r]) == 0 {
		ru = j.r.unit
	}
	var r *pnode
	var right relSet
	if ru != nil {
		right = ru.rels
	} else {
		r = p.buildJoin(s, j.r)
		right = r.rels
	}
	rels := l.rels.union(right)
	// conjuncts that can be applied here
	var on, rest []plan.Expr
	for _, c := range s.conj {
		in := s.entries(c)
		if !in.empty() && in.within(rels) && !volatileCall(c) {
			on = append(on, c)
		} else {
			rest = append(rest, c)
		}
	}
	s.conj = rest
	on = s.onceEach(on, l.rels, right)
	if ru != nil {
		if !ru.after.empty() {
			return p.applyJoin(s, plan.Inner, l, ru, on)
		}
		r = ru.node
	}
	var lu *unit
	if j.l.unit != nil && len(s.semis[j.l]) == 0 && j.l.unit.after.empty() {
		lu = j.l.unit
	}
	return p.joinNodes(s, plan.Inner, l, r, on, lu, ru, j.rows)
}

// joinNodes joins two planned sides on conjuncts. lu and ru are the sides that are single
// entries, which may be read anew for each row of the other; nil: they are not. joined is
// the number of rows, if the join order has told it.
func (p *planner) joinNodes(s *state, kind plan.JoinKind, l, r *pnode, on []plan.Expr, lu, ru *unit, joined float64) *pnode {
	out := &pnode{lay: layout{}, rels: l.rels.union(r.rels)}
	rows := l.rows * r.rows
	var equi []plan.Expr
	for _, c := range on {
		if _, _, ok := equality(c); ok {
			equi = append(equi, c)
			continue
		}
		rows *= p.selectivity(c, s.b.rels)
	}
	rows *= p.equiShare(s, equi, l, r)
	switch kind {
	case plan.Left:
		rows = max(rows, l.rows)
	case plan.Full:
		rows = max(rows, max(l.rows, r.rows))
	case plan.Semi, plan.Anti:
		rows = l.rows * p.semiShare(s, kind, on, r)
	}
	if joined > 0 {
		rows = joined
	}
	out.rows = max(rows, 1)
	// lookups, when the outer side is small against the inner one
	if ru != nil && !p.NoOptimizer && kind != plan.Full && kind != plan.Right {
		if x := p.lookupPath(s, ru, append(slices.Clone(on), ru.local...), l.rels); x != nil {
			hash := r.cost + l.rows*costHash + r.rows*costBuild
			if l.rows*p.lookupCostOf(s, kind, ru, on, x) < hash || s.leads(l.rels) {
				return p.lookupJoin(s, kind, l, ru, on, x, out)
			}
		}
	}
	var lk, rk, residual []plan.Expr
	late := p.lateKeys(s, equi, l, r)
	for _, c := range on {
		if a, b, ok := p.splitEq(c, l.rels, r.rels); ok && !p.NoOptimizer && !slices.Contains(late, c) {
			lk, rk = append(lk, a), append(rk, b)
		} else {
			residual = append(residual, c)
		}
	}
	both := layout{}
	maps.Copy(both, l.lay)
	width := len(l.node.Base().Cols)
	for k, v := range r.lay {
		both[k] = width + v
	}
	cols := append(slices.Clone(l.node.Base().Cols), r.node.Base().Cols...)
	if kind == plan.Semi || kind == plan.Anti {
		out.lay, cols = l.lay, l.node.Base().Cols
	} else {
		out.lay = both
	}
	var cond plan.Expr
	if x := conjunction(byCost(residual)); x != nil {
		cond = p.place(x, both)
	}
	out.cost = l.cost + r.cost
	if len(lk) > 0 {
		h := &plan.HashJoin{Kind: kind, Left: l.node, Right: r.node, Residual: cond}
		h.LeftKeys, h.RightKeys = p.planExprs(lk, l.lay), p.planExprs(rk, r.lay)
		h.Ahead = kind != plan.Full && kind != plan.Right && lookedUp(h.Right, h.RightKeys, l.rows, r.cost)
		turn := false
		switch {
		case kind != plan.Inner:
		case lookedUp(h.Left, h.LeftKeys, r.rows, l.cost):
			turn = !h.Ahead || r.rows < l.rows
			h.Ahead = true
		case !h.Ahead:
			turn = unkeyed(l.node) && !unkeyed(r.node) || l.rows <= fewBeside && sortedRows(r.node) && !sortedRows(l.node)
		}
		if turn || kind == plan.Left && !h.Ahead && r.rows > 4*l.rows && r.rows > 1000 {
			if !turn {
				h.Kind = plan.Right
			}
			h.Left, h.Right = r.node, l.node
			h.LeftKeys, h.RightKeys = h.RightKeys, h.LeftKeys
			flip := layout{}
			rw := len(r.node.Base().Cols)
			maps.Copy(flip, r.lay)
			for k, v := range l.lay {
				flip[k] = rw + v
			}
			if x := conjunction(byCost(residual)); x != nil {
				h.Residual = p.place(x, flip)
			}
			out.lay = flip
			cols = append(slices.Clone(r.node.Base().Cols), l.node.Base().Cols...)
		}
		out.cost += l.rows*costHash + r.rows*costBuild + out.rows*0.5
		h.Rows, h.Cost, h.Cols, h.Step = out.rows, out.cost, cols, "join"
		p.narrowProbe(h)
		out.node = h
		return out
	}
	pairs := l.rows * r.rows * pairCost(on)
	x := p.rangeApply(s, kind, l, ru, on, r.cost+pairs, out.rows)
	if kind == plan.Inner {
		if y := p.rangeApply(s, kind, r, lu, on, l.cost+pairs, out.rows); y != nil && (x == nil || y.cost < x.cost) {
			x = y
		}
	}
	if x != nil {
		return x
	}
	n := &plan.LoopJoin{Kind: kind, Left: l.node, Right: r.node, Cond: cond}
	out.cost += l.rows*r.rows*costPair + out.rows*0.5
	n.Rows, n.Cost, n.Cols, n.Step = out.rows, out.cost, cols, "join"
	out.node = n
	return out
}

// fewBeside is how many rows a subquery's order is worth a hash table of: clients rely on it
// that the rows of (… ORDER BY … LIMIT 10) AS page JOIN … come as those of the page.
const fewBeside = 1000

// sortedRows reports whether a plan's rows come sorted, as a subquery with ORDER BY has them.
func sortedRows(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Project:
		return sortedRows(n.Input)
	case *plan.Limit:
		return sortedRows(n.Input)
	case *plan.Sort:
		return true
	}
	return false
}

// equiShare estimates the share of pairs of two sides for which all equalities hold.
func (p *planner) equiShare(s *state, equi []plan.Expr, l, r *pnode) float64 {
	share := 1.0
	for _, c := range equi {
		a, b, _ := equality(c)
		share /= max(1, max(p.distinctIn(a, s, l, r), p.distinctIn(b, s, l, r)))
	}
	return max(share, p.leastEquiSel(equi, max(l.rows, r.rows), s.b.rels))
}

// lateKeys are the equalities that read values from texts where the others leave no more
// pairs than there are rows. They are tested on those pairs and are no keys of a hash
// join, which would read every text, those too that are no such value:
//
//	f.id = v.field AND d.due = v.content::date
func (p *planner) lateKeys(s *state, equi []plan.Expr, l, r *pnode) []plan.Expr {
	var late, keys []plan.Expr
	for _, c := range equi {
		if p.readsText(c) {
			late = append(late, c)
		} else if _, _, ok := p.splitEq(c, l.rels, r.rels); ok {
			keys = append(keys, c)
		}
	}
	if len(late) == 0 || len(keys) == 0 || l.rows*r.rows*p.equiShare(s, keys, l, r) > l.rows+r.rows {
		return nil
	}
	return late
}

// readsText reports whether e converts a text that is no constant to another kind of value.
func (p *planner) readsText(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		if c, ok := x.(*plan.CoerceIO); ok && !c.Literal {
			found = found || p.info(c.X.Type().OID).Category == 'S' && p.info(c.T.OID).Category != 'S'
		}
		return !found
	})
	return found
}

func (p *planner) distinctIn(e plan.Expr, s *state, l, r *pnode) float64 {
	rows := l.rows
	if v, ok := bareVar(e); ok && r.rels.has(v.Rel) {
		rows = r.rows
	}
	return min(p.distinct(e, s.b.rels, rows), max(rows, 1))
}

// splitEq splits an equality into a key of each side. Both sides of a hash key
// must have one representation, so mixed widths are widened.
func (p *planner) splitEq(c plan.Expr, lr, rr relSet) (a, b plan.Expr, ok bool) {
	l, r, ok := equality(c)
	if !ok {
		return nil, nil, false
	}
	side := func(e plan.Expr) int {
		in := relsOf(e)
		inL, inR := in.meets(lr), in.meets(rr)
		switch {
		case inL && inR:
			return 3
		case inL:
			return 1
		case inR:
			return 2
		}
		return 0
	}
	sl, sr := side(l), side(r)
	switch {
	case sl == 1 && sr == 2:
		a, b = l, r
	case sl == 2 && sr == 1:
		a, b = r, l
	default:
		return nil, nil, false
	}
	if volatileWithin(a) || volatileWithin(b) {
		return nil, nil, false
	}
	return p.keyPair(a, b)
}

// keyPair gives the two sides of an equality one representation, in which equal
// values have equal hashes.
func (p *planner) keyPair(a, b plan.Expr) (plan.Expr, plan.Expr, bool) {
	at, bt := a.Type(), b.Type()
	if at.OID == bt.OID {
		return a, b, hashable(at)
	}
	if at.Kind() == bt.Kind() && at.OID != types.OBpchar && bt.OID != types.OBpchar {
		return a, b, hashable(at)
	}
	if integer(at) && integer(bt) {
		return p.must(a, types.TInt8, implicit), p.must(b, types.TInt8, implicit), true
	}
	isFloat := func(t types.T) bool { k := t.Kind(); return k == types.KFloat4 || k == types.KFloat8 }
	if isFloat(at) && isFloat(bt) {
		return p.must(a, types.TFloat8, implicit), p.must(b, types.TFloat8, implicit), true
	}
	if finerTime(at, bt) {
		x, _ := p.keyBound(bt, a, "=")
		return x, b, true
	}
	if finerTime(bt, at) {
		x, _ := p.keyBound(at, b, "=")
		return a, x, true
	}
	return nil, nil, false
}

// finerTime reports whether every time of type a is one of type b.
func finerTime(a, b types.T) bool {
	ak, bk := a.Kind(), b.Kind()
	return ak == types.KDate && bk == types.KTimestamp || bk == types.KTimestamptz && (ak == types.KDate || ak == types.KTimestamp)
}

func hashable(t types.T) bool {
	switch t.Kind() {
	case types.KRecord, types.KJSON, types.KGeometry, types.KInvalid:
		return false
	}
	return true
}

// lookupPath finds the master key or index of u by which rows of the outer
// entries find their matches. What they look for may be what subqueries say of them.
func (p *planner) lookupPath(s *state, u *unit, conj []plan.Expr, outer relSet) *path {
	r := u.rel
	if r == nil || r.table == nil || r.tree != nil || r.lateral || r.cursor != "" {
		return nil
	}
	known := p.boundsBy(r, conj, func(x plan.Expr) bool {
		return s.entries(x).within(outer) && !volatileWithin(x)
	})
	known = slices.DeleteFunc(known, func(b bound) bool { return b.kind != "eq" || !b.exact })
	rows := p.tableRows(r.table)
	joins := func(x *path) bool {
		for _, e := range x.ranges[0].Eq {
			if !relsOf(e).empty() {
				return true
			}
		}
		return false
	}
	var best *path
	try := func(x *path) {
		if x != nil && joins(x) && (best == nil || x.rows < best.rows) {
			best = x
		}
	}
	if r.table.KeyIsRowKey() {
		keys := make([]catalog.IndexKey, len(r.table.PK))
		for i, c := range r.table.PK {
			keys[i] = catalog.IndexKey{Col: c}
		}
		try(p.match(r, nil, keys, true, known, rows))
	}
	for _, ix := range r.table.Indexes {
		if ix.Primary && r.table.KeyIsRowKey() || !p.readable(ix) || ix.Where != "" || ix.ByElements(r.table) {
			continue
		}
		try(p.match(r, ix, ix.Keys, ix.Unique && !r.table.Deferrable(ix), known, rows))
	}
	return best
}

func (p *planner) lookupJoin(s *state, kind plan.JoinKind, l *pnode, u *unit, on []plan.Expr, x *path, out *pnode) *pnode {
	r := u.rel
	n := &plan.LookupJoin{Kind: kind, Left: l.node, Table: r.table, Alias: r.alias, Index: x.index}
	n.Keys = p.planExprs(x.ranges[0].Eq, l.lay)
	conj := slices.Concat(u.local, on)
	var entry []plan.Expr
	for _, c := range conj {
		switch {
		case x.answers(c):
		case p.onEntry(r, x, c):
			entry = append(entry, c)
		default:
			needOf(c, s.need)
		}
	}
	n.EntryFilter, n.EntryCols = p.entryFilter(r, entry)
	inner := layout{}
	both := maps.Clone(l.lay)
	width := len(l.node.Base().Cols)
	cols := slices.Clone(l.node.Base().Cols)
	n.Cols = inOrder(s.need[r.id])
	for i, c := range n.Cols {
		inner[[2]int{r.id, c}] = i
		both[[2]int{r.id, c}] = width + i
		cols = append(cols, outCol(r, c))
	}
	n.Parts = p.partsOf(r, n.Cols)
	var filter, residual []plan.Expr
	for _, c := range conj {
		if x.answers(c) || slices.Contains(entry, c) {
			continue
		}
		in := s.entries(c)
		if in.within(u.rels) {
			filter = append(filter, c)
		} else {
			residual = append(residual, c)
		}
	}
	if c := conjunction(byCost(filter)); c != nil {
		n.Filter = p.place(c, inner)
	}
	if c := conjunction(byCost(residual)); c != nil {
		n.Residual = p.place(c, both)
	}
	out.lay = both
	if kind == plan.Semi || kind == plan.Anti {
		out.lay, cols = l.lay, l.node.Base().Cols
	}
	out.order = l.order
	out.cost = l.cost + l.rows*p.lookupCostOf(s, kind, u, on, x)
	n.IndexOnly = x.index != nil && p.covers(r.table, x.index, s.need[r.id])
	n.Turn = p.turnTo(s, l, u, on, x, n)
	n.Rows, n.Cost, n.Common.Cols, n.Step = out.rows, out.cost, cols, "join"
	out.node = n
	return out
}

// applyJoin joins a LATERAL entry: it runs once per outer row.
func (p *planner) applyJoin(s *state, kind plan.JoinKind, l *pnode, u *unit, on []plan.Expr) *pnode {
	n := &plan.Apply{Kind: kind, Left: l.node}
	item := u.item
	if item == nil {
		item = &joinItem{rel: u.rel}
	}
	refs := p.outerParams(&query{block: &block{from: []*joinItem{item}}}, l.lay)
	n.Outer = subParams(refs, l.lay)
	right := p.planUnit(s, u)
	n.Right = p.keepParts(right.node)
	out := &pnode{lay: maps.Clone(l.lay), rels: l.rels.union(u.rels), order: l.order}
	width := len(l.node.Base().Cols)
	for k, v := range right.lay {
		out.lay[k] = width + v
	}
	if c := conjunction(byCost(on)); c != nil {
		n.Cond = p.place(c, out.lay)
	}
	out.rows, out.cost = max(1, l.rows*right.rows*0.5), l.cost+l.rows*max(1, right.cost)
	n.Rows, n.Cost, n.Step = out.rows, out.cost, "join"
	n.Cols = append(slices.Clone(l.node.Base().Cols), right.node.Base().Cols...)
	out.node = n
	return out
}

// semiJoin joins a node with the query of an EXISTS or IN.
func (p *planner) semiJoin(s *state, l *pnode, m *semi) *pnode {
	r := m.inner
	if r == nil {
		side := p.semiSide(s, m)
		r = &side
	}
	n := p.joinNodes(s, m.kind, l, r.node, m.conds, nil, r.unit, 0)
	if h, ok := n.node.(*plan.HashJoin); ok && m.nullAware {
		h.NullAware = true
	}
	return n
}
