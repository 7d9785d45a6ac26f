package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// project computes expressions over each input batch.
type project struct {
	input Operator
	evals []expr.Eval
	env   *Env
	taken pieces
	exprs []plan.Expr
	fault rowFault
	now   vec.Batch // the rows of the input that out is of
	out   vec.Batch

	stepwise bool // see plan.Project
	rows     singleRows
	serial   *serially // of calls that see each other's effects
}

func (b *builder) project(n *plan.Project) (Operator, error) {
	if c := condOf(n.Input); c != nil {
		b.inTurns = inTurn(append(slices.Clone(n.Exprs), c)) // a row is computed before the next one is looked at
	}
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return projectOver(in, n)
}

// projectOver makes the operator of a projection whose input is built.
func projectOver(in Operator, n *plan.Project) (Operator, error) {
	evals, err := expr.CompileAll(n.Exprs)
	if err != nil {
		return nil, err
	}
	return &project{input: in, exprs: n.Exprs, taken: pieces{lengthy: expr.Lengthy(n.Exprs...)}, evals: evals, out: vec.Batch{Cols: make([]*vec.Vec, len(evals))},
		stepwise: n.Stepwise, serial: newSerially(n.Exprs)}, nil
}

func (op *project) Open(env *Env) error {
	op.env, op.rows.in, op.fault = env, nil, rowFault{}
	op.taken.open()
	return op.input.Open(env)
}

// pushFilter hands a filter of a column that is the input's to the input.
func (op *project) pushFilter(col int, f *keyFilter) bool {
	if op.stepwise || op.serial != nil || col >= len(op.exprs) {
		return false
	}
	c, ok := op.exprs[col].(*plan.Col)
	return ok && pushFilter(op.input, c.Idx, f)
}

func (op *project) Next() (*vec.Batch, error) {
	if op.stepwise {
		return op.step()
	}
	if err := op.fault.due(); err != nil {
		return nil, err
	}
	in, err := op.taken.next(op.input)
	if in == nil || err != nil {
		return nil, err
	}
	if op.serial != nil {
		return op.serial.compute(op.env, op.evals, in)
	}
	op.now = *in
	if err := op.compute(&op.now); err != nil {
		if err := op.fault.rescue(err, &op.now, op.compute, op.exprs...); err != nil {
			return nil, err
		}
	}
	op.out.N, op.out.Sel = op.now.N, op.now.Sel
	return &op.out, nil
}

// compute evaluates the expressions over rows of the input.
func (op *project) compute(rows *vec.Batch) error {
	return evalAll(op.env, op.evals, rows, op.out.Cols)
}

// step computes the next row.
func (op *project) step() (*vec.Batch, error) {
	row, err := op.rows.next(op.input)
	if row == nil || err != nil {
		return nil, err
	}
	if err := op.compute(row); err != nil {
		return nil, err
	}
	op.out.N, op.out.Sel = row.N, row.Sel
	return &op.out, nil
}

func (op *project) Close() {
	op.input.Close()
	op.serial.release()
}
