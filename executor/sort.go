package executor

import (
	"math"

	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// sortOp orders its whole input before the first row comes out.
type sortOp struct {
	node     *plan.Sort
	input    Operator
	width    int
	computed []expr.Eval
	sorter   *sorter
	env      *Env
	cols     []*vec.Vec
	sorted   bool
	out      vec.Batch
}

func (b *builder) sort(n *plan.Sort) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	ts := outTypes(n.Input)
	keys := planKeys(n.Keys, len(ts))
	op := &sortOp{node: n, input: in, width: len(ts)}
	if op.computed, err = expr.CompileAll(keys.computed); err != nil {
		return nil, err
	}
	ts = append(ts, exprTypes(keys.computed)...)
	op.sorter = newSorter(ts, keys.order)
	op.cols = make([]*vec.Vec, len(ts))
	return op, nil
}

func (op *sortOp) Open(env *Env) error {
	op.env, op.sorted = env, false
	limit := 0
	if op.node.Limit != nil {
		n, absent, err := rowCount(env, op.node.Limit, false)
		if err != nil {
			return err
		}
		skip, _, err := rowCount(env, op.node.Offset, true)
		if err != nil {
			return err
		}
		if !absent && n < math.MaxInt32 && skip < math.MaxInt32 {
			limit = int(max(n+skip, 1))
		}
	}
	op.sorter.open(env, limit)
	return op.input.Open(env)
}

func (op *sortOp) fill() error {
	for {
		in, err := op.input.Next()
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		copy(op.cols, in.Cols)
		if err := evalAll(op.env, op.computed, in, op.cols[op.width:]); err != nil {
			return err
		}
		if err := op.sorter.add(op.cols, in.Sel, in.Rows()); err != nil {
			return err
		}
	}
	op.input.Close()
	op.sorted = true
	return op.sorter.finish()
}

func (op *sortOp) Next() (*vec.Batch, error) {
	if !op.sorted {
		if err := op.fill(); err != nil {
			return nil, err
		}
	}
	b, err := op.sorter.next()
	if b == nil || err != nil {
		return nil, err
	}
	op.out = vec.Batch{Cols: b.Cols[:op.width], N: b.N, Sel: b.Sel}
	return &op.out, nil
}

func (op *sortOp) Close() {
	op.input.Close()
	op.sorter.close()
}

func (op *sortOp) memStats() (peak, spilled int64) { return op.sorter.acct.peak, op.sorter.spilled }
