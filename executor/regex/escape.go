package regex

import (
	"strings"
	"unicode/utf8"
)

var shorthands = map[byte]string{'d': "digit", 's': "space", 'w': "word"}

// escape reads a backslash and what follows, outside of brackets.
func (p *parser) escape() *node {
	c := p.peek(1)
	if name := shorthands[c|0x20]; name != "" {
		p.at += 2
		return &node{op: opClass, set: newClass(append([]rune(nil), namedClasses[name]...), c < 'a')}
	}
	if v, end, ok := p.isBackref(); ok {
		p.at = end
		return p.backref(v)
	}
	return p.one(p.escapedRune())
}

// isBackref tells a back reference, which ends before end, from a character in
// octal: one digit is a back reference, more are one if there are as many groups.
func (p *parser) isBackref() (v, end int, ok bool) {
	if c := p.peek(1); c < '1' || c > '9' {
		return 0, 0, false
	}
	end = p.at + 2
	for end < len(p.src) && isDigit(p.src[end]) {
		end++
	}
	for _, d := range p.src[p.at+1 : end] {
		v = min(10*v+int(d-'0'), 1<<20)
	}
	return v, end, end == p.at+2 || v <= p.groups
}

// escapedRune reads an escape that stands for one character.
func (p *parser) escapedRune() rune {
	if p.at+1 >= len(p.src) {
		panic(errEscape)
	}
	c := p.peek(1)
	p.at += 2
	switch c {
	case 'a':
		return '\a'
	case 'b':
		return '\b'
	case 'B':
		return '\\'
	case 'c':
		if p.end() {
			panic(errEscape)
		}
		return p.rune() & 31
	case 'e':
		return '\x1b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	case 'u':
		return p.hex(4, 4)
	case 'U':
		return p.hex(8, 8)
	case 'x':
		return p.hex(1, 255)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		p.at--
		v, n := rune(0), 0
		for ; n < 3 && p.peek(0) >= '0' && p.peek(0) <= '7'; n++ {
			if next := 8*v + rune(p.peek(0)-'0'); next > 255 {
				break
			} else {
				v = next
			}
			p.at++
		}
		if n == 0 {
			panic(errEscape)
		}
		return v
	}
	if isLetter(c) {
		panic(errEscape)
	}
	p.at--
	return p.rune()
}

// hex reads from least to most hexadecimal digits.
func (p *parser) hex(least, most int) rune {
	v, n := rune(0), 0
	for ; n < most; n++ {
		k := strings.IndexByte("0123456789abcdef", p.peek(0)|0x20)
		if d := p.peek(0); isDigit(d) {
			k = int(d - '0')
		}
		if k < 0 || p.end() {
			break
		}
		if v = 16*v + rune(k); v > utf8.MaxRune {
			panic(errEscape)
		}
		p.at++
	}
	if n < least {
		panic(errEscape)
	}
	return v
}

// bracket reads […].
func (p *parser) bracket() *node {
	p.at++
	negated := p.accept("^")
	var pairs []rune
	for first := true; ; first = false {
		p.count()
		if p.end() {
			panic(errBrackets)
		}
		if p.peek(0) == ']' && !first {
			p.at++
			break
		}
		if set, ok := p.bracketClass(); ok {
			pairs = append(pairs, set...)
			if p.peek(0) == '-' && p.peek(1) != ']' && p.at+1 < len(p.src) {
				panic(errRange)
			}
			continue
		}
		lo := p.bracketRune(first)
		hi := lo
		if p.peek(0) == '-' && p.peek(1) != ']' && p.at+1 < len(p.src) {
			p.at++
			if _, ok := p.bracketClass(); ok {
				panic(errRange)
			}
			if hi = p.bracketRune(true); hi < lo {
				panic(errRange)
			}
			if p.peek(0) == '-' && p.peek(1) != ']' {
				panic(errRange)
			}
		}
		pairs = append(pairs, lo, hi)
	}
	if p.flags.Fold {
		pairs = folded(pairs)
	}
	if negated && p.flags.DotLine {
		pairs = append(pairs, '\n', '\n')
	}
	return &node{op: opClass, set: newClass(pairs, negated)}
}

// bracketClass reads a class inside of brackets: [:alpha:], \d or [=x=].
func (p *parser) bracketClass() ([]rune, bool) {
	if name, ok := p.named(':'); ok {
		set := namedClasses[name]
		if set == nil {
			panic(errClass)
		}
		if p.flags.Fold && (name == "lower" || name == "upper") {
			set = namedClasses["alpha"]
		}
		return append([]rune(nil), set...), true
	}
	if name, ok := p.named('='); ok {
		r := element(name)
		return []rune{r, r}, true
	}
	if p.peek(0) == '\\' && p.advanced() {
		c := p.peek(1)
		if name := shorthands[c|0x20]; name != "" && isLetter(c) {
			p.at += 2
			set := newClass(append([]rune(nil), namedClasses[name]...), c < 'a')
			return append([]rune(nil), set.pairs...), true
		}
	}
	return nil, false
}

// named reads [:name:], or the same with another character than the colon.
func (p *parser) named(mark byte) (string, bool) {
	if p.peek(0) != '[' || p.peek(1) != mark {
		return "", false
	}
	rest := p.src[p.at+2:]
	end := strings.Index(rest, string(mark)+"]")
	if end < 0 {
		panic(errBrackets)
	}
	p.at += end + 4
	return rest[:end], true
}

// element is the character that a collating element's name stands for.
func element(name string) rune {
	if r, w := utf8.DecodeRuneInString(name); w == len(name) && w > 0 {
		return r
	}
	r, ok := elementNames[name]
	if !ok {
		panic(errCollate)
	}
	return r
}

// bracketRune reads one character inside of brackets.
func (p *parser) bracketRune(begins bool) rune {
	if p.end() {
		panic(errBrackets)
	}
	if name, ok := p.named('.'); ok {
		return element(name)
	}
	if p.peek(0) == '\\' && p.advanced() {
		if _, _, ok := p.isBackref(); ok {
			panic(errEscape)
		}
		return p.escapedRune()
	}
	if p.peek(0) == '-' && !begins && p.peek(1) != ']' {
		panic(errRange)
	}
	return p.rune()
}
