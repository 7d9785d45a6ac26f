package executor

import (
	"slices"

	"kvsqld/catalog"
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

// rowByRow makes the input of a statement that writes compute a row when those before
// it are written, if volatile functions with bodies compute the rows. The rows below
// must be those from before the statement.
func rowByRow(op Operator) bool {
	if s, ok := op.(*statsOp); ok {
		op = s.Operator
	}
	switch op := op.(type) {
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
