package types

import (
	"math"
	"math/bits"
	"strconv"

	"kvsqld/catalog/sqlerr"
)

func errIntervalRange() error {
	return sqlerr.New(sqlerr.DatetimeFieldOverflow, "interval out of range")
}

// span is the interval as 128-bit microseconds with 30-day months and 24-hour
// days: what intervals are ordered by.
func (iv Interval) span() (hi int64, lo uint64) {
	days := int64(iv.Months)*30 + int64(iv.Days)
	h, l := bits.Mul64(absU64(days), uint64(usecPerDay))
	if days < 0 {
		l = -l
		h = ^h
		if l == 0 {
			h++
		}
	}
	var carry uint64
	lo, carry = bits.Add64(l, uint64(iv.Micros), 0)
	return int64(h) + iv.Micros>>63 + int64(carry), lo
}

// Cmp orders intervals by their length with 30-day months and 24-hour days.
func (iv Interval) Cmp(o Interval) int {
	h1, l1 := iv.span()
	h2, l2 := o.span()
	switch {
	case h1 < h2 || h1 == h2 && l1 < l2:
		return -1
	case h1 == h2 && l1 == l2:
		return 0
	}
	return 1
}

// Sign is the sign of the interval's length.
func (iv Interval) Sign() int { return iv.Cmp(Interval{}) }

// Add returns iv + o, or 22008.
func (iv Interval) Add(o Interval) (Interval, error) {
	r := Interval{Months: iv.Months + o.Months, Days: iv.Days + o.Days, Micros: iv.Micros + o.Micros}
	if (r.Months > iv.Months) != (o.Months > 0) || (r.Days > iv.Days) != (o.Days > 0) || (r.Micros > iv.Micros) != (o.Micros > 0) {
		return r, errIntervalRange()
	}
	return r, nil
}

// Sub returns iv - o, or 22008.
func (iv Interval) Sub(o Interval) (Interval, error) {
	r := Interval{Months: iv.Months - o.Months, Days: iv.Days - o.Days, Micros: iv.Micros - o.Micros}
	if (r.Months < iv.Months) != (o.Months > 0) || (r.Days < iv.Days) != (o.Days > 0) || (r.Micros < iv.Micros) != (o.Micros > 0) {
		return r, errIntervalRange()
	}
	return r, nil
}

// Neg returns -iv, or 22008.
func (iv Interval) Neg() (Interval, error) {
	if iv.Months == math.MinInt32 || iv.Days == math.MinInt32 || iv.Micros == math.MinInt64 {
		return iv, errIntervalRange()
	}
	return Interval{-iv.Months, -iv.Days, -iv.Micros}, nil
}

// Mul returns iv * f; fractions of months become days, fractions of days time.
func (iv Interval) Mul(f float64) (Interval, error) {
	return iv.scale(func(v float64) float64 { return v * f })
}

// Div returns iv / f; 22012 for 0.
func (iv Interval) Div(f float64) (Interval, error) {
	if f == 0 {
		return iv, DivisionByZero()
	}
	return iv.scale(func(v float64) float64 { return v / f })
}

func (iv Interval) scale(by func(float64) float64) (Interval, error) {
	months, days := by(float64(iv.Months)), by(float64(iv.Days))
	if !fitsInt32(months) || !fitsInt32(days) {
		return iv, errIntervalRange()
	}
	r := Interval{Months: int32(months), Days: int32(days)}
	// What is left of the months counts as days of 30 to the month, what is
	// left of these as seconds, each rounded to microseconds.
	monthDays := roundMicroFraction((months - float64(r.Months)) * 30)
	secs := roundMicroFraction((days - float64(r.Days) + monthDays - float64(int64(monthDays))) * 86400)
	if math.Abs(secs) >= 86400 {
		r.Days += int32(secs / 86400)
		secs -= float64(int64(secs/86400)) * 86400
	}
	if d := float64(r.Days) + float64(int64(monthDays)); fitsInt32(d) {
		r.Days = int32(d)
	} else {
		return iv, errIntervalRange()
	}
	us := math.RoundToEven(by(float64(iv.Micros)) + secs*float64(usecPerSec))
	if !(us >= math.MinInt64 && us < math.MaxInt64) {
		return iv, errIntervalRange()
	}
	r.Micros = int64(us)
	return r, nil
}

func fitsInt32(f float64) bool { return f >= math.MinInt32 && f <= math.MaxInt32 }

func roundMicroFraction(f float64) float64 { return math.RoundToEven(f*1e6) / 1e6 }

// JustifyHours turns whole 24 hours into days.
func JustifyHours(iv Interval) (Interval, error) {
	return justifyDown(iv, int64(iv.Days), iv.Micros)
}

// justifyDown normalises time and days to one sign.
func justifyDown(iv Interval, days, micros int64) (Interval, error) {
	days += micros / usecPerDay
	micros %= usecPerDay
	if days > 0 && micros < 0 {
		micros += usecPerDay
		days--
	} else if days < 0 && micros > 0 {
		micros -= usecPerDay
		days++
	}
	if days < math.MinInt32 || days > math.MaxInt32 {
		return iv, errIntervalRange()
	}
	iv.Days, iv.Micros = int32(days), micros
	return iv, nil
}

// JustifyDays turns whole 30 days into months.
func JustifyDays(iv Interval) (Interval, error) {
	months := int64(iv.Months) + int64(iv.Days/30)
	days := iv.Days % 30
	if months > 0 && days < 0 {
		days += 30
		months--
	} else if months < 0 && days > 0 {
		days -= 30
		months++
	}
	if months < math.MinInt32 || months > math.MaxInt32 {
		return iv, errIntervalRange()
	}
	iv.Months, iv.Days = int32(months), days
	return iv, nil
}

// JustifyInterval turns hours into days and days into months and gives all
// parts one sign.
func JustifyInterval(iv Interval) (Interval, error) {
	days := int64(iv.Days) + iv.Micros/usecPerDay
	micros := iv.Micros % usecPerDay
	months := int64(iv.Months) + days/30
	days %= 30
	if months > 0 && (days < 0 || days == 0 && micros < 0) {
		days += 30
		months--
	} else if months < 0 && (days > 0 || days == 0 && micros > 0) {
		days -= 30
		months++
	}
	if days > 0 && micros < 0 {
		micros += usecPerDay
		days--
	} else if days < 0 && micros > 0 {
		micros -= usecPerDay
		days++
	}
	if months < math.MinInt32 || months > math.MaxInt32 {
		return iv, errIntervalRange()
	}
	return Interval{int32(months), int32(days), micros}, nil
}

// MakeInterval is make_interval.
func MakeInterval(years, months, weeks, days, hours, mins int32, secs float64) (Interval, error) {
	m := int64(years)*12 + int64(months)
	d := int64(weeks)*7 + int64(days)
	us := math.RoundToEven(secs * 1e6)
	if m < math.MinInt32 || m > math.MaxInt32 || d < math.MinInt32 || d > math.MaxInt32 || !(math.Abs(us) < 1<<63) {
		return Interval{}, errIntervalRange()
	}
	return Interval{int32(m), int32(d), int64(hours)*usecPerHour + int64(mins)*usecPerMin + int64(us)}, nil
}

// modInterval applies an interval's modifier: it drops the fields below the
// last one named and rounds the seconds.
func modInterval(iv Interval, mod int32) (Interval, error) {
	switch fields := int(mod >> 16 & 0x7fff); {
	case fields == IntervalAllFields || fields&fieldSecond != 0:
	case fields&fieldMinute != 0:
		iv.Micros -= iv.Micros % usecPerMin
	case fields&fieldHour != 0:
		iv.Micros -= iv.Micros % usecPerHour
	case fields&fieldDay != 0:
		iv.Micros = 0
	case fields&fieldMonth != 0:
		iv.Days, iv.Micros = 0, 0
	case fields&fieldYear != 0:
		iv.Months -= iv.Months % 12
		iv.Days, iv.Micros = 0, 0
	}
	if p := mod & 0xffff; p < maxTimePrecision {
		half := microsScale[p] / 2
		if iv.Micros > math.MaxInt64-half || iv.Micros < math.MinInt64+half {
			return iv, errIntervalRange()
		}
		iv.Micros = roundMicros(iv.Micros, p)
	}
	return iv, nil
}

// parts splits an interval for output; all parts of the time have its sign.
func (iv Interval) parts() (year, mon, day, hour, min, sec, us int64) {
	return int64(iv.Months / 12), int64(iv.Months % 12), int64(iv.Days),
		iv.Micros / usecPerHour, iv.Micros / usecPerMin % 60, iv.Micros / usecPerSec % 60, iv.Micros % usecPerSec
}

// appendInterval appends an interval in the session's IntervalStyle.
func appendInterval(buf []byte, iv Interval, o *FmtOpts) []byte {
	switch o.IntervalStyle {
	case IntervalPostgresVerbose:
		return appendIntervalVerbose(buf, iv)
	case IntervalSQL:
		return appendIntervalSQL(buf, iv)
	case IntervalISO:
		return appendIntervalISO(buf, iv)
	}
	year, mon, day, hour, min, sec, us := iv.parts()
	start := len(buf)
	negBefore := false
	for _, p := range [...]struct {
		v    int64
		unit string
	}{{year, " year"}, {mon, " mon"}, {day, " day"}} {
		if p.v == 0 {
			continue
		}
		if len(buf) > start {
			buf = append(buf, ' ')
		}
		if negBefore && p.v > 0 {
			buf = append(buf, '+')
		}
		buf = append(strconv.AppendInt(buf, p.v, 10), p.unit...)
		if p.v != 1 {
			buf = append(buf, 's')
		}
		negBefore = p.v < 0
	}
	if len(buf) > start && iv.Micros == 0 {
		return buf
	}
	if len(buf) > start {
		buf = append(buf, ' ')
	}
	if iv.Micros < 0 {
		buf = append(buf, '-')
	} else if negBefore {
		buf = append(buf, '+')
	}
	return appendHMS(buf, hour, min, sec, us, 2)
}

func abs64(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// appendHMS appends |h:mm:ss.ffffff| with hours of the given least width.
func appendHMS(buf []byte, hour, min, sec, us int64, width int) []byte {
	if h := abs64(hour); width == 2 && h < 10 {
		buf = append2(buf, int(h))
	} else {
		buf = strconv.AppendInt(buf, h, 10)
	}
	buf = append2(append(buf, ':'), int(abs64(min)))
	buf = append2(append(buf, ':'), int(abs64(sec)))
	return appendFraction(buf, abs64(us))
}

func appendIntervalVerbose(buf []byte, iv Interval) []byte {
	year, mon, day, hour, min, sec, us := iv.parts()
	buf = append(buf, '@')
	zero, ago := true, false
	for _, p := range [...]struct {
		v    int64
		unit string
	}{{year, " year"}, {mon, " mon"}, {day, " day"}, {hour, " hour"}, {min, " min"}} {
		v := p.v
		if v == 0 {
			continue
		}
		if zero {
			ago = v < 0
		}
		if ago {
			v = -v
		}
		buf = append(strconv.AppendInt(append(buf, ' '), v, 10), p.unit...)
		if v != 1 {
			buf = append(buf, 's')
		}
		zero = false
	}
	if sec != 0 || us != 0 {
		buf = append(buf, ' ')
		if sec < 0 || us < 0 {
			if zero {
				ago = true
			} else if !ago {
				buf = append(buf, '-')
			}
		} else if ago {
			buf = append(buf, '-')
		}
		buf = appendFraction(strconv.AppendInt(buf, abs64(sec), 10), abs64(us))
		buf = append(buf, " sec"...)
		if abs64(sec) != 1 || us != 0 {
			buf = append(buf, 's')
		}
		zero = false
	}
	if zero {
		buf = append(buf, " 0"...)
	}
	if ago {
		buf = append(buf, " ago"...)
	}
	return buf
}

func appendIntervalSQL(buf []byte, iv Interval) []byte {
	year, mon, day, hour, min, sec, us := iv.parts()
	neg := iv.Months < 0 || iv.Days < 0 || iv.Micros < 0
	pos := iv.Months > 0 || iv.Days > 0 || iv.Micros > 0
	yearMonth, dayTime := iv.Months != 0, iv.Days != 0 || iv.Micros != 0
	sign := func(v int64) byte {
		if v < 0 {
			return '-'
		}
		return '+'
	}
	switch {
	case !neg && !pos:
		return append(buf, '0')
	case neg && pos || yearMonth && dayTime:
		buf = strconv.AppendInt(append(buf, sign(int64(iv.Months))), abs64(year), 10)
		buf = strconv.AppendInt(append(buf, '-'), abs64(mon), 10)
		buf = strconv.AppendInt(append(buf, ' ', sign(day)), abs64(day), 10)
		return appendHMS(append(buf, ' ', sign(iv.Micros)), hour, min, sec, us, 1)
	}
	if neg {
		buf = append(buf, '-')
	}
	switch {
	case yearMonth:
		buf = strconv.AppendInt(buf, abs64(year), 10)
		return strconv.AppendInt(append(buf, '-'), abs64(mon), 10)
	case iv.Days != 0:
		buf = append(strconv.AppendInt(buf, abs64(day), 10), ' ')
	}
	return appendHMS(buf, hour, min, sec, us, 1)
}

func appendIntervalISO(buf []byte, iv Interval) []byte {
	year, mon, day, hour, min, sec, us := iv.parts()
	if iv == (Interval{}) {
		return append(buf, "PT0S"...)
	}
	buf = append(buf, 'P')
	part := func(v int64, unit byte) {
		if v != 0 {
			buf = append(strconv.AppendInt(buf, v, 10), unit)
		}
	}
	part(year, 'Y')
	part(mon, 'M')
	part(day, 'D')
	if iv.Micros != 0 {
		buf = append(buf, 'T')
	}
	part(hour, 'H')
	part(min, 'M')
	if sec != 0 || us != 0 {
		if sec < 0 || us < 0 {
			buf = append(buf, '-')
		}
		buf = appendFraction(strconv.AppendInt(buf, abs64(sec), 10), abs64(us))
		buf = append(buf, 'S')
	}
	return buf
}
