package types

import "time"

// word reads a field of letters.
func (p *dtParser) word(s string, rest []dtField) fault {
	if a, ok := zoneAbbrevs[s]; ok {
		if p.mask&hasZone != 0 {
			return faultFormat
		}
		p.abbrev = s
		p.offset = int(a.offset)
		return p.set(hasZone)
	}
	w, ok := dtWords[s]
	if !ok {
		w, ok = wordPrefix(s)
	}
	if !ok {
		if f := p.zoneName(s); f != faultNone {
			return faultFormat
		}
		return faultNone
	}
	switch w.kind {
	case wordMonth, wordDay:
		if p.timeOnly { // a time may follow a whole date, but not its words
			return faultFormat
		}
		if w.kind == wordDay {
			return p.set(hasWeekday)
		}
		return p.monthWord(w.value)
	case wordNow:
		p.special = specialNow
		return p.set(hasDate | hasTime | hasZone)
	case wordToday, wordTomorrow, wordYesterday:
		return p.relativeDay(w.kind)
	case wordEpoch:
		p.special = specialEpoch
		return p.set(hasDate | hasTime | hasZone)
	case wordInfinity:
		p.special = specialEnd
		return p.set(hasDate | hasTime | hasZone)
	case wordMinusInfinity:
		p.special = specialBegin
		return p.set(hasDate | hasTime | hasZone)
	case wordAllballs:
		p.hour, p.min, p.sec, p.micros, p.offset = 0, 0, 0, 0, 0
		return p.set(hasTime | hasZone)
	case wordAMPM:
		p.ampm = w.value
		return p.set(hasAMPM)
	case wordEra:
		p.bc = w.value == 1
		return p.set(hasEra)
	case wordIgnore:
		return faultNone
	case wordDST:
		p.dst = true
		if p.mask&hasZone == 0 {
			return faultFormat
		}
		return faultNone
	case wordISOTime:
		if p.mask&hasDate != hasDate && !p.timeOnly {
			return faultFormat
		}
		if len(rest) == 0 || rest[0].kind != fieldNumber && rest[0].kind != fieldTime && rest[0].kind != fieldDate {
			return faultFormat
		}
	}
	if p.havePending {
		return faultFormat
	}
	p.havePending, p.pending, p.pendingUnit = true, w.kind, w.value
	return faultNone
}

// wordPrefix accepts words that only their first ten letters distinguish.
func wordPrefix(s string) (dtWord, bool) {
	if len(s) <= 10 {
		return dtWord{}, false
	}
	w, ok := dtWords[s[:10]]
	return w, ok
}

// monthWord takes a month name. When a number was taken for the month before,
// that was the day: 08 Jan 1999.
func (p *dtParser) monthWord(month int) fault {
	if p.mask&hasMonth != 0 && !p.textMonth && p.mask&hasDay == 0 && p.month >= 1 && p.month <= 31 {
		p.day = p.month
		p.mask |= hasDay
		p.mask &^= hasMonth
	}
	p.textMonth = true
	p.month = month
	return p.set(hasMonth)
}

func (p *dtParser) relativeDay(k wordKind) fault {
	local := TimestamptzToTimestamp(p.o.now(), p.o.loc())
	days := floorDiv(local, usecPerDay)
	switch k {
	case wordTomorrow:
		days++
	case wordYesterday:
		days--
	}
	p.year, p.month, p.day = civilFromDays(days)
	p.julian = true // the year is final
	return p.set(hasDate)
}

// finish checks the fields against each other and makes the year absolute.
func (p *dtParser) finish() fault {
	if p.special != specialNone {
		return faultNone
	}
	if p.mask&hasYear != 0 && !p.julian {
		switch {
		case p.bc:
			if p.year <= 0 {
				return faultField
			}
			p.year = -(p.year - 1)
		case p.twoDigits:
			if p.year < 70 {
				p.year += 2000
			} else if p.year < 100 {
				p.year += 1900
			}
		case p.year <= 0:
			return faultField
		}
	}
	if p.mask&hasDOY != 0 {
		p.year, p.month, p.day = civilFromDays(daysFromCivil(p.year, 1, 1) + int64(p.doy) - 1)
	}
	if p.mask&hasMonth != 0 && (p.month < 1 || p.month > 12) {
		return faultMonthDay
	}
	if p.mask&hasDay != 0 && (p.day < 1 || p.day > 31) {
		return faultMonthDay
	}
	if p.mask&hasDate == hasDate && p.day > daysIn(p.year, p.month) {
		return faultField
	}
	if p.ampm != 0 {
		if p.hour > 12 {
			return faultField
		}
		if p.ampm == am && p.hour == 12 {
			p.hour = 0
		} else if p.ampm == pm && p.hour != 12 {
			p.hour += 12
		}
	}
	if p.mask&hasTime != 0 && p.mask&hasHour == 0 {
		return faultFormat
	}
	if p.hour > 24 || p.min > 59 || p.sec > 60 || p.timeOfDay() > usecPerDay {
		return faultField
	}
	if p.dst && p.zone != nil {
		return faultFormat
	}
	return faultNone
}

// timeOfDay is the time in microseconds; it may be a whole day (24:00, 23:59:60).
func (p *dtParser) timeOfDay() int64 {
	return int64(p.hour)*usecPerHour + int64(p.min)*usecPerMin + int64(p.sec)*usecPerSec + p.micros
}

// east is the offset in seconds that the string's zone, or the session's, has
// at the local time of the fields.
func (p *dtParser) east(days int64) int {
	local := days*86400 + p.timeOfDay()/usecPerSec
	switch {
	case p.mask&hasZone == 0:
		return offsetAtLocal(local, p.o.loc())
	case p.zone != nil:
		return offsetAtLocal(local, p.zone)
	case p.abbrev != "":
		off := zoneAbbrevs[p.abbrev].abbrevOffset(p.abbrev, local)
		if p.dst {
			off += 3600
		}
		return off
	}
	return p.offset
}

// fixedOffset reports whether a zone has one offset at all times.
func fixedOffset(loc *time.Location) bool {
	start, end := time.Unix(0, 0).In(loc).ZoneBounds()
	return start.IsZero() && end.IsZero()
}
