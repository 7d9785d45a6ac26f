package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// setOp is INTERSECT or EXCEPT, [ALL]: it counts the right input's rows by value
// and then lets left rows through by those counts, in the left's order.
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
	hashes []uint64
	sel    []uint32
	taken  pieces // of the left input
	out    vec.Batch
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
	op.env, op.filled = env, false
	op.acct.open(env)
	op.taken.open()
	op.count = op.count[:0]
	return nil
}

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
		n := in.Rows()
		op.hashes = hashRows(in.Cols, in.Sel, n, op.hashes)
		op.set.near(op.hashes)
		for i := range n {
			k, isNew := op.set.findOrAdd(in.Cols, in.Row(i), op.hashes[i])
			if isNew {
				op.count = append(op.count, 0)
			}
			op.count[k]++
		}
		if err := op.acct.set(op.set.bytes() + 8*int64(len(op.count))); err != nil {
			return err
		}
	}
	op.right.Close()
	return op.left.Open(op.env)
}

func (op *setOp) Next() (*vec.Batch, error) {
	if !op.filled {
		if err := op.fill(); err != nil {
			return nil, err
		}
	}
	for {
		in, err := op.taken.next(op.left)
		if in == nil || err != nil {
			return nil, err
		}
		n := in.Rows()
		op.hashes = hashRows(in.Cols, in.Sel, n, op.hashes)
		op.set.near(op.hashes)
		op.sel = op.sel[:0]
		for i := range n {
			r := in.Row(i)
			if op.wanted(in.Cols, r, op.hashes[i]) {
				op.sel = append(op.sel, uint32(r))
			}
		}
		if err := op.acct.set(op.set.bytes() + 8*int64(len(op.count))); err != nil {
			return nil, err
		}
		if len(op.sel) > 0 {
			op.out = vec.Batch{Cols: in.Cols, N: in.N, Sel: op.sel}
			return &op.out, nil
		}
	}
}

func (op *setOp) wanted(cols []*vec.Vec, r int, hash uint64) bool {
	k := op.set.find(cols, r, hash)
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

func (op *setOp) Close() {
	op.left.Close()
	op.right.Close()
	op.set.release()
	op.acct.close()
}

func (op *setOp) memStats() (peak, spilled int64) { return op.acct.peak, 0 }
