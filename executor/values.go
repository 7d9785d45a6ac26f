package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// values passes rows of expressions without input. Constants and parameters are
// taken as they are; other expressions are evaluated over a batch of one row.
type values struct {
	node  *plan.Values
	types []types.T
	evals [][]expr.Eval // nil entries: constants and parameters
	env   *Env
	at    int
	out   vec.Batch
	one   vec.Batch
	// single passes a row at a time: see stepping.
	single bool
	held   int64 // bytes of the values in out that were copied, as the budget knows
}

func (b *builder) values(n *plan.Values) (Operator, error) {
	op := &values{node: n, types: outTypes(n), one: vec.Batch{N: 1}}
	for i, row := range n.Rows {
		for j, e := range row {
			switch e.(type) {
			case *plan.Const, *plan.Param:
				continue
			}
			if op.evals == nil {
				op.evals = make([][]expr.Eval, len(n.Rows))
			}
			if op.evals[i] == nil {
				op.evals[i] = make([]expr.Eval, len(row))
			}
			ev, err := expr.Compile(e)
			if err != nil {
				return nil, err
			}
			op.evals[i][j] = ev
		}
	}
	op.out.Cols = newVecs(op.types)
	return op, nil
}

func (op *values) Open(env *Env) error {
	op.letGo()
	op.env, op.at = env, 0
	return nil
}

func (op *values) Next() (*vec.Batch, error) {
	rows := op.node.Rows
	if op.at >= len(rows) {
		return nil, nil
	}
	if err := ctxErr(op.env.Ctx); err != nil {
		return nil, err
	}
	n := min(len(rows)-op.at, vec.BatchSize)
	if op.single {
		n = 1
	}
	op.letGo()
	for i, c := range op.out.Cols {
		c.Reset(op.types[i], n)
	}
	for r := range n {
		for j := range op.out.Cols {
			d, err := op.value(op.at+r, j)
			if err != nil {
				return nil, err
			}
			op.out.Cols[j].Set(r, d)
		}
	}
	op.at += n
	op.out.N, op.out.Sel = n, nil
	return &op.out, nil
}

func (op *values) value(r, j int) (types.Datum, error) {
	switch e := op.node.Rows[r][j].(type) {
	case *plan.Const:
		return e.Val, nil
	case *plan.Param:
		return op.env.Expr.Params[e.Idx], nil
	}
	v, err := op.evals[r][j].Eval(op.env.Expr, &op.one)
	if err != nil {
		return types.Datum{}, err
	}
	d := v.Get(0)
	if !d.Null && d.B != nil {
		// The evaluator's memory is its own only until the next row.
		if err := op.env.Mem.Grow(int64(len(d.B))); err != nil {
			return types.Datum{}, err
		}
		op.held += int64(len(d.B))
		d.B = append([]byte(nil), d.B...)
	}
	return d, nil
}

// letGo gives back what the last batch took.
func (op *values) letGo() {
	if op.held > 0 {
		_ = op.env.Mem.Grow(-op.held) // giving back cannot fail
		op.held = 0
	}
}

func (op *values) Close() { op.letGo() }
