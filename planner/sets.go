package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/planner/plan"
)

// Set-returning functions outside of FROM. A call stands for a set of rows, all
// the calls of a level side by side:
//
//	SELECT generate_series(1, generate_series(1, 3)), unnest(a) FROM t
//
// computes the inner series and unnest in one ProjectSet node and the outer
// series in a second one above it.

// setCalls counts the calls bound so far and knows where the last one stands.
type setCalls struct{ n, last int }

func (s *setCalls) saw(off int) { s.n, s.last = s.n+1, off }

// none refuses calls that came after before.
func (s *setCalls) none(before setCalls, msg string) {
	if s.n > before.n {
		fail(sqlerr.New(sqlerr.FeatureNotSupported, "%s", msg).At(s.last).
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item."))
	}
}

// setCall notes a set-returning call, where the clause may have one.
func (b *binder) setCall(off int) {
	if !b.srf {
		failf(sqlerr.FeatureNotSupported, off, "set-returning functions are not allowed in %s", b.clause())
	}
	b.sawSRF = true
	b.sets.saw(off)
}

func isSet(x plan.Expr) bool {
	c, ok := x.(*plan.Call)
	return ok && c.Proc.RetSet
}

// holdsSet reports whether an expression has a set-returning call.
func holdsSet(x plan.Expr) bool {
	found := false
	plan.Visit(x, func(y plan.Expr) bool {
		found = found || isSet(y)
		return !found
	})
	return found
}

// innermost reports whether x is a set-returning call whose arguments have none.
func innermost(x plan.Expr) bool {
	if !isSet(x) {
		return false
	}
	for _, a := range x.(*plan.Call).Args {
		if holdsSet(a) {
			return false
		}
	}
	return true
}

// noSetWithin refuses set-returning calls in a function of FROM other than the
// function itself.
func noSetWithin(x plan.Expr) {
	plan.Visit(x, func(y plan.Expr) bool {
		if y != x && isSet(y) {
			failf(sqlerr.FeatureNotSupported, y.Pos(), "set-returning functions must appear at top level of FROM")
		}
		return true
	})
}

// projectSets computes expressions over a node's columns, of which some hold
// set-returning calls: a ProjectSet for each level of nesting, and a projection
// above where a call is part of an expression.
func projectSets(n plan.Node, xs []plan.Expr, cols []plan.OutCol) plan.Node {
	rows, cost := n.Base().Rows*10, n.Base().Cost
	over := func(b *plan.Common, cols []plan.OutCol) { b.Rows, b.Cost, b.Cols = rows, cost, cols }
	for {
		direct := true
		for _, x := range xs {
			direct = direct && (innermost(x) || !holdsSet(x) && !volatileCall(x))
		}
		if direct {
			break
		}
		var sets []plan.Expr
		var out []plan.OutCol
		for i, c := range n.Base().Cols {
			sets = append(sets, &plan.Col{At: plan.At{T: c.T, Off: -1}, Idx: i, Name: c.Name})
			out = append(out, c)
		}
		at := map[string]int{}
		var lift func(y plan.Expr) plan.Expr
		lift = func(y plan.Expr) plan.Expr {
			if !innermost(y) {
				return plan.MapChildren(y, lift)
			}
			k := exprKey(y)
			if _, ok := at[k]; !ok {
				at[k] = len(sets)
				sets = append(sets, y)
				out = append(out, plan.OutCol{T: y.Type()})
			}
			return &plan.Col{At: plan.At{T: y.Type(), Off: y.Pos()}, Idx: at[k]}
		}
		next := make([]plan.Expr, len(xs))
		for i, x := range xs {
			next[i] = lift(x)
		}
		if len(at) == 0 {
			break
		}
		ps := &plan.ProjectSet{Input: n, Exprs: sets}
		over(ps.Base(), out)
		n, xs = ps, next
	}
	for _, x := range xs {
		if isSet(x) {
			ps := &plan.ProjectSet{Input: n, Exprs: xs}
			over(ps.Base(), cols)
			return ps
		}
	}
	pr := &plan.Project{Input: n, Exprs: xs}
	over(pr.Base(), cols)
	return pr
}

// lateSets tells which targets are computed above ORDER BY and DISTINCT ON but
// below LIMIT, nil if none are: those with set-returning calls, where neither
// clause reads such a call. The rows of a set then stay together and in its
// order, and DISTINCT ON is decided before there are sets:
//
//	SELECT DISTINCT ON (a) a, generate_series(1, b) FROM t ORDER BY a, b
//
// gives b rows for every a.
func lateSets(s *state, sorted bool) []bool {
	b, q := s.b, s.q
	if !b.hasSRF || len(q.sort) == q.added || sorted && b.distinctOn == nil || b.distinct && b.distinctOn == nil {
		return nil
	}
	late := make([]bool, len(b.targets))
	for i := range b.targets {
		late[i] = holdsSet(b.targets[i].x)
	}
	if !slices.Contains(late, true) || slices.ContainsFunc(b.distinctOn, func(t int) bool { return late[t] }) ||
		slices.ContainsFunc(q.sort, func(k sortKey) bool { return late[k.target] }) {
		return nil
	}
	return late
}

// setsAbove computes all targets above n, which has the early part of them.
func (p *planner) setsAbove(s *state, n plan.Node, late []bool, at []int, lay layout) plan.Node {
	b := s.b
	xs := make([]plan.Expr, len(b.targets))
	cols := make([]plan.OutCol, len(b.targets))
	for i := range b.targets {
		t := &b.targets[i]
		if late[i] {
			xs[i] = p.place(t.x, lay)
		} else {
			xs[i] = &plan.Col{At: plan.At{T: t.x.Type(), Off: -1}, Idx: at[i], Name: t.name}
		}
		cols[i] = t.out(xs[i])
		cols[i].Hidden = i >= b.ncols
	}
	return projectSets(n, xs, cols)
}

// liftSets computes the set-returning calls of expressions that GROUP BY or
// windows read, above the state's rows, and puts columns in their place, in the
// select list as well: a call that stands in both is computed once.
func (p *planner) liftSets(s *state, lists ...[]plan.Expr) {
	type lifted struct {
		call plan.Expr
		v    *plan.Var
	}
	if !slices.ContainsFunc(lists, func(l []plan.Expr) bool { return slices.ContainsFunc(l, holdsSet) }) {
		return
	}
	in := s.cur
	id := p.newRel()
	calls := map[string]*lifted{}
	var xs []plan.Expr
	cols := in.node.Base().Cols
	for i, c := range cols {
		xs = append(xs, &plan.Col{At: plan.At{T: c.T, Off: -1}, Idx: i, Name: c.Name})
	}
	lay := maps.Clone(in.lay)
	var lift func(x plan.Expr) plan.Expr
	lift = func(x plan.Expr) plan.Expr {
		if !isSet(x) {
			return plan.MapChildren(x, lift)
		}
		k := exprKey(x)
		if calls[k] == nil {
			calls[k] = &lifted{x, &plan.Var{At: plan.At{T: x.Type(), Off: x.Pos()}, Rel: id, Col: len(calls)}}
			lay[[2]int{id, calls[k].v.Col}] = len(xs)
			xs = append(xs, p.place(x, in.lay))
			cols = append(cols[:len(cols):len(cols)], plan.OutCol{T: x.Type()})
		}
		return calls[k].v
	}
	for _, l := range lists {
		for i, x := range l {
			if holdsSet(x) {
				l[i] = lift(x)
			}
		}
	}
	same := func(x plan.Expr) plan.Expr {
		if isSet(x) {
			if c := calls[exprKey(x)]; c != nil {
				return c.v
			}
		}
		return x
	}
	for i := range s.b.targets {
		s.b.targets[i].x = plan.Map(s.b.targets[i].x, same)
	}
	n := projectSets(in.node, xs, cols)
	s.cur = &pnode{node: n, lay: lay, rels: in.rels.union(relSetOf(id)), rows: n.Base().Rows, cost: n.Base().Cost}
}

// liftWindowSets is liftSets for what the windows partition and order by.
func (p *planner) liftWindowSets(s *state) {
	var xs []plan.Expr
	each := func(f func(x *plan.Expr)) {
		for _, w := range s.b.wins {
			for i := range w.partition {
				f(&w.partition[i])
			}
			for i := range w.order {
				f(&w.order[i].X)
			}
		}
	}
	each(func(x *plan.Expr) { xs = append(xs, *x) })
	p.liftSets(s, xs)
	each(func(x *plan.Expr) { *x, xs = xs[0], xs[1:] })
}
