package planner

import (
	"kvsqld/catalog/partition"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// prune leaves out the partitions of r's tree that the conjuncts exclude. keep
// tells which members stay, nil for all; run is set when values that are not known
// before the statement runs may exclude more.
//
// Given PARTITION BY RANGE (a) with partitions 0 to 10 and 10 to 20:
//
//	WHERE a = 5                 the first one
//	WHERE a > 12 OR a IS NULL   the second one
//	WHERE a = $1                one of them, when the statement starts
//	WHERE a + 0 = 5             both
func (p *planner) prune(r *rel, conj []plan.Expr) (keep []bool, run *plan.Prune) {
	if p.NoOptimizer || r.tree.set == nil || len(r.tree.members) == 0 {
		return nil, nil
	}
	c := &plan.PruneCond{Op: partition.And}
	for _, x := range conj {
		if one := p.pruneCond(r, x); one != nil {
			c.List = append(c.List, *one)
		}
	}
	if len(c.List) == 0 {
		return nil, nil
	}
	known, all := p.constantCond(c)
	keep = r.tree.set.Select(&known)
	if !all {
		run = &plan.Prune{Set: r.tree.set, Cond: c}
	}
	return keep, run
}

// pruneCond reads a conjunct as a condition on single columns; nil when it says
// nothing that excludes partitions.
func (p *planner) pruneCond(r *rel, x plan.Expr) *plan.PruneCond {
	switch x := x.(type) {
	case *plan.And:
		c := &plan.PruneCond{Op: partition.And}
		for _, a := range x.Args {
			if one := p.pruneCond(r, a); one != nil {
				c.List = append(c.List, *one)
			}
		}
		if len(c.List) == 0 {
			return nil
		}
		return c
	case *plan.Or:
		c := &plan.PruneCond{Op: partition.Or}
		for _, a := range x.Args {
			one := p.pruneCond(r, a)
			if one == nil {
				return nil
			}
			c.List = append(c.List, *one)
		}
		return c
	case *plan.Is:
		if v, ok := x.X.(*plan.Var); ok && v.Rel == r.id && v.Col >= 0 && x.Test == plan.IsNull && x.Not {
			return &plan.PruneCond{Op: partition.NotNull, Col: v.Col}
		}
	}
	ops := map[string][2]partition.Op{"eq": {partition.Eq, partition.Eq}, "lo": {partition.Gt, partition.Ge},
		"hi": {partition.Lt, partition.Le}, "any": {partition.In, partition.In}, "null": {partition.IsNull, partition.IsNull}}
	for _, b := range p.boundsOf(r, []plan.Expr{x}, relSet.empty) {
		op, ok := ops[b.kind]
		if !ok {
			continue
		}
		c := &plan.PruneCond{Op: op[0], Col: b.col}
		if b.inc {
			c.Op = op[1]
		}
		if b.x != nil {
			c.X = p.place(b.x, nil)
		}
		return c
	}
	return nil
}

// constantCond evaluates a condition as far as its values are constants; all tells
// whether they are all.
func (p *planner) constantCond(c *plan.PruneCond) (out partition.Cond, all bool) {
	out, all = partition.Cond{Op: c.Op, Col: c.Col}, true
	nothing := partition.Cond{Op: partition.And}
	switch c.Op {
	case partition.And, partition.Or:
		for i := range c.List {
			one, ok := p.constantCond(&c.List[i])
			all = all && ok
			out.List = append(out.List, one)
		}
		return out, all
	case partition.IsNull, partition.NotNull:
		return out, true
	}
	if p.Consts == nil || !isConstant(c.X) { // without Consts nothing is to be evaluated yet
		return nothing, false
	}
	d, err := p.Consts.EvalConst(c.X)
	if err != nil {
		return nothing, true // the scan will say what is wrong
	}
	if c.Op != partition.In {
		out.Vals = []types.Datum{d}
		return out, true
	}
	vals, ok := partition.Elements(d)
	if !ok {
		return nothing, true
	}
	out.Vals = vals
	return out, true
}

// isConstant reports whether an expression has the same value in every run of the
// plan.
func isConstant(x plan.Expr) bool {
	ok := true
	plan.Visit(x, func(y plan.Expr) bool {
		switch y := y.(type) {
		case *plan.Param, *plan.SubPlan, *plan.Col, *plan.Var:
			ok = false
		case *plan.Call:
			ok = ok && y.Proc.Volatile == 'i' && y.Proc.SQL == nil
		}
		return ok
	})
	return ok
}
