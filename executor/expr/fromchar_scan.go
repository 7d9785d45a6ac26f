package expr

import (
	"math"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// dateInput reads a text by a template. A field that is 0 was not given, or given
// as 0, which is the same.
type dateInput struct {
	whole, s string
	strict   bool // text and template must match exactly, as SQL/JSON wants it
	exact    bool // from FX on, and in strict mode: blanks and separators count
	skipped  int  // blanks skipped beyond the template's
	node     *dateNode
	next     *dateNode // nil at the template's end
	calendar byte      // 'g' when a field of the Gregorian calendar was given, 'w' of the ISO week's

	hour, minute, sec, ofDay    int
	milli, micro                int
	fraction                    int // digits of FF1 … FF6, to which the result is rounded
	clock12                     bool
	pm, bc                      int
	year, yearDigits, century   int
	month, day, wday, yday      int // wday counts from Sunday, 1
	week, weekOfMonth, julian   int
	zoneSign, zoneHour, zoneMin int
}

func isSeparator(c byte) bool {
	return c > ' ' && c < 0x7f && (c == '_' || !isWordByte(c))
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func badDateTime(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, format, args...)
}

// parseByTemplate reads s by the template's nodes.
func parseByTemplate(s string, nodes []dateNode, strict bool) (*dateInput, error) {
	p := &dateInput{whole: s, s: s, strict: strict, exact: strict}
	i := 0
	for ; i < len(nodes) && p.s != ""; i++ {
		p.node, p.next = &nodes[i], nil
		if i+1 < len(nodes) {
			p.next = &nodes[i+1]
		}
		if !p.exact && (p.node.key != keyLiteral || i == 0) && p.node.key != keyFX {
			p.blanks()
		}
		var err error
		switch p.node.key {
		case keyLiteral:
			if err = p.literal(); err != nil {
				return nil, err
			}
			continue
		case keyFX:
			p.exact = true
		default:
			if err = p.mode(); err == nil {
				err = p.field()
			}
		}
		if err != nil {
			return nil, err
		}
		if !p.exact {
			p.skipped = 0
			p.blanks()
		}
	}
	if strict {
		if i < len(nodes) {
			return nil, badDateTime("input string is too short for datetime format")
		}
		if p.blanks(); p.s != "" {
			return nil, badDateTime("trailing characters remain in input string after datetime format")
		}
	}
	return p, nil
}

func (p *dateInput) blanks() {
	for p.s != "" && isBlank(p.s[0]) {
		p.s = p.s[1:]
		p.skipped++
	}
}

// drop removes a character, if there is one.
func (p *dateInput) drop() {
	_, w := utf8.DecodeRuneInString(p.s)
	p.s = p.s[w:]
}

// literal passes over what stands for a character of the template. Loosely, a blank
// or separator matches one of either or nothing; any other character matches any,
// unless more blanks were skipped before than the template has.
func (p *dateInput) literal() error {
	between := p.node.kind != literalText
	switch {
	case p.strict && strings.HasPrefix(p.s, p.node.text), p.exact && !p.strict, !between && p.skipped <= 0 && !p.strict:
		p.drop()
	case p.strict && between:
		return badDateTime("unmatched format separator \"%s\"", p.node.text)
	case p.strict:
		return badDateTime("unmatched format character \"%s\"", p.node.text)
	case !between:
		p.skipped--
	default:
		p.skipped--
		if isBlank(p.s[0]) || isSeparator(p.s[0]) {
			p.s = p.s[1:]
			p.skipped++
		}
	}
	return nil
}

// mode refuses fields of both calendars in one template.
func (p *dateInput) mode() error {
	m := byte(0)
	switch p.node.key {
	case keyDDD, keyDD, keyD, keyMM, keyMonth, keyMon, keyRM, keyWW, keyW, keyYcYYY, keyYYYY, keyYYY, keyYY, keyY:
		m = 'g'
	case keyIDDD, keyID, keyIW, keyIYYY, keyIYY, keyIY, keyI:
		m = 'w'
	}
	if m != 0 && p.calendar != 0 && m != p.calendar {
		return badDateTime("invalid combination of date conventions").
			WithHint("Do not mix Gregorian and ISO week date conventions in a formatting template.")
	}
	if m != 0 {
		p.calendar = m
	}
	return nil
}

// fieldWidth has the digits of a number that another field follows directly.
var fieldWidth = [keyY + 1]int{keyCC: 2, keyDDD: 3, keyDD: 2, keyD: 1, keyHH24: 2, keyHH12: 2, keyIDDD: 3, keyID: 1,
	keyIW: 2, keyIYYY: 4, keyIYY: 3, keyIY: 2, keyI: 1, keyJ: 1, keyMI: 2, keyMM: 2, keyMS: 3, keyQ: 1, keySS: 2,
	keyTZH: 2, keyTZM: 2, keyUS: 6, keyWW: 2, keyW: 1, keyYYYY: 4, keyYYY: 3, keyYY: 2, keyY: 1}

// digitFollows tells whether the template goes on with a digit, so that a number
// ends after its width.
func (p *dateInput) digitFollows() bool {
	if p.node.th != 0 || p.next == nil {
		return false
	}
	switch p.next.key {
	case keyLiteral:
		return p.next.text[0] >= '0' && p.next.text[0] <= '9'
	case keyADBC, keyADBCDots, keyAMPM, keyAMPMDots, keyDay, keyDy, keyFX, keyMonth, keyMon, keyOF, keyRM, keyTZ, keyTZH:
		return false
	}
	return true
}

// leadingInt reads an integer as C's strtol does and returns the bytes it takes.
func leadingInt(s string) (v int64, used int) {
	i := 0
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	neg := i < len(s) && s[i] == '-'
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	from := i
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		v = min(v*10+int64(s[i]-'0'), math.MaxInt32+2) // beyond the range is enough to know
	}
	if i == from {
		return 0, 0
	}
	if neg {
		v = -v
	}
	return v, i
}

// integer reads a number into dest and returns the number of characters it took.
func (p *dateInput) integer(dest *int, width int) (int, error) {
	name, before := p.node.text, len(p.s)
	for p.s != "" && isBlank(p.s[0]) {
		p.s = p.s[1:]
	}
	part := p.s[:min(width, len(p.s))]
	v, used := int64(0), 0
	none := false
	if p.node.fill || !p.digitFollows() {
		v, used = leadingInt(p.s)
		none = used == 0
	} else {
		const hint = `If your source string is not fixed-width, try using the "FM" modifier.`
		if len(p.s) < width {
			return 0, badDateTime(`source string too short for "%s" formatting field`, name).
				WithDetail("Field requires %d characters, but only %d remain.", width, len(p.s)).WithHint(hint)
		}
		if v, used = leadingInt(part); used > 0 && used < width {
			return 0, badDateTime(`invalid value "%s" for "%s"`, part, name).
				WithDetail("Field requires %d characters, but only %d could be parsed.", width, used).WithHint(hint)
		}
	}
	if p.s = p.s[used:]; none || len(p.s) == before {
		return 0, badDateTime(`invalid value "%s" for "%s"`, part, name).WithDetail("Value must be an integer.")
	}
	if v > math.MaxInt32 || v < math.MinInt32 {
		return 0, sqlerr.New(sqlerr.DatetimeFieldOverflow, `value for "%s" in source string is out of range`, name).
			WithDetail("Value must be in the range %d to %d.", math.MinInt32, math.MaxInt32)
	}
	return before - len(p.s), p.set(dest, int(v))
}

// number reads a number and the two letters that its TH stands for.
func (p *dateInput) number(dest *int, width int) (int, error) {
	n, err := p.integer(dest, width)
	if p.node.th != 0 {
		p.drop()
		p.drop()
	}
	return n, err
}

// word reads one of the names, without regard to case, the first that fits; short:
// its first three letters.
func (p *dateInput) word(names []string, short bool) (int, error) {
	for i, name := range names {
		if short {
			name = name[:3]
		}
		if len(p.s) >= len(name) && strings.EqualFold(p.s[:len(name)], name) {
			p.s = p.s[len(name):]
			return i, nil
		}
	}
	end := strings.IndexAny(p.s, " \t\n\r\v\f")
	if end < 0 {
		end = len(p.s)
	}
	return 0, badDateTime(`invalid value "%s" for "%s"`, p.s[:end], p.node.text).
		WithDetail("The given value did not match any of the allowed values for this field.")
}

// set keeps a value, which must be that of an earlier field of the same meaning.
func (p *dateInput) set(dest *int, v int) error {
	if *dest != 0 && *dest != v {
		return badDateTime(`conflicting values for "%s" field in formatting string`, p.node.text).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	*dest = v
	return nil
}
