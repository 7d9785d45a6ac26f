package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// limit passes Count rows after skipping Offset; with TieKeys also the rows
// after them that are equal to the last one by these keys.
type limit struct {
	node  *plan.Limit
	input Operator
	ties  []expr.Eval
	env   *Env

	skip, left int64 // left < 0: no limit
	last       *rowStore
	lastCols   []*vec.Vec
	eq         keyEq
	done       bool
	out        vec.Batch
	sel        []uint32
}

func (b *builder) limit(n *plan.Limit) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &limit{node: n, input: in}
	if n.Count != nil {
		stepping{calls: acts, distinct: true}.down(in, false)
	}
	if len(n.TieKeys) > 0 {
		keys := sortExprs(n.TieKeys)
		if op.ties, err = expr.CompileAll(keys); err != nil {
			return nil, err
		}
		ts := exprTypes(keys)
		op.last, op.eq, op.lastCols = newRowStore(ts), newKeyEq(ts), make([]*vec.Vec, len(ts))
	}
	return op, nil
}

// rowCount evaluates a LIMIT or OFFSET expression; absent means the value was
// NULL or missing.
func rowCount(env *Env, e plan.Expr, offset bool) (n int64, absent bool, err error) {
	if e == nil {
		return 0, true, nil
	}
	d, err := expr.EvalConst(env.Expr, e)
	if err != nil {
		return 0, false, err
	}
	if d.Null {
		return 0, true, nil
	}
	if d.I < 0 {
		if offset {
			return 0, false, sqlerr.New(sqlerr.InvalidRowCountInOffset, "OFFSET must not be negative")
		}
		return 0, false, sqlerr.New(sqlerr.InvalidRowCountInLimit, "LIMIT must not be negative")
	}
	return d.I, false, nil
}

// passOver has an operator pass over its first n rows, if it can; it is called after Open.
func passOver(op Operator, n int64) bool {
	switch op := op.(type) {
	case *statsOp:
		return passOver(op.Operator, n)
	case *project:
		return passOver(op.input, n)
	case *scan:
		return op.passOver(n)
	}
	return false
}

func (op *limit) Open(env *Env) error {
	op.env, op.done = env, false
	var err error
	if op.skip, _, err = rowCount(env, op.node.Offset, true); err != nil {
		return err
	}
	n, absent, err := rowCount(env, op.node.Count, false)
	if err != nil {
		return err
	}
	op.left = n
	if absent {
		op.left = -1
	}
	if op.last != nil {
		op.last.reset()
	}
	if op.left == 0 {
		op.done = true
		return nil
	}
	if err := op.input.Open(env); err != nil {
		return err
	}
	if op.node.Pass && op.skip > 0 && passOver(op.input, op.skip) {
		op.skip = 0
	}
	if op.left > 0 && op.ties == nil {
		demand(op.input, op.skip+op.left)
	}
	return nil
}

func (op *limit) Next() (*vec.Batch, error) {
	for !op.done {
		in, err := op.input.Next()
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			break
		}
		n := in.Rows()
		if int64(n) <= op.skip {
			op.skip -= int64(n)
			continue
		}
		if op.skip == 0 && (op.left < 0 || int64(n) < op.left) {
			if op.left > 0 {
				op.left -= int64(n)
			}
			return in, nil
		}
		out, err := op.cut(in, n)
		if err != nil {
			return nil, err
		}
		if out.Rows() > 0 {
			return out, nil
		}
	}
	return nil, nil
}

// cut handles the batches in which the result begins or ends.
func (op *limit) cut(in *vec.Batch, n int) (*vec.Batch, error) {
	op.sel = selectedRows(in, op.sel)
	sel := op.sel[:n]
	if in.Sel != nil {
		op.sel = nil // not ours: do not reuse the input's memory
	}
	sel = sel[op.skip:]
	op.skip = 0
	rest := sel[:0]
	if op.left >= 0 {
		k := min(int64(len(sel)), op.left)
		rest = sel[k:]
		sel = sel[:k]
		op.left -= k
	}
	if op.left == 0 {
		if op.last == nil {
			op.done = true
		} else if err := op.tied(in, &sel, rest); err != nil {
			return nil, err
		}
	}
	op.out = vec.Batch{Cols: in.Cols, N: in.N, Sel: sel}
	return &op.out, nil
}

// tied lengthens sel by the rows of rest that are equal to the last row passed.
func (op *limit) tied(in *vec.Batch, sel *[]uint32, rest []uint32) error {
	whole := vec.Batch{Cols: in.Cols, N: in.N, Sel: in.Sel}
	if err := evalAll(op.env, op.ties, &whole, op.lastCols); err != nil {
		return err
	}
	if op.last.n == 0 {
		if len(*sel) == 0 {
			op.done = true
			return nil
		}
		op.last.appendCols(op.lastCols, (*sel)[len(*sel)-1:], 1)
	}
	k := 0
	for k < len(rest) && op.eq.equal(op.last.cols, 0, op.lastCols, int(rest[k])) {
		k++
	}
	op.done = k < len(rest)
	*sel = (*sel)[:len(*sel)+k]
	return nil
}

func (op *limit) Close() { op.input.Close() }
