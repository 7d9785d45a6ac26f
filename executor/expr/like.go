package expr

import (
	"bytes"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func likeFuncs(r *registry) {
	r.add(like(false, false, true), "textlike", "namelike")
	r.add(like(true, false, true), "textnlike", "namenlike")
	r.add(like(false, true, true), "texticlike", "nameiclike")
	r.add(like(true, true, true), "texticnlike", "nameicnlike")
	r.add(like(false, false, false), "bytealike")
	r.add(like(true, false, false), "byteanlike")
	r.add(fn2(likeEscape), "like_escape", "like_escape_bytea")
}

func like(not, fold, chars bool) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &likeEval{frame: newFrame(call, args), not: not, m: likePattern{fold: fold, chars: chars}}, nil
	}
}

// likeEval is [NOT] LIKE and ILIKE; as a predicate it writes the selection.
type likeEval struct {
	frame
	not   bool
	m     likePattern
	last  []byte // the pattern m was made from
	valid bool
	found []uint32
}

func (e *likeEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	e.m.poll = e.poll()
	for _, i := range rows {
		ok, err := e.match(int(i))
		if err != nil {
			return nil, err
		}
		e.out.Bool[i] = ok
	}
	return &e.out, nil
}

func (e *likeEval) Select(env *Env, b *vec.Batch) error {
	if _, err := e.evalArgs(env, b); err != nil {
		return err
	}
	e.m.poll = e.poll()
	found := room(e.found, b)
	for _, i := range rowsOf(b) {
		if e.vecs[0].IsNull(int(i)) || e.vecs[1].IsNull(int(i)) {
			continue
		}
		ok, err := e.match(int(i))
		if err != nil {
			return err
		}
		if ok {
			found = append(found, i)
		}
	}
	e.found, b.Sel = found, found
	return nil
}

func (e *likeEval) match(i int) (bool, error) {
	x, p := e.vecs[0], e.vecs[1]
	pattern := p.B[p.Idx(i)]
	if !e.valid || !bytes.Equal(pattern, e.last) {
		if err := e.room(likeBytes * int64(len(pattern))); err != nil {
			return false, err
		}
		e.last, e.valid = append(e.last[:0], pattern...), true
		e.m.parse(e.last)
	}
	ok := e.m.match(padded(&e.callCtx, 0, x.B[x.Idx(i)]))
	if e.m.stopped != nil {
		return false, e.m.stopped
	}
	if ok && e.m.dangling {
		return false, sqlerr.New(sqlerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
	}
	return ok != e.not, nil
}

// likePattern is a parsed LIKE pattern: parts separated by %. A part is a run
// of literal bytes and single-character wildcards.
type likePattern struct {
	fold, chars bool // ignore ASCII case; _ is a character, not a byte
	parts       []likePart
	// open[0] and open[1] tell whether the pattern begins and ends with %.
	open     [2]bool
	dangling bool // the pattern ended with its escape character
	lower    []byte
	// poll is asked in long searches whether to go on; if not, stopped is its error and
	// the answer is worth nothing.
	poll    func() error
	work    int
	stopped error
}

// likeBytes is about what a parsed pattern takes for a byte of its text.
const likeBytes = 60

type likePart struct {
	lit  []byte
	wild []int // offsets in lit where a wildcard stands for one character, ascending
}

const wildByte = 0

func (m *likePattern) parse(p []byte) {
	m.parts, m.open, m.dangling = m.parts[:0], [2]bool{}, false
	cur := likePart{}
	started, lastOpen := false, false
	flush := func() {
		if len(cur.lit) > 0 {
			m.parts = append(m.parts, cur)
		}
		cur = likePart{}
	}
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '%':
			if !started {
				m.open[0] = true
			}
			flush()
			lastOpen = true
		case '_':
			cur.wild = append(cur.wild, len(cur.lit))
			cur.lit = append(cur.lit, wildByte)
			lastOpen = false
		default:
			if p[i] == '\\' {
				if i++; i == len(p) {
					// An error for texts that get as far as the escape
					// character, no match for the others.
					m.parseRest(append(p[:i-1:i-1], "_%"...))
					return
				}
			}
			c := p[i]
			if m.fold && c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			cur.lit = append(cur.lit, c)
			lastOpen = false
		}
		started = true
	}
	flush()
	m.open[1] = lastOpen
}

// parseRest parses the pattern that replaces one with a dangling escape.
func (m *likePattern) parseRest(p []byte) {
	m.parse(p)
	m.dangling = true
}

func (m *likePattern) match(s []byte) bool {
	if m.fold {
		m.lower = types.AppendLower(m.lower[:0], s)
		s = m.lower
	}
	parts := m.parts
	if len(parts) == 0 {
		return m.open[0] || m.open[1] || len(s) == 0
	}
	if !m.open[0] {
		n := m.prefix(&parts[0], s)
		if n < 0 {
			return false
		}
		s, parts = s[n:], parts[1:]
		if len(parts) == 0 {
			return m.open[1] || len(s) == 0
		}
	}
	for k := range parts {
		if k == len(parts)-1 && !m.open[1] {
			return m.suffix(&parts[k], s)
		}
		n := m.find(&parts[k], s)
		if n < 0 {
			return false
		}
		s = s[n:]
	}
	return true
}

// prefix matches the part at the start of s and returns the length matched, or -1.
func (m *likePattern) prefix(p *likePart, s []byte) int {
	if len(p.wild) == 0 {
		if bytes.HasPrefix(s, p.lit) {
			return len(p.lit)
		}
		return -1
	}
	at, from := 0, 0
	for _, w := range p.wild {
		lit := p.lit[from:w]
		if !bytes.HasPrefix(s[at:], lit) {
			return -1
		}
		at += len(lit)
		if at >= len(s) {
			return -1
		}
		if m.chars {
			_, n := utf8.DecodeRune(s[at:])
			at += n
		} else {
			at++
		}
		from = w + 1
	}
	if !bytes.HasPrefix(s[at:], p.lit[from:]) {
		return -1
	}
	return at + len(p.lit) - from
}

// stops reports whether a search for the part has to end, as poll says.
func (m *likePattern) stops(p *likePart) bool {
	const every = 1 << 20
	if m.work += len(p.wild); m.work < every || m.poll == nil {
		return false
	}
	m.work, m.stopped = 0, m.poll()
	return m.stopped != nil
}

// find returns the end of the part's first occurrence in s, or -1.
func (m *likePattern) find(p *likePart, s []byte) int {
	if len(p.wild) == 0 {
		if at := bytes.Index(s, p.lit); at >= 0 {
			return at + len(p.lit)
		}
		return -1
	}
	for at := 0; at <= len(s); {
		if n := m.prefix(p, s[at:]); n >= 0 {
			return at + n
		}
		if at == len(s) || m.stops(p) {
			break
		}
		_, w := utf8.DecodeRune(s[at:])
		if !m.chars {
			w = 1
		}
		at += w
	}
	return -1
}

// suffix reports whether the part matches the end of s.
func (m *likePattern) suffix(p *likePart, s []byte) bool {
	if len(p.wild) == 0 {
		return bytes.HasSuffix(s, p.lit)
	}
	for at := 0; at <= len(s); {
		if n := m.prefix(p, s[at:]); n == len(s)-at {
			return true
		}
		if at == len(s) || m.stops(p) {
			break
		}
		_, w := utf8.DecodeRune(s[at:])
		if !m.chars {
			w = 1
		}
		at += w
	}
	return false
}

// likeEscape rewrites a pattern with another escape character to backslash.
func likeEscape(c *callCtx, p, esc []byte) ([]byte, error) {
	if utf8.RuneCount(esc) > 1 {
		return nil, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
	}
	if len(esc) == 1 && esc[0] == '\\' {
		return p, nil
	}
	out := c.buf[:0]
	for i := 0; i < len(p); {
		_, w := utf8.DecodeRune(p[i:])
		ch := p[i : i+w]
		i += w
		switch {
		case len(esc) > 0 && bytes.Equal(ch, esc):
			out = append(out, '\\')
			if i < len(p) {
				_, w = utf8.DecodeRune(p[i:])
				out = append(out, p[i:i+w]...)
				i += w
			}
		case ch[0] == '\\':
			out = append(out, '\\', '\\')
		default:
			out = append(out, ch...)
		}
	}
	return c.keep(out), nil
}
