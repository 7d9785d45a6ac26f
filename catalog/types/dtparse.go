package types

import (
	"math"
	"strconv"
	"strings"
	"time"

	"kvsqld/catalog/sqlerr"
)

// fault is why a date/time string was refused.
type fault uint8

const (
	faultNone     fault = iota
	faultFormat         // 22007
	faultField          // 22008
	faultMonthDay       // 22008 with the hint on DateStyle
	faultInterval       // 22015
	faultZone           // 22009
	faultZoneName       // 22023
)

// dtError makes the error of a fault in the input s of the named type.
func dtError(f fault, s, typ string) error {
	switch f {
	case faultField:
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, `date/time field value out of range: "%s"`, s)
	case faultMonthDay:
		return sqlerr.New(sqlerr.DatetimeFieldOverflow, `date/time field value out of range: "%s"`, s).
			WithHint(`Perhaps you need a different "datestyle" setting.`)
	case faultInterval:
		return sqlerr.New(sqlerr.IntervalFieldOverflow, `interval field value out of range: "%s"`, s)
	case faultZone:
		return sqlerr.New(sqlerr.InvalidTimeZoneDisplacement, `time zone displacement out of range: "%s"`, s)
	}
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, `invalid input syntax for type %s: "%s"`, typ, s)
}

// Bits of the fields that a string has given so far.
const (
	hasYear = 1 << iota
	hasMonth
	hasDay
	hasDOY
	hasHour
	hasMinute
	hasSecond
	hasZone
	hasWeekday
	hasEra
	hasAMPM

	hasDate = hasYear | hasMonth | hasDay
	hasTime = hasHour | hasMinute | hasSecond
)

// dtSpecial marks inputs that are not a calendar time.
type dtSpecial uint8

const (
	specialNone dtSpecial = iota
	specialNow
	specialEpoch
	specialBegin
	specialEnd
)

// dtParser collects the fields of one date/time string.
type dtParser struct {
	o             *FmtOpts
	mask          int
	year, month   int
	day, doy      int
	hour, min     int
	sec           int
	micros        int64
	bc, twoDigits bool
	julian        bool
	textMonth     bool
	ampm          int
	special       dtSpecial
	offset        int // seconds east, when hasZone and no zone or abbrev
	zone          *time.Location
	abbrev        string
	dst           bool
	badZone       string
	index         int      // of the field at hand
	pending       wordKind // unit word that says what the next number is
	pendingUnit   int
	havePending   bool
	timeOnly      bool
	secondsOnly   bool // seconds of a unit word without a fraction
}

func (p *dtParser) set(bits int) fault {
	if p.mask&bits != 0 {
		return faultFormat
	}
	p.mask |= bits
	return faultNone
}

// parse reads the fields of s.
func (p *dtParser) parse(s string) fault {
	var store [maxDTFields]dtField
	fields, ok := scanDateTime(s, store[:0])
	if !ok || len(fields) == 0 {
		return faultFormat
	}
	for i, f := range fields {
		p.index = i
		if err := p.field(f, fields[i+1:]); err != faultNone {
			return err
		}
	}
	if p.havePending {
		return faultFormat
	}
	return p.finish()
}

func (p *dtParser) field(f dtField, rest []dtField) fault {
	switch f.kind {
	case fieldDate:
		return p.dateField(f.text, rest)
	case fieldTime:
		if p.havePending {
			if p.pending != wordISOTime {
				return faultFormat
			}
			p.havePending = false
		}
		return p.timeField(f.text)
	case fieldZone:
		return p.zoneField(f.text)
	case fieldNumber:
		if p.havePending {
			return p.pendingNumber(f.text)
		}
		return p.number(f.text)
	}
	return p.word(f.text, rest)
}

// dateField reads a field that looks like a date; it may also be a zone name,
// or a time run together with a zone.
func (p *dtParser) dateField(s string, rest []dtField) fault {
	if p.havePending && p.pending == wordJulian {
		// Julian day with a zone: J2451545-08.
		n := skipDigits(s, 0)
		if n == 0 || n == len(s) {
			return faultFormat
		}
		if f := p.pendingNumber(s[:n]); f != faultNone {
			return f
		}
		return p.zoneField(s[n:])
	}
	if p.havePending || p.mask&(hasMonth|hasDay) == hasMonth|hasDay {
		if !isDigit(s[0]) {
			if p.havePending {
				return faultFormat
			}
			return p.zoneName(s)
		}
		if p.havePending && p.pending != wordISOTime {
			return faultFormat
		}
		p.havePending = false
		return p.timeWithZone(s)
	}
	if p.timeOnly && !(p.index == 0 && len(rest) > 0 && (rest[len(rest)-1].kind == fieldDate || rest[0].kind == fieldTime)) {
		if isDigit(s[0]) {
			return p.timeWithZone(s)
		}
		return p.zoneName(s)
	}
	return p.date(s)
}

// timeWithZone reads a time run together with a zone: hhmmss-zz.
func (p *dtParser) timeWithZone(s string) fault {
	at := strings.IndexByte(s, '-')
	if p.mask&hasTime == hasTime || at < 0 {
		return faultFormat
	}
	if f := p.zoneField(s[at:]); f != faultNone {
		return f
	}
	return p.runTogether(s[:at], true)
}

func (p *dtParser) zoneName(s string) fault {
	loc := namedZone(s)
	if loc == nil {
		p.badZone = s
		return faultZoneName
	}
	p.zone = loc
	return p.set(hasZone)
}

// date reads a date with delimiters.
func (p *dtParser) date(s string) fault {
	var parts [3]string
	n := 0
	for i := 0; i < len(s); {
		start := i
		switch {
		case isDigit(s[i]):
			i = skipDigits(s, i)
		case isAlpha(s[i]):
			for i < len(s) && isAlpha(s[i]) {
				i++
			}
		default:
			i++
			continue
		}
		if n == len(parts) {
			return faultFormat
		}
		parts[n] = s[start:i]
		n++
	}
	have := p.mask
	dmask := 0
	for i := range n {
		if !isAlpha(parts[i][0]) {
			continue
		}
		w, ok := dtWords[parts[i]]
		if !ok || w.kind != wordMonth && w.kind != wordDay {
			return faultFormat
		}
		parts[i] = ""
		if w.kind == wordDay {
			continue
		}
		if (have|dmask)&hasMonth != 0 {
			return faultFormat
		}
		p.month, p.textMonth = w.value, true
		dmask |= hasMonth
	}
	for i := range n {
		if parts[i] == "" {
			continue
		}
		got, f := p.dateNumber(parts[i], have|dmask)
		if f != faultNone {
			return f
		}
		if (have|dmask)&got&^hasYear != 0 {
			return faultFormat
		}
		dmask |= got
	}
	// A time or another field in front of the date is refused.
	if (have|dmask)&^(hasDOY|hasZone) != hasDate {
		return faultFormat
	}
	if p.mask&dmask != 0 {
		return faultFormat
	}
	p.mask |= dmask
	return faultNone
}

// dateNumber decides which field of the date a number is, from the fields
// known so far, and stores it.
func (p *dtParser) dateNumber(s string, mask int) (got int, f fault) {
	v, n := leadingInt(s)
	if n == 0 || v > math.MaxInt32 {
		return 0, faultField
	}
	if n != len(s) {
		return 0, faultFormat
	}
	if n == 3 && mask&hasDate == hasYear && v >= 1 && v <= 366 {
		p.doy = v
		p.month, p.day = 1, 1
		return hasDOY | hasMonth | hasDay, faultNone
	}
	got = hasDay
	switch mask & hasDate {
	case 0:
		switch {
		case n >= 3 || p.o.DateOrder == OrderYMD:
			got = hasYear
		case p.o.DateOrder != OrderDMY:
			got = hasMonth
		}
	case hasYear, hasDay:
		got = hasMonth
	case hasMonth:
		if p.textMonth && (n >= 3 || p.o.DateOrder == OrderYMD) {
			got = hasYear
		}
	case hasYear | hasMonth:
		if p.textMonth && n >= 3 && p.twoDigits {
			// The first number was the day after all: 08-Jan-1999.
			p.day, p.year, p.twoDigits = p.year, v, false
			return hasDay, faultNone
		}
	case hasMonth | hasDay:
		got = hasYear
	case hasYear | hasDay:
		got = hasMonth
	default:
		return 0, faultFormat
	}
	switch got {
	case hasYear:
		p.year, p.twoDigits = v, n <= 2
	case hasMonth:
		p.month = v
	default:
		p.day = v
	}
	return got, faultNone
}

// timeField reads hh:mm[:ss[.ffffff]].
func (p *dtParser) timeField(s string) fault {
	h, m, sec, micros, f := decodeTime(s)
	if f != faultNone {
		return f
	}
	p.hour, p.min, p.sec, p.micros = h, m, sec, micros
	return p.set(hasTime)
}

func decodeTime(s string) (h, m, sec int, micros int64, f fault) {
	h, n := leadingInt(s)
	if n == 0 || n == len(s) || s[n] != ':' {
		return 0, 0, 0, 0, faultFormat
	}
	s = s[n+1:]
	m, n = leadingInt(s) // empty minutes and seconds are 0
	s = s[n:]
	if s != "" {
		if s[0] == '.' { // mm:ss.fff
			h, m, sec = 0, h, m
			micros, f = fraction(s)
		} else {
			if s[0] != ':' {
				return 0, 0, 0, 0, faultFormat
			}
			s = s[1:]
			sec, n = leadingInt(s)
			if s = s[n:]; s != "" {
				micros, f = fraction(s)
			}
		}
		if f != faultNone {
			return 0, 0, 0, 0, f
		}
	}
	if m > 59 || sec > 60 {
		return 0, 0, 0, 0, faultField
	}
	return h, m, sec, micros, faultNone
}

// errorOf makes the error of a fault found in s.
func (p *dtParser) errorOf(f fault, s, typ string) error {
	if f == faultZoneName {
		return sqlerr.New(sqlerr.InvalidParameterValue, `time zone "%s" not recognized`, p.badZone)
	}
	return dtError(f, s, typ)
}

// fraction reads .ffffff as microseconds, rounded.
func fraction(s string) (int64, fault) {
	if s == "" || s[0] != '.' {
		return 0, faultFormat
	}
	if skipDigits(s, 1) != len(s) {
		return 0, faultFormat
	}
	if len(s) <= 7 {
		var v int64
		for i := 1; i < 7; i++ {
			v *= 10
			if i < len(s) {
				v += int64(s[i] - '0')
			}
		}
		return v, faultNone
	}
	v, err := strconv.ParseFloat("0"+s, 64)
	if err != nil {
		return 0, faultFormat
	}
	return int64(math.RoundToEven(v * 1e6)), faultNone
}

func (p *dtParser) zoneField(s string) fault {
	east, f := decodeOffset(s)
	if f != faultNone {
		return f
	}
	p.offset = east
	return p.set(hasZone)
}

// pendingNumber reads the number that a unit word announced.
func (p *dtParser) pendingNumber(s string) fault {
	p.havePending = false
	switch p.pending {
	case wordISOTime:
		return p.runTogether(s, true)
	case wordJulian:
		v, n := leadingInt(s)
		if n == 0 || v > math.MaxInt32 {
			return faultField
		}
		y, m, d := civilFromDays(int64(v) - epochJulian)
		p.year, p.month, p.day, p.julian = y, m, d, true
		if n < len(s) {
			us, err := strconv.ParseFloat("0"+s[n:], 64)
			if err != nil {
				return faultFormat
			}
			micros := int64(math.RoundToEven(us * float64(usecPerDay)))
			p.hour, p.min, p.sec, p.micros = clock(micros)
			if f := p.set(hasTime); f != faultNone {
				return f
			}
		}
		return p.set(hasDate)
	}
	// A unit before the number: y2001m02d04 and the like.
	v, n := leadingInt(s)
	if n == 0 || v > math.MaxInt32 {
		return faultField
	}
	if n < len(s) && p.pendingUnit != 's' {
		return faultFormat
	}
	switch p.pendingUnit {
	case 'y':
		p.year = v
		return p.set(hasYear)
	case 'm':
		// After hours, m is minutes.
		if p.mask&hasMonth != 0 && p.mask&hasHour != 0 {
			p.min = v
			return p.set(hasMinute)
		}
		p.month = v
		return p.set(hasMonth)
	case 'd':
		p.day = v
		return p.set(hasDay)
	case 'h':
		p.hour = v
		return p.set(hasHour)
	case 'i':
		p.min = v
		return p.set(hasMinute)
	}
	p.sec = v
	if n == len(s) {
		p.secondsOnly = true
	} else {
		var f fault
		if p.micros, f = fraction(s[n:]); f != faultNone {
			return f
		}
	}
	return p.set(hasSecond)
}

// number reads a bare number: part of a date or of a time.
func (p *dtParser) number(s string) fault {
	dot := strings.IndexByte(s, '.')
	switch {
	case p.timeOnly:
		if dot >= 0 && dot <= 2 {
			return faultFormat
		}
		return p.runTogether(s, true)
	case dot >= 0 && p.mask&hasDate == 0:
		return p.date(s)
	case dot > 2:
		return p.runTogether(s, false)
	case dot < 0 && len(s) >= 6 && (p.mask&hasDate == 0 || p.mask&hasTime == 0):
		return p.runTogether(s, false)
	case dot >= 0:
		return faultFormat
	}
	if p.mask&hasDate == hasDate {
		return p.runTogether(s, false)
	}
	got, f := p.dateNumber(s, p.mask)
	if f != faultNone {
		return f
	}
	return p.set(got)
}

// runTogether reads YYYYMMDD, YYMMDD, hhmmss[.fff] or hhmm; timeOnly excludes
// the dates.
func (p *dtParser) runTogether(s string, onlyTime bool) fault {
	digits, frac := s, ""
	if dot := strings.IndexByte(s, '.'); dot >= 0 {
		digits, frac = s[:dot], s[dot:]
	}
	if skipDigits(digits, 0) != len(digits) {
		return faultFormat
	}
	if frac == "" && !onlyTime && !p.timeOnly && p.mask&hasDate != hasDate && len(digits) >= 6 {
		n := len(digits)
		p.day, _ = strconv.Atoi(digits[n-2:])
		p.month, _ = strconv.Atoi(digits[n-4 : n-2])
		y, _ := leadingInt(digits[:n-4])
		if y > math.MaxInt32 {
			return faultField
		}
		p.year, p.twoDigits = y, n-4 == 2
		return p.set(hasDate)
	}
	if p.mask&hasTime == hasTime || len(digits) != 6 && len(digits) != 4 {
		return faultFormat
	}
	p.hour, _ = strconv.Atoi(digits[:2])
	p.min, _ = strconv.Atoi(digits[2:4])
	p.sec = 0
	if len(digits) == 6 {
		p.sec, _ = strconv.Atoi(digits[4:])
	}
	if frac != "" {
		var f fault
		if p.micros, f = fraction(frac); f != faultNone {
			return f
		}
	}
	p.mask |= hasTime
	return faultNone
}
