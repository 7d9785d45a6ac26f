package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// simplify brings conjuncts into forms that keys can answer. A row passes where all
// hold, so that false and NULL are the same:
//
//	NOT (a > 5)             a <= 5
//	NOT (a = 1 OR b)        a <> 1, NOT b
//	flag IS TRUE            flag
//	$1 IS NULL OR a = $1    a = 7, planned for the value 7
func (p *planner) simplify(list []plan.Expr) []plan.Expr {
	if p.NoOptimizer {
		return list
	}
	out := make([]plan.Expr, 0, len(list))
	for _, c := range list {
		out = conjuncts(p.valued(p.condition(p.valued(c))), out)
	}
	return out
}

// condition simplifies what is asked only whether it is true.
func (p *planner) condition(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.Is:
		if x.Test == plan.IsTrue && !x.Not {
			return p.condition(x.X)
		}
	case *plan.And:
		return &plan.And{At: x.At, Args: p.conditions(x.Args)}
	case *plan.Or:
		if args := p.conditions(x.Args); !slices.Equal(args, x.Args) {
			return &plan.Or{At: x.At, Args: args}
		}
	case *plan.Not:
		if n := p.negated(x.X); n != nil {
			return p.condition(n)
		}
	}
	return e
}

func (p *planner) conditions(list []plan.Expr) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i, e := range list {
		out[i] = p.condition(e)
	}
	return out
}

// negated is the opposite of an expression without a NOT around it; nil where there is
// none.
func (p *planner) negated(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.Not:
		return x.X
	case *plan.And:
		return &plan.Or{At: x.At, Args: opposites(x.Args)}
	case *plan.Or:
		return &plan.And{At: x.At, Args: opposites(x.Args)}
	case *plan.Is:
		if x.X.Type().Kind() == types.KRecord { // some of its columns may be NULL, and some not
			return nil
		}
		n := *x
		n.Not = !n.Not
		return &n
	case *plan.InList:
		n := *x
		n.Not = !n.Not
		return &n
	case *plan.Call:
		for _, o := range catalog.OperatorsByName(x.Op) {
			if x.Op == "" || o.Proc != x.Proc.OID {
				continue
			}
			n := catalog.OperatorByOID(o.Negate)
			if n == nil {
				return nil
			}
			pr := catalog.ProcByOID(n.Proc)
			if pr == nil || !pr.Strict {
				return nil
			}
			c := *x
			c.Op, c.Proc = n.Name, pr
			return &c
		}
	}
	return nil
}

func opposites(list []plan.Expr) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i, e := range list {
		out[i] = &plan.Not{At: plan.At{T: types.TBool, Off: e.Pos()}, X: e}
	}
	return out
}

// valued drops what constants and the present values of parameters decide of what is asked
// only whether it is true: alternatives that do not hold, and conditions that do. With
// parameters the plan is then one for these values alone.
func (p *planner) valued(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.And:
		return p.without(x, x.Args, true, false)
	case *plan.Or:
		return p.without(x, x.Args, false, false)
	}
	return p.exactly(e)
}

// exactly is valued where NULL is not false.
func (p *planner) exactly(e plan.Expr) plan.Expr {
	if len(p.ParamValues) == 0 {
		return e
	}
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		switch x := x.(type) {
		case *plan.And:
			return p.without(x, x.Args, true, true)
		case *plan.Or:
			return p.without(x, x.Args, false, true)
		case *plan.Coalesce:
			prm, ok := x.Args[0].(*plan.Param)
			if !ok || prm.Idx >= len(p.ParamValues) {
				return x
			}
			p.forValues = true
			if d := p.ParamValues[prm.Idx]; !d.Null {
				return &plan.Const{At: prm.At, Val: d}
			}
			if len(x.Args) == 2 {
				return x.Args[1]
			}
			return &plan.Coalesce{At: x.At, Args: x.Args[1:]}
		}
		return x
	})
}

// without is e, AND or OR of args, without those that are decided. exact tells that it
// matters whether the outcome is false or NULL.
func (p *planner) without(e plan.Expr, args []plan.Expr, and, exact bool) plan.Expr {
	var left []plan.Expr
	for _, a := range args {
		d, params, ok := p.decided(a)
		switch {
		case ok && d.Null && exact:
			left = append(left, a)
		case ok:
			p.forValues = p.forValues || params
			if holds := !d.Null && d.I != 0; holds != and {
				return constBool(holds)
			}
		case exact:
			left = append(left, a)
		default:
			left = append(left, p.valued(a))
		}
	}
	at := plan.At{T: types.TBool, Off: e.Pos()}
	switch {
	case slices.Equal(left, args):
		return e
	case len(left) == 0:
		return constBool(and)
	case len(left) == 1:
		return left[0]
	case and:
		return &plan.And{At: at, Args: left}
	}
	return &plan.Or{At: at, Args: left}
}

// decided computes a condition that depends on nothing but constants and parameters, and
// tells whether it has such.
func (p *planner) decided(e plan.Expr) (d types.Datum, params, ok bool) {
	ok = true
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Param:
			params = true
			ok = ok && x.Idx < len(p.ParamValues)
		case *plan.Call:
			ok = ok && x.Proc.Volatile == 'i' && x.Proc.SQL == nil && !x.Proc.RetSet
		case *plan.Const, *plan.Relabel, *plan.Is, *plan.Not, *plan.And, *plan.Or:
		default:
			ok = false
		}
		return ok
	})
	if !ok || p.Consts == nil {
		return types.Datum{}, false, false
	}
	d, err := p.Consts.EvalConst(p.withValues(e))
	return d, params, err == nil
}

// withValues puts the values of the parameters into an expression.
func (p *planner) withValues(e plan.Expr) plan.Expr {
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		if prm, is := x.(*plan.Param); is && prm.Idx < len(p.ParamValues) {
			return &plan.Const{At: prm.At, Val: p.ParamValues[prm.Idx]}
		}
		return x
	})
}
