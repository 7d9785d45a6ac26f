package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// mergeAppend merges the rows of its inputs, each of which comes in the order of the
// keys; on equal keys the earlier input comes first. Where one input is before all
// others for long, as the partitions of a range are, its rows pass as they are.
type mergeAppend struct {
	node   *plan.Append
	inputs []Operator
	order  rowOrder

	env     *Env
	started bool
	opened  []bool
	heap    []*mergeInput // the least row on top
	rows    *rowStore     // collected of several inputs
	size    int           // rows of the next batch
	out     vec.Batch
	sel     []uint32
}

// mergeInput is an input and its present batch, of which the first at rows are passed.
type mergeInput struct {
	n     int
	batch *vec.Batch
	at    int
}

const (
	mergeFirst = 16 // rows of the first batch: a limit may ask for few
	mergeLong  = 32 // rows of one input that are passed without a copy
)

func (b *builder) mergeAppend(n *plan.Append) (Operator, error) {
	op := &mergeAppend{node: n, rows: newRowStore(outTypes(n))}
	for _, c := range n.Inputs {
		in, err := b.node(c)
		if err != nil {
			return nil, err
		}
		op.inputs = append(op.inputs, in)
	}
	var keys []keyOrder
	for _, k := range n.Keys {
		keys = append(keys, keyOrder{col: k.X.(*plan.Col).Idx, desc: k.Desc, nullsFirst: k.NullsFirst})
	}
	op.order = newRowOrder(outTypes(n), keys)
	op.opened = make([]bool, len(op.inputs))
	return op, nil
}

func (op *mergeAppend) Open(env *Env) error {
	op.Close()
	op.env, op.started, op.size = env, false, mergeFirst
	return nil
}

// start opens the inputs that may have rows.
func (op *mergeAppend) start() error {
	op.started = true
	var skip []bool
	if op.node.Prune != nil {
		var err error
		if skip, err = excluded(op.env, op.node.Prune); err != nil {
			return err
		}
	}
	for i := range op.inputs {
		if skip != nil && skip[i] {
			continue
		}
		op.opened[i] = true
		if err := op.inputs[i].Open(op.env); err != nil {
			return err
		}
		c := &mergeInput{n: i}
		if err := op.read(c); err != nil {
			return err
		}
		if c.batch != nil {
			op.heap = append(op.heap, c)
		}
	}
	for i := len(op.heap)/2 - 1; i >= 0; i-- {
		op.down(i)
	}
	return nil
}

// read gets the input's next batch that has rows, nil at its end.
func (op *mergeAppend) read(c *mergeInput) (err error) {
	for c.at = 0; ; {
		if c.batch, err = op.inputs[c.n].Next(); c.batch == nil || err != nil || c.batch.Rows() > 0 {
			return err
		}
	}
}

// before reports whether row i of a's batch comes before row j of b's.
func (op *mergeAppend) before(a *mergeInput, i int, b *mergeInput, j int) bool {
	c := op.order.compare(0, a.batch.Cols, a.batch.Row(i), b.batch.Cols, b.batch.Row(j))
	return c < 0 || c == 0 && a.n < b.n
}

func (op *mergeAppend) down(i int) {
	h := op.heap
	for {
		k := 2*i + 1
		if k >= len(h) {
			return
		}
		if k+1 < len(h) && op.before(h[k+1], h[k+1].at, h[k], h[k].at) {
			k++
		}
		if !op.before(h[k], h[k].at, h[i], h[i].at) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}

// run is the number of the top input's rows that come before all others' rows.
func (op *mergeAppend) run() int {
	top, n := op.heap[0], op.heap[0].batch.Rows()
	var next *mergeInput
	for _, c := range op.heap[1:min(3, len(op.heap))] {
		if next == nil || op.before(c, c.at, next, next.at) {
			next = c
		}
	}
	if next == nil || op.before(top, n-1, next, next.at) {
		return n - top.at
	}
	k := 1
	for top.at+k < n && op.before(top, top.at+k, next, next.at) {
		k++
	}
	return k
}

// skip passes k rows of the top input.
func (op *mergeAppend) skip(k int) error {
	top := op.heap[0]
	if top.at += k; top.at == top.batch.Rows() {
		if err := op.read(top); err != nil {
			return err
		}
		if top.batch == nil {
			last := len(op.heap) - 1
			op.heap[0] = op.heap[last]
			op.heap = op.heap[:last]
		}
	}
	op.down(0)
	return nil
}

func (op *mergeAppend) Next() (*vec.Batch, error) {
	if !op.started {
		if err := op.start(); err != nil {
			return nil, err
		}
	}
	if op.out.N > 0 { // what was passed of the top input, which could not move on before
		op.out.N = 0
		if err := op.skip(len(op.sel)); err != nil {
			return nil, err
		}
	}
	op.rows.reset()
	for len(op.heap) > 0 && op.rows.n < op.size && op.rows.size < pieceBytes {
		top := op.heap[0]
		k := op.run()
		op.sel = op.sel[:0]
		for i := range k {
			op.sel = append(op.sel, uint32(top.batch.Row(top.at+i)))
		}
		if k >= mergeLong {
			if op.rows.n > 0 {
				break // in the next batch
			}
			op.out = vec.Batch{Cols: top.batch.Cols, N: max(top.batch.N, 1), Sel: op.sel}
			return &op.out, nil
		}
		op.rows.appendCols(top.batch.Cols, op.sel, k)
		if err := op.skip(k); err != nil {
			return nil, err
		}
	}
	if op.rows.n == 0 {
		return nil, nil
	}
	op.size = min(2*op.size, vec.BatchSize)
	out := new(vec.Batch)
	op.rows.window(out, 0, op.rows.n)
	return out, nil
}

func (op *mergeAppend) Close() {
	for i, open := range op.opened {
		if open {
			op.inputs[i].Close()
		}
	}
	clear(op.opened)
	op.heap, op.out = slices.Delete(op.heap, 0, len(op.heap)), vec.Batch{}
	op.rows.release()
}
