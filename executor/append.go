package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// appendOp passes the rows of its inputs one after the other; only one input is
// open at a time.
type appendOp struct {
	inputs []Operator
	node   *plan.Append
	skip   []bool // by Prune
	env    *Env
	at     int
	open   bool
}

func (b *builder) append(n *plan.Append) (Operator, error) {
	op := &appendOp{node: n, inputs: make([]Operator, len(n.Inputs))}
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
	op.env, op.at, op.skip = env, 0, nil
	if op.node.Prune == nil {
		return nil
	}
	var err error
	op.skip, err = excluded(env, op.node.Prune)
	return err
}

func (op *appendOp) Next() (*vec.Batch, error) {
	for op.at < len(op.inputs) {
		if op.skip != nil && op.skip[op.at] {
			op.at++
			continue
		}
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
