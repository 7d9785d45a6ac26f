package expr

import (
	"math"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// floatVariance is variance, standard deviation and average of floats by the method
// of Youngs and Cramer: count, sum, and sum of squared differences. An average whose
// squares are beyond the type is an error too.
type floatVariance struct {
	pop, root, avg bool
	state          []moments
}

type moments struct{ n, sx, sxx float64 }

func (m *moments) add(x float64) error {
	n, sx := m.n+1, m.sx+x
	sxx := m.sxx
	if m.n > 0 {
		tmp := x*n - sx
		sxx += tmp * tmp / (n * m.n)
		if math.IsInf(sx, 0) || math.IsInf(sxx, 0) {
			if !math.IsInf(m.sx, 0) && !math.IsInf(x, 0) {
				return floatOverflow()
			}
			sxx = math.NaN()
		}
	} else if x-x != 0 {
		sxx = math.NaN()
	}
	m.n, m.sx, m.sxx = n, sx, sxx
	return nil
}

func (m *moments) merge(o moments) error {
	switch {
	case o.n == 0:
		return nil
	case m.n == 0:
		*m = o
		return nil
	}
	n := m.n + o.n
	tmp := m.sx/m.n - o.sx/o.n
	sxx := m.sxx + o.sxx + m.n*o.n*tmp*tmp/n
	sx := m.sx + o.sx
	if math.IsInf(sxx, 0) && !math.IsInf(m.sxx, 0) && !math.IsInf(o.sxx, 0) || math.IsInf(sx, 0) && !math.IsInf(m.sx, 0) && !math.IsInf(o.sx, 0) {
		return floatOverflow()
	}
	*m = moments{n, sx, sxx}
	return nil
}

func (a *floatVariance) Grow(n int) { a.state = growTo(a.state, n) }

func (a *floatVariance) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	for k, i := range aggRows(groups, sel) {
		i := int(i) & m
		if v.Nulls.Get(i) {
			continue
		}
		if err := a.state[groups[k]].add(v.F64[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *floatVariance) Merge(o Aggregator, src, dst int) error {
	return a.state[dst].merge(o.(*floatVariance).state[src])
}

func (a *floatVariance) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(types.TFloat8, max(to-from, 1))
	for k, s := range a.state[from:to] {
		d := s.n
		if !a.pop && !a.avg {
			d--
		}
		if d <= 0 {
			out.Nulls.Set(k)
			continue
		}
		if out.F64[k] = s.sxx / d; a.avg {
			out.F64[k] = s.sx / s.n
		}
		if a.root {
			out.F64[k] = math.Sqrt(out.F64[k])
		}
	}
	return nil
}

func (a *floatVariance) Reset(g int)  { a.state[g] = moments{} }
func (a *floatVariance) Bytes() int64 { return int64(cap(a.state)) * 24 }

// decVariance is variance and standard deviation of integers and numerics, from
// exact sums of the values and their squares.
type decVariance struct {
	pop, root bool
	state     []decMoments
}

type decMoments struct {
	n       int64
	sx, sxx types.Decimal
}

func (a *decVariance) Grow(n int) { a.state = growTo(a.state, n) }

func (a *decVariance) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	for k, i := range aggRows(groups, sel) {
		i := int(i) & m
		if v.Nulls.Get(i) {
			continue
		}
		var d types.Decimal
		switch {
		case v.T.Rep() == types.RepInt:
			d = types.NewDecimal(v.I64[i], 0)
		case v.Dec == nil:
			d = types.NewDecimal(v.I64[i], v.Scale)
		default:
			d = v.Dec[i]
		}
		sq := d.MulExact(d)
		s := &a.state[groups[k]]
		s.n++
		s.sx, s.sxx = s.sx.Add(d), s.sxx.Add(sq)
	}
	return nil
}

func (a *decVariance) Merge(o Aggregator, src, dst int) error {
	s, d := o.(*decVariance).state[src], &a.state[dst]
	d.n += s.n
	d.sx, d.sxx = d.sx.Add(s.sx), d.sxx.Add(s.sxx)
	return nil
}

func (a *decVariance) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(types.TNumeric, max(to-from, 1))
	for k, s := range a.state[from:to] {
		d := s.n
		if !a.pop {
			d--
		}
		if d <= 0 {
			out.Nulls.Set(k)
			continue
		}
		v, err := s.variance(d)
		if err == nil && a.root && v.IsFinite() && !v.IsZero() {
			v = v.SqrtScale(v.Scale())
		}
		if err != nil {
			return err
		}
		out.Dec[k] = v
	}
	return nil
}

// variance is (n·Σx² - (Σx)²) / (n·d).
func (s *decMoments) variance(d int64) (types.Decimal, error) {
	if !s.sx.IsFinite() {
		return types.DecimalNaN, nil
	}
	n := types.NewDecimal(s.n, 0)
	num := s.sxx.MulExact(n).Sub(s.sx.MulExact(s.sx))
	if num.Sign() <= 0 {
		return types.NewDecimal(0, 0), nil
	}
	return num.Div(n.MulExact(types.NewDecimal(d, 0)))
}

func (a *decVariance) Reset(g int)  { a.state[g] = decMoments{} }
func (a *decVariance) Bytes() int64 { return int64(cap(a.state)) * 96 }

// regression is the family of two-argument statistics; pairs with a NULL are
// skipped. The first argument is Y, the second X.
type regression struct {
	name  string
	state []pairMoments
}

type pairMoments struct{ n, sx, sxx, sy, syy, sxy float64 }

func (m *pairMoments) add(y, x float64) error {
	old := *m
	m.n++
	m.sx += x
	m.sy += y
	if old.n > 0 {
		tx, ty := x*m.n-m.sx, y*m.n-m.sy
		scale := 1 / (m.n * old.n)
		m.sxx += tx * tx * scale
		m.syy += ty * ty * scale
		m.sxy += tx * ty * scale
		if math.IsInf(m.sx, 0) || math.IsInf(m.sxx, 0) || math.IsInf(m.sy, 0) || math.IsInf(m.syy, 0) || math.IsInf(m.sxy, 0) {
			xInf, yInf := math.IsInf(old.sx, 0) || math.IsInf(x, 0), math.IsInf(old.sy, 0) || math.IsInf(y, 0)
			if (math.IsInf(m.sx, 0) || math.IsInf(m.sxx, 0)) && !xInf || (math.IsInf(m.sy, 0) || math.IsInf(m.syy, 0)) && !yInf ||
				math.IsInf(m.sxy, 0) && !xInf && !yInf {
				return floatOverflow()
			}
			for _, f := range []*float64{&m.sxx, &m.syy, &m.sxy} {
				if math.IsInf(*f, 0) {
					*f = math.NaN()
				}
			}
		}
		return nil
	}
	if x-x != 0 {
		m.sxx, m.sxy = math.NaN(), math.NaN()
	}
	if y-y != 0 {
		m.syy, m.sxy = math.NaN(), math.NaN()
	}
	return nil
}

func (m *pairMoments) merge(o pairMoments) error {
	switch {
	case o.n == 0:
		return nil
	case m.n == 0:
		*m = o
		return nil
	}
	n := m.n + o.n
	tx, ty := m.sx/m.n-o.sx/o.n, m.sy/m.n-o.sy/o.n
	w := m.n * o.n / n
	sum := pairMoments{n, m.sx + o.sx, m.sxx + o.sxx + w*tx*tx, m.sy + o.sy, m.syy + o.syy + w*ty*ty, m.sxy + o.sxy + w*tx*ty}
	beyond := func(sum, a, b float64) bool { return math.IsInf(sum, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) }
	if beyond(sum.sxx, m.sxx, o.sxx) || beyond(sum.syy, m.syy, o.syy) || beyond(sum.sxy, m.sxy, o.sxy) {
		return floatOverflow()
	}
	*m = sum
	return nil
}

func (a *regression) Grow(n int) { a.state = growTo(a.state, n) }

func (a *regression) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	y, x := args[0], args[1]
	for k, i := range aggRows(groups, sel) {
		if y.IsNull(int(i)) || x.IsNull(int(i)) {
			continue
		}
		if a.name == "regr_count" { // no sums that could overflow
			a.state[groups[k]].n++
			continue
		}
		if err := a.state[groups[k]].add(y.F64[y.Idx(int(i))], x.F64[x.Idx(int(i))]); err != nil {
			return err
		}
	}
	return nil
}

func (a *regression) Merge(o Aggregator, src, dst int) error {
	if s := o.(*regression).state[src]; a.name == "regr_count" {
		a.state[dst].n += s.n
		return nil
	} else {
		return a.state[dst].merge(s)
	}
}

func (a *regression) Result(_ *Env, out *vec.Vec, from, to int) error {
	if a.name == "regr_count" {
		out.Reset(types.TInt8, max(to-from, 1))
		for k, s := range a.state[from:to] {
			out.I64[k] = int64(s.n)
		}
		return nil
	}
	out.Reset(types.TFloat8, max(to-from, 1))
	for k, s := range a.state[from:to] {
		v, ok := s.statistic(a.name)
		if !ok {
			out.Nulls.Set(k)
		}
		out.F64[k] = v
	}
	return nil
}

// statistic is false where the statistic is not defined.
func (m *pairMoments) statistic(name string) (float64, bool) {
	if m.n < 1 {
		return 0, false
	}
	switch name {
	case "covar_pop":
		return m.sxy / m.n, true
	case "covar_samp":
		return m.sxy / (m.n - 1), m.n >= 2
	case "corr":
		return m.sxy / math.Sqrt(m.sxx*m.syy), m.sxx != 0 && m.syy != 0
	case "regr_avgx":
		return m.sx / m.n, true
	case "regr_avgy":
		return m.sy / m.n, true
	case "regr_sxx":
		return m.sxx, true
	case "regr_syy":
		return m.syy, true
	case "regr_sxy":
		return m.sxy, true
	case "regr_slope":
		return m.sxy / m.sxx, m.sxx != 0
	case "regr_intercept":
		return (m.sy - m.sx*m.sxy/m.sxx) / m.n, m.sxx != 0
	}
	// regr_r2: a horizontal line fits perfectly.
	if m.sxx == 0 {
		return 0, false
	}
	if m.syy == 0 {
		return 1, true
	}
	return m.sxy * m.sxy / (m.sxx * m.syy), true
}

func (a *regression) Reset(g int)  { a.state[g] = pairMoments{} }
func (a *regression) Bytes() int64 { return int64(cap(a.state)) * 48 }
