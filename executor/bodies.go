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
	return len(calls) > 0 && (!r.query.ReadOnly || r.build.bodies)
}

// unmodified fails if a function that the statement calls has changed, or deleted, rows
// that the statement is about to change: their old values are not in the indexes any more.
func (w *tableWriter) unmodified(keys *vec.Vec, old *vec.Batch, unread []int, verb string) error {
	if !w.env.run.build.bodies {
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

// runsBodies reports whether a statement calls volatile functions with bodies itself, and
// not by what it writes: see tableWriter.bodies.
func runsBodies(q *plan.Query) bool { return slices.ContainsFunc(q.Calls, hasVolatileBody) }

// hasVolatileBody reports whether a function that is called is volatile and has a body.
func hasVolatileBody(f *catalog.Function) bool { return f.Volatile == 'v' }

// RowByRow makes Next compute a row when it is asked for the one after the one before, if
// volatile functions with bodies compute the rows: who takes them stops in between.
func (r *Run) RowByRow() {
	if r.build.bodies {
		stepping{calls: volatileBody, through: true}.down(r.root, false)
	}
}

// stepsInput makes the input of a statement that writes compute a row when those before it
// are written, if volatile functions with bodies compute the rows, which it reports. The
// rows below must be those from before the statement. written tells that such functions
// compute what is written of them.
func (b *builder) stepsInput(op Operator, written bool) bool {
	return b.bodies && stepping{calls: volatileBody}.down(op, written)
}

// writesSingly reports whether what a statement that writes does with a row of its input
// calls volatile functions with bodies: RETURNING, what ON CONFLICT and MERGE compute, the
// conditions of views and policies.
func (b *builder) writesSingly(n plan.Node) bool { return b.bodies && callsOf(n, volatileBody) }

// VolatileBody reports whether an expression calls a volatile function with a body.
func VolatileBody(e plan.Expr) bool { return volatileBody([]plan.Expr{e}) }

// volatileBody reports whether one of the expressions calls a volatile function with a
// body, itself or in a subquery.
func volatileBody(list []plan.Expr) bool {
	found := false
	for _, e := range list {
		plan.Visit(e, func(x plan.Expr) bool {
			switch x := x.(type) {
			case *plan.Call:
				found = found || x.Proc.SQL != nil && x.Proc.Volatile == 'v'
			case *plan.SubPlan:
				found = found || callsIn(x.Plan, volatileBody)
			}
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
