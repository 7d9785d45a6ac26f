package types

import (
	"math/big"
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
)

// field is a field of a date or time that date_trunc and extract name.
type field uint8

const (
	fdNone field = iota
	fdMicrosecond
	fdMillisecond
	fdSecond
	fdMinute
	fdHour
	fdDay
	fdWeek
	fdMonth
	fdQuarter
	fdYear
	fdDecade
	fdCentury
	fdMillennium
	fdDow
	fdDoy
	fdEpoch
	fdIsodow
	fdIsoyear
	fdJulian
	fdZone
	fdZoneHour
	fdZoneMinute
)

var unitFields = [...]field{
	unitMicrosecond: fdMicrosecond, unitMillisecond: fdMillisecond, unitSecond: fdSecond, unitMinute: fdMinute, unitHour: fdHour,
	unitDay: fdDay, unitWeek: fdWeek, unitMonth: fdMonth, unitYear: fdYear, unitDecade: fdDecade, unitCentury: fdCentury,
	unitMillennium: fdMillennium, unitAgo: fdNone,
}

var extraFields = map[string]field{
	"quarter": fdQuarter, "qtr": fdQuarter, "dow": fdDow, "doy": fdDoy, "epoch": fdEpoch, "isodow": fdIsodow, "isoyear": fdIsoyear,
	"julian": fdJulian, "j": fdJulian, "jd": fdJulian, "timezone": fdZone, "timezone_hour": fdZoneHour, "timezone_h": fdZoneHour,
	"timezone_minute": fdZoneMinute, "timezone_m": fdZoneMinute,
}

func fieldOf(unit string) field {
	u := strings.ToLower(unit)
	if f, ok := extraFields[u]; ok {
		return f
	}
	if iu, ok := intervalUnits[u]; ok {
		return unitFields[iu]
	}
	if len(u) > 10 {
		if iu, ok := intervalUnitPrefix(u); ok {
			return unitFields[iu]
		}
	}
	return fdNone
}

func errUnit(unit string, f field, typ string) error {
	unit = strings.ToLower(unit)
	if f == fdNone {
		return sqlerr.New(sqlerr.InvalidParameterValue, `unit "%s" not recognized for type %s`, unit, typ)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, `unit "%s" not supported for type %s`, unit, typ)
}

// errTruncUnit is errUnit for truncation, to which the fields that are no
// units of time are unknown.
func errTruncUnit(unit string, f field, typ string) error {
	if f >= fdDow && f <= fdJulian {
		f = fdNone
	}
	return errUnit(unit, f, typ)
}

// DateTrunc is date_trunc of a timestamp (loc nil), or of an instant in local
// time of loc.
func DateTrunc(unit string, ts int64, loc *time.Location) (int64, error) {
	if ts == NoBegin || ts == NoEnd {
		return ts, nil
	}
	f := fieldOf(unit)
	if f == fdNone || f > fdMillennium {
		typ := "timestamp without time zone"
		if loc != nil {
			typ = "timestamp with time zone"
		}
		return 0, errTruncUnit(unit, f, typ)
	}
	if loc == nil {
		r, ok := truncLocal(f, ts)
		if !ok {
			return 0, errTimestampRange()
		}
		return r, nil
	}
	east, _ := zoneAt(ts, loc)
	local, ok := truncLocal(f, ts+int64(east)*usecPerSec)
	if !ok {
		return 0, errTimestampRange()
	}
	if f >= fdDay { // the zone's offset may differ at midnight
		return TimestampToTimestamptz(local, loc)
	}
	return local - int64(east)*usecPerSec, nil
}

func truncLocal(f field, ts int64) (int64, bool) {
	days, micros := splitTimestamp(ts)
	switch f {
	case fdMicrosecond:
		return ts, true
	case fdMillisecond:
		return ts - micros%1000, true
	case fdSecond:
		return ts - micros%usecPerSec, true
	case fdMinute:
		return ts - micros%usecPerMin, true
	case fdHour:
		return ts - micros%usecPerHour, true
	case fdDay:
		return makeTimestamp(days, 0)
	case fdWeek:
		return makeTimestamp(days-int64((weekday(days)+6)%7), 0)
	}
	y, m, _ := civilFromDays(days)
	switch f {
	case fdMonth:
	case fdQuarter:
		m -= (m - 1) % 3
	default:
		m = 1
	}
	return makeTimestamp(daysFromCivil(truncYear(f, y), m, 1), 0)
}

// truncYear is the first year of the decade, century or millennium of y, where
// 0 is 1 BC.
func truncYear(f field, y int) int {
	switch f {
	case fdMillennium:
		if y > 0 {
			return (y+999)/1000*1000 - 999
		}
		return -(999-(y-1))/1000*1000 + 1
	case fdCentury:
		if y > 0 {
			return (y+99)/100*100 - 99
		}
		return -(99-(y-1))/100*100 + 1
	case fdDecade:
		if y > 0 {
			return y / 10 * 10
		}
		return -((8 - (y - 1)) / 10) * 10
	}
	return y
}

// IntervalTrunc is date_trunc of an interval.
func IntervalTrunc(unit string, iv Interval) (Interval, error) {
	f := fieldOf(unit)
	year, mon := iv.Months/12, iv.Months%12
	switch f {
	case fdMillennium:
		return Interval{Months: year / 1000 * 1000 * 12}, nil
	case fdCentury:
		return Interval{Months: year / 100 * 100 * 12}, nil
	case fdDecade:
		return Interval{Months: year / 10 * 10 * 12}, nil
	case fdYear:
		return Interval{Months: year * 12}, nil
	case fdQuarter:
		return Interval{Months: year*12 + mon/3*3}, nil
	case fdMonth:
		return Interval{Months: iv.Months}, nil
	case fdDay:
		iv.Micros = 0
	case fdHour:
		iv.Micros -= iv.Micros % usecPerHour
	case fdMinute:
		iv.Micros -= iv.Micros % usecPerMin
	case fdSecond:
		iv.Micros -= iv.Micros % usecPerSec
	case fdMillisecond:
		iv.Micros -= iv.Micros % 1000
	case fdMicrosecond:
	default:
		err := errTruncUnit(unit, f, "interval")
		if f == fdWeek {
			err.(*sqlerr.Error).WithDetail("Months usually have fractional weeks.")
		}
		return iv, err
	}
	return iv, nil
}

// Extract is extract(unit from d): a numeric, or NULL for a field that an
// infinite value does not have.
func Extract(unit string, d Datum, o *FmtOpts) (Datum, error) {
	if d.Null {
		return Null(TNumeric), nil
	}
	if o == nil {
		o = DefaultFmt
	}
	f := fieldOf(unit)
	var v Decimal
	var ok, null bool
	typ := FormatTypeNoMod(d.T.OID)
	switch d.T.Kind() {
	case KDate:
		v, ok, null = extractDate(f, d.I)
	case KTimestamp:
		v, ok, null = extractTimestamp(f, d.I, d.I, 0, false)
	case KTimestamptz:
		east := 0
		if d.I != NoBegin && d.I != NoEnd {
			east, _ = zoneAt(d.I, o.loc())
		}
		v, ok, null = extractTimestamp(f, TimestamptzToTimestamp(d.I, o.loc()), d.I, east, true)
	case KTime:
		v, ok = extractTime(f, d.I)
		if f == fdEpoch {
			v, ok = NewDecimal(d.I, 6), true
		}
	case KTimetz:
		micros, zone := TimetzParts(d)
		if v, ok = extractZone(f, int(-zone)); !ok {
			v, ok = extractTime(f, micros)
		}
		if f == fdEpoch {
			v, ok = NewDecimal(micros+int64(zone)*usecPerSec, 6), true
		}
	case KInterval:
		v, ok = extractInterval(f, d.Iv)
	default:
		return d, sqlerr.New(sqlerr.UndefinedFunction, "function pg_catalog.extract(unknown, %s) does not exist", typ)
	}
	if !ok {
		return d, errUnit(unit, f, typ)
	}
	if null {
		return Null(TNumeric), nil
	}
	return Datum{T: TNumeric, Dec: v}, nil
}

// DatePart is date_part(unit, d): extract as double precision. Dates are taken
// as timestamps.
func DatePart(unit string, d Datum, o *FmtOpts) (Datum, error) {
	if d.T.Kind() == KDate && !d.Null {
		ts, err := DateToTimestamp(d.I)
		if err != nil {
			return d, err
		}
		d = Int(TTimestamp, ts)
	}
	r, err := Extract(unit, d, o)
	if err != nil || r.Null {
		return Null(TFloat8), err
	}
	return Float(TFloat8, floatPart(fieldOf(unit), d, r.Dec)), nil
}

// floatPart is a field in double precision: some fields are sums of rounded
// terms, and so not always the double next to the exact value v. The products
// are converted so that no compiler fuses them with the sums.
func floatPart(f field, d Datum, v Decimal) float64 {
	kind := d.T.Kind()
	switch {
	case f == fdSecond || f == fdMillisecond:
		us, _, small := v.Small()
		if !small {
			break
		}
		whole, frac := float64(us/usecPerSec), float64(us%usecPerSec)
		if f == fdSecond {
			return whole + frac/1e6
		}
		return float64(whole*1e3) + frac/1e3
	case f == fdEpoch && kind == KTimetz:
		micros, zone := TimetzParts(d)
		return float64(micros)/1e6 + float64(zone)
	case f == fdEpoch && kind == KInterval:
		const day = 86400
		secs := float64(d.Iv.Micros) / 1e6
		secs += float64(365.25 * day * float64(d.Iv.Months/12))
		secs += float64(30 * day * float64(d.Iv.Months%12))
		return secs + float64(day*float64(d.Iv.Days))
	}
	return v.ToFloat()
}

func integer(v int64) (Decimal, bool) { return NewDecimal(v, 0), true }

// extractInfinite is a field of an infinity: infinite where the field grows
// with the time, NULL where it repeats.
func extractInfinite(f field, sign int) (v Decimal, ok, null bool) {
	switch f {
	case fdYear, fdDecade, fdCentury, fdMillennium, fdJulian, fdIsoyear, fdEpoch:
		return infinity(sign), true, false
	case fdNone:
		return v, false, false
	}
	return v, true, true
}

func extractTimestamp(f field, local, utc int64, east int, zoned bool) (v Decimal, ok, null bool) {
	switch utc {
	case NoBegin:
		return extractInfinite(f, -1)
	case NoEnd:
		return extractInfinite(f, 1)
	}
	if f >= fdZone && !zoned {
		return v, false, false
	}
	days, micros := splitTimestamp(local)
	if v, ok = extractTime(f, micros); ok {
		return v, true, false
	}
	switch f {
	case fdEpoch:
		us := utc + unixEpochSecs*usecPerSec
		if us < utc {
			b := new(big.Int).Add(big.NewInt(utc), big.NewInt(unixEpochSecs*usecPerSec))
			return fromBig(b, 6), true, false
		}
		return NewDecimal(us, 6), true, false
	case fdJulian:
		frac, _ := NewDecimal(micros, 0).Div(NewDecimal(usecPerDay, 0))
		return NewDecimal(days+epochJulian, 0).Add(frac), true, false
	}
	if zoned {
		if v, ok = extractZone(f, east); ok {
			return v, true, false
		}
	}
	v, ok = extractDay(f, days)
	return v, ok, false
}

func extractDate(f field, d int64) (v Decimal, ok, null bool) {
	if f < fdDay || f >= fdZone {
		return v, false, false
	}
	switch d {
	case DateNoBegin:
		return extractInfinite(f, -1)
	case DateNoEnd:
		return extractInfinite(f, 1)
	}
	switch f {
	case fdEpoch:
		v, ok = integer((d - unixEpochDays) * 86400)
	case fdJulian:
		v, ok = integer(d + epochJulian)
	default:
		v, ok = extractDay(f, d)
	}
	return v, ok, false
}

// extractDay has the fields of a day.
func extractDay(f field, days int64) (Decimal, bool) {
	y, m, d := civilFromDays(days)
	switch f {
	case fdDay:
		return integer(int64(d))
	case fdMonth:
		return integer(int64(m))
	case fdQuarter:
		return integer(int64((m-1)/3 + 1))
	case fdWeek:
		_, w := isoWeek(days)
		return integer(int64(w))
	case fdYear:
		if y <= 0 {
			y--
		}
		return integer(int64(y))
	case fdIsoyear:
		iy, _ := isoWeek(days)
		if iy <= 0 {
			iy--
		}
		return integer(int64(iy))
	case fdDecade:
		if y >= 0 {
			return integer(int64(y / 10))
		}
		return integer(int64(-((8 - (y - 1)) / 10)))
	case fdCentury:
		if y > 0 {
			return integer(int64((y + 99) / 100))
		}
		return integer(int64(-((99 - (y - 1)) / 100)))
	case fdMillennium:
		if y > 0 {
			return integer(int64((y + 999) / 1000))
		}
		return integer(int64(-((999 - (y - 1)) / 1000)))
	case fdDow:
		return integer(int64(weekday(days)))
	case fdIsodow:
		return integer(int64((weekday(days)+6)%7 + 1))
	case fdDoy:
		return integer(days - daysFromCivil(y, 1, 1) + 1)
	}
	return Decimal{}, false
}

// isoWeek returns the ISO 8601 year (0 is 1 BC) and week of a day.
func isoWeek(days int64) (year, week int) {
	// A week belongs to the year of its Thursday.
	thursday := days - int64((weekday(days)+6)%7) + 3
	year, _, _ = civilFromDays(thursday)
	return year, int((thursday-daysFromCivil(year, 1, 1))/7) + 1
}

// extractTime has the fields of a time of day.
func extractTime(f field, micros int64) (Decimal, bool) {
	switch f {
	case fdMicrosecond:
		return integer(micros % usecPerMin)
	case fdMillisecond:
		return NewDecimal(micros%usecPerMin, 3), true
	case fdSecond:
		return NewDecimal(micros%usecPerMin, 6), true
	case fdMinute:
		return integer(micros / usecPerMin % 60)
	case fdHour:
		return integer(micros / usecPerHour)
	}
	return Decimal{}, false
}

func extractZone(f field, east int) (Decimal, bool) {
	switch f {
	case fdZone:
		return integer(int64(east))
	case fdZoneHour:
		return integer(int64(east / 3600))
	case fdZoneMinute:
		return integer(int64(east / 60 % 60))
	}
	return Decimal{}, false
}

func extractInterval(f field, iv Interval) (Decimal, bool) {
	year, mon := int64(iv.Months/12), int64(iv.Months%12)
	switch f {
	case fdDay:
		return integer(int64(iv.Days))
	case fdMonth:
		return integer(mon)
	case fdQuarter:
		return integer(mon/3 + 1)
	case fdYear:
		return integer(year)
	case fdDecade:
		return integer(year / 10)
	case fdCentury:
		return integer(year / 100)
	case fdMillennium:
		return integer(year / 1000)
	case fdEpoch:
		// Years have 365.25 days here and months 30.
		quarterDays := year*1461 + mon*120 + int64(iv.Days)*4
		secs := NewDecimal(quarterDays*(86400/4), 0)
		return secs.Add(NewDecimal(iv.Micros, 6)), true
	}
	return extractTime(f, iv.Micros)
}
