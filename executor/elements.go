package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// evalElements turns an operator on the elements of a column into ranges of the
// index by elements: one for each element asked for. Every value contains an empty
// one, so that the whole table has to be read for it.
func (op *scan) evalElements(k *plan.KeyRange) error {
	val, err := expr.EvalConst(op.env.Expr, k.Elems)
	if err != nil {
		return err
	}
	op.spec.Ranges = []types.Range{}
	if val.Null {
		return nil
	}
	t, _ := types.ElementKeyType(op.keys[k.ElemKey])
	if k.ElemOp == "@?" || k.ElemOp == "@@" {
		return op.evalPath(k, val)
	}
	var keys []types.Datum
	null := false
	switch k.ElemOp {
	case "=":
		keys = []types.Datum{val}
	case "?":
		keys = []types.Datum{types.KeyToken(val.B)}
	case "?|", "?&":
		_, _, _, elems, err := types.ArrayElems(val)
		if err != nil {
			return err
		}
		for _, e := range elems {
			if !e.Null {
				keys = append(keys, types.KeyToken(e.B))
			}
		}
	default:
		if keys, null, err = types.ElementKeys(val); err != nil {
			return err
		}
	}
	all := k.ElemOp == "@>" || k.ElemOp == "?&"
	if all && null {
		return nil // no array contains a NULL
	}
	for _, key := range keys {
		if asKey(&key, t) {
			op.spec.Ranges = append(op.spec.Ranges, types.Range{Eq: []types.Datum{key}})
		} else if all {
			op.spec.Ranges = op.spec.Ranges[:0]
			return nil
		}
	}
	op.spec.Intersect, op.spec.ElemKey, op.spec.Listed = all, k.ElemKey, k.ElemAll
	if all && len(keys) == 0 {
		op.spec.Index, op.spec.Ranges = nil, nil
	}
	return nil
}

// evalPath turns a path over the documents of a column into groups of such ranges: a
// document is in one of each. Of a path that says nothing of them the whole table has to
// be read.
func (op *scan) evalPath(k *plan.KeyRange, path types.Datum) error {
	groups, err := types.PathKeys(path, k.ElemOp == "@@")
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		op.spec.Index, op.spec.Ranges = nil, nil
		return nil
	}
	op.spec.Intersect, op.spec.ElemKey = true, k.ElemKey
	op.spec.Groups = make([]int, len(groups))
	for i, keys := range groups {
		for _, key := range keys {
			op.spec.Ranges = append(op.spec.Ranges, types.Range{Eq: []types.Datum{key}})
		}
		op.spec.Groups[i] = len(keys)
	}
	return nil
}
