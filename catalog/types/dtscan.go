package types

import "strings"

// fieldKind is what a piece of a date/time string looks like.
type fieldKind uint8

const (
	fieldNumber  fieldKind = iota // digits, perhaps with a fraction
	fieldText                     // letters
	fieldDate                     // a date, or a zone name with punctuation
	fieldTime                     // hh:mm…
	fieldZone                     // ±digits…
	fieldSpecial                  // ± followed by letters
)

type dtField struct {
	kind fieldKind
	text string // letters are in lower case
}

// maxDTLen and maxDTFields bound what is looked at.
const (
	maxDTLen    = 128
	maxDTFields = 25
)

// scanDateTime splits a date/time string into fields; ok is false when no
// split makes sense. Punctuation that stands alone is skipped.
func scanDateTime(s string, dst []dtField) (fields []dtField, ok bool) {
	if len(s) > maxDTLen {
		return nil, false
	}
	fields = dst
	s = lowerASCII(s)
	for i := 0; i < len(s); {
		c := s[i]
		if isSpace(c) {
			i++
			continue
		}
		if len(fields) >= maxDTFields {
			return nil, false
		}
		start := i
		kind := fieldNumber
		switch {
		case isDigit(c):
			kind, i = scanNumeric(s, i)
		case c == '.':
			i = skipDigits(s, i+1)
		case isAlpha(c) || c >= 0x80:
			kind, i = scanWord(s, i)
		case c == '+' || c == '-':
			j := i + 1
			for j < len(s) && isSpace(s[j]) {
				j++
			}
			var f dtField
			switch {
			case j < len(s) && isDigit(s[j]):
				i = j
				for i < len(s) && (isDigit(s[i]) || s[i] == ':' || s[i] == '.' || s[i] == '-') {
					i++
				}
				f = dtField{fieldZone, string(c) + s[j:i]}
			case j < len(s) && isAlpha(s[j]):
				i = j
				for i < len(s) && isAlpha(s[i]) {
					i++
				}
				f = dtField{fieldSpecial, string(c) + s[j:i]}
			default:
				return nil, false
			}
			fields = append(fields, f)
			continue
		case c > ' ' && c < 0x7f: // stray punctuation
			i++
			continue
		default:
			return nil, false
		}
		fields = append(fields, dtField{kind, s[start:i]})
	}
	return fields, true
}

func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return strings.ToLower(s)
		}
	}
	return s
}

func skipDigits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// scanNumeric scans a field that starts with a digit.
func scanNumeric(s string, i int) (fieldKind, int) {
	i = skipDigits(s, i)
	if i == len(s) {
		return fieldNumber, i
	}
	switch c := s[i]; c {
	case ':':
		for i++; i < len(s) && (isDigit(s[i]) || s[i] == ':' || s[i] == '.'); i++ {
		}
		return fieldTime, i
	case '-', '/', '.':
		i++
		if i < len(s) && isDigit(s[i]) {
			kind := fieldDate
			if c == '.' {
				kind = fieldNumber
			}
			i = skipDigits(s, i)
			// A second delimiter of the same sort makes it a three-part date.
			if i < len(s) && s[i] == c {
				kind = fieldDate
				for i < len(s) && (isDigit(s[i]) || s[i] == c) {
					i++
				}
			}
			return kind, i
		}
		for i < len(s) && (isDigit(s[i]) || isAlpha(s[i]) || s[i] == c) {
			i++
		}
		return fieldDate, i
	}
	return fieldNumber, i
}

// scanWord scans a field that starts with a letter: a word, a date with a
// leading month name, or a zone name with punctuation in it.
func scanWord(s string, i int) (fieldKind, int) {
	start := i
	for i < len(s) && (isAlpha(s[i]) || s[i] >= 0x80) {
		i++
	}
	if i == len(s) {
		return fieldText, i
	}
	date := false
	switch c := s[i]; {
	case c == '-' || c == '/' || c == '.':
		date = true
	case c == '+' || isDigit(c):
		// Run into digits: a POSIX-style zone, unless the word means
		// something by itself (t040506, jan08).
		_, known := dtWords[s[start:i]]
		date = !known
	}
	if !date {
		return fieldText, i
	}
	for i < len(s) && (isAlpha(s[i]) || isDigit(s[i]) || strings.IndexByte("+-/_.:", s[i]) >= 0) {
		i++
	}
	return fieldDate, i
}

// wordKind is what a word of a date/time string does.
type wordKind uint8

const (
	wordMonth wordKind = iota
	wordDay            // of the week
	wordNow
	wordToday
	wordTomorrow
	wordYesterday
	wordEpoch
	wordInfinity
	wordMinusInfinity
	wordAllballs
	wordAMPM
	wordEra
	wordIgnore
	wordISOTime
	wordJulian
	wordUnit // y, m, d, h, mm, s before a number
	wordDST
)

type dtWord struct {
	kind  wordKind
	value int
}

const (
	am = iota + 1
	pm
)

var dtWords = map[string]dtWord{
	"january": {wordMonth, 1}, "jan": {wordMonth, 1}, "february": {wordMonth, 2}, "feb": {wordMonth, 2},
	"march": {wordMonth, 3}, "mar": {wordMonth, 3}, "april": {wordMonth, 4}, "apr": {wordMonth, 4},
	"may": {wordMonth, 5}, "june": {wordMonth, 6}, "jun": {wordMonth, 6}, "july": {wordMonth, 7}, "jul": {wordMonth, 7},
	"august": {wordMonth, 8}, "aug": {wordMonth, 8}, "september": {wordMonth, 9}, "sep": {wordMonth, 9}, "sept": {wordMonth, 9},
	"october": {wordMonth, 10}, "oct": {wordMonth, 10}, "november": {wordMonth, 11}, "nov": {wordMonth, 11},
	"december": {wordMonth, 12}, "dec": {wordMonth, 12},
	"sunday": {wordDay, 0}, "sun": {wordDay, 0}, "monday": {wordDay, 1}, "mon": {wordDay, 1},
	"tuesday": {wordDay, 2}, "tue": {wordDay, 2}, "tues": {wordDay, 2}, "wednesday": {wordDay, 3}, "wed": {wordDay, 3}, "weds": {wordDay, 3},
	"thursday": {wordDay, 4}, "thu": {wordDay, 4}, "thur": {wordDay, 4}, "thurs": {wordDay, 4},
	"friday": {wordDay, 5}, "fri": {wordDay, 5}, "saturday": {wordDay, 6}, "sat": {wordDay, 6},
	"now": {wordNow, 0}, "today": {wordToday, 0}, "tomorrow": {wordTomorrow, 0}, "yesterday": {wordYesterday, 0},
	"epoch": {wordEpoch, 0}, "infinity": {wordInfinity, 0}, "-infinity": {wordMinusInfinity, 0},
	"allballs": {wordAllballs, 0}, "am": {wordAMPM, am}, "pm": {wordAMPM, pm},
	"ad": {wordEra, 0}, "bc": {wordEra, 1}, "at": {wordIgnore, 0}, "on": {wordIgnore, 0}, "t": {wordISOTime, 0},
	"j": {wordJulian, 0}, "jd": {wordJulian, 0}, "julian": {wordJulian, 0},
	"y": {wordUnit, 'y'}, "m": {wordUnit, 'm'}, "d": {wordUnit, 'd'}, "h": {wordUnit, 'h'}, "mm": {wordUnit, 'i'}, "s": {wordUnit, 's'},
	"dst": {wordDST, 0},
}
