package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A ctid is made of the row's key, to which it leads back only sometimes (see ctid.go): a
// key of several or of long columns is hashed there. So rows that are named by a ctid that
// was read from the same table are found by the primary key instead:
//
//	DELETE FROM log WHERE ctid IN (SELECT ctid FROM log WHERE done LIMIT 100)    as if
//	DELETE FROM log WHERE id IN (SELECT id FROM log WHERE done LIMIT 100)
//
// is looked up a hundred times and not read as a whole. Both read one snapshot, in which
// rows with one key are one row.

// sameRows compares keys where the block's conditions compare ctids of one table.
func (p *planner) sameRows(s *state) {
	s.b.where = p.compareKeys(s, s.b.where)
	s.b.eachItem(func(j *joinItem) {
		if j.rel == nil {
			j.on = p.compareKeys(s, j.on)
		}
	})
	for _, m := range s.b.semis {
		if !m.nullAware {
			p.semiRel(s, m)
			m.conds = p.compareKeys(s, m.conds)
		}
	}
}

// compareKeys returns the conditions with equalities of keys in place of those of ctids.
func (p *planner) compareKeys(s *state, conds []plan.Expr) []plan.Expr {
	var out []plan.Expr
	for i, c := range conds {
		keys := p.keysOfCtids(s, c)
		switch {
		case keys != nil && out == nil:
			out = append(slices.Clone(conds[:i]), keys...)
		case keys != nil:
			out = append(out, keys...)
		case out != nil:
			out = append(out, c)
		}
	}
	if out == nil {
		return conds
	}
	return out
}

func (p *planner) keysOfCtids(s *state, c plan.Expr) []plan.Expr {
	l, r, ok := equality(c)
	if !ok {
		return nil
	}
	x, y := p.tracedCtid(s.b, l), p.tracedCtid(s.b, r)
	if x == nil || y == nil || x.base().table.OID != y.base().table.OID {
		return nil
	}
	var out []plan.Expr
	for _, col := range x.base().table.PK {
		out = append(out, p.operator("pg_catalog", "=", x.column(col), y.column(col), -1))
	}
	return out
}

// ctidOf is how a ctid comes from a table to who compares it: as a column of the entry,
// whose query, if it has one, passes it on from the next, or has passed the key on too.
type ctidOf struct {
	rel  *rel
	next *ctidOf
	kept *keptKey
}

// keptKey is where the rows of a WITH query, which are kept, have the key of a ctid.
type keptKey struct {
	rel *rel  // the table
	at  []int // its key's columns
}

// tracedCtid says where a ctid comes from, nil unless it is that of a table with a
// primary key whose rows all who pass it on pass one by one.
func (p *planner) tracedCtid(b *block, e plan.Expr) *ctidOf {
	v, ok := e.(*plan.Var)
	if !ok || v.T.OID != types.OTid {
		return nil
	}
	r := b.rels[v.Rel]
	switch {
	case r == nil || r.cursor != "" || r.tree != nil || r.view != nil:
		return nil
	case r.table != nil:
		if v.Col != plan.ColCtid || len(r.table.PK) == 0 || r.table.Deferrable(r.table.PrimaryIndex()) {
			return nil
		}
		return &ctidOf{rel: r}
	case r.query == nil || v.Col < 0:
		return nil
	}
	q := r.query
	for ; q.ref != nil; q = q.ref.q {
		switch {
		case q.work:
			return nil
		case p.inlined(q.ref):
			continue
		}
		p.keepKeys(q.ref)
		if k := q.ref.keys[v.Col]; k != nil {
			return &ctidOf{rel: r, kept: k}
		}
		return nil
	}
	if next := p.passedCtid(q, v.Col); next != nil {
		return &ctidOf{rel: r, next: next}
	}
	return nil
}

// passedCtid says where a column of a query that passes rows on as they are comes from.
func (p *planner) passedCtid(q *query, col int) *ctidOf {
	b := q.block
	if b == nil || q.dml != nil || q.setop != nil || b.values != nil || b.grouped || b.distinct || b.hasSRF || col >= b.ncols {
		return nil
	}
	return p.tracedCtid(b, b.targets[col].x)
}

// keepKeys has a WITH query whose rows are kept pass on the keys of the ctids among its
// columns.
func (p *planner) keepKeys(def *cteDef) {
	if p.NoOptimizer || def.dml || def.recursive || def.keys != nil {
		return
	}
	def.keys = map[int]*keptKey{}
	for i, c := range def.q.cols {
		if c.T.OID != types.OTid {
			continue
		}
		from := p.passedCtid(def.q, i)
		if from == nil {
			continue
		}
		k := &keptKey{rel: from.base()}
		for _, col := range k.rel.table.PK {
			k.at = append(k.at, def.q.pass(from.column(col)))
		}
		def.keys[i] = k
	}
}

// base is the table that the ctid is of.
func (c *ctidOf) base() *rel {
	for c.next != nil {
		c = c.next
	}
	if c.kept != nil {
		return c.kept.rel
	}
	return c.rel
}

// column is a column of the table's key where the ctid is compared: those between pass
// it on.
func (c *ctidOf) column(col int) *plan.Var {
	t := c.base().table
	out := &plan.Var{At: plan.At{T: t.Columns[col].Type, Off: -1}, Rel: c.rel.id, Col: col, Name: t.Columns[col].Name}
	switch {
	case c.kept != nil:
		out.Col = c.kept.at[slices.Index(t.PK, col)]
		c.rel.query.widen(out.Col + 1)
	case c.next != nil:
		out.Col = c.rel.query.pass(c.next.column(col))
	default:
		return out
	}
	for i := len(c.rel.cols); i < len(c.rel.query.cols); i++ {
		c.rel.cols = append(c.rel.cols[:i:i], c.rel.query.cols[i])
	}
	return out
}

// pass has a query pass a column of its block on as its last one, unless it does already,
// and returns its number.
func (q *query) pass(v *plan.Var) int {
	if q.ref != nil {
		at := q.ref.q.pass(v)
		q.widen(at + 1)
		return at
	}
	b := q.block
	at := slices.IndexFunc(b.targets[:b.ncols], func(t target) bool {
		x, ok := t.x.(*plan.Var)
		return ok && x.Rel == v.Rel && x.Col == v.Col
	})
	if at >= 0 {
		return at
	}
	at = b.ncols
	b.targets = slices.Insert(slices.Clone(b.targets), at, target{x: v, name: v.Name})
	b.ncols++
	for i := range q.sort {
		if q.sort[i].target >= at {
			q.sort[i].target++
		}
	}
	q.cols = append(q.cols[:at:at], plan.OutCol{Name: v.Name, T: v.T})
	return at
}

// widen has a reference to a WITH query pass on at least its first n columns.
func (q *query) widen(n int) {
	for i := len(q.cols); i < n; i++ {
		q.cols = append(q.cols[:i:i], q.ref.q.cols[i])
	}
}

// anyOfCtids is ctid = ANY (ARRAY(query)) as ctid IN (query), which is a join; other
// conditions it returns as they are.
func (p *planner) anyOfCtids(e plan.Expr) plan.Expr {
	a, ok := e.(*plan.AnyArray)
	if !ok || a.All || a.Op != "=" {
		return e
	}
	x, ok := a.X.(*plan.Var)
	in, is := a.Array.(*subquery)
	if !ok || !is || x.Col != plan.ColCtid || in.kind != plan.SubArray || len(in.q.cols) == 0 || in.q.cols[0].T.OID != types.OTid {
		return e
	}
	sub := &subquery{At: a.At, kind: plan.SubAny, q: in.q, x: []plan.Expr{x}, xrel: p.newRel(), op: "=", eq: true}
	sub.test = p.operator("pg_catalog", "=", &plan.Var{At: x.At, Rel: sub.xrel},
		&plan.Var{At: plan.At{T: in.q.cols[0].T, Off: -1}, Rel: in.q.rel, Name: in.q.cols[0].Name}, -1)
	return sub
}

// firstCols passes the first of a node's columns.
func firstCols(n plan.Node, cols []plan.OutCol) plan.Node {
	pr := &plan.Project{Input: n, Exprs: make([]plan.Expr, len(cols))}
	for i, c := range cols {
		pr.Exprs[i] = &plan.Col{At: plan.At{T: c.T, Off: -1}, Idx: i, Name: c.Name}
	}
	pr.Cols, pr.Rows, pr.Cost = cols, n.Base().Rows, n.Base().Cost
	return pr
}
