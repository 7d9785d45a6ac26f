package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// window adds a column per function to its input's columns. The input is sorted
// by partition and order (spilling if need be); then one partition at a time is
// held in memory and each function fills its column for it.
type window struct {
	node     *plan.Window
	input    Operator
	width    int // input columns
	computed []expr.Eval
	parts    []int // columns of the partition keys
	order    []keyOrder
	funcs    []*windowFunc
	sorter   *sorter
	types    []types.T

	env    *Env
	acct   account
	sorted bool
	ended  bool
	cols   []*vec.Vec
	held   *vec.Batch // sorted rows that belong to the next partition
	at     int        // first of them
	part   windowPart
	view   vec.Batch
	out    vec.Batch
	pos    int // rows of the partition that have been passed
}

// windowPart is the rows of one partition in order, with the peer groups.
type windowPart struct {
	rows      *rowStore
	start     []int32 // first row of each row's peer group
	end       []int32 // row after the last
	group     []int32 // number of the peer group
	groupHead []int32 // first row of each group, and the number of rows
}

// windowFunc is a function of the node: where its arguments are among the
// sorted columns.
type windowFunc struct {
	node   *plan.WindowFunc
	args   []int
	filter int // column, -1 without FILTER
	frame  *frameBounds
	out    *vec.Vec
	arena  arena
	agg    expr.Aggregator
	tmp    *vec.Vec
}

func (b *builder) window(n *plan.Window) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &window{node: n, input: in}
	ts := outTypes(n.Input)
	op.width = len(ts)
	var keys keyPlan
	var all []keyOrder
	for _, x := range n.Partition {
		c := keys.place(x, op.width)
		op.parts = append(op.parts, c)
		all = append(all, keyOrder{col: c})
	}
	for _, k := range n.OrderBy {
		o := keyOrder{col: keys.place(k.X, op.width), desc: k.Desc, nullsFirst: k.NullsFirst}
		op.order = append(op.order, o)
		all = append(all, o)
	}
	for i := range n.Funcs {
		f := &windowFunc{node: &n.Funcs[i], filter: -1}
		for _, x := range f.node.Args {
			f.args = append(f.args, keys.place(x, op.width))
		}
		if f.node.Filter != nil {
			f.filter = keys.place(f.node.Filter, op.width)
		}
		if f.frame, err = newFrameBounds(&f.node.Frame, n.OrderBy, op.order); err != nil {
			return nil, err
		}
		op.funcs = append(op.funcs, f)
	}
	if op.computed, err = expr.CompileAll(keys.computed); err != nil {
		return nil, err
	}
	op.types = append(ts, exprTypes(keys.computed)...)
	op.sorter = newSorter(op.types, all)
	op.cols = make([]*vec.Vec, len(op.types))
	op.part.rows = newRowStore(op.types)
	return op, nil
}

func (op *window) Open(env *Env) error {
	op.env, op.sorted, op.ended, op.held, op.pos = env, false, false, nil, 0
	op.part.rows.reset()
	op.acct.open(env)
	op.sorter.open(env, 0)
	for _, f := range op.funcs {
		if err := f.frame.open(env); err != nil {
			return err
		}
	}
	return op.input.Open(env)
}

func (op *window) Next() (*vec.Batch, error) {
	if !op.sorted {
		op.sorted = true
		if err := sortInput(op.env, op.input, op.computed, op.cols, op.sorter); err != nil {
			return nil, err
		}
	}
	for op.pos >= op.part.rows.n {
		if op.ended {
			return nil, nil
		}
		if err := op.nextPartition(); err != nil {
			return nil, err
		}
	}
	to := min(op.pos+vec.BatchSize, op.part.rows.n)
	op.part.rows.window(&op.view, op.pos, to)
	op.out.Cols = append(op.out.Cols[:0], op.view.Cols[:op.width]...)
	for _, f := range op.funcs {
		v := new(vec.Vec)
		viewVec(v, f.out, op.pos, to)
		op.out.Cols = append(op.out.Cols, v)
	}
	op.out.N, op.out.Sel = to-op.pos, nil
	op.pos = to
	return &op.out, nil
}

// nextPartition collects the rows of the next partition and runs the functions.
func (op *window) nextPartition() error {
	p := &op.part
	p.rows.reset()
	op.pos = 0
	eq := newKeyEq(pickTypes(op.types, op.parts))
	first := make([]*vec.Vec, len(op.parts))
	keys := make([]*vec.Vec, len(op.parts))
	for {
		if op.held == nil {
			b, err := op.sorter.next()
			if err != nil {
				return err
			}
			if b == nil {
				op.ended = true
				break
			}
			op.held, op.at = b, 0
		}
		n := op.held.N
		lo := op.at
		hi := n
		if len(op.parts) > 0 {
			for i, c := range op.parts {
				keys[i] = op.held.Cols[c]
			}
			if p.rows.n == 0 {
				copy(first, keys)
				hi = sameRun(&eq, first, lo, keys, lo, n)
			} else {
				for i, c := range op.parts {
					first[i] = p.rows.cols[c]
				}
				hi = sameRun(&eq, first, 0, keys, lo, n)
			}
		}
		if hi > lo {
			var piece vec.Batch
			piece.Cols = make([]*vec.Vec, len(op.held.Cols))
			for i, c := range op.held.Cols {
				piece.Cols[i] = new(vec.Vec)
				viewVec(piece.Cols[i], c, lo, hi)
			}
			piece.N = hi - lo
			if err := op.acct.set(p.rows.size + bytesOf(&piece, 0, hi-lo) + 32*int64(p.rows.n)); err != nil {
				return err
			}
			p.rows.appendCols(piece.Cols, nil, hi-lo)
			if err := op.acct.set(p.rows.size + 32*int64(p.rows.n)); err != nil {
				return err
			}
		}
		if op.at = hi; hi < n {
			break
		}
		op.held = nil
	}
	if p.rows.n == 0 {
		return nil
	}
	op.peers()
	for _, f := range op.funcs {
		if err := op.run(f); err != nil {
			return err
		}
	}
	return nil
}

func pickTypes(ts []types.T, at []int) []types.T {
	out := make([]types.T, len(at))
	for i, c := range at {
		out[i] = ts[c]
	}
	return out
}

// sameRun returns the first row from lo on whose key differs from row fr of
// first, at most n.
func sameRun(eq *keyEq, first []*vec.Vec, fr int, keys []*vec.Vec, lo, n int) int {
	for r := lo; r < n; r++ {
		if !eq.equal(first, fr, keys, r) {
			return r
		}
	}
	return n
}

// peers finds the peer groups: rows that the order does not tell apart.
func (op *window) peers() {
	p := &op.part
	n := p.rows.n
	p.start, p.end, p.group, p.groupHead = p.start[:0], p.end[:0], p.group[:0], p.groupHead[:0]
	cols := make([]*vec.Vec, len(op.order))
	at := make([]int, len(op.order))
	for i, k := range op.order {
		cols[i], at[i] = p.rows.cols[k.col], k.col
	}
	eq := newKeyEq(pickTypes(op.types, at))
	for r := 0; r < n; {
		end := sameRun(&eq, cols, r, cols, r, n)
		g := int32(len(p.groupHead))
		p.groupHead = append(p.groupHead, int32(r))
		for i := r; i < end; i++ {
			p.start = append(p.start, int32(r))
			p.end = append(p.end, int32(end))
			p.group = append(p.group, g)
		}
		r = end
	}
	p.groupHead = append(p.groupHead, int32(n))
}

func (op *window) Close() {
	op.input.Close()
	op.sorter.close()
	op.part.rows.release()
	op.held = nil
	op.acct.close()
}

func (op *window) memStats() (peak, spilled int64) {
	return max(op.acct.peak, op.sorter.acct.peak), op.sorter.spilled
}
