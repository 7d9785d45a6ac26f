package types

import (
	"bytes"
	"cmp"
	"slices"
)

// CanonicalJSONB appends jsonb's text of JSON text to buf, which is not part of
// it. Well-formed text is rewritten in one pass; what is not, and what needs more
// than that (escapes of code points, numbers with exponents, great depth), goes
// through the parser, which also has the errors.
func CanonicalJSONB(buf, src []byte) ([]byte, error) {
	var c jsonCanon
	return c.append(buf, src)
}

// jsonCanon rewrites JSON text. Its lists are used again.
type jsonCanon struct {
	src     []byte
	pos     int
	out     []byte
	depth   int
	members []jsonMember
	scratch []byte
}

// jsonMember is a member of an object in the output: the key without quotes, and
// the end of the value.
type jsonMember struct{ key, keyEnd, end int }

const (
	canonDepth  = 200
	canonDigits = 1000
)

func (c *jsonCanon) append(buf, src []byte) ([]byte, error) {
	c.src, c.pos, c.out, c.depth, c.members = src, 0, buf, 0, c.members[:0]
	if c.value() {
		if c.blanks(); c.pos == len(src) {
			return c.out, nil
		}
	}
	b, err := canonicalJSONB(string(src))
	return append(buf, b...), err
}

func (c *jsonCanon) blanks() {
	for c.pos < len(c.src) {
		switch c.src[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

// next is the byte after blanks, 0 at the end.
func (c *jsonCanon) next() byte {
	c.blanks()
	if c.pos < len(c.src) {
		return c.src[c.pos]
	}
	return 0
}

// value copies a value; false leaves it to the parser.
func (c *jsonCanon) value() bool {
	switch b := c.next(); b {
	case '{', '[':
		if c.depth++; c.depth > canonDepth {
			return false
		}
		c.pos++
		ok := false
		if b == '{' {
			ok = c.object()
		} else {
			ok = c.array()
		}
		c.depth--
		return ok
	case '"':
		_, ok := c.str()
		return ok
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	return c.number()
}

func (c *jsonCanon) word(w string) bool {
	end := c.pos + len(w)
	if end > len(c.src) || string(c.src[c.pos:end]) != w || end < len(c.src) && isJSONWord(c.src[end]) {
		return false
	}
	c.out, c.pos = append(c.out, w...), end
	return true
}

// str copies a string and reports whether it has no escapes.
func (c *jsonCanon) str() (plain, ok bool) {
	plain = true
	for i := c.pos + 1; i < len(c.src); i++ {
		switch b := c.src[i]; {
		case b == '"':
			c.out, c.pos = append(c.out, c.src[c.pos:i+1]...), i+1
			return plain, true
		case b == '\\':
			if i++; i == len(c.src) || bytes.IndexByte([]byte(`"\bfnrt`), c.src[i]) < 0 {
				return false, false
			}
			plain = false
		case b < ' ':
			return false, false
		}
	}
	return false, false
}

// number copies a number that is written as numeric writes it.
func (c *jsonCanon) number() bool {
	i := c.pos
	neg := i < len(c.src) && c.src[i] == '-'
	if neg {
		i++
	}
	from := i
	zero := true
	digits := func() bool {
		start := i
		for i < len(c.src) && c.src[i] >= '0' && c.src[i] <= '9' {
			zero = zero && c.src[i] == '0'
			i++
		}
		return i > start
	}
	if !digits() || c.src[from] == '0' && i > from+1 {
		return false
	}
	if i < len(c.src) && c.src[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if neg && zero || i-from > canonDigits || i < len(c.src) && isJSONWord(c.src[i]) {
		return false
	}
	c.out, c.pos = append(c.out, c.src[c.pos:i]...), i
	return true
}

func (c *jsonCanon) array() bool {
	c.out = append(c.out, '[')
	if c.next() == ']' {
		c.out, c.pos = append(c.out, ']'), c.pos+1
		return true
	}
	for {
		if !c.value() {
			return false
		}
		switch c.next() {
		case ',':
			c.out, c.pos = append(c.out, ", "...), c.pos+1
		case ']':
			c.out, c.pos = append(c.out, ']'), c.pos+1
			return true
		default:
			return false
		}
	}
}

func (c *jsonCanon) object() bool {
	c.out = append(c.out, '{')
	if c.next() == '}' {
		c.out, c.pos = append(c.out, '}'), c.pos+1
		return true
	}
	first, start, sorted := len(c.members), len(c.out), true
	for {
		m := jsonMember{key: len(c.out) + 1}
		if c.next() != '"' {
			return false
		}
		if plain, ok := c.str(); !plain || !ok {
			return false
		}
		m.keyEnd = len(c.out) - 1
		if c.next() != ':' {
			return false
		}
		c.out, c.pos = append(c.out, ": "...), c.pos+1
		if !c.value() {
			return false
		}
		m.end = len(c.out)
		if n := len(c.members); n > first && c.compareKeys(c.members[n-1], m) >= 0 {
			sorted = false
		}
		c.members = append(c.members, m)
		switch c.next() {
		case ',':
			c.out, c.pos = append(c.out, ", "...), c.pos+1
		case '}':
			c.pos++
			if !sorted {
				c.sort(start, c.members[first:])
			}
			c.members = c.members[:first]
			c.out = append(c.out, '}')
			return true
		default:
			return false
		}
	}
}

// compareKeys is jsonb's order of keys, by length and then by bytes.
func (c *jsonCanon) compareKeys(a, b jsonMember) int {
	if d := cmp.Compare(a.keyEnd-a.key, b.keyEnd-b.key); d != 0 {
		return d
	}
	return bytes.Compare(c.out[a.key:a.keyEnd], c.out[b.key:b.keyEnd])
}

// sort brings the members of an object, written from start on, into their order
// and keeps the last of equal keys.
func (c *jsonCanon) sort(start int, ms []jsonMember) {
	slices.SortStableFunc(ms, c.compareKeys)
	c.scratch = c.scratch[:0]
	for i, m := range ms {
		if i+1 < len(ms) && c.compareKeys(m, ms[i+1]) == 0 {
			continue
		}
		if len(c.scratch) > 0 {
			c.scratch = append(c.scratch, ", "...)
		}
		c.scratch = append(c.scratch, c.out[m.key-1:m.end]...)
	}
	c.out = append(c.out[:start], c.scratch...)
}
