package types

import "strconv"

var (
	monthNames   = [...]string{"", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
	weekdayNames = [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
)

func append2(buf []byte, v int) []byte { return append(buf, byte('0'+v/10%10), byte('0'+v%10)) }

// appendYear appends a year with at least four digits, without the era.
func appendYear(buf []byte, y int) []byte {
	if y <= 0 {
		y = 1 - y
	}
	if y < 10000 {
		return append2(append2(buf, y/100), y%100)
	}
	return strconv.AppendInt(buf, int64(y), 10)
}

func appendEra(buf []byte, y int) []byte {
	if y <= 0 {
		return append(buf, " BC"...)
	}
	return buf
}

// AppendDate appends a date (days since 2000-01-01).
func AppendDate(buf []byte, d int64, o *FmtOpts) []byte {
	switch d {
	case DateNoBegin:
		return append(buf, "-infinity"...)
	case DateNoEnd:
		return append(buf, "infinity"...)
	}
	y, m, day := civilFromDays(d)
	return appendEra(appendCivil(buf, y, m, day, o), y)
}

func appendCivil(buf []byte, y, m, day int, o *FmtOpts) []byte {
	sep := byte('-')
	switch o.DateStyle {
	case DateISO:
		buf = append(appendYear(buf, y), '-')
		buf = append(append2(buf, m), '-')
		return append2(buf, day)
	case DateSQL:
		sep = '/'
	case DateGerman:
		sep = '.'
	}
	first, second := m, day
	if o.DateOrder == OrderDMY || o.DateStyle == DateGerman {
		first, second = day, m
	}
	buf = append(append2(buf, first), sep)
	buf = append(append2(buf, second), sep)
	return appendYear(buf, y)
}

// appendTime appends a time of day in microseconds.
func appendTime(buf []byte, t int64) []byte {
	h, m, s, us := clock(t)
	buf = append(append2(buf, h), ':')
	buf = append(append2(buf, m), ':')
	return appendFraction(append2(buf, s), us)
}

// appendFraction appends .ffffff without trailing zeros.
func appendFraction(buf []byte, us int64) []byte {
	if us == 0 {
		return buf
	}
	buf = append(buf, '.')
	for unit := int64(100000); us > 0; unit /= 10 {
		buf = append(buf, byte('0'+us/unit))
		us %= unit
	}
	return buf
}

// appendOffset appends ±hh[:mm[:ss]] of an offset in seconds east. The hours have
// three digits in a POSIX zone of more than 99.
func appendOffset(buf []byte, east int) []byte {
	sign := byte('+')
	if east < 0 {
		sign, east = '-', -east
	}
	buf = append(buf, sign)
	if east >= 100*3600 {
		buf = append(buf, byte('0'+east/3600/100))
	}
	buf = append2(buf, east/3600%100)
	if east%3600 != 0 {
		buf = append2(append(buf, ':'), east/60%60)
		if east%60 != 0 {
			buf = append2(append(buf, ':'), east%60)
		}
	}
	return buf
}

func appendTimetz(buf []byte, d Datum) []byte {
	micros, zone := TimetzParts(d)
	return appendOffset(appendTime(buf, micros), int(-zone))
}

// AppendTimestamp appends a timestamp (microseconds since 2000-01-01 00:00).
func AppendTimestamp(buf []byte, ts int64, o *FmtOpts) []byte {
	return appendTimestamp(buf, ts, o, false, 0, "")
}

// AppendTimestamptz appends an instant in the session's zone.
func AppendTimestamptz(buf []byte, ts int64, o *FmtOpts) []byte {
	if ts == NoBegin || ts == NoEnd {
		return appendTimestamp(buf, ts, o, false, 0, "")
	}
	east, abbrev := zoneAt(ts, o.loc())
	return appendTimestamp(buf, ts+int64(east)*usecPerSec, o, true, east, abbrev)
}

func appendTimestamp(buf []byte, ts int64, o *FmtOpts, zoned bool, east int, abbrev string) []byte {
	switch ts {
	case NoBegin:
		return append(buf, "-infinity"...)
	case NoEnd:
		return append(buf, "infinity"...)
	}
	days, micros := splitTimestamp(ts)
	y, m, d := civilFromDays(days)
	if o.DateStyle == DatePostgres {
		buf = append(append(buf, weekdayNames[weekday(days)]...), ' ')
		if o.DateOrder == OrderDMY {
			buf = append(append2(buf, d), ' ')
			buf = append(buf, monthNames[m]...)
		} else {
			buf = append(append(buf, monthNames[m]...), ' ')
			buf = append2(buf, d)
		}
		buf = appendTime(append(buf, ' '), micros)
		buf = appendYear(append(buf, ' '), y)
	} else {
		buf = appendTime(append(appendCivil(buf, y, m, d, o), ' '), micros)
	}
	if zoned {
		switch {
		case o.DateStyle == DateISO:
			buf = appendOffset(buf, east)
		case abbrev != "":
			buf = append(append(buf, ' '), abbrev...)
		case o.DateStyle == DatePostgres:
			buf = appendOffset(append(buf, ' '), east)
		default:
			buf = appendOffset(buf, east)
		}
	}
	return appendEra(buf, y)
}
