package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// unit is what join ordering moves around: one planned entry of FROM, or an
// outer join as a whole.
type unit struct {
	node  *pnode
	rels  relSet
	rel   *rel        // a single entry
	item  *joinItem   // a join to be planned under its LATERAL parameters
	local []plan.Expr // its own conjuncts
	after relSet      // entries that must be joined before (LATERAL)
	semi  bool        // the query of a semi join
}

// stepFilter is the first step: conjuncts go down to the entries that can
// answer them, and every entry gets its access path.
func (p *planner) stepFilter(s *state) {
	blockNeeds(s)
	s.conj = p.factorOrs(p.simplify(s.b.where))
	s.conj = append(s.conj, p.carryInto(s)...)
	s.units = p.flatten(s, s.b.from)
	s.conj = append(s.conj, p.impliedByOrs(s)...)
	p.planUnits(s)
}

// planUnits distributes the conjuncts and plans what is not planned yet.
// LATERAL entries wait for the join that sets their parameters.
func (p *planner) planUnits(s *state) {
	p.distribute(s)
	p.carryOver(s)
	p.stepCluster(s)
	for _, c := range s.conj {
		needOf(c, s.need)
	}
	for _, u := range s.units {
		switch {
		case u.node != nil:
		case !u.after.empty():
			for _, c := range u.local {
				needOf(c, s.need)
			}
			u.node = &pnode{rows: 10, cost: 10}
		default:
			u.node = p.planUnit(s, u)
		}
		u.node.rels = u.rels
	}
}

// flatten collects inner joins into units and their conditions into conj.
func (p *planner) flatten(s *state, items []*joinItem) []*unit {
	var units []*unit
	var walk func(j *joinItem, among bool) // among: with others beside it
	walk = func(j *joinItem, among bool) {
		if j.rel != nil {
			u := &unit{rel: j.rel, rels: relSetOf(j.rel.id), local: j.rel.restricted(nil)}
			if j.rel.lateral {
				u.after = p.lateralDeps(s, j.rel)
			}
			units = append(units, u)
			return
		}
		if j.kind != plan.Inner {
			p.reduce(s, j)
		}
		if j.kind == plan.Inner {
			on := p.factorOrs(p.simplify(j.on))
			n := len(s.above)
			s.above = append(s.above, on...)
			walk(j.l, true)
			walk(j.r, true)
			s.above = s.above[:n]
			s.conj = append(s.conj, on...)
			return
		}
		l, r := j.l, j.r
		if j.kind == plan.Right {
			l, r = r, l
		}
		if p.unmatched(s, j, l, r) {
			walk(l, among)
			return
		}
		if p.waits(s, j, r, among) {
			m := p.leftSide(s, j, l, r)
			walk(l, true)
			s.lefts = append(s.lefts, m)
			return
		}
		if deps := p.outerDeps(s, j); !deps.empty() {
			units = append(units, &unit{item: j, rels: j.ids(), after: deps})
			return
		}
		units = append(units, p.outerUnit(s, j))
	}
	for _, j := range items {
		walk(j, len(items) > 1)
	}
	return units
}

func (p *planner) lateralDeps(s *state, r *rel) relSet {
	in := relsWithin(r.query)
	for _, f := range r.funcs {
		in.addAll(relsOf(f))
	}
	return in.keep(func(id int) bool { return s.b.rels[id] != nil && id != r.id })
}

// outerDeps are the entries outside of a join that LATERAL entries in it read, or its
// conditions, which have come there from such an entry.
func (p *planner) outerDeps(s *state, j *joinItem) relSet {
	var deps relSet
	j.each(func(j *joinItem) {
		if j.rel != nil && j.rel.lateral {
			deps.addAll(p.lateralDeps(s, j.rel))
		}
		for _, c := range j.on {
			deps.addAll(relsOf(c))
		}
	})
	own := j.ids()
	return deps.keep(func(id int) bool { return !own.has(id) && s.b.rels[id] != nil })
}

// reduce turns an outer join into a stricter one when a condition above it, also that of a
// join, rejects the rows that it would pad with NULLs.
func (p *planner) reduce(s *state, j *joinItem) {
	if p.NoOptimizer {
		return
	}
	rejects := func(side *joinItem) bool {
		ids := side.ids()
		reject := func(c plan.Expr) bool { return nullRejecting(c, ids) }
		return slices.ContainsFunc(s.conj, reject) || slices.ContainsFunc(s.above, reject)
	}
	switch j.kind {
	case plan.Left:
		if rejects(j.r) {
			j.kind = plan.Inner
		}
	case plan.Right:
		if rejects(j.l) {
			j.kind = plan.Inner
		}
	case plan.Full:
		l, r := rejects(j.l), rejects(j.r)
		switch {
		case l && r:
			j.kind = plan.Inner
		case l:
			j.kind = plan.Left
		case r:
			j.kind = plan.Right
		}
	}
}

// nullRejecting reports whether c cannot be true when all columns of ids are NULL.
func nullRejecting(c plan.Expr, ids relSet) bool {
	switch x := c.(type) {
	case *plan.Call:
		if !x.Proc.Strict || x.T.OID != types.OBool {
			return false
		}
		for _, a := range x.Args {
			if strictVar(a, ids) {
				return true
			}
		}
	case *plan.And:
		return slices.ContainsFunc(x.Args, func(a plan.Expr) bool { return nullRejecting(a, ids) })
	case *plan.Or:
		return !slices.ContainsFunc(x.Args, func(a plan.Expr) bool { return !nullRejecting(a, ids) })
	case *plan.Is:
		return x.Test == plan.IsNull && x.Not && strictVar(x.X, ids)
	case *plan.InList:
		return !x.Not && strictVar(x.X, ids)
	case *plan.AnyArray:
		return !x.All && strictVar(x.X, ids)
	case *plan.Var:
		return ids.has(x.Rel)
	}
	return false
}

// strictVar reports whether e is NULL whenever the columns of ids are.
func strictVar(e plan.Expr, ids relSet) bool {
	switch x := e.(type) {
	case *plan.Var:
		return ids.has(x.Rel)
	case *plan.Relabel:
		return strictVar(x.X, ids)
	case *plan.CoerceMod:
		return strictVar(x.X, ids)
	case *plan.CoerceIO:
		return strictVar(x.X, ids)
	case *plan.Call:
		if !x.Proc.Strict {
			return false
		}
		return slices.ContainsFunc(x.Args, func(a plan.Expr) bool { return strictVar(a, ids) })
	}
	return false
}

// distribute moves each conjunct that reads one unit alone to that unit.
func (p *planner) distribute(s *state) {
	var rest []plan.Expr
	for _, c := range s.conj {
		in := s.entries(c)
		var home *unit
		if !in.empty() && !volatileCall(c) {
			for _, u := range s.units {
				if in.within(u.rels) {
					home = u
				}
			}
		}
		if home == nil || home.node != nil && home.rel == nil && p.NoOptimizer {
			rest = append(rest, c)
			continue
		}
		if home.node != nil { // an outer join: on top of it
			home.node = p.filterOn(s, home.node, []plan.Expr{c})
			continue
		}
		home.local = append(home.local, c)
	}
	s.conj = rest
}

func volatileCall(e plan.Expr) bool {
	v := false
	plan.Visit(e, func(x plan.Expr) bool {
		if c, ok := x.(*plan.Call); ok {
			v = v || c.Proc.Volatile == 'v'
		}
		return !v
	})
	return v
}

// reads reports whether e reads a column of the rels.
func reads(e plan.Expr, rels relSet) bool { return relsOf(e).meets(rels) }

// entries are the entries of the block's FROM that an expression reads.
func (s *state) entries(e plan.Expr) relSet { return s.b.own(relsOf(e)) }

// own are those of the entries that the block has.
func (b *block) own(in relSet) relSet {
	return in.keep(func(id int) bool { return b.rels[id] != nil })
}

// filterOn puts conjuncts on top of a node.
func (p *planner) filterOn(s *state, n *pnode, conj []plan.Expr) *pnode {
	if len(conj) == 0 {
		return n
	}
	c := p.place(conjunction(byCost(conj)), n.lay)
	rows := n.rows
	for _, x := range conj {
		rows *= p.selectivity(x, s.b.rels)
	}
	f := &plan.Filter{Input: n.node, Cond: c}
	out := *n
	out.rows, out.node, out.base, out.group = max(rows, 1), f, nil, nil
	f.Rows, f.Cost, f.Cols, f.Step = out.rows, n.cost, n.node.Base().Cols, "filter"
	return &out
}

// outerUnit plans an outer join as a unit. Conjuncts on the preserved side
// alone go below it (P4).
func (p *planner) outerUnit(s *state, j *joinItem) *unit {
	l, r, kind := j.l, j.r, j.kind
	if kind == plan.Right {
		l, r, kind = j.r, j.l, plan.Left
	}
	lids, rids := l.ids(), r.ids()
	own := func(c plan.Expr, of relSet) bool {
		in := s.entries(c)
		return !in.empty() && in.within(of) && !volatileCall(c)
	}
	var down, up, rdown, on []plan.Expr
	for _, c := range s.conj {
		if kind == plan.Left && own(c, lids) && !p.NoOptimizer {
			down = append(down, c)
		} else {
			up = append(up, c)
			if reads(c, lids) || reads(c, rids) {
				needOf(c, s.need) // it is applied above: the sides deliver what it reads
			}
		}
	}
	for _, c := range p.factorOrs(j.on) {
		if kind == plan.Left && own(c, rids) && !p.NoOptimizer {
			rdown = append(rdown, c)
		} else {
			on = append(on, c)
		}
	}
	s.conj = up
	var above []plan.Expr // rejects rows of the preserved side as they are
	if kind == plan.Left {
		above = slices.Concat(s.above, up)
	}
	lp := p.planPart(s, []*joinItem{l}, down, above)
	u := &unit{rels: lids.union(rids)}
	if !p.outerDeps(s, r).empty() {
		ru := &unit{rel: r.rel, rels: rids, local: r.rel.restricted(rdown)}
		if r.rel == nil {
			ru.item = r
		}
		u.node = p.applyJoin(s, kind, lp, ru, on)
		return u
	}
	if kind == plan.Left {
		if u.node = p.clusterLeft(s, l, lp, down, r, rdown, on); u.node != nil {
			return u
		}
	}
	if kind == plan.Left && r.rel != nil {
		rdown = append(rdown, p.carry(r.rel, down, on)...)
	}
	above = nil
	if kind == plan.Left {
		above = on // other rows of this side find no partner
	}
	rp := p.planPart(s, []*joinItem{r}, rdown, above)
	u.node = p.joinNodes(s, kind, lp, rp, on, nil, p.unitOf(r, rdown), 0)
	return u
}

// unitOf describes a single base table on the inner side of a join, for lookups.
func (p *planner) unitOf(j *joinItem, local []plan.Expr) *unit {
	if j.rel == nil || j.rel.table == nil {
		return nil
	}
	return &unit{rel: j.rel, rels: relSetOf(j.rel.id), local: j.rel.ordered(j.rel.restricted(local))}
}

// planTree plans a part of the FROM clause on its own.
func (p *planner) planTree(s *state, items []*joinItem, conj []plan.Expr) *pnode {
	return p.planPart(s, items, conj, nil)
}

// planPart is planTree under conditions of joins above, which reject rows as conj does.
func (p *planner) planPart(s *state, items []*joinItem, conj, above []plan.Expr) *pnode {
	sub := &state{q: s.q, b: s.b, need: s.need, conj: conj, above: above, part: true, lead: s.lead}
	sub.units = p.flatten(sub, items)
	p.planUnits(sub)
	p.stepJoinOrder(sub)
	p.stepJoin(sub)
	return sub.cur
}

// planUnit plans one entry of FROM under its own conjuncts.
func (p *planner) planUnit(s *state, u *unit) *pnode {
	if u.item != nil {
		return p.planTree(s, []*joinItem{u.item}, u.local)
	}
	r := u.rel
	u.local = r.ordered(u.local)
	if r.tree != nil {
		return p.planMembers(s, u)
	}
	if r.table != nil {
		return p.planScan(s, u, nil)
	}
	for _, c := range u.local {
		needOf(c, s.need)
	}
	cols := inOrder(s.need[r.id])
	n := &pnode{lay: layout{}, rels: u.rels}
	switch {
	case r.virt != nil:
		v := &plan.VirtualScan{Rel: r.virt, Alias: r.alias}
		for i, c := range cols {
			n.lay[[2]int{r.id, c}] = i
			v.Cols = append(v.Cols, c)
			v.Common.Cols = append(v.Common.Cols, r.cols[c])
		}
		rest := p.virtualKeys(r, v, u.local)
		v.Step, v.Rows, v.Total = "filter", 5, p.virtualRows(r.virt)
		if v.KeyCols == nil {
			v.Rows = v.Total
		}
		v.Cost = v.Rows
		if x := conjunction(byCost(rest)); x != nil {
			v.Filter = p.place(x, n.lay)
		}
		n.node, n.rows, n.cost = v, v.Rows, v.Cost
		return n
	case r.seq != nil:
		v := &plan.SequenceScan{Seq: r.seq}
		v.Cols = r.cols
		for c := range r.cols {
			n.lay[[2]int{r.id, c}] = c
		}
		v.Rows = 1
		n.node, n.rows, n.cost = v, 1, 1
	case r.query != nil:
		p.pushIntoQuery(u)
		p.dropUnread(r.query, s.need[r.id])
		if n.order = p.passesOn(s, u); n.order == nil {
			n.order = p.passesOrder(s, u)
		}
		n.node = p.planQuery(r.query)
		if n.order == nil {
			n.order = p.orderOf(r)
		}
		for c := range r.cols {
			n.lay[[2]int{r.id, c}] = c
		}
		n.rows, n.cost = n.node.Base().Rows, n.node.Base().Cost
	case r.funcs != nil:
		v := &plan.FuncScan{Funcs: p.planExprs(r.funcs, nil), FuncCols: r.fcols, Ordinality: r.ordinality || r.numbered}
		v.Cols = r.cols
		for c := range r.cols {
			n.lay[[2]int{r.id, c}] = c
		}
		v.Rows = functionRows(r.funcs)
		v.Cost = v.Rows
		n.node, n.rows, n.cost = v, v.Rows, v.Cost
	default: // VALUES
		v := &plan.Values{}
		for _, row := range s.b.values {
			v.Rows = append(v.Rows, p.planExprs(row, nil))
		}
		v.Cols = r.cols
		for c := range r.cols {
			n.lay[[2]int{r.id, c}] = c
		}
		v.Common.Rows = float64(len(v.Rows))
		n.node, n.rows, n.cost = v, v.Common.Rows, v.Common.Rows
	}
	return p.filterOn(s, n, u.local)
}

func hasSub(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		if _, ok := x.(*subquery); ok {
			found = true
		}
		return !found
	})
	return found
}
