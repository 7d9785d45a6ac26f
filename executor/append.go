package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// appendOp passes the rows of its inputs one after the other; only one input is
// open at a time.
type appendOp struct {
	inputs []Operator
	env    *Env
	at     int
	open   bool
}

func (b *builder) append(n *plan.Append) (Operator, error) {
	op := &appendOp{inputs: make([]Operator, len(n.Inputs))}
	for i, c := range n.Inputs {
		in, err := b.node(c)
		if err != nil {
			return nil, err
		}
		op.inputs[i] = in
	}
	return op, nil
}

func (op *appendOp) Open(env *Env) error {
	op.Close()
	op.env, op.at = env, 0
	return nil
}

func (op *appendOp) Next() (*vec.Batch, error) {
	for op.at < len(op.inputs) {
		in := op.inputs[op.at]
		if !op.open {
			op.open = true
			if err := in.Open(op.env); err != nil {
				return nil, err
			}
		}
		b, err := in.Next()
		if b != nil || err != nil {
			return b, err
		}
		in.Close()
		op.open = false
		op.at++
	}
	return nil, nil
}

func (op *appendOp) Close() {
	if op.open {
		op.inputs[op.at].Close()
		op.open = false
	}
}
