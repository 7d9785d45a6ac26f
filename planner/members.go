package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A table that is partitioned, or that others inherit from, is one entry of FROM
// whose rows are those of its members. The first step scans each member that a
// conjunct does not exclude, by the member's own access path, and appends the
// results; the steps above see one input. A member's columns may have other
// numbers than the table's.

// tree is what stands behind an entry whose rows are in several tables.
type tree struct {
	members []*catalog.Table // the tables with rows, in the order of reading
	set     *partition.Set   // nil for plain inheritance
}

// treeOf returns the tree below a table, nil when all its rows are its own; with
// only, none but its own rows count.
func (p *planner) treeOf(t *catalog.Table, only bool) *tree {
	switch {
	case t.Key != nil && only:
		return &tree{}
	case t.Key != nil:
		set := partition.Of(p.Snap, t)
		return &tree{members: set.Leaves(), set: set}
	case only || !p.Snap.HasChildren(t.OID):
		return nil
	}
	if members := p.Snap.TreeSeen(t, p.TempSchema); len(members) > 1 {
		return &tree{members: members}
	}
	return nil
}

// useTree notes the tables of a statement that are read or written together.
func (p *planner) useTree(t *catalog.Table, only, write bool) {
	p.use(t, write)
	if only {
		return
	}
	for _, m := range p.Snap.TreeSeen(t, p.TempSchema)[1:] {
		p.useMember(m, write)
	}
}

// lockedUses is what the statement has to lock: of partitions that it does not name those
// that its plan reads, and, when the first row comes to them, those that it stores rows in.
// Nobody attaches or detaches others, as the tables above them are locked.
func (p *planner) lockedUses(q *plan.Query) []plan.TableUse {
	stored := make(map[*catalog.Table]bool) // rows may come to it
	merged := make(map[*catalog.Table]bool) // by MERGE, which is not followed
	pruned := func(u plan.TableUse) bool {
		return u.Member && !u.Lock && u.Table.Bound != nil && u.Table.Key == nil && !merged[u.Table]
	}
	if len(q.Places) > 0 || !slices.ContainsFunc(p.uses, pruned) {
		return p.uses
	}
	read := make(map[*catalog.Table]int) // by how many nodes
	input := make(map[*catalog.Table]plan.TableUse)
	seen := make(map[plan.Node]bool)
	q.Walk(func(n plan.Node) bool {
		if seen[n] {
			return false
		}
		seen[n] = true
		switch n := n.(type) {
		case *plan.Scan:
			read[n.Table]++
		case *plan.LookupJoin:
			read[n.Table]++
		case *plan.Insert:
			for _, t := range n.Tree {
				stored[t] = true
			}
		case *plan.Update:
			if partition.Moves(p.Snap, n.Table, n.SetCols) {
				for _, t := range n.Tree {
					stored[t] = true
				}
			}
		case *plan.Merge:
			for _, t := range n.Tree {
				merged[t] = true
			}
		case *plan.IndexUnion:
			read[n.Table]++
		case *plan.ClusterScan:
			for i := range n.Levels {
				read[n.Levels[i].Table]++
			}
		case *plan.Append:
			if n.Prune == nil || !steadyPrune(n.Prune.Cond, len(q.Params)) {
				break
			}
			for i, in := range n.Inputs {
				for below := in.Children(); len(below) == 1; below = in.Children() {
					in = below[0]
				}
				if s, ok := in.(*plan.Scan); ok {
					input[s.Table] = plan.TableUse{Prune: n.Prune, Input: i}
				}
			}
		}
		return true
	})
	uses := slices.DeleteFunc(p.uses, func(u plan.TableUse) bool { return pruned(u) && read[u.Table] == 0 && !stored[u.Table] })
	for i := range uses {
		u := &uses[i]
		switch {
		case !pruned(*u):
		case read[u.Table] == 0:
			u.Late = true
		case read[u.Table] == 1:
			u.Prune, u.Input = input[u.Table].Prune, input[u.Table].Input
		}
	}
	return uses
}

// steadyPrune reports whether a condition depends on the statement's parameters alone.
func steadyPrune(c *plan.PruneCond, params int) bool {
	steady := true
	if c.X != nil {
		plan.Visit(c.X, func(x plan.Expr) bool {
			switch x := x.(type) {
			case *plan.Const:
			case *plan.Param:
				steady = steady && x.Idx < params
			case *plan.Call:
				steady = steady && x.Proc.Volatile == 'i' && x.Proc.SQL == nil
			default:
				steady = false
			}
			return steady
		})
	}
	for i := range c.List {
		steady = steady && steadyPrune(&c.List[i], params)
	}
	return steady
}

// dmlTree lists the tables that a statement on t may change rows of, nil when
// that is t alone.
func (p *planner) dmlTree(t *catalog.Table, only bool) []*catalog.Table {
	tr := p.treeOf(t, only)
	if tr == nil {
		return nil
	}
	if tr.members == nil {
		return []*catalog.Table{}
	}
	return tr.members
}

// planMembers plans an entry with a tree: an Append over the scans of its members.
func (p *planner) planMembers(s *state, u *unit) *pnode {
	r := u.rel
	var down, above []plan.Expr
	for _, c := range u.local {
		if volatileCall(c) || !steadySubs(c) {
			above = append(above, c)
			needOf(c, s.need)
		} else {
			down = append(down, c)
		}
	}
	n := &pnode{lay: layout{}, rels: u.rels}
	a := &plan.Append{Table: r.table, Total: len(r.tree.members)}
	out := inOrder(s.need[r.id])
	for i, c := range out {
		n.lay[[2]int{r.id, c}] = i
		a.Cols = append(a.Cols, outCol(r, c))
	}
	keep, run := p.prune(r, down)
	want := p.membersOrder(s, r, n.lay, down)
	for {
		sorted := len(want.cols)
		loose, looseRows := map[int]bool{}, 0.0 // members that are not in order
		for i, m := range r.tree.members {
			if keep != nil && !keep[i] {
				continue
			}
			in, order := p.planMember(r, m, down, out, want)
			in.Base().Cols = a.Cols
			a.Inputs = append(a.Inputs, in)
			a.Rows += in.Base().Rows
			a.Cost += in.Base().Cost
			if run != nil {
				run.Leaf = append(run.Leaf, i)
			}
			k, reverse := orderedBy(order, want.cols)
			if k == 0 || reverse || want.whole && k < len(want.cols) {
				loose[len(a.Inputs)-1] = true
				looseRows += in.Base().Rows
				continue
			}
			sorted = min(sorted, k)
		}
		if len(want.cols) == 0 {
			break
		}
		// A few rows, of a partition that has just begun, are sorted before they are merged
		// with the others.
		if len(loose) < len(a.Inputs) && 2*looseRows <= a.Rows {
			n.order = want.cols[:sorted]
			for _, o := range n.order {
				k := n.lay[[2]int{r.id, o.col}]
				x := &plan.Col{At: plan.At{T: a.Cols[k].T, Off: -1}, Idx: k, Name: a.Cols[k].Name}
				a.Keys = append(a.Keys, plan.SortKey{X: x, Desc: o.desc, NullsFirst: o.nullsFirst})
			}
			for i, in := range a.Inputs {
				if !loose[i] {
					keepOrder(in)
					continue
				}
				so := &plan.Sort{Input: in, Keys: a.Keys}
				so.Rows, so.Cols, so.Step = in.Base().Rows, a.Cols, "filter"
				so.Cost = in.Base().Cost + so.Rows*costSort
				a.Inputs[i] = so
				a.Cost += so.Rows * costSort
			}
			break
		}
		// Most of them are not in order: none need be.
		want, a.Inputs, a.Rows, a.Cost = wanted{}, nil, 0, 0
		if run != nil {
			run.Leaf = nil
		}
	}
	a.Prune, a.Step = run, "filter"
	n.node, n.rows, n.cost = a, max(a.Rows, 1), a.Cost
	return p.filterOn(s, n, above)
}

// steadySubs reports whether the subqueries of a conjunct, if it has any, have one value
// for all rows of the statement:
//
//	at BETWEEN (SELECT first FROM season) AND (SELECT last FROM season)
func steadySubs(c plan.Expr) bool {
	steady := true
	plan.Visit(c, func(x plan.Expr) bool {
		if s, ok := x.(*subquery); ok {
			steady = steady && s.kind == plan.SubScalar && !correlated(s.q) && !queryVolatile(s.q)
		}
		return steady
	})
	return steady
}

// membersOrder is the order that the block would like of the rows of an entry with a
// tree, as far as it is one of the table's columns that come out.
func (p *planner) membersOrder(s *state, r *rel, lay layout, conj []plan.Expr) wanted {
	rows := max(1, p.tableRows(r.table)*p.jointSelectivity(conj, s.b.rels))
	w := p.wantedOrder(s, r, rows)
	w.cols = slices.Clone(w.cols)
	for i := range w.cols {
		o := &w.cols[i]
		if _, ok := lay[[2]int{r.id, o.col}]; !ok || o.rel != r.id || o.col < 0 || o.col >= len(r.table.Columns) {
			if w.whole {
				return wanted{}
			}
			w.cols, w.rest = w.cols[:i], true
			break
		}
		o.either = false // all members go the same way
	}
	return w
}

// outCol describes a column of an entry as a scan passes it.
func outCol(r *rel, c int) plan.OutCol {
	switch {
	case c >= 0:
		return r.cols[c]
	case c == plan.ColRowKey:
		return plan.OutCol{Name: "rowkey", T: types.TBytea, Hidden: true}
	case c == plan.ColTableOID:
		return plan.OutCol{Name: "tableoid", T: types.TOid}
	case c == plan.ColXmin:
		return plan.OutCol{Name: "xmin", T: types.Of(types.OXid)}
	}
	return plan.OutCol{Name: "ctid", T: types.Of(types.OTid)}
}

// planMember scans a member of r's tree under conjuncts on r, in the order want if
// that is cheap; it returns the order of its rows in terms of r. Its output are the
// columns out of r.
func (p *planner) planMember(r *rel, m *catalog.Table, conj []plan.Expr, out []int, want wanted) (plan.Node, []orderCol) {
	mr := p.tableRel(m, m.Name)
	mr.cursor = r.cursor
	at := catalog.ColumnMap(r.table, m)
	col := func(c int) int {
		if c < 0 {
			return c
		}
		return at[c]
	}
	oid := &plan.Const{At: plan.At{T: types.TOid, Off: -1}, Val: types.Int(types.TOid, int64(m.OID))}
	local := make([]plan.Expr, len(conj))
	for i, c := range conj {
		local[i] = plan.Map(c, func(x plan.Expr) plan.Expr {
			v, ok := x.(*plan.Var)
			if !ok || v.Rel != r.id {
				return x
			}
			if v.Col == plan.ColTableOID {
				return oid
			}
			w := *v
			w.Rel, w.Col = mr.id, col(v.Col)
			return &w
		})
	}
	s := &state{q: &query{}, b: &block{rels: map[int]*rel{mr.id: mr}}, need: map[int]map[int]bool{mr.id: {}}}
	for _, c := range out {
		if c != plan.ColTableOID {
			s.need[mr.id][col(c)] = true
		}
	}
	of := map[int]int{} // columns of r by the member's
	if len(want.cols) > 0 {
		want.cols = slices.Clone(want.cols)
		for i := range want.cols {
			o := &want.cols[i]
			of[col(o.col)] = o.col
			o.rel, o.col = mr.id, col(o.col)
		}
		s.lead = &lead{rel: mr, want: want}
	}
	n := p.planScan(s, &unit{rel: mr, rels: relSetOf(mr.id), local: local}, nil)
	var order []orderCol
	for _, o := range n.order {
		c, ok := of[o.col]
		if !ok {
			if o.fixed {
				continue
			}
			break
		}
		o.rel, o.col = r.id, c
		order = append(order, o)
	}
	pr := &plan.Project{Input: n.node}
	same := len(n.node.Base().Cols) == len(out)
	for i, c := range out {
		if c == plan.ColTableOID {
			pr.Exprs, same = append(pr.Exprs, oid), false
			continue
		}
		k := n.lay[[2]int{mr.id, col(c)}]
		same = same && k == i
		pr.Exprs = append(pr.Exprs, &plan.Col{At: plan.At{T: outCol(r, c).T, Off: -1}, Idx: k})
	}
	if same {
		return n.node, order
	}
	pr.Rows, pr.Cost = n.rows, n.cost
	return pr, order
}
