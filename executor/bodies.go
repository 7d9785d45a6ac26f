package executor

import (
	"bytes"
	"math"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// Functions whose bodies are statements of SQL. A volatile one sees what the statement
// that calls it has written so far; a stable one, as all other parts of the statement,
// the state before it.

// callsBodies reports whether the statement calls functions whose bodies it matters to
// which state they see.
func (r *Run) callsBodies() bool {
	calls := r.query.Calls
	return len(calls) > 0 && (!r.query.ReadOnly || slices.ContainsFunc(calls, func(f *catalog.Function) bool { return f.Volatile == 'v' }))
}

// unmodified fails if a function that the statement calls has changed, or deleted, rows
// that the statement is about to change: their old values are not in the indexes any more.
func (w *tableWriter) unmodified(keys *vec.Vec, old *vec.Batch, unread []int, verb string) error {
	if !slices.ContainsFunc(w.env.run.query.Calls, func(f *catalog.Function) bool { return f.Volatile == 'v' }) {
		return nil
	}
	list := make([][]byte, 0, old.Rows())
	rows := make([]int, 0, old.Rows())
	for i := range old.Rows() {
		key := keys.B[keys.Idx(old.Row(i))]
		if w.desc.Untouched(w.env.Txn, key) {
			continue // it may be as others have left it, which is newer than the snapshot
		}
		list, rows = append(list, key), append(rows, old.Row(i))
	}
	if len(list) == 0 {
		return nil
	}
	read := slices.DeleteFunc(slices.Clone(w.live), func(c int) bool { return slices.Contains(unread, c) })
	var now, before vec.Batch
	if err := w.desc.GetRows(w.env.Ctx, w.env.Txn, list, w.live, nil, &now); err != nil {
		return err
	}
	if err := w.desc.GetRows(w.env.Ctx, w.env.reader, list, unread, nil, &before); err != nil {
		return err
	}
	same := now.Rows() == len(list) && before.Rows() == len(list)
	for i := 0; same && i < len(list); i++ {
		for _, c := range read {
			same = same && stored(old.Cols[w.pos[c]].Get(rows[i]), now.Cols[w.pos[c]].Get(i))
		}
		for k, c := range unread {
			same = same && stored(before.Cols[k].Get(i), now.Cols[w.pos[c]].Get(i))
		}
	}
	if same {
		return nil
	}
	return sqlerr.New(sqlerr.TriggeredDataChange, "tuple to be %s was already modified by an operation triggered by the current command", verb).
		WithHint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")
}

// stored reports whether two values are stored alike.
func stored(a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	return a.I == b.I && math.Float64bits(a.F) == math.Float64bits(b.F) && bytes.Equal(a.B, b.B) && a.Iv == b.Iv && a.Dec.String() == b.Dec.String()
}

// RowByRow makes Next compute a row when it is asked for the one after the one before, if
// volatile functions with bodies compute the rows: who takes them stops in between.
func (r *Run) RowByRow() { rowByRow(r.root) }

// rowByRow makes the input of a statement that writes compute a row when those before
// it are written, if volatile functions with bodies compute the rows. The rows below
// must be those from before the statement.
func rowByRow(op Operator) bool {
	if s, ok := op.(*statsOp); ok {
		op = s.Operator
	}
	switch op := op.(type) {
	case *limit:
		return rowByRow(op.input)
	case *project:
		op.stepwise = op.stepwise || volatileBody(op.exprs)
		return op.stepwise
	case *values:
		for _, row := range op.node.Rows {
			op.single = op.single || volatileBody(row)
		}
		return op.single
	}
	return false
}

// volatileBody reports whether one of the expressions calls a volatile function with a
// body.
func volatileBody(list []plan.Expr) bool {
	found := false
	for _, e := range list {
		plan.Visit(e, func(x plan.Expr) bool {
			c, ok := x.(*plan.Call)
			found = found || ok && c.Proc.SQL != nil && c.Proc.Volatile == 'v'
			return !found
		})
	}
	return found
}

// locksRows reports whether a plan locks the rows that it passes.
func locksRows(n plan.Node) bool {
	if _, ok := n.(*plan.LockRows); ok {
		return true
	}
	return slices.ContainsFunc(n.Children(), locksRows)
}
