package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// Ranges of whole numbers, days and times are made, tested and taken apart as vectors of
// numbers, without values of their bounds; what is not of that kind goes to the functions
// over datums.

// wholeRanges is a range made of two ends for each row: [lo, hi).
type wholeRanges struct {
	*callN
	width int
}

// rangeBuilder makes rangeConstructor, or what does the same over vectors.
func rangeBuilder(c *compiler, call *plan.Call, args []Eval) (Eval, error) {
	slow, err := fnD(rangeConstructor)(c, call, args)
	width := types.WholeWidth(call.T)
	if err != nil || width == 0 || len(args) != 2 {
		return slow, err
	}
	return &wholeRanges{slow.(*callN), width}, nil
}

func (e *wholeRanges) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if _, err := e.evalArgs(env, b); err != nil {
		return nil, err
	}
	lo, hi := e.vecs[0], e.vecs[1]
	for _, i := range e.rows(b) {
		r := types.WholeRange{NoLo: lo.IsNull(int(i)), NoHi: hi.IsNull(int(i))}
		if !r.NoLo {
			r.Lo = lo.I64[lo.Idx(int(i))]
		}
		if !r.NoHi {
			r.Hi = hi.I64[hi.Idx(int(i))]
		}
		out, ok := types.AppendWholeRange(e.buf[:0], e.width, &r)
		if !ok {
			return nil, e.each([]uint32{i}) // says what is wrong
		}
		e.out.B[i] = e.keep(out)
	}
	return &e.out, nil
}

// wholeTest makes a test of two ranges, of which slow is the body over datums.
func wholeTest(test func(a, b *types.WholeRange) bool, slow datumBody) builder {
	return func(c *compiler, call *plan.Call, args []Eval) (Eval, error) {
		at, bt := call.Args[0].Type(), call.Args[1].Type()
		wa, wb := types.WholeWidth(at), types.WholeWidth(bt)
		if wa == 0 || wb == 0 {
			return fnD(slow)(c, call, args)
		}
		var a, b types.WholeRange // here, as test would have them made anew for each row
		return fn2(func(c *callCtx, x, y []byte) (bool, error) {
			var known, both bool
			a, known = types.ParseWholeRange(wa, x)
			if b, both = types.ParseWholeRange(wb, y); known && both {
				return test(&a, &b), nil
			}
			d, err := slow(c, []types.Datum{{T: at, B: x}, {T: bt, B: y}})
			return d.I != 0, err
		})(c, call, args)
	}
}

// wholeEnd is the lower or upper bound of each range, NULL where there is none.
type wholeEnd struct {
	*callN
	width int
	upper bool
}

// endBuilder makes lower or upper, of which slow is the body over datums.
func endBuilder(upper bool, slow datumBody) builder {
	return func(c *compiler, call *plan.Call, args []Eval) (Eval, error) {
		made, err := fnD(slow)(c, call, args)
		width := types.WholeWidth(call.Args[0].Type())
		if err != nil || width == 0 {
			return made, err
		}
		return &wholeEnd{made.(*callN), width, upper}, nil
	}
}

func (e *wholeEnd) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	v := e.vecs[0]
	for k, i := range rows {
		r, ok := types.ParseWholeRange(e.width, v.B[v.Idx(int(i))])
		switch {
		case !ok:
			return &e.out, e.each(rows[k:])
		case r.Empty, r.NoLo && !e.upper, r.NoHi && e.upper:
			e.out.Nulls.Set(int(i))
		case e.upper:
			e.out.I64[i] = r.Hi
		default:
			e.out.I64[i] = r.Lo
		}
	}
	return &e.out, nil
}

// wholePeriods is OVERLAPS of periods whose ends are whole numbers.
type wholePeriods struct{ *callN }

// periodBuilder makes OVERLAPS, of which slow is the body over datums.
func periodBuilder(slow datumBody) builder {
	return func(c *compiler, call *plan.Call, args []Eval) (Eval, error) {
		made, err := fnD(slow)(c, call, args)
		for _, a := range call.Args {
			if a.Type().Rep() != types.RepInt {
				return made, err
			}
		}
		return &wholePeriods{made.(*callN)}, err
	}
}

func (e *wholePeriods) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if _, err := e.evalArgs(env, b); err != nil {
		return nil, err
	}
	rows := e.rows(b)
	for _, v := range e.vecs {
		if v.Nulls.Any() {
			return &e.out, e.each(rows)
		}
	}
	at := func(k int, i uint32) int64 { return e.vecs[k].I64[e.vecs[k].Idx(int(i))] }
	for _, i := range rows {
		s1, e1, s2, e2 := at(0, i), at(1, i), at(2, i), at(3, i)
		s1, e1 = min(s1, e1), max(s1, e1)
		s2, e2 = min(s2, e2), max(s2, e2)
		e.out.Bool[i] = s1 == s2 || s1 > s2 && s1 < e2 || s1 < s2 && s2 < e1
	}
	return &e.out, nil
}
