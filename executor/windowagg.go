package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
)

// aggregate fills the column of an aggregate up to row to: once for a frame that is
// the whole partition, by adding rows where frames only grow, by adding and taking
// back where they move, and anew for each row otherwise.
func (op *window) aggregate(f *windowFunc, to int) error {
	p, w := &op.part, f.fold
	w.op, w.f = op, f
	w.args = columnsAt(w.args, p.rows.cols, f.args)
	switch {
	case f.frame.whole():
		if err := w.add(p.lo, to); err != nil {
			return err
		}
		return w.emit(p.lo, to)
	case f.frame.node.Exclude != "":
		return w.anew(to)
	}
	return w.moving(to)
}

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
// result.
func (w *frameFold) emit(lo, hi int) error {
	w.tmp.Reset(w.f.node.T, 1)
	if err := w.agg.Result(w.op.env.Expr, w.tmp, 0, 1); err != nil {
		return err
	}
	for len(w.zero) < hi-lo {
		w.zero = append(w.zero, 0)
	}
	appendVec(w.f.out, lo, w.tmp, w.zero[:hi-lo], hi-lo, &w.f.arena)
	return nil
}

// moving follows frames whose ends do not move back.
func (w *frameFold) moving(to int) error {
	emitted := false
	for i := w.f.done; i < to; i++ {
		a, b, err := w.f.frame.bounds(&w.op.part, i)
		if err != nil {
			return err
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
			return err
		}
		w.hi = max(w.hi, b)
		if err := w.emit(i, i+1); err != nil {
			return err
		}
		emitted = true
	}
	return nil
}

// anew folds every row's frame from nothing.
func (w *frameFold) anew(to int) error {
	var buf [4]span
	for i := w.f.done; i < to; i++ {
		frame, err := w.f.frame.spans(&w.op.part, i, buf[:0])
		if err != nil {
			return err
		}
		w.agg.Reset(0)
		for _, s := range frame {
			if err := w.add(s.lo, s.hi); err != nil {
				return err
			}
		}
		if err := w.emit(i, i+1); err != nil {
			return err
		}
	}
	return nil
}
