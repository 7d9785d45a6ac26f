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
		out = conjuncts(p.condition(p.valued(c)), out)
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

// valued drops what the present values of parameters decide: alternatives that do not
// hold, and what follows the argument that COALESCE takes. The plan is then one for
// these values alone.
func (p *planner) valued(e plan.Expr) plan.Expr {
	if len(p.ParamValues) == 0 {
		return e
	}
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		switch x := x.(type) {
		case *plan.Or:
			var left []plan.Expr
			for _, a := range x.Args {
				d, ok := p.decided(a)
				switch {
				case !ok:
					left = append(left, a)
				case !d.Null && d.I != 0:
					p.forValues = true
					return constBool(true)
				}
			}
			if len(left) == len(x.Args) {
				return x
			}
			p.forValues = true
			switch len(left) {
			case 0:
				return constBool(false)
			case 1:
				return left[0]
			}
			return &plan.Or{At: x.At, Args: left}
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

// decided computes a condition that depends on nothing but parameters.
func (p *planner) decided(e plan.Expr) (types.Datum, bool) {
	params, ok := false, true
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
	if !params || !ok || p.Consts == nil {
		return types.Datum{}, false
	}
	d, err := p.Consts.EvalConst(p.withValues(e))
	return d, err == nil
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
