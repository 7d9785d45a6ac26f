package executor

import (
	"strconv"

	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// evalParts finds the elements that are looked at of columns stored by elements.
// Columns that turn out to be looked at whole are left out.
func evalParts(env *Env, parts []plan.Part) ([]table.Part, error) {
	if parts == nil {
		return nil, nil
	}
	out := make([]table.Part, 0, len(parts))
next:
	for _, p := range parts {
		part := table.Part{Col: p.Col, Span: p.Span}
		for _, k := range p.Keys {
			d, err := expr.EvalConst(env.Expr, k.X)
			if err != nil {
				return nil, err
			}
			if d.Null {
				continue
			}
			whole, err := addElements(&part, d, k.How)
			if err != nil {
				return nil, err
			}
			if whole {
				continue next
			}
		}
		out = append(out, part)
	}
	return out, nil
}

// addElements adds the elements that a value names; whole tells that it names all:
// an empty path leads to the value itself.
func addElements(p *table.Part, d types.Datum, how plan.PartHow) (whole bool, err error) {
	switch how {
	case plan.PartMembers:
		keys, _, _ := types.Members(d)
		p.Keys = append(p.Keys, keys...)
	case plan.PartFirst, plan.PartEach:
		_, _, _, names, err := types.ArrayElems(d)
		if err != nil {
			return false, err
		}
		whole = how == plan.PartFirst && len(names) == 0
		for i, n := range names {
			if how == plan.PartFirst && i > 0 {
				break
			}
			if !n.Null {
				p.Keys = append(p.Keys, n.B)
			}
		}
	default:
		if d.T.Rep() == types.RepBytes {
			p.Keys = append(p.Keys, d.B)
			break
		}
		p.Subs = append(p.Subs, int(d.I))
		p.Keys = append(p.Keys, strconv.AppendInt(nil, d.I, 10))
	}
	return whole, nil
}
