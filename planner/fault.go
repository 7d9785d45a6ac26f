package planner

import (
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A constant part of a statement that fails, such as 1/0, fails for the whole
// statement, whether a row would come to it or not; but not where CASE, COALESCE,
// AND or OR make it unreachable:
//
//	SELECT 1/0 FROM t WHERE false              fails
//	SELECT CASE WHEN false THEN 1/0 END        does not
//	SELECT CASE WHEN a > 0 THEN 1/0 END FROM t fails

// blockFaults looks for such parts in a block.
func (p *planner) blockFaults(b *block) {
	if p.Consts == nil {
		return
	}
	list := func(l []plan.Expr) {
		for _, x := range l {
			p.constFault(x)
		}
	}
	for i := range b.targets {
		p.constFault(b.targets[i].x)
	}
	all := func(l []plan.Expr) {
		if len(l) > 0 {
			p.constFault(&plan.And{At: plan.At{T: types.TBool, Off: -1}, Args: l})
		}
	}
	all(b.where)
	all(b.having)
	list(b.keys)
	for i := range b.aggs {
		list(b.aggs[i].Args)
		p.constFault(b.aggs[i].Filter)
	}
	var items func(j *joinItem)
	items = func(j *joinItem) {
		if j.rel != nil {
			list(j.rel.funcs)
			return
		}
		items(j.l)
		items(j.r)
		all(j.on)
	}
	for _, j := range b.from {
		items(j)
	}
}

// constFault evaluates the calls over constants that folding left, which it
// leaves where they fail, and keeps the first error.
func (p *planner) constFault(e plan.Expr) {
	if e == nil || p.fault != nil {
		return
	}
	truth := func(x plan.Expr) (v, known bool) {
		k, ok := x.(*plan.Const)
		return ok && !k.Val.Null && k.Val.I != 0, ok
	}
	switch e := e.(type) {
	case *plan.Case:
		p.constFault(e.Operand)
		operand, _ := e.Operand.(*plan.Const)
		for _, w := range e.Whens {
			cond := w.Cond
			if operand != nil {
				cond = p.withCaseVal(cond, operand)
			}
			p.constFault(cond)
			v, known := truth(cond)
			if !known && p.mayBeConst(cond) {
				return
			}
			if !known || v {
				p.constFault(w.Result)
			}
			if known && v {
				return
			}
		}
		p.constFault(e.Else)
		return
	case *plan.Coalesce:
		for _, a := range e.Args {
			p.constFault(a)
			if k, ok := a.(*plan.Const); ok && !k.Val.Null {
				return
			}
		}
		return
	case *plan.And:
		for _, a := range e.Args {
			p.constFault(a)
			if v, known := truth(a); known && !v {
				return
			}
		}
		return
	case *plan.Or:
		for _, a := range e.Args {
			p.constFault(a)
			if v, _ := truth(a); v {
				return
			}
		}
		return
	case *plan.Call:
		if foldable(e) {
			if _, err := p.Consts.EvalConst(e); err != nil {
				p.fault = err
			}
			return
		}
	case *subquery:
		for _, x := range e.x {
			p.constFault(x)
		}
		return
	}
	plan.MapChildren(e, func(x plan.Expr) plan.Expr {
		p.constFault(x)
		return x
	})
}

// withCaseVal puts a CASE's operand in its place in a condition of it. Within
// another CASE or a NULLIF the place is theirs.
func (p *planner) withCaseVal(cond plan.Expr, operand *plan.Const) plan.Expr {
	switch x := cond.(type) {
	case *plan.CaseVal:
		return operand
	case *plan.NullIf:
		k, ok := x.X.(*plan.Const)
		if !ok {
			return x
		}
		eq, ok := p.withCaseVal(x.Eq, k).(*plan.Const)
		if !ok {
			return x
		}
		if !eq.Val.Null && eq.Val.I != 0 {
			return &plan.Const{At: x.At, Val: types.Null(x.Type())}
		}
		return k
	case *plan.Case, *subquery:
		return cond
	}
	return p.fold(plan.MapChildren(cond, func(x plan.Expr) plan.Expr { return p.withCaseVal(x, operand) }))
}

// bare drops what EXISTS does not look at: the select list of a query that has
// as many rows whatever it computes.
func bare(q *query) {
	b := q.block
	if q.setop != nil || b == nil || b.values != nil || b.grouped || b.distinct || b.hasSRF || len(b.wins) > 0 || len(q.locks) > 0 || q.ref != nil || q.dml != nil {
		return
	}
	for i := range b.targets {
		if readsMore(b.targets[i].x) {
			return // its columns are still to be checked
		}
	}
	if len(q.sort) > 0 || b.ncols == 0 {
		return
	}
	one := &plan.Const{At: plan.At{T: types.TInt4, Off: -1}, Val: types.Int(types.TInt4, 1)}
	b.targets = []target{{x: one, name: "?column?"}}
	b.ncols = 1
	q.cols = []plan.OutCol{{Name: "?column?", T: types.TInt4}}
}

// mayBeConst reports whether a condition reads a column that may turn out to be
// a constant: one of a derived table, which PostgreSQL may put in its place.
func (p *planner) mayBeConst(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		if v, ok := x.(*plan.Var); ok {
			found = found || !p.base[v.Rel]
		}
		return !found
	})
	return found
}
