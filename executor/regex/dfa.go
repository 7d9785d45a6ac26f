package regex

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// dfa is an automaton made deterministic as it is run: sets of the automaton's states
// become states of their own, and what leads from one to the next is remembered for the
// characters of ASCII. It tells where matches end, but not where they began.
//
// A state holds the automaton's states before what these lead to without a character:
// conditions on the position ask for the characters on both sides of it, of which the next
// one is not known yet.
type dfa struct {
	p       *program
	again   bool // matches begin at every position
	states  map[string]*dfaState
	starts  [sideOther + 1]*dfaState // where nothing was read
	work    int                      // of the last step, if it was computed
	renewed int                      // how often it began anew
	// memory of a step
	seen   []bool
	met    []int32
	kernel []int32
	key    []byte
}

type dfaState struct {
	kernel []int32 // ascending
	last   side    // of the position, where it was read
	next   [asciiEnd + 1]*dfaState
	// whether the automaton accepts before the character
	accepts [asciiEnd + 1]bool
}

// asciiEnd stands for that there is no further character.
const asciiEnd = 128

// maxStates is the number of states with which a dfa begins anew: each takes a kilobyte,
// and there can be very many.
const maxStates = 300

// mostRenewals is the number of times to begin anew from which its states are taken for
// too many to be worth remembering.
const mostRenewals = 8

// side is what conditions on a position ask of a character beside it.
type side uint8

const (
	sideNone side = iota
	sideLine
	sideWord
	sideOther
)

func sideOf(c rune) side {
	switch {
	case c < 0:
		return sideNone
	case c == '\n':
		return sideLine
	case isWord(c):
		return sideWord
	}
	return sideOther
}

// deterministic returns the dfa of an automaton, nil for one with lookaround.
func (p *program) deterministic(again bool) *dfa {
	if !p.examined {
		p.examined = true
		p.looks = slices.ContainsFunc(p.ins, func(i instr) bool { return i.op == inLook })
	}
	if p.looks {
		return nil
	}
	d := &p.anchored
	if again {
		d = &p.floating
	}
	if *d == nil {
		*d = &dfa{p: p, again: again, states: map[string]*dfaState{}, seen: make([]bool, len(p.ins))}
	}
	return *d
}

// begin is the state before anything was read, beside a character, or -1.
func (d *dfa) begin(c rune) *dfaState {
	last := sideOf(c)
	if s := d.starts[last]; s != nil {
		return s
	}
	d.kernel = append(d.kernel[:0], d.p.start)
	d.starts[last] = d.state(last)
	return d.starts[last]
}

// state is that of d.kernel.
func (d *dfa) state(last side) *dfaState {
	slices.Sort(d.kernel)
	d.kernel = slices.Compact(d.kernel)
	d.key = append(d.key[:0], byte(last))
	for _, pc := range d.kernel {
		d.key = binary.LittleEndian.AppendUint32(d.key, uint32(pc))
	}
	s := d.states[string(d.key)]
	if s == nil {
		s = &dfaState{kernel: slices.Clone(d.kernel), last: last}
		d.states[string(d.key)] = s
	}
	return s
}

// dead reports whether nothing can match from a state on.
func (d *dfa) dead(s *dfaState) bool { return len(s.kernel) == 0 && !d.again }

// step reads a character, or -1 for none, and tells whether the automaton accepts
// before it.
func (d *dfa) step(s *dfaState, c rune) (next *dfaState, accepts bool) {
	i := int(c)
	if c < 0 {
		i = asciiEnd
	}
	if i <= asciiEnd && (i < asciiEnd || c < 0) {
		if n := s.next[i]; n != nil {
			return n, s.accepts[i]
		}
	}
	next, accepts = d.follow(s, c)
	if len(d.states) >= maxStates {
		// the states before are let go of, also by the way that leads to them
		clear(d.states)
		clear(d.starts[:])
		d.renewed++
		return d.state(next.last), accepts
	}
	if i <= asciiEnd && c < asciiEnd {
		s.next[i], s.accepts[i] = next, accepts
	}
	return next, accepts
}

// follow computes a step.
func (d *dfa) follow(s *dfaState, c rune) (next *dfaState, accepts bool) {
	before, behind := s.last, sideOf(c)
	if d.p.reversed {
		before, behind = behind, before
	}
	d.met = append(d.met[:0], s.kernel...)
	if d.again {
		d.met = append(d.met, d.p.start)
	}
	d.kernel = d.kernel[:0]
	defer func() { d.work = len(d.met) }()
	for i := 0; i < len(d.met); i++ {
		pc := d.met[i]
		if d.seen[pc] {
			continue
		}
		d.seen[pc] = true
		switch in := &d.p.ins[pc]; in.op {
		case inClass:
			if c >= 0 && in.set.has(c) {
				d.kernel = append(d.kernel, in.out)
			}
		case inSplit:
			d.met = append(d.met, in.out, in.out1)
		case inAssert:
			if holdsBetween(in.kind, before, behind) {
				d.met = append(d.met, in.out)
			}
		case inAccept:
			accepts = true
		}
	}
	for _, pc := range d.met {
		d.seen[pc] = false
	}
	return d.state(sideOf(c)), accepts
}

// holdsBetween tests a condition on a position by what is on both sides of it.
func holdsBetween(kind byte, before, behind side) bool {
	switch kind {
	case textStart:
		return before == sideNone
	case textEnd:
		return behind == sideNone
	case lineStart:
		return before == sideNone || before == sideLine
	case lineEnd:
		return behind == sideNone || behind == sideLine
	case wordStart:
		return before != sideWord && behind == sideWord
	case wordEnd:
		return before == sideWord && behind != sideWord
	case wordEdge:
		return (before == sideWord) != (behind == sideWord)
	}
	return (before == sideWord) == (behind == sideWord)
}

// at is a character of the text, -1 beside it.
func (m *Matcher) at(i int) rune {
	if i < 0 || i >= len(m.text) {
		return -1
	}
	return m.text[i]
}

// each runs a dfa from a position to another one, backward if its automaton is reversed,
// and calls found for each position where it accepts, until that returns false.
func (m *Matcher) each(d *dfa, from, to int, found func(i int) bool) {
	way, here := 1, 0
	if d.p.reversed {
		way, here = -1, -1
	}
	// the character behind a position is that of its number
	s := d.begin(m.at(from - here - 1))
	work := 0
	for i := from; ; i += way {
		if work++; work >= 1024 {
			m.tick(work)
			work = 0
		}
		next, accepts := d.step(s, m.at(i+here))
		work, d.work = work+d.work, 0
		if accepts && !found(i) {
			return
		}
		if s = next; i == to || d.dead(s) {
			return
		}
	}
}

// matches reports whether the pattern matches somewhere, or where the text begins.
// Characters of ASCII whose way is known, nearly all of them, cost one look at a table.
func (m *Matcher) matches(d *dfa) bool {
	s, src := d.begin(-1), m.src
	work := 0
	for i := 0; i < len(src); {
		c, width := rune(src[i]), 1
		if c < utf8.RuneSelf {
			if n := s.next[c]; n != nil {
				if s.accepts[c] {
					return true
				}
				if s = n; !d.again && d.dead(n) {
					return false
				}
				i++
				continue
			}
		} else {
			c, width = utf8.DecodeRune(src[i:])
		}
		next, accepts := d.step(s, c)
		if accepts {
			return true
		}
		if d.dead(next) {
			return false
		}
		s = next
		i += width
		if work, d.work = work+d.work+1, 0; work >= 1024 {
			m.tick(work)
			work = 0
		}
	}
	_, accepts := d.step(s, -1)
	return accepts
}

// leftmost finds the leftmost match that begins at start or later, and of those the
// longest or the shortest, by the positions at which matches of the whole text begin.
func (m *Matcher) leftmost(d *dfa, start int, short bool) (b, e int, ok bool) {
	if m.begins.bits == nil {
		m.begins = newPlaces(0, len(m.text))
		m.each(m.re.reversal().deterministic(true), len(m.text), 0, func(i int) bool {
			m.begins.set(i)
			return true
		})
	}
	if b = m.begins.from(start); b < 0 {
		return -1, 0, false
	}
	m.each(d, b, len(m.text), func(i int) bool {
		e, ok = i, true
		return !short
	})
	return b, e, ok
}
