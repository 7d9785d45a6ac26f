package expr

import (
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func fromCharFuncs(r *registry) {
	r.add(fn2(func(c *callCtx, s, f []byte) (int64, error) {
		p, err := readByTemplate(c, s, f)
		if err != nil {
			return 0, err
		}
		return p.date()
	}), "to_date")
	r.add(fn2(func(c *callCtx, s, f []byte) (int64, error) {
		p, err := readByTemplate(c, s, f)
		if err != nil {
			return 0, err
		}
		return p.timestamp(c.zone())
	}), "to_timestamp")
}

func readByTemplate(c *callCtx, s, f []byte) (*dateInput, error) {
	nodes, err := dateTemplate(c, f)
	if err != nil {
		return nil, err
	}
	return parseByTemplate(string(s), nodes, false)
}

// first runs the steps until one fails.
func first(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

var (
	amPmNames     = []string{"am", "pm"}
	amPmDots      = []string{"a.m.", "p.m."}
	adBcNames     = []string{"ad", "bc"}
	adBcDots      = []string{"a.d.", "b.c."}
	romansFromXII = []string{"XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I"}
)

// field reads the field of the current node.
func (p *dateInput) field() error {
	named := func(dest *int, names []string, short bool, value func(i int) int) error {
		i, err := p.word(names, short)
		if err != nil {
			return err
		}
		return p.set(dest, value(i))
	}
	same := func(i int) int { return i }
	next := func(i int) int { return i + 1 }
	switch n := p.node; n.key {
	case keyADBC:
		return named(&p.bc, adBcNames, false, same)
	case keyADBCDots:
		return named(&p.bc, adBcDots, false, same)
	case keyAMPM:
		p.clock12 = true
		return named(&p.pm, amPmNames, false, same)
	case keyAMPMDots:
		p.clock12 = true
		return named(&p.pm, amPmDots, false, same)
	case keyMonth, keyMon:
		return named(&p.month, monthNames, n.key == keyMon, next)
	case keyDay, keyDy:
		// The first day is 0 while it is compared with an earlier field.
		err := named(&p.wday, dayNames, n.key == keyDy, same)
		p.wday++
		return err
	case keyRM:
		return named(&p.month, romansFromXII, false, func(i int) int { return 12 - i })
	case keyTZ, keyOF:
		return sqlerr.New(sqlerr.FeatureNotSupported, `formatting field "%s" is only supported in to_char`, n.text)
	case keyYcYYY:
		return p.commaYear()
	case keyTZH, keyTZM:
		return p.zoneField()
	case keyMS, keyUS, keyFF:
		return p.fractionField()
	case keyYYYY, keyIYYY, keyYYY, keyIYY, keyYY, keyIY, keyY, keyI:
		return p.yearField()
	case keyID:
		_, err := p.integer(&p.wday, 1)
		if p.wday++; p.wday > 7 {
			p.wday = 1
		}
		return err
	case keyQ:
		var ignored int
		_, err := p.number(&ignored, 1)
		return err
	}
	return p.plainField()
}

// plainField reads a number that means what it says.
func (p *dateInput) plainField() error {
	width := fieldWidth[p.node.key]
	var dest *int
	switch p.node.key {
	case keyHH12:
		p.clock12 = true
		dest = &p.hour
	case keyHH24:
		dest = &p.hour
	case keyMI:
		dest = &p.minute
	case keySS:
		dest = &p.sec
	case keySSSS:
		dest, width = &p.ofDay, len(p.node.text)
	case keyMM:
		dest = &p.month
	case keyDDD, keyIDDD:
		dest = &p.yday
	case keyDD:
		dest = &p.day
	case keyD:
		dest = &p.wday
	case keyWW, keyIW:
		dest = &p.week
	case keyCC:
		dest = &p.century
	case keyW:
		dest = &p.weekOfMonth
	case keyJ:
		dest = &p.julian
	}
	_, err := p.number(dest, width)
	return err
}

func (p *dateInput) zoneField() error {
	if p.node.key == keyTZM {
		if p.zoneSign == 0 {
			p.zoneSign = 1
		}
		_, err := p.integer(&p.zoneMin, 2)
		return err
	}
	switch at := len(p.whole) - len(p.s); {
	case p.s[0] == '+' || p.s[0] == '-' || p.s[0] == ' ':
		p.zoneSign = 1
		if p.s[0] == '-' {
			p.zoneSign = -1
		}
		p.s = p.s[1:]
	case p.skipped > 0 && at > 0 && p.whole[at-1] == '-': // taken for a separator
		p.zoneSign = -1
	default:
		p.zoneSign = 1
	}
	_, err := p.integer(&p.zoneHour, 2)
	return err
}

// fractionField reads digits of a second after the point.
func (p *dateInput) fractionField() error {
	dest, digits, limit := &p.micro, 6, 6
	switch p.node.key {
	case keyMS:
		dest, digits, limit = &p.milli, 3, 3
	case keyFF:
		limit = int(p.node.text[2] - '0')
		p.fraction = limit
	}
	n, err := p.integer(dest, limit)
	if p.node.th != 0 {
		p.drop()
		p.drop()
	}
	for ; n < digits; n++ {
		*dest *= 10
	}
	return err
}

func (p *dateInput) yearField() error {
	width := fieldWidth[p.node.key]
	n, err := p.integer(&p.year, width)
	if err != nil {
		return err
	}
	if p.yearDigits = width; width < 4 && n < 4 {
		p.year = nearYear(p.year)
	}
	if p.node.th != 0 {
		p.drop()
		p.drop()
	}
	return nil
}

// commaYear reads thousands, a comma and three digits.
func (p *dateInput) commaYear() error {
	thousands, used := leadingInt(p.s)
	rest := p.s[used:]
	tail, n := int64(0), 0
	if used > 0 && strings.HasPrefix(rest, ",") {
		rest = rest[1:]
		tail, n = leadingInt(rest[:min(3, len(rest))])
	}
	if n == 0 {
		return badDateTime(`invalid input string for "Y,YYY"`)
	}
	p.s = rest[n:]
	if err := p.set(&p.year, int(thousands*1000+tail)); err != nil {
		return err
	}
	p.yearDigits = 4
	if p.node.th != 0 {
		p.drop()
		p.drop()
	}
	return nil
}

// nearYear completes a year of up to three digits to the one nearest to 2020.
func nearYear(y int) int {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	case y < 520:
		return y + 2000
	case y < 1000:
		return y + 1000
	}
	return y
}

func (p *dateInput) outOfRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, `date/time field value out of range: "%s"`, p.whole)
}

// civilTime is the date and time that the fields make; year 0 is 1 BC.
type civilTime struct {
	year, month, day  int
	hour, minute, sec int
	micros            int
}

// resolve makes a date and time of the fields, as far as they were given, and
// checks those.
func (p *dateInput) resolve() (civilTime, error) {
	t := civilTime{month: 1, day: 1}
	err := first(func() error { return p.clock(&t) }, func() error { return p.calendarDay(&t) }, func() error {
		if t.hour < 0 || t.hour > 23 || t.minute < 0 || t.minute > 59 || t.sec < 0 || t.sec > 59 || t.micros < 0 || t.micros >= 1e6 {
			return p.outOfRange()
		}
		if p.zoneSign != 0 && (p.zoneHour < 0 || p.zoneHour > 15 || p.zoneMin < 0 || p.zoneMin > 59) {
			return sqlerr.New(sqlerr.InvalidTimeZoneDisplacement, `time zone displacement out of range: "%s"`, p.whole)
		}
		return nil
	})
	return t, err
}

func (p *dateInput) clock(t *civilTime) error {
	t.hour, t.minute, t.sec = p.ofDay/3600, p.ofDay/60%60, p.ofDay%60
	for _, f := range []struct{ to, given *int }{{&t.hour, &p.hour}, {&t.minute, &p.minute}, {&t.sec, &p.sec}} {
		if *f.given != 0 {
			*f.to = *f.given
		}
	}
	t.micros = p.milli*1000 + p.micro
	if !p.clock12 {
		return nil
	}
	if t.hour < 1 || t.hour > 12 {
		return badDateTime(`hour "%d" is invalid for the 12-hour clock`, t.hour).
			WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
	}
	t.hour %= 12
	if p.pm != 0 {
		t.hour += 12
	}
	return nil
}

// fullYear joins year, century and era; ok is false when neither year nor century
// was given.
func (p *dateInput) fullYear() (year int, ok bool) {
	century := p.century
	if p.bc != 0 {
		century = -century
	}
	switch {
	case p.year != 0 && century != 0 && p.yearDigits <= 2:
		switch year = p.year % 100; {
		case year == 0 && century >= 0:
			year = century * 100
		case year == 0:
			year = century*100 + 1
		case century >= 0:
			year += (century - 1) * 100
		default:
			year = (century+1)*100 - year + 1
		}
		return year, true
	case p.year != 0:
		if year = p.year; p.bc != 0 {
			year = -year
		}
		if year < 0 {
			year++
		}
		return year, true
	case century > 0:
		return (century-1)*100 + 1, true
	case century < 0:
		return century*100 + 1, true
	}
	return 0, false
}

func (p *dateInput) calendarDay(t *civilTime) error {
	var monthSet, daySet bool
	year, yearSet := p.fullYear()
	t.year = year
	whole := func(days int64) {
		t.year, t.month, t.day = types.CivilOf(days)
		yearSet, monthSet, daySet = true, true, true
	}
	if p.julian != 0 {
		whole(int64(p.julian) - 2451545)
	}
	yday := p.yday
	if p.week != 0 {
		if p.calendar == 'w' {
			day := 0
			if p.wday != 0 {
				day = (p.wday + 5) % 7 // from Monday
			}
			whole(isoMonday(t.year) + int64((p.week-1)*7+day))
		} else {
			yday = (p.week-1)*7 + 1
		}
	}
	day := p.day
	if p.weekOfMonth != 0 {
		day = (p.weekOfMonth-1)*7 + 1
	}
	if day != 0 {
		t.day, daySet = day, true
	}
	if p.month != 0 {
		t.month, monthSet = p.month, true
	}
	if yday != 0 && (t.month <= 1 || t.day <= 1) {
		if t.year == 0 && p.bc == 0 {
			return badDateTime("cannot calculate day of year without year information")
		}
		if p.calendar == 'w' {
			whole(isoMonday(t.year) + int64(yday) - 1)
		} else {
			p.dayOfYear(t, yday)
			monthSet, daySet = true, true
		}
	}
	switch {
	case monthSet && (t.month < 1 || t.month > 12), daySet && (t.day < 1 || t.day > 31),
		yearSet && monthSet && daySet && t.day > types.DaysIn(t.year, t.month):
		return p.outOfRange()
	}
	return nil
}

// dayOfYear sets month and day, as far as they are not beyond the first, from the
// number of a day; one after the year's end gives a month that is out of range.
func (p *dateInput) dayOfYear(t *civilTime, yday int) {
	month, before := 1, 0
	for month <= 12 && yday > before+types.DaysIn(t.year, month) {
		before += types.DaysIn(t.year, month)
		month++
	}
	if t.month <= 1 {
		t.month = month
	}
	if t.day <= 1 {
		t.day = yday - before
	}
}

// isoMonday is the day on which an ISO year begins, counted from 2000-01-01.
func isoMonday(year int) int64 {
	jan4 := types.DaysOf(year, 1, 4)
	return jan4 - ((jan4+5)%7+7)%7 // 2000-01-01 was a Saturday
}

// roundMicros rounds to the given number of digits of a second; 0 keeps all.
func roundMicros(ts int64, digits int) int64 {
	unit := int64(1)
	for k := digits; k > 0 && k < 6; k++ {
		unit *= 10
	}
	if ts < 0 {
		return -((-ts + unit/2) / unit * unit)
	}
	return (ts + unit/2) / unit * unit
}

// zone is the offset given, in seconds east.
func (p *dateInput) zone() int { return p.zoneSign * (p.zoneHour*3600 + p.zoneMin*60) }

// date is the day of the fields.
func (p *dateInput) date() (int64, error) {
	t, err := p.resolve()
	if err != nil {
		return 0, err
	}
	d, ok := types.DateOf(t.year, t.month, t.day)
	if !ok {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, `date out of range: "%s"`, p.whole)
	}
	return d, nil
}

// local is the time of the fields without regard to a zone.
func (p *dateInput) local() (int64, error) {
	t, err := p.resolve()
	if err != nil {
		return 0, err
	}
	ts, ok := types.CivilTimestamp(t.year, t.month, t.day, int64(t.hour*3600+t.minute*60+t.sec)*1e6+int64(t.micros))
	if !ok {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, "timestamp out of range")
	}
	return roundMicros(ts, p.fraction), nil
}

func (p *dateInput) timestamp(loc *time.Location) (int64, error) {
	ts, err := p.local()
	if err != nil {
		return 0, err
	}
	if p.zoneSign != 0 {
		return ts - int64(p.zone())*1e6, nil
	}
	return types.TimestampToTimestamptz(ts, loc)
}
