package executor

import (
	"math"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// keyTypes returns the types of the key columns of an index, or of the master
// file when ix is nil or the primary key's.
func keyTypes(t *catalog.Table, ix *catalog.Index) []types.T {
	if ix == nil || ix.Primary {
		ts := make([]types.T, len(t.PK))
		for i, c := range t.PK {
			ts[i] = t.Columns[c].Type
		}
		return ts
	}
	ts := make([]types.T, len(ix.Keys))
	for i, k := range ix.Keys {
		ts[i] = k.Type
		if k.Col >= 0 {
			ts[i] = t.Columns[k.Col].Type
		}
	}
	return ts
}

// evalRanges evaluates the bounds of key ranges with the present parameters. A
// range with a NULL bound, or bounds that the column's type cannot reach, is
// left out. nil in gives nil: the whole file.
func evalRanges(env *Env, rs []plan.KeyRange, keys []types.T) ([]types.Range, error) {
	return new(ranges).eval(env, rs, keys)
}

// ranges is memory for key ranges, which are valid until the next ones.
type ranges struct {
	out    []types.Range
	bounds []types.Datum // to which others point: a full array is not copied
	eqs    []types.Datum // parts of which others have
}

func (m *ranges) eval(env *Env, rs []plan.KeyRange, keys []types.T) ([]types.Range, error) {
	if rs == nil {
		return nil, nil
	}
	m.out, m.bounds, m.eqs = slices.Grow(m.out[:0], len(rs)), m.bounds[:0], m.eqs[:0]
	for i := range rs {
		if err := m.evalRange(env, &rs[i], keys); err != nil {
			return nil, err
		}
	}
	return m.out, nil
}

// forget lets go of the values.
func (m *ranges) forget() {
	if cap(m.out) > fewRanges || cap(m.bounds) > 2*fewRanges || cap(m.eqs) > 4*fewRanges {
		*m = ranges{}
		return
	}
	clear(m.out)
	clear(m.bounds)
	clear(m.eqs)
}

// fewRanges is the number of ranges of which the memory is kept.
const fewRanges = 16

// room returns memory for n values.
func (m *ranges) room(n int) []types.Datum {
	at := len(m.eqs)
	if at+n > cap(m.eqs) {
		m.eqs, at = make([]types.Datum, 0, max(2*cap(m.eqs), n)), 0
	}
	m.eqs = m.eqs[:at+n]
	return m.eqs[at : at : at+n]
}

func (m *ranges) evalRange(env *Env, k *plan.KeyRange, keys []types.T) error {
	var r types.Range
	if len(k.Eq) > 0 {
		r.Eq = m.room(len(k.Eq) + 1)
	}
	for _, x := range k.Eq {
		d, err := expr.EvalConst(env.Expr, x)
		if err != nil {
			return err
		}
		if d.Null || !asKey(&d, keys[len(r.Eq)]) {
			return nil
		}
		r.Eq = append(r.Eq, d)
	}
	if k.IsNull {
		r.Eq = append(r.Eq, types.Null(keys[len(r.Eq)]))
		m.out = append(m.out, r)
		return nil
	}
	if k.Test != nil {
		d, err := expr.EvalConst(env.Expr, k.Test)
		if err == nil && !d.Null {
			r.Test = &types.RangeTest{Op: k.TestOp, X: d}
			m.out = append(m.out, r)
		}
		return err
	}
	if k.EqAny != nil {
		return m.evalEqAny(env, k, r, keys)
	}
	ok, err := m.evalBounds(env, k, &r, keys)
	if err == nil && ok && !r.Empty() {
		m.out = append(m.out, r)
	}
	return err
}

// evalEqAny expands an array into one range per distinct element, in key order.
func (m *ranges) evalEqAny(env *Env, k *plan.KeyRange, r types.Range, keys []types.T) error {
	arr, err := expr.EvalConst(env.Expr, k.EqAny)
	if err != nil || arr.Null {
		return err
	}
	_, _, _, elems, err := types.ArrayElems(arr)
	if err != nil {
		return err
	}
	t := keys[len(r.Eq)]
	vals := make([]types.Datum, 0, len(elems))
	for _, d := range elems {
		if !d.Null && asKey(&d, t) {
			vals = append(vals, d)
		}
	}
	vals = distinctInOrder(vals, t)
	width := len(r.Eq) + 1
	eqs := vals // of all ranges, one after the other
	if width > 1 {
		eqs = make([]types.Datum, 0, width*len(vals))
		for _, d := range vals {
			eqs = append(append(eqs, r.Eq...), d)
		}
	}
	m.out = slices.Grow(m.out, len(vals))
	for ; len(eqs) > 0; eqs = eqs[width:] {
		one := r
		one.Eq = eqs[:width:width]
		if k.Lo != nil || k.Hi != nil || k.Like != nil {
			ok, err := m.evalBounds(env, k, &one, keys)
			if err != nil {
				return err
			}
			if !ok || one.Empty() {
				continue
			}
		}
		m.out = append(m.out, one)
	}
	return nil
}

// distinctInOrder sorts values of type t and leaves each once.
func distinctInOrder(vals []types.Datum, t types.T) []types.Datum {
	if t.Rep() != types.RepInt || len(vals) == 0 {
		slices.SortFunc(vals, types.Compare)
		return slices.CompactFunc(vals, types.Equal)
	}
	ints := make([]int64, len(vals)) // much fewer bytes to move
	for i := range vals {
		ints[i] = vals[i].I
	}
	slices.Sort(ints)
	ints = slices.Compact(ints)
	for i, n := range ints {
		vals[i].I = n
	}
	return vals[:len(ints)]
}

// evalBounds sets the range on the column after Eq; false when it is empty.
func (m *ranges) evalBounds(env *Env, k *plan.KeyRange, r *types.Range, keys []types.T) (bool, error) {
	r.NotNull = k.NotNull
	if k.Lo == nil && k.Hi == nil && k.Like == nil {
		return true, nil
	}
	t := keys[len(r.Eq)]
	bound := func(x plan.Expr) (*types.Datum, error) {
		d, err := expr.EvalConst(env.Expr, x)
		if len(m.bounds) == cap(m.bounds) { // the array is full, to which others point
			m.bounds = make([]types.Datum, 0, 2*cap(m.bounds)+2)
		}
		m.bounds = append(m.bounds, d)
		return &m.bounds[len(m.bounds)-1], err
	}
	if k.Lo != nil {
		d, err := bound(k.Lo)
		if err != nil || d.Null {
			return false, err
		}
		switch side := reach(d, t); {
		case side > 0:
			return false, nil
		case side == 0:
			r.Lo = d
			if r.LoRest, r.LoInc, err = evalRest(env, k.LoRest, k.LoInc, 1, keys[len(r.Eq)+1:]); err != nil {
				return false, err
			}
		default:
			r.NotNull = true
		}
	}
	if k.Hi != nil {
		d, err := bound(k.Hi)
		if err != nil || d.Null {
			return false, err
		}
		switch side := reach(d, t); {
		case side < 0:
			return false, nil
		case side == 0:
			r.Hi = d
			if r.HiRest, r.HiInc, err = evalRest(env, k.HiRest, k.HiInc, -1, keys[len(r.Eq)+1:]); err != nil {
				return false, err
			}
		default:
			r.NotNull = true
		}
	}
	if k.Like != nil {
		d, err := bound(k.Like)
		if err != nil || d.Null {
			return false, err
		}
		likeBounds(d.B, t, r)
	}
	return true, nil
}

// evalRest evaluates the further columns of a row bound, a lower one if way is 1, an
// upper one if it is -1. It ends before a value that the column cannot have: what is
// equal so far is out where that is NULL or lies on the far side, and in otherwise.
func evalRest(env *Env, xs []plan.Expr, inc bool, way int, keys []types.T) ([]types.Datum, bool, error) {
	var out []types.Datum
	for i, x := range xs {
		d, err := expr.EvalConst(env.Expr, x)
		if err != nil {
			return nil, false, err
		}
		if d.Null {
			return out, false, nil
		}
		if side := reach(&d, keys[i]); side != 0 {
			return out, side != way, nil
		}
		out = append(out, d)
	}
	return out, inc, nil
}

// asKey gives a value the key column's type; false when the column cannot hold
// the value.
func asKey(d *types.Datum, t types.T) bool { return reach(d, t) == 0 }

// reach gives the value the key column's type and tells on which side of the
// column's values it lies: -1 below all, 0 within, 1 above all.
func reach(d *types.Datum, t types.T) int {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	switch t.Kind() {
	case types.KInt2:
		lo, hi = math.MinInt16, math.MaxInt16
	case types.KInt4:
		lo, hi = math.MinInt32, math.MaxInt32
	case types.KOid:
		lo, hi = 0, math.MaxUint32
	}
	d.T = t
	if t.Rep() == types.RepInt {
		if d.I < lo {
			return -1
		}
		if d.I > hi {
			return 1
		}
	}
	return 0
}

// likeBounds bounds the column by the part of a LIKE pattern before its first
// wildcard.
func likeBounds(pattern []byte, t types.T, r *types.Range) {
	var prefix []byte
	exact := true
scan:
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '%', '_':
			exact = false
			break scan
		case '\\':
			if i++; i < len(pattern) {
				prefix = append(prefix, pattern[i])
			}
		default:
			prefix = append(prefix, c)
		}
	}
	lo := types.Bytes(t, prefix)
	if exact {
		r.Eq = append(r.Eq, lo)
		return
	}
	if len(prefix) == 0 {
		r.NotNull = true
		return
	}
	r.Lo, r.LoInc = &lo, true
	for n := len(prefix); n > 0; n-- {
		if prefix[n-1] != 0xff {
			end := slices.Clone(prefix[:n])
			end[n-1]++
			hi := types.Bytes(t, end)
			r.Hi = &hi
			return
		}
	}
}
