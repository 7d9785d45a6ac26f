package regex

import (
	"slices"
	"unicode/utf8"
)

// class is a set of characters: pairs of bounds in ascending order, and a bitmap
// of those of ASCII.
type class struct {
	pairs []rune
	ascii [2]uint64
}

func (c *class) has(r rune) bool {
	if r < 128 {
		return c.ascii[r>>6]&(1<<(r&63)) != 0
	}
	for i := 0; i < len(c.pairs); i += 2 {
		if r <= c.pairs[i+1] {
			return r >= c.pairs[i]
		}
	}
	return false
}

// newClass orders and merges ranges, which it may change.
func newClass(pairs []rune, negated bool) *class {
	type span struct{ lo, hi rune }
	var in []span
	for i := 0; i < len(pairs); i += 2 {
		in = append(in, span{pairs[i], pairs[i+1]})
	}
	slices.SortFunc(in, func(a, b span) int { return int(a.lo - b.lo) })
	var out []rune
	for _, s := range in {
		if n := len(out); n > 0 && s.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], s.hi)
			continue
		}
		out = append(out, s.lo, s.hi)
	}
	if negated {
		out = complement(out)
	}
	c := &class{pairs: out}
	for i := 0; i < len(out); i += 2 {
		for r := out[i]; r <= min(out[i+1], 127); r++ {
			c.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return c
}

// complement returns the ranges between ordered ranges.
func complement(pairs []rune) []rune {
	var out []rune
	next := rune(0)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] > next {
			out = append(out, next, pairs[i]-1)
		}
		next = pairs[i+1] + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, next, utf8.MaxRune)
	}
	return out
}

// folded adds the other case of the letters of ASCII.
func folded(pairs []rune) []rune {
	for i, n := 0, len(pairs); i < n; i += 2 {
		for _, letters := range [2][3]rune{{'a', 'z', -32}, {'A', 'Z', 32}} {
			lo, hi := max(pairs[i], letters[0]), min(pairs[i+1], letters[1])
			if lo <= hi {
				pairs = append(pairs, lo+letters[2], hi+letters[2])
			}
		}
	}
	return pairs
}

// namedClasses are what [:name:] stands for.
var namedClasses = map[string][]rune{
	"alnum": {'0', '9', 'A', 'Z', 'a', 'z'}, "alpha": {'A', 'Z', 'a', 'z'}, "ascii": {0, 127}, "blank": {'\t', '\t', ' ', ' '},
	"cntrl": {0, 31, 127, 127}, "digit": {'0', '9'}, "graph": {33, 126}, "lower": {'a', 'z'}, "print": {32, 126},
	"punct": {33, 47, 58, 64, 91, 96, 123, 126}, "space": {'\t', '\r', ' ', ' '}, "upper": {'A', 'Z'},
	"word": {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}, "xdigit": {'0', '9', 'A', 'F', 'a', 'f'},
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// elementNames are the names of collating elements beside the characters
// themselves, as [.name.] has them.
var elementNames = map[string]rune{
	"NUL": 0, "SOH": 1, "STX": 2, "ETX": 3, "EOT": 4, "ENQ": 5, "ACK": 6, "BEL": 7, "alert": 7, "BS": 8, "backspace": 8,
	"HT": 9, "tab": 9, "LF": 10, "newline": 10, "VT": 11, "vertical-tab": 11, "FF": 12, "form-feed": 12, "CR": 13,
	"carriage-return": 13, "SO": 14, "SI": 15, "DLE": 16, "DC1": 17, "DC2": 18, "DC3": 19, "DC4": 20, "NAK": 21, "SYN": 22,
	"ETB": 23, "CAN": 24, "EM": 25, "SUB": 26, "ESC": 27, "IS4": 28, "FS": 28, "IS3": 29, "GS": 29, "IS2": 30, "RS": 30,
	"IS1": 31, "US": 31, "space": ' ', "exclamation-mark": '!', "quotation-mark": '"', "number-sign": '#', "dollar-sign": '$',
	"percent-sign": '%', "ampersand": '&', "apostrophe": '\'', "left-parenthesis": '(', "right-parenthesis": ')',
	"asterisk": '*', "plus-sign": '+', "comma": ',', "hyphen": '-', "hyphen-minus": '-', "period": '.', "full-stop": '.',
	"slash": '/', "solidus": '/', "zero": '0', "one": '1', "two": '2', "three": '3', "four": '4', "five": '5', "six": '6',
	"seven": '7', "eight": '8', "nine": '9', "colon": ':', "semicolon": ';', "less-than-sign": '<', "equals-sign": '=',
	"greater-than-sign": '>', "question-mark": '?', "commercial-at": '@', "left-square-bracket": '[', "backslash": '\\',
	"reverse-solidus": '\\', "right-square-bracket": ']', "circumflex": '^', "circumflex-accent": '^', "underscore": '_',
	"low-line": '_', "grave-accent": '`', "left-brace": '{', "left-curly-bracket": '{', "vertical-line": '|',
	"right-brace": '}', "right-curly-bracket": '}', "tilde": '~', "DEL": 127,
}
