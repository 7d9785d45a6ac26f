package expr

import (
	"math"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func datepartFuncs(r *registry) {
	r.add(extractCall(false), "extract_date", "extract_time", "extract_timetz", "extract_timestamp", "extract_timestamptz", "extract_interval")
	r.add(extractCall(true), "time_part", "timetz_part", "timestamp_part", "timestamptz_part", "interval_part", "sql_date_part_1384")

	r.add(fn2(func(c *callCtx, u []byte, ts int64) (int64, error) { return types.DateTrunc(unitOf(c, u), ts, nil) }), "timestamp_trunc")
	r.add(fn2(func(c *callCtx, u []byte, ts int64) (int64, error) {
		return types.DateTrunc(unitOf(c, u), ts, c.zone())
	}), "timestamptz_trunc")
	r.add(fn3(func(c *callCtx, u []byte, ts int64, z []byte) (int64, error) {
		if ts == tsMin || ts == tsMax {
			return ts, nil // whatever the unit and the zone
		}
		loc, err := types.AtZone(string(z))
		if err != nil {
			return 0, err
		}
		return types.DateTrunc(unitOf(c, u), ts, loc)
	}), "timestamptz_trunc_zone")
	r.add(fn2(func(c *callCtx, u []byte, iv types.Interval) (types.Interval, error) {
		return types.IntervalTrunc(unitOf(c, u), iv)
	}), "interval_trunc")
	r.add(fn3(func(_ *callCtx, stride types.Interval, ts, origin int64) (int64, error) {
		return types.DateBin(stride, ts, origin)
	}), "timestamp_bin", "timestamptz_bin")

	r.add(fn3(func(_ *callCtx, y, m, d int64) (int64, error) { return types.MakeDate(int32(y), int32(m), int32(d)) }), "make_date")
	r.add(fn3(func(_ *callCtx, h, m int64, s float64) (int64, error) { return types.MakeTime(int32(h), int32(m), s) }), "make_time")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		ts, err := types.MakeTimestamp(int32(a[0].I), int32(a[1].I), int32(a[2].I), int32(a[3].I), int32(a[4].I), a[5].F)
		return intDatum(ts), err
	}), "make_timestamp")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		ts, err := types.MakeTimestamp(int32(a[0].I), int32(a[1].I), int32(a[2].I), int32(a[3].I), int32(a[4].I), a[5].F)
		if err != nil {
			return null, err
		}
		loc := c.zone()
		if len(a) > 6 {
			if loc, err = types.MakeZone(string(a[6].B), ts); err != nil {
				return null, err
			}
		}
		ts, err = types.TimestampToTimestamptz(ts, loc)
		return intDatum(ts), err
	}), "make_timestamptz", "make_timestamptz_at_timezone")

	zoneFuncs(r)
	overlapsFuncs(r)
	rangeFuncs(r)
}

// unitOf gives the unit's name as a string that is made once per call.
func unitOf(c *callCtx, u []byte) string {
	if s, ok := c.state.(string); ok && s == string(u) {
		return s
	}
	s := string(u)
	c.state = s
	return s
}

// extractEval is extract (numeric) and date_part (float8).
type extractEval struct {
	frame
	float bool
	ints  []int64
	dec   []types.Decimal // the result's wide form while the narrow one is in use
}

func extractCall(float bool) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &extractEval{frame: newFrame(call, args), float: float}, nil
	}
}

func (e *extractEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if e.out.Dec == nil {
		e.out.Dec = e.dec
	}
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	if u := e.vecs[0]; u.Const && !e.float && len(rows) > 0 && e.calendar(unitOf(&e.callCtx, u.B[0]), rows) {
		return &e.out, nil
	}
	for _, i := range rows {
		u := e.vecs[0]
		unit := unitOf(&e.callCtx, u.B[u.Idx(int(i))])
		d := e.vecs[1].Get(int(i))
		if e.float {
			d, err = types.DatePart(unit, d, env.Fmt)
		} else {
			d, err = types.Extract(unit, d, env.Fmt)
		}
		if err != nil {
			return nil, err
		}
		e.out.Set(int(i), d)
	}
	return &e.out, nil
}

// calendar is the fast path for the year, month and day of finite dates and
// timestamps, in the narrow form; false when it does not apply.
func (e *extractEval) calendar(unit string, rows []uint32) bool {
	x := e.vecs[1]
	perDay, lo, hi := int64(1), int64(dateMin), int64(dateMax)
	switch x.T.Kind() {
	case types.KDate:
	case types.KTimestamp:
		perDay, lo, hi = usecPerDay, tsMin, tsMax
	default:
		return false
	}
	if unit != "year" && unit != "month" && unit != "day" {
		return false
	}
	e.ints = resize(e.ints, len(e.out.Dec))
	m := mask(x)
	for _, i := range rows {
		v := x.I64[int(i)&m]
		if v == lo || v == hi {
			return false
		}
		days := v / perDay
		if v < 0 && v%perDay != 0 {
			days--
		}
		year, month, day := civil(days)
		switch {
		case unit == "month":
			year = month
		case unit == "day":
			year = day
		case year <= 0:
			year-- // there is no year 0: 1 BC is -1
		}
		e.ints[i] = year
	}
	e.dec, e.out.Dec, e.out.I64, e.out.Scale = e.out.Dec, nil, e.ints, 0
	return true
}

// civil turns days since 2000-01-01 into the proleptic Gregorian date, by eras
// of 400 years that begin in March.
func civil(days int64) (year, month, day int64) {
	days += 730425 // days from 0000-03-01 to 2000-01-01
	era := days / 146097
	if days < 0 && days%146097 != 0 {
		era--
	}
	doe := days - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	month = mp + 3
	if month > 12 {
		month -= 12
	}
	year = yoe + era*400
	if month <= 2 {
		year++
	}
	return year, month, day
}

func zoneFuncs(r *registry) {
	named := func(c *callCtx, z []byte) (types.TimeZone, error) {
		// Zones are looked up by name once, not for each row.
		type cached struct {
			name string
			zone types.TimeZone
		}
		if k, ok := c.state.(cached); ok && k.name == string(z) {
			return k.zone, nil
		}
		zone, err := types.TimeZoneNamed(string(z))
		if err == nil {
			c.state = cached{string(z), zone}
		}
		return zone, err
	}
	r.add(fn2(func(c *callCtx, z []byte, ts int64) (int64, error) {
		if ts == types.NoBegin || ts == types.NoEnd {
			return ts, nil
		}
		zone, err := named(c, z)
		if err != nil {
			return 0, err
		}
		return types.TimestampToTimestamptz(ts, zone.AtLocal(ts))
	}), "timestamp_zone")
	r.add(fn2(func(c *callCtx, z []byte, ts int64) (int64, error) {
		if ts == types.NoBegin || ts == types.NoEnd {
			return ts, nil
		}
		zone, err := named(c, z)
		if err != nil {
			return 0, err
		}
		return types.TimestamptzToTimestamp(ts, zone.At(ts)), nil
	}), "timestamptz_zone")
	r.add(fn2(func(_ *callCtx, iv types.Interval, ts int64) (int64, error) {
		if ts == types.NoBegin || ts == types.NoEnd {
			return ts, nil
		}
		loc, err := intervalZone(iv)
		if err != nil {
			return 0, err
		}
		return types.TimestampToTimestamptz(ts, loc)
	}), "timestamp_izone")
	r.add(fn2(func(_ *callCtx, iv types.Interval, ts int64) (int64, error) {
		if ts == types.NoBegin || ts == types.NoEnd {
			return ts, nil
		}
		loc, err := intervalZone(iv)
		if err != nil {
			return 0, err
		}
		return types.TimestamptzToTimestamp(ts, loc), nil
	}), "timestamptz_izone")
	shift := func(c *callCtx, b []byte, loc *time.Location) types.Datum {
		us, west := types.TimetzParts(types.Bytes(types.TTimetz, b))
		local := types.TimestamptzToTimestamp(c.env.TxnStart, loc)
		newWest := int32((c.env.TxnStart - local) / 1e6)
		us = (us + int64(west-newWest)*1e6) % usecPerDay
		if us < 0 {
			us += usecPerDay
		}
		return types.Timetz(us, newWest)
	}
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		zone, err := named(c, a[0].B)
		if err != nil {
			return null, err
		}
		return shift(c, a[1].B, zone.At(c.env.TxnStart)), nil
	}), "timetz_zone")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		loc, err := intervalZone(a[0].Iv)
		if err != nil {
			return null, err
		}
		return shift(c, a[1].B, loc), nil
	}), "timetz_izone")
}

func intervalZone(iv types.Interval) (*time.Location, error) {
	if iv.Months != 0 || iv.Days != 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, `interval time zone "%s" must not include months or days`,
			types.AppendText(nil, types.Datum{T: types.TInterval, Iv: iv}, types.DefaultFmt))
	}
	return types.FixedZone(int(iv.Micros / 1e6)), nil
}

// overlapsFuncs registers (start, end) OVERLAPS (start, end), whose ends may be
// given as intervals.
func overlapsFuncs(r *registry) {
	r.add(periodBuilder(overlapsWith(nil)), "overlaps_timestamp", "overlaps_time", "overlaps_timetz")
	r.add(fnD(overlapsWith(func(_ *callCtx, t int64, iv types.Interval) (int64, error) {
		return types.AddInterval(t, iv, nil)
	})), "sql_overlaps_2042", "sql_overlaps_2043", "sql_overlaps_2044")
	r.add(fnD(overlapsWith(func(c *callCtx, t int64, iv types.Interval) (int64, error) {
		return types.AddInterval(t, iv, c.zone())
	})), "sql_overlaps_1305", "sql_overlaps_1306", "sql_overlaps_1307")
	r.add(fnD(overlapsWith(func(_ *callCtx, t int64, iv types.Interval) (int64, error) {
		t = (t + iv.Micros) % usecPerDay
		if t < 0 {
			t += usecPerDay
		}
		return t, nil
	})), "sql_overlaps_1309", "sql_overlaps_1310", "sql_overlaps_1311")
}

func overlapsWith(add func(c *callCtx, t int64, iv types.Interval) (int64, error)) datumBody {
	return func(c *callCtx, in []types.Datum) (types.Datum, error) {
		a := append([]types.Datum(nil), in...)
		for k := 1; k < 4; k += 2 {
			if a[k].T.Kind() != types.KInterval {
				continue
			}
			if a[k].Null || a[k-1].Null {
				a[k] = types.Null(a[k-1].T)
				continue
			}
			t, err := add(c, a[k-1].I, a[k].Iv)
			if err != nil {
				return null, err
			}
			a[k] = types.Int(a[k-1].T, t)
		}
		return overlapPeriods(a), nil
	}
}

// overlapPeriods follows the standard: a period with a NULL end is known by its
// other end alone, and the answer may then be unknown.
func overlapPeriods(a []types.Datum) types.Datum {
	for k := 0; k < 4; k += 2 {
		if a[k].Null {
			if a[k+1].Null {
				return null
			}
			a[k], a[k+1] = a[k+1], a[k]
		} else if !a[k+1].Null && types.Compare(a[k], a[k+1]) > 0 {
			a[k], a[k+1] = a[k+1], a[k]
		}
	}
	s1, e1, s2, e2 := a[0], a[1], a[2], a[3]
	switch c := types.Compare(s1, s2); {
	case c > 0:
		if e2.Null {
			return null
		}
		if types.Compare(s1, e2) < 0 {
			return types.Bool(true)
		}
		if e1.Null {
			return null
		}
		return types.Bool(false)
	case c < 0:
		if e1.Null {
			return null
		}
		if types.Compare(s2, e1) < 0 {
			return types.Bool(true)
		}
		if e2.Null {
			return null
		}
		return types.Bool(false)
	}
	if e1.Null || e2.Null {
		return null
	}
	return types.Bool(true)
}

// rangeFuncs registers in_range, which finds the bounds of RANGE frames.
func rangeFuncs(r *registry) {
	for _, src := range []string{"in_range_int2_int2", "in_range_int2_int4", "in_range_int2_int8", "in_range_int4_int2",
		"in_range_int4_int4", "in_range_int4_int8", "in_range_int8_int8", "in_range_float4_float8", "in_range_float8_float8",
		"in_range_numeric_numeric", "in_range_date_interval", "in_range_timestamp_interval", "in_range_timestamptz_interval",
		"in_range_interval_interval", "in_range_time_interval", "in_range_timetz_interval"} {
		r.add(fnD(inRange), src)
	}
}

// inRange compares the first value with the second plus or minus the third.
func inRange(c *callCtx, a []types.Datum) (types.Datum, error) {
	val, base, off, sub, less := a[0], a[1], a[2], a[3].I != 0, a[4].I != 0
	negative := off.I < 0 || off.F < 0 || off.F != off.F || off.Dec.Sign() < 0 || off.Dec.IsNaN() || off.Iv.Sign() < 0
	if k := base.T.Kind(); k == types.KTime || k == types.KTimetz {
		negative = off.Iv.Micros < 0
	}
	if negative {
		return null, sqlerr.New("22013", "invalid preceding or following size in window function")
	}
	isNaN := func(d types.Datum) bool { return d.F != d.F || d.Dec.IsNaN() }
	switch {
	case isNaN(val):
		return types.Bool(isNaN(base) || !less), nil
	case isNaN(base):
		return types.Bool(less), nil
	}
	var err error
	sum := base
	switch base.T.Rep() {
	case types.RepBytes: // timetz
		micros, zone := types.TimetzParts(base)
		if sub {
			off.Iv.Micros = -off.Iv.Micros
		}
		sum = types.Timetz(micros+off.Iv.Micros, zone)
	case types.RepFloat:
		if math.IsInf(base.F, 0) && math.IsInf(off.F, 0) && sub == (base.F > 0) {
			return types.Bool(true), nil // an infinite distance before the end, or behind the beginning
		}
		if sub {
			off.F = -off.F
		}
		sum.F += off.F
	case types.RepDec:
		if sub {
			off.Dec = off.Dec.Neg()
		}
		sum.Dec = base.Dec.Add(off.Dec)
	case types.RepInterval:
		if sub {
			sum.Iv, err = base.Iv.Sub(off.Iv)
		} else {
			sum.Iv, err = base.Iv.Add(off.Iv)
		}
	default:
		return inRangeInt(c, val, base, off, sub, less)
	}
	if err != nil {
		return null, err
	}
	if isNaN(sum) { // an infinite distance from infinity is everything
		return types.Bool(true), nil
	}
	k := types.Compare(val, sum)
	return types.Bool(less && k <= 0 || !less && k >= 0), nil
}

func inRangeInt(c *callCtx, val, base, off types.Datum, sub, less bool) (types.Datum, error) {
	sum, x := base.I, val.I
	var err error
	apply := func(ts int64, loc *time.Location) (int64, error) {
		if sub {
			return types.SubInterval(ts, off.Iv, loc)
		}
		return types.AddInterval(ts, off.Iv, loc)
	}
	switch base.T.Kind() {
	case types.KDate:
		if sum, err = types.DateToTimestamp(base.I); err == nil {
			if sum, err = apply(sum, nil); err == nil {
				x, err = types.DateToTimestamp(val.I)
			}
		}
	case types.KTimestamp:
		sum, err = apply(base.I, nil)
	case types.KTimestamptz:
		sum, err = apply(base.I, c.zone())
	default:
		d := off.I
		if base.T.Kind() == types.KTime {
			d = off.Iv.Micros
		}
		if sub {
			d = -d
		}
		if sum += d; (sum < base.I) != (d < 0) && d != 0 {
			return types.Bool(sub != less), nil // beyond every value
		}
	}
	if err != nil {
		return null, err
	}
	return types.Bool(less && x <= sum || !less && x >= sum), nil
}
