package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// deleteOp removes rows. Its input has the row key, the live columns and extra
// columns for RETURNING.
type deleteOp struct {
	node      *plan.Delete
	input     dmlInput
	returning returning

	env   *Env
	w     *tableWriter
	seen  *keySet
	count int64
	done  bool
}

func (b *builder) delete(n *plan.Delete) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &deleteOp{node: n}
	op.input = newDMLInput(in, outTypes(n.Input), false)
	op.returning, err = newReturning(n.HasReturning, n.Returning)
	return op, err
}

func (op *deleteOp) Open(env *Env) error {
	op.env, op.count, op.done = env, 0, false
	op.seen = newKeySet([]types.T{types.Of(types.OBytea)})
	var err error
	if op.w, err = env.run.writer(op.node.Table); err != nil {
		return err
	}
	return op.input.open(env)
}

func (op *deleteOp) Next() (*vec.Batch, error) {
	for !op.done {
		in, err := op.input.next()
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			break
		}
		out, err := op.write(in)
		if err != nil {
			return nil, err
		}
		op.count += int64(out.Rows())
		if op.returning.wanted && out.Rows() > 0 {
			return op.returning.project(op.env, out)
		}
	}
	return nil, nil
}

func (op *deleteOp) write(in *vec.Batch) (*vec.Batch, error) {
	w := op.w
	live := len(w.live)
	rows := &vec.Batch{Cols: in.Cols, N: in.N, Sel: firstHits(op.seen, in)}
	if rows.Rows() == 0 {
		return rows, nil
	}
	if err := w.lockRows(in.Cols[0], rows); err != nil {
		return nil, err
	}
	old := &vec.Batch{Cols: in.Cols[1 : 1+live], N: in.N, Sel: rows.Sel}
	if err := w.remove(in.Cols[0], old); err != nil {
		return nil, err
	}
	extra := in.Cols[len(in.Cols)-op.node.Extra:]
	return &vec.Batch{Cols: append(slices.Clone(old.Cols), extra...), N: in.N, Sel: rows.Sel}, nil
}

func (op *deleteOp) affected() int64 { return op.count }

func (op *deleteOp) Close() { op.input.close() }
