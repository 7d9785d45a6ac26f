package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// distinct passes the first row of each value of its columns. Ordered input
// needs the last row alone; otherwise the values seen are kept, and over budget
// rows of values not yet seen go to partitions, each handled in turn when the
// input has ended.
type distinct struct {
	node  *plan.Distinct
	input Operator
	types []types.T
	on    []int

	env     *Env
	acct    account
	seen    *keySet
	last    *rowStore
	eq      keyEq
	keys    []*vec.Vec
	hashes  []uint64
	sel     []uint32
	taken   pieces
	parts   []*spillFile
	depth   int
	queue   []groupPart
	reader  *spillReader
	current *spillFile
	done    bool
	spilled int64
	out     vec.Batch
}

func (b *builder) distinct(n *plan.Distinct) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &distinct{node: n, input: in, types: outTypes(n.Input), on: n.On}
	if op.on == nil {
		for i := range op.types {
			op.on = append(op.on, i)
		}
	}
	ts := make([]types.T, len(op.on))
	for i, c := range op.on {
		ts[i] = op.types[c]
	}
	op.seen, op.last, op.eq = newKeySet(ts), newRowStore(ts), newKeyEq(ts)
	op.keys = make([]*vec.Vec, len(ts))
	return op, nil
}

func (op *distinct) Open(env *Env) error {
	op.Close()
	op.env, op.done, op.depth, op.spilled = env, false, 0, 0
	op.acct.open(env)
	op.taken.open()
	return op.input.Open(env)
}

func (op *distinct) Next() (*vec.Batch, error) {
	for !op.done {
		in, err := op.source()
		if err != nil {
			return nil, err
		}
		if in == nil {
			if err := op.nextPart(); err != nil {
				return nil, err
			}
			continue
		}
		for i, c := range op.on {
			op.keys[i] = in.Cols[c]
		}
		if op.node.Ordered {
			op.changes(in)
		} else if err := op.unseen(in); err != nil {
			return nil, err
		}
		if len(op.sel) > 0 {
			op.out = vec.Batch{Cols: in.Cols, N: in.N, Sel: op.sel}
			return &op.out, nil
		}
	}
	return nil, nil
}

// source returns the next batch of the input or of the current partition.
func (op *distinct) source() (*vec.Batch, error) {
	if op.reader == nil {
		return op.taken.next(op.input)
	}
	if err := ctxErr(op.env.Ctx); err != nil {
		return nil, err
	}
	return op.reader.next()
}

// nextPart ends the present input and turns to the next partition, if any.
func (op *distinct) nextPart() error {
	for _, p := range op.parts {
		if p.rows == 0 {
			continue
		}
		if err := p.finish(); err != nil {
			return err
		}
		op.spilled += p.bytes
		op.queue = append(op.queue, groupPart{p, op.depth + 1})
	}
	op.parts = nil
	op.current.close()
	if len(op.queue) == 0 {
		op.done = true
		return nil
	}
	p := op.queue[len(op.queue)-1]
	op.queue = op.queue[:len(op.queue)-1]
	op.current, op.depth, op.reader = p.file, p.depth, p.file.reader()
	op.seen.release()
	return op.acct.set(0)
}

// changes selects the rows that differ from the row before.
func (op *distinct) changes(in *vec.Batch) {
	op.sel = op.sel[:0]
	last := -1
	for i := range in.Rows() {
		r := in.Row(i)
		same := last >= 0 && op.eq.equal(op.keys, last, op.keys, r)
		if last < 0 && op.last.n > 0 {
			same = op.eq.equal(op.last.cols, 0, op.keys, r)
		}
		if !same {
			op.sel = append(op.sel, uint32(r))
		}
		last = r
	}
	if last >= 0 {
		op.last.reset()
		op.last.appendCols(op.keys, []uint32{uint32(last)}, 1)
	}
}

// unseen selects the rows whose value is new.
func (op *distinct) unseen(in *vec.Batch) error {
	n := in.Rows()
	op.hashes = hashRows(op.keys, in.Sel, n, op.hashes)
	op.seen.near(op.hashes)
	op.sel = op.sel[:0]
	if op.parts == nil && op.acct.over() && op.depth < groupMaxDepth {
		op.parts = make([]*spillFile, groupFan)
		for i := range op.parts {
			op.parts[i] = newSpillFile(op.types)
		}
	}
	if op.parts != nil {
		return op.divert(in, n)
	}
	for i := range n {
		r := in.Row(i)
		if _, isNew := op.seen.findOrAdd(op.keys, r, op.hashes[i]); isNew {
			op.sel = append(op.sel, uint32(r))
		}
	}
	return op.acct.set(op.seen.bytes())
}

// divert writes rows of values that are not in memory to the partitions.
func (op *distinct) divert(in *vec.Batch, n int) error {
	var away [groupFan][]uint32
	for i := range n {
		r := in.Row(i)
		h := op.hashes[i]
		if op.seen.find(op.keys, r, h) < 0 {
			p := groupPartOf(h, op.depth)
			away[p] = append(away[p], uint32(r))
		}
	}
	for p, list := range away {
		if err := op.parts[p].write(op.env, in.Cols, list, len(list)); err != nil {
			return err
		}
	}
	return nil
}

func (op *distinct) Close() {
	op.input.Close()
	for _, p := range op.parts {
		p.close()
	}
	for _, p := range op.queue {
		p.file.close()
	}
	op.current.close()
	op.parts, op.queue, op.reader, op.current = nil, nil, nil, nil
	op.seen.release()
	op.last.reset()
	op.acct.close()
}

func (op *distinct) memStats() (peak, spilled int64) { return op.acct.peak, op.spilled }
