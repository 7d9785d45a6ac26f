package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

// deleteOp removes rows. Its input has the row key, the live columns and extra
// columns for RETURNING.
type deleteOp struct {
	dml
	node *plan.Delete
	rows distinctRows
}

func (b *builder) delete(n *plan.Delete) (Operator, error) {
	if n.Tree != nil {
		return b.treeDelete(n)
	}
	d, err := b.newDML(n.Table, n.Input, n.HasReturning, n.Returning)
	if err != nil {
		return nil, err
	}
	op := &deleteOp{dml: d, node: n, rows: distinctRows{once: passesOnce(n.Input)}}
	op.dml.write, op.begin = op.write, func() { op.rows.open(op.env.run, n.Table.OID) }
	return op, nil
}

// write removes a batch of rows; it returns their live columns and extras.
func (op *deleteOp) write(in *vec.Batch) (*vec.Batch, error) {
	w := op.w
	live := len(w.live)
	rows := &vec.Batch{Cols: in.Cols, N: in.N, Sel: op.rows.sel(in)}
	if rows.Rows() == 0 {
		return rows, nil
	}
	if err := w.lockRows(in.Cols[0], rows, kv.ForUpdate); err != nil {
		return nil, err
	}
	keys := in.Cols[0]
	system, err := w.system(op.node.System, rows, 0, func(r int) []byte { return keys.B[keys.Idx(r)] })
	if err != nil {
		return nil, err
	}
	old := &vec.Batch{Cols: in.Cols[1 : 1+live], N: in.N, Sel: rows.Sel}
	if err := w.remove(keys, old, op.node.Unread); err != nil {
		return nil, err
	}
	extra := in.Cols[len(in.Cols)-op.node.Extra:]
	return &vec.Batch{Cols: slices.Concat(old.Cols, extra, system), N: in.N, Sel: rows.Sel}, nil
}
