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
	// by column, what a join above knows of the rows: see keyFilter
	filters []pushedFilter
}

type pushedFilter struct {
	col int
	f   *keyFilter
}

// pushFilter hands a filter from above to each of the inputs, before it is opened.
func (op *appendOp) pushFilter(col int, f *keyFilter) bool {
	op.filters = append(op.filters, pushedFilter{col, f})
	return true
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
	op.stop()
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
			for _, x := range op.filters {
				own := *x.f
				pushFilter(in, x.col, &own)
			}
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
	op.stop()
	op.filters = nil
}

// stop closes the input that is open.
func (op *appendOp) stop() {
	if op.open {
		op.inputs[op.at].Close()
		op.open = false
	}
}
