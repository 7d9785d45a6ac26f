package types

import (
	"math"
	"strconv"
	"strings"
)

// intervalUnit is a unit of interval input, in ascending order.
type intervalUnit uint8

const (
	unitNone intervalUnit = iota
	unitMicrosecond
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitAgo
)

var intervalUnits = map[string]intervalUnit{
	"microsecond": unitMicrosecond, "microseconds": unitMicrosecond, "us": unitMicrosecond, "usec": unitMicrosecond, "usecs": unitMicrosecond, "useconds": unitMicrosecond, "usecond": unitMicrosecond,
	"millisecond": unitMillisecond, "milliseconds": unitMillisecond, "ms": unitMillisecond, "msec": unitMillisecond, "msecs": unitMillisecond, "mseconds": unitMillisecond, "msecond": unitMillisecond,
	"s": unitSecond, "sec": unitSecond, "secs": unitSecond, "second": unitSecond, "seconds": unitSecond,
	"m": unitMinute, "min": unitMinute, "mins": unitMinute, "minute": unitMinute, "minutes": unitMinute,
	"h": unitHour, "hr": unitHour, "hrs": unitHour, "hour": unitHour, "hours": unitHour,
	"d": unitDay, "day": unitDay, "days": unitDay, "w": unitWeek, "week": unitWeek, "weeks": unitWeek,
	"mon": unitMonth, "mons": unitMonth, "month": unitMonth, "months": unitMonth,
	"y": unitYear, "yr": unitYear, "yrs": unitYear, "year": unitYear, "years": unitYear,
	"dec": unitDecade, "decs": unitDecade, "decade": unitDecade, "decades": unitDecade,
	"c": unitCentury, "cent": unitCentury, "century": unitCentury, "centuries": unitCentury,
	"mil": unitMillennium, "mils": unitMillennium, "millennia": unitMillennium, "millennium": unitMillennium,
	"ago": unitAgo,
}

// intervalBuilder adds fields up, remembering which units came.
type intervalBuilder struct {
	years, months, days, micros int64
	seen                        [unitAgo + 1]bool
	any                         bool
}

// use notes a unit; the same one twice is a fault.
func (b *intervalBuilder) use(units ...intervalUnit) fault {
	for _, u := range units {
		if b.seen[u] {
			return faultFormat
		}
		b.seen[u] = true
	}
	b.any = true
	return faultNone
}

// add adds v + frac units.
func (b *intervalBuilder) add(u intervalUnit, v int64, frac float64) fault {
	ok := true
	switch u {
	case unitMicrosecond:
		ok = b.addMicros(v, 1, frac)
	case unitMillisecond:
		ok = b.addMicros(v, 1000, frac)
	case unitSecond:
		ok = b.addMicros(v, usecPerSec, frac)
	case unitMinute:
		ok = b.addMicros(v, usecPerMin, frac)
	case unitHour:
		ok = b.addMicros(v, usecPerHour, frac)
	case unitDay:
		ok = addScaled(&b.days, v, 1) && b.addMicros(0, usecPerDay, frac)
	case unitWeek:
		ok = addScaled(&b.days, v, 7) && b.addFracDays(frac*7)
	case unitMonth:
		ok = addScaled(&b.months, v, 1) && b.addFracDays(frac*30)
	case unitYear:
		ok = b.addYears(v, frac, 1)
	case unitDecade:
		ok = b.addYears(v, frac, 10)
	case unitCentury:
		ok = b.addYears(v, frac, 100)
	case unitMillennium:
		ok = b.addYears(v, frac, 1000)
	}
	if !ok || !isInt32(b.years) || !isInt32(b.months) || !isInt32(b.days) {
		return faultField
	}
	return faultNone
}

func isInt32(v int64) bool { return v >= math.MinInt32 && v <= math.MaxInt32 }

func (b *intervalBuilder) addYears(v int64, frac float64, scale int64) bool {
	m := math.RoundToEven(frac * float64(scale) * 12)
	return addScaled(&b.years, v, scale) && addScaled(&b.months, int64(m), 1)
}

func (b *intervalBuilder) addFracDays(f float64) bool {
	whole := math.Trunc(f)
	return addScaled(&b.days, int64(whole), 1) && b.addMicros(0, usecPerDay, f-whole)
}

func (b *intervalBuilder) addMicros(v, scale int64, frac float64) bool {
	if !addScaled(&b.micros, v, scale) {
		return false
	}
	// The fraction is split from whole microseconds so that it rounds as
	// the sum of both would.
	us := frac * float64(scale)
	whole := math.Trunc(us)
	if us -= whole; us > 0.5 {
		whole++
	} else if us < -0.5 {
		whole--
	}
	return addScaled(&b.micros, int64(whole), 1)
}

// addScaled adds v*scale to *sum; false on overflow.
func addScaled(sum *int64, v, scale int64) bool {
	p, ok := mulInt64(v, scale)
	if !ok {
		return false
	}
	s := *sum + p
	if (s > *sum) != (p > 0) {
		return false
	}
	*sum = s
	return true
}

// negate is false where a field has its least value, which has no opposite.
func (b *intervalBuilder) negate() bool {
	if b.years == math.MinInt32 || b.months == math.MinInt32 || b.days == math.MinInt32 || b.micros == math.MinInt64 {
		return false
	}
	b.years, b.months, b.days, b.micros = -b.years, -b.months, -b.days, -b.micros
	return true
}

func (b *intervalBuilder) interval() (Interval, error) {
	months := b.years*12 + b.months
	if !isInt32(months) || !isInt32(b.days) {
		return Interval{}, errIntervalRange()
	}
	return Interval{int32(months), int32(b.days), b.micros}, nil
}

// parseInterval reads PostgreSQL's verbose, SQL standard and ISO 8601 forms. A
// modifier tells the unit of a trailing number without one.
func parseInterval(s string, mod int32, o *FmtOpts) (Interval, error) {
	var b intervalBuilder
	f := b.parse(s, mod, o)
	if f == faultFormat {
		if s != "" && s[0] == 'P' {
			b = intervalBuilder{}
			f = b.parseISO(trimSpace(s))
		}
	}
	if f != faultNone {
		if f == faultField {
			f = faultInterval
		}
		return Interval{}, dtError(f, s, "interval")
	}
	return b.interval()
}

// rightmostUnit is the unit of a last number without one.
func rightmostUnit(mod int32) intervalUnit {
	fields := IntervalAllFields
	if mod >= 0 {
		fields = int(mod >> 16 & 0x7fff)
	}
	switch {
	case fields == IntervalAllFields || fields&fieldSecond != 0:
		return unitSecond
	case fields&fieldMinute != 0:
		return unitMinute
	case fields&fieldHour != 0:
		return unitHour
	case fields&fieldDay != 0:
		return unitDay
	case fields&fieldMonth != 0:
		return unitMonth
	}
	return unitYear
}

// parse reads the fields from right to left, as a unit stands after its number.
func (b *intervalBuilder) parse(s string, mod int32, o *FmtOpts) fault {
	var store [maxDTFields]dtField
	fields, ok := scanDateTime(s, store[:0])
	if !ok || len(fields) == 0 {
		return faultFormat
	}
	// In the SQL standard's style one leading sign is that of all parts.
	allNegative := false
	if o.IntervalStyle == IntervalSQL && fields[0].text[0] == '-' {
		allNegative = true
		for _, f := range fields[1:] {
			if f.text[0] == '-' || f.text[0] == '+' {
				allNegative = false
			}
		}
	}
	unit, ago := unitNone, false
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		switch f.kind {
		case fieldText, fieldSpecial:
			u, ok := intervalUnits[f.text]
			if !ok && len(f.text) > 10 {
				u, ok = intervalUnitPrefix(f.text)
			}
			if !ok {
				return faultFormat
			}
			if u == unitAgo {
				ago = true // a number needs a unit of its own before it
			}
			unit = u
			continue
		case fieldTime, fieldZone:
			text := f.text
			neg := text[0] == '-'
			if neg || text[0] == '+' {
				text = text[1:]
			}
			if strings.IndexByte(text, ':') >= 0 {
				if ft := b.time(text, neg || allNegative, mod); ft != faultNone {
					return ft
				}
				unit = unitDay
				continue
			}
		}
		if unit == unitNone {
			unit = rightmostUnit(mod)
		}
		if ft := b.number(f.text, unit, allNegative); ft != faultNone {
			return ft
		}
		if unit == unitHour { // a number before hours counts days
			unit = unitDay
		}
	}
	if !b.any {
		return faultFormat
	}
	if ago && !b.negate() {
		return faultField
	}
	return faultNone
}

func intervalUnitPrefix(s string) (intervalUnit, bool) {
	for name, u := range intervalUnits {
		if len(name) >= 10 && name[:10] == s[:10] {
			return u, true
		}
	}
	return unitNone, false
}

// time reads hh:mm[:ss[.fff]], or mm:ss where the modifier says so.
func (b *intervalBuilder) time(s string, neg bool, mod int32) fault {
	if mod >= 0 && int(mod>>16&0x7fff) == fieldMinute|fieldSecond && strings.Count(s, ":") == 1 && strings.IndexByte(s, '.') < 0 {
		s = "0:" + s
	}
	h, m, sec, us, f := decodeTime(s)
	if f != faultNone {
		return f
	}
	sign := int64(1)
	if neg {
		sign = -1
	}
	b.micros = 0 // what a fraction of a day behind it came to is lost
	for _, p := range [...]struct{ v, scale int64 }{{int64(h), usecPerHour}, {int64(m), usecPerMin}, {int64(sec), usecPerSec}, {us, 1}} {
		if !addScaled(&b.micros, sign*p.v, p.scale) {
			return faultField
		}
	}
	return b.use(unitHour, unitMinute, unitSecond, unitMillisecond, unitMicrosecond)
}

// number reads a number, or years-months, of the given unit.
func (b *intervalBuilder) number(s string, unit intervalUnit, allNegative bool) fault {
	body, neg := s, false
	if s[0] == '-' || s[0] == '+' {
		body, neg = s[1:], s[0] == '-'
	}
	n := skipDigits(body, 0)
	if n == 0 && !strings.HasPrefix(body, ".") {
		return faultFormat
	}
	neg = neg || allNegative
	var v int64 // with its sign: the least int64 has no opposite
	if n > 0 {
		digits := body[:n]
		if neg {
			digits = "-" + digits
		}
		var err error
		if v, err = strconv.ParseInt(digits, 10, 64); err != nil {
			return faultField
		}
	}
	var frac float64
	if rest := body[n:]; rest != "" {
		switch rest[0] {
		case '-':
			if len(rest) > 2 && rest[1] == '-' && skipDigits(rest, 2) > 2 {
				return faultField // a month below zero
			}
			mon, k := leadingInt(rest[1:])
			if mon > 11 || !isInt32(v) {
				return faultField
			}
			if k != len(rest)-1 {
				return faultFormat
			}
			if neg {
				mon = -mon
			}
			unit, v = unitMonth, v*12+int64(mon)
		case '.':
			if skipDigits(rest, 1) != len(rest) {
				return faultFormat
			}
			if len(rest) > 1 {
				frac, _ = strconv.ParseFloat("0"+rest, 64)
			}
		default:
			return faultFormat
		}
	}
	if neg {
		frac = -frac
	}
	if unit == unitAgo {
		return faultFormat
	}
	units := []intervalUnit{unit}
	if unit == unitSecond && frac != 0 {
		// Subseconds exclude explicit milli- and microseconds.
		units = append(units, unitMillisecond, unitMicrosecond)
	}
	if f := b.add(unit, v, frac); f != faultNone {
		return f
	}
	return b.use(units...)
}

// parseISO reads P[n]Y[n]M[n]W[n]DT[n]H[n]M[n]S and the alternative form
// Pyyyy-mm-ddThh:mm:ss.
func (b *intervalBuilder) parseISO(s string) fault {
	s = s[1:]
	if s == "" {
		return faultFormat
	}
	inTime, haveField := false, false
	for s != "" {
		if s[0] == 'T' {
			inTime, haveField = true, false
			s = s[1:]
			continue
		}
		v, frac, rest, f := isoNumber(s)
		if f != faultNone {
			return f
		}
		unit := byte(0)
		if rest != "" {
			unit = rest[0]
		}
		if !inTime {
			switch unit {
			case 'Y':
				f = b.add(unitYear, v, frac)
			case 'M':
				f = b.add(unitMonth, v, frac)
			case 'W':
				f = b.add(unitWeek, v, frac)
			case 'D':
				f = b.add(unitDay, v, frac)
			case 'T', 0:
				if haveField {
					return faultFormat
				}
				if isoWidth(s) == 8 { // yyyymmdd
					f = b.addAll([3]intervalUnit{unitYear, unitMonth, unitDay}, [3]int64{v / 10000, v / 100 % 100, v % 100}, frac)
				} else {
					f = b.add(unitYear, v, frac)
				}
				b.any, haveField = true, true
				s = rest
				if f != faultNone {
					return f
				}
				continue
			case '-':
				if haveField {
					return faultFormat
				}
				if f = b.add(unitYear, v, frac); f == faultNone {
					f, s = b.isoDate(rest[1:])
				}
				if f != faultNone {
					return f
				}
				haveField = true
				continue
			default:
				return faultFormat
			}
		} else {
			switch unit {
			case 'H':
				f = b.add(unitHour, v, frac)
			case 'M':
				f = b.add(unitMinute, v, frac)
			case 'S':
				f = b.add(unitSecond, v, frac)
			case 0:
				if isoWidth(s) == 6 && !haveField { // hhmmss, where a fraction is one of a microsecond
					b.any = true
					f = b.addAll([3]intervalUnit{unitHour, unitMinute, unitSecond}, [3]int64{v / 10000, v / 100 % 100, v % 100}, 0)
					if f == faultNone && !b.addMicros(0, 1, frac) {
						f = faultField
					}
					return f
				}
				b.any = true
				if haveField {
					return faultFormat
				}
				return b.add(unitHour, v, frac)
			case ':':
				if haveField {
					return faultFormat
				}
				b.any = true
				if f = b.add(unitHour, v, frac); f != faultNone {
					return f
				}
				return b.isoTime(rest[1:])
			default:
				return faultFormat
			}
		}
		if f != faultNone {
			return f
		}
		b.any, haveField = true, true
		s = rest[1:]
	}
	if !haveField && !inTime {
		return faultFormat
	}
	return faultNone
}

func (b *intervalBuilder) addAll(units [3]intervalUnit, v [3]int64, frac float64) fault {
	for i, u := range units {
		fr := 0.0
		if i == 2 {
			fr = frac
		}
		if f := b.add(u, v[i], fr); f != faultNone {
			return f
		}
	}
	return faultNone
}

// isoDate reads what follows the years of P yyyy-mm[-dd], up to the time.
func (b *intervalBuilder) isoDate(s string) (fault, string) {
	b.any = true
	v, frac, rest, f := isoNumber(s)
	if f == faultNone {
		f = b.add(unitMonth, v, frac)
	}
	if f == faultNone && strings.HasPrefix(rest, "-") {
		if v, frac, rest, f = isoNumber(rest[1:]); f == faultNone {
			f = b.add(unitDay, v, frac)
		}
	}
	if f == faultNone && rest != "" && rest[0] != 'T' {
		f = faultFormat
	}
	return f, rest
}

// isoTime reads what follows the hours of T hh:mm[:ss].
func (b *intervalBuilder) isoTime(s string) fault {
	v, frac, rest, f := isoNumber(s)
	if f == faultNone {
		f = b.add(unitMinute, v, frac)
	}
	if f == faultNone && strings.HasPrefix(rest, ":") {
		if v, frac, rest, f = isoNumber(rest[1:]); f == faultNone {
			f = b.add(unitSecond, v, frac)
		}
	}
	if f == faultNone && rest != "" {
		return faultFormat
	}
	return f
}

// isoWidth is the number of digits before the point.
func isoWidth(s string) int {
	start := 0
	if strings.HasPrefix(s, "-") {
		start = 1
	}
	return skipDigits(s, start) - start
}

// isoLimit is the greatest number of ISO 8601 input; below it the whole part is exact.
const isoLimit = 1e15

// isoNumber reads a number as a double, which it has always been here: also with an
// exponent, and with no more digits behind the point than a double has.
func isoNumber(s string) (v int64, frac float64, rest string, f fault) {
	i := 0
	if strings.HasPrefix(s, "-") {
		i = 1
	}
	digits := skipDigits(s, i) - i
	i += digits
	if i < len(s) && s[i] == '.' {
		j := skipDigits(s, i+1)
		digits += j - i - 1
		i = j
	}
	if digits == 0 {
		return 0, 0, s, faultFormat
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if k := skipDigits(s, j); k > j {
			i = k
		}
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	if err != nil {
		return 0, 0, s, faultFormat
	}
	if n < -isoLimit || n > isoLimit {
		return 0, 0, s, faultField
	}
	whole := math.Trunc(n)
	return int64(whole), n - whole, s[i:], faultNone
}
