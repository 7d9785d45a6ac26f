package types

// DaysIn is the number of days of a month 1 … 12; year 0 is 1 BC.
func DaysIn(year, month int) int { return daysIn(year, month) }

// DaysOf returns the days since 2000-01-01 of a day of the proleptic Gregorian
// calendar; year 0 is 1 BC. Days beyond the month's go on into the next.
func DaysOf(year, month, day int) int64 { return daysFromCivil(year, month, day) }

// CivilOf is the inverse of DaysOf.
func CivilOf(days int64) (year, month, day int) { return civilFromDays(days) }

// DateOf is DaysOf for a value of type date; ok is false out of its range.
func DateOf(year, month, day int) (d int64, ok bool) {
	if year < minYear || year > maxYear {
		return 0, false
	}
	d = daysFromCivil(year, month, day)
	return d, d >= minDate && d < endDate
}

// CivilTimestamp joins a day and the microseconds into it; ok is false out of the
// range of timestamps.
func CivilTimestamp(year, month, day int, micros int64) (ts int64, ok bool) {
	d, ok := DateOf(year, month, day)
	if !ok {
		return 0, false
	}
	return makeTimestamp(d, micros)
}
