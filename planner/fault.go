package planner

import (
	"slices"

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
			p.constFault(b, x)
		}
	}
	for i := range b.targets {
		p.constFault(b, b.targets[i].x)
	}
	all := func(l []plan.Expr) {
		if len(l) > 0 {
			p.constFault(b, &plan.And{At: plan.At{T: types.TBool, Off: -1}, Args: l})
		}
	}
	all(b.where)
	all(b.having)
	list(b.keys)
	for i := range b.aggs {
		list(b.aggs[i].Args)
		p.constFault(b, b.aggs[i].Filter)
	}
	for _, w := range b.wins {
		for i := range w.funcs {
			list(w.funcs[i].Args)
			p.constFault(b, w.funcs[i].Filter)
		}
	}
	for _, row := range b.values {
		list(row)
	}
	b.eachItem(func(j *joinItem) {
		if j.rel != nil {
			list(j.rel.funcs)
			return
		}
		all(j.on)
	})
}

// constFault evaluates the calls and conversions of constants that folding left in an expression
// of the block, which it leaves where they fail, and keeps the first error.
func (p *planner) constFault(b *block, e plan.Expr) {
	if e == nil || p.fault != nil {
		return
	}
	switch e := e.(type) {
	case *plan.Case:
		defer p.setAvoidable(p.avoidable)
		p.constFault(b, e.Operand)
		operand, _ := e.Operand.(*plan.Const)
		for _, w := range e.Whens {
			cond := w.Cond
			if operand != nil {
				cond = p.withCaseVal(cond, operand)
			}
			p.constFault(b, cond)
			v, known := truth(cond)
			if !known && p.mayBeConst(b, cond) {
				return
			}
			p.avoidable = p.avoidable || !known && p.asksParam(cond)
			if !known || v {
				p.constFault(b, w.Result)
			}
			if known && v {
				return
			}
		}
		p.constFault(b, e.Else)
		return
	case *plan.Coalesce:
		defer p.setAvoidable(p.avoidable)
		for _, a := range e.Args {
			p.constFault(b, a)
			if k, ok := a.(*plan.Const); ok && !k.Val.Null {
				return
			}
			p.avoidable = p.avoidable || p.asksParam(a)
		}
		return
	case *plan.And:
		defer p.setAvoidable(p.avoidable)
		for _, a := range e.Args {
			p.constFault(b, a)
			if v, known := truth(a); known && !v {
				return
			}
			p.avoidable = p.avoidable || p.asksParam(a)
		}
		return
	case *plan.Or:
		defer p.setAvoidable(p.avoidable)
		for _, a := range e.Args {
			p.constFault(b, a)
			if v, _ := truth(a); v {
				return
			}
			p.avoidable = p.avoidable || p.asksParam(a)
		}
		return
	case *plan.Call, *plan.CoerceMod, *plan.CoerceIO:
		if p.foldable(e) {
			if _, err := p.Consts.EvalConst(e); err != nil && p.avoidable {
				p.doubts = append(p.doubts, e)
			} else if err != nil {
				p.fault = err
			}
			return
		}
		if p.doubtful(e) {
			p.doubts = append(p.doubts, e)
			return
		}
	case *subquery:
		for _, x := range e.x {
			p.constFault(b, x)
		}
		return
	}
	plan.EachChild(e, func(x plan.Expr) { p.constFault(b, x) })
}

// setAvoidable, deferred with what was so before, ends the part of an expression that
// values of parameters may make unreachable.
func (p *planner) setAvoidable(was bool) { p.avoidable = was }

// asksParam reports whether values of the statement's parameters alone may tell what an
// expression is, whatever columns are: they decide then what is evaluated of the rest.
func (p *planner) asksParam(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.And:
		return slices.ContainsFunc(e.Args, p.asksParam)
	case *plan.Or:
		return slices.ContainsFunc(e.Args, p.asksParam)
	case *plan.Not:
		return p.asksParam(e.X)
	}
	param, other := false, false
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Param:
			param = param || p.Routine == nil && x.Idx < len(p.params)
		case *plan.Var, *subquery:
			other = true
		}
		return true
	})
	return param && !other
}

// doubtful reports whether an expression is a call or conversion of constants and of the
// statement's parameters alone, which values of these may make fail.
func (p *planner) doubtful(e plan.Expr) bool {
	if len(p.params) == 0 || p.Routine != nil || widens(e) {
		return false
	}
	param := false
	var fixed func(x plan.Expr) bool
	fixed = func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Const:
			return true
		case *plan.Param:
			param = true
			return x.Idx < len(p.params)
		case *plan.Call:
			if x.Proc.Volatile != 'i' || x.Proc.RetSet || x.Proc.Kind != 'f' || x.T.OID == types.ORecord {
				return false
			}
			for _, a := range x.Args {
				if !fixed(a) {
					return false
				}
			}
			return true
		case *plan.Relabel:
			return fixed(x.X)
		case *plan.CoerceMod:
			return fixed(x.X)
		case *plan.CoerceIO:
			return p.stableText(x.X.Type()) && p.stableText(x.T) && fixed(x.X)
		}
		return false
	}
	return fixed(e) && param
}

// widens reports whether an expression is the conversion of a parameter to a type of
// numbers that has all values of the parameter's.
func widens(e plan.Expr) bool {
	c, ok := e.(*plan.Call)
	if !ok || c.Cast == plan.CastNone || len(c.Args) != 1 {
		return false
	}
	if _, ok := c.Args[0].(*plan.Param); !ok {
		return false
	}
	rank := map[types.OID]int{types.OInt2: 1, types.OInt4: 2, types.OInt8: 3, types.ONumeric: 4, types.OFloat4: 4, types.OFloat8: 4}
	from, to := rank[c.Args[0].Type().OID], rank[c.T.OID]
	return from > 0 && from < to
}

// truth is whether a condition holds, where that is known whatever its columns are.
func truth(x plan.Expr) (holds, known bool) {
	v := verdict(x)
	return v == isTrue, v != isOpen
}

// verdictKind is the value of a condition.
type verdictKind uint8

const (
	isOpen verdictKind = iota // not known
	isTrue
	isFalse
	isNull
)

func verdict(x plan.Expr) verdictKind {
	switch x := x.(type) {
	case *plan.Const:
		switch {
		case x.Val.Null:
			return isNull
		case x.Val.I != 0:
			return isTrue
		}
		return isFalse
	case *plan.Not:
		switch v := verdict(x.X); v {
		case isTrue:
			return isFalse
		case isFalse:
			return isTrue
		default:
			return v
		}
	case *plan.And:
		return verdictOf(x.Args, isFalse, isTrue)
	case *plan.Or:
		return verdictOf(x.Args, isTrue, isFalse)
	case *plan.Is:
		v := isOpen
		if k, ok := x.X.(*plan.Const); ok && k.Val.Null {
			v = isNull
		} else if x.X.Type().OID == types.OBool {
			v = verdict(x.X)
		} else if ok && (x.Whole || x.X.Type().Kind() != types.KRecord) {
			v = isFalse // whatever it is, but not NULL
		}
		if v == isOpen {
			return isOpen
		}
		want := map[plan.IsTest]verdictKind{plan.IsNull: isNull, plan.IsUnknown: isNull, plan.IsTrue: isTrue, plan.IsFalse: isFalse}[x.Test]
		if (v == want) != x.Not {
			return isTrue
		}
		return isFalse
	}
	return isOpen
}

// verdictOf is that of AND or OR: one argument may decide, otherwise all are needed.
func verdictOf(args []plan.Expr, decides, other verdictKind) verdictKind {
	all := other
	for _, a := range args {
		switch v := verdict(a); {
		case v == decides:
			return decides
		case v == isOpen || all == isOpen:
			all = isOpen
		case v == isNull:
			all = isNull
		}
	}
	return all
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
	b.targets = []target{{x: one, name: noName}}
	b.ncols = 1
	q.cols = []plan.OutCol{{Name: noName, T: types.TInt4}}
}

// mayBeConst reports whether a condition reads a column that PostgreSQL would have
// replaced by a constant: one of a derived table that is a constant there and is
// read where it cannot be NULL instead. Aggregates, window functions, and what
// UNION, DISTINCT, LIMIT and the like stand before are never replaced.
func (p *planner) mayBeConst(b *block, e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		if v, ok := x.(*plan.Var); ok && !found {
			found = p.columnMayBeConst(b, v)
		}
		return !found
	})
	return found
}

func (p *planner) columnMayBeConst(b *block, v *plan.Var) bool {
	if p.base.has(v.Rel) {
		return false
	}
	if b.grouped && v.Rel == b.grpRel {
		return v.Col < len(b.keys) && p.replaceable(b, b.keys[v.Col])
	}
	for _, w := range b.wins {
		if v.Rel == w.rel {
			return false
		}
	}
	r := b.rels[v.Rel]
	if r == nil {
		return true // of an enclosing query
	}
	for _, f := range r.funcs {
		if c, ok := f.(*plan.Call); ok && c.Proc.RetSet {
			return false
		}
	}
	q := r.query
	if q == nil {
		return len(r.funcs) > 0
	}
	for q.ref != nil {
		def := q.ref
		if q.work || def.dml || def.recursive || queryVolatile(def.q) || def.materialized == nil && def.shared() ||
			def.materialized != nil && *def.materialized {
			return false
		}
		q = q.ref.q
	}
	in := q.block
	switch {
	case q.setop != nil || q.dml != nil || in == nil || q.limit != nil || q.offset != nil:
		return false
	case in.values != nil:
		return len(in.values) == 1 && v.Col < len(in.values[0]) && p.replaceable(in, in.values[0][v.Col])
	case in.grouped || in.distinct || in.hasSRF || len(in.wins) > 0 || v.Col >= len(in.targets):
		return false
	}
	for _, j := range b.from {
		if j.ids().has(r.id) && j.nullable(r) {
			return false
		}
	}
	return p.replaceable(in, in.targets[v.Col].x)
}

// replaceable reports whether an expression is a constant or may become one. The
// literals of a VALUES list may be parameters of the plan.
func (p *planner) replaceable(b *block, e plan.Expr) bool {
	switch e.(type) {
	case *plan.Const, *plan.Param:
		return true
	}
	return p.mayBeConst(b, e)
}
