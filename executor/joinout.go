package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// joinOut turns candidate pairs of left and right rows into the output of a
// join. The join methods differ only in how they find candidates.
//
// Candidates are added in the order of the left rows. For kinds other than
// Inner and Right each left row's candidates are followed by an end mark, the
// pair (row, noRow), by which rows without a match are known.
type joinOut struct {
	kind     plan.JoinKind
	residual expr.Pred
	cond     plan.Expr // the residual
	nleft    int
	fault    rowFault

	l, r    []uint32
	matched bool   // the left row that is under way has a match
	hits    []bool // right rows with a match, for Right and Full
	sel     []uint32
	pairs   vec.Batch // candidates, for the residual
	out     vec.Batch
}

// newJoinOut returns the output side of a join of rows with the given types.
func newJoinOut(kind plan.JoinKind, residual expr.Pred, cond plan.Expr, left, right []types.T) joinOut {
	o := joinOut{kind: kind, residual: residual, cond: cond, nleft: len(left)}
	o.l = make([]uint32, 0, vec.BatchSize)
	o.r = make([]uint32, 0, vec.BatchSize)
	all := append(append([]types.T(nil), left...), right...)
	if residual != nil {
		o.pairs.Cols = newVecs(all)
	}
	if kind != plan.Semi && kind != plan.Anti {
		o.out.Cols = newVecs(all)
	}
	return o
}

// marks reports whether candidates of a row must be followed by an end mark.
func (o *joinOut) marks() bool { return o.kind != plan.Inner && o.kind != plan.Right }

// tracksRight reports whether right rows without a match are passed at the end.
func (o *joinOut) tracksRight() bool { return o.kind == plan.Right || o.kind == plan.Full }

// open prepares a run against right rows numbered from 0 to n-1.
func (o *joinOut) open(n int) {
	o.l, o.r, o.matched, o.fault = o.l[:0], o.r[:0], false, rowFault{}
	if o.tracksRight() {
		o.hits = make([]bool, n)
	}
}

// add appends a candidate and reports whether it is time to flush.
func (o *joinOut) add(l, r uint32) bool {
	o.l = append(o.l, l)
	o.r = append(o.r, r)
	return len(o.l) >= vec.BatchSize
}

// flush decides the candidates and returns the output, possibly without rows.
// It is over the left batch's columns for Semi and Anti, in new vectors else. After a
// candidate that fails no other is decided: the join asks due for the error.
func (o *joinOut) flush(env *Env, left *vec.Batch, right []*vec.Vec) (*vec.Batch, error) {
	l, r := o.l, o.r
	o.l, o.r = o.l[:0], o.r[:0]
	if o.residual != nil {
		if err := o.test(env, left, right, l, r); err != nil {
			n, err := o.testEach(env, l, r, err)
			if err != nil {
				return nil, err
			}
			l, r = l[:n], r[:n]
		}
	}
	if o.marks() || o.residual != nil || o.tracksRight() {
		l, r = o.resolve(l, r)
	}
	if len(l) == 0 {
		if err := o.due(); err != nil {
			return nil, err
		}
	}
	if o.kind == plan.Semi || o.kind == plan.Anti {
		return o.chosen(left, l), nil
	}
	gatherBatch(o.out.Cols[:o.nleft], left.Cols, l, false)
	gatherBatch(o.out.Cols[o.nleft:], right, r, o.marks())
	o.out.N, o.out.Sel = len(l), nil
	return &o.out, nil
}

// test evaluates the residual: sel lists the candidates that satisfy it.
func (o *joinOut) test(env *Env, left *vec.Batch, right []*vec.Vec, l, r []uint32) error {
	gatherBatch(o.pairs.Cols[:o.nleft], left.Cols, l, false)
	gatherBatch(o.pairs.Cols[o.nleft:], right, r, o.marks())
	o.sel = o.sel[:0]
	if o.sel == nil {
		o.sel = make([]uint32, 0, vec.BatchSize)
	}
	for i, x := range r {
		if x != noRow {
			o.sel = append(o.sel, uint32(i))
		}
	}
	o.pairs.N, o.pairs.Sel = len(l), o.sel
	if len(o.sel) == 0 {
		return nil
	}
	return o.residual.Select(env.Expr, &o.pairs)
}

// passing returns which of the pairs satisfy the residual, by their number.
func (o *joinOut) passing(env *Env, left *vec.Batch, right []*vec.Vec, l, r []uint32) ([]uint32, error) {
	if err := o.test(env, left, right, l, r); err != nil {
		return nil, err
	}
	return o.pairs.Sel, nil
}

// chosen is the output of a semi or anti join that has decided left rows itself.
func (o *joinOut) chosen(left *vec.Batch, rows []uint32) *vec.Batch {
	o.out = vec.Batch{Cols: left.Cols, N: left.N, Sel: rows}
	return &o.out
}

// due returns the error that comes after the rows which were passed, once.
func (o *joinOut) due() error { return o.fault.due() }

// testEach is test after that failed: one candidate after the other, as long as none
// fails and only where the candidate counts. It returns how many of them are decided.
func (o *joinOut) testEach(env *Env, l, r []uint32, err error) (int, error) {
	if !ofRow(err) || !repeatable([]plan.Expr{o.cond}) {
		return 0, err
	}
	var pass []uint32
	matched, once := o.matched, o.kind == plan.Semi || o.kind == plan.Anti
	for i, x := range r {
		if x == noRow {
			matched = false
			continue
		}
		if once && matched {
			continue
		}
		b := vec.Batch{Cols: o.pairs.Cols, N: len(l), Sel: []uint32{uint32(i)}}
		if err := o.residual.Select(env.Expr, &b); err != nil {
			if !ofRow(err) {
				return 0, err
			}
			o.fault.err, o.pairs.Sel = err, pass
			return i, nil
		}
		if b.Rows() > 0 {
			matched, pass = true, append(pass, uint32(i))
		}
	}
	o.pairs.Sel = pass
	return len(r), nil
}

// resolve applies the kind of the join to the candidates, in place.
func (o *joinOut) resolve(l, r []uint32) ([]uint32, []uint32) {
	pass := o.pairs.Sel
	n, p := 0, 0
	for i, x := range r {
		if x == noRow { // the end of a left row
			if !o.matched && o.kind != plan.Semi {
				l[n], r[n] = l[i], noRow
				n++
			}
			o.matched = false
			continue
		}
		if o.residual != nil {
			if p >= len(pass) || pass[p] != uint32(i) {
				continue
			}
			p++
		}
		if o.hits != nil {
			o.hits[x] = true
		}
		emit := o.kind != plan.Anti && (o.kind != plan.Semi || !o.matched)
		o.matched = true
		if emit {
			l[n], r[n] = l[i], x
			n++
		}
	}
	return l[:n], r[:n]
}

// finish fills the output with right rows without a match, from row *tail of the
// n rows on, at most a batch of them; nil when there are none left, or when the
// join does not want them.
func (o *joinOut) finish(tail *int, n int, left []types.T, right []*vec.Vec) *vec.Batch {
	if !o.tracksRight() || *tail >= n {
		return nil
	}
	r := o.r[:0]
	for ; *tail < n && len(r) < vec.BatchSize; *tail++ {
		if !o.hits[*tail] {
			r = append(r, uint32(*tail))
		}
	}
	if len(r) == 0 {
		return nil
	}
	for i, c := range o.out.Cols[:o.nleft] {
		c.Reset(left[i], len(r))
		setAllNull(c, len(r))
	}
	gatherBatch(o.out.Cols[o.nleft:], right, r, false)
	o.out.N, o.out.Sel = len(r), nil
	return &o.out
}
