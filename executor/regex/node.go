package regex

// op is what a node of the pattern's tree does.
type op uint8

const (
	opEmpty op = iota
	opClass    // one character of set
	opCat
	opAlt
	opRepeat // subs[0], min … max times
	opGroup  // subs[0]; group is its number
	opBack   // what group matched
	opAssert // a condition on the position: kind
	opLook   // subs[0] matches (or, if negated, does not) from here on, or up to here if behind
)

// The conditions on a position.
const (
	textStart = 'A'
	textEnd   = 'Z'
	lineStart = '^'
	lineEnd   = '$'
	wordStart = 'm'
	wordEnd   = 'M'
	wordEdge  = 'y'
	wordInner = 'Y'
)

// unbounded is a node's max without a limit.
const unbounded = -1

// node is a part of the pattern.
type node struct {
	op       op
	subs     []*node
	set      *class
	min, max int
	prefer   flags // of the quantifier: 0, longer or shorter
	group    int
	kind     byte
	behind   bool
	negated  bool
	fold     bool // of a back reference: in either case
}

// flags tell what matters for dividing a match between parts.
type flags uint8

const (
	longer  flags = 1 << iota // prefers the longest match
	shorter                   // prefers the shortest match
	mixed                     // has both kinds of parts
	groups                    // has groups
	backs                     // has back references
)

const preference = longer | shorter

// up is what a part's flags mean for the part around it.
func (f flags) up() flags {
	out := f &^ preference
	if f&preference == preference {
		out |= mixed
	}
	return out
}

// prefer is the preference of the first of two parts that has one.
func (f flags) first(g flags) flags {
	if f&preference != 0 {
		return f & preference
	}
	return g & preference
}

// with combines the flags of a part with those of what follows.
func (f flags) with(g flags) flags { return (f | g).up() | f.first(g) }

// divided reports whether the part has to be divided.
func (f flags) divided() bool { return f&(mixed|groups|backs) != 0 }

// size is about the number of instructions of the node's automaton, at least 1, and at
// most MaxInstrs + 1: it stops there.
func (n *node) size() int {
	s := 1
	for _, x := range n.subs {
		if s += x.size(); s > MaxInstrs {
			return MaxInstrs + 1
		}
	}
	if n.op == opRepeat {
		s *= max(n.max, n.min+1)
	}
	return min(s, MaxInstrs+1)
}

// pinned reports whether what matches n begins where the text does.
func (n *node) pinned() bool {
	switch n.op {
	case opAssert:
		return n.kind == textStart
	case opGroup:
		return n.subs[0].pinned()
	case opRepeat:
		return n.min > 0 && n.subs[0].pinned()
	case opCat:
		return len(n.subs) > 0 && n.subs[0].pinned()
	case opAlt:
		for _, x := range n.subs {
			if !x.pinned() {
				return false
			}
		}
		return len(n.subs) > 0
	}
	return false
}
