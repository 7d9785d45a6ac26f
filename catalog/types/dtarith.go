package types

import (
	"math"
	"time"

	"kvsqld/catalog/sqlerr"
)

// addMonths moves a local timestamp by months, to the last day of a month that
// is too short.
func addMonths(ts int64, months int32) (int64, bool) {
	days, micros := splitTimestamp(ts)
	y, m, d := civilFromDays(days)
	total := int64(y)*12 + int64(m-1) + int64(months)
	yy := floorDiv(total, 12)
	if yy > maxYear || yy < minYear-1 {
		return 0, false
	}
	y, m = int(yy), int(total-yy*12)+1
	return makeTimestamp(daysFromCivil(y, m, min(d, daysIn(y, m))), micros)
}

// AddInterval adds an interval to a timestamp (loc nil), or to an instant, where
// months and days count in the local time of loc. 22008 out of range.
func AddInterval(ts int64, iv Interval, loc *time.Location) (int64, error) {
	if ts == NoBegin || ts == NoEnd {
		return ts, nil
	}
	if iv.Months != 0 || iv.Days != 0 {
		local := ts
		if loc != nil {
			local = TimestamptzToTimestamp(ts, loc)
		}
		ok := true
		if iv.Months != 0 {
			local, ok = addMonths(local, iv.Months)
		}
		if ok && iv.Days != 0 {
			days, micros := splitTimestamp(local)
			local, ok = makeTimestamp(days+int64(iv.Days), micros)
		}
		if !ok {
			return 0, errTimestampRange()
		}
		ts = local
		if loc != nil {
			var err error
			if ts, err = TimestampToTimestamptz(local, loc); err != nil {
				return 0, err
			}
		}
	}
	r := ts + iv.Micros
	if (r > ts) != (iv.Micros > 0) || !validTimestamp(r) {
		return 0, errTimestampRange()
	}
	return r, nil
}

// SubInterval subtracts an interval, see AddInterval.
func SubInterval(ts int64, iv Interval, loc *time.Location) (int64, error) {
	if iv.Micros == math.MinInt64 || iv.Days == math.MinInt32 || iv.Months == math.MinInt32 {
		return 0, errTimestampRange()
	}
	return AddInterval(ts, Interval{-iv.Months, -iv.Days, -iv.Micros}, loc)
}

// TimestampSub is the interval of days and time between two timestamps.
func TimestampSub(a, b int64) (Interval, error) {
	if a == NoBegin || a == NoEnd || b == NoBegin || b == NoEnd {
		return Interval{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
	}
	d := a - b
	if (d < a) != (b > 0) {
		return Interval{}, errIntervalRange()
	}
	return JustifyHours(Interval{Micros: d})
}

// Age is the difference in years, months, days and time of two timestamps (loc
// nil) or of two instants' local times.
func Age(a, b int64, loc *time.Location) (Interval, error) {
	if a == NoBegin || a == NoEnd || b == NoBegin || b == NoEnd {
		return Interval{}, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
	}
	neg := a < b
	if loc != nil {
		a, b = TimestamptzToTimestamp(a, loc), TimestamptzToTimestamp(b, loc)
	}
	if neg {
		a, b = b, a
	}
	days1, us1 := splitTimestamp(a)
	days2, us2 := splitTimestamp(b)
	y1, m1, d1 := civilFromDays(days1)
	y2, m2, d2 := civilFromDays(days2)
	us, d, mon := us1-us2, d1-d2, (y1-y2)*12+m1-m2
	if us < 0 {
		us += usecPerDay
		d--
	}
	for d < 0 {
		// The month borrowed is that of the earlier timestamp.
		d += daysIn(y2, m2)
		mon--
	}
	r := Interval{Months: int32(mon), Days: int32(d), Micros: us}
	if neg {
		return r.Neg()
	}
	return r, nil
}

// MakeDate is make_date: negative years are BC.
func MakeDate(year, month, day int32) (int64, error) {
	y, ok := makeYear(year)
	shown := y // in messages, but for the least number, which has no opposite
	if year == math.MinInt32 {
		ok, shown = false, int(year)
	}
	if !ok || month < 1 || month > 12 || day < 1 || int(day) > daysIn(y, int(month)) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", shown, month, day)
	}
	if y <= maxYear && y >= minYear {
		if d := daysFromCivil(y, int(month), int(day)); d >= minDate && d < endDate {
			return d, nil
		}
	}
	return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", shown, month, day)
}

// makeYear turns a year without a zero into one with 0 for 1 BC.
func makeYear(year int32) (int, bool) {
	if year < 0 {
		return int(year) + 1, true
	}
	return int(year), year != 0
}

// MakeTime is make_time.
func MakeTime(hour, min int32, sec float64) (int64, error) {
	us := math.RoundToEven(sec * 1e6)
	if hour < 0 || hour > 24 || min < 0 || min > 59 || !(us >= 0 && us <= 60e6) || hour == 24 && (min > 0 || us > 0) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%02s", hour, min, formatSeconds(sec))
	}
	return int64(hour)*usecPerHour + int64(min)*usecPerMin + int64(us), nil
}

// formatSeconds prints seconds as %g does, at least two wide.
func formatSeconds(sec float64) string {
	if math.IsNaN(sec) || math.IsInf(sec, 0) {
		return string(appendFloat(nil, sec, 64, 1))
	}
	s := string(appendG(nil, sec, 64, 6))
	if len(s) < 2 {
		return "0" + s
	}
	return s
}

// MakeTimestamp is make_timestamp.
func MakeTimestamp(year, month, day, hour, min int32, sec float64) (int64, error) {
	d, err := MakeDate(year, month, day)
	if err != nil {
		return 0, err
	}
	t, err := MakeTime(hour, min, sec)
	if err != nil {
		return 0, err
	}
	ts, ok := makeTimestamp(d, t)
	if !ok {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range: %d-%02d-%02d %d:%02d:%02s", year, month, day, hour, min, formatSeconds(sec))
	}
	return ts, nil
}

// DateBin is date_bin: the start of the stride, counted from origin, that ts
// lies in.
func DateBin(stride Interval, ts, origin int64) (int64, error) {
	switch {
	case ts == NoBegin || ts == NoEnd:
		return ts, nil
	case origin == NoBegin || origin == NoEnd:
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "origin out of range")
	case stride.Months != 0:
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	us := stride.Micros
	if !addScaled(&us, int64(stride.Days), usecPerDay) {
		return 0, errIntervalRange()
	}
	if us <= 0 {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "stride must be greater than zero")
	}
	diff := ts - origin
	if (diff < ts) != (origin > 0) {
		return 0, errIntervalRange()
	}
	start := diff - diff%us
	if diff < 0 && us > 1 && diff%us != 0 {
		start -= us
	}
	r := origin + start
	if !validTimestamp(r) {
		return 0, errTimestampRange()
	}
	return r, nil
}
