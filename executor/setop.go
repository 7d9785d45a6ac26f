package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// setOp is INTERSECT or EXCEPT, [ALL]: it counts the right input's rows by value
// and then lets left rows through by those counts, in the left's order. Over budget,
// rows of both inputs whose values are not in memory go to partitions by hash, each
// handled in turn when the left input has ended.
type setOp struct {
	node        *plan.SetOp
	left, right Operator
	types       []types.T
	intersect   bool

	env    *Env
	acct   account
	set    *keySet
	count  []int64 // right rows of each value that have not been used up
	filled bool
	done   bool
	hashes []uint64
	sel    []uint32
	taken  pieces // of the left input
	out    vec.Batch

	depth   int
	parts   []setPart // of this pass; nil: all values are in memory
	queue   []setPart
	part    setPart      // under way; without files: the inputs
	reader  *spillReader // of its left rows
	spilled int64
}

// setPart is the rows of both inputs whose values have hashes of one range.
type setPart struct {
	right, left *spillFile
	depth       int
}

func (p setPart) close() {
	p.right.close()
	p.left.close()
}

func (b *builder) setOp(n *plan.SetOp) (Operator, error) {
	l, err := b.node(n.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.node(n.Right)
	if err != nil {
		return nil, err
	}
	op := &setOp{node: n, left: l, right: r, types: outTypes(n.Left), intersect: n.Op == "INTERSECT"}
	op.set = newKeySet(op.types)
	return op, nil
}

func (op *setOp) Open(env *Env) error {
	op.Close()
	op.env, op.filled, op.done, op.depth, op.spilled = env, false, false, 0, 0
	op.acct.open(env)
	op.taken.open()
	return nil
}

// fill counts the right rows of the inputs.
func (op *setOp) fill() error {
	op.filled = true
	if err := op.right.Open(op.env); err != nil {
		return err
	}
	var taken pieces
	for {
		in, err := taken.next(op.right)
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		if err := op.countRight(in); err != nil {
			return err
		}
	}
	op.right.Close()
	return op.left.Open(op.env)
}

func (op *setOp) countRight(in *vec.Batch) error {
	n := in.Rows()
	op.hashes = hashRows(in.Cols, in.Sel, n, op.hashes)
	op.set.near(op.hashes)
	op.divide()
	var away [groupFan][]uint32
	for i := range n {
		r := in.Row(i)
		if op.parts != nil {
			if k := op.set.find(in.Cols, r, op.hashes[i]); k >= 0 {
				op.count[k]++
			} else {
				p := groupPartOf(op.hashes[i], op.depth)
				away[p] = append(away[p], uint32(r))
			}
			continue
		}
		k, isNew := op.set.findOrAdd(in.Cols, r, op.hashes[i])
		if isNew {
			op.count = append(op.count, 0)
		}
		op.count[k]++
	}
	for p, list := range away {
		if len(list) > 0 {
			if err := op.parts[p].right.write(op.env, in.Cols, list, len(list)); err != nil {
				return err
			}
		}
	}
	return op.account()
}

// divide begins to leave values out of memory if there is too much of them.
func (op *setOp) divide() {
	if op.parts != nil || !op.acct.over() || op.depth >= groupMaxDepth {
		return
	}
	op.parts = make([]setPart, groupFan)
	for i := range op.parts {
		op.parts[i] = setPart{newSpillFile(op.types), newSpillFile(op.types), op.depth + 1}
	}
}

func (op *setOp) account() error { return op.acct.set(op.set.bytes() + 8*int64(len(op.count))) }

func (op *setOp) Next() (*vec.Batch, error) {
	if !op.filled {
		if err := op.fill(); err != nil {
			return nil, err
		}
	}
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
		if err := op.passLeft(in); err != nil {
			return nil, err
		}
		if len(op.sel) > 0 {
			op.out = vec.Batch{Cols: in.Cols, N: in.N, Sel: op.sel}
			return &op.out, nil
		}
	}
	return nil, nil
}

// source returns the next left rows of the input or of the partition under way.
func (op *setOp) source() (*vec.Batch, error) {
	if op.reader == nil {
		return op.taken.next(op.left)
	}
	if err := ctxErr(op.env.Ctx); err != nil {
		return nil, err
	}
	return op.reader.next()
}

// passLeft selects the left rows that are in the result.
func (op *setOp) passLeft(in *vec.Batch) error {
	n := in.Rows()
	op.hashes = hashRows(in.Cols, in.Sel, n, op.hashes)
	op.set.near(op.hashes)
	op.sel = op.sel[:0]
	op.divide()
	var away [groupFan][]uint32
	for i := range n {
		r := in.Row(i)
		k := op.set.find(in.Cols, r, op.hashes[i])
		if k < 0 && op.parts != nil {
			p := groupPartOf(op.hashes[i], op.depth)
			if noRight := op.parts[p].right.rows == 0; !noRight || !op.intersect && !op.node.All {
				away[p] = append(away[p], uint32(r))
			} else if !op.intersect {
				op.sel = append(op.sel, uint32(r))
			}
			continue
		}
		if op.wanted(k, in.Cols, r, op.hashes[i]) {
			op.sel = append(op.sel, uint32(r))
		}
	}
	for p, list := range away {
		if len(list) > 0 {
			if err := op.parts[p].left.write(op.env, in.Cols, list, len(list)); err != nil {
				return err
			}
		}
	}
	return op.account()
}

// wanted reports whether a left row with value k, which is negative if the right rows
// have none such, is in the result.
func (op *setOp) wanted(k int, cols []*vec.Vec, r int, hash uint64) bool {
	if op.intersect {
		if k < 0 || op.count[k] == 0 {
			return false
		}
		if op.node.All {
			op.count[k]--
		} else {
			op.count[k] = 0
		}
		return true
	}
	if op.node.All {
		if k >= 0 && op.count[k] > 0 {
			op.count[k]--
			return false
		}
		return true
	}
	if k >= 0 {
		return false // among the right rows, or passed before
	}
	op.set.add(cols, r, hash)
	op.count = append(op.count, 0)
	return true
}

// nextPart ends the pass and begins that of the next partition, if there is one.
func (op *setOp) nextPart() error {
	for _, p := range op.parts {
		if p.left.rows == 0 {
			p.close()
			continue
		}
		op.queue = append(op.queue, p)
		if err := p.left.finish(); err != nil {
			return err
		}
		if p.right.rows > 0 {
			if err := p.right.finish(); err != nil {
				return err
			}
		}
		op.spilled += p.left.bytes + p.right.bytes
	}
	op.parts = nil
	op.part.close()
	op.part, op.reader = setPart{}, nil
	if len(op.queue) == 0 {
		op.done = true
		return nil
	}
	op.part = op.queue[len(op.queue)-1]
	op.queue = op.queue[:len(op.queue)-1]
	op.depth = op.part.depth
	op.forget()
	if err := op.acct.set(0); err != nil {
		return err
	}
	right := op.part.right.reader()
	for {
		if err := ctxErr(op.env.Ctx); err != nil {
			return err
		}
		in, err := right.next()
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		if err := op.countRight(in); err != nil {
			return err
		}
	}
	op.part.right.close()
	op.reader = op.part.left.reader()
	return nil
}

// forget empties the set of values.
func (op *setOp) forget() {
	op.set.release()
	op.count = op.count[:0]
}

func (op *setOp) Close() {
	op.left.Close()
	op.right.Close()
	for _, p := range op.parts {
		p.close()
	}
	for _, p := range op.queue {
		p.close()
	}
	op.part.close()
	op.parts, op.queue, op.part, op.reader = nil, nil, setPart{}, nil
	op.forget()
	op.acct.close()
}

func (op *setOp) memStats() (peak, spilled int64) { return op.acct.peak, op.spilled }
