package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

var oneRow = &plan.Const{At: plan.At{T: types.TInt8, Off: -1}, Val: types.Int(types.TInt8, 1)}

// extremes plans min and max over columns in whose order an access path reads:
// each is the first row that has a value,
//
//	SELECT min(x), max(x) FROM t     SELECT x FROM t WHERE x IS NOT NULL ORDER BY x LIMIT 1, and so on
//
// and the result their only pair. It returns nil where reading all rows is
// cheaper, or where there is more to compute.
func (p *planner) extremes(s *state) *pnode {
	b := s.b
	if p.NoOptimizer || !b.grouped || len(b.keys) > 0 || b.sets != nil || len(b.aggs) == 0 || len(b.from) != 1 || len(b.semis) > 0 {
		return nil
	}
	r := b.from[0].rel
	if r == nil || r.table == nil || r.cursor != "" {
		return nil
	}
	conj := r.restricted(b.where)
	for _, c := range conj {
		if hasSub(c) || volatileCall(c) {
			return nil
		}
	}
	type end struct {
		path  *path
		in    *pnode // of a table with a tree
		local []plan.Expr
		v     *plan.Var
	}
	need := map[int]map[int]bool{}
	for _, c := range conj {
		needOf(c, need)
	}
	total := 0.0
	var ends []end
	for i := range b.aggs {
		v, desc, ok := p.extremeOf(&b.aggs[i], r)
		if !ok {
			return nil
		}
		e := end{v: v, local: slices.Clone(conj)}
		if !r.table.Columns[v.Col].NotNull {
			e.local = append(e.local, &plan.Is{At: plan.At{T: types.TBool, Off: -1}, X: v, Test: plan.IsNull, Not: true})
		}
		key := orderKey(v, desc)
		key.notNull = true
		rows := max(1, p.tableRows(r.table)*p.jointSelectivity(e.local, b.rels))
		cols := maps.Clone(need[r.id])
		if cols == nil {
			cols = map[int]bool{}
		}
		cols[v.Col] = true
		w := wanted{cols: []orderCol{key}, limit: 1}
		if r.tree != nil {
			if e.in = p.firstOfMembers(r, e.local, v.Col, w); e.in == nil {
				return nil
			}
			total += float64(len(r.tree.members))*costStart + e.in.cost/e.in.rows
			ends = append(ends, e)
			continue
		}
		var cost float64
		if e.path, cost = p.bestPath(r, e.local, cols, cols, rows, w); e.path.single {
			return nil
		}
		if n, _ := orderedBy(pathOrder(r, e.path, nil), w.cols); n == 0 {
			return nil
		}
		total += cost
		ends = append(ends, e)
	}
	all := maps.Clone(need)
	for i := range b.aggs {
		needOf(ends[i].v, all)
	}
	rows := max(1, p.tableRows(r.table)*p.jointSelectivity(conj, b.rels))
	if r.tree != nil {
		if total >= 2*rows {
			return nil
		}
	} else if _, cost := p.bestPath(r, conj, all[r.id], all[r.id], rows, wanted{}); total >= cost+rows {
		return nil
	}
	var cur *pnode
	for i, e := range ends {
		in := e.in
		if in == nil {
			sub := &state{q: &query{}, b: &block{rels: b.rels}, need: map[int]map[int]bool{r.id: {e.v.Col: true}}}
			in = p.planScan(sub, &unit{rel: r, rels: relSetOf(r.id), local: r.ordered(e.local)}, e.path)
		}
		keepOrder(in.node)
		hintRows(in.node, oneRow, nil)
		l := &plan.Limit{Input: in.node, Count: oneRow}
		l.Rows, l.Cost, l.Cols = 1, costStart+in.cost/in.rows, in.node.Base().Cols
		g := &plan.Group{Input: l}
		a := b.aggs[i]
		a.Args = p.planExprs(a.Args, in.lay)
		g.Aggs = []plan.Agg{a}
		g.Rows, g.Cost, g.Step = 1, l.Cost, "group by"
		g.Cols = []plan.OutCol{{Name: a.Proc.Name, T: a.T}}
		if cur == nil {
			cur = &pnode{node: g, lay: layout{}, rels: relSetOf(b.grpRel), rows: 1, cost: g.Cost}
		} else {
			j := &plan.LoopJoin{Kind: plan.Inner, Left: cur.node, Right: g}
			j.Rows, j.Cost, j.Step = 1, cur.cost+g.Cost, "join"
			j.Cols = append(cur.node.Base().Cols[:i:i], g.Cols...)
			cur.node, cur.cost = j, j.Cost
		}
		cur.lay[[2]int{b.grpRel, i}] = i
	}
	p.note("group by", "min and max are at the ends of an order")
	return cur
}

// firstOfMembers merges the rows of a table with a tree in the order of a column, nil
// if its members do not come in that order.
func (p *planner) firstOfMembers(r *rel, local []plan.Expr, col int, w wanted) *pnode {
	s := &state{q: &query{}, b: &block{rels: map[int]*rel{r.id: r}}, need: map[int]map[int]bool{r.id: {col: true}}, lead: &lead{rel: r, want: w}}
	in := p.planMembers(s, &unit{rel: r, rels: relSetOf(r.id), local: r.ordered(local)})
	if len(in.order) == 0 {
		return nil
	}
	return in
}

// extremeOf is the column of r whose least or, with desc, greatest value an
// aggregate is.
func (p *planner) extremeOf(a *plan.Agg, r *rel) (v *plan.Var, desc, ok bool) {
	if a.User != nil || a.Filter != nil || len(a.OrderBy) > 0 || len(a.Args) != 1 || a.Proc.Name != "min" && a.Proc.Name != "max" {
		return nil, false, false
	}
	x := a.Args[0]
	if l, is := x.(*plan.Relabel); is && l.T.Kind() == types.KText && l.X.Type().Kind() == types.KText &&
		l.T.OID != types.OBpchar && l.X.Type().OID != types.OBpchar {
		x = l.X
	}
	v, ok = x.(*plan.Var)
	return v, a.Proc.Name == "max", ok && v.Rel == r.id && v.Col >= 0
}
