package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// apply runs the right input once per left row, with parameters set from that
// row (LATERAL).
type apply struct {
	node        *plan.Apply
	left, right Operator
	outer       []expr.Eval
	set         *lateralSet // the right input instead of right, where it is of that form
	bare        bool        // no condition: every right row is a match
	rows        *rowStore   // right rows of the candidates under way
	out         joinOut

	env   *Env
	batch *vec.Batch
	vals  []*vec.Vec
	pos   int
	open  bool // right is running for the row at pos
	held  *vec.Batch
	taken pieces // of the right input
	done  bool
	one   vec.Batch // the left row at pos
	sel   [1]uint32

	pushed []pushedFilter // to the left input
}

func (b *builder) apply(n *plan.Apply) (Operator, error) {
	set, on, err := b.lateralSet(n)
	if err != nil {
		return nil, err
	}
	if set != nil {
		l, err := b.node(n.Left)
		if err != nil {
			return nil, err
		}
		cond, err := b.predicate(on)
		op := &apply{node: n, left: l, set: set, bare: on == nil}
		op.out = newJoinOut(n.Kind, cond, on, outTypes(n.Left), outTypes(n.Right))
		return op, err
	}
	l, r, cond, err := b.join(n.Left, n.Right, n.Cond)
	if err != nil {
		return nil, err
	}
	op := &apply{node: n, left: l, right: r, bare: n.Cond == nil, vals: make([]*vec.Vec, len(n.Outer))}
	for _, p := range n.Outer {
		e, err := expr.Compile(p.X)
		if err != nil {
			return nil, err
		}
		op.outer = append(op.outer, e)
	}
	rtypes := outTypes(n.Right)
	op.rows = newRowStore(rtypes)
	op.out = newJoinOut(n.Kind, cond, n.Cond, outTypes(n.Left), rtypes)
	return op, nil
}

// pushFilter hands a filter from above to the left input, each row of which gives rows of
// its own.
func (op *apply) pushFilter(col int, f *keyFilter) bool {
	if col >= len(op.node.Left.Base().Cols) || !pushFilter(op.left, col, f) {
		return false
	}
	op.pushed = append(op.pushed, pushedFilter{col, f})
	return true
}

func (op *apply) Open(env *Env) error {
	op.shut()
	for _, p := range op.pushed {
		pushFilter(op.left, p.col, p.f)
	}
	op.env, op.done = env, false
	op.out.open(0)
	return op.left.Open(env)
}

func (op *apply) Next() (*vec.Batch, error) {
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
				op.done = true
				break
			}
			op.batch, op.pos = in, 0
		}
		done, right, err := op.candidates()
		if err != nil {
			return nil, err
		}
		b, err := op.out.flush(op.env, op.batch, right)
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

// candidates gathers pairs of the left batch's rows with the right rows, which it
// returns; true when the left batch is done.
func (op *apply) candidates() (bool, []*vec.Vec, error) {
	if op.set != nil {
		op.set.build.Reset()
		done, err := op.collectSets()
		return done, op.set.build.Batch().Cols[:op.set.width], err
	}
	op.rows.reset()
	done, err := op.collect()
	return done, op.rows.cols, err
}

// collectSets is collect for sets.
func (op *apply) collectSets() (bool, error) {
	build := op.set.build
	for n := op.batch.Rows(); op.pos < n; {
		r := op.batch.Row(op.pos)
		if !op.open {
			if err := op.set.start(op.env, op.batch, r); err != nil {
				return false, err
			}
			op.open = true
		}
		for {
			at := build.Len()
			more, err := op.set.fill(op.env)
			if err != nil {
				return false, err
			}
			for i := at; i < build.Len(); i++ {
				op.out.add(uint32(r), uint32(i))
			}
			if !more || op.stop() && build.Len() > at {
				break
			}
			if build.Full() {
				return false, nil
			}
		}
		op.open = false
		op.pos++
		if op.out.marks() && op.out.add(uint32(r), noRow) || build.Full() {
			break
		}
	}
	return op.pos >= op.batch.Rows(), nil
}

// collect gathers candidates, copying the right rows; true when the left batch
// is done.
func (op *apply) collect() (bool, error) {
	for n := op.batch.Rows(); op.pos < n; {
		r := uint32(op.batch.Row(op.pos))
		if !op.open {
			if err := op.start(int(r)); err != nil {
				return false, err
			}
		}
		for {
			b := op.held
			op.held = nil
			if b == nil {
				var err error
				if b, err = op.taken.next(op.right); err != nil {
					return false, err
				}
			}
			if b == nil {
				break
			}
			if op.rows.n > 0 && (op.rows.n+b.Rows() > vec.BatchSize || op.rows.size > pieceBytes) {
				op.held = b
				return false, nil
			}
			at := op.rows.n
			op.rows.append(b)
			for i := at; i < op.rows.n; i++ {
				op.out.add(r, uint32(i))
			}
			if op.stop() {
				break
			}
		}
		op.end()
		op.pos++
		if op.out.marks() && op.out.add(r, noRow) {
			break
		}
	}
	return op.pos >= op.batch.Rows(), nil
}

// stop reports whether one row of the right input decides.
func (op *apply) stop() bool {
	return (op.node.Kind == plan.Semi || op.node.Kind == plan.Anti) && op.bare
}

func (op *apply) start(r int) error {
	// The outer values are computed for the one row: their evaluators may be in
	// use again by the right input's own expressions.
	op.sel[0] = uint32(r)
	op.one = vec.Batch{Cols: op.batch.Cols, N: op.batch.N, Sel: op.sel[:]}
	if err := evalAll(op.env, op.outer, &op.one, op.vals); err != nil {
		return err
	}
	for i, p := range op.node.Outer {
		d := op.vals[i].Get(r)
		if !d.Null && d.B != nil {
			d.B = append([]byte(nil), d.B...)
		}
		op.env.Expr.Params[p.Idx] = d
	}
	op.env.Expr.Subs.Enter()
	op.open = true
	op.taken.open()
	return op.right.Open(op.env)
}

func (op *apply) end() {
	if op.open && op.set == nil {
		op.right.Close()
		op.env.Expr.Subs.Leave()
	}
	op.open, op.held = false, nil
}

func (op *apply) Close() {
	op.shut()
	op.pushed = nil
}

func (op *apply) shut() {
	op.end()
	op.left.Close()
	op.batch = nil
	if op.rows != nil {
		op.rows.release()
	}
}
