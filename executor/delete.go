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
	all Operator // the rows of a whole table, nil unless clear may be called
	dml
	node *plan.Delete
	rows distinctRows
}

func (b *builder) delete(n *plan.Delete) (Operator, error) {
	if n.Tree != nil {
		return b.treeDelete(n)
	}
	d, err := b.newDML(n, n.Table, n.Input, n.HasReturning, n.Returning)
	if err != nil {
		return nil, err
	}
	op := &deleteOp{dml: d, node: n, rows: distinctRows{once: passesOnce(n.Input)}}
	op.dml.write, op.begin = op.write, func() { op.rows.open(op.env.run, n.Table.OID, nil) }
	all := n.Input
	if p, ok := all.(*plan.Project); ok { // leaves columns out
		all = p.Input
	}
	if in, ok := all.(*plan.Scan); ok && in.Whole() && in.Rows >= clearFrom && !n.HasReturning && n.Extra == 0 && b.stats == nil {
		if op.all, err = b.scan(&plan.Scan{Common: in.Common, Table: in.Table, Alias: in.Alias}); err != nil {
			return nil, err
		}
		op.instead = op.clear
	}
	return op, nil
}

// clearFrom is from how many rows on, as the planner sees it, a statement that deletes all
// of them tries to empty the table's files instead.
const clearFrom = 5_000

// clear deletes all rows at once, if nobody else is near them and nothing else has to be
// known of them than how many they are, which it returns; -1: it did nothing.
func (op *deleteOp) clear() (int64, error) {
	w, env := op.w, op.env
	if op.rows.shared || len(w.refs) > 0 || env.Txn.Isolation() == kv.Serializable || !w.desc.Clearable() {
		return -1, nil
	}
	n, err := countRows(env, op.all)
	if err != nil {
		return -1, err
	}
	if done, err := w.desc.Clear(env.Ctx, env.Txn, int(n)); !done || err != nil {
		return -1, err
	}
	if env.Moved != nil {
		env.Moved(w.table.OID, nil, nil)
	}
	env.Tally.Rel(w.table.OID).Deleted += n
	return n, nil
}

// countRows runs an operator for nothing but the number of its rows.
func countRows(env *Env, op Operator) (n int64, err error) {
	defer op.Close()
	if err := op.Open(env); err != nil {
		return 0, err
	}
	for {
		b, err := op.Next()
		if b == nil || err != nil {
			return n, err
		}
		n += int64(b.Rows())
	}
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
