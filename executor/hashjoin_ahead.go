package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// leftAhead is what a hash join has read of its left input before the right one, of which
// then only the rows with these keys are read: they are looked up. The join's rows come in
// the left input's order all the same.
type leftAhead struct {
	on    bool
	rows  *rowStore // the left columns, then the keys
	width int
	at    int
	taken pieces   // of rest
	rest  Operator // nil: there is no more
	view  vec.Batch
	out   vec.Batch
}

// aheadBytes is what the left rows that are read ahead may take, beside their number.
const aheadBytes = 1 << 20

// readAhead reads the left input as far as its keys are few, and hands them to the right
// one if that is all.
func (op *hashJoin) readAhead() error {
	a := &op.ahead
	if err := op.openLeft(); err != nil {
		return err
	}
	a.width = len(op.ltypes)
	ts := append(append([]types.T(nil), op.ltypes...), exprTypes(op.node.LeftKeys)...)
	at := make([]int, len(op.lkeys))
	for i := range at {
		at[i] = a.width + i
	}
	t := newJoinTable(ts, at)
	a.on, a.rows, a.at, a.rest = true, t.rows, 0, op.left
	a.taken.lengthy = op.taken.lengthy
	cols := make([]*vec.Vec, len(ts))
	for t.rows.n <= maxFew && t.rows.size < aheadBytes {
		in, err := a.taken.next(op.left)
		if err != nil {
			return err
		}
		if in == nil {
			a.rest = nil
			break
		}
		copy(cols, in.Cols)
		if err := evalAll(op.env, op.lkeys, in, cols[a.width:]); err != nil {
			return err
		}
		t.rows.appendCols(cols, in.Sel, in.Rows())
	}
	if a.rest != nil {
		return nil
	}
	t.index(op.node.NullEq, nil)
	for i, k := range op.node.RightKeys {
		c, ok := plan.KeyCol(k)
		if !ok || op.node.NullEq != nil && op.node.NullEq[i] {
			continue
		}
		if f := t.filter(i); f != nil {
			own := *f
			pushFilter(op.right, c.Idx, &own)
		}
	}
	return nil
}

func (a *leftAhead) Open(*Env) error { return nil }

func (a *leftAhead) Next() (*vec.Batch, error) {
	if a.at < a.rows.n {
		to := min(a.at+vec.BatchSize, a.rows.n)
		a.rows.window(&a.view, a.at, to)
		a.at = to
		a.out = vec.Batch{Cols: a.view.Cols[:a.width], N: a.view.N}
		return &a.out, nil
	}
	if a.rest == nil {
		return nil, nil
	}
	return a.taken.next(a.rest)
}

func (a *leftAhead) Close() { *a = leftAhead{} }

// openLeft opens the left input, unless it has been read ahead.
func (op *hashJoin) openLeft() error {
	if op.lopen {
		return nil
	}
	op.lopen = true
	return op.left.Open(op.env)
}

// leftRows is where the left rows come from.
func (op *hashJoin) leftRows() Operator {
	if op.ahead.on {
		return &op.ahead
	}
	return op.left
}
