package planner

import (
	"maps"
	"slices"

	"kvsqld/planner/plan"
)

// A view, a derived table or a WITH query that just filters and joins tables is not
// planned on its own: its tables, conditions and expressions take its place in the
// block that reads it. Given CREATE VIEW v AS SELECT id, a * 2 AS d FROM t WHERE b,
//
//	SELECT v.d FROM v JOIN u ON u.id = v.id    is planned as
//	SELECT t.a * 2 FROM t JOIN u ON u.id = t.id WHERE t.b
//
// so that a lookup by the join's key, a range or an order of t's indexes is found
// as if t had been named. On the side of an outer join that may have no row, the
// conditions become the join's, and the expressions must be NULL where the tables'
// columns are.

// pullUp puts the contents of the block's simple derived tables into their places,
// those of derived tables within them first.
func (p *planner) pullUp(q *query) {
	if p.NoOptimizer || q.block == nil || q.block.values != nil || len(q.locks) > 0 {
		return
	}
	found := false
	q.block.eachItem(func(j *joinItem) {
		found = found || j.rel != nil && j.rel.query != nil && j.rel.cursor == ""
	})
	if !found {
		return
	}
	b := *q.block
	u := &puller{p: p, q: q, b: &b, used: usedColumns(q)}
	b.rels = maps.Clone(b.rels)
	b.where = slices.Clone(b.where)
	var from []*joinItem
	for _, j := range b.from {
		if j = u.item(j, pullContext{dest: &b.where, empty: true}); j != nil {
			from = append(from, j)
		}
	}
	if u.gone == nil || len(from) == 0 {
		return
	}
	b.from = from
	q.block = &b
	mapQuery(q, u.replace)
}

// replace is the expression that stood for a column of an entry that is no more; a
// copy of it, as it comes to stand in several places. That of a LATERAL one may read
// another.
func (u *puller) replace(e plan.Expr) plan.Expr {
	v, ok := e.(*plan.Var)
	if !ok {
		return e
	}
	if in := u.gone[v.Rel]; in != nil {
		return plan.Map(in.targets[v.Col].x, u.replace)
	}
	c := *v
	return &c
}

// usedColumns are the columns that a query's expressions read, by entry.
func usedColumns(q *query) map[int]map[int]bool {
	out := map[int]map[int]bool{}
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if v, ok := e.(*plan.Var); ok {
			if out[v.Rel] == nil {
				out[v.Rel] = map[int]bool{}
			}
			out[v.Rel][v.Col] = true
		}
		return e
	})
	return out
}

// selectedOnce are the columns that the query reads in one place, in its select list,
// and there once for each row that it makes: not in a subquery, nor of groups.
func selectedOnce(q *query) map[[2]int]bool {
	b, once := q.block, map[[2]int]bool{}
	if b.grouped || b.hasSRF {
		return once
	}
	for _, t := range b.targets {
		plan.Visit(t.x, func(e plan.Expr) bool {
			if v, ok := e.(*plan.Var); ok {
				once[[2]int{v.Rel, v.Col}] = true
			}
			return true
		})
	}
	uses := map[[2]int]int{}
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if v, ok := e.(*plan.Var); ok {
			uses[[2]int{v.Rel, v.Col}]++
		}
		return e
	})
	maps.DeleteFunc(once, func(k [2]int, _ bool) bool { return uses[k] > 1 })
	return once
}

// puller takes the derived tables of a block apart.
type puller struct {
	p    *planner
	q    *query
	b    *block // the block, which gets the entries
	used map[int]map[int]bool
	once map[[2]int]bool // see selectedOnce; nil until it is asked for
	gone map[int]*block  // what stood for the entries that are no more
}

// mayRunLate reports whether an expression with subqueries may stand for a column of an
// entry. One that is read elsewhere than in the select list is computed below what reads
// it: the condition of a join finds rows by its value.
func (u *puller) mayRunLate(rel, col int) bool {
	if u.once == nil {
		u.once = selectedOnce(u.q)
	}
	return u.once[[2]int{rel, col}]
}

// pullContext is where in the block's joins a derived table stands.
type pullContext struct {
	dest     *[]plan.Expr // where its conditions go; nil: it may not have any
	nullable bool         // the join may have no row of it
	beside   *relSet      // the entries that its conditions may read, nil: all
	empty    bool         // the place may become empty
}

// item takes apart what stands in a join tree, nil if nothing of it is left.
func (u *puller) item(j *joinItem, c pullContext) *joinItem {
	if j.rel != nil {
		in := u.simple(j.rel, c)
		if in == nil {
			return j
		}
		if u.gone == nil {
			u.gone = map[int]*block{}
		}
		u.gone[j.rel.id] = in
		delete(u.b.rels, j.rel.id)
		maps.Copy(u.b.rels, in.rels)
		if len(in.where) > 0 {
			*c.dest = append(*c.dest, in.where...)
		}
		var out *joinItem
		for _, f := range in.from {
			if out == nil {
				out = f
			} else {
				out = &joinItem{kind: plan.Inner, l: out, r: f}
			}
		}
		return out
	}
	n := &joinItem{kind: j.kind, on: slices.Clone(j.on)}
	l, r := c, c
	l.empty, r.empty = c.empty && j.kind == plan.Inner, c.empty && j.kind == plan.Inner
	both := j.ids()
	side := pullContext{dest: &n.on, nullable: true, beside: &both}
	switch j.kind {
	case plan.Left:
		r = side
	case plan.Right:
		l = side
	case plan.Full:
		l, r = pullContext{nullable: true}, pullContext{nullable: true}
	}
	n.l, n.r = u.item(j.l, l), u.item(j.r, r)
	switch {
	case n.l != nil && n.r != nil:
		return n
	case len(n.on) > 0: // of a join whose other side is one row without columns
		*c.dest = append(*c.dest, n.on...)
	}
	if n.l != nil {
		return n.l
	}
	return n.r
}

// simple is the block of a derived table that can be taken apart, nil of others.
func (u *puller) simple(r *rel, c pullContext) *block {
	p, q := u.p, r.query
	if q == nil || len(r.secure) > 0 || r.sample != nil || barrier(r.view) {
		return nil
	}
	if q.ref != nil {
		if q.work || !p.inlined(q.ref) {
			return nil
		}
		q = q.ref.q
		p.checkCollations(q)
	}
	q = singleRow(q)
	if !pullable(q) || len(q.sort) > 0 || q.block.distinct || len(q.block.semis) > 0 {
		return nil
	}
	for _, t := range q.block.targets {
		if hasEffect(t.x) {
			return nil
		}
	}
	p.dropUnread(q, u.used[r.id])
	p.blockFaults(q.block)
	p.pullUp(q)
	b := q.block
	switch {
	case len(b.from) == 0 && (c.nullable || !c.empty), len(b.where) > 0 && c.dest == nil:
		return nil
	}
	for _, x := range b.where {
		if volatileCall(x) {
			return nil
		}
	}
	var own relSet
	for id, in := range b.rels {
		if in.cursor != "" || in.target || r.lateral && in.sample != nil {
			return nil
		}
		own.add(id)
	}
	for col := range u.used[r.id] {
		if col < 0 || col >= len(b.targets) {
			return nil
		}
		x := b.targets[col].x
		_, plain := x.(*plan.Var)
		if x.Type() != r.cols[col].T || !plain && (hasSub(x) && !u.mayRunLate(r.id, col) || volatileCall(x) || p.coll.any) || c.nullable && !strictVar(x, own) {
			return nil
		}
	}
	if r.lateral && !u.beside(b, c) {
		return nil
	}
	return b
}

// singleRow is a list of values with one row as SELECT without FROM; other queries are
// returned as they are.
func singleRow(q *query) *query {
	if q.block == nil || len(q.block.values) != 1 {
		return q
	}
	b := &block{rels: map[int]*rel{}, ncols: len(q.cols)}
	for i, x := range q.block.values[0] {
		b.targets = append(b.targets, target{x: x, name: q.cols[i].Name})
	}
	out := *q
	out.block = b
	return &out
}

// beside reports whether the block of a LATERAL derived table may stand beside the
// entries that it reads. What is derived in it is LATERAL then.
func (u *puller) beside(b *block, c pullContext) bool {
	reads := func(list []plan.Expr, ok func(id int) bool) bool {
		for _, x := range list {
			for id := range relsOf(x).all() {
				if (u.b.rels[id] != nil || u.gone[id] != nil) && !ok(id) {
					return false
				}
			}
		}
		return true
	}
	none := func(int) bool { return false }
	ok := c.beside == nil || reads(b.where, c.beside.has)
	var derived []*rel
	for _, f := range b.from {
		f.each(func(j *joinItem) {
			switch {
			case j.rel == nil:
				ok = ok && (j.kind == plan.Inner && c.beside == nil || reads(j.on, none))
			case j.rel.query != nil || j.rel.funcs != nil:
				derived = append(derived, j.rel)
			}
		})
	}
	if ok {
		for _, r := range derived {
			r.lateral = true
		}
	}
	return ok
}
