package expr

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape translates a backslash outside of brackets.
func (t *regexTranslator) escape() error {
	if t.at+1 >= len(t.src) {
		return errRegex("invalid escape \\ sequence")
	}
	c := t.src[t.at+1]
	switch c {
	case 'd', 'w', 'D', 'W':
		t.at += 2
		t.emit(`\`+string(c), c == 'w' || c == 'd')
		return nil
	case 's':
		t.at += 2
		t.emit("[[:space:]]", false)
		return nil
	case 'S':
		t.at += 2
		t.emit("[^[:space:]]", false)
		return nil
	case 'A', 'Z':
		t.at += 2
		t.anchored = true
		t.out.WriteString(map[byte]string{'A': `\A`, 'Z': `\z`}[c])
		t.atom = false
		return nil
	case 'y', 'Y':
		t.at += 2
		t.constraint(map[byte]string{'y': `\b`, 'Y': `\B`}[c])
		return nil
	case 'm':
		t.at += 2
		return t.wordStart()
	case 'M':
		t.at += 2
		return t.wordEnd()
	}
	if c >= '1' && c <= '9' && !t.octalAhead() {
		return unsupportedRegex("backreference")
	}
	r, err := t.charEscape()
	if err != nil {
		return err
	}
	t.emit(regexp.QuoteMeta(string(r)), r < utf8.RuneSelf && isWordByte(byte(r)))
	return nil
}

// octalAhead tells \nn (a character's octal code) from a backreference: two or
// more digits that start with 0 never are one.
func (t *regexTranslator) octalAhead() bool { return t.src[t.at+1] == '0' }

func (t *regexTranslator) constraint(s string) {
	t.anchored = true
	t.out.WriteString(s)
	t.atom = false
}

// wordStart and wordEnd are one-sided word boundaries. Go has only the
// two-sided one, which is the same where the neighbour is a word character.
func (t *regexTranslator) wordStart() error {
	rest := strings.TrimLeft(t.src[t.at:], "(")
	if rest != "" && (isWordByte(rest[0]) || strings.HasPrefix(rest, `\w`) || strings.HasPrefix(rest, `\d`)) &&
		!strings.ContainsAny(t.src[t.at:], "|") && !optionalAfter(rest) {
		t.constraint(`\b`)
		return nil
	}
	return unsupportedRegex(`the constraint \m before anything but a word character`)
}

func (t *regexTranslator) wordEnd() error {
	if t.word {
		t.constraint(`\b`)
		return nil
	}
	return unsupportedRegex(`the constraint \M after anything but a word character`)
}

// optionalAfter reports whether the first atom of s may match nothing.
func optionalAfter(s string) bool {
	n := 1
	if s[0] == '\\' {
		n = 2
	}
	return n < len(s) && strings.IndexByte("*?{", s[n]) >= 0
}

// charEscape reads an escape that stands for one character.
func (t *regexTranslator) charEscape() (rune, error) {
	c := t.src[t.at+1]
	t.at += 2
	hexDigits := func(limit int) (rune, error) {
		n := 0
		for n < limit && t.at+n < len(t.src) {
			if _, ok := hexDigit(t.src[t.at+n]); !ok {
				break
			}
			n++
		}
		v, err := strconv.ParseUint(t.src[t.at:t.at+n], 16, 64)
		if err != nil || v > utf8.MaxRune {
			return 0, errRegex("invalid escape \\ sequence")
		}
		t.at += n
		return rune(v), nil
	}
	switch c {
	case 'a':
		return '\a', nil
	case 'b':
		return '\b', nil
	case 'B':
		return '\\', nil
	case 'c':
		if t.at >= len(t.src) {
			return 0, errRegex("invalid escape \\ sequence")
		}
		t.at++
		return rune(t.src[t.at-1] & 31), nil
	case 'e':
		return '\x1b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'v':
		return '\v', nil
	case 'u':
		return hexDigits(4)
	case 'U':
		return hexDigits(8)
	case 'x':
		return hexDigits(255)
	case '0':
		v := rune(0)
		for k := 0; k < 2 && t.at < len(t.src) && t.src[t.at] >= '0' && t.src[t.at] <= '7'; k++ {
			v = v*8 + rune(t.src[t.at]-'0')
			t.at++
		}
		return v, nil
	}
	if c < utf8.RuneSelf && isWordByte(c) && c != '_' {
		return 0, errRegex("invalid escape \\ sequence")
	}
	r, w := utf8.DecodeRuneInString(t.src[t.at-1:])
	t.at += w - 1
	return r, nil
}

var bracketClasses = map[string]bool{"alnum": true, "alpha": true, "blank": true, "cntrl": true, "digit": true,
	"graph": true, "lower": true, "print": true, "punct": true, "space": true, "upper": true, "xdigit": true, "word": true}

// bracket translates […].
func (t *regexTranslator) bracket() error {
	rest := t.src[t.at:]
	if strings.HasPrefix(rest, "[[:<:]]") {
		t.at += 7
		return t.wordStart()
	}
	if strings.HasPrefix(rest, "[[:>:]]") {
		t.at += 7
		return t.wordEnd()
	}
	t.at++
	var b strings.Builder
	b.WriteByte('[')
	negated := t.at < len(t.src) && t.src[t.at] == '^'
	if negated {
		b.WriteByte('^')
		t.at++
		if t.flags.dotLine {
			b.WriteString(`\n`)
		}
	}
	for first := true; ; first = false {
		if t.at >= len(t.src) {
			return errRegex("brackets [] not balanced")
		}
		if t.src[t.at] == ']' && !first {
			t.at++
			break
		}
		if class, ok, err := t.bracketClass(); err != nil {
			return err
		} else if ok {
			b.WriteString(class)
			continue
		}
		lo, err := t.bracketChar()
		if err != nil {
			return err
		}
		hi := lo
		if t.at+1 < len(t.src) && t.src[t.at] == '-' && t.src[t.at+1] != ']' {
			t.at++
			if hi, err = t.bracketChar(); err != nil {
				return err
			}
			if hi < lo {
				return errRegex("invalid character range")
			}
		}
		writeClassRune(&b, lo)
		if hi != lo {
			b.WriteByte('-')
			writeClassRune(&b, hi)
		}
	}
	b.WriteByte(']')
	t.emit(b.String(), false)
	return nil
}

func writeClassRune(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf && !isWordByte(byte(r)) {
		b.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
		return
	}
	b.WriteRune(r)
}

// bracketClass reads a class inside of brackets: [:alpha:] or \d.
func (t *regexTranslator) bracketClass() (string, bool, error) {
	rest := t.src[t.at:]
	if strings.HasPrefix(rest, "[:") {
		end := strings.Index(rest, ":]")
		if end < 0 {
			return "", false, errRegex("brackets [] not balanced")
		}
		if name := rest[2:end]; !bracketClasses[name] {
			return "", false, errRegex("invalid character class")
		}
		t.at += end + 2
		return rest[:end+2], true, nil
	}
	if len(rest) > 1 && rest[0] == '\\' {
		switch rest[1] {
		case 'd', 'w':
			t.at += 2
			return rest[:2], true, nil
		case 's':
			t.at += 2
			return "[:space:]", true, nil
		case 'D', 'W', 'S':
			return "", false, errRegex("invalid escape \\ sequence")
		}
	}
	return "", false, nil
}

func (t *regexTranslator) bracketChar() (rune, error) {
	rest := t.src[t.at:]
	switch {
	case rest[0] == '\\' && len(rest) > 1:
		return t.charEscape()
	case strings.HasPrefix(rest, "[=") || strings.HasPrefix(rest, "[."):
		end := strings.Index(rest[2:], rest[1:2]+"]")
		if end < 0 {
			return 0, errRegex("brackets [] not balanced")
		}
		r, w := utf8.DecodeRuneInString(rest[2:])
		if w != end {
			return 0, unsupportedRegex("a named collating element")
		}
		t.at += end + 4
		return r, nil
	}
	r, w := utf8.DecodeRuneInString(rest)
	t.at += w
	return r, nil
}
