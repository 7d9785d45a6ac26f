package planner

import (
	"fmt"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// planExprs turns Vars into columns of an input with the layout, and
// subqueries into subplans whose outer references are parameters.
func (p *planner) planExprs(list []plan.Expr, lay layout) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i, e := range list {
		if e != nil {
			out[i] = p.place(e, lay)
		}
	}
	return out
}

func (p *planner) place(e plan.Expr, lay layout) plan.Expr {
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		switch x := x.(type) {
		case *plan.Var:
			i, ok := lay[[2]int{x.Rel, x.Col}]
			if !ok {
				panic(fmt.Sprintf("planner: column %s (%d.%d) is not in the input", x.Name, x.Rel, x.Col))
			}
			return &plan.Col{At: x.At, Idx: i, Name: x.Name}
		case *subquery:
			return p.planSub(x, lay)
		case *plan.Param:
			if x.Idx < len(p.params) && x.T.OID == types.OUnknown && p.params[x.Idx].OID != types.OUnknown {
				c := *x
				c.T = p.params[x.Idx]
				return &c
			}
		}
		return x
	})
}

// plannedSub is a subquery's plan with the outer columns that it reads. An
// expression may hold the same subquery several times (x BETWEEN, row values).
type plannedSub struct {
	node  plan.Node
	outer []outerRef
	once  *plan.SubPlan // of one that has the same value wherever it stands
}

type outerRef struct {
	slot int
	v    *plan.Var   // a column of the enclosing block …
	prm  *plan.Param // … or a parameter of a subplan further out
}

// outerParams replaces the Vars of the layout in q by new parameters (P3).
func (p *planner) outerParams(q *query, lay layout) []outerRef {
	slots := map[[2]int]int{}
	var outer []outerRef
	inherited, own := map[int]bool{}, map[int]bool{}
	// the results depend on the parameters of enclosing subplans as well
	inherit := func(x *plan.Param) {
		if x.Idx >= slotBase && !inherited[x.Idx] && !own[x.Idx] {
			inherited[x.Idx] = true
			outer = append(outer, outerRef{slot: x.Idx, prm: x})
		}
	}
	mapQuery(q, func(e plan.Expr) plan.Expr {
		switch x := e.(type) {
		case *plan.Var:
			k := [2]int{x.Rel, x.Col}
			if _, ok := lay[k]; !ok {
				return e
			}
			slot, ok := slots[k]
			if !ok {
				slot = slotBase + p.slots
				p.slots++
				slots[k], own[slot] = slot, true
				outer = append(outer, outerRef{slot: slot, v: x})
			}
			return &plan.Param{At: x.At, Idx: slot}
		case *plan.Param:
			inherit(x)
		}
		return e
	})
	eachWith(q, map[any]bool{}, func(def *cteDef) {
		params := func(e plan.Expr) plan.Expr {
			if x, ok := e.(*plan.Param); ok {
				inherit(x)
			}
			return e
		}
		mapQuery(def.q, params)
		mapQuery(def.stepQ, params)
	})
	return outer
}

// eachWith calls f for the WITH queries that q reads, at all depths, once each.
// seen has the queries and WITH queries that need not be looked at again.
func eachWith(q *query, seen map[any]bool, f func(*cteDef)) {
	if q == nil || seen[q] {
		return
	}
	seen[q] = true
	if q.ref != nil && !seen[q.ref] {
		seen[q.ref] = true
		f(q.ref)
		eachWith(q.ref.q, seen, f)
		eachWith(q.ref.stepQ, seen, f)
	}
	for _, c := range q.ctes {
		eachWith(c.q, seen, f)
		eachWith(c.stepQ, seen, f)
	}
	if q.setop != nil {
		eachWith(q.setop.l, seen, f)
		eachWith(q.setop.r, seen, f)
	}
	if q.block != nil {
		for _, r := range q.block.rels {
			eachWith(r.query, seen, f)
		}
		for _, m := range q.block.semis {
			eachWith(m.q, seen, f)
		}
	}
	mapQuery(q, func(e plan.Expr) plan.Expr {
		if s, ok := e.(*subquery); ok {
			eachWith(s.q, seen, f)
		}
		return e
	})
}

func subParams(outer []outerRef, lay layout) []plan.SubParam {
	var out []plan.SubParam
	for _, o := range outer {
		if o.v == nil {
			out = append(out, plan.SubParam{Idx: o.slot, X: &plan.Param{At: o.prm.At, Idx: o.slot}})
			continue
		}
		out = append(out, plan.SubParam{Idx: o.slot, X: &plan.Col{At: o.v.At, Idx: lay[[2]int{o.v.Rel, o.v.Col}], Name: o.v.Name}})
	}
	return out
}

func (p *planner) planSub(s *subquery, lay layout) plan.Expr {
	done := p.subs[s.q]
	if done == nil {
		if s.kind == plan.SubExists {
			onlyExistence(s.q)
		}
		done = &plannedSub{outer: p.outerParams(s.q, lay)}
		if s.kind == plan.SubExists && s.q.block != nil && !s.q.block.grouped && s.q.limit == nil && s.q.block.values == nil {
			// only existence counts
			s.q.limit = &plan.Const{At: plan.At{T: types.TInt8, Off: -1}, Val: types.Int(types.TInt8, 1)}
			s.q.sort = nil
		}
		done.node = p.planQuery(s.q)
		if len(done.outer) > 0 {
			done.node = p.keepParts(done.node)
		}
		if p.subs == nil {
			p.subs = map[*query]*plannedSub{}
		}
		p.subs[s.q] = done
		p.subCost += done.node.Base().Cost
	}
	if done.once != nil && done.once.Kind == s.kind && done.once.Not == s.not {
		return done.once
	}
	out := &plan.SubPlan{At: s.At, Kind: s.kind, Plan: done.node, Outer: subParams(done.outer, lay), Not: s.not, Hash: s.eq && s.kind == plan.SubAny}
	out.X = s.x // placed by the caller's Map already
	if s.test != nil {
		l := layout{}
		for i := range s.x {
			l[[2]int{s.xrel, i}] = i
		}
		for i := range s.q.cols {
			l[[2]int{s.q.rel, i}] = len(s.x) + i
		}
		out.Test = p.place(s.test, l)
	}
	if len(done.outer) == 0 && len(s.x) == 0 && s.test == nil {
		done.once = out // it runs once for all of them
	}
	return out
}

// needOf collects the columns that e reads, subqueries included.
func needOf(e plan.Expr, need map[int]map[int]bool) {
	eachVar(e, func(v *plan.Var) {
		m := need[v.Rel]
		if m == nil {
			m = map[int]bool{}
			need[v.Rel] = m
		}
		m[v.Col] = true
	})
}

// eachVar calls f for the columns that e reads, subqueries included.
func eachVar(e plan.Expr, f func(*plan.Var)) {
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Var:
			f(x)
		case *subquery:
			mapQuery(x.q, func(y plan.Expr) plan.Expr {
				if v, ok := y.(*plan.Var); ok {
					f(v)
				}
				return y
			})
		}
		return true
	})
}

// inOrder lists a set of columns.
func inOrder(cols map[int]bool) []int {
	out := slices.Grow([]int(nil), len(cols))
	for c := range cols {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// blockNeeds collects the columns that the block reads of each entry.
func blockNeeds(s *state) {
	b := s.b
	list := func(l []plan.Expr) {
		for _, e := range l {
			needOf(e, s.need)
		}
	}
	// conjuncts of WHERE are added where they turn out to be applied
	list(b.keys)
	list(b.having)
	for _, a := range b.aggs {
		list(a.Args)
		needOf(a.Filter, s.need)
		for _, k := range a.OrderBy {
			needOf(k.X, s.need)
		}
	}
	for _, w := range b.wins {
		list(w.partition)
		for _, k := range w.order {
			needOf(k.X, s.need)
		}
		for _, f := range w.funcs {
			list(f.Args)
			needOf(f.Filter, s.need)
			needOf(f.Frame.Start, s.need)
			needOf(f.Frame.End, s.need)
		}
	}
	for _, t := range b.targets {
		needOf(t.x, s.need)
	}
	needPosition(s)
	for _, m := range b.semis {
		list(m.conds)
	}
	s.b.eachItem(func(j *joinItem) {
		if j.rel == nil {
			list(j.on)
			return
		}
		list(j.rel.funcs)
		if j.rel.lateral && j.rel.query != nil {
			mapQuery(j.rel.query, func(y plan.Expr) plan.Expr {
				if v, ok := y.(*plan.Var); ok {
					needOf(v, s.need)
				}
				return y
			})
		}
		if j.rel.needKey {
			needOf(&plan.Var{Rel: j.rel.id, Col: plan.ColRowKey}, s.need)
			if j.rel.tree != nil {
				needOf(&plan.Var{Rel: j.rel.id, Col: plan.ColTableOID}, s.need)
			}
		}
	})
}
