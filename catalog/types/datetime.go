package types

import (
	"encoding/binary"

	"kvsqld/catalog/sqlerr"
)

func parseDate(s string, o *FmtOpts) (int64, error) {
	if days, micros, _, _, ok := isoTimestamp(s); ok && micros < 0 {
		return days, nil
	}
	p := dtParser{o: o}
	if f := p.parse(s); f != faultNone {
		return 0, p.errorOf(f, s, "date")
	}
	switch p.special {
	case specialNow:
		return TimestampToDate(TimestamptzToTimestamp(o.now(), o.loc())), nil
	case specialEpoch:
		return unixEpochDays, nil
	case specialBegin:
		return DateNoBegin, nil
	case specialEnd:
		return DateNoEnd, nil
	}
	if p.mask&hasDate != hasDate {
		return 0, dtError(faultFormat, s, "date")
	}
	days, ok := p.days()
	if !ok || days < minDate || days >= endDate {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, `date out of range: "%s"`, s)
	}
	return days, nil
}

// days is the date as days since 2000-01-01; ok is false for years that no
// type can hold.
func (p *dtParser) days() (int64, bool) {
	if p.year > maxYear || p.year < minYear {
		return 0, false
	}
	return daysFromCivil(p.year, p.month, p.day), true
}

func parseTimestamp(s string, o *FmtOpts) (int64, error) {
	if days, micros, _, _, ok := isoTimestamp(s); ok {
		if ts, ok := makeTimestamp(days, max(micros, 0)); ok {
			return ts, nil
		}
	}
	return parseAnyTimestamp(s, "timestamp", false, o)
}

func parseTimestamptz(s string, o *FmtOpts) (int64, error) {
	if days, micros, east, zoned, ok := isoTimestamp(s); ok {
		micros = max(micros, 0)
		if !zoned {
			east = offsetAtLocal(days*86400+micros/usecPerSec, o.loc())
		}
		if ts, ok := makeTimestamp(days, micros); ok {
			if ts -= int64(east) * usecPerSec; validTimestamp(ts) {
				return ts, nil
			}
		}
	}
	return parseAnyTimestamp(s, "timestamp with time zone", true, o)
}

func parseAnyTimestamp(s, typ string, zoned bool, o *FmtOpts) (int64, error) {
	p := dtParser{o: o}
	if f := p.parse(s); f != faultNone {
		return 0, p.errorOf(f, s, typ)
	}
	switch p.special {
	case specialNow:
		if zoned {
			return o.now(), nil
		}
		return TimestamptzToTimestamp(o.now(), o.loc()), nil
	case specialEpoch:
		return unixEpochDays * usecPerDay, nil
	case specialBegin:
		return NoBegin, nil
	case specialEnd:
		return NoEnd, nil
	}
	if p.mask&hasDate != hasDate {
		return 0, dtError(faultFormat, s, typ)
	}
	days, ok := p.days()
	var ts int64
	if ok {
		ts, ok = joinTimestamp(days, p.timeOfDay())
	}
	if ok && zoned {
		ts -= int64(p.east(days)) * usecPerSec
	}
	if !ok || !validTimestamp(ts) {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, `timestamp out of range: "%s"`, s)
	}
	return ts, nil
}

// isoTimestamp reads exactly YYYY-MM-DD, optionally followed by a blank or T,
// HH:MM:SS with up to six fractional digits, and ±HH[:MM] or Z. micros is -1
// without a time. Everything else, and every doubtful value, is not ok.
func isoTimestamp(s string) (days, micros int64, east int, zoned, ok bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return
	}
	y1, a := digits2(s[0:])
	y2, b := digits2(s[2:])
	m, c := digits2(s[5:])
	d, e := digits2(s[8:])
	y := y1*100 + y2
	if !(a && b && c && e) || y == 0 || m < 1 || m > 12 || d < 1 || d > 28 && d > daysIn(y, m) {
		return
	}
	days = daysFromCivil(y, m, d)
	if len(s) == 10 {
		return days, -1, 0, false, true
	}
	if len(s) < 19 || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return
	}
	h, a := digits2(s[11:])
	mi, b := digits2(s[14:])
	sec, c := digits2(s[17:])
	if !(a && b && c) || h > 23 || mi > 59 || sec > 59 {
		return
	}
	micros = int64(h)*usecPerHour + int64(mi)*usecPerMin + int64(sec)*usecPerSec
	i := 19
	if i < len(s) && s[i] == '.' {
		unit := int64(100000)
		for i++; i < len(s) && isDigit(s[i]); i++ {
			if unit == 0 {
				return
			}
			micros += int64(s[i]-'0') * unit
			unit /= 10
		}
	}
	switch rest := s[i:]; {
	case rest == "":
		return days, micros, 0, false, true
	case rest == "Z":
		return days, micros, 0, true, true
	case rest[0] == '+' || rest[0] == '-':
		if len(rest) != 3 && (len(rest) != 6 || rest[3] != ':') {
			return
		}
		off, f := decodeOffset(rest)
		return days, micros, off, true, f == faultNone
	}
	return
}

func digits2(s string) (int, bool) {
	a, b := s[0]-'0', s[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

func (p *dtParser) parseClock(s, typ string) error {
	p.timeOnly = true
	if f := p.parse(s); f != faultNone {
		return p.errorOf(f, s, typ)
	}
	if p.special == specialNow {
		return nil
	}
	// A lone time wants seconds with their fraction where units name the parts.
	// With a date it is a whole one.
	if p.special != specialNone || p.mask&hasTime == 0 || p.secondsOnly || p.mask&hasDate != 0 && p.mask&hasDate != hasDate {
		return dtError(faultFormat, s, typ)
	}
	return nil
}

func parseTime(s string, o *FmtOpts) (int64, error) {
	p := dtParser{o: o}
	if err := p.parseClock(s, "time"); err != nil {
		return 0, err
	}
	if p.special == specialNow {
		return TimestampTime(TimestamptzToTimestamp(o.now(), o.loc())), nil
	}
	if p.zone != nil && p.mask&hasDate != hasDate {
		if !fixedOffset(p.zone) {
			return 0, dtError(faultFormat, s, "time")
		}
	}
	if t := p.timeOfDay(); t <= usecPerDay {
		return t, nil
	}
	return 0, dtError(faultField, s, "time")
}

func parseTimetz(t T, s string, o *FmtOpts) (Datum, error) {
	const typ = "time with time zone"
	p := dtParser{o: o}
	if err := p.parseClock(s, typ); err != nil {
		return Datum{}, err
	}
	local := TimestamptzToTimestamp(o.now(), o.loc())
	if p.special == specialNow {
		off, _ := zoneAt(o.now(), o.loc())
		d := Timetz(TimestampTime(local), int32(-off))
		d.T = t
		return d, nil
	}
	days := floorDiv(local, usecPerDay)
	if p.mask&hasDate == hasDate {
		var ok bool
		if days, ok = p.days(); !ok {
			return Datum{}, dtError(faultField, s, typ)
		}
	} else if p.zone != nil {
		if !fixedOffset(p.zone) {
			return Datum{}, dtError(faultFormat, s, typ)
		}
	}
	micros := p.timeOfDay()
	if micros > usecPerDay {
		return Datum{}, dtError(faultField, s, typ)
	}
	d := Timetz(micros, int32(-p.east(days)))
	d.T = t
	return d, nil
}

// Timetz makes a time with time zone; zone is in seconds west of Greenwich.
func Timetz(micros int64, zone int32) Datum {
	b := make([]byte, 12)
	binary.BigEndian.PutUint64(b, uint64(micros))
	binary.BigEndian.PutUint32(b[8:], uint32(zone))
	return Datum{T: TTimetz, B: b}
}

// TimetzParts takes a time with time zone apart; zone is in seconds west.
func TimetzParts(d Datum) (micros int64, zone int32) { return timetzParts(d.B) }

func timetzParts(b []byte) (micros int64, zone int32) {
	if len(b) != 12 {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(b)), int32(binary.BigEndian.Uint32(b[8:]))
}
