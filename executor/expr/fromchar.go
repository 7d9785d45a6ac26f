package expr

import (
	"strings"
	"time"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func fromCharFuncs(r *registry) {
	r.add(fn2(func(c *callCtx, s, f []byte) (int64, error) {
		p, err := parseByTemplate(string(s), string(f))
		if err != nil {
			return 0, err
		}
		t, err := p.date()
		if err != nil {
			return 0, err
		}
		return types.TimestampToDate(types.TimestampFromTime(t)), nil
	}), "to_date")
	r.add(fn2(func(c *callCtx, s, f []byte) (int64, error) {
		p, err := parseByTemplate(string(s), string(f))
		if err != nil {
			return 0, err
		}
		return p.timestamp(c.zone())
	}), "to_timestamp")
}

// dateInput collects the fields that a text gives.
type dateInput struct {
	whole, s   string
	skipped    int // characters skipped beyond the template's
	fields     map[dateKey]int
	bc, pm     bool
	clock12    bool
	yearDigits int
	zone       int // seconds east, when zoned
	zoneMinus  bool
	zoned      bool
	gregorian  bool // a field of the Gregorian calendar was given …
	isoWeek    bool // … or of the ISO week's
	fraction   int  // digits of FF1 … FF6, to which the result is rounded; 0: none
}

func isSeparator(c byte) bool {
	return c > ' ' && c < utf8.RuneSelf && !isWordByte(c) || c == '_'
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func parseByTemplate(s, f string) (*dateInput, error) {
	p := &dateInput{whole: s, s: s, fields: make(map[dateKey]int)}
	nodes := parseDateTemplate(f)
	for i, n := range nodes {
		if p.s == "" {
			break
		}
		if n.key == keyLiteral {
			p.literal(n, i == 0)
			continue
		}
		p.blanks()
		if err := p.convention(n.key); err != nil {
			return nil, err
		}
		if err := p.field(n, separatorFollows(n, nodes[i+1:])); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// convention refuses fields of both calendars in one template.
func (p *dateInput) convention(k dateKey) error {
	switch k {
	case keyDDD, keyDD, keyD, keyMM, keyMonth, keyMon, keyRM, keyWW, keyW, keyYcYYY, keyYYYY, keyYYY, keyYY, keyY:
		p.gregorian = true
	case keyIDDD, keyID, keyIW, keyIYYY, keyIYY, keyIY, keyI:
		p.isoWeek = true
	}
	if p.gregorian && p.isoWeek {
		return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid combination of date conventions").
			WithHint("Do not mix Gregorian and ISO week date conventions in a formatting template.")
	}
	return nil
}

func (p *dateInput) blanks() {
	for p.s != "" && isBlank(p.s[0]) {
		p.s = p.s[1:]
		p.skipped++
	}
}

// literal matches template text loosely: separators match one separator or
// none, other characters skip one.
func (p *dateInput) literal(n dateNode, first bool) {
	if first {
		p.blanks()
	}
	for _, r := range n.text {
		if p.s == "" {
			return
		}
		if !n.fixed && (r == ' ' || r < utf8.RuneSelf && isSeparator(byte(r))) {
			p.skipped--
			if isBlank(p.s[0]) || isSeparator(p.s[0]) {
				p.s = p.s[1:]
				p.skipped++
			}
			continue
		}
		if p.skipped > 0 {
			p.skipped--
			continue
		}
		_, w := utf8.DecodeRuneInString(p.s)
		p.s = p.s[w:]
	}
}

// separatorFollows tells whether a number may use as many digits as there are.
func separatorFollows(n dateNode, rest []dateNode) bool {
	if n.fill || n.th != 0 || len(rest) == 0 {
		return true
	}
	if rest[0].key == keyLiteral {
		return rest[0].text == "" || rest[0].text[0] < '0' || rest[0].text[0] > '9'
	}
	switch rest[0].key {
	case keyADBC, keyADBCDots, keyAMPM, keyAMPMDots, keyDay, keyDy, keyMonth, keyMon, keyRM, keyTZ, keyOF:
		return true
	}
	return false
}

var fieldWidth = map[dateKey]int{keyCC: 2, keyDDD: 3, keyDD: 2, keyD: 1, keyHH24: 2, keyHH12: 2, keyIDDD: 3, keyID: 1,
	keyIW: 2, keyIYYY: 4, keyIYY: 3, keyIY: 2, keyI: 1, keyJ: 7, keyMI: 2, keyMM: 2, keyMS: 3, keyQ: 1, keySSSS: 5, keySS: 2,
	keyTZH: 2, keyTZM: 2, keyUS: 6, keyWW: 2, keyW: 1, keyYYYY: 4, keyYYY: 3, keyYY: 2, keyY: 1}

// integer reads a number and returns the number of its digits.
func (p *dateInput) integer(n dateNode, width int, open bool) (v, digits int, err error) {
	p.blanks()
	at, neg := 0, false
	if at < len(p.s) && (p.s[at] == '-' || p.s[at] == '+') {
		neg = p.s[at] == '-'
		at++
	}
	from := at
	for at < len(p.s) && p.s[at] >= '0' && p.s[at] <= '9' && (open || at < width) {
		if v = v*10 + int(p.s[at]-'0'); v > 1<<31-1 {
			return 0, 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, `value for "%s" in source string is out of range`, n.text)
		}
		at++
	}
	if at == from {
		end := min(len(p.s), max(width, 1))
		return 0, 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, `invalid value "%s" for "%s"`, p.s[:end], n.text).
			WithDetail("Value must be an integer.")
	}
	p.s = p.s[at:]
	if neg {
		v = -v
	}
	return v, at - from, nil
}

// word reads one of the names, without regard to case; full or the first three
// letters.
func (p *dateInput) word(n dateNode, names []string, short bool) (int, error) {
	for i, name := range names {
		if short {
			name = name[:3]
		}
		if len(p.s) >= len(name) && strings.EqualFold(p.s[:len(name)], name) {
			p.s = p.s[len(name):]
			return i, nil
		}
	}
	end := strings.IndexAny(p.s, " \t\n")
	if end < 0 {
		end = len(p.s)
	}
	return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, `invalid value "%s" for "%s"`, p.s[:end], n.text).
		WithDetail("The given value did not match any of the allowed values for this field.")
}

func (p *dateInput) set(n dateNode, k dateKey, v int) error {
	if old, twice := p.fields[k]; twice && old != v {
		return sqlerr.New(sqlerr.InvalidDatetimeFormat, `conflicting values for "%s" field in formatting string`, n.text).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	p.fields[k] = v
	return nil
}

func (p *dateInput) field(n dateNode, open bool) error {
	switch n.key {
	case keyADBC:
		i, err := p.word(n, []string{"AD", "BC"}, false)
		p.bc = i == 1
		return err
	case keyADBCDots:
		i, err := p.word(n, []string{"A.D.", "B.C."}, false)
		p.bc = i == 1
		return err
	case keyAMPM:
		i, err := p.word(n, []string{"AM", "PM"}, false)
		p.pm, p.clock12 = i == 1, true
		return err
	case keyAMPMDots:
		i, err := p.word(n, []string{"A.M.", "P.M."}, false)
		p.pm, p.clock12 = i == 1, true
		return err
	case keyMonth, keyMon:
		i, err := p.word(n, monthNames, n.key == keyMon)
		if err != nil {
			return err
		}
		return p.set(n, keyMM, i+1)
	case keyDay, keyDy:
		i, err := p.word(n, dayNames, n.key == keyDy)
		if err != nil {
			return err
		}
		return p.set(n, keyD, i+1)
	case keyRM:
		// Longer numerals first, so that VIII is not taken for V.
		for _, k := range []int{7, 2, 6, 11, 1, 3, 5, 8, 10, 0, 4, 9} {
			if name := romanMonths[k]; len(p.s) >= len(name) && strings.EqualFold(p.s[:len(name)], name) {
				p.s = p.s[len(name):]
				return p.set(n, keyMM, k+1)
			}
		}
		_, err := p.word(n, nil, false)
		return err
	case keyTZ, keyOF:
		return sqlerr.New(sqlerr.FeatureNotSupported, `formatting field "%s" is only supported in to_char`, n.text)
	case keyYcYYY:
		return p.commaYear(n)
	}
	return p.numberField(n, open)
}

func (p *dateInput) commaYear(n dateNode) error {
	head, digits, err := p.integer(n, 4, true)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(p.s, ",") {
		return sqlerr.New(sqlerr.InvalidDatetimeFormat, `invalid input string for "Y,YYY"`)
	}
	p.s = p.s[1:]
	tail, _, err := p.integer(n, 3, false)
	p.yearDigits = digits + 3
	if err != nil {
		return err
	}
	return p.set(n, keyYYYY, head*1000+tail)
}

func (p *dateInput) numberField(n dateNode, open bool) error {
	width := fieldWidth[n.key]
	if n.key == keyFF {
		width = int(n.text[2] - '0')
	}
	if n.key == keyTZH && p.s != "" {
		p.zoneMinus = p.s[0] == '-'
	}
	v, digits, err := p.integer(n, width, open)
	if err != nil {
		return err
	}
	if n.th != 0 {
		p.s = p.s[min(2, len(p.s)):]
	}
	key := n.key
	switch n.key {
	case keyHH12:
		p.clock12 = true
		key = keyHH24
	case keyMS, keyUS, keyFF:
		limit := 6
		if n.key == keyMS {
			limit = 3
		}
		for ; digits < limit; digits++ {
			v *= 10
		}
		if n.key == keyMS {
			break // milliseconds and microseconds add up
		}
		if key = keyUS; n.key == keyFF {
			p.fraction = width
		}
	case keyTZH:
		p.zoned = true
		p.zone += v * 3600
		return nil
	case keyTZM:
		p.zoned = true
		if p.zoneMinus {
			v = -v
		}
		p.zone += v * 60
		return nil
	case keyQ:
		return nil
	case keyYYYY, keyYYY, keyYY, keyY, keyIYYY, keyIYY, keyIY, keyI:
		p.yearDigits = digits
		if n.key != keyYYYY && n.key != keyIYYY && digits < 4 {
			v = nearYear(v)
		}
		if key = keyYYYY; n.key == keyIYYY || n.key == keyIYY || n.key == keyIY || n.key == keyI {
			key = keyIYYY
		}
	}
	return p.set(n, key, v)
}

// nearYear completes a year of up to three digits to the one nearest to 2020.
func nearYear(y int) int {
	switch {
	case y < 0:
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

// date is the day at midnight UTC.
func (p *dateInput) date() (time.Time, error) {
	year, haveYear := p.fields[keyYYYY]
	if cc, ok := p.fields[keyCC]; ok {
		if haveYear && p.yearDigits <= 2 {
			if year %= 100; year == 0 {
				year = cc * 100
			} else {
				year += (cc - 1) * 100
			}
		} else if !haveYear {
			year, haveYear = (cc-1)*100+1, true
		}
	}
	if p.bc && haveYear {
		year = 1 - year
	} else if haveYear && year < 0 {
		year++
	}
	month, day := 1, 1
	if j, ok := p.fields[keyJ]; ok {
		return time.Date(2000, 1, 1+j-2451545, 0, 0, 0, 0, time.UTC), nil
	}
	if w, ok := p.fields[keyIW]; ok || p.fields[keyIDDD] != 0 {
		return p.isoDate(w)
	}
	yday := p.fields[keyDDD]
	if w, ok := p.fields[keyWW]; ok {
		yday = (w-1)*7 + 1
	}
	if w, ok := p.fields[keyW]; ok {
		day = (w-1)*7 + 1
	}
	if m, ok := p.fields[keyMM]; ok {
		month = m
	}
	if d, ok := p.fields[keyDD]; ok {
		day = d
	}
	if yday > 0 && month <= 1 && day <= 1 {
		if !haveYear {
			return time.Time{}, sqlerr.New(sqlerr.InvalidDatetimeFormat, "cannot calculate day of year without year information")
		}
		t := time.Date(year, 1, yday, 0, 0, 0, 0, time.UTC)
		if t.Year() != year {
			return t, p.outOfRange()
		}
		return t, nil
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Year() != year || int(t.Month()) != month || t.Day() != day {
		return t, p.outOfRange()
	}
	return t, nil
}

// isoDate counts from the Monday of the ISO year's first week.
func (p *dateInput) isoDate(week int) (time.Time, error) {
	year := p.fields[keyIYYY]
	jan4 := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := jan4.AddDate(0, 0, -((int(jan4.Weekday()) + 6) % 7))
	if d := p.fields[keyIDDD]; d > 0 {
		return monday.AddDate(0, 0, d-1), nil
	}
	offset := 0
	if id, ok := p.fields[keyID]; ok {
		offset = id - 1
	} else if d, ok := p.fields[keyD]; ok {
		offset = (d + 5) % 7
	}
	return monday.AddDate(0, 0, (week-1)*7+offset), nil
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

func (p *dateInput) timestamp(loc *time.Location) (int64, error) {
	day, err := p.date()
	if err != nil {
		return 0, err
	}
	hour, minute, sec := p.fields[keyHH24], p.fields[keyMI], p.fields[keySS]
	if s, ok := p.fields[keySSSS]; ok {
		hour, minute, sec = s/3600, s/60%60, s%60
	}
	if p.clock12 {
		if hour < 1 || hour > 12 {
			return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, `hour "%d" is invalid for the 12-hour clock`, hour).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		hour %= 12
		if p.pm {
			hour += 12
		}
	}
	micros := p.fields[keyMS]*1000 + p.fields[keyUS]
	if micros < 0 || micros >= 1e6 {
		return 0, p.outOfRange()
	}
	if hour > 23 || minute > 59 || sec > 59 || hour < 0 || minute < 0 || sec < 0 {
		return 0, p.outOfRange()
	}
	ts := types.TimestampFromTime(day) + int64(hour*3600+minute*60+sec)*1e6 + int64(micros)
	ts = roundMicros(ts, p.fraction)
	if p.zoned {
		return ts - int64(p.zone)*1e6, nil
	}
	return types.TimestampToTimestamptz(ts, loc)
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
