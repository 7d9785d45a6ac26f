package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// filter narrows the selection of each input batch to the rows for which the
// condition is true.
type filter struct {
	input Operator
	pred  expr.Pred
	env   *Env
	out   vec.Batch
}

func (b *builder) filter(n *plan.Filter) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	pred, err := expr.CompilePredicate(n.Cond)
	if err != nil {
		return nil, err
	}
	return &filter{input: in, pred: pred}, nil
}

func (op *filter) Open(env *Env) error {
	op.env = env
	return op.input.Open(env)
}

func (op *filter) Next() (*vec.Batch, error) {
	for {
		in, err := op.input.Next()
		if in == nil || err != nil {
			return nil, err
		}
		op.out = *in
		if err := op.pred.Select(op.env.Expr, &op.out); err != nil {
			return nil, err
		}
		if op.out.Rows() > 0 {
			return &op.out, nil
		}
	}
}

func (op *filter) Close() { op.input.Close() }
