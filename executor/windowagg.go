package executor

import (
	"unsafe"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
)

// aggregate fills the column of an aggregate up to row to, and returns the row that it
// came to: values may be long, and then rows are passed before others are computed. It
// folds once for a frame that is the whole partition, adds rows where frames only grow,
// adds and takes back where they move, and folds anew for each row otherwise.
func (op *window) aggregate(f *windowFunc, to int) (int, error) {
	p, w := &op.part, f.fold
	w.op, w.f = op, f
	w.args = columnsAt(w.args, p.rows.cols, f.args)
	switch {
	case f.known != nil:
		appendVec(f.out, f.done, f.known, make([]uint32, to-f.done), to-f.done, nil)
		return to, nil
	case f.frame.whole():
		if err := w.add(p.lo, to); err != nil {
			return f.done, err
		}
		return to, w.emit(p.lo, to)
	case f.frame.node.Exclude != "":
		return w.anew(to)
	}
	return w.moving(to)
}

// full reports whether the values that were not passed are as long as they should get,
// before row i is computed.
func (w *frameFold) full(i int) bool { return w.f.size > pieceBytes && i > w.op.pos }

// frameFold keeps an aggregator in step with a frame.
type frameFold struct {
	op     *window
	f      *windowFunc
	agg    expr.Aggregator
	args   []*vec.Vec
	tmp    *vec.Vec
	lo, hi int // the rows folded in
	sel    []uint32
	zero   []uint32
}

// begin empties the fold before a partition that begins with row lo.
func (w *frameFold) begin(f *windowFunc, lo int) (err error) {
	if w.agg, err = expr.NewAggregator(&f.node.Agg, nil); err != nil {
		return err
	}
	w.agg.Grow(1)
	w.lo, w.hi = lo, lo
	return nil
}

// add folds the rows lo … hi-1 that pass FILTER.
func (w *frameFold) add(lo, hi int) error {
	env := w.op.env
	for lo < hi {
		if err := ctxErr(env.Ctx); err != nil {
			return err
		}
		to := min(hi, lo+vec.BatchSize)
		w.sel = w.sel[:0]
		if w.sel == nil {
			w.sel = make([]uint32, 0, vec.BatchSize)
		}
		for r := lo; r < to; r++ {
			if w.passes(r) {
				w.sel = append(w.sel, uint32(r))
			}
		}
		for len(w.zero) < len(w.sel) {
			w.zero = append(w.zero, 0)
		}
		if len(w.sel) > 0 {
			if err := w.agg.Add(env.Expr, w.zero[:len(w.sel)], w.args, w.sel); err != nil {
				return err
			}
		}
		lo = to
	}
	return nil
}

func (w *frameFold) passes(r int) bool {
	if w.f.filter < 0 {
		return true
	}
	v := w.op.part.rows.cols[w.f.filter]
	return v.Bool[r] && !v.IsNull(r)
}

// remove takes the rows lo … hi-1 back; false when the aggregate cannot.
func (w *frameFold) remove(lo, hi int) bool {
	m, ok := w.agg.(expr.Remover)
	if !ok {
		return false
	}
	for r := lo; r < hi; r++ {
		if w.passes(r) && !m.Remove(w.op.env.Expr, 0, w.args, r) {
			return false
		}
	}
	return true
}

// emit sets the rows lo … hi-1 of the output, which are its next ones, to the present
// result; they share its bytes.
func (w *frameFold) emit(lo, hi int) error {
	w.tmp.Reset(w.f.node.T, 1)
	if err := w.agg.Result(w.op.env.Expr, w.tmp, 0, 1); err != nil {
		return err
	}
	for len(w.zero) < hi-lo {
		w.zero = append(w.zero, 0)
	}
	if w.tmp.T.Rep() == types.RepBytes && !w.tmp.IsNull(0) {
		w.tmp.B[0] = w.f.arena.copy(w.tmp.B[0])
		w.f.size += int64(len(w.tmp.B[0]))
		if err := w.op.account(); err != nil {
			return err
		}
	}
	appendVec(w.f.out, lo, w.tmp, w.zero[:hi-lo], hi-lo, nil)
	return nil
}

// moving follows frames whose ends do not move back, up to row to or until it is full.
func (w *frameFold) moving(to int) (int, error) {
	emitted := false
	i := w.f.done
	for ; i < to && !w.full(i); i++ {
		a, b, err := w.f.frame.bounds(&w.op.part, i)
		if err != nil {
			return i, err
		}
		if emitted && a == w.lo && b == w.hi {
			w.f.append(i, w.f.out, i-1)
			continue
		}
		if a >= w.hi || b < w.hi || a > w.lo && !w.remove(w.lo, a) {
			w.agg.Reset(0)
			w.lo, w.hi = a, a
		}
		w.lo = a
		if err := w.add(w.hi, b); err != nil {
			return i, err
		}
		w.hi = max(w.hi, b)
		if err := w.emit(i, i+1); err != nil {
			return i, err
		}
		emitted = true
	}
	return i, nil
}

// anew folds every row's frame from nothing, up to row to or until it is full.
func (w *frameFold) anew(to int) (int, error) {
	var buf [4]span
	i := w.f.done
	for ; i < to && !w.full(i); i++ {
		frame, err := w.f.frame.spans(&w.op.part, i, buf[:0])
		if err != nil {
			return i, err
		}
		w.agg.Reset(0)
		for _, s := range frame {
			if err := w.add(s.lo, s.hi); err != nil {
				return i, err
			}
		}
		if err := w.emit(i, i+1); err != nil {
			return i, err
		}
	}
	return i, nil
}

// forget gives up the values of the rows that have been passed. Rows with the same value
// follow each other.
func (f *windowFunc) forget(pos int) {
	values := f.out.B
	for i := f.passed; i < pos && f.size > 0; i++ {
		v := values[i]
		if i+1 == f.done || unsafe.SliceData(v) != unsafe.SliceData(values[i+1]) {
			f.size -= int64(len(v))
		}
		values[i] = nil
	}
	f.passed = pos
}
