package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// dropUnread replaces the columns of a derived table that nobody reads by NULL: they
// cost nothing and cannot fail. Given
//
//	CREATE VIEW v AS SELECT x, 1 / y AS d FROM t
//
// SELECT x FROM v does not divide. What decides how many rows there are, or has side
// effects, stays, and so does what WITH queries keep for several readers.
func (p *planner) dropUnread(q *query, read map[int]bool) {
	for q.ref != nil {
		if q.work || !p.inlined(q.ref) {
			return
		}
		q = q.ref.q
	}
	if q.setop != nil {
		if q.setop.op == "UNION" && q.setop.all && q.sort == nil {
			p.dropUnread(q.setop.l, read)
			p.dropUnread(q.setop.r, read)
		}
		return
	}
	b := q.block
	if q.dml != nil || b == nil || b.values != nil || b.distinct && b.distinctOn == nil {
		return
	}
	kept := map[int]bool{}
	for _, k := range q.sort {
		kept[k.target] = true
	}
	for _, t := range b.distinctOn {
		kept[t] = true
	}
	for i := range b.targets[:b.ncols] {
		x := b.targets[i].x
		if read[i] || kept[i] || hasEffect(x) {
			continue
		}
		b.targets[i].x = nullOf(x)
	}
	dropUnreadAggs(q)
	dropUnreadWindows(q)
}

// dropUnreadWindows takes windows of which no function is read out of a query, which
// PostgreSQL does not compute either; but it computes what they order rows by.
func dropUnreadWindows(q *query) {
	b := q.block
	b.wins = slices.DeleteFunc(b.wins, func(w *winGroup) bool {
		read := len(w.stop) > 0 || slices.ContainsFunc(w.sortKeys(), func(k plan.SortKey) bool {
			_, column := k.X.(*plan.Var)
			return !column
		}) || slices.ContainsFunc(w.funcs, func(f plan.WindowFunc) bool {
			return slices.ContainsFunc(f.Args, hasEffect) || f.Filter != nil && hasEffect(f.Filter)
		})
		if read {
			return false
		}
		mapQuery(q, func(e plan.Expr) plan.Expr {
			if v, ok := e.(*plan.Var); ok && v.Rel == w.rel {
				read = true
			}
			return e
		})
		return !read
	})
}

// dropUnreadAggs has aggregates that nothing reads compute nothing: they keep their
// place.
func dropUnreadAggs(q *query) {
	b := q.block
	if len(b.aggs) == 0 {
		return
	}
	read := map[int]bool{}
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if v, ok := e.(*plan.Var); ok && v.Rel == b.grpRel {
			read[v.Col-len(b.keys)] = true
		}
		return e
	})
	for i := range b.aggs {
		a := &b.aggs[i]
		if read[i] || a.User != nil || len(a.OrderBy) > 0 || slices.ContainsFunc(a.Args, hasEffect) || a.Filter != nil && hasEffect(a.Filter) {
			continue
		}
		for k, x := range a.Args {
			a.Args[k] = nullOf(x)
		}
		// No row counts: some aggregates fail for NULL, as jsonb_object_agg does.
		a.Filter, a.Distinct = constBool(false), false
	}
}

func nullOf(x plan.Expr) plan.Expr {
	return &plan.Const{At: plan.At{T: x.Type(), Off: -1}, Val: types.Null(x.Type())}
}

// hasEffect reports whether an expression calls volatile functions, or those that
// return sets.
func hasEffect(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			found = found || x.Proc.RetSet || x.Proc.Volatile == 'v'
		case *subquery:
			found = found || queryVolatile(x.q)
		}
		return !found
	})
	return found
}
