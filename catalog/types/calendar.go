package types

import (
	"math"
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
)

// Microseconds per unit.
const (
	usecPerSec  int64 = 1000000
	usecPerMin        = 60 * usecPerSec
	usecPerHour       = 60 * usecPerMin
	usecPerDay        = 24 * usecPerHour
)

// The infinities of timestamps and dates.
const (
	NoBegin     int64 = math.MinInt64
	NoEnd       int64 = math.MaxInt64
	DateNoBegin int64 = math.MinInt32
	DateNoEnd   int64 = math.MaxInt32
)

const (
	epochJulian   = 2451545 // Julian day of 2000-01-01
	unixEpochDays = -10957  // days from 2000-01-01 to 1970-01-01
	unixEpochSecs = 946684800

	minTimestamp int64 = -211813488000000000       // 4714-11-24 BC
	endTimestamp int64 = 9223371331200000000       // 294277-01-01, excluded
	minDate      int64 = -epochJulian              // 4714-11-24 BC
	endDate      int64 = 2147483494 - epochJulian  // 5874898-01-01, excluded
	endTSDate    int64 = endTimestamp / usecPerDay // first day too late for a timestamp
	maxYear            = 5874898                   // beyond every range
	minYear            = -4713                     // 4714 BC
)

var monthDays = [2][13]int{
	{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
	{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31},
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

// daysIn is the number of days of a month 1 … 12; year 0 is 1 BC.
func daysIn(y, m int) int {
	if isLeap(y) {
		return monthDays[1][m]
	}
	return monthDays[0][m]
}

// daysFromCivil returns days since 2000-01-01 of a proleptic Gregorian date;
// year 0 is 1 BC and the month may be any number 1 … 12.
func daysFromCivil(y, m, d int) int64 {
	// Years counted from March, so that the leap day is a year's last.
	yy := int64(y)
	if m <= 2 {
		yy--
	}
	era := floorDiv(yy, 400)
	yoe := yy - era*400
	mp := int64(m+9) % 12
	doy := (153*mp+2)/5 + int64(d) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 730425 // days from 0000-03-01 to 2000-01-01
}

// civilFromDays is the inverse of daysFromCivil.
func civilFromDays(days int64) (y, m, d int) {
	z := days + 730425
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp) + 3
	if m > 12 {
		m -= 12
	}
	yy := yoe + era*400
	if m <= 2 {
		yy++
	}
	return int(yy), m, d
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// splitTimestamp returns the day and the microseconds into it.
func splitTimestamp(ts int64) (days, micros int64) {
	days = floorDiv(ts, usecPerDay)
	return days, ts - days*usecPerDay
}

// weekday is 0 for Sunday.
func weekday(days int64) int { return int(((days+6)%7 + 7) % 7) }

// clock splits microseconds of a day.
func clock(micros int64) (h, m, s int, us int64) {
	return int(micros / usecPerHour), int(micros / usecPerMin % 60), int(micros / usecPerSec % 60), micros % usecPerSec
}

func validTimestamp(ts int64) bool { return ts >= minTimestamp && ts < endTimestamp }

func errTimestampRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
}

func errDateRange() error { return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range") }

// makeTimestamp joins a day and microseconds; ok is false out of range.
func makeTimestamp(days, micros int64) (int64, bool) {
	ts, ok := joinTimestamp(days, micros)
	return ts, ok && validTimestamp(ts)
}

// joinTimestamp is makeTimestamp for local times, which a zone's offset may yet
// bring into the range.
func joinTimestamp(days, micros int64) (int64, bool) {
	if days < minDate-1 || days > endTSDate {
		return 0, false
	}
	if days < 0 { // keep the product in range at the lower end
		days++
		micros -= usecPerDay
	}
	return days*usecPerDay + micros, true
}

// TimestampFromTime converts a standard library time to microseconds since
// 2000-01-01 UTC, rounding down.
func TimestampFromTime(t time.Time) int64 { return t.UnixMicro() - unixEpochSecs*usecPerSec }

// TimeOfTimestamp converts a finite timestamp to a standard library time in UTC.
func TimeOfTimestamp(ts int64) time.Time {
	sec := floorDiv(ts, usecPerSec)
	return time.Unix(sec+unixEpochSecs, (ts-sec*usecPerSec)*1000).UTC()
}

// zoneAt returns the offset in seconds east of Greenwich and the abbreviation
// that loc has at a finite UTC timestamp.
func zoneAt(ts int64, loc *time.Location) (offset int, abbrev string) {
	if loc == time.UTC {
		return 0, "UTC"
	}
	abbrev, offset = TimeOfTimestamp(ts).In(loc).Zone()
	return offset, shortAbbrev(abbrev)
}

// shortAbbrev takes the abbreviation out of the name of a zone with a constant
// offset, which standard library locations use as both: <+02>-02 is +02, UTC-3 is UTC.
func shortAbbrev(name string) string {
	if rest, ok := strings.CutPrefix(name, "<"); ok {
		inner, _, _ := strings.Cut(rest, ">")
		return inner
	}
	if name != "" && isAlpha(name[0]) {
		if i := strings.IndexAny(name, "+-0123456789"); i > 0 {
			return name[:i]
		}
	}
	return name
}

// offsetAtLocal returns the offset that loc has at a local time given as
// seconds since 2000-01-01. A time skipped by a transition is read with the
// offset before it, a repeated one with the offset after it.
func offsetAtLocal(local int64, loc *time.Location) int {
	if loc == time.UTC {
		return 0
	}
	sec := local + unixEpochSecs
	prev := time.Unix(sec-86400, 0).In(loc)
	_, before := prev.Zone()
	_, end := prev.ZoneBounds()
	if end.IsZero() {
		return before
	}
	boundary := end.Unix()
	_, after := end.In(loc).Zone()
	tb, ta := sec-int64(before), sec-int64(after)
	switch {
	case tb < boundary && ta < boundary:
		return before
	case tb > boundary && ta >= boundary:
		return after
	case tb > ta:
		return before
	}
	return after
}

// DateToTimestamp is a date's midnight; 22008 out of range.
func DateToTimestamp(d int64) (int64, error) {
	switch {
	case d == DateNoBegin:
		return NoBegin, nil
	case d == DateNoEnd:
		return NoEnd, nil
	case d >= endTSDate || d < minDate:
		return 0, errDateTimestamp()
	}
	return d * usecPerDay, nil
}

// DateToTimestamptz is a date's midnight in loc; 22008 out of range.
func DateToTimestamptz(d int64, loc *time.Location) (int64, error) {
	ts, err := DateToTimestamp(d)
	if err != nil {
		return 0, err
	}
	if ts, err = TimestampToTimestamptz(ts, loc); err != nil {
		return 0, errDateTimestamp()
	}
	return ts, nil
}

func errDateTimestamp() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "date out of range for timestamp")
}

// TimestampToDate is the day of a timestamp.
func TimestampToDate(ts int64) int64 {
	switch ts {
	case NoBegin:
		return DateNoBegin
	case NoEnd:
		return DateNoEnd
	}
	return floorDiv(ts, usecPerDay)
}

// TimestampToTimestamptz reads a timestamp as local time of loc.
func TimestampToTimestamptz(ts int64, loc *time.Location) (int64, error) {
	if ts == NoBegin || ts == NoEnd {
		return ts, nil
	}
	r := ts - int64(offsetAtLocal(floorDiv(ts, usecPerSec), loc))*usecPerSec
	if !validTimestamp(r) {
		return 0, errTimestampRange()
	}
	return r, nil
}

// TimestamptzToTimestamp is the local time of loc at an instant.
func TimestamptzToTimestamp(ts int64, loc *time.Location) int64 {
	if ts == NoBegin || ts == NoEnd {
		return ts
	}
	off, _ := zoneAt(ts, loc)
	return ts + int64(off)*usecPerSec
}

// TimestampTime is the time of day of a finite timestamp in microseconds.
func TimestampTime(ts int64) int64 {
	_, micros := splitTimestamp(ts)
	return micros
}
