package expr

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// pattern is a compiled POSIX advanced regular expression.
//
// It runs on Go's engine, which has no backreferences and no lookaround: those
// are refused by name. Preference follows POSIX: the longest match, unless the
// first quantifier is non-greedy, which makes the whole expression prefer the
// shortest one.
type pattern struct {
	re *regexp.Regexp
	// anchored: the expression looks at what precedes a position, so the text
	// must not be cut for a search that starts in the middle.
	anchored bool
}

// regexFlags are the letters of a flags argument.
type regexFlags struct {
	global, fold, expanded, literal bool
	dotLine, lineAnchors            bool // . stops at newlines; ^ and $ match at lines
}

func errRegex(what string) error {
	return sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", what)
}

func unsupportedRegex(what string) error {
	return sqlerr.Unsupported(-1, "%s in a regular expression", what)
}

func parseRegexFlags(s []byte) (f regexFlags, err error) {
	for i, c := range s {
		switch c {
		case 'g':
			f.global = true
		default:
			if !f.option(c) {
				_, w := utf8.DecodeRune(s[i:])
				return f, sqlerr.New(sqlerr.InvalidParameterValue, `invalid regular expression option: "%s"`, s[i:i+w])
			}
			if c == 'b' {
				return f, unsupportedRegex("basic regular expression syntax (option b)")
			}
		}
	}
	return f, nil
}

// option applies one letter, also of an embedded (?…) list.
func (f *regexFlags) option(c byte) bool {
	switch c {
	case 'i':
		f.fold = true
	case 'c':
		f.fold = false
	case 'x':
		f.expanded = true
	case 't':
		f.expanded = false
	case 'n', 'm':
		f.dotLine, f.lineAnchors = true, true
	case 's':
		f.dotLine, f.lineAnchors = false, false
	case 'p':
		f.dotLine, f.lineAnchors = true, false
	case 'w':
		f.dotLine, f.lineAnchors = false, true
	case 'q':
		f.literal = true
	case 'e', 'b':
	default:
		return false
	}
	return true
}

// compileRegex translates and compiles.
func compileRegex(src string, f regexFlags) (*pattern, error) {
	if rest, ok := strings.CutPrefix(src, "***="); ok {
		src, f.literal = rest, true
	} else if rest, ok := strings.CutPrefix(src, "***:"); ok {
		src = rest
	} else if strings.HasPrefix(src, "***") {
		return nil, errRegex("invalid regexp (reg version 0.8)")
	}
	t := &regexTranslator{src: src, flags: f}
	if f.literal {
		t.out.WriteString(regexp.QuoteMeta(src))
	} else {
		t.embedded()
		if err := t.translate(); err != nil {
			return nil, err
		}
	}
	mode := "(?"
	if t.flags.fold {
		mode += "i"
	}
	if !t.flags.dotLine {
		mode += "s"
	}
	if t.flags.lineAnchors {
		mode += "m"
	}
	text := t.out.String()
	if mode != "(?" {
		text = mode + ")" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, unsupportedRegex("this construct (" + err.Error() + ")")
	}
	if !t.lazy {
		re.Longest()
	}
	return &pattern{re: re, anchored: t.anchored}, nil
}

// regexTranslator rewrites an advanced regular expression in Go's syntax.
type regexTranslator struct {
	src      string
	at       int
	flags    regexFlags
	out      strings.Builder
	lazy     bool // a non-greedy quantifier occurs
	allLazy  bool // the first quantifier is non-greedy
	anchored bool
	depth    int
	// atom tells whether a quantifier may follow; word whether the last atom is
	// certain to be a word character.
	atom, word bool
}

// embedded reads a leading list of options.
func (t *regexTranslator) embedded() {
	if !strings.HasPrefix(t.src, "(?") {
		return
	}
	end := strings.IndexByte(t.src, ')')
	if end < 3 {
		return
	}
	f := t.flags
	for _, c := range []byte(t.src[2:end]) {
		if c < 'a' || c > 'z' || !f.option(c) {
			return
		}
	}
	t.flags, t.at = f, end+1
}

func (t *regexTranslator) translate() error {
	t.allLazy = firstQuantifierLazy(t.src[t.at:])
	for t.at < len(t.src) {
		if err := t.step(); err != nil {
			return err
		}
	}
	if t.depth > 0 {
		return errRegex("parentheses () not balanced")
	}
	return nil
}

// firstQuantifierLazy looks for the first quantifier outside of brackets and
// tells whether a ? follows it. An alternation at the top makes the whole
// expression greedy.
func firstQuantifierLazy(s string) bool {
	depth, found, lazy := 0, false, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			i = bracketEnd(s, i)
		case '(':
			depth++
			if strings.HasPrefix(s[i:], "(?") {
				i++
			}
		case ')':
			depth--
		case '|':
			if depth == 0 {
				return false
			}
		case '*', '+', '?':
			if !found {
				found, lazy = true, i+1 < len(s) && s[i+1] == '?'
			}
		case '{':
			end := strings.IndexByte(s[i:], '}')
			if !found && end > 0 && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				found, lazy = true, i+end+1 < len(s) && s[i+end+1] == '?'
			}
		}
	}
	return lazy
}

// bracketEnd returns the offset of the ] that closes the bracket at i, or len(s).
func bracketEnd(s string, i int) int {
	j := i + 1
	if j < len(s) && s[j] == '^' {
		j++
	}
	if j < len(s) && s[j] == ']' {
		j++
	}
	for ; j < len(s); j++ {
		switch {
		case s[j] == '\\':
			j++
		case s[j] == '[' && j+1 < len(s) && strings.IndexByte(":.=", s[j+1]) >= 0:
			end := strings.Index(s[j+2:], s[j+1:j+2]+"]")
			if end < 0 {
				return len(s)
			}
			j += end + 3
		case s[j] == ']':
			return j
		}
	}
	return len(s)
}

func (t *regexTranslator) emit(s string, word bool) {
	t.out.WriteString(s)
	t.atom, t.word = true, word
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (t *regexTranslator) step() error {
	c := t.src[t.at]
	if t.flags.expanded {
		if c == ' ' || c >= '\t' && c <= '\r' {
			t.at++
			return nil
		}
		if c == '#' {
			for t.at < len(t.src) && t.src[t.at] != '\n' {
				t.at++
			}
			return nil
		}
	}
	switch c {
	case '\\':
		return t.escape()
	case '[':
		return t.bracket()
	case '(':
		return t.open()
	case ')':
		if t.depth == 0 {
			return errRegex("parentheses () not balanced")
		}
		t.depth--
		t.at++
		t.emit(")", false)
		return nil
	case '|':
		t.at++
		t.out.WriteByte('|')
		t.atom = false
		return nil
	case '*', '+', '?':
		t.at++
		return t.quantifier(string(c))
	case '{':
		if t.at+1 < len(t.src) && t.src[t.at+1] >= '0' && t.src[t.at+1] <= '9' {
			return t.braces()
		}
	case '^', '$':
		t.at++
		t.anchored = true
		t.out.WriteByte(c)
		t.atom, t.word = false, false
		return nil
	case '.':
		t.at++
		t.emit(".", false)
		return nil
	}
	_, w := utf8.DecodeRuneInString(t.src[t.at:])
	t.emit(regexp.QuoteMeta(t.src[t.at:t.at+w]), isWordByte(c))
	t.at += w
	return nil
}

func (t *regexTranslator) open() error {
	t.depth++
	rest := t.src[t.at:]
	switch {
	case strings.HasPrefix(rest, "(?:"):
		t.out.WriteString("(?:")
		t.at += 3
	case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!"):
		return unsupportedRegex("lookahead")
	case strings.HasPrefix(rest, "(?<"):
		return unsupportedRegex("lookbehind")
	case strings.HasPrefix(rest, "(?#"):
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return errRegex("parentheses () not balanced")
		}
		t.depth--
		t.at += end + 1
		return nil
	case strings.HasPrefix(rest, "(?"):
		return errRegex("quantifier operand invalid")
	default:
		t.out.WriteByte('(')
		t.at++
	}
	t.atom = false
	return nil
}

func (t *regexTranslator) quantifier(q string) error {
	if !t.atom {
		return errRegex("quantifier operand invalid")
	}
	t.out.WriteString(q)
	lazy := t.at < len(t.src) && t.src[t.at] == '?'
	if lazy {
		t.at++
	}
	if t.at < len(t.src) && strings.IndexByte("*+?", t.src[t.at]) >= 0 {
		return errRegex("quantifier operand invalid")
	}
	t.lazy = t.lazy || lazy
	if lazy || t.allLazy {
		t.out.WriteByte('?')
	}
	t.atom = false
	return nil
}

const maxRepetition = 255

func (t *regexTranslator) braces() error {
	end := strings.IndexByte(t.src[t.at:], '}')
	if end < 0 {
		return errRegex("braces {} not balanced")
	}
	body := t.src[t.at+1 : t.at+end]
	lo, hi, comma := strings.Cut(body, ",")
	m, err := strconv.Atoi(lo)
	if err != nil || m > maxRepetition {
		return errRegex("invalid repetition count(s)")
	}
	if comma && hi != "" {
		n, err := strconv.Atoi(hi)
		if err != nil || n > maxRepetition || n < m {
			return errRegex("invalid repetition count(s)")
		}
	}
	t.at += end + 1
	return t.quantifier("{" + body + "}")
}
