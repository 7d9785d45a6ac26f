package expr

import (
	"math"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

const (
	dateMin, dateMax = math.MinInt32, math.MaxInt32 // the infinities
	tsMin, tsMax     = math.MinInt64, math.MaxInt64
	usecPerDay       = 86400 * 1000000
	firstDate        = -2451545 // 4714-11-24 BC
	endDate          = 2145031949
)

// zone is the session's time zone.
func (c *callCtx) zone() *time.Location {
	if c.env.Fmt.Loc == nil {
		return time.UTC
	}
	return c.env.Fmt.Loc
}

func errDateRange() error { return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range") }

func datetimeFuncs(r *registry) {
	dateCasts(r)
	dateArithmetic(r)
	timeArithmetic(r)
	intervalFuncs(r)

	greater := fn2(func(_ *callCtx, a, b int64) (int64, error) { return max(a, b), nil })
	smaller := fn2(func(_ *callCtx, a, b int64) (int64, error) { return min(a, b), nil })
	r.add(greater, "date_larger", "timestamp_larger", "time_larger", "oidlarger")
	r.add(smaller, "date_smaller", "timestamp_smaller", "time_smaller", "oidsmaller")
	r.add(fn1(func(_ *callCtx, a int64) (bool, error) { return a != dateMin && a != dateMax, nil }), "date_finite")
	r.add(fn1(func(_ *callCtx, a int64) (bool, error) { return a != tsMin && a != tsMax, nil }), "timestamp_finite")
	r.add(fn1(func(_ *callCtx, _ types.Interval) (bool, error) { return true, nil }), "interval_finite")

	r.add(fn0(func(c *callCtx) (int64, error) { return c.env.TxnStart, nil }), "now")
	r.add(fn0(func(c *callCtx) (int64, error) { return c.env.StmtStart, nil }), "statement_timestamp")
	r.add(fn0(func(c *callCtx) (int64, error) { return c.env.instant(), nil }), "clock_timestamp")
	r.add(fn0(func(c *callCtx) ([]byte, error) {
		now := time.Now()
		if c.env.Clock != nil {
			now = c.env.Clock()
		}
		return c.keep(now.In(c.zone()).AppendFormat(c.buf[:0], "Mon Jan 02 15:04:05.000000 2006 MST")), nil
	}), "timeofday")
	r.add(fn1(floatToTimestamptz), "float8_timestamptz")
}

func dateCasts(r *registry) {
	r.add(fn2(func(c *callCtx, d, t int64) (int64, error) {
		ts, err := types.DateToTimestamp(d)
		if err != nil || ts == tsMin || ts == tsMax {
			return ts, err
		}
		return types.TimestampToTimestamptz(ts+t, c.zone())
	}), "sql_timestamptz_1176")
	r.add(fn1(func(_ *callCtx, d int64) (int64, error) { return types.DateToTimestamp(d) }), "date_timestamp")
	r.add(fn1(func(c *callCtx, d int64) (int64, error) {
		return types.DateToTimestamptz(d, c.zone())
	}), "date_timestamptz")
	r.add(fn1(func(_ *callCtx, ts int64) (int64, error) { return types.TimestampToDate(ts), nil }), "timestamp_date")
	r.add(fn1(func(c *callCtx, ts int64) (int64, error) {
		return types.TimestampToDate(types.TimestamptzToTimestamp(ts, c.zone())), nil
	}), "timestamptz_date")
	r.add(fn1(func(c *callCtx, ts int64) (int64, error) { return types.TimestampToTimestamptz(ts, c.zone()) }), "timestamp_timestamptz")
	r.add(fn1(func(c *callCtx, ts int64) (int64, error) { return types.TimestamptzToTimestamp(ts, c.zone()), nil }), "timestamptz_timestamp")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return timeOfDay(a[0].I) }), "timestamp_time")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return timeOfDay(types.TimestamptzToTimestamp(a[0].I, c.zone()))
	}), "timestamptz_time")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if a[0].I == tsMin || a[0].I == tsMax {
			return null, nil
		}
		local := types.TimestamptzToTimestamp(a[0].I, c.zone())
		return types.Timetz(types.TimestampTime(local), int32((a[0].I-local)/1e6)), nil
	}), "timestamptz_timetz")
	r.add(fn1(func(_ *callCtx, b []byte) (int64, error) {
		us, _ := types.TimetzParts(types.Bytes(types.TTimetz, b))
		return us, nil
	}), "timetz_time")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		// The zone's offset is today's.
		local := types.TimestamptzToTimestamp(c.env.TxnStart, c.zone())
		return types.Timetz(a[0].I, int32((c.env.TxnStart-local)/1e6)), nil
	}), "time_timetz")
	r.add(fn1(func(_ *callCtx, t int64) (types.Interval, error) { return types.Interval{Micros: t}, nil }), "time_interval")
	r.add(fn1(func(_ *callCtx, iv types.Interval) (int64, error) {
		t := iv.Micros % usecPerDay
		if t < 0 {
			t += usecPerDay
		}
		return t, nil
	}), "interval_time")
}

// timeOfDay is NULL for the infinities.
func timeOfDay(ts int64) (types.Datum, error) {
	if ts == tsMin || ts == tsMax {
		return null, nil
	}
	return intDatum(types.TimestampTime(ts)), nil
}

func dateArithmetic(r *registry) {
	r.add(fn2(func(_ *callCtx, a, b int64) (int64, error) {
		if a == dateMin || a == dateMax || b == dateMin || b == dateMax {
			return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
		}
		return a - b, nil
	}), "date_mi")
	r.add(fn2(func(_ *callCtx, d, n int64) (int64, error) { return addDays(d, n) }), "date_pli")
	r.add(fn2(func(_ *callCtx, d, n int64) (int64, error) { return addDays(d, -n) }), "date_mii")
	r.add(fn2(func(_ *callCtx, n, d int64) (int64, error) { return addDays(d, n) }), "sql_integer_pl_date_2550")
	datePlus := func(d int64, iv types.Interval) (int64, error) {
		ts, err := types.DateToTimestamp(d)
		if err != nil {
			return 0, err
		}
		return types.AddInterval(ts, iv, nil)
	}
	r.add(fn2(func(_ *callCtx, d int64, iv types.Interval) (int64, error) { return datePlus(d, iv) }), "date_pl_interval")
	r.add(fn2(func(_ *callCtx, iv types.Interval, d int64) (int64, error) { return datePlus(d, iv) }), "sql_interval_pl_date_2546")
	r.add(fn2(func(_ *callCtx, d int64, iv types.Interval) (int64, error) {
		ts, err := types.DateToTimestamp(d)
		if err != nil {
			return 0, err
		}
		return types.SubInterval(ts, iv, nil)
	}), "date_mi_interval")
	r.add(fn2(func(_ *callCtx, d, t int64) (int64, error) { return dateTime(d, t) }), "datetime_timestamp")
	r.add(fn2(func(_ *callCtx, t, d int64) (int64, error) { return dateTime(d, t) }), "sql_timedate_pl_1296")
	r.add(fn2(func(_ *callCtx, d int64, b []byte) (int64, error) { return dateTimetz(d, b) }), "datetimetz_timestamptz")
	r.add(fn2(func(_ *callCtx, b []byte, d int64) (int64, error) { return dateTimetz(d, b) }), "sql_timetzdate_pl_1298")

	r.add(fn2(func(_ *callCtx, ts int64, iv types.Interval) (int64, error) { return types.AddInterval(ts, iv, nil) }), "timestamp_pl_interval")
	r.add(fn2(func(_ *callCtx, iv types.Interval, ts int64) (int64, error) { return types.AddInterval(ts, iv, nil) }), "sql_interval_pl_timestamp_2548")
	r.add(fn2(func(_ *callCtx, ts int64, iv types.Interval) (int64, error) { return types.SubInterval(ts, iv, nil) }), "timestamp_mi_interval")
	r.add(fn2(func(c *callCtx, ts int64, iv types.Interval) (int64, error) {
		return types.AddInterval(ts, iv, c.zone())
	}), "timestamptz_pl_interval")
	r.add(fn2(func(c *callCtx, iv types.Interval, ts int64) (int64, error) {
		return types.AddInterval(ts, iv, c.zone())
	}), "sql_interval_pl_timestamptz_2549")
	r.add(fn2(func(c *callCtx, ts int64, iv types.Interval) (int64, error) {
		return types.SubInterval(ts, iv, c.zone())
	}), "timestamptz_mi_interval")
	r.add(fn2(func(_ *callCtx, a, b int64) (types.Interval, error) { return types.TimestampSub(a, b) }), "timestamp_mi")
	r.add(fn2(func(_ *callCtx, a, b int64) (types.Interval, error) { return types.Age(a, b, nil) }), "timestamp_age")
	r.add(fn2(func(c *callCtx, a, b int64) (types.Interval, error) { return types.Age(a, b, c.zone()) }), "timestamptz_age")
	// age(x) counts back from today's midnight.
	r.add(fn1(func(c *callCtx, a int64) (types.Interval, error) {
		today, err := types.DateToTimestamp(types.TimestampToDate(types.TimestamptzToTimestamp(c.env.TxnStart, c.zone())))
		if err != nil {
			return types.Interval{}, err
		}
		return types.Age(today, a, nil)
	}), "sql_age_2059")
	r.add(fn1(func(c *callCtx, a int64) (types.Interval, error) {
		local := types.TimestamptzToTimestamp(c.env.TxnStart, c.zone())
		today, err := types.DateToTimestamp(types.TimestampToDate(local))
		if err != nil {
			return types.Interval{}, err
		}
		midnight, err := types.TimestampToTimestamptz(today, c.zone())
		if err != nil {
			return types.Interval{}, err
		}
		return types.Age(midnight, a, c.zone())
	}), "sql_age_1386")
}

func addDays(d, n int64) (int64, error) {
	if d == dateMin || d == dateMax {
		return d, nil
	}
	d += n
	if d < firstDate || d >= endDate {
		return 0, errDateRange()
	}
	return d, nil
}

func dateTime(d, t int64) (int64, error) {
	ts, err := types.DateToTimestamp(d)
	if err != nil || ts == tsMin || ts == tsMax {
		return ts, err
	}
	return ts + t, nil
}

func dateTimetz(d int64, b []byte) (int64, error) {
	us, west := types.TimetzParts(types.Bytes(types.TTimetz, b))
	ts, err := dateTime(d, us)
	if err != nil || ts == tsMin || ts == tsMax {
		return ts, err
	}
	return ts + int64(west)*1e6, nil
}

func timeArithmetic(r *registry) {
	plus := func(t, us int64) int64 {
		if t = (t + us%usecPerDay) % usecPerDay; t < 0 {
			t += usecPerDay
		}
		return t
	}
	r.add(fn2(func(_ *callCtx, t int64, iv types.Interval) (int64, error) { return plus(t, iv.Micros), nil }), "time_pl_interval")
	r.add(fn2(func(_ *callCtx, iv types.Interval, t int64) (int64, error) { return plus(t, iv.Micros), nil }), "sql_interval_pl_time_1848")
	r.add(fn2(func(_ *callCtx, t int64, iv types.Interval) (int64, error) {
		return plus(t, -(iv.Micros % usecPerDay)), nil
	}), "time_mi_interval")
	r.add(fn2(func(_ *callCtx, a, b int64) (types.Interval, error) { return types.Interval{Micros: a - b}, nil }), "time_mi_time")
	zoned := func(b []byte, us int64) types.Datum {
		t, west := types.TimetzParts(types.Bytes(types.TTimetz, b))
		return types.Timetz(plus(t, us), west)
	}
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) { return zoned(a[0].B, a[1].Iv.Micros), nil }), "timetz_pl_interval")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) { return zoned(a[1].B, a[0].Iv.Micros), nil }), "sql_interval_pl_timetz_2547")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		return zoned(a[0].B, -(a[1].Iv.Micros % usecPerDay)), nil
	}), "timetz_mi_interval")
	pick := func(want int) datumBody {
		return func(c *callCtx, a []types.Datum) (types.Datum, error) {
			if types.Compare(a[0], a[1])*want > 0 {
				return a[0], nil
			}
			return a[1], nil
		}
	}
	r.add(fnD(pick(1)), "timetz_larger", "array_larger", "interval_larger", "enum_larger")
	r.add(fnD(pick(-1)), "timetz_smaller", "array_smaller", "interval_smaller", "enum_smaller")
}

func intervalFuncs(r *registry) {
	type iv = types.Interval
	r.add(fn2(func(_ *callCtx, a, b iv) (iv, error) { return a.Add(b) }), "interval_pl")
	r.add(fn2(func(_ *callCtx, a, b iv) (iv, error) { return a.Sub(b) }), "interval_mi")
	r.add(fn1(func(_ *callCtx, a iv) (iv, error) { return a.Neg() }), "interval_um")
	r.add(fn2(func(_ *callCtx, a iv, f float64) (iv, error) { return a.Mul(f) }), "interval_mul")
	r.add(fn2(func(_ *callCtx, f float64, a iv) (iv, error) { return a.Mul(f) }), "mul_d_interval")
	r.add(fn2(func(_ *callCtx, a iv, f float64) (iv, error) { return a.Div(f) }), "interval_div")
	r.add(fn1(func(_ *callCtx, a iv) (iv, error) { return types.JustifyDays(a) }), "interval_justify_days")
	r.add(fn1(func(_ *callCtx, a iv) (iv, error) { return types.JustifyHours(a) }), "interval_justify_hours")
	r.add(fn1(func(_ *callCtx, a iv) (iv, error) { return types.JustifyInterval(a) }), "interval_justify_interval")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		v, err := types.MakeInterval(int32(a[0].I), int32(a[1].I), int32(a[2].I), int32(a[3].I), int32(a[4].I), int32(a[5].I), a[6].F)
		return types.Datum{Iv: v}, err
	}), "make_interval")
}

// floatToTimestamptz is to_timestamp(seconds since 1970).
func floatToTimestamptz(_ *callCtx, s float64) (int64, error) {
	const epoch = 946684800 // 2000-01-01 in seconds since 1970
	switch {
	case s != s:
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
	case math.IsInf(s, -1):
		return tsMin, nil
	case math.IsInf(s, 1):
		return tsMax, nil
	}
	const first, end = -210866803200, 9224318016000 // seconds since 1970 of the type's limits
	if s < first || s >= end {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, `timestamp out of range: "%g"`, s)
	}
	us := math.RoundToEven((s - epoch) * 1e6)
	return int64(us), nil
}
