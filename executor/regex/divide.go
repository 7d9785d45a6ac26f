package regex

// part is a part of the pattern to which a piece of a match is assigned. Only
// those that have groups, back references or parts of both preferences are divided
// further; the others just match.
type part struct {
	kind     partKind
	flags    flags
	nodes    []*node // in this order
	subs     []*part
	group    int
	fold     bool
	min, max int

	fwd, rev *program
	again    *program // of any number of repetitions, reversed
}

type partKind uint8

const (
	plain       partKind = iota // is not divided
	sequence                    // subs[0], then subs[1]
	alternative                 // the first of subs that matches
	repetition                  // subs[0], min … max times
	group                       // subs[0]
	reference                   // what group matched, min … max times
)

// partOf makes the parts of a pattern.
func partOf(n *node) *part {
	switch n.op {
	case opCat:
		return partOfCat(n.subs)
	case opAlt:
		p := &part{kind: alternative, flags: longer, nodes: []*node{n}}
		for _, x := range n.subs {
			s := partOf(x)
			p.subs = append(p.subs, s)
			p.flags |= p.flags.with(s.flags)
		}
		if !p.flags.divided() {
			return &part{flags: p.flags, nodes: p.nodes}
		}
		return p
	case opGroup:
		s := partOf(n.subs[0])
		return &part{kind: group, flags: s.flags | groups, nodes: []*node{n}, subs: []*part{s}, group: n.group}
	case opBack:
		return &part{kind: reference, flags: backs, nodes: []*node{n}, group: n.group, fold: n.fold, min: 1, max: 1}
	case opRepeat:
		return partOfCat([]*node{n})
	case opEmpty:
		return &part{}
	}
	return &part{nodes: []*node{n}}
}

// partOfCat divides a sequence: what needs no dividing, up to the first node that
// does, this node, and the rest.
func partOfCat(nodes []*node) *part {
	var before flags
	for i, n := range nodes {
		atom, prefer := n, flags(0)
		if n.op == opRepeat {
			atom, prefer = n.subs[0], n.prefer
		}
		a := partOf(atom)
		f := before | prefer | a.flags
		if atom.op != opGroup && atom.op != opBack && !f.up().divided() {
			before = f
			continue
		}
		rest := partOfCat(nodes[i+1:])
		x := repeated(n, a)
		if len(nodes[i+1:]) > 0 {
			x = inSequence(x, rest, nodes[i:])
		}
		if i > 0 {
			x = inSequence(&part{flags: before, nodes: nodes[:i]}, x, nodes)
		}
		return x
	}
	return &part{flags: before, nodes: nodes}
}

// inSequence is a and then b, which together are nodes.
func inSequence(a, b *part, nodes []*node) *part {
	return &part{kind: sequence, flags: a.flags.with(b.flags), nodes: nodes, subs: []*part{a, b}}
}

// repeated is the part of an atom with its quantifier.
func repeated(n *node, atom *part) *part {
	if n.op != opRepeat {
		return atom
	}
	f := n.prefer.with(atom.flags)
	all := []*node{n}
	switch {
	case atom.kind == reference:
		return &part{kind: reference, flags: f | backs, nodes: all, group: atom.group, fold: atom.fold, min: n.min, max: n.max}
	case n.min == 1 && n.max == 1 && (n.prefer == 0 || atom.flags&(preference|mixed) == 0 || n.prefer == atom.flags&(preference|mixed)):
		return atom
	case atom.flags&(groups|backs) == 0:
		return &part{flags: f, nodes: all}
	case n.min > 0 && atom.flags&backs == 0:
		// The groups are those of the last repetition.
		less := *n
		if less.min--; less.max != unbounded {
			less.max--
		}
		if less.max == 0 {
			return &part{kind: atom.kind, flags: f, nodes: atom.nodes, subs: atom.subs, group: atom.group, min: atom.min, max: atom.max}
		}
		return &part{kind: sequence, flags: f, nodes: []*node{&less, n.subs[0]},
			subs: []*part{{flags: f & preference, nodes: []*node{&less}}, atom}}
	}
	return &part{kind: repetition, flags: f, nodes: all, subs: []*part{atom}, min: n.min, max: n.max}
}

func (m *Matcher) forward(p *part) *program {
	if p.fwd == nil {
		p.fwd = m.re.compiler.compile(p.nodes, false)
	}
	return p.fwd
}

func (m *Matcher) backward(p *part) *program {
	if p.rev == nil {
		p.rev = m.re.compiler.compile(p.nodes, true)
	}
	return p.rev
}

// ends marks the positions up to high at which a match of the part that begins at b
// can end; starts, those from low on at which one that ends at e can begin.
func (m *Matcher) ends(p *part, b, high int) places  { return m.reach(m.forward(p), b, b, high) }
func (m *Matcher) starts(p *part, e, low int) places { return m.reach(m.backward(p), e, low, e) }

// divide assigns the text from b to e, which the part's automaton matches, to the
// part; false when a back reference in it does not fit.
func (m *Matcher) divide(p *part, b, e int) bool {
	m.tick(1)
	switch p.kind {
	case sequence:
		return m.divideSequence(p, b, e)
	case alternative:
		for _, s := range p.subs {
			if !m.ends(s, b, e).has(e) {
				continue
			}
			if m.divide(s, b, e) {
				return true
			}
			m.forget(p)
		}
		return false
	case group:
		if !m.divide(p.subs[0], b, e) {
			return false
		}
		m.groups[2*p.group], m.groups[2*p.group+1] = b, e
	case repetition:
		return m.divideRepetition(p, b, e)
	case reference:
		return m.refers(p, b, e)
	}
	return true
}

// divideSequence tries the ends of the first part from the one that it prefers.
func (m *Matcher) divideSequence(p *part, b, e int) bool {
	l, r := p.subs[0], p.subs[1]
	from, to := m.ends(l, b, e), m.starts(r, e, b)
	for k := range e - b + 1 {
		mid := e - k
		if l.flags&shorter != 0 {
			mid = b + k
		}
		if !from.has(mid) || !to.has(mid) {
			continue
		}
		if m.divide(l, b, mid) && m.divide(r, mid, e) {
			return true
		}
		m.forget(p)
	}
	return false
}

// divideRepetition tries for each repetition the ends from the one preferred.
func (m *Matcher) divideRepetition(p *part, b, e int) bool {
	x := p.subs[0]
	if b == e && p.min == 0 {
		// Nothing is matched once, if it can be, rather than not at all: the groups are set.
		if p.max != 0 && m.ends(x, b, e).has(b) && m.divide(x, b, b) {
			return true
		}
		m.forget(x)
		return true
	}
	least, most := max(p.min, 1), e-b
	if p.max != unbounded {
		most = min(most, p.max)
	}
	most = max(most, least)
	if p.again == nil {
		p.again = m.re.compiler.compile([]*node{{op: opRepeat, max: unbounded, subs: []*node{{op: opCat, subs: x.nodes}}}}, true)
	}
	rest := m.reach(p.again, e, b, e) // from where repetitions lead to the end
	type try struct{ k, at int }
	failed := map[try]bool{}
	cuts := []int{b}
	var next func(k, at int) bool
	next = func(k, at int) bool {
		m.tick(1)
		if at == e && k >= least {
			for i := range k {
				m.forget(x)
				if !m.divide(x, cuts[i], cuts[i+1]) {
					return false
				}
			}
			return true
		}
		if k >= most || failed[try{k, at}] {
			return false
		}
		ends := m.ends(x, at, e)
		for i := range e - at + 1 {
			to := e - i
			if p.flags&shorter != 0 {
				to = at + i
			}
			if !ends.has(to) || !rest.has(to) {
				continue
			}
			// Nothing is matched only where the number of repetitions asks for it.
			if to == at && (k+1 >= least || least-k-1 < e-to) {
				continue
			}
			cuts = append(cuts[:k+1], to)
			if next(k+1, to) {
				return true
			}
		}
		if p.flags&backs == 0 {
			failed[try{k, at}] = true
		}
		return false
	}
	return next(0, b)
}

// refers reports whether the text is what the group matched, often enough.
func (m *Matcher) refers(p *part, b, e int) bool {
	gb, ge := m.groups[2*p.group], m.groups[2*p.group+1]
	if gb < 0 {
		return false
	}
	n := ge - gb
	if n == 0 {
		return b == e
	}
	k := (e - b) / n
	if (e-b)%n != 0 || k < p.min || p.max != unbounded && k > p.max {
		return false
	}
	for i := b; i < e; i++ {
		x, y := m.text[i], m.text[gb+(i-b)%n]
		if x != y && !(p.fold && lower(x) == lower(y)) {
			return false
		}
	}
	return true
}

func lower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// forget undoes the groups of a part.
func (m *Matcher) forget(p *part) {
	if p.kind == group {
		m.groups[2*p.group], m.groups[2*p.group+1] = -1, -1
	}
	for _, s := range p.subs {
		m.forget(s)
	}
}
