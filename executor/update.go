package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// update changes rows. Its input has the row key, the live columns, the new
// values and extra columns for RETURNING.
type update struct {
	dml
	node  *plan.Update
	rows  distinctRows
	parts []table.Part // columns of which the input has elements alone
	// absent are columns that neither the input nor the statement has values of.
	absent []int
	views  rowChecks

	// Of the batch that is written, used again for the next one.
	in, old, next, out vec.Batch
}

func (b *builder) update(n *plan.Update) (Operator, error) {
	if n.Tree != nil {
		return b.treeUpdate(n)
	}
	in, err := b.updateInput(n.Table, nil, n.Input)
	if err != nil {
		return nil, err
	}
	d, err := b.newDMLOver(n, n.Table, in, n.Input, false, n.HasReturning, n.Returning)
	if err != nil {
		return nil, err
	}
	op := &update{dml: d, node: n, rows: distinctRows{once: passesOnce(n.Input)}}
	if op.views, err = newRowChecks(n.Checks); err != nil {
		return nil, err
	}
	for _, c := range n.Unread {
		if !slices.Contains(n.SetCols, c) {
			op.absent = append(op.absent, c)
		}
	}
	op.dml.write, op.begin = op.write, func() { op.rows.open(op.env.run, n.Table.OID, nil) }
	return op, nil
}

func (op *update) Open(env *Env) error {
	var err error
	if op.parts, err = evalParts(env, op.node.Parts); err != nil {
		return err
	}
	return op.dml.Open(env)
}

// write changes a batch of rows; it returns new live columns and extras.
func (op *update) write(in *vec.Batch) (*vec.Batch, error) {
	op.in = vec.Batch{Cols: in.Cols, N: in.N, Sel: op.rows.sel(in)}
	rows := &op.in
	if rows.Rows() == 0 {
		return rows, nil
	}
	return op.change(rows)
}

// change gives rows, none of which comes twice, their new values.
func (op *update) change(in *vec.Batch) (*vec.Batch, error) {
	w := op.w
	live := len(w.live)
	rows, keys := in, in.Cols[0]
	op.old = vec.Batch{Cols: in.Cols[1 : 1+live], N: in.N, Sel: rows.Sel}
	op.next = vec.Batch{Cols: append(op.next.Cols[:0], op.old.Cols...), N: in.N, Sel: rows.Sel}
	old, next := &op.old, &op.next
	for i, c := range op.node.SetCols {
		next.Cols[w.pos[c]] = in.Cols[1+live+i]
	}
	if err := w.lockChanged(keys, old, next, op.node.SetCols); err != nil {
		return nil, err
	}
	w.absent, w.absentKeys = op.absent, keys
	defer func() { w.absent, w.absentKeys = nil, nil }()
	given := *next
	next, err := w.complete(next)
	var bad outsideView
	if err == nil {
		bad, err = op.views.failing(op.env, next)
	}
	if err != nil {
		return nil, firstFailure(&given, err, func(one *vec.Batch) error { return w.faultOf(one, op.views) }, func(before *vec.Batch) error {
			_, err := op.change(&vec.Batch{Cols: in.Cols, N: in.N, Sel: before.Sel})
			return err
		})
	}
	if next = bad.upTo(next); len(bad) > 0 {
		old.Sel, rows = next.Sel, &vec.Batch{Cols: in.Cols, N: in.N, Sel: next.Sel}
	}
	var then func([][]byte) error
	var system []*vec.Vec
	if len(op.node.System) > 0 {
		then = func(now [][]byte) error {
			system, err = w.system(op.node.System, rows, 0, func(r int) []byte { return now[r] })
			return err
		}
	}
	if err := w.updateThen(keys, old, next, w.changed(op.node.SetCols), op.parts, op.node.Unread, then); err != nil {
		return nil, err
	}
	if err := bad.of(w, next); err != nil {
		return nil, err
	}
	extra := in.Cols[len(in.Cols)-op.node.Extra:]
	op.out = vec.Batch{Cols: append(append(append(op.out.Cols[:0], next.Cols...), extra...), system...), N: in.N, Sel: rows.Sel}
	return &op.out, nil
}

// changed lists the columns that an UPDATE of cols may change: these and the
// generated ones.
func (w *tableWriter) changed(cols []int) []int {
	if !w.anyGen {
		return cols
	}
	out := slices.Clone(cols)
	for i, g := range w.gen {
		if g != nil && !slices.Contains(out, w.live[i]) {
			out = append(out, w.live[i])
		}
	}
	return out
}
