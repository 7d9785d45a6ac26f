package expr

import (
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// accumFuncs registers the transition and final functions whose states are values
// that SQL can see, so that aggregates of users may be built from them.
func accumFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		m, err := readMoments(a[0])
		if err == nil {
			err = m.add(a[1].F)
		}
		return floatState(m.n, m.sx, m.sxx), err
	}), "float8_accum", "float4_accum")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		m, err := readMoments(a[0])
		if err != nil {
			return null, err
		}
		o, err := readMoments(a[1])
		if err == nil {
			err = m.merge(o)
		}
		return floatState(m.n, m.sx, m.sxx), err
	}), "float8_combine")
	for src, f := range map[string]func(m moments) (float64, bool){
		"float8_avg":         func(m moments) (float64, bool) { return m.sx / m.n, m.n > 0 },
		"float8_var_pop":     func(m moments) (float64, bool) { return m.sxx / m.n, m.n > 0 },
		"float8_var_samp":    func(m moments) (float64, bool) { return m.sxx / (m.n - 1), m.n > 1 },
		"float8_stddev_pop":  func(m moments) (float64, bool) { return math.Sqrt(m.sxx / m.n), m.n > 0 },
		"float8_stddev_samp": func(m moments) (float64, bool) { return math.Sqrt(m.sxx / (m.n - 1)), m.n > 1 },
	} {
		r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			m, err := readMoments(a[0])
			return floatOr(err, m, f)
		}), src)
	}
	regressionFuncs(r)
	intAccumFuncs(r)
	for _, src := range []string{"int8inc_any", "int8inc_float8_float8"} {
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return step(c, a[0], 1) }), src)
	}
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return step(c, a[0], 1) }), "int4inc")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return step(c, a[0], -1) }), "int8dec", "int8dec_any")
}

// step is the number after or before an integer.
func step(c *callCtx, d types.Datum, by int64) (types.Datum, error) {
	if lo, hi := intLimits(c.call.T.Kind()); by > 0 && d.I == hi || by < 0 && d.I == lo {
		return null, intRange(c.call.T)
	}
	return intDatum(d.I + by), nil
}

func regressionFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		m, err := readPairs(a[0])
		if err == nil {
			err = m.add(a[1].F, a[2].F)
		}
		return m.datum(), err
	}), "float8_regr_accum")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		m, err := readPairs(a[0])
		if err != nil {
			return null, err
		}
		o, err := readPairs(a[1])
		if err == nil {
			err = m.merge(o)
		}
		return m.datum(), err
	}), "float8_regr_combine")
	for _, name := range []string{"covar_pop", "covar_samp", "corr", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy",
		"regr_slope", "regr_intercept", "regr_r2"} {
		r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			m, err := readPairs(a[0])
			return floatOr(err, m, func(m pairMoments) (float64, bool) { return m.statistic(name) })
		}), "float8_"+name)
	}
}

// floatOr is a final function's result: NULL where it is not defined.
func floatOr[M any](err error, m M, f func(M) (float64, bool)) (types.Datum, error) {
	if err != nil {
		return null, err
	}
	v, ok := f(m)
	if !ok {
		return null, nil
	}
	return types.Float(types.TFloat8, v), nil
}

func (m *pairMoments) datum() types.Datum { return floatState(m.n, m.sx, m.sxx, m.sy, m.syy, m.sxy) }

func readMoments(d types.Datum) (moments, error) {
	v, err := stateNumbers(d, 3, "float8")
	if err != nil {
		return moments{}, err
	}
	return moments{v[0].F, v[1].F, v[2].F}, nil
}

func readPairs(d types.Datum) (pairMoments, error) {
	v, err := stateNumbers(d, 6, "float8")
	if err != nil {
		return pairMoments{}, err
	}
	return pairMoments{v[0].F, v[1].F, v[2].F, v[3].F, v[4].F, v[5].F}, nil
}

func floatState(v ...float64) types.Datum {
	out := make([]types.Datum, len(v))
	for i, f := range v {
		out[i] = types.Float(types.TFloat8, f)
	}
	return vector(types.TFloat8, out)
}

// stateNumbers reads a transition state of n numbers.
func stateNumbers(d types.Datum, n int, typ string) ([]types.Datum, error) {
	_, dims, _, v, err := types.ArrayElems(d)
	if err != nil {
		return nil, err
	}
	bad := len(dims) != 1 || len(v) != n
	for _, e := range v {
		bad = bad || e.Null
	}
	if bad {
		return nil, sqlerr.New(sqlerr.InternalError, "expected %d-element %s array", n, typ)
	}
	return v, nil
}

// intAccumFuncs are those of sums and averages of integers: the state of an average
// is the count and the sum.
func intAccumFuncs(r *registry) {
	add := func(sign int64) datumBody {
		return func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			v, err := stateNumbers(a[0], 2, "int8")
			if err != nil {
				return null, err
			}
			return vector(types.TInt8, []types.Datum{intDatum(v[0].I + sign), intDatum(v[1].I + sign*a[1].I)}), nil
		}
	}
	r.add(fnD(add(1)), "int2_avg_accum", "int4_avg_accum")
	r.add(fnD(add(-1)), "int2_avg_accum_inv", "int4_avg_accum_inv")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		x, err := stateNumbers(a[0], 2, "int8")
		if err != nil {
			return null, err
		}
		y, err := stateNumbers(a[1], 2, "int8")
		if err != nil {
			return null, err
		}
		return vector(types.TInt8, []types.Datum{intDatum(x[0].I + y[0].I), intDatum(x[1].I + y[1].I)}), nil
	}), "int4_avg_combine")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		v, err := stateNumbers(a[0], 2, "int8")
		if err != nil || v[0].I == 0 {
			return null, err
		}
		avg, err := types.NewDecimal(v[1].I, 0).Div(types.NewDecimal(v[0].I, 0))
		return types.Datum{Dec: avg}, err
	}), "int8_avg")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		v, err := stateNumbers(a[0], 2, "int8")
		if err != nil || v[0].I == 0 {
			return null, err
		}
		return v[1], nil
	}), "int2int4_sum")
	// The sums begin with NULL, and pass NULLs over.
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		switch {
		case a[0].Null:
			return a[1], nil
		case a[1].Null:
			return a[0], nil
		}
		return intDatum(a[0].I + a[1].I), nil
	}), "int2_sum", "int4_sum")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		switch {
		case a[1].Null:
			return a[0], nil
		case a[0].Null:
			return types.Datum{Dec: types.NewDecimal(a[1].I, 0)}, nil
		}
		return types.Datum{Dec: a[0].Dec.Add(types.NewDecimal(a[1].I, 0))}, nil
	}), "int8_sum")
	intervalAccumFuncs(r)
}

// intervalAccumFuncs: the state is two intervals, the sum and, in the time of the
// second, the count.
func intervalAccumFuncs(r *registry) {
	read := func(d types.Datum) (sum types.Interval, n int64, err error) {
		v, err := stateNumbers(d, 2, "interval")
		if err != nil {
			return sum, 0, err
		}
		return v[0].Iv, v[1].Iv.Micros, nil
	}
	write := func(sum types.Interval, n int64) types.Datum {
		return vector(types.TInterval, []types.Datum{{T: types.TInterval, Iv: sum}, {T: types.TInterval, Iv: types.Interval{Micros: n}}})
	}
	accum := func(f func(a, b types.Interval) (types.Interval, error), by int64) datumBody {
		return func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			sum, n, err := read(a[0])
			if err != nil {
				return null, err
			}
			if sum, err = f(sum, a[1].Iv); err != nil {
				return null, err
			}
			return write(sum, n+by), nil
		}
	}
	r.add(fnD(accum(types.Interval.Add, 1)), "interval_accum")
	r.add(fnD(accum(types.Interval.Sub, -1)), "interval_accum_inv")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		x, n, err := read(a[0])
		if err != nil {
			return null, err
		}
		y, m, err := read(a[1])
		if err != nil {
			return null, err
		}
		if x, err = x.Add(y); err != nil {
			return null, err
		}
		return write(x, n+m), nil
	}), "interval_combine")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		sum, n, err := read(a[0])
		if err != nil || n == 0 {
			return null, err
		}
		avg, err := sum.Div(float64(n))
		return types.Datum{Iv: avg}, err
	}), "interval_avg")
}
