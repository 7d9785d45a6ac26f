package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
)

// aggregate fills the column of an aggregate: once for a frame that is the whole
// partition, by adding rows where frames only grow, by adding and taking back
// where they move, and anew for each row otherwise.
func (op *window) aggregate(f *windowFunc) error {
	agg, err := expr.NewAggregator(&f.node.Agg, nil)
	if err != nil {
		return err
	}
	f.agg = agg
	agg.Grow(1)
	f.tmp = vec.New(f.node.T, 1)
	p := &op.part
	n := p.rows.n
	w := frameFold{op: op, f: f, agg: agg}
	w.args = make([]*vec.Vec, len(f.args))
	for i, c := range f.args {
		w.args[i] = p.rows.cols[c]
	}
	if f.frame.whole() {
		if err := w.add(0, n); err != nil {
			return err
		}
		return w.emit(0, n)
	}
	if f.frame.node.Exclude != "" {
		return w.anew(n)
	}
	return w.moving(n)
}

// frameFold keeps an aggregator in step with a frame.
type frameFold struct {
	op   *window
	f    *windowFunc
	agg  expr.Aggregator
	args []*vec.Vec
	sel  []uint32
	zero []uint32
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

// emit sets the rows lo … hi-1 of the output to the present result.
func (w *frameFold) emit(lo, hi int) error {
	w.f.tmp.Reset(w.f.node.T, 1)
	if err := w.agg.Result(w.op.env.Expr, w.f.tmp, 0, 1); err != nil {
		return err
	}
	for i := lo; i < hi; i++ {
		w.f.append(i, w.f.tmp, 0)
	}
	return nil
}

// moving follows frames whose ends do not move back.
func (w *frameFold) moving(n int) error {
	lo, hi := 0, 0 // the rows folded in
	for i := range n {
		a, b, err := w.f.frame.bounds(&w.op.part, i)
		if err != nil {
			return err
		}
		if i > 0 && a == lo && b == hi {
			w.f.append(i, w.f.out, i-1)
			continue
		}
		if a >= hi || b < hi || a > lo && !w.remove(lo, a) {
			w.agg.Reset(0)
			lo, hi = a, a
		}
		lo = a
		if err := w.add(hi, b); err != nil {
			return err
		}
		hi = max(hi, b)
		if err := w.emit(i, i+1); err != nil {
			return err
		}
	}
	return nil
}

// anew folds every row's frame from nothing.
func (w *frameFold) anew(n int) error {
	var buf [4]span
	for i := range n {
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
