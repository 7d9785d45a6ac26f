package expr

import (
	"bytes"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

func newMinMax(t types.T, least bool) Aggregator {
	t.Mod = -1
	switch t.Kind() {
	case types.KInt2, types.KInt4, types.KInt8, types.KOid, types.KDate, types.KTime, types.KTimestamp, types.KTimestamptz, types.KMoney:
		return &minMax[int64]{t: t, least: least, vals: func(v *vec.Vec) []int64 { return v.I64 },
			cmp: func(a, b int64) int {
				if a < b {
					return -1
				}
				if a > b {
					return 1
				}
				return 0
			}}
	case types.KFloat4, types.KFloat8:
		return &minMax[float64]{t: t, least: least, vals: func(v *vec.Vec) []float64 { return v.F64 }, cmp: cmpFloats}
	case types.KInterval:
		return &minMax[types.Interval]{t: t, least: least, vals: func(v *vec.Vec) []types.Interval { return v.Iv }, cmp: types.Interval.Cmp}
	case types.KText, types.KUUID, types.KBytea, types.KWord:
		return &minMax[[]byte]{t: t, least: least, vals: func(v *vec.Vec) [][]byte { return v.B }, cmp: cmpOf(t),
			keep: func(old, x []byte) []byte { return append(old[:0:cap(old)], x...) }}
	case types.KNumeric:
		return &decMinMax{minMax: minMax[types.Decimal]{t: t, least: least, vals: (*vec.Vec).Decimals, cmp: types.Decimal.Cmp}}
	case types.KCitext, types.KArray, types.KTimetz, types.KRecord, types.KEnum, types.KInet:
		return &datumMinMax{t: t, least: least}
	}
	return nil
}

// cmpOf compares values kept as bytes; the blanks at the end of character values
// do not count.
func cmpOf(t types.T) func(a, b []byte) int {
	if t.OID != types.OBpchar {
		return bytes.Compare
	}
	return func(a, b []byte) int { return bytes.Compare(bytes.TrimRight(a, " "), bytes.TrimRight(b, " ")) }
}

// minMax is min or max of a type with one Go representation. The last of equal
// values stays, which shows where equal values have several forms.
type minMax[E any] struct {
	t     types.T
	least bool
	vals  func(*vec.Vec) []E
	cmp   func(a, b E) int
	keep  func(old, x E) E // copies what must not alias a batch; nil: plain values
	best  []E
	seen  []bool
}

func (a *minMax[E]) Grow(n int) { a.best, a.seen = growTo(a.best, n), growTo(a.seen, n) }

func (a *minMax[E]) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	vals := a.vals(v)
	for k, i := range aggRows(groups, sel) {
		if i := int(i) & m; !v.Nulls.Get(i) {
			a.fold(groups[k], vals[i])
		}
	}
	return nil
}

func (a *minMax[E]) fold(g uint32, x E) {
	if a.seen[g] {
		if c := a.cmp(x, a.best[g]); c != 0 && (c < 0) != a.least {
			return
		}
	}
	a.seen[g] = true
	if a.keep != nil {
		x = a.keep(a.best[g], x)
	}
	a.best[g] = x
}

func (a *minMax[E]) Merge(o Aggregator, src, dst int) error {
	if b := o.(*minMax[E]); b.seen[src] {
		a.fold(uint32(dst), b.best[src])
	}
	return nil
}

func (a *minMax[E]) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	vals := a.vals(out)
	for k := range to - from {
		if !a.seen[from+k] {
			out.Nulls.Set(k)
			continue
		}
		vals[k] = a.best[from+k]
		if a.keep != nil {
			var none E
			vals[k] = a.keep(none, vals[k])
		}
	}
	return nil
}

func (a *minMax[E]) Reset(g int)  { a.seen[g] = false }
func (a *minMax[E]) Bytes() int64 { return int64(cap(a.best)) * 40 }

// decMinMax compares narrow values of one scale as integers; the first value
// outside of that form turns all groups into decimals.
type decMinMax struct {
	minMax[types.Decimal]
	narrow []int64
	scale  int32
	mode   decMode
}

type decMode uint8

const (
	decEmpty decMode = iota
	decNarrow
	decWide
)

func (a *decMinMax) Grow(n int) {
	a.seen = growTo(a.seen, n)
	if a.mode == decWide {
		a.best = growTo(a.best, n)
	} else {
		a.narrow = growTo(a.narrow, n)
	}
}

func (a *decMinMax) Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v := args[0]
	if a.mode == decEmpty && v.Dec == nil {
		a.mode, a.scale = decNarrow, v.Scale
	}
	if a.mode != decNarrow || v.Dec != nil || v.Scale != a.scale {
		a.widen()
		return a.minMax.Add(env, groups, args, sel)
	}
	m := mask(v)
	for k, i := range aggRows(groups, sel) {
		i := int(i) & m
		if v.Nulls.Get(i) {
			continue
		}
		x, g := v.I64[i], groups[k]
		if !a.seen[g] || x != a.narrow[g] && (x < a.narrow[g]) == a.least {
			a.seen[g], a.narrow[g] = true, x
		}
	}
	return nil
}

func (a *decMinMax) widen() {
	if a.mode == decWide {
		return
	}
	a.best = make([]types.Decimal, len(a.narrow))
	for g, c := range a.narrow {
		a.best[g] = types.NewDecimal(c, a.scale)
	}
	a.mode, a.narrow = decWide, nil
}

func (a *decMinMax) Merge(o Aggregator, src, dst int) error {
	b := o.(*decMinMax)
	if !b.seen[src] {
		return nil
	}
	d := types.Decimal{}
	if b.mode == decWide {
		d = b.best[src]
	} else {
		d = types.NewDecimal(b.narrow[src], b.scale)
	}
	a.widen()
	a.fold(uint32(dst), d)
	return nil
}

func (a *decMinMax) Result(env *Env, out *vec.Vec, from, to int) error {
	if a.mode == decWide {
		return a.minMax.Result(env, out, from, to)
	}
	out.T, out.Const = a.t, false
	out.Nulls.Clear()
	out.SetNarrow(max(to-from, 1), a.scale)
	for k := range to - from {
		out.I64[k] = a.narrow[from+k]
		if !a.seen[from+k] {
			out.Nulls.Set(k)
		}
	}
	return nil
}

func (a *decMinMax) Bytes() int64 { return a.minMax.Bytes() + int64(cap(a.narrow))*9 }

// datumMinMax is min and max of types that are ordered value by value.
type datumMinMax struct {
	t     types.T
	least bool
	best  []types.Datum
	seen  []bool
}

func (a *datumMinMax) Grow(n int) { a.best, a.seen = growTo(a.best, n), growTo(a.seen, n) }

func (a *datumMinMax) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	for k, i := range aggRows(groups, sel) {
		if d := args[0].Get(int(i)); !d.Null {
			a.fold(groups[k], d)
		}
	}
	return nil
}

func (a *datumMinMax) fold(g uint32, d types.Datum) {
	if a.seen[g] {
		c := compareDatums(d, a.best[g])
		if c != 0 && (c < 0) != a.least {
			return
		}
	}
	a.seen[g], a.best[g] = true, own(d)
}

func (a *datumMinMax) Merge(o Aggregator, src, dst int) error {
	if b := o.(*datumMinMax); b.seen[src] {
		a.fold(uint32(dst), b.best[src])
	}
	return nil
}

func (a *datumMinMax) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	for k := range to - from {
		d := types.Null(a.t)
		if a.seen[from+k] {
			d = a.best[from+k]
		}
		out.Set(k, d)
	}
	return nil
}

func (a *datumMinMax) Reset(g int)  { a.seen[g] = false }
func (a *datumMinMax) Bytes() int64 { return int64(cap(a.best)) * 160 }
