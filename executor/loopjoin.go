package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// loopJoin tests every pair of rows. The right input is kept in memory as far as it
// was read: to the first match of each left row in a semi or anti join, and to the
// rows that the output needs in one whose output nobody reads to the end.
type loopJoin struct {
	left, right Operator
	ltypes      []types.T
	rows        *rowStore
	taken       pieces // of the right input
	out         joinOut

	env   *Env
	acct  account
	began bool
	whole bool // all right rows are in rows
	more  bool // the left row that is under way needs further right rows
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
	op.out = newJoinOut(n.Kind, cond, n.Cond, op.ltypes, rtypes)
	return op, nil
}

func (op *loopJoin) Open(env *Env) error {
	op.Close()
	op.env, op.began, op.whole, op.more, op.done, op.batch, op.tail = env, false, false, false, false, nil, 0
	op.taken.open()
	op.acct.open(env)
	return nil
}

// begin opens the inputs and reads the first right rows: all of them where those
// without a match are passed at the end.
func (op *loopJoin) begin() error {
	op.began = true
	if err := op.right.Open(op.env); err != nil {
		return err
	}
	for op.rows.n == 0 && !op.whole || op.out.tracksRight() && !op.whole {
		if err := op.read(); err != nil {
			return err
		}
	}
	op.out.open(op.rows.n)
	if op.rows.n == 0 && !op.out.marks() {
		op.done = true
		return nil
	}
	return op.left.Open(op.env)
}

// read keeps the next right rows.
func (op *loopJoin) read() error {
	in, err := op.taken.next(op.right)
	if err != nil {
		return err
	}
	if in == nil {
		op.whole = true
		op.right.Close()
		return nil
	}
	op.rows.append(in)
	return op.acct.set(op.rows.size)
}

func (op *loopJoin) Next() (*vec.Batch, error) {
	if !op.began {
		if err := op.begin(); err != nil {
			return nil, err
		}
	}
	for !op.done {
		if err := op.out.due(); err != nil {
			return nil, err
		}
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
		if op.more && !op.settled() {
			if err := op.read(); err != nil {
				return nil, err
			}
		}
		op.more = false
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

// settled reports whether the left row that is under way needs no further right
// rows; all candidates so far have been decided.
func (op *loopJoin) settled() bool {
	return (op.out.kind == plan.Semi || op.out.kind == plan.Anti) && op.out.matched
}

// pair collects candidates; true when the left batch is done.
func (op *loopJoin) pair() bool {
	n := op.batch.Rows()
	settled := op.settled()
	for ; op.pos < n; op.pos++ {
		r := uint32(op.batch.Row(op.pos))
		for !settled && op.at < op.rows.n {
			op.at++
			if op.out.add(r, uint32(op.at-1)) {
				return false
			}
		}
		if op.more = !settled && !op.whole; op.more {
			return false
		}
		op.at, settled = 0, false
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
