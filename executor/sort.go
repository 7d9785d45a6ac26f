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
	if n.Presorted > 0 {
		return newPresorted(op), nil
	}
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
	op.sorter.openFirst(op.node.FirstOf, op.node.First)
	return op.input.Open(env)
}

// sortInput sorts all rows of an open input, with the values of the computed
// sort keys behind its columns; cols has room for both.
func sortInput(env *Env, input Operator, computed []expr.Eval, cols []*vec.Vec, s *sorter) error {
	width := len(cols) - len(computed)
	taken := pieces{lengthy: len(computed) > 0}
	for {
		in, err := taken.next(input)
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		copy(cols, in.Cols)
		if err := evalAll(env, computed, in, cols[width:]); err != nil {
			return err
		}
		if err := s.add(cols, in.Sel, in.Rows()); err != nil {
			return err
		}
	}
	input.Close()
	return s.finish()
}

func (op *sortOp) Next() (*vec.Batch, error) {
	if !op.sorted {
		op.sorted = true
		if err := sortInput(op.env, op.input, op.computed, op.cols, op.sorter); err != nil {
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
