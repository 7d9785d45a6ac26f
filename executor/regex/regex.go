package regex

import (
	"regexp"
	"unicode/utf8"
)

// Regexp is a compiled pattern. It belongs to one goroutine.
type Regexp struct {
	tree      *node
	groups    int
	linear    *regexp.Regexp // of package regexp, nil where it cannot do it
	positions bool
	short     bool // prefers the shortest match
	headed    bool // all matches begin with bytes that package regexp looks for
	pinned    bool // all matches begin where the text does
	backs     bool
	whole     *part
	compiler  compiler
	program   *program
	backward  *program // of the whole pattern, reversed
}

// Compile reads a pattern. The error is an Error. Memory and time are bounded, for any
// pattern: by MaxInstrs.
func Compile(src string, f Flags) (re *Regexp, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(Error)
			if !ok {
				panic(r)
			}
			re, err = nil, e
		}
	}()
	n, k, err := parse(src, f)
	if err != nil {
		return nil, err
	}
	if n.size() > MaxInstrs {
		return nil, errSize
	}
	re = &Regexp{tree: n, groups: k, whole: partOf(n)}
	re.short = re.whole.flags&shorter != 0
	re.backs = re.whole.flags&backs != 0
	re.linear, re.positions = golang(n)
	if re.linear == nil {
		re.automaton()
	} else {
		head, _ := re.linear.LiteralPrefix()
		re.headed = head != ""
	}
	re.pinned = n.pinned()
	return re, nil
}

// automaton is that of the whole pattern.
func (re *Regexp) automaton() *program {
	if re.program == nil {
		re.program = re.compiler.compile([]*node{re.tree}, false)
	}
	return re.program
}

// reversal is that of the whole pattern, reversed.
func (re *Regexp) reversal() *program {
	if re.backward == nil {
		re.backward = re.compiler.compile([]*node{re.tree}, true)
	}
	return re.backward
}

// Groups returns the number of groups.
func (re *Regexp) Groups() int { return re.groups }

// Match reports whether the pattern matches somewhere in the text. poll is asked
// now and then whether to go on; its error is returned.
func (re *Regexp) Match(text []byte, poll func() error) (bool, error) {
	if re.linear != nil && re.headed {
		return re.linear.Match(text), nil
	}
	if d := re.automaton().deterministic(!re.pinned); d != nil && !re.backs {
		if re.linear != nil && d.renewed > mostRenewals {
			return re.linear.Match(text), nil
		}
		return re.On(text, false, poll).any(d)
	}
	m, err := re.On(text, false, poll).Next(0)
	return m != nil, err
}

// any reports whether there is a match.
func (m *Matcher) any(d *dfa) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, is := r.(stopped)
			if !is {
				panic(r)
			}
			err = s.err
		}
	}()
	return m.matches(d), nil
}

// Matcher looks for matches in one text.
type Matcher struct {
	re      *Regexp
	src     []byte
	wanted  bool // the groups are
	poll    func() error
	text    []rune // nil until it is needed
	offsets []int  // of the text's characters in src; nil: the same
	groups  []int
	begins  places // where matches of the pattern begin, once that was asked
	idle    []*run
	seen    [][]uint8 // answers of lookaround: by automaton and position, 1 is no, 2 is yes
	work    int
}

// On returns a matcher for a text in UTF-8, which finds the groups as well if they
// are wanted.
func (re *Regexp) On(text []byte, wanted bool, poll func() error) *Matcher {
	return &Matcher{re: re, src: text, wanted: wanted && re.groups > 0, poll: poll}
}

// decode makes the characters of the text.
func (m *Matcher) decode() {
	if len(m.text) > 0 {
		return
	}
	if cap(m.text) <= len(m.src) {
		m.text = make([]rune, 0, len(m.src)+1)
	}
	for i := 0; i < len(m.src); {
		r, w := rune(m.src[i]), 1
		if r >= utf8.RuneSelf {
			r, w = utf8.DecodeRune(m.src[i:])
		}
		if w > 1 && m.offsets == nil {
			m.offsets = make([]int, 0, len(m.src)+1)
			for k := range i {
				m.offsets = append(m.offsets, k)
			}
		}
		if m.offsets != nil {
			m.offsets = append(m.offsets, i)
		}
		m.text = append(m.text, r)
		i += w
	}
	if m.offsets != nil {
		m.offsets = append(m.offsets, len(m.src))
	}
}

// offset turns a character's number into its byte offset, index the reverse.
func (m *Matcher) offset(i int) int {
	if m.offsets == nil || i < 0 {
		return i
	}
	return m.offsets[i]
}

func (m *Matcher) index(off int) int {
	if m.offsets == nil {
		return off
	}
	lo, hi := 0, len(m.offsets)-1
	for lo < hi {
		if mid := (lo + hi) / 2; m.offsets[mid] < off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Next returns the leftmost match that begins at byte start or later: the offsets
// of its begin and end, and then those of the groups, -1 for a group that took no
// part. It is nil when there is none.
func (m *Matcher) Next(start int) (loc []int, err error) {
	defer func() {
		if r := recover(); r != nil {
			switch x := r.(type) {
			case stopped:
				loc, err = nil, x.err
			case Error:
				loc, err = nil, x
			default:
				panic(r)
			}
		}
	}()
	re := m.re
	if re.linear != nil && !re.short && !re.backs && (start == 0 || !re.positions) {
		at := re.linear.FindIndex(m.src[start:])
		if at == nil {
			return nil, nil
		}
		at[0] += start
		at[1] += start
		if !m.wanted {
			return at, nil
		}
		m.decode()
		m.clear()
		m.divide(re.whole, m.index(at[0]), m.index(at[1]))
		return m.result(m.index(at[0]), m.index(at[1])), nil
	}
	m.decode()
	from := m.index(start)
	if re.backs {
		return m.trial(from), nil
	}
	b, e, ok := m.search(re.automaton(), from, re.short)
	if !ok {
		return nil, nil
	}
	if m.clear(); m.wanted {
		m.divide(re.whole, b, e)
	}
	return m.result(b, e), nil
}

// trial finds a match of a pattern with back references: of those that the
// automaton finds, the first in order that can be divided.
func (m *Matcher) trial(from int) []int {
	re := m.re
	for {
		b, _, ok := m.search(re.automaton(), from, true)
		if !ok {
			return nil
		}
		ends := m.reach(re.automaton(), b, b, len(m.text))
		next := func(e int) int { return ends.to(e - 1) }
		e := ends.to(len(m.text))
		if re.short {
			next = func(e int) int { return ends.from(e + 1) }
			e = ends.from(b)
		}
		for ; e >= 0; e = next(e) {
			if m.clear(); m.divide(re.whole, b, e) {
				return m.result(b, e)
			}
		}
		if from = b + 1; from > len(m.text) {
			return nil
		}
	}
}

func (m *Matcher) clear() {
	if m.groups == nil {
		m.groups = make([]int, 2*m.re.groups+2)
	}
	for i := range m.groups {
		m.groups[i] = -1
	}
}

func (m *Matcher) result(b, e int) []int {
	out := make([]int, len(m.groups))
	for i, g := range m.groups {
		out[i] = m.offset(g)
	}
	out[0], out[1] = m.offset(b), m.offset(e)
	return out
}
