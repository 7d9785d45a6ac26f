package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// stepSort is the fifth step: the select list, DISTINCT, ORDER BY and LIMIT.
// The sort is dropped when the input comes in the wanted order.
func (p *planner) stepSort(s *state) {
	p.nearest(s)
	b, q, in := s.b, s.q, s.cur
	presorted := p.inOrder(s)
	sorted := presorted > 0 && presorted == len(q.sort)
	if presorted > 0 {
		keepOrder(in.node)
	}
	if sorted {
		p.note("sort", "dropped: the access path delivers the order")
	}
	lockKeys := p.lockTargets(s)
	p.placeTargets(s, lockKeys)
	late, sets := p.lateTargets(s, sorted), lateSets(s, sorted)
	var cols []plan.OutCol
	var at []int
	var lay layout
	var n plan.Node
	switch {
	case late != nil:
		n, at, lay = p.earlyPart(s, late)
		cols = n.Base().Cols
	case sets != nil:
		n, at, lay = p.earlyPart(s, sets)
		cols = n.Base().Cols
	default:
		n = p.projectTargets(s)
		cols = n.Base().Cols
	}
	if b.distinct && b.distinctOn == nil {
		d := &plan.Distinct{Input: n, On: p.tellingColumns(b)}
		if d.Ordered, sorted = p.distinctInOrder(s); d.Ordered {
			keepOrder(in.node)
		}
		d.Rows, d.Cost, d.Cols, d.Step = max(1, in.rows*0.5), in.cost+in.rows, cols, "group by"
		n = d
	}
	var keys []plan.SortKey
	key := func(k sortKey) plan.SortKey {
		i := k.target
		if at != nil {
			i = at[i]
		}
		return plan.SortKey{X: &plan.Col{At: plan.At{T: cols[i].T, Off: -1}, Idx: i, Name: cols[i].Name}, Desc: k.desc, NullsFirst: k.nullsFirst}
	}
	if !sorted {
		for _, k := range q.sort {
			keys = append(keys, key(k))
		}
	}
	if b.distinctOn != nil {
		// the first row of each group in the wanted order
		if !sorted {
			so := &plan.Sort{Input: n, Keys: keys, Presorted: presorted, Stable: true}
			so.Rows, so.Cost, so.Cols, so.Step = in.rows, in.cost+in.rows*costSort, cols, "sort"
			if so.FirstOf = leading(q.sort, b.distinctOn); so.FirstOf > 0 && !p.NoOptimizer {
				so.First = 1
			}
			n = so
		}
		d := &plan.Distinct{Input: n, On: b.distinctOn, Ordered: true}
		if at != nil {
			d.On = make([]int, len(b.distinctOn))
			for i, t := range b.distinctOn {
				d.On[i] = at[t]
			}
		}
		d.Rows, d.Cost, d.Cols, d.Step = max(1, in.rows*0.5), n.Base().Cost, cols, "group by"
		n, keys = d, nil
	}
	if sets != nil {
		if len(keys) > 0 {
			so := &plan.Sort{Input: n, Keys: keys, Presorted: presorted}
			so.Rows, so.Cost, so.Cols, so.Step = in.rows, in.cost+in.rows*costSort, cols, "sort"
			n, keys = so, nil
		}
		n, at = p.setsAbove(s, n, sets, at, lay), nil
		cols = n.Base().Cols
	}
	q2 := *q
	if len(lockKeys) > 0 {
		q2.locks = q.locks
	} else {
		q2.locks = nil
	}
	p.lockAt, p.lockRels = lockKeys, b.rels
	skip := p.skipLate(&q2, late)
	var tie []plan.SortKey
	if q.ties {
		for _, k := range q.sort[:len(q.sort)-q.added] {
			tie = append(tie, key(k))
		}
	}
	n = p.sortLimit(n, keys, presorted, &q2, nil, cols)
	if l, ok := n.(*plan.Limit); ok && q.ties {
		l.TieKeys = tie
	}
	if q.limit != nil {
		p.hintLimit(n)
	}
	switch {
	case late != nil:
		n = skip(p.latePart(s, n, late, at, lay))
	case len(b.targets) > b.ncols:
		pr := &plan.Project{Input: n}
		out := func(i int) {
			pr.Exprs = append(pr.Exprs, &plan.Col{At: plan.At{T: cols[i].T, Off: -1}, Idx: i, Name: cols[i].Name})
			pr.Cols = append(pr.Cols, cols[i])
		}
		for i := range b.ncols {
			out(i)
		}
		p.placeHidden(s, &pr.Cols, out)
		pr.Rows, pr.Cost = n.Base().Rows, n.Base().Cost
		n = pr
	}
	s.cur = &pnode{node: n, rows: n.Base().Rows, cost: n.Base().Cost}
}

// sortForFirsts has DISTINCT ON sort by its expressions where ORDER BY does not.
func sortForFirsts(q *query) {
	b := q.block
	for _, t := range b.distinctOn {
		if !slices.ContainsFunc(q.sort, func(k sortKey) bool { return k.target == t }) {
			q.sort = append(q.sort, sortKey{target: t})
			q.added++
		}
	}
}

// projectTargets computes all targets.
func (p *planner) projectTargets(s *state) plan.Node {
	b, in := s.b, s.cur
	xs := make([]plan.Expr, len(b.targets))
	cols := make([]plan.OutCol, len(b.targets))
	plain := len(b.targets) == len(in.node.Base().Cols)
	for i := range b.targets {
		t := &b.targets[i]
		xs[i] = p.place(t.x, in.lay)
		cols[i] = t.out(xs[i])
		cols[i].Hidden = i >= b.ncols
		c, ok := xs[i].(*plan.Col)
		plain = plain && ok && c.Idx == i
	}
	switch {
	case b.hasSRF:
		return projectSets(in.node, xs, cols)
	case !plain:
		pr := &plan.Project{Input: in.node, Exprs: xs}
		pr.Rows, pr.Cost, pr.Cols = in.rows, in.cost, cols
		return pr
	}
	in.node.Base().Cols = cols
	return in.node
}

// drawnAgain reports whether a planned LIMIT may have another value when it is computed a
// second time.
func drawnAgain(e plan.Expr) bool {
	u := plan.ParamsOf(&plan.Limit{Input: &plan.Values{}, Count: e})
	return u.Volatile || u.Routines
}

// hintLimit tells the scan below a LIMIT how many rows are wanted.
func (p *planner) hintLimit(n plan.Node) {
	if l, ok := n.(*plan.Limit); ok && l.Count != nil && !drawnAgain(l.Count) && (l.Offset == nil || !volatileCall(l.Offset)) {
		hintRows(l.Input, l.Count, l.Offset)
		l.Pass = l.Offset != nil && passable(l.Input)
	}
}

// lockTargets adds the row keys of the entries to lock as hidden targets.
func (p *planner) lockTargets(s *state) map[int]int {
	out := map[int]int{}
	for _, l := range s.q.locks {
		for id := range l.rels.all() {
			if _, ok := out[id]; ok || s.b.rels[id].table == nil {
				continue
			}
			s.b.targets = append(s.b.targets, target{x: &plan.Var{At: plan.At{T: types.TBytea, Off: -1}, Rel: id, Col: plan.ColRowKey}})
			out[id] = len(s.b.targets) - 1
			if s.b.rels[id].tree != nil { // beside it, the table that the row is in
				s.b.targets = append(s.b.targets, target{x: &plan.Var{At: plan.At{T: types.TOid, Off: -1}, Rel: id, Col: plan.ColTableOID}})
			}
		}
	}
	return out
}

func (p *planner) lockRows(n plan.Node, q *query, cols []plan.OutCol) plan.Node {
	l := &plan.LockRows{Input: n}
	for _, c := range q.locks {
		for id := range c.rels.all() {
			r := p.lockRels[id]
			if r.table == nil {
				continue // its query locks
			}
			k := plan.Lock{Table: r.table, KeyCol: p.lockAt[id], Strength: c.strength, NoWait: c.noWait, SkipLocked: c.skipLocked}
			if r.tree != nil {
				k.Tree, k.OIDCol = r.tree.members, k.KeyCol+1
			}
			l.Locks = append(l.Locks, k)
		}
	}
	l.Rows, l.Cost, l.Cols = n.Base().Rows, n.Base().Cost, cols
	return l
}

// leading is how many of the first sort keys it takes to have all targets among them; 0 if
// all do not.
func leading(keys []sortKey, targets []int) int {
	n := 0
	for _, t := range targets {
		i := slices.IndexFunc(keys, func(k sortKey) bool { return k.target == t })
		if i < 0 {
			return 0
		}
		n = max(n, i+1)
	}
	return n
}
