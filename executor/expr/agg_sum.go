package expr

import (
	"math"
	"math/bits"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

func sumOrAvg(kind types.Kind, avg bool) Aggregator {
	switch kind {
	case types.KInt2, types.KInt4, types.KInt8:
		return &intSum{avg: avg, wide: kind == types.KInt8}
	case types.KFloat4, types.KFloat8:
		if avg {
			return &floatVariance{avg: true}
		}
		return &floatSum{single: kind == types.KFloat4}
	case types.KNumeric:
		return &decSum{avg: avg}
	case types.KInterval:
		return &intervalSum{avg: avg}
	case types.KMoney:
		if !avg {
			return &moneySum{}
		}
	}
	return nil
}

// int128 is a signed 128-bit sum.
type int128 struct {
	hi int64
	lo uint64
}

func (s *int128) add(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi += v>>63 + int64(carry)
}

func (s *int128) merge(o int128) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, o.lo, 0)
	s.hi += o.hi + int64(carry)
}

// fits returns the value if it is an int64.
func (s int128) fits() (int64, bool) { return int64(s.lo), s.hi == int64(s.lo)>>63 }

var (
	two63    = types.NewDecimal(1<<62, 0).Add(types.NewDecimal(1<<62, 0))
	two64, _ = two63.Mul(types.NewDecimal(2, 0))
)

// decimal returns s / 10^scale.
func (s int128) decimal(scale int32) types.Decimal {
	if v, ok := s.fits(); ok {
		return types.NewDecimal(v, scale)
	}
	d, _ := types.NewDecimal(s.hi, 0).Mul(two64) // 38 digits: within the limits
	low := types.NewDecimal(int64(s.lo>>1), 0)
	d = d.Add(low).Add(low).Add(types.NewDecimal(int64(s.lo&1), 0))
	if scale > 0 {
		d, _ = d.Mul(types.NewDecimal(1, scale))
	}
	return d
}

// intSum is sum and avg of integers. sum of int2 and int4 is int8, of int8
// numeric (wide); avg is numeric.
type intSum struct {
	avg, wide bool
	state     []intSumState
}

type intSumState struct {
	sum int128
	n   int64
}

func (a *intSum) Grow(n int) { a.state = growTo(a.state, n) }

func (a *intSum) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	vals := v.I64
	rows := aggRows(groups, sel)
	if v.Nulls.Any() {
		for k, i := range rows {
			if i := int(i) & m; !v.Nulls.Get(i) {
				s := &a.state[groups[k]]
				s.sum.add(vals[i])
				s.n++
			}
		}
		return nil
	}
	for k, i := range rows {
		s := &a.state[groups[k]]
		s.sum.add(vals[int(i)&m])
		s.n++
	}
	return nil
}

func (a *intSum) Remove(_ *Env, g uint32, args []*vec.Vec, row int) bool {
	if v := args[0]; !v.IsNull(row) {
		x := v.I64[v.Idx(row)]
		s := &a.state[g]
		s.n--
		if x == math.MinInt64 {
			s.sum.merge(int128{0, 1 << 63})
		} else {
			s.sum.add(-x)
		}
	}
	return true
}

func (a *intSum) Merge(o Aggregator, src, dst int) error {
	s, d := o.(*intSum).state[src], &a.state[dst]
	d.sum.merge(s.sum)
	d.n += s.n
	return nil
}

func (a *intSum) Result(_ *Env, out *vec.Vec, from, to int) error {
	t := types.TInt8
	if a.avg || a.wide {
		t = types.TNumeric
	}
	out.Reset(t, max(to-from, 1))
	for k, s := range a.state[from:to] {
		switch {
		case s.n == 0:
			out.Nulls.Set(k)
		case a.avg:
			d, err := s.sum.decimal(0).Div(types.NewDecimal(s.n, 0))
			if err != nil {
				return err
			}
			out.Dec[k] = d
		case a.wide:
			out.Dec[k] = s.sum.decimal(0)
		default:
			v, ok := s.sum.fits()
			if !ok {
				return intRange(types.TInt8)
			}
			out.I64[k] = v
		}
	}
	return nil
}

func (a *intSum) Reset(g int)  { a.state[g] = intSumState{} }
func (a *intSum) Bytes() int64 { return int64(cap(a.state)) * 24 }

// floatSum is the sum of floats, added in the order of the rows: those of float4
// in single precision.
type floatSum struct {
	single bool
	state  []floatSumState
}

type floatSumState struct {
	sum float64
	n   int64
}

func (a *floatSum) Grow(n int) { a.state = growTo(a.state, n) }

func (a *floatSum) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	for k, i := range aggRows(groups, sel) {
		i := int(i) & m
		if v.Nulls.Get(i) {
			continue
		}
		if err := a.fold(&a.state[groups[k]], v.F64[i], 1); err != nil {
			return err
		}
	}
	return nil
}

func (a *floatSum) fold(s *floatSumState, x float64, n int64) error {
	sum := s.sum + x
	if s.n == 0 {
		sum = x // 0 + -0 is 0
	}
	if a.single {
		sum = float64(float32(sum))
	}
	if math.IsInf(sum, 0) && !math.IsInf(s.sum, 0) && !math.IsInf(x, 0) {
		return floatOverflow()
	}
	s.sum = sum
	s.n += n
	return nil
}

func (a *floatSum) Merge(o Aggregator, src, dst int) error {
	s := o.(*floatSum).state[src]
	if s.n == 0 {
		return nil
	}
	return a.fold(&a.state[dst], s.sum, s.n)
}

func (a *floatSum) Result(_ *Env, out *vec.Vec, from, to int) error {
	t := types.TFloat8
	if a.single {
		t = types.TFloat4
	}
	out.Reset(t, max(to-from, 1))
	for k, s := range a.state[from:to] {
		if s.n == 0 {
			out.Nulls.Set(k)
			continue
		}
		out.F64[k] = s.sum
	}
	return nil
}

func (a *floatSum) Reset(g int)  { a.state[g] = floatSumState{} }
func (a *floatSum) Bytes() int64 { return int64(cap(a.state)) * 16 }

// decSum is sum and avg of numeric. Narrow values of one scale are summed as
// 128-bit integers; anything else goes to a decimal beside.
type decSum struct {
	avg    bool
	scale  int32 // of the integer sums
	scaled bool  // whether scale is set
	state  []decSumState
	other  []types.Decimal // sums of values outside of the narrow form; shorter than state
}

type decSumState struct {
	sum      int128
	narrow   int64 // number of values in sum
	n        int64
	hasOther bool
}

func (a *decSum) Grow(n int) { a.state = growTo(a.state, n) }

func (a *decSum) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	rows := aggRows(groups, sel)
	var one [1]int64
	vals, scale, ok := narrowForm(v, &one)
	if ok && !a.scaled {
		a.scale, a.scaled = scale, true
	}
	if ok && scale == a.scale {
		a.addNarrow(groups, rows, v, vals, m)
		return nil
	}
	for k, i := range rows {
		i := int(i) & m
		if v.Nulls.Get(i) {
			continue
		}
		if v.Dec == nil {
			a.addDecimal(groups[k], types.NewDecimal(v.I64[i], v.Scale))
		} else {
			a.addDecimal(groups[k], v.Dec[i])
		}
	}
	return nil
}

func (a *decSum) addNarrow(groups, rows []uint32, v *vec.Vec, vals []int64, m int) {
	if v.Nulls.Any() {
		for k, i := range rows {
			if i := int(i) & m; !v.Nulls.Get(i) {
				s := &a.state[groups[k]]
				s.sum.add(vals[i])
				s.narrow++
				s.n++
			}
		}
		return
	}
	if len(a.state) == 1 {
		s := &a.state[0]
		for _, i := range rows {
			s.sum.add(vals[int(i)&m])
		}
		s.narrow += int64(len(rows))
		s.n += int64(len(rows))
		return
	}
	for k, i := range rows {
		s := &a.state[groups[k]]
		s.sum.add(vals[int(i)&m])
		s.narrow++
		s.n++
	}
}

// addDecimal adds one value; small ones of the common scale join the integers.
func (a *decSum) addDecimal(g uint32, d types.Decimal) {
	s := &a.state[g]
	s.n++
	if c, scale, ok := d.Small(); ok {
		if !a.scaled {
			a.scale, a.scaled = scale, true
		}
		if scale == a.scale {
			s.sum.add(c)
			s.narrow++
			return
		}
	}
	a.addOther(int(g), d)
}

func (a *decSum) addOther(g int, d types.Decimal) {
	s := &a.state[g]
	a.other = growTo(a.other, len(a.state))
	if s.hasOther {
		d = a.other[g].Add(d)
	}
	a.other[g], s.hasOther = d, true
}

func (a *decSum) total(g int) types.Decimal {
	s := &a.state[g]
	switch {
	case !s.hasOther:
		return s.sum.decimal(a.scale)
	case s.narrow == 0:
		return a.other[g]
	}
	return a.other[g].Add(s.sum.decimal(a.scale))
}

func (a *decSum) Remove(_ *Env, g uint32, args []*vec.Vec, row int) bool {
	v := args[0]
	if v.IsNull(row) {
		return true
	}
	var one [1]int64
	vals, scale, ok := narrowForm(v, &one)
	var c int64
	if ok {
		c = vals[v.Idx(row)]
	} else if c, scale, ok = v.Dec[v.Idx(row)].Small(); !ok {
		return false
	}
	if !a.scaled || scale != a.scale || c == minInt64 {
		return false
	}
	s := &a.state[g]
	s.sum.add(-c)
	s.narrow--
	s.n--
	return true
}

func (a *decSum) Merge(o Aggregator, src, dst int) error {
	b := o.(*decSum)
	s, d := b.state[src], &a.state[dst]
	d.n += s.n
	if s.narrow > 0 {
		if !a.scaled {
			a.scale, a.scaled = b.scale, true
		}
		if a.scale == b.scale {
			d.sum.merge(s.sum)
			d.narrow += s.narrow
		} else {
			a.addOther(dst, s.sum.decimal(b.scale))
		}
	}
	if s.hasOther {
		a.addOther(dst, b.other[src])
	}
	return nil
}

func (a *decSum) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(types.TNumeric, max(to-from, 1))
	for k := range to - from {
		n := a.state[from+k].n
		if n == 0 {
			out.Nulls.Set(k)
			continue
		}
		d := a.total(from + k)
		err := d.CheckDigits()
		if err != nil {
			return err
		}
		if a.avg {
			if d, err = d.Div(types.NewDecimal(n, 0)); err != nil {
				return err
			}
		}
		out.Dec[k] = d
	}
	return nil
}

func (a *decSum) Reset(g int)  { a.state[g] = decSumState{} }
func (a *decSum) Bytes() int64 { return int64(cap(a.state))*40 + int64(cap(a.other))*32 }

// intervalSum is sum and avg of intervals.
type intervalSum struct {
	avg   bool
	state []intervalState
}

type intervalState struct {
	sum types.Interval
	n   int64
}

func (a *intervalSum) Grow(n int) { a.state = growTo(a.state, n) }

func (a *intervalSum) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	for k, i := range aggRows(groups, sel) {
		i := int(i) & m
		if v.Nulls.Get(i) {
			continue
		}
		s := &a.state[groups[k]]
		sum, err := s.sum.Add(v.Iv[i])
		if err != nil {
			return err
		}
		s.sum = sum
		s.n++
	}
	return nil
}

func (a *intervalSum) Remove(_ *Env, g uint32, args []*vec.Vec, row int) bool {
	v := args[0]
	if v.IsNull(row) {
		return true
	}
	s := &a.state[g]
	sum, err := s.sum.Sub(v.Iv[v.Idx(row)])
	if err != nil {
		return false
	}
	s.sum = sum
	s.n--
	return true
}

func (a *intervalSum) Merge(o Aggregator, src, dst int) error {
	s, d := o.(*intervalSum).state[src], &a.state[dst]
	sum, err := d.sum.Add(s.sum)
	d.sum = sum
	d.n += s.n
	return err
}

func (a *intervalSum) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(types.TInterval, max(to-from, 1))
	for k, s := range a.state[from:to] {
		if s.n == 0 {
			out.Nulls.Set(k)
			continue
		}
		out.Iv[k] = s.sum
		if a.avg {
			iv, err := s.sum.Div(float64(s.n))
			if err != nil {
				return err
			}
			out.Iv[k] = iv
		}
	}
	return nil
}

func (a *intervalSum) Reset(g int)  { a.state[g] = intervalState{} }
func (a *intervalSum) Bytes() int64 { return int64(cap(a.state)) * 24 }
