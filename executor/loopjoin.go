package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// loopJoin keeps the right input in memory and tests every pair of rows.
type loopJoin struct {
	left, right Operator
	ltypes      []types.T
	rows        *rowStore
	out         joinOut

	env   *Env
	acct  account
	built bool
	batch *vec.Batch
	pos   int // selected row of batch
	at    int // right row it goes on with
	tail  int
	done  bool
}

func (b *builder) loopJoin(n *plan.LoopJoin) (Operator, error) {
	l, r, cond, err := b.join(n.Left, n.Right, n.Cond)
	if err != nil {
		return nil, err
	}
	op := &loopJoin{left: l, right: r, ltypes: outTypes(n.Left)}
	rtypes := outTypes(n.Right)
	op.rows = newRowStore(rtypes)
	op.out = newJoinOut(n.Kind, cond, op.ltypes, rtypes)
	return op, nil
}

func (op *loopJoin) Open(env *Env) error {
	op.Close()
	op.env, op.built, op.done, op.batch, op.tail = env, false, false, nil, 0
	op.acct.open(env)
	return nil
}

// readAll fills a store with an input's rows.
func readAll(env *Env, op Operator, rows *rowStore, acct *account) error {
	defer op.Close()
	if err := op.Open(env); err != nil {
		return err
	}
	var taken pieces
	for {
		in, err := taken.next(op)
		if in == nil || err != nil {
			return err
		}
		rows.append(in)
		if err := acct.set(rows.size); err != nil {
			return err
		}
	}
}

func (op *loopJoin) Next() (*vec.Batch, error) {
	if !op.built {
		op.built = true
		if err := readAll(op.env, op.right, op.rows, &op.acct); err != nil {
			return nil, err
		}
		op.out.open(op.rows.n)
		if op.rows.n == 0 && !op.out.marks() {
			op.done = true
			return nil, nil
		}
		if err := op.left.Open(op.env); err != nil {
			return nil, err
		}
	}
	for !op.done {
		if err := ctxErr(op.env.Ctx); err != nil {
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
			op.batch, op.pos, op.at = in, 0, 0
		}
		done := op.pair()
		b, err := op.out.flush(op.env, op.batch, op.rows.cols)
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

// pair collects candidates; true when the left batch is done.
func (op *loopJoin) pair() bool {
	n := op.batch.Rows()
	for ; op.pos < n; op.pos++ {
		r := uint32(op.batch.Row(op.pos))
		for op.at < op.rows.n {
			op.at++
			if op.out.add(r, uint32(op.at-1)) {
				return false
			}
		}
		op.at = 0
		if op.out.marks() && op.out.add(r, noRow) {
			op.pos++
			return op.pos == n
		}
	}
	return true
}

func (op *loopJoin) finish() (*vec.Batch, error) {
	b := op.out.finish(&op.tail, op.rows.n, op.ltypes, op.rows.cols)
	op.done = b == nil
	return b, nil
}

func (op *loopJoin) Close() {
	op.left.Close()
	op.right.Close()
	op.rows.release()
	op.acct.close()
}

func (op *loopJoin) memStats() (peak, spilled int64) { return op.acct.peak, 0 }
