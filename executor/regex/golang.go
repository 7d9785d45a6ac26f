package regex

import (
	"regexp"
	"strconv"
	"strings"
)

// golang compiles the tree with package regexp, without groups; nil when that
// cannot say the same. positions tells that the pattern looks at what is before or
// behind a position.
func golang(n *node) (re *regexp.Regexp, positions bool) {
	w := &goWriter{ok: true}
	w.node(n)
	if !w.ok {
		return nil, false
	}
	re, err := regexp.Compile(w.b.String())
	if err != nil {
		return nil, false // it has limits of its own
	}
	re.Longest()
	return re, w.positions
}

type goWriter struct {
	b         strings.Builder
	ok        bool
	positions bool
}

func (w *goWriter) node(n *node) {
	switch n.op {
	case opClass:
		w.class(n.set)
	case opCat:
		for _, x := range n.subs {
			w.node(x)
		}
	case opAlt:
		w.b.WriteString("(?:")
		for i, x := range n.subs {
			if i > 0 {
				w.b.WriteByte('|')
			}
			w.node(x)
		}
		w.b.WriteByte(')')
	case opGroup:
		w.b.WriteString("(?:")
		w.node(n.subs[0])
		w.b.WriteByte(')')
	case opRepeat:
		w.b.WriteString("(?:")
		w.node(n.subs[0])
		w.b.WriteByte(')')
		w.b.WriteString(quantifierText(n.min, n.max))
	case opAssert:
		w.positions = true
		text, ok := map[byte]string{textStart: `\A`, textEnd: `\z`, lineStart: `(?m:^)`, lineEnd: `(?m:$)`, wordEdge: `\b`, wordInner: `\B`}[n.kind]
		w.ok = w.ok && ok
		w.b.WriteString(text)
	case opBack, opLook:
		w.ok = false
	}
}

func quantifierText(low, high int) string {
	switch {
	case low == 0 && high == unbounded:
		return "*"
	case low == 1 && high == unbounded:
		return "+"
	case high == unbounded:
		return "{" + strconv.Itoa(low) + ",}"
	}
	return "{" + strconv.Itoa(low) + "," + strconv.Itoa(high) + "}"
}

func (w *goWriter) class(c *class) {
	if len(c.pairs) == 2 && c.pairs[0] == c.pairs[1] {
		w.b.WriteString(regexp.QuoteMeta(string(c.pairs[0])))
		return
	}
	if len(c.pairs) == 0 { // no character at all
		w.b.WriteString(`[^\x{0}-\x{10FFFF}]`)
		return
	}
	w.b.WriteByte('[')
	for i, r := range c.pairs {
		if i%2 == 1 {
			w.b.WriteByte('-')
		}
		w.b.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
	}
	w.b.WriteByte(']')
}
