package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// kept passes the rows of an input that are the same in all runs of a subplan. The
// first runs read the input, for there may be few; later ones the rows that were
// kept until the end of the statement.
//
// Rows with keys are kept in the order of their keys' first appearance, those of
// one key side by side: what a run wants is then a window on them. When they need
// too much memory all runs read the input. Rows without keys may go to a file.
// A run that wants what the input finds by few lookups reads that.
type kept struct {
	node  *plan.Kept
	input Operator
	keys  []expr.Eval
	vals  []expr.Eval
	pred  expr.Pred // nil without keys

	pushed []pushedFilter // to the input, for the next run

	env   *Env
	acct  account
	runs  int
	read  float64 // rows of the input that runs have read
	state keptState

	all    *buffer
	reader bufferReader

	rows  *rowStore
	set   *keySet
	start []uint32 // of a key's rows; one more at the end
	at    int      // the run's rows under way
	end   int
	wants []*vec.Vec
	hash  []uint64
	view  vec.Batch
	out   vec.Batch
	open  bool // the input is
}

// keptState is where the rows of a kept are.
type keptState uint8

const (
	keptNot   keptState = iota // not kept yet
	keptRows                   // in memory, or in a file without keys
	keptNever                  // they need too much memory
)

// keptAfter is the number of runs after which rows are kept, even if none of them
// has read much of the input.
const keptAfter = 64

func (b *builder) kept(n *plan.Kept) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &kept{node: n, input: in}
	if op.keys, err = expr.CompileAll(n.Keys); err != nil {
		return nil, err
	}
	if op.vals, err = expr.CompileAll(n.Vals); err != nil {
		return nil, err
	}
	if op.pred, err = b.predicate(n.Cond); err != nil {
		return nil, err
	}
	op.wants = make([]*vec.Vec, len(op.vals))
	b.run.retained = append(b.run.retained, op)
	return op, nil
}

// pushFilter hands a filter to the input that has few rows looked up.
func (op *kept) pushFilter(col int, f *keyFilter) bool {
	if !slices.Contains(op.node.Lookups, col) || len(f.few) == 0 || float64(len(f.few)*lookupRows) > op.node.Cost {
		return false
	}
	op.pushed = append(op.pushed, pushedFilter{col, f})
	return true
}

func (op *kept) Open(env *Env) error {
	op.shut()
	op.env = env
	if op.pushed != nil {
		for _, x := range op.pushed {
			own := *x.f
			pushFilter(op.input, x.col, &own)
		}
		op.open = true
		return op.input.Open(env)
	}
	op.runs++
	if op.state == keptNot && (op.read >= 2*op.node.Input.Base().Rows || op.runs > keptAfter) && op.runs > 2 {
		if err := op.keep(); err != nil {
			return err
		}
	}
	if op.state != keptRows {
		op.open = true
		return op.input.Open(env)
	}
	if op.node.Keys == nil {
		op.reader.begin(op.all)
		return nil
	}
	return op.find()
}

// find sets the window of the rows that the run wants.
func (op *kept) find() error {
	op.at, op.end = 0, 0
	if op.rows.n == 0 {
		return nil
	}
	one := vec.Batch{N: 1}
	if err := evalAll(op.env, op.vals, &one, op.wants); err != nil {
		return err
	}
	for _, v := range op.wants {
		if v.IsNull(0) {
			return nil
		}
	}
	op.hash = hashRows(op.wants, nil, 1, op.hash)
	if k := op.set.find(op.wants, 0, op.hash[0]); k >= 0 {
		op.at, op.end = int(op.start[k]), int(op.start[k+1])
	}
	return nil
}

func (op *kept) Next() (*vec.Batch, error) {
	switch {
	case op.open:
		return op.direct()
	case op.node.Keys == nil:
		return op.reader.next()
	case op.at >= op.end:
		return nil, nil
	}
	to := min(op.at+vec.BatchSize, op.end)
	op.rows.window(&op.view, op.at, to)
	op.at = to
	return &op.view, nil
}

// direct passes rows of the input.
func (op *kept) direct() (*vec.Batch, error) {
	for {
		in, err := op.input.Next()
		if err != nil {
			return nil, err
		}
		switch {
		case op.pushed != nil:
			return in, nil
		case in == nil:
			op.read = max(op.read, 2*op.node.Input.Base().Rows)
			return nil, nil
		}
		op.read += float64(in.Rows())
		if op.pred == nil {
			return in, nil
		}
		op.out = *in
		if err := op.pred.Select(op.env.Expr, &op.out); err != nil {
			return nil, err
		}
		if op.out.Rows() > 0 {
			return &op.out, nil
		}
	}
}

// keep reads the input to its end.
func (op *kept) keep() error {
	op.acct.open(op.env)
	ts := outTypes(op.node.Input)
	if op.node.Keys == nil {
		op.all = newBuffer(ts)
		op.all.open(op.env)
		if err := op.all.drain(op.env, op.input); err != nil {
			return err
		}
		op.state = keptRows
		return nil
	}
	op.rows, op.set = newRowStore(ts), newKeySet(exprTypes(op.node.Keys))
	defer op.input.Close()
	if err := op.input.Open(op.env); err != nil {
		return err
	}
	var of []uint32 // the number of each row's key
	keys := make([]*vec.Vec, len(op.keys))
	var taken pieces
	for {
		in, err := taken.next(op.input)
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		if err := evalAll(op.env, op.keys, in, keys); err != nil {
			return err
		}
		if of, err = op.add(in, keys, of); err != nil {
			return err
		}
		if op.acct.over() {
			op.release()
			op.state = keptNever
			return nil
		}
	}
	return op.arrange(ts, of)
}

// add keeps the rows of a batch whose keys are not NULL.
func (op *kept) add(in *vec.Batch, keys []*vec.Vec, of []uint32) ([]uint32, error) {
	n := in.Rows()
	op.hash = hashRows(keys, in.Sel, n, op.hash)
	skip := nullRows(keys, nil)
	sel := make([]uint32, 0, n)
	for i := range n {
		r := in.Row(i)
		if skip != nil && skip(r) {
			continue
		}
		k, _ := op.set.findOrAdd(keys, r, op.hash[i])
		of, sel = append(of, uint32(k)), append(sel, uint32(r))
	}
	op.rows.appendCols(in.Cols, sel, len(sel))
	return of, op.acct.set(2*op.rows.size + op.set.bytes() + 8*int64(cap(of)))
}

// arrange puts the rows of each key side by side.
func (op *kept) arrange(ts []types.T, of []uint32) error {
	op.start = make([]uint32, op.set.len()+2)
	for _, k := range of {
		op.start[k+2]++
	}
	for k := 2; k < len(op.start); k++ {
		op.start[k] += op.start[k-1]
	}
	order := make([]uint32, len(of))
	for r, k := range of {
		order[op.start[k+1]] = uint32(r)
		op.start[k+1]++
	}
	from := op.rows
	op.rows = newRowStore(ts)
	for at := 0; at < len(order); at += vec.BatchSize {
		sel := order[at:min(at+vec.BatchSize, len(order))]
		op.rows.appendCols(from.cols, sel, len(sel))
	}
	op.state = keptRows
	return op.acct.set(op.rows.size + op.set.bytes() + 4*int64(len(op.start)))
}

func (op *kept) Close() {
	op.shut()
	op.pushed = nil
}

func (op *kept) shut() {
	if op.open {
		op.open = false
		op.input.Close()
	}
	op.at, op.end = 0, 0
}

// release gives the rows up, at the end of the statement.
func (op *kept) release() {
	op.Close()
	if op.all != nil {
		op.all.close()
	}
	op.all, op.rows, op.set, op.start = nil, nil, nil, nil
	op.acct.close()
	op.state, op.runs, op.read = keptNot, 0, 0
}
