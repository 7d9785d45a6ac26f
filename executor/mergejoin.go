package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// mergeJoin joins inputs that are ordered on their keys, ascending with NULLs
// last. The right rows are kept; one position in them follows the left's.
type mergeJoin struct {
	node         *plan.MergeJoin
	left, right  Operator
	ltypes       []types.T
	width        int // right columns without computed keys
	lkeys, rkeys []expr.Eval
	rkeyAt       []int
	cmp          []func(*vec.Vec, int, *vec.Vec, int) int
	out          joinOut

	env    *Env
	acct   account
	rows   *rowStore
	rcols  []*vec.Vec // key columns of rows
	built  bool
	batch  *vec.Batch
	keys   []*vec.Vec
	pos    int // selected left row
	lo, hi int // right rows equal to the left row at pos, once inRow
	at     int
	inRow  bool
	tail   int
	done   bool
}

func (b *builder) mergeJoin(n *plan.MergeJoin) (Operator, error) {
	l, r, residual, err := b.join(n.Left, n.Right, n.Residual)
	if err != nil {
		return nil, err
	}
	op := &mergeJoin{node: n, left: l, right: r, ltypes: outTypes(n.Left)}
	rtypes := outTypes(n.Right)
	op.width = len(rtypes)
	op.out = newJoinOut(n.Kind, residual, n.Residual, op.ltypes, rtypes)
	if op.lkeys, err = expr.CompileAll(n.LeftKeys); err != nil {
		return nil, err
	}
	var p keyPlan
	for _, k := range n.RightKeys {
		op.rkeyAt = append(op.rkeyAt, p.place(k, op.width))
		op.cmp = append(op.cmp, valueCmp(k.Type()))
	}
	if op.rkeys, err = expr.CompileAll(p.computed); err != nil {
		return nil, err
	}
	op.rows = newRowStore(append(append([]types.T(nil), rtypes...), exprTypes(p.computed)...))
	op.keys = make([]*vec.Vec, len(op.lkeys))
	return op, nil
}

func (op *mergeJoin) Open(env *Env) error {
	op.Close()
	op.env, op.built, op.done = env, false, false
	op.lo, op.hi, op.tail = 0, 0, 0
	op.acct.open(env)
	return nil
}

func (op *mergeJoin) build() error {
	op.built = true
	if err := op.right.Open(op.env); err != nil {
		return err
	}
	cols := make([]*vec.Vec, len(op.rows.cols))
	taken := pieces{lengthy: len(op.rkeys) > 0}
	for {
		in, err := taken.next(op.right)
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		copy(cols, in.Cols)
		if err := evalAll(op.env, op.rkeys, in, cols[op.width:]); err != nil {
			return err
		}
		op.rows.appendCols(cols, in.Sel, in.Rows())
		if err := op.acct.set(op.rows.size); err != nil {
			return err
		}
	}
	op.right.Close()
	op.rcols = op.rcols[:0]
	for _, k := range op.rkeyAt {
		op.rcols = append(op.rcols, op.rows.cols[k])
	}
	op.out.open(op.rows.n)
	return op.left.Open(op.env)
}

func (op *mergeJoin) Next() (*vec.Batch, error) {
	if !op.built {
		if err := op.build(); err != nil {
			return nil, err
		}
	}
	for !op.done {
		if err := op.out.due(); err != nil {
			return nil, err
		}
		if op.batch == nil {
			in, err := op.left.Next()
			if err != nil {
				return nil, err
			}
			if in == nil {
				return op.finish()
			}
			if err := evalAll(op.env, op.lkeys, in, op.keys); err != nil {
				return nil, err
			}
			op.batch, op.pos, op.inRow = in, 0, false
		}
		done := op.pair()
		b, err := op.out.flush(op.env, op.batch, op.rows.cols[:op.width])
		if err != nil {
			return nil, err
		}
		if done {
			op.batch = nil
		}
		if b.Rows() > 0 {
			return b, nil
		}
	}
	return nil, nil
}

// compare orders right row i against left row r; NULLs come last on both sides.
func (op *mergeJoin) compare(i, r int) (c int, null bool) {
	for k, f := range op.cmp {
		x, y := op.rcols[k], op.keys[k]
		yi := y.Idx(r)
		xn, yn := x.IsNull(i), y.Nulls.Get(yi)
		switch {
		case xn && yn:
			null = true
			continue
		case xn:
			return 1, true
		case yn:
			return -1, true
		}
		if c := f(x, i, y, yi); c != 0 {
			return c, null
		}
	}
	return 0, null
}

// seek sets lo and hi to the right rows with the key of left row r.
func (op *mergeJoin) seek(r int) {
	c, null := -1, false
	for op.lo < op.rows.n {
		if c, null = op.compare(op.lo, r); c >= 0 {
			break
		}
		op.lo++
	}
	op.hi = max(op.hi, op.lo)
	if c != 0 || null {
		op.hi = op.lo
		return
	}
	for op.hi < op.rows.n {
		if c, _ := op.compare(op.hi, r); c != 0 {
			break
		}
		op.hi++
	}
}

// pair collects candidates; true when the left batch is done.
func (op *mergeJoin) pair() bool {
	n := op.batch.Rows()
	for ; op.pos < n; op.pos++ {
		r := op.batch.Row(op.pos)
		if !op.inRow {
			op.seek(r)
			op.at, op.inRow = op.lo, true
		}
		for op.at < op.hi {
			op.at++
			if op.out.add(uint32(r), uint32(op.at-1)) {
				return false
			}
		}
		op.inRow = false
		if op.out.marks() && op.out.add(uint32(r), noRow) {
			op.pos++
			return op.pos == n
		}
	}
	return true
}

func (op *mergeJoin) finish() (*vec.Batch, error) {
	b := op.out.finish(&op.tail, op.rows.n, op.ltypes, op.rows.cols[:op.width])
	op.done = b == nil
	return b, nil
}

func (op *mergeJoin) Close() {
	op.left.Close()
	op.right.Close()
	op.rows.release()
	op.batch = nil
	op.acct.close()
}

func (op *mergeJoin) memStats() (peak, spilled int64) { return op.acct.peak, 0 }
