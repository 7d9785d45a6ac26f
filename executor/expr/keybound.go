package expr

import (
	"math"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

func (c *compiler) compileKeyBound(e *plan.KeyBound) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	return &unary{x: x, t: e.T, f: keyBoundOf(e)}, nil
}

// keyBoundOf returns what makes a key's bound of a value of X.
func keyBoundOf(e *plan.KeyBound) func(*Env, types.Datum) (types.Datum, error) {
	ints := func(f func(env *Env, v int64) (int64, error)) func(*Env, types.Datum) (types.Datum, error) {
		return func(env *Env, d types.Datum) (types.Datum, error) {
			v, err := f(env, d.I)
			return types.Int(e.T, v), err
		}
	}
	switch from, to := e.X.Type().Kind(), e.T.Kind(); {
	case to == types.KDate:
		late := lateDates(from == types.KTimestamptz)
		return ints(func(env *Env, ts int64) (int64, error) {
			c := &callCtx{env: env}
			day := ts
			if from == types.KTimestamptz {
				day = types.TimestamptzToTimestamp(ts, c.zone())
			}
			return dayBound(types.TimestampToDate(day), ts, e.Up, func(d int64) int64 { at, _ := late(c, d); return at }), nil
		})
	case to == types.KFloat4:
		return func(_ *Env, d types.Datum) (types.Datum, error) {
			return types.Float(e.T, float32Bound(d.F, e.Up)), nil
		}
	case to == types.KFloat8:
		return func(_ *Env, d types.Datum) (types.Datum, error) { return types.Float(e.T, d.F), nil }
	case from == types.KDate:
		late := lateDates(to == types.KTimestamptz)
		return ints(func(env *Env, day int64) (int64, error) { return late(&callCtx{env: env}, day) })
	default:
		return ints(func(env *Env, ts int64) (int64, error) { return lateLocal(&callCtx{env: env}, ts), nil })
	}
}

// dayBound is the last day that begins not after a timestamp, which is in day or, where
// the clock is put over midnight, beside it; going up the first that does not begin
// before it.
func dayBound(day, ts int64, up bool, start func(day int64) int64) int64 {
	if ts == types.NoBegin || ts == types.NoEnd {
		return day
	}
	for start(day) > ts {
		day--
	}
	for start(day+1) <= ts {
		day++
	}
	if up && start(day) < ts {
		day++
	}
	return day
}

// float32Bound is the nearest float32 that is not above f or, going up, not below.
func float32Bound(f float64, up bool) float64 {
	n := float32(f)
	switch {
	case up && float64(n) < f:
		n = math.Nextafter32(n, float32(math.Inf(1)))
	case !up && float64(n) > f:
		n = math.Nextafter32(n, float32(math.Inf(-1)))
	}
	return float64(n)
}
