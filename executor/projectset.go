package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// projectSet computes expressions of which some are calls of set-returning
// functions: each input row gives as many rows as its longest set, shorter sets
// padded with NULL, the other expressions repeated.
type projectSet struct {
	node  *plan.ProjectSet
	input Operator
	types []types.T
	evals []expr.Eval    // nil where sets has the expression
	sets  []expr.SetFunc // nil where evals has it

	env   *Env
	in    *vec.Batch
	now   vec.Batch // that in is
	fault rowFault
	vals  []*vec.Vec // of the plain expressions over in
	pos   int        // selected row of in under way
	open  bool       // its sets have been started
	feed  []setFeed
	rows  *rowStore
	one   []*vec.Vec
	view  vec.Batch

	single int // the only set, which can fill batches; -1: of any other form
	fill   expr.SetFiller
	build  *vec.Builder
	from   []uint32 // the input row of each row of build
}

func (b *builder) projectSet(n *plan.ProjectSet) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &projectSet{node: n, input: in, types: exprTypes(n.Exprs)}
	k := len(n.Exprs)
	op.evals, op.sets = make([]expr.Eval, k), make([]expr.SetFunc, k)
	op.vals, op.one, op.feed = make([]*vec.Vec, k), make([]*vec.Vec, k), make([]setFeed, k)
	for i, x := range n.Exprs {
		if c, ok := x.(*plan.Call); ok && c.Proc.RetSet {
			op.sets[i], err = expr.CompileSetValue(x)
		} else {
			op.evals[i], err = expr.Compile(x)
		}
		if err != nil {
			return nil, err
		}
	}
	op.rows = newRowStore(op.types)
	op.single = -1
	for i, s := range op.sets {
		f, ok := s.(expr.SetFiller)
		switch {
		case s == nil:
		case !ok || op.fill != nil:
			op.single, op.fill = -1, nil
			return op, nil
		default:
			op.single, op.fill = i, f
		}
	}
	op.build = vec.NewBuilder(op.fill.Cols())
	op.view.Cols = newVecs(op.types)
	return op, nil
}

func (op *projectSet) Open(env *Env) error {
	op.env, op.in, op.open, op.fault = env, nil, false, rowFault{}
	return op.input.Open(env)
}

func (op *projectSet) Next() (*vec.Batch, error) {
	if op.fill != nil {
		return op.nextFilled()
	}
	op.rows.reset()
	for op.rows.n < vec.BatchSize {
		if op.in == nil {
			if op.rows.n > 0 {
				break // the rows so far are copies, but answer before asking for more
			}
			if err := op.nextInput(); err != nil {
				return nil, err
			}
			if op.in == nil {
				return nil, nil
			}
		}
		if err := op.step(); err != nil {
			op.failLater(err)
		}
	}
	op.rows.window(&op.view, 0, op.rows.n)
	return &op.view, nil
}

// nextFilled is Next for a single set: the sets of the input rows are collected in
// one batch, and the other columns are repeated by one gather each.
func (op *projectSet) nextFilled() (*vec.Batch, error) {
	for {
		if op.in == nil {
			if err := op.nextInput(); op.in == nil || err != nil {
				return nil, err
			}
		}
		op.build.Reset()
		op.from = op.from[:0]
		for op.pos < op.in.Rows() && !op.build.Full() {
			r := op.in.Row(op.pos)
			if !op.open {
				if err := op.fill.Start(op.env.Expr, op.in, r); err != nil {
					op.failLater(err)
					break
				}
				op.open = true
			}
			more, err := op.fill.Fill(op.env.Expr, op.build)
			for len(op.from) < op.build.Len() {
				op.from = append(op.from, uint32(r))
			}
			if err != nil {
				op.failLater(err)
				break
			}
			if !more {
				op.open = false
				op.pos++
			}
		}
		n := op.build.Len()
		if n > 0 {
			for i, v := range op.vals {
				if i != op.single {
					gather(op.view.Cols[i], v, op.from, false)
				}
			}
			op.view.Cols[op.single] = op.build.Col(0)
			op.view.N, op.view.Sel = n, nil
		}
		if op.in != nil && op.pos >= op.in.Rows() {
			op.in = nil
		}
		if n > 0 {
			return &op.view, nil
		}
	}
}

// failLater gives up the input's rows: err comes after the rows that are made.
func (op *projectSet) failLater(err error) { op.in, op.fault.err = nil, err }

func (op *projectSet) nextInput() error {
	if err := op.fault.due(); err != nil {
		return err
	}
	in, err := op.input.Next()
	if in == nil || err != nil {
		return err
	}
	op.now = *in
	if err := op.compute(&op.now); err != nil {
		if err := op.fault.rescue(err, &op.now, op.compute, op.node.Exprs...); err != nil {
			return err
		}
	}
	op.in, op.pos, op.open = &op.now, 0, false
	return nil
}

// compute evaluates the plain expressions over rows of the input.
func (op *projectSet) compute(rows *vec.Batch) (err error) {
	for i, e := range op.evals {
		if e == nil {
			continue
		}
		if op.vals[i], err = e.Eval(op.env.Expr, rows); err != nil {
			return err
		}
	}
	return nil
}

// step appends a piece of the present row's output, or goes on to the next row.
func (op *projectSet) step() error {
	if op.pos >= op.in.Rows() {
		op.in = nil
		return nil
	}
	r := op.in.Row(op.pos)
	n, longest := 0, false
	for i, s := range op.sets {
		if s == nil {
			continue
		}
		if !op.open {
			if err := s.Start(op.env.Expr, op.in, r); err != nil {
				return err
			}
			op.feed[i] = setFeed{set: s}
		}
		more, err := op.feed[i].fetch(op.env)
		if err != nil {
			return err
		}
		if more && (!longest || op.feed[i].left() < n) {
			n, longest = op.feed[i].left(), true
		}
	}
	op.open = true
	if n == 0 {
		op.pos++
		op.open = false
		return ctxErr(op.env.Ctx)
	}
	for i := range op.types {
		switch {
		case op.sets[i] == nil:
			op.one[i] = repeated(op.vals[i], r)
		case op.feed[i].ended:
			op.one[i] = vec.NewConst(types.Null(op.types[i]))
		default:
			op.one[i] = piece(&op.feed[i], n)
		}
	}
	op.rows.appendCols(op.one, nil, n)
	return nil
}

// repeated is one row's value for as many rows as wanted.
func repeated(v *vec.Vec, r int) *vec.Vec {
	if v.Const {
		return v
	}
	return vec.NewConst(v.Get(r))
}

// piece is the next n rows of a set's first column.
func piece(f *setFeed, n int) *vec.Vec {
	rows := make([]uint32, n)
	for k := range rows {
		rows[k] = uint32(f.batch.Row(f.at + k))
	}
	f.at += n
	out := new(vec.Vec)
	gather(out, f.batch.Cols[0], rows, false)
	return out
}

func (op *projectSet) Close() {
	op.input.Close()
	op.rows.release()
}
