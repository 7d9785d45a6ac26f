package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// hashJoin keeps the right input in a hash table and looks up the left's rows.
// Over budget both inputs are cut into partitions by hash (hashjoin_spill.go)
// that are joined one after the other.
type hashJoin struct {
	node        *plan.HashJoin
	left, right Operator
	ltypes      []types.T
	rtypes      []types.T // right columns, then computed keys
	lkeys       []expr.Eval
	rkeys       []expr.Eval // of the computed keys
	rkeyAt      []int
	out         joinOut

	env     *Env
	acct    account
	table   *joinTable
	spill   joinSpill
	taken   pieces // of the left input
	ahead   leftAhead
	tabled  bool // the right input has been read
	whole   bool // and is all in the table
	built   bool // and the left one opened
	lopen   bool
	hasNull bool // any build row has a NULL key, in any partition
	empty   bool // the build side has no rows at all
	fits    bool // errNoRoom instead of a spill

	pushed []pushedFilter // to the right input: see pushFilter

	batch  *vec.Batch // the left batch under way
	keys   []*vec.Vec
	hashes []uint64
	skip   func(int) bool
	pos    int    // next selected row of it
	chain  uint32 // where the row at pos goes on; 0: at its start
	inRow  bool
	tail   int // right rows passed without a match
	ended  bool

	steady  bool // the residual may be computed in any order, and again
	lead    *leadColumn
	probing onceProbe
}

func (b *builder) hashJoin(n *plan.HashJoin) (Operator, error) {
	l, r, residual, err := b.join(n.Left, n.Right, n.Residual)
	if err != nil {
		return nil, err
	}
	return b.hashJoinOf(n, l, r, residual)
}

// hashJoinOf makes the operator with inputs that are there.
func (b *builder) hashJoinOf(n *plan.HashJoin, l, r Operator, residual expr.Pred) (*hashJoin, error) {
	var err error
	op := &hashJoin{node: n, left: l, right: r, ltypes: outTypes(n.Left), rtypes: outTypes(n.Right)}
	rout := op.rtypes
	op.out = newJoinOut(n.Kind, residual, n.Residual, op.ltypes, rout)
	op.steady = n.Residual != nil && repeatable([]plan.Expr{n.Residual})
	if op.once() {
		op.lead = leadOf(n.Residual, len(op.ltypes))
	}
	if op.lkeys, err = expr.CompileAll(n.LeftKeys); err != nil {
		return nil, err
	}
	var p keyPlan
	for _, k := range n.RightKeys {
		op.rkeyAt = append(op.rkeyAt, p.place(k, len(rout)))
	}
	if op.rkeys, err = expr.CompileAll(p.computed); err != nil {
		return nil, err
	}
	op.taken.lengthy = expr.Lengthy(n.LeftKeys...) || expr.Lengthy(n.RightKeys...)
	op.rtypes = append(append([]types.T(nil), rout...), exprTypes(p.computed)...)
	op.keys = make([]*vec.Vec, len(op.lkeys))
	if n.Retain {
		b.run.retained = append(b.run.retained, op)
	}
	return op, nil
}

func (op *hashJoin) Open(env *Env) error {
	op.stop()
	op.env = env
	if op.table != nil { // of the run before
		op.built, op.ended, op.tail = false, false, 0
		op.out.open(op.table.rows.n)
		op.taken.open()
		return nil
	}
	op.acct.open(env)
	op.tabled, op.built, op.ended, op.hasNull, op.empty = false, false, false, false, true
	op.batch, op.tail = nil, 0
	op.spill.reset()
	op.taken.open()
	return nil
}

// build reads the right input, unless that has been done, and opens the left one.
func (op *hashJoin) build() error {
	op.built = true
	if !op.tabled {
		if op.node.Ahead && !op.node.Retain {
			if err := op.readAhead(); err != nil {
				return err
			}
		}
		if err := op.readRight(); err != nil {
			return err
		}
	}
	if op.spill.on {
		more, err := op.partition()
		op.ended = !more
		return err
	}
	if op.nothing() {
		return nil
	}
	if !op.ahead.on {
		op.push()
	}
	return op.openLeft()
}

// adopt makes the join probe the table that another operator of the same node
// has built, which must not spill, nor track its right rows.
func (op *hashJoin) adopt(from *hashJoin) {
	op.table, op.tabled = from.table, true
	op.empty, op.hasNull = from.empty, from.hasNull
	op.out.open(op.table.rows.n)
}

// readRight reads the right input into the table.
func (op *hashJoin) readRight() error {
	op.tabled = true
	for _, x := range op.pushed {
		own := *x.f
		pushFilter(op.right, x.col, &own)
	}
	if err := op.right.Open(op.env); err != nil {
		return err
	}
	op.table = newJoinTable(op.rtypes, op.rkeyAt)
	cols := make([]*vec.Vec, len(op.rtypes))
	width := len(op.rtypes) - len(op.rkeys)
	taken := pieces{lengthy: op.taken.lengthy}
	for {
		in, err := taken.next(op.right)
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		op.empty = false
		copy(cols, in.Cols)
		if err := evalAll(op.env, op.rkeys, in, cols[width:]); err != nil {
			return err
		}
		if err := op.store(cols, in.Sel, in.Rows()); err != nil {
			return err
		}
	}
	op.right.Close()
	if op.spill.on {
		return nil
	}
	op.whole = true
	return op.ready()
}

// store keeps build rows in memory, or in partitions once memory is short.
func (op *hashJoin) store(cols []*vec.Vec, sel []uint32, n int) error {
	if op.spill.on {
		return op.spill.writeBuild(op, cols, sel, n)
	}
	op.table.rows.appendCols(cols, sel, n)
	if err := op.acct.set(op.table.bytesBuilt()); err != nil {
		return err
	}
	if !op.acct.over() || op.spill.depth >= joinMaxDepth {
		return nil
	}
	if op.fits {
		return errNoRoom
	}
	op.spill.start(op)
	rows := op.table.rows
	var view vec.Batch
	for at := 0; at < rows.n; at += vec.BatchSize {
		rows.window(&view, at, min(at+vec.BatchSize, rows.n))
		if err := op.spill.writeBuild(op, view.Cols, nil, view.N); err != nil {
			return err
		}
	}
	op.table = newJoinTable(op.rtypes, op.rkeyAt)
	return op.acct.set(0)
}

// ready ends the build of the table in memory.
func (op *hashJoin) ready() error {
	op.table.index(op.node.NullEq, op.lead)
	op.hasNull = op.hasNull || op.table.hasNull
	if err := op.acct.set(op.table.bytes()); err != nil {
		return err
	}
	op.out.open(op.table.rows.n)
	op.tail = 0
	return nil
}

// nothing reports whether no left row can give output, so that the left input
// need not be read.
func (op *hashJoin) nothing() bool {
	switch op.node.Kind {
	case plan.Inner, plan.Semi, plan.Right:
		return op.empty
	case plan.Anti:
		return op.node.NullAware && op.hasNull
	}
	return false
}

// push hands filters of the build keys to the left input.
func (op *hashJoin) push() {
	switch op.node.Kind {
	case plan.Inner, plan.Semi, plan.Right:
	default:
		return
	}
	for i, k := range op.node.LeftKeys {
		c, ok := plan.KeyCol(k)
		if !ok || op.node.NullEq != nil && op.node.NullEq[i] {
			continue
		}
		if f := op.table.filter(i); f != nil {
			own := *f
			pushFilter(op.left, c.Idx, &own)
		}
	}
}

// pushFilter hands a filter from above to the input that has the column, whose rows may
// be dropped early unless they are passed without a match. A table that later runs read
// as well is of all rows.
func (op *hashJoin) pushFilter(col int, f *keyFilter) bool {
	if right := col - len(op.ltypes); right >= 0 {
		if op.node.Kind != plan.Inner || op.node.Retain || !pushFilter(op.right, right, f) {
			return false
		}
		op.pushed = append(op.pushed, pushedFilter{right, f})
		return true
	}
	return op.node.Kind != plan.Full && op.node.Kind != plan.Right && pushFilter(op.left, col, f)
}

func (op *hashJoin) Next() (*vec.Batch, error) {
	if !op.built {
		if err := op.build(); err != nil {
			return nil, err
		}
	}
	for !op.ended {
		if err := op.out.due(); err != nil {
			return nil, err
		}
		if op.batch == nil {
			more, err := op.nextLeft()
			if err != nil {
				return nil, err
			}
			if !more {
				b, err := op.finish()
				if b != nil || err != nil {
					return b, err
				}
				continue
			}
		}
		out, err := op.join()
		if err != nil {
			return nil, err
		}
		if out.Rows() > 0 {
			return out, nil
		}
	}
	return nil, nil
}

// join returns the output of the left batch or a part of it, possibly without rows.
func (op *hashJoin) join() (*vec.Batch, error) {
	if op.pos == 0 && !op.inRow && op.once() {
		out, err := op.probeOnce()
		if err == nil {
			op.batch = nil
			return out, nil
		}
		if !ofRow(err) {
			return nil, err
		}
		op.pos = 0
	}
	done := op.probe()
	out, err := op.out.flush(op.env, op.batch, op.tableCols())
	if done {
		op.batch = nil
	}
	return out, err
}

// tableCols are the right columns of the rows in the table.
func (op *hashJoin) tableCols() []*vec.Vec {
	return op.table.rows.cols[:len(op.rtypes)-len(op.rkeys)]
}

// nextLeft fetches the next left batch with its keys and hashes.
func (op *hashJoin) nextLeft() (bool, error) {
	if op.nothing() && !op.spill.on {
		return false, nil
	}
	var in *vec.Batch
	var err error
	if op.spill.probe != nil {
		if in, err = op.spill.nextProbe(op); in == nil || err != nil {
			return false, err
		}
	} else {
		if !op.lopen {
			return false, nil
		}
		if in, err = op.taken.next(op.leftRows()); in == nil || err != nil {
			return false, err
		}
		if err := evalAll(op.env, op.lkeys, in, op.keys); err != nil {
			return false, err
		}
	}
	op.setProbe(in)
	return true, nil
}

func (op *hashJoin) setProbe(in *vec.Batch) {
	op.batch, op.pos, op.inRow = in, 0, false
	if op.table.ints == nil {
		op.hashes = hashRows(op.keys, in.Sel, in.Rows(), op.hashes)
	}
	op.skip = nullRows(op.keys, op.node.NullEq)
}

// probe collects candidates until the output is full or the batch is done,
// which it reports.
func (op *hashJoin) probe() bool {
	t := op.table
	marks := op.out.marks()
	first := op.node.Kind == plan.Semi && op.out.residual == nil || op.node.Kind == plan.Anti && op.out.residual == nil
	n := op.batch.Rows()
	if t.ints != nil && !t.ints.dups && op.node.Kind == plan.Inner && n-op.pos <= vec.BatchSize {
		op.out.l, op.out.r = t.ints.pairs(op.keys[0], op.batch, op.pos, op.skip, op.out.l, op.out.r)
		op.pos = n
		return true
	}
	for op.pos < n {
		r := op.batch.Row(op.pos)
		c := op.chain
		if !op.inRow {
			c = 0
			if op.skip == nil || !op.skip(r) {
				c = op.first(r)
			} else if op.node.NullAware && !op.empty {
				op.pos++ // NULL NOT IN (something) is not true
				continue
			}
			op.inRow = true
		}
		for c != 0 {
			if t.ints == nil { // else all rows of the chain have the key
				if c = t.match(c, op.keys, r); c == 0 {
					break
				}
			}
			full := op.out.add(uint32(r), c-1)
			c = t.next[c-1]
			if first {
				c = 0
			}
			if full {
				op.chain = c
				return false
			}
		}
		op.inRow, op.chain = false, 0
		op.pos++
		if marks && op.out.add(uint32(r), noRow) {
			return op.pos == n
		}
	}
	return true
}

// first returns row + 1 of the first candidate for row r of the batch, which is
// the one at pos; 0 for none.
func (op *hashJoin) first(r int) uint32 {
	if x := op.table.ints; x != nil {
		k := op.keys[0]
		return x.find(k.I64[k.Idx(r)])
	}
	return op.table.head(op.hashes[op.pos])
}

// finish passes right rows without a match, then turns to the next partition.
func (op *hashJoin) finish() (*vec.Batch, error) {
	rows := op.table.rows
	if b := op.out.finish(&op.tail, rows.n, op.ltypes, op.tableCols()); b != nil {
		return b, nil
	}
	more, err := op.spill.nextPartition(op)
	op.ended = !more
	return nil, err
}

func (op *hashJoin) Close() {
	op.stop()
	op.left.Close() // opened or not, it may have been handed filters
	op.pushed = nil
}

// stop ends a run. A left input that was not opened yet keeps the filters that it has
// been handed for the next one.
func (op *hashJoin) stop() {
	if op.lopen {
		op.left.Close()
		op.lopen = false
	}
	op.ahead.Close()
	op.right.Close()
	op.batch, op.skip = nil, nil
	if !op.node.Retain || !op.tabled || !op.whole || op.spill.on {
		op.release()
	}
}

// release gives the table up.
func (op *hashJoin) release() {
	op.spill.close()
	op.table, op.tabled, op.whole = nil, false, false
	op.acct.close()
}

func (op *hashJoin) memStats() (peak, spilled int64) { return op.acct.peak, op.spill.bytes }
