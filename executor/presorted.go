package executor

import (
	"kvsqld/catalog/types/vec"
)

// presortedOp sorts input that is sorted by the first keys already: whole runs of
// rows that these keys do not tell apart, one batch's worth at a time. So its first
// rows come out after little has been read.
type presortedOp struct {
	sortOp
	eq    keyEq
	first []int     // columns of the first keys
	last  *rowStore // the first keys of the row that came last
	keys  []*vec.Vec
	want  int // rows that a limit leaves to pass, -1: all

	in   *vec.Batch // of which the rows behind at are not in the sorter yet
	rest []uint32   // these
	buf  []uint32
	take pieces
	done bool // the input has ended
	out  vec.Batch
}

func newPresorted(op *sortOp) *presortedOp {
	s := &presortedOp{sortOp: *op, take: pieces{lengthy: len(op.computed) > 0}}
	ts := op.sorter.types
	for _, k := range op.sorter.order.keys[:op.node.Presorted] {
		s.first = append(s.first, k.col)
	}
	s.eq, s.last = newKeyEq(pickTypes(ts, s.first)), newRowStore(pickTypes(ts, s.first))
	s.keys = make([]*vec.Vec, len(s.first))
	return s
}

func (op *presortedOp) Open(env *Env) error {
	op.in, op.done = nil, false
	op.last.reset()
	if err := op.sortOp.Open(env); err != nil {
		return err
	}
	op.take.open()
	if op.want = op.sorter.limit; op.want == 0 {
		op.want = -1
	}
	op.sorted = false
	return nil
}

func (op *presortedOp) Next() (*vec.Batch, error) {
	for op.want != 0 {
		if !op.sorted {
			if op.done {
				return nil, nil
			}
			if err := op.fill(); err != nil {
				return nil, err
			}
			op.sorted = true
		}
		b, err := op.sorter.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			op.sorted = false
			op.sorter.open(op.env, max(op.want, 0))
			continue
		}
		op.out = vec.Batch{Cols: b.Cols[:op.width], N: b.N, Sel: b.Sel}
		if op.want > 0 {
			op.want -= min(op.want, b.Rows())
		}
		return &op.out, nil
	}
	return nil, nil
}

// fill puts whole runs into the sorter, which is empty, and sorts them.
func (op *presortedOp) fill() error {
	if op.in != nil { // what the last fill left of its batch
		if err := op.sorter.add(op.cols, op.rest, len(op.rest)); err != nil {
			return err
		}
		op.in = nil
	}
	for {
		in, err := op.take.next(op.input)
		if err != nil {
			return err
		}
		if in == nil {
			op.done = true
			op.input.Close()
			return op.sorter.finish()
		}
		copy(op.cols, in.Cols)
		if err := evalAll(op.env, op.computed, in, op.cols[op.width:]); err != nil {
			return err
		}
		for i, c := range op.first {
			op.keys[i] = op.cols[c]
		}
		n := in.Rows()
		last := in.Row(n - 1)
		cut := n - 1 // where the batch's last run begins
		for cut > 0 && op.eq.equal(op.keys, in.Row(cut-1), op.keys, last) {
			cut--
		}
		ends := cut > 0 || op.last.n > 0 && !op.eq.equal(op.last.cols, 0, op.keys, in.Row(0))
		op.last.reset()
		op.last.appendCols(op.keys, []uint32{uint32(last)}, 1)
		rows := selectedRows(in, op.buf)
		if in.Sel == nil {
			op.buf = rows
		}
		if !ends {
			cut = n
		}
		if cut > 0 {
			if err := op.sorter.add(op.cols, rows[:cut], cut); err != nil {
				return err
			}
		}
		if ends {
			op.in, op.rest = in, append(op.rest[:0], rows[cut:]...)
			return op.sorter.finish()
		}
	}
}

func (op *presortedOp) Close() {
	op.sortOp.Close()
	op.last.reset()
	op.in = nil
}
