package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// project computes expressions over each input batch.
type project struct {
	input Operator
	evals []expr.Eval
	env   *Env
	out   vec.Batch
}

func (b *builder) project(n *plan.Project) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	evals, err := expr.CompileAll(n.Exprs)
	if err != nil {
		return nil, err
	}
	return &project{input: in, evals: evals, out: vec.Batch{Cols: make([]*vec.Vec, len(evals))}}, nil
}

func (op *project) Open(env *Env) error {
	op.env = env
	return op.input.Open(env)
}

func (op *project) Next() (*vec.Batch, error) {
	in, err := op.input.Next()
	if in == nil || err != nil {
		return nil, err
	}
	if err := evalAll(op.env, op.evals, in, op.out.Cols); err != nil {
		return nil, err
	}
	op.out.N, op.out.Sel = in.N, in.Sel
	return &op.out, nil
}

func (op *project) Close() { op.input.Close() }
