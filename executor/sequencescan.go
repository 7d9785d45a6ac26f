package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// sequenceScan passes a sequence's single row: last_value, log_cnt, is_called.
type sequenceScan struct {
	node *plan.SequenceScan
	env  *Env
	done bool
	out  vec.Batch
}

func (op *sequenceScan) Open(env *Env) error {
	op.env, op.done = env, false
	return nil
}

func (op *sequenceScan) Next() (*vec.Batch, error) {
	if op.done {
		return nil, nil
	}
	op.done = true
	last, logCnt, called, err := op.env.SequenceRow(op.env.Ctx, op.node.Seq)
	if err != nil {
		return nil, err
	}
	op.out = vec.Batch{N: 1, Cols: []*vec.Vec{
		vec.NewConst(types.Int(types.TInt8, last)),
		vec.NewConst(types.Int(types.TInt8, logCnt)),
		vec.NewConst(types.Bool(called)),
	}}
	return &op.out, nil
}

func (op *sequenceScan) Close() {}
