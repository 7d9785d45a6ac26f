package executor

import (
	"kvsqld/catalog/partition"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// Excluded tells which inputs of an Append are not read with the parameters of an
// environment, on which alone its condition depends.
func Excluded(x *expr.Env, p *plan.Prune) ([]bool, error) { return excluded(&Env{Expr: x}, p) }

// excluded tells which inputs of an Append cannot have rows that its condition
// lets pass, now that the parameters are known.
func excluded(env *Env, p *plan.Prune) ([]bool, error) {
	c, err := evalPrune(env, p.Cond)
	if err != nil {
		return nil, err
	}
	keep := p.Set.Select(&c)
	out := make([]bool, len(p.Leaf))
	for i, leaf := range p.Leaf {
		out[i] = !keep[leaf]
	}
	return out, nil
}

func evalPrune(env *Env, c *plan.PruneCond) (partition.Cond, error) {
	out := partition.Cond{Op: c.Op, Col: c.Col}
	for i := range c.List {
		one, err := evalPrune(env, &c.List[i])
		if err != nil {
			return out, err
		}
		out.List = append(out.List, one)
	}
	if c.X == nil {
		return out, nil
	}
	d, err := expr.EvalConst(env.Expr, c.X)
	if err != nil {
		return out, err
	}
	if c.Op != partition.In {
		out.Vals = []types.Datum{d}
		return out, nil
	}
	vals, ok := partition.Elements(d)
	if !ok {
		return partition.Cond{Op: partition.And}, nil // says nothing
	}
	out.Vals = vals
	return out, nil
}
