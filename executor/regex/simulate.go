package regex

import "math/bits"

// pollEvery is the number of steps between two looks at whether to go on.
const pollEvery = 1 << 14

// stopped carries poll's error up through the matcher.
type stopped struct{ err error }

// threads is a set of states of an automaton, each with the place where its match
// began.
type threads struct {
	dense  []int32
	from   []int // by state
	sparse []int32
}

func (t *threads) grow(n int) {
	if len(t.sparse) < n {
		t.sparse, t.from = make([]int32, n), make([]int, n)
	}
	t.dense = t.dense[:0]
}

func (t *threads) has(pc int32) bool {
	i := t.sparse[pc]
	return int(i) < len(t.dense) && t.dense[i] == pc
}

// run is an automaton at work.
type run struct {
	m         *Matcher
	p         *program
	cur, next threads
	stack     []int32
}

func (m *Matcher) start(p *program) *run {
	r := &run{m: m, p: p}
	if n := len(m.idle); n > 0 {
		r = m.idle[n-1]
		m.idle = m.idle[:n-1]
		r.p = p
	}
	r.cur.grow(len(p.ins))
	r.next.grow(len(p.ins))
	return r
}

func (r *run) done() { r.m.idle = append(r.m.idle, r) }

// add puts a state into the set with all that it leads to without a character, and
// reports whether the automaton accepts then.
func (r *run) add(t *threads, pc int32, pos, from int) (accept bool) {
	r.stack = append(r.stack[:0], pc)
	for len(r.stack) > 0 {
		pc := r.stack[len(r.stack)-1]
		r.stack = r.stack[:len(r.stack)-1]
		if t.has(pc) {
			if t.from[pc] <= from {
				continue
			}
		} else {
			t.sparse[pc] = int32(len(t.dense))
			t.dense = append(t.dense, pc)
		}
		t.from[pc] = from
		switch in := &r.p.ins[pc]; in.op {
		case inSplit:
			r.stack = append(r.stack, in.out1, in.out)
		case inAssert:
			if r.m.holds(in.kind, pos) {
				r.stack = append(r.stack, in.out)
			}
		case inLook:
			if r.m.looks(in.look, pos) != in.negated {
				r.stack = append(r.stack, in.out)
			}
		case inAccept:
			accept = true
		}
	}
	return accept
}

// step takes the character at i, or before it for a reversed automaton. best is the
// smallest from of those that accept then, or -1.
func (r *run) step(i, limit int) (best int) {
	m := r.m
	m.tick(len(r.cur.dense) + 1)
	best = -1
	at, to := i, i+1
	if r.p.reversed {
		at, to = i-1, i-1
	}
	c := m.text[at]
	r.next.dense = r.next.dense[:0]
	for _, pc := range r.cur.dense {
		from := r.cur.from[pc]
		if in := &r.p.ins[pc]; in.op == inClass && (limit < 0 || from <= limit) && in.set.has(c) {
			if r.add(&r.next, in.out, to, from) && (best < 0 || from < best) {
				best = from
			}
		}
	}
	r.cur, r.next = r.next, r.cur
	return best
}

// search finds the leftmost match that begins at start or later, and of those the
// longest or the shortest.
func (m *Matcher) search(p *program, start int, short bool) (b, e int, ok bool) {
	if d := p.deterministic(false); d != nil {
		return m.leftmost(d, start, short)
	}
	r := m.start(p)
	defer r.done()
	b = -1
	n := len(m.text)
	for i := start; ; i++ {
		if b < 0 && r.add(&r.cur, p.start, i, i) {
			// Only a match of nothing: threads that began before go first.
			b, e = i, i
		}
		if b >= 0 && (short || len(r.cur.dense) == 0) && !r.earlier(b) {
			break
		}
		if i == n || b >= 0 && len(r.cur.dense) == 0 {
			break
		}
		switch k := r.step(i, b); {
		case k < 0:
		case b < 0 || k < b:
			b, e = k, i+1
		case k == b && !short:
			e = i + 1
		}
	}
	return b, e, b >= 0
}

// earlier reports whether a thread began before b.
func (r *run) earlier(b int) bool {
	for _, pc := range r.cur.dense {
		if r.cur.from[pc] < b {
			return true
		}
	}
	return false
}

// places marks the positions of a part of the text: bit i is position low+i.
type places struct {
	low  int
	bits []uint64
}

func newPlaces(low, high int) places { return places{low, make([]uint64, (high-low)/64+1)} }

func (s places) set(i int)      { s.bits[(i-s.low)/64] |= 1 << ((i - s.low) % 64) }
func (s places) has(i int) bool { return s.bits[(i-s.low)/64]&(1<<((i-s.low)%64)) != 0 }

// from returns the first marked position that is i or later, to the last one that is i or
// earlier; -1 if there is none.
func (s places) from(i int) int {
	for k := max(i-s.low, 0); k < 64*len(s.bits); k = k&^63 + 64 {
		if w := s.bits[k/64] >> (k % 64); w != 0 {
			return s.low + k + bits.TrailingZeros64(w)
		}
	}
	return -1
}

func (s places) to(i int) int {
	for k := min(i-s.low, 64*len(s.bits)-1); k >= 0; k = k&^63 - 1 {
		if w := s.bits[k/64] << (63 - k%64); w != 0 {
			return s.low + k - bits.LeadingZeros64(w)
		}
	}
	return -1
}

// reach marks the positions between low and high up to which the automaton matches
// from at: behind it, or before it when it is reversed.
func (m *Matcher) reach(p *program, at, low, high int) places {
	out := newPlaces(low, high)
	if d := p.deterministic(false); d != nil {
		to := high
		if p.reversed {
			to = low
		}
		m.each(d, at, to, func(i int) bool {
			out.set(i)
			return true
		})
		return out
	}
	r := m.start(p)
	defer r.done()
	if r.add(&r.cur, p.start, at, 0) {
		out.set(at)
	}
	for i := at; len(r.cur.dense) > 0; {
		if p.reversed && i == low || !p.reversed && i == high {
			break
		}
		k := r.step(i, -1)
		if p.reversed {
			i--
		} else {
			i++
		}
		if k >= 0 {
			out.set(i)
		}
	}
	return out
}

// looks reports whether the automaton of lookaround matches at a position.
func (m *Matcher) looks(p *program, at int) bool {
	for len(m.seen) <= p.id {
		m.seen = append(m.seen, nil)
	}
	if m.seen[p.id] == nil {
		m.seen[p.id] = make([]uint8, len(m.text)+1)
	}
	if k := m.seen[p.id][at]; k != 0 {
		return k == 2
	}
	found := func() bool {
		r := m.start(p)
		defer r.done()
		if r.add(&r.cur, p.start, at, 0) {
			return true
		}
		for i := at; len(r.cur.dense) > 0; {
			if p.reversed && i == 0 || !p.reversed && i == len(m.text) {
				break
			}
			if r.step(i, -1) >= 0 {
				return true
			}
			if p.reversed {
				i--
			} else {
				i++
			}
		}
		return false
	}()
	m.seen[p.id][at] = 1
	if found {
		m.seen[p.id][at] = 2
	}
	return found
}

// holds tests a condition on a position.
func (m *Matcher) holds(kind byte, at int) bool {
	before := at > 0 && isWord(m.text[max(at-1, 0)])
	behind := at < len(m.text) && isWord(m.text[min(at, len(m.text)-1)])
	switch kind {
	case textStart:
		return at == 0
	case textEnd:
		return at == len(m.text)
	case lineStart:
		return at == 0 || m.text[at-1] == '\n'
	case lineEnd:
		return at == len(m.text) || m.text[at] == '\n'
	case wordStart:
		return !before && behind
	case wordEnd:
		return before && !behind
	case wordEdge:
		return before != behind
	}
	return before == behind
}

// tick counts work and asks now and then whether to go on.
func (m *Matcher) tick(n int) {
	if m.work += n; m.work < pollEvery {
		return
	}
	m.work = 0
	if m.poll != nil {
		if err := m.poll(); err != nil {
			panic(stopped{err})
		}
	}
}
