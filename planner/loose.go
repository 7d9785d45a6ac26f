package planner

import (
	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// Of each group of rows that lie together in an index, with the same first columns, one
// is enough for
//
//	SELECT DISTINCT device FROM reading
//	SELECT device, max(at) FROM reading GROUP BY device
//	SELECT DISTINCT ON (device) * FROM reading ORDER BY device, at DESC
//
// where the index is (device, at): a scan reads one entry, and searches for the next
// value of the columns behind it. What is above the scan stays as it is.

// costLoose is a search for the next group.
const costLoose = 30.0

// firsts is which rows of one table a block can do with: one for each value of the columns
// by, and of those with the same value the first in the order of then; none: any.
type firsts struct {
	by    map[int]bool
	then  []orderCol
	value bool // NULLs come last in that order, whatever the index's is
}

// looseness is how a loose scan reads.
type looseness struct {
	cols   int     // key columns that tell the groups apart
	value  bool    // see plan.Scan.LooseValue
	groups float64 // how many there are
}

// firstsOf reads off the block which rows of r, its only table, are enough; nil: all are needed.
func (p *planner) firstsOf(s *state, r *rel) *firsts {
	b := s.b
	if p.NoOptimizer || len(b.rels) != 1 || b.rels[r.id] != r || len(b.semis) > 0 || len(b.wins) > 0 || b.hasSRF || len(s.q.locks) > 0 ||
		r.tree != nil || r.cursor != "" || r.table.Cluster != nil || len(r.secure) > 0 {
		return nil
	}
	f := &firsts{by: map[int]bool{}}
	column := func(e plan.Expr) (int, bool) {
		v, ok := e.(*plan.Var)
		if !ok || v.Level != 0 || v.Rel != r.id || v.Col < 0 {
			return -1, false
		}
		return v.Col, true
	}
	columns := func(list []plan.Expr) bool {
		return all(list, func(e plan.Expr) bool {
			c, ok := column(e)
			f.by[c] = ok
			return ok
		})
	}
	switch {
	case b.grouped && !b.distinct:
		if b.sets != nil || !columns(b.keys) || !f.aggregates(b.aggs, column) {
			return nil
		}
	case b.grouped:
		return nil
	case b.distinctOn != nil:
		if !columns(b.toldBy()) {
			return nil
		}
		for _, k := range s.q.sort {
			c, ok := column(b.targets[k.target].x)
			if ok && f.by[c] && len(f.then) == 0 {
				continue
			}
			if !ok {
				return nil
			}
			f.then = append(f.then, orderCol{rel: r.id, col: c, desc: k.desc, nullsFirst: k.nullsFirst})
		}
		if len(f.then) == 0 {
			return nil
		}
	case b.distinct:
		for _, t := range b.targets {
			if hasSub(t.x) || volatileCall(t.x) {
				return nil
			}
			in := map[int]map[int]bool{}
			needOf(t.x, in)
			for c := range in[r.id] {
				f.by[c] = true
			}
		}
		if len(f.by) == 0 || f.by[plan.ColRowKey] {
			return nil
		}
	default:
		return nil
	}
	for c := range f.by {
		if c < 0 {
			return nil
		}
	}
	return f
}

// aggregates notes what aggregates need of the groups: the first row, if they all are the
// same min or max, or else each value of what they are computed of once. It reports false
// if that does not do.
func (f *firsts) aggregates(aggs []plan.Agg, column func(plan.Expr) (int, bool)) bool {
	var args []int
	var ends []orderCol
	for i := range aggs {
		a := &aggs[i]
		end := a.Proc.Name == "min" || a.Proc.Name == "max"
		if !end && !a.Distinct || a.User != nil || a.Filter != nil || len(a.Args) != 1 || len(a.OrderBy) > 0 || a.Direct > 0 {
			return false
		}
		c, ok := column(a.Args[0])
		if !ok {
			return false
		}
		args = append(args, c)
		o := orderCol{rel: a.Args[0].(*plan.Var).Rel, col: c, desc: a.Proc.Name == "max"}
		if end && (i == 0 || len(ends) > 0 && ends[0] == o) {
			ends = append(ends, o)
		}
	}
	if len(ends) > 0 && len(ends) == len(aggs) && len(f.by) > 0 {
		f.then, f.value = ends[:1], true
		return true
	}
	for _, c := range args {
		f.by[c] = true
	}
	return len(f.by) > 0
}

// loosePath is the cheapest path of r that reads one row of each group, nil if there is none.
func (p *planner) loosePath(s *state, u *unit, need, out map[int]bool, rows float64, want wanted) (best *path, how looseness) {
	r := u.rel
	f := p.firstsOf(s, r)
	if f == nil {
		return nil, how
	}
	tests := map[int]map[int]bool{r.id: {}}
	for _, c := range u.local {
		if hasSub(c) || volatileCall(c) {
			return nil, how
		}
		if !f.bounds(r, c) {
			needOf(c, tests)
		}
	}
	fixed := fixedCols(p.boundsOf(r, u.local, relSet.empty))
	paths := p.paths(r, u.local, need, out)
	for i := range paths {
		x := &paths[i]
		keys := keyColumns(r, x)
		if len(keys) == 0 || x.single || x.byElems || x.tail != nil || x.area != nil {
			continue
		}
		n, reverse, value := f.head(keys, x.order, fixed, tests[r.id])
		if n == 0 {
			continue
		}
		g := 1.0
		for _, c := range keys[:n] {
			if !fixed[c] {
				g *= p.distinct(&plan.Var{Rel: r.id, Col: c}, s.b.rels, rows)
			}
		}
		g = max(1, min(g*min(1, x.rows/p.tableRows(r.table)), rows))
		each := costLoose
		if x.index != nil && !x.only {
			each += costGet
		}
		c := costStart + g*each
		if k, back := orderedBy(pathOrder(r, x, fixed), want.cols); k > 0 && k == len(want.cols) && back == reverse && !want.rest && want.limit > 0 {
			c = costStart + min(g, p.groupsAsked(s))*each
		}
		if best == nil || c < best.cost {
			x.reverse, x.cost = reverse, c
			best, how = x, looseness{n, value, g}
		}
	}
	return best, how
}

// bounds reports whether a condition is met by the first row of a group if by any: it bounds the
// column that orders the group from the group's end.
func (f *firsts) bounds(r *rel, c plan.Expr) bool {
	x, is := c.(*plan.Call)
	if !is || len(f.then) == 0 {
		return false
	}
	v, op, _, ok := sides(r, x, sameForAll)
	if !ok || v.Col != f.then[0].col || !f.value && !r.table.Columns[v.Col].NotNull {
		return false
	}
	if f.then[0].desc {
		return op == ">" || op == ">="
	}
	return op == "<" || op == "<="
}

// keyColumns are the columns of the key of a path's file, as far as its order has them.
func keyColumns(r *rel, x *path) []int {
	var keys []int
	switch {
	case x.index == nil && (x.access == plan.FullScan || x.access == plan.RangeScan) && r.table.KeyIsRowKey():
		keys = r.table.PK
	case x.index != nil && x.index.Kind == catalog.KindBtree && (x.access == plan.IndexFull || x.access == plan.IndexRange):
		for _, k := range x.index.Keys {
			keys = append(keys, k.Col)
		}
	}
	for i, c := range keys {
		if c < 0 || i >= len(x.order) || x.order[i].col != c {
			return keys[:i]
		}
	}
	return keys
}

// head is the number of key columns that tell the groups apart, 0 if a key does not serve: they
// have all columns that are asked for or tested. Where the order within a group matters
// they are no others, but those with one value, and what follows is in that order, read
// backwards if reverse says so; value tells that NULLs come first in it.
func (f *firsts) head(keys []int, order []orderCol, fixed, tested map[int]bool) (n int, reverse, value bool) {
	left := map[int]bool{}
	for c := range f.by {
		left[c] = true
	}
	for c := range tested {
		left[c] = true
	}
	for n < len(keys) && len(left) > 0 {
		if len(f.then) > 0 && !f.by[keys[n]] && !fixed[keys[n]] {
			return 0, false, false
		}
		delete(left, keys[n])
		n++
	}
	switch {
	case len(left) > 0 || n == len(keys) && len(f.then) > 0:
		return 0, false, false
	case f.value:
		o := order[n]
		reverse = o.desc != f.then[0].desc
		if o.col != f.then[0].col {
			return 0, false, false
		}
		return n, reverse, !o.notNull && o.nullsFirst != reverse
	case len(f.then) > 0:
		var k int
		if k, reverse = orderedBy(order[n:], f.then); k < len(f.then) {
			return 0, false, false
		}
	}
	return n, reverse, false
}
