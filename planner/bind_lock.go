package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// lockClause is a FOR UPDATE (or one of its relatives) of a query. It names the
// tables of the query's own block; those inside of its derived tables and views
// get a clause there.
type lockClause struct {
	strength           string
	rels               relSet
	noWait, skipLocked bool
}

// locking binds FOR UPDATE and its relatives.
func (p *planner) locking(s *ast.Select, q *query, sc *scope) {
	for _, l := range s.Locking {
		p.checkLocking(q, l.Strength)
		if q.ties && l.SkipLocked {
			failf(sqlerr.SyntaxError, -1, "SKIP LOCKED and WITH TIES options cannot be used together")
		}
		c := lockClause{strength: l.Strength, noWait: l.NoWait, skipLocked: l.SkipLocked}
		if len(l.Of) == 0 {
			for _, r := range q.block.rels {
				p.lockRel(r, &c)
			}
		}
		for _, n := range l.Of {
			if len(n.Parts) > 1 {
				failf(sqlerr.SyntaxError, n.Pos(), "FOR %s must specify unqualified relation names", l.Strength)
			}
			it := (&scope{items: sc.items}).item("", n.Last(), n.Pos())
			if it == nil {
				failf(sqlerr.UndefinedTable, n.Pos(), "relation \"%s\" in FOR %s clause not found in FROM clause", n.Last(), l.Strength)
			}
			if bad := notLockable(it.rel); bad != "" {
				failf(sqlerr.FeatureNotSupported, n.Pos(), "FOR %s cannot be applied to %s", l.Strength, bad)
			}
			p.lockRel(it.rel, &c)
		}
		p.writes = true
		p.mayLock(&c)
		q.locks = append(q.locks, c)
		for _, j := range q.block.from {
			checkNullable(j, &c, false)
		}
	}
}

// mayLock asks for the right to lock the rows of what a clause names.
func (p *planner) mayLock(c *lockClause) {
	for id := range c.rels.all() {
		if right := p.watched[id]; right != nil {
			right.Need |= catalog.PrivUpdate
		}
	}
}

// checkLocking refuses queries whose rows are not those of tables.
func (p *planner) checkLocking(q *query, strength string) {
	bad, bl := "", q.block
	switch {
	case q.setop != nil:
		bad = "UNION/INTERSECT/EXCEPT"
	case bl == nil:
	case bl.distinct:
		bad = "DISTINCT clause"
	case bl.grouped && (len(bl.keys) > 0 || bl.sets != nil):
		bad = "GROUP BY clause"
	case bl.grouped && len(bl.having) > 0:
		bad = "HAVING clause"
	case bl.grouped:
		bad = "aggregate functions"
	case len(bl.wins) > 0:
		bad = "window functions"
	case bl.hasSRF:
		bad = "set-returning functions in the target list"
	}
	if bad != "" {
		failf(sqlerr.FeatureNotSupported, -1, "FOR %s is not allowed with %s", strength, bad)
	}
}

// notLockable says what an entry of FROM is when OF may not name it.
func notLockable(r *rel) string {
	switch {
	case r == nil:
		return "a join"
	case len(r.funcs) > 0:
		return "a function"
	case r.query != nil && (r.query.ref != nil || r.query.work):
		return "a WITH query"
	}
	return ""
}

// lockRel adds an entry of FROM to the clause: a table, or the tables inside of a
// derived table or view. Others have nothing to lock.
func (p *planner) lockRel(r *rel, c *lockClause) {
	if r.seq != nil {
		failf(sqlerr.WrongObjectType, -1, "cannot lock rows in sequence \"%s\"", r.seq.Name)
	}
	if r.table != nil {
		if v, ok := p.Snap.RelationByOID(p.DB, r.table.OID).(*catalog.View); ok {
			failf(sqlerr.WrongObjectType, -1, "cannot lock rows in materialized view \"%s\"", v.Name)
		}
		r.needKey = true
		c.rels.add(r.id)
		p.secure(r, r.table, 'w')
		locked := []*catalog.Table{r.table}
		if r.tree != nil {
			locked = append(locked, r.tree.members...)
		}
		for _, t := range locked {
			if u := p.useOf(t); u != nil {
				u.Lock = true
			}
		}
		return
	}
	if r.query == nil || notLockable(r) != "" || r.query.dml != nil {
		return
	}
	c.rels.add(r.id)
	if r.view == nil || r.query.setop == nil {
		p.checkLocking(r.query, c.strength)
	}
	if r.query.block == nil {
		return
	}
	in := lockClause{strength: c.strength, noWait: c.noWait, skipLocked: c.skipLocked}
	for _, x := range r.query.block.rels {
		p.lockRel(x, &in)
	}
	p.mayLock(&in)
	r.query.locks = append(r.query.locks, in)
	for _, j := range r.query.block.from {
		checkNullable(j, &in, false)
	}
}

// checkNullable refuses to lock rows that an outer join may replace by NULLs.
func checkNullable(j *joinItem, c *lockClause, nullable bool) {
	if j.rel != nil {
		if nullable && c.rels.has(j.rel.id) {
			failf(sqlerr.FeatureNotSupported, -1, "FOR %s cannot be applied to the nullable side of an outer join", c.strength)
		}
		return
	}
	checkNullable(j.l, c, nullable || j.kind == plan.Right || j.kind == plan.Full)
	checkNullable(j.r, c, nullable || j.kind == plan.Left || j.kind == plan.Full)
}
