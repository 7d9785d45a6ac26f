package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// The order of rows: what an access path gives, what a block wants, and what of
// that is left to sort.

// orderCol is a column of an order.
type orderCol struct {
	rel, col   int
	desc       bool
	nullsFirst bool
	notNull    bool // there are no NULLs to place
	fixed      bool // all rows have one value in it
	either     bool // of a wanted one: its direction does not matter
}

// masterOrder is the order of the master file's keys.
func masterOrder(r *rel) []orderCol {
	if !r.table.KeyIsRowKey() {
		return nil
	}
	var out []orderCol
	for _, c := range r.table.PK {
		out = append(out, orderCol{rel: r.id, col: c, notNull: true})
	}
	return out
}

// indexOrder is the order of an index's entries. Entries that are equal by the
// index's columns lie in the order of the rows' keys.
func indexOrder(r *rel, ix *catalog.Index) []orderCol {
	if ix.Kind == catalog.KindHash {
		return nil
	}
	var out []orderCol
	for i, k := range ix.Keys {
		col := r.keyCol(ix, i, k)
		if col < 0 || keptByLength(r, ix, col) {
			return out
		}
		out = append(out, orderCol{rel: r.id, col: col, desc: k.Desc, nullsFirst: k.NullsFirst, notNull: k.Col >= 0 && r.table.Columns[k.Col].NotNull})
	}
	if ix.Kind == catalog.KindBtree && !r.table.Deferrable(ix) {
		out = append(out, masterOrder(r)...)
	}
	return out
}

// pathOrder is the order of a path's rows. Columns that its range, or an equality
// among the conjuncts, fixes to one value are marked: what follows them orders the
// rows.
func pathOrder(r *rel, x *path, fixed map[int]bool) []orderCol {
	var out []orderCol
	eq := 0
	if len(x.ranges) == 1 {
		eq = len(x.ranges[0].Eq)
	}
	for i, o := range x.order {
		o.fixed = i < eq || fixed[o.col]
		out = append(out, o)
	}
	for c := range fixed {
		out = append(out, orderCol{rel: r.id, col: c, fixed: true})
	}
	return out
}

// fixedCols are the columns that an equality of the bounds gives one value.
func fixedCols(known bounds) map[int]bool {
	out := map[int]bool{}
	for _, b := range known {
		if b.kind == "eq" && b.exact {
			out[b.col] = true
		}
	}
	return out
}

// orderedBy tells by how many of the wanted columns rows of an order are sorted,
// and whether that is when they are read backwards. Given rows in the order a, b:
//
//	a, b          2
//	a DESC, b     1, backwards
//	b             0, or 1 where a is fixed
func orderedBy(have, want []orderCol) (n int, reverse bool) {
	type column struct{ rel, col int }
	done := map[column]bool{} // all rows that are equal so far have one value in it
	for _, o := range have {
		if o.fixed {
			done[column{o.rel, o.col}] = true
		}
	}
	i, dir := 0, 0
	for n = 0; n < len(want); n++ {
		w := want[n]
		if done[column{w.rel, w.col}] {
			continue
		}
		for i < len(have) && done[column{have[i].rel, have[i].col}] {
			i++
		}
		if i == len(have) || have[i].rel != w.rel || have[i].col != w.col {
			break
		}
		o, d := have[i], 1
		if o.desc != w.desc {
			d = -1
		}
		if !w.either {
			if !o.notNull && !w.notNull && (o.nullsFirst == w.nullsFirst) != (d == 1) || dir != 0 && dir != d {
				break
			}
			dir = d
		}
		done[column{w.rel, w.col}] = true
	}
	return n, dir == -1
}

// backwards is the order of rows that are read from the last to the first.
func backwards(order []orderCol) []orderCol {
	out := make([]orderCol, len(order))
	for i, o := range order {
		o.desc, o.nullsFirst = !o.desc, !o.nullsFirst
		out[i] = o
	}
	return out
}

// wanted is an order that a block would like of its rows.
type wanted struct {
	cols  []orderCol
	rest  bool    // more follows that no access path gives
	whole bool    // a part of it is of no use
	limit float64 // rows that are taken; 0: all
	skip  float64 // those of them that OFFSET passes over, if it need not read them
}

// wantedOrder is the order that the block would like of the rows of r, of which
// rows come out: ORDER BY as far as it goes, when nothing between a scan of r and
// the sort changes the order. Groups and distinct rows that come in the order of a
// LIMIT's ORDER BY are made of rows in such an order.
func (p *planner) wantedOrder(s *state, r *rel, rows float64) wanted {
	b := s.b
	switch {
	case s.lead != nil && s.lead.rel == r:
		return s.lead.want
	case s.lead != nil || p.NoOptimizer || b.hasSRF || len(b.rels) != 1 || len(b.semis) > 0:
		return wanted{}
	case len(b.wins) > 0:
		return p.windowOrder(s, r)
	case b.grouped:
		return p.groupOrder(s, r, rows)
	case b.distinct:
		return p.distinctOrder(s, r, rows)
	}
	w := p.sortOrder(s)
	for i, o := range w.cols {
		if o.rel != r.id {
			w.cols, w.rest = w.cols[:i], true
			break
		}
	}
	return w
}

// sortOrder is ORDER BY in terms of columns, as far as it goes. What follows the
// key of the only table cannot matter.
func (p *planner) sortOrder(s *state) wanted {
	b := s.b
	w := wanted{limit: p.limitOf(s)}
	if o, ok := s.q.offset.(*plan.Const); ok && !o.Val.Null && len(s.q.locks) == 0 && len(b.rels) == 1 && !b.grouped && !b.distinct && len(b.wins) == 0 && !b.hasSRF &&
		(!s.q.ties && b.distinctOn == nil || all(b.targets, func(t target) bool { return neverFails(t.x) })) { // others are computed above: see lateTargets
		w.skip = min(float64(max(o.Val.I, 0)), w.limit)
	}
	var only *rel
	if len(b.rels) == 1 && !b.grouped {
		for _, r := range b.rels {
			if r.table != nil && r.tree == nil && len(r.table.PK) > 0 && !r.table.Deferrable(r.table.PrimaryIndex()) {
				only = r
			}
		}
	}
	seen := map[int]bool{}
	for _, k := range s.q.sort {
		v, ok := p.sortColumn(b, b.targets[k.target].x)
		if !ok {
			w.rest = true
			break
		}
		w.cols = append(w.cols, orderCol{rel: v.Rel, col: v.Col, desc: k.desc, nullsFirst: k.nullsFirst})
		if seen[v.Col] = true; only != nil && all(only.table.PK, func(c int) bool { return seen[c] }) {
			break
		}
	}
	return w
}

// sortColumn is the column, or the index expression of the only table, that an
// expression is.
func (p *planner) sortColumn(b *block, x plan.Expr) (*plan.Var, bool) {
	if v, ok := x.(*plan.Var); ok {
		return v, v.Col >= 0
	}
	if len(b.rels) == 1 && !b.grouped {
		for _, r := range b.rels {
			p.loadExprs(r)
			return r.computed(x)
		}
	}
	return nil, false
}

// groupOrder is the order of rows by which the groups come in the order of ORDER BY
// and LIMIT needs but some of them.
func (p *planner) groupOrder(s *state, r *rel, rows float64) wanted {
	b := s.b
	limit := p.groupsAsked(s)
	if limit == 0 || b.sets != nil || len(b.keys) == 0 || b.distinct {
		return wanted{}
	}
	var w wanted
	used := map[int]bool{}
	given, tables := p.givenKeys(b, b.keys)
	for _, k := range s.q.sort {
		v, ok := b.targets[k.target].x.(*plan.Var)
		if !ok || v.Rel != b.grpRel || v.Col >= len(b.keys) {
			return wanted{}
		}
		x, ok := b.keys[v.Col].(*plan.Var)
		if !ok || x.Rel != r.id || x.Col < 0 {
			return wanted{}
		}
		w.cols, used[v.Col] = append(w.cols, orderCol{rel: r.id, col: x.Col, desc: k.desc, nullsFirst: k.nullsFirst}), true
	}
	byRow := len(w.cols) > 0 && tables.has(r.id) // the rows of a group lie together in any order
	for i, k := range b.keys {
		if given[i] {
			continue
		}
		x, ok := k.(*plan.Var)
		if !ok || x.Rel != r.id || x.Col < 0 {
			return wanted{}
		}
		if !used[i] && !byRow {
			w.cols = append(w.cols, orderCol{rel: r.id, col: x.Col, either: true})
		}
	}
	w.limit, w.whole = limit*rows/p.groups(b, b.keys, given, rows), true
	return w
}

// groupsAsked is limitOf in groups, those that do not pass HAVING included.
func (p *planner) groupsAsked(s *state) float64 {
	n := p.limitOf(s)
	for range s.b.having {
		n /= selRange
	}
	return n
}

// distinctOrder is the order of rows by which equal ones lie together and, with a
// LIMIT, some of them are enough.
func (p *planner) distinctOrder(s *state, r *rel, rows float64) wanted {
	b := s.b
	limit := p.limitOf(s)
	var w wanted
	values := b.toldBy()
	given, tables := p.givenKeys(b, values)
	used := map[int]bool{}
	add := func(i int, o orderCol) bool {
		x, ok := b.targets[i].x.(*plan.Var)
		if !ok || x.Rel != r.id || x.Col < 0 {
			return false
		}
		if !used[i] {
			used[i] = true
			o.rel, o.col = r.id, x.Col
			w.cols = append(w.cols, o)
		}
		return true
	}
	for _, k := range s.q.sort {
		if !add(k.target, orderCol{desc: k.desc, nullsFirst: k.nullsFirst}) {
			return wanted{}
		}
	}
	byRow := len(w.cols) > 0 && tables.has(r.id) // the rows of one value lie together in any order
	for i := range values {
		if b.distinctOn == nil && !given[i] && !byRow && !add(i, orderCol{either: true}) {
			return wanted{}
		}
	}
	w.whole = b.distinctOn == nil
	if limit > 0 {
		w.limit = limit * rows / p.groups(b, values, given, rows)
	}
	return w
}

// toldBy is what GROUP BY, DISTINCT or DISTINCT ON tells rows apart by.
func (b *block) toldBy() []plan.Expr {
	if b.grouped {
		return b.keys
	}
	var out []plan.Expr
	if b.distinctOn != nil {
		for _, t := range b.distinctOn {
			out = append(out, b.targets[t].x)
		}
		return out
	}
	for i := range b.ncols {
		out = append(out, b.targets[i].x)
	}
	return out
}

// fewWanted is how many rows a LIMIT asks for whose value is not known.
const fewWanted = 20

// limitOf is the number of rows that a block is probably asked for, those that OFFSET
// passes over included; 0: all.
func (p *planner) limitOf(s *state) float64 {
	if s.q.limit == nil && s.q.expect > 0 {
		return s.q.expect
	}
	n, known := p.asked(s.q.limit)
	if !known && p.unknownYet(s.q.limit) {
		return fewWanted
	}
	if !known {
		return 0
	}
	if skip, known := p.asked(s.q.offset); known {
		n += skip
	}
	return max(n, 1)
}

// unknownYet reports whether an expression has parameters without values.
func (p *planner) unknownYet(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		prm, is := x.(*plan.Param)
		found = found || is && prm.Idx >= len(p.ParamValues)
		return !found
	})
	return found
}

// asked is the value of a LIMIT or OFFSET, if it is known by now and not NULL.
func (p *planner) asked(e plan.Expr) (rows float64, known bool) {
	d, ok := p.estimate(e)
	return float64(d.I), ok
}

// costSort is what sorting costs per row.
const costSort = 2.0

// bestPath chooses among the paths of a table of which rows rows pass the
// conjuncts: the cheapest, with what is left to sort. cost is for the rows that
// are taken.
func (p *planner) bestPath(r *rel, conj []plan.Expr, need, out map[int]bool, rows float64, w wanted) (best *path, cost float64) {
	paths := p.paths(r, conj, need, out)
	var fixed map[int]bool
	if len(w.cols) > 0 {
		fixed = fixedCols(p.boundsOf(r, conj, relSet.empty))
	}
	for i := range paths {
		x := &paths[i]
		c := x.cost
		if len(w.cols) > 0 && !x.single {
			of := w
			if slices.ContainsFunc(conj, func(c plan.Expr) bool { return !x.answers(c) && !p.onEntry(r, x, c) }) {
				of.skip = 0
			}
			c = p.orderCost(r, x, pathOrder(r, x, fixed), rows, of)
		}
		if best == nil || c < cost {
			best, cost = x, c
		}
	}
	return best, cost
}

// orderCost is what it costs to read the wanted rows of a path in the wanted order.
// It sets the path's direction.
func (p *planner) orderCost(r *rel, x *path, order []orderCol, rows float64, w wanted) float64 {
	n, reverse := orderedBy(order, w.cols)
	if n == 0 || w.whole && n < len(w.cols) {
		return x.cost + rows*costSort
	}
	x.reverse = reverse
	read := rows
	if n == len(w.cols) && !w.rest {
		if w.limit > 0 && rows > w.limit {
			return costStart + w.skip*costEntry + x.part((w.limit-w.skip)/rows)
		}
		return x.cost
	}
	// Rows that are equal by the first columns are sorted by the others.
	if w.limit > 0 {
		runs := 1.0
		for _, o := range w.cols[:n] {
			runs *= p.distinct(&plan.Var{Rel: r.id, Col: o.col}, map[int]*rel{r.id: r}, rows)
		}
		read = min(rows, w.limit+rows/max(1, min(runs, rows)))
	}
	return costStart + x.part(read/rows) + read*costSort
}

// part is what it costs to read a part of the path's rows.
func (x *path) part(share float64) float64 {
	return x.first + (x.cost-x.first)*share
}

// inOrder tells by how many of ORDER BY's keys the input is sorted.
func (p *planner) inOrder(s *state) int {
	b := s.b
	if len(s.q.sort) == 0 || b.distinct && b.distinctOn == nil || b.hasSRF || p.NoOptimizer {
		return 0
	}
	if s.cur.unique {
		return len(s.q.sort)
	}
	w := p.sortOrder(s)
	n, reverse := orderedBy(s.cur.order, w.cols)
	if reverse {
		return 0 // the input has its direction
	}
	if n == len(w.cols) && !w.rest {
		return len(s.q.sort)
	}
	return n
}

// distinctInOrder reports whether equal rows of the input of DISTINCT lie together,
// and whether they come in the order of ORDER BY.
func (p *planner) distinctInOrder(s *state) (together, sorted bool) {
	b := s.b
	if p.NoOptimizer || len(b.wins) > 0 || b.hasSRF || b.grouped {
		return false, false
	}
	// Equal rows lie together when the input's first columns are these, in any order.
	left := map[[2]int]bool{}
	values := b.toldBy()
	given, tables := p.givenKeys(b, values)
	for i, x := range values {
		if given[i] {
			continue
		}
		v, ok := x.(*plan.Var)
		if !ok {
			return false, false
		}
		left[[2]int{v.Rel, v.Col}] = true
	}
	for _, o := range s.cur.order {
		if o.fixed {
			delete(left, [2]int{o.rel, o.col})
		}
	}
	for _, o := range s.cur.order {
		k := [2]int{o.rel, o.col}
		if o.fixed || len(left) == 0 || tables.has(o.rel) && !left[k] {
			continue
		}
		if !left[k] {
			break
		}
		delete(left, k)
	}
	if len(left) > 0 {
		return false, false
	}
	w := p.sortOrder(s)
	n, reverse := orderedBy(s.cur.order, w.cols)
	return true, !reverse && n == len(w.cols) && !w.rest
}

// keepOrder tells the scan from which a node has the order of its rows that the
// order matters.
func keepOrder(n plan.Node) {
	switch n := n.(type) {
	case *plan.Scan:
		n.Ordered = true
	case *plan.Filter:
		keepOrder(n.Input)
	case *plan.Project:
		keepOrder(n.Input)
	case *plan.LookupJoin:
		keepOrder(n.Left)
	case *plan.Apply:
		keepOrder(n.Left)
	case *plan.Group:
		keepOrder(n.Input)
	case *plan.Distinct:
		keepOrder(n.Input)
	case *plan.Window:
		keepOrder(n.Input)
	case *plan.Append:
		for _, in := range n.Inputs {
			keepOrder(in)
		}
	}
}

// passable reports whether rows of a node that nobody wants need not be read: they come
// from a scan as they are, and nothing is computed of them that could fail.
func passable(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		return n.Filter == nil && n.Lock == nil && n.Nearest == nil && n.Cursor == ""
	case *plan.Project:
		return all(n.Exprs, neverFails) && passable(n.Input)
	}
	return false
}

// hintRows tells the scan below a node that count rows behind the first skip are probably
// enough.
func hintRows(n plan.Node, count, skip plan.Expr) {
	switch n := n.(type) {
	case *plan.Scan:
		n.Limit, n.Skip = count, skip
	case *plan.LockRows:
		hintRows(n.Input, count, skip)
	case *plan.Project:
		hintRows(n.Input, count, skip)
	case *plan.Filter:
		hintRows(n.Input, count, skip)
	case *plan.Sort:
		if n.Presorted > 0 {
			hintRows(n.Input, count, skip)
		}
	case *plan.LookupJoin:
		hintRows(n.Left, count, skip)
	case *plan.Apply:
		hintRows(n.Left, count, skip)
	case *plan.Group:
		if n.Ordered {
			hintRows(n.Input, count, skip)
		}
	case *plan.Distinct:
		if n.Ordered {
			hintRows(n.Input, count, skip)
		}
	case *plan.Window:
		hintRows(n.Input, count, skip)
	case *plan.Append:
		if n.Keys != nil {
			for _, in := range n.Inputs {
				hintRows(in, count, skip)
			}
		}
	}
}

// passesAll reports whether a node passes all rows that it reads, as they come: so
// many as are taken are read.
func passesAll(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		return n.Filter == nil && n.EntryFilter == nil && n.Tail == nil
	case *plan.Project:
		return passesAll(n.Input)
	case *plan.LookupJoin:
		return n.Filter == nil && n.EntryFilter == nil && n.Residual == nil && passesAll(n.Left)
	}
	return false
}

// orderKey makes a wanted column of a table's column.
func orderKey(v *plan.Var, desc bool) orderCol {
	return orderCol{rel: v.Rel, col: v.Col, desc: desc, nullsFirst: desc}
}
