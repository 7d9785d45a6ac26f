package expr

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// dateNode is one element of a date/time template: a field with its modifiers,
// or a literal text (key 0).
type dateNode struct {
	key   dateKey
	text  string // the keyword as written, or the literal
	fill  bool   // FM: no padding
	local bool   // TM: names of the locale, which are never padded
	th    byte   // 'T' for TH, 't' for th
	kind  literalKind
	bare  bool // of a literal outside of quotes
}

// literalKind says how input has to follow a literal.
type literalKind uint8

const (
	literalText literalKind = iota
	literalBlank
	literalSeparator
)

type dateKey uint8

const (
	keyLiteral dateKey = iota
	keyADBCDots
	keyADBC
	keyAMPMDots
	keyAMPM
	keyCC
	keyDay
	keyDy
	keyDDD
	keyDD
	keyD
	keyFF
	keyFX
	keyHH24
	keyHH12
	keyIDDD
	keyID
	keyIW
	keyIYYY
	keyIYY
	keyIY
	keyI
	keyJ
	keyMI
	keyMM
	keyMonth
	keyMon
	keyMS
	keyOF
	keyQ
	keyRM
	keySSSS
	keySS
	keyTZH
	keyTZM
	keyTZ
	keyUS
	keyWW
	keyW
	keyYcYYY
	keyYYYY
	keyYYY
	keyYY
	keyY
)

// dateWords lists the keywords, longer ones before their prefixes. They are
// written in one case, names also with a capital; that of the output follows.
var dateWords = []struct {
	word string
	key  dateKey
}{
	{"A.D.", keyADBCDots}, {"B.C.", keyADBCDots}, {"AD", keyADBC}, {"BC", keyADBC},
	{"A.M.", keyAMPMDots}, {"P.M.", keyAMPMDots}, {"AM", keyAMPM}, {"PM", keyAMPM},
	{"CC", keyCC}, {"DAY", keyDay}, {"DDD", keyDDD}, {"DD", keyDD}, {"DY", keyDy}, {"D", keyD},
	{"FF1", keyFF}, {"FF2", keyFF}, {"FF3", keyFF}, {"FF4", keyFF}, {"FF5", keyFF}, {"FF6", keyFF}, {"FX", keyFX},
	{"HH24", keyHH24}, {"HH12", keyHH12}, {"HH", keyHH12}, {"IDDD", keyIDDD}, {"ID", keyID}, {"IW", keyIW},
	{"IYYY", keyIYYY}, {"IYY", keyIYY}, {"IY", keyIY}, {"I", keyI}, {"J", keyJ}, {"MI", keyMI}, {"MM", keyMM},
	{"MONTH", keyMonth}, {"MON", keyMon}, {"MS", keyMS}, {"OF", keyOF}, {"Q", keyQ}, {"RM", keyRM},
	{"SSSSS", keySSSS}, {"SSSS", keySSSS}, {"SS", keySS}, {"TZH", keyTZH}, {"TZM", keyTZM}, {"TZ", keyTZ}, {"US", keyUS},
	{"WW", keyWW}, {"W", keyW}, {"Y,YYY", keyYcYYY}, {"YYYY", keyYYYY}, {"YYY", keyYYY}, {"YY", keyYY}, {"Y", keyY},
}

// parseDateTemplate splits a template. A literal is one character. The error is poll's.
func parseDateTemplate(f string, poll func() error) (nodes []dateNode, err error) {
	for f != "" {
		if err := pollNow(len(nodes), poll); err != nil {
			return nil, err
		}
		n := dateNode{}
		if len(f) >= 2 {
			switch f[:2] {
			case "FM", "fm":
				n.fill, f = true, f[2:]
			case "TM", "tm":
				n.local, f = true, f[2:]
			}
		}
		if f == "" {
			break
		}
		for _, w := range dateWords {
			if len(f) >= len(w.word) && w.key.written(f[:len(w.word)], w.word) {
				n.key, n.text, f = w.key, f[:len(w.word)], f[len(w.word):]
				break
			}
		}
		switch {
		case n.key == keyLiteral && f[0] == '"':
			var lit string
			lit, f = quotedLiteral(f[1:])
			for lit != "" {
				_, w := utf8.DecodeRuneInString(lit)
				nodes, lit = append(nodes, dateNode{text: lit[:w]}), lit[w:]
			}
			continue
		case n.key == keyLiteral:
			if len(f) > 1 && f[0] == '\\' && f[1] == '"' {
				f = f[1:]
			}
			_, w := utf8.DecodeRuneInString(f)
			n = dateNode{text: f[:w], bare: true}
			switch {
			case isSeparator(f[0]):
				n.kind = literalSeparator
			case isBlank(f[0]):
				n.kind = literalBlank
			}
			f = f[w:]
		case strings.HasPrefix(f, "TH") || strings.HasPrefix(f, "th"):
			n.th, f = f[0], f[2:]
		case strings.HasPrefix(f, "SP"):
			f = f[2:]
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// written reports whether text is the keyword in a case that it may have.
func (k dateKey) written(text, word string) bool {
	if text == word || text == strings.ToLower(word) {
		return true
	}
	switch k {
	case keyMonth, keyMon, keyDay, keyDy:
		return text == word[:1]+strings.ToLower(word[1:])
	}
	return false
}

// quotedLiteral returns the text up to the closing quote, and the rest.
func quotedLiteral(f string) (lit, rest string) {
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		switch {
		case f[i] == '"':
			return b.String(), f[i+1:]
		case f[i] == '\\' && i+1 < len(f):
			i++
		}
		b.WriteByte(f[i])
	}
	return b.String(), ""
}

// brokenTime is a timestamp or interval taken apart.
type brokenTime struct {
	year, month, day  int // year 0 is 1 BC
	hour, min, sec    int
	usec              int
	interval          bool
	ts                int64          // the instant, of a timestamp with time zone
	loc               *time.Location // nil: without time zone
	offset            int            // seconds east
	yday, wday, julia int
}

func breakTimestamp(ts int64, loc *time.Location) brokenTime {
	b := brokenTime{ts: ts, loc: loc}
	local := ts
	if loc != nil {
		local = types.TimestamptzToTimestamp(ts, loc)
		b.offset = int((local - ts) / 1e6)
	}
	days := types.TimestampToDate(local)
	us := types.TimestampTime(local)
	b.year, b.month, b.day = types.CivilOf(days)
	b.hour, b.min, b.sec, b.usec = int(us/3600e6), int(us/60e6)%60, int(us/1e6)%60, int(us%1e6)
	b.yday = int(days-types.DaysOf(b.year, 1, 1)) + 1
	b.julia = int(days) + 2451545
	b.wday = (b.julia + 1) % 7
	if b.wday < 0 {
		b.wday += 7
	}
	return b
}

func breakInterval(iv types.Interval) brokenTime {
	us := iv.Micros
	date := time.Date(int(iv.Months/12), time.Month(iv.Months%12), int(iv.Days), 0, 0, 0, 0, time.UTC)
	return brokenTime{interval: true, julia: int(date.Unix()/86400) + 2440588, year: int(iv.Months / 12), month: int(iv.Months % 12), day: int(iv.Days),
		hour: int(us / 3600e6), min: int(us/60e6) % 60, sec: int(us/1e6) % 60, usec: int(us % 1e6),
		yday: int(iv.Months/12)*360 + int(iv.Months%12)*30 + int(iv.Days)}
}

// zone is the abbreviation of the time zone at the instant.
func (b *brokenTime) zone() string {
	if b.loc == nil {
		return ""
	}
	return types.ZoneAbbrev(b.ts, b.loc)
}

// isoWeek is the ISO year and week.
func (b *brokenTime) isoWeek() (year, week int) {
	return time.Date(b.year, time.Month(b.month), b.day, 0, 0, 0, 0, time.UTC).ISOWeek()
}

func (b *brokenTime) isoDay() int {
	if b.wday == 0 {
		return 7
	}
	return b.wday
}

var monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
var dayNames = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

// padTo is the width to which a name is padded.
func padTo(width int, fill bool) int {
	if fill {
		return 0
	}
	return width
}

// appendName appends an ASCII name in the case of the keyword, MONTH, Month or
// month, and blanks up to the width.
func appendName(out []byte, name, word string, width int) []byte {
	from := len(out)
	out = append(out, name...)
	switch {
	case word[0] >= 'a':
		for i := from; i < len(out); i++ {
			if c := out[i]; c >= 'A' && c <= 'Z' {
				out[i] = c + 'a' - 'A'
			}
		}
	case len(word) > 1 && word[1] >= 'A' && word[1] <= 'Z':
		for i := from; i < len(out); i++ {
			if c := out[i]; c >= 'a' && c <= 'z' {
				out[i] = c - ('a' - 'A')
			}
		}
	}
	for len(out)-from < width {
		out = append(out, ' ')
	}
	return out
}

// dateTemplate is parseDateTemplate, kept from row to row.
func dateTemplate(c *callCtx, f []byte) ([]dateNode, error) {
	return compiled(c, f, parseDateTemplate)
}

// dateByTemplate writes b by a template.
func dateByTemplate(c *callCtx, f []byte, b *brokenTime) (types.Datum, error) {
	nodes, err := dateTemplate(c, f)
	if err != nil {
		return null, err
	}
	if err := c.room(dateTextBytes * int64(len(f))); err != nil {
		return null, err
	}
	out, err := formatDateTime(c.buf[:0], nodes, b)
	return textDatum(c.keep(out)), err
}

// dateTextBytes is about what a byte of a template becomes at most.
const dateTextBytes = 12

// formatDateTime writes b by the template.
func formatDateTime(out []byte, nodes []dateNode, b *brokenTime) ([]byte, error) {
	for i := range nodes {
		n := &nodes[i]
		switch n.key {
		case keyLiteral:
			out = append(out, n.text...)
			continue
		case keyFX:
			continue
		}
		var err error
		if out, err = b.appendField(out, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// signed is the width of the digits of a number that is width wide with its sign.
func signed(v, width int) int {
	if v < 0 {
		return width - 1
	}
	return width
}

// number appends a zero-padded number and its ordinal suffix.
func (n *dateNode) number(out []byte, v, width int) []byte {
	from := len(out)
	if n.fill {
		width = 0
	}
	if v < 0 {
		out = append(out, '-')
		v = -v
	}
	out = appendZeros(out, v, width)
	return append(out, ordinal(out[from:], n.th)...)
}

// ordinal is the suffix of a number written in digits.
func ordinal(num []byte, th byte) string {
	if th == 0 || len(num) == 0 {
		return ""
	}
	s := "th"
	teen := len(num) > 1 && num[len(num)-2] == '1'
	if !teen {
		switch num[len(num)-1] {
		case '1':
			s = "st"
		case '2':
			s = "nd"
		case '3':
			s = "rd"
		}
	}
	if th == 'T' {
		return strings.ToUpper(s)
	}
	return s
}

func errIntervalField() error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
		WithHint("Intervals are not tied to specific calendar dates.")
}

func (b *brokenTime) appendField(out []byte, n *dateNode) ([]byte, error) {
	switch n.key {
	case keyADBC, keyADBCDots, keyMonth, keyMon, keyDay, keyDy, keyD, keyID, keyTZ, keyTZH, keyTZM, keyOF, keyIYYY, keyIYY, keyIY, keyI, keyIW, keyIDDD:
		if b.interval && n.key != keyIYYY && n.key != keyIYY && n.key != keyIY && n.key != keyI && n.key != keyIDDD {
			return nil, errIntervalField()
		}
		return b.appendDateOnly(out, n), nil
	case keyAMPM, keyAMPMDots:
		s := "AM"
		if b.hour%24 >= 12 {
			s = "PM"
		}
		if n.key == keyAMPMDots {
			s = s[:1] + ".M."
		}
		if n.text[0] >= 'a' {
			s = strings.ToLower(s)
		}
		return append(out, s...), nil
	case keyHH12:
		h := b.hour % 12
		if h == 0 {
			h = 12
		}
		return n.number(out, h, 2), nil
	case keyHH24:
		return n.number(out, b.hour, 2), nil
	case keyMI:
		return n.number(out, b.min, 2), nil
	case keySS:
		return n.number(out, b.sec, 2), nil
	case keyFF:
		from := len(out)
		out = appendZeros(out, b.usec, 6)[:from+int(n.text[2]-'0')]
		return append(out, ordinal(out[from:], n.th)...), nil
	case keyMS:
		from := len(out)
		out = appendZeros(out, b.usec/1000, 3)
		return append(out, ordinal(out[from:], n.th)...), nil
	case keyUS:
		from := len(out)
		out = appendZeros(out, b.usec, 6)
		return append(out, ordinal(out[from:], n.th)...), nil
	case keySSSS:
		return n.number(out, b.hour*3600+b.min*60+b.sec, 0), nil
	}
	return b.appendCalendar(out, n), nil
}

// appendZeros appends the digits of a number with zeros before them up to the width.
func appendZeros(out []byte, v, width int) []byte {
	if v < 0 {
		v = -v
	}
	var tmp [20]byte
	s := strconv.AppendInt(tmp[:0], int64(v), 10)
	for k := len(s); k < width; k++ {
		out = append(out, '0')
	}
	return append(out, s...)
}

// appendDateOnly writes fields that only dates have.
func (b *brokenTime) appendDateOnly(out []byte, n *dateNode) []byte {
	switch n.key {
	case keyADBC, keyADBCDots:
		s := "AD"
		if b.year <= 0 {
			s = "BC"
		}
		if n.key == keyADBCDots {
			s = s[:1] + "." + s[1:] + "."
		}
		if n.text[0] >= 'a' {
			s = strings.ToLower(s)
		}
		return append(out, s...)
	case keyMonth:
		return appendName(out, monthNames[b.month-1], n.text, padTo(9, n.fill || n.local))
	case keyMon:
		return appendName(out, monthNames[b.month-1][:3], n.text, 0)
	case keyDay:
		return appendName(out, dayNames[b.wday], n.text, padTo(9, n.fill || n.local))
	case keyDy:
		return appendName(out, dayNames[b.wday][:3], n.text, 0)
	case keyD:
		return n.number(out, b.wday+1, 0)
	case keyID:
		return n.number(out, b.isoDay(), 0)
	case keyIW:
		_, w := b.isoWeek()
		return n.number(out, w, 2)
	case keyIDDD:
		_, w := b.isoWeek()
		return n.number(out, (w-1)*7+b.isoDay(), 3)
	case keyTZ:
		if n.text[0] >= 'a' {
			return append(out, strings.ToLower(b.zone())...)
		}
		return append(out, b.zone()...)
	case keyTZH, keyTZM, keyOF:
		return b.appendOffset(out, n)
	}
	y := b.year
	if !b.interval {
		y, _ = b.isoWeek()
	}
	return b.appendYear(out, n, y)
}

func (b *brokenTime) appendOffset(out []byte, n *dateNode) []byte {
	off, sign := b.offset, byte('+')
	if off < 0 {
		off, sign = -off, '-'
	}
	switch n.key {
	case keyTZH:
		return appendZeros(append(out, sign), off/3600, 2)
	case keyTZM:
		return appendZeros(out, off/60%60, 2)
	}
	if out = append(out, sign); n.fill {
		out = strconv.AppendInt(out, int64(off/3600), 10)
	} else {
		out = appendZeros(out, off/3600, 2)
	}
	if off%3600 != 0 {
		out = appendZeros(append(out, ':'), off/60%60, 2)
	}
	return out
}

// appendYear writes the year's last digits; 1 BC is year 1 of its era.
func (b *brokenTime) appendYear(out []byte, n *dateNode, y int) []byte {
	if !b.interval && y <= 0 {
		y = 1 - y
	}
	switch n.key {
	case keyYYYY, keyIYYY:
		return n.number(out, y, 4)
	case keyYYY, keyIYY:
		return n.number(out, y%1000, 3)
	case keyYY, keyIY:
		return n.number(out, y%100, 2)
	case keyYcYYY:
		from := len(out)
		out = append(strconv.AppendInt(out, int64(y/1000), 10), ',')
		out = appendZeros(out, y%1000, 3)
		return append(out, ordinal(out[from:], n.th)...)
	}
	return n.number(out, y%10, 0)
}

func (b *brokenTime) appendCalendar(out []byte, n *dateNode) []byte {
	switch n.key {
	case keyMM:
		return n.number(out, b.month, 2)
	case keyDDD:
		return n.number(out, b.yday, signed(b.yday, 3))
	case keyDD:
		return n.number(out, b.day, signed(b.day, 2))
	case keyWW:
		return n.number(out, (b.yday-1)/7+1, 2)
	case keyW:
		return n.number(out, (b.day-1)/7+1, 0)
	case keyQ:
		if b.month == 0 {
			return out
		}
		return n.number(out, (b.month-1)/3+1, 0)
	case keyJ:
		return n.number(out, b.julia, 0)
	case keyCC:
		c := (b.year + 99) / 100
		if b.interval {
			c = b.year / 100
		} else if b.year <= 0 {
			c = -((1 - b.year + 99) / 100)
		}
		return n.number(out, c, 2)
	case keyRM:
		if b.month == 0 && b.year == 0 {
			return out
		}
		return appendName(out, romanMonths[b.romanMonth()], n.text, padTo(4, n.fill))
	}
	return b.appendYear(out, n, b.year)
}

// romanMonth is the index of the month's name. Intervals of whole years end in the
// last month of the year before, negative ones count months backwards.
func (b *brokenTime) romanMonth() int {
	switch {
	case b.month > 0:
		return b.month - 1
	case b.month < 0:
		return 12 + b.month
	case b.year > 0:
		return 11
	}
	return 0
}

func toCharFuncs(r *registry) {
	stamp := func(zoned bool) builder {
		return fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			if a[0].I == tsMin || a[0].I == tsMax || len(a[1].B) == 0 {
				return null, nil
			}
			var loc *time.Location
			if zoned {
				loc = c.zone()
			}
			b := breakTimestamp(a[0].I, loc)
			return dateByTemplate(c, a[1].B, &b)
		})
	}
	r.add(stamp(false), "timestamp_to_char")
	r.add(stamp(true), "timestamptz_to_char")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if len(a[1].B) == 0 {
			return null, nil
		}
		b := breakInterval(a[0].Iv)
		return dateByTemplate(c, a[1].B, &b)
	}), "interval_to_char")
}
