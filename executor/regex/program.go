package regex

// The instructions of an automaton.
const (
	inClass  uint8 = iota // take a character of set, go to out
	inSplit               // go to out and to out1
	inAssert              // go to out where the condition holds
	inLook                // go to out where look matches, or does not if negated
	inAccept
)

type instr struct {
	op        uint8
	kind      byte
	negated   bool
	out, out1 int32
	set       *class
	look      *program
}

// program is an automaton. One that is reversed reads the text backward.
type program struct {
	ins      []instr
	start    int32
	reversed bool
	id       int // of one that answers lookaround, from 1

	examined, looks    bool // whether it has lookaround, once that was asked
	anchored, floating *dfa // made when they are needed
}

// MaxInstrs bounds the automaton of a pattern, as PostgreSQL bounds its own, and maxTotal
// those of all its parts together.
const (
	MaxInstrs = 100_000
	maxTotal  = 10 * MaxInstrs
)

// compiler makes the automata of one pattern.
type compiler struct {
	looks int
	total int
}

// compile makes the automaton of a sequence of nodes; it panics with errSize.
func (c *compiler) compile(nodes []*node, reversed bool) *program {
	b := &progBuilder{c: c, p: &program{reversed: reversed}}
	end := b.add(instr{op: inAccept})
	b.p.start = b.sequence(nodes, end)
	return b.p
}

type progBuilder struct {
	c *compiler
	p *program
}

func (b *progBuilder) add(i instr) int32 {
	if b.c.total++; b.c.total > maxTotal {
		panic(errSize)
	}
	b.p.ins = append(b.p.ins, i)
	return int32(len(b.p.ins) - 1)
}

// sequence adds nodes so that they go on at next, and returns where they begin.
func (b *progBuilder) sequence(nodes []*node, next int32) int32 {
	for i := range nodes {
		if b.p.reversed {
			next = b.node(nodes[i], next)
		} else {
			next = b.node(nodes[len(nodes)-1-i], next)
		}
	}
	return next
}

func (b *progBuilder) node(n *node, next int32) int32 {
	switch n.op {
	case opClass:
		return b.add(instr{op: inClass, set: n.set, out: next})
	case opCat:
		return b.sequence(n.subs, next)
	case opAlt:
		at := b.node(n.subs[len(n.subs)-1], next)
		for i := len(n.subs) - 2; i >= 0; i-- {
			at = b.add(instr{op: inSplit, out: b.node(n.subs[i], next), out1: at})
		}
		return at
	case opRepeat:
		return b.repeat(n, next)
	case opGroup, opBack:
		// What a back reference matches is something that its group can match.
		return b.node(n.subs[0], next)
	case opAssert:
		return b.add(instr{op: inAssert, kind: n.kind, out: next})
	case opLook:
		look := b.c.compile(n.subs, n.behind)
		b.c.looks++
		look.id = b.c.looks
		return b.add(instr{op: inLook, look: look, negated: n.negated, out: next})
	}
	return next
}

func (b *progBuilder) repeat(n *node, next int32) int32 {
	at := next
	if n.max == unbounded {
		at = b.add(instr{op: inSplit, out1: next})
		body := b.node(n.subs[0], at)
		b.p.ins[at].out = body
	} else {
		for range n.max - n.min {
			at = b.add(instr{op: inSplit, out: b.node(n.subs[0], at), out1: next})
		}
	}
	for range n.min {
		at = b.node(n.subs[0], at)
	}
	return at
}
