package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// step turns its part of a block into plan nodes. The steps are the paper's,
// and EXPLAIN prints them by these names.
type step struct {
	name string
	run  func(p *planner, s *state)
}

// fiveSteps lists the steps in their order.
func fiveSteps() []step {
	return []step{
		// each conjunct goes to the first table that can answer it; the access path of each table is chosen
		{"filter", (*planner).stepFilter},
		// by estimated cost: dynamic programming up to ten relations, left and semi joins, greedy beyond
		{"join order", (*planner).stepJoinOrder},
		// in memory by hash, by lookups, or pair by pair
		{"join", (*planner).stepJoin},
		// hash or ordered aggregation, then HAVING and window functions
		{"group by", (*planner).stepGroup},
		// projection, DISTINCT, ORDER BY and LIMIT; dropped where the access path delivers the order
		{"sort", (*planner).stepSort},
	}
}

// state is a block on its way through the steps.
type state struct {
	q     *query
	b     *block
	need  map[int]map[int]bool // columns wanted, per range-table entry
	conj  []plan.Expr          // conjuncts not yet applied
	above []plan.Expr          // conditions of joins above, of which only that they reject rows matters here
	units []*unit
	lefts []*semi // left joins that wait for the join order, those first that others may read
	order []*joinStep
	cur   *pnode
	part  bool                  // a side of an outer join: the block's semi joins come above it
	semis map[*joinStep][]*semi // those that are applied within the join tree
	lead  *lead                 // the table that the join begins with, nil: any
	// the columns that are equal in several units, and the conjuncts that say so
	classes []*equalClass
	classOf map[plan.Expr]*equalClass
	// the columns that scalar subqueries became, nil for those that stay
	joined map[*query]plan.Expr
}

// pnode is a planned subtree: where its output columns are, and estimates.
type pnode struct {
	node   plan.Node
	lay    layout
	rels   relSet
	rows   float64
	cost   float64
	order  []orderCol // output order, if any
	base   *rel       // set when the node is a scan of one base table
	unique bool
	group  *clusterGroup // set when the node is a ClusterScan
}

func (p *planner) note(step, text string) {
	p.steps = append(p.steps, plan.StepNote{Step: step, Text: text})
}

// planQuery plans a bound query; the node's columns are q.cols.
func (p *planner) planQuery(q *query) plan.Node {
	switch {
	case q.ref != nil:
		return p.planRef(q)
	case q.dml != nil:
		return q.dml
	}
	p.prepareCTEs(q.ctes)
	p.checkCollations(q)
	var n plan.Node
	if q.setop != nil {
		n = p.planSetOp(q)
	} else {
		n = p.planBlock(q)
	}
	cols := q.cols
	if len(p.places) > 0 && len(n.Base().Cols) > len(cols) {
		cols = append(cols[:len(cols):len(cols)], n.Base().Cols[len(cols):]...)
	}
	n.Base().Cols = cols
	return n
}

func (p *planner) planBlock(q *query) plan.Node {
	s := &state{q: q, b: q.block, need: map[int]map[int]bool{}}
	p.blockFaults(q.block)
	if p.Consts != nil {
		p.constFault(q.block, q.limit)
		p.constFault(q.block, q.offset)
	}
	p.pullUp(q)
	p.limitLeft(q)
	s.b = q.block
	sortForFirsts(q)
	p.findParts(s)
	p.decorrelate(s)
	if s.cur = p.extremes(s); s.cur != nil {
		p.finishGroups(s)
		p.stepSort(s)
		return s.cur.node
	}
	lead := p.leadOf(s)
	if lead != nil && s.b.plannedOnce() { // which costs most where all rows are joined
		s.lead, lead = lead, nil
	}
	semis := slices.Clone(s.b.semis)
	for _, st := range fiveSteps() {
		st.run(p, s)
		switch {
		case st.name == "join" && lead != nil:
			p.joinInOrder(s, lead, semis)
		case st.name == "join" && len(semis) == 0:
			for _, l := range p.anyLeads(s) {
				p.joinInOrder(s, l, nil)
			}
		case st.name == "group by":
			p.noteOrder(s)
		}
	}
	return s.cur.node
}

// finish names the output columns of the whole statement.
func (p *planner) finish(n plan.Node, q *query) plan.Node {
	cols := q.cols
	if len(p.places) > 0 && len(n.Base().Cols) > len(cols) {
		cols = append(cols[:len(cols):len(cols)], n.Base().Cols[len(cols):]...)
	}
	n.Base().Cols = cols
	return n
}

// planRef plans a reference to a WITH query: inlined when it is read once and
// has no side effects, computed once and kept otherwise.
func (p *planner) planRef(q *query) plan.Node {
	def := q.ref
	if q.work {
		n := &plan.WorkScan{CTE: p.cte(def)}
		n.Cols, n.Rows = q.cols, 100
		return n
	}
	if p.inlined(def) {
		n := p.planQuery(def.q)
		return n
	}
	c := p.cte(def)
	n := &plan.CTEScan{CTE: c}
	n.Cols, n.Rows = c.Plan.Base().Cols, c.Plan.Base().Rows
	if len(q.cols) < len(n.Cols) {
		return firstCols(n, q.cols)
	}
	n.Cols = q.cols
	return n
}

func (p *planner) inlined(def *cteDef) bool {
	if def.dml || def.recursive {
		return false
	}
	if def.materialized != nil {
		return !*def.materialized && !def.shared()
	}
	if def.planned != nil {
		return false
	}
	return def.refs > 0 && !def.shared() && !queryVolatile(def.q)
}

// shared reports whether a WITH query is read in several places, or may be: where one is
// planned before the others are bound, it must not become a part of what reads it.
func (d *cteDef) shared() bool { return d.refs > 1 || d.named > 1 }

func queryVolatile(q *query) bool {
	v := false
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if c, ok := e.(*plan.Call); ok && c.Proc.Volatile == 'v' {
			v = true
		}
		return e
	})
	return v
}

// cte plans a kept WITH query once.
func (p *planner) cte(def *cteDef) *plan.CTE {
	if def.planned != nil {
		return def.planned
	}
	c := &plan.CTE{ID: len(p.ctes) + 1, Name: def.name, Modifying: def.dml, Recursive: def.recursive, UnionAll: def.unionAll}
	p.keepKeys(def)
	def.planned = c
	c.Plan = p.planQuery(def.q)
	if def.stepQ != nil {
		p.hashed(def)
		c.Step = p.keepInStep(p.planQuery(def.stepQ))
	}
	p.ctes = append(p.ctes, c)
	return c
}

// hashed refuses a recursive UNION of types without a hash, by which it finds the rows
// that came before.
func (p *planner) hashed(def *cteDef) {
	for _, c := range def.q.cols {
		if !def.unionAll && !p.Stored && !p.comparabilityOf(c.T).Hash {
			fail(sqlerr.New(sqlerr.FeatureNotSupported, "could not implement recursive UNION").WithDetail("All column datatypes must be hashable."))
		}
	}
}

// prepareCTEs plans the kept queries of a WITH clause in their order.
func (p *planner) prepareCTEs(defs []*cteDef) {
	for _, d := range defs {
		if d.dml || d.refs > 0 && !p.inlined(d) {
			p.cte(d)
		}
	}
}

// planSetOp plans UNION, INTERSECT and EXCEPT with their ORDER BY and LIMIT.
func (p *planner) planSetOp(q *query) plan.Node {
	var n plan.Node
	cols := q.cols
	if q.setop.op == "UNION" {
		a := &plan.Append{}
		var members []*query
		var gather func(q *query, all bool)
		gather = func(c *query, all bool) {
			if c.setop != nil && c.setop.op == "UNION" && c.setop.all == all && c.sort == nil && c.limit == nil && c.offset == nil && c.ctes == nil && sameTypes(c.cols, cols) {
				gather(c.setop.l, all)
				gather(c.setop.r, all)
				return
			}
			members = append(members, c)
		}
		gather(q.setop.l, q.setop.all)
		gather(q.setop.r, q.setop.all)
		firsts := p.firstOfEach(q, members)
		if firsts != nil {
			members, a.Keys = firsts, setKeys(q)
		}
		for _, m := range members {
			in := p.planQuery(m)
			if firsts != nil {
				keepOrder(in)
			}
			a.Inputs = append(a.Inputs, in)
			a.Rows += in.Base().Rows
			a.Cost += in.Base().Cost
		}
		a.Cols = cols
		n = a
		if firsts != nil {
			n := p.sortLimit(a, nil, 0, q, nil, cols)
			p.hintLimit(n)
			return n
		}
		if !q.setop.all {
			d := &plan.Distinct{Input: n}
			d.Rows, d.Cols, d.Step = a.Rows*0.5, cols, "group by"
			n = d
		}
	} else {
		s := &plan.SetOp{Op: q.setop.op, All: q.setop.all, Left: p.planQuery(q.setop.l), Right: p.planQuery(q.setop.r)}
		s.Rows, s.Cols, s.Step = s.Left.Base().Rows*0.5, cols, "group by"
		n = s
	}
	return p.sortLimit(n, setKeys(q), 0, q, nil, cols)
}

// setKeys are ORDER BY's keys over the columns of a set operation.
func setKeys(q *query) []plan.SortKey {
	keys := make([]plan.SortKey, len(q.sort))
	for i, k := range q.sort {
		c := q.cols[k.target]
		keys[i] = plan.SortKey{X: &plan.Col{At: plan.At{T: c.T, Off: -1}, Idx: k.target, Name: c.Name}, Desc: k.desc, NullsFirst: k.nullsFirst}
	}
	return keys
}

func sameTypes(a, b []plan.OutCol) bool {
	for i := range a {
		if a[i].T != b[i].T {
			return false
		}
	}
	return len(a) == len(b)
}

// drawn reports whether LIMIT or OFFSET have other values each time they are computed.
func drawn(q *query) bool {
	return q.limit != nil && volatileWithin(q.limit) || q.offset != nil && volatileWithin(q.offset)
}

// sortLimit puts ORDER BY and LIMIT on top of n, which is sorted by the first
// presorted keys.
func (p *planner) sortLimit(n plan.Node, keys []plan.SortKey, presorted int, q *query, lay layout, cols []plan.OutCol) plan.Node {
	rows := n.Base().Rows
	limit, offset := q.limit, q.offset
	if limit != nil || offset != nil {
		l := p.planExprs([]plan.Expr{orNull(limit), orNull(offset)}, lay)
		if limit != nil {
			limit = l[0]
		}
		if offset != nil {
			offset = l[1]
		}
	}
	if len(keys) > 0 {
		s := &plan.Sort{Input: n, Keys: keys, Presorted: presorted}
		if limit != nil && !q.ties && q.locks == nil && !drawn(q) {
			s.Limit, s.Offset = limit, offset
		}
		s.Rows, s.Cost, s.Cols, s.Step = rows, n.Base().Cost+rows*2, cols, "sort"
		n = s
	}
	if len(q.locks) > 0 {
		n = p.lockRows(n, q, cols)
	}
	if q.atMost && limit != nil {
		if offset == nil {
			hintRows(n, limit, nil)
		}
		return n
	}
	if limit != nil || offset != nil {
		l := &plan.Limit{Input: n, Count: limit, Offset: offset}
		if q.ties {
			l.TieKeys = keys
		}
		l.Rows, l.Cols, l.Cost, l.Step = rows, cols, n.Base().Cost, "sort"
		count, known := p.asked(q.limit)
		if known {
			l.Rows = min(rows, count)
		}
		if read := p.limitOf(&state{q: q}); read > 0 && read < rows && passesAll(n) && (known || n.Base().Cost <= 2*rows) {
			// A number of rows that is not known yet must not make a path look cheap that
			// gets dear with it.
			l.Cost = costStart + l.Cost*read/rows
		}
		n = l
	}
	return n
}

func orNull(e plan.Expr) plan.Expr {
	if e == nil {
		return &plan.Const{At: plan.At{T: types.TInt8, Off: -1}, Val: types.Null(types.TInt8)}
	}
	return e
}

// stats of a table, with the live row count where it is known.
func (p *planner) tableRows(t *catalog.Table) float64 {
	if t.Key != nil {
		n := 0.0
		for _, c := range p.Snap.Children(t.OID) {
			n += p.tableRows(c)
		}
		return max(n, 1)
	}
	if p.Rows != nil {
		if n := p.Rows(t); n >= 0 {
			return max(n, 1)
		}
	}
	if s := p.Snap.Stats(t.OID); s != nil {
		return max(s.Rows, 1)
	}
	return 1000
}
