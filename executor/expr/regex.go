package expr

import (
	"errors"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/executor/regex"
)

// regexFlags are the letters of a flags argument.
type regexFlags struct {
	regex.Flags
	global bool
}

func parseRegexFlags(s []byte) (f regexFlags, err error) {
	for i, c := range s {
		if c == 'e' {
			c = 'b' // of flags, PostgreSQL takes neither as anything but basic ones
		}
		if c == 'g' {
			f.global = true
		} else if !f.Option(c) {
			_, w := utf8.DecodeRune(s[i:])
			return f, sqlerr.New(sqlerr.InvalidParameterValue, `invalid regular expression option: "%s"`, s[i:i+w])
		}
	}
	return f, nil
}

// errRegex gives an error of the matcher its SQLSTATE; one of the statement's end
// passes as it is.
func errRegex(err error) error {
	var e regex.Error
	if errors.As(err, &e) {
		return sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", e.Error())
	}
	return err
}

func compileRegex(src string, f regex.Flags) (*pattern, error) {
	re, err := regex.Compile(src, f)
	if err != nil {
		return nil, errRegex(err)
	}
	return &pattern{re}, nil
}

// pattern is a compiled regular expression.
type pattern struct{ re *regex.Regexp }

// match reports whether the pattern matches somewhere in the text.
func (p *pattern) match(c *callCtx, s []byte) (bool, error) {
	ok, err := p.re.Match(s, c.poll())
	return ok, errRegex(err)
}

// find returns the first match, with its groups if they are wanted; nil for none.
func (p *pattern) find(c *callCtx, s []byte, groups bool) ([]int, error) {
	loc, err := p.re.On(s, groups, c.poll()).Next(0)
	return loc, errRegex(err)
}

// matches returns up to limit matches (-1: all) from byte offset start on. An empty
// match moves on by one character.
func (p *pattern) matches(c *callCtx, s []byte, start, limit int, groups bool) (out [][]int, err error) {
	m := p.re.On(s, groups, c.poll())
	for at := start; at <= len(s) && (limit < 0 || len(out) < limit); {
		loc, err := m.Next(at)
		if err != nil {
			return nil, errRegex(err)
		}
		if loc == nil {
			break
		}
		if n := len(out); n == cap(out) { // a match takes about 64 bytes, its place in the list 24
			if err := c.room(int64(n) * 2 * (64 + 24)); err != nil {
				return nil, err
			}
		}
		out = append(out, loc)
		if at = loc[1]; loc[0] == loc[1] {
			if at >= len(s) {
				break
			}
			_, w := utf8.DecodeRune(s[at:])
			at += w
		}
	}
	return out, nil
}

// poll tells long computations when the statement is cancelled.
func (c *callCtx) poll() func() error {
	if c.env == nil {
		return nil
	}
	return c.env.Ctx.Err
}

// regexCache keeps the compiled patterns of one call.
type regexCache map[regexKey]*pattern

type regexKey struct {
	src   string
	flags regex.Flags
}

const maxCachedRegexes = 64

// regexBytes is about what a compiled pattern takes for a byte of its text, as far as it
// is not refused for its size.
const regexBytes = 1000

func regexOf(c *callCtx, src []byte, f regexFlags) (*pattern, error) {
	cache, _ := c.state.(regexCache)
	if p := cache[regexKey{string(src), f.Flags}]; p != nil {
		return p, nil
	}
	if err := c.room(regexBytes*int64(min(len(src), regex.MaxInstrs)) + int64(len(src))); err != nil {
		return nil, err
	}
	p, err := compileRegex(string(src), f.Flags)
	if err != nil {
		return nil, err
	}
	if cache == nil || len(cache) >= maxCachedRegexes {
		cache = make(regexCache)
		c.state = cache
	}
	cache[regexKey{string(src), f.Flags}] = p
	return p, nil
}

// similarToRegex turns an SQL regular expression into an advanced one. That of
// SUBSTRING … SIMILAR has three parts, of which the second is a group; the first is
// as short as possible.
func similarToRegex(p, esc []byte, given bool) ([]byte, error) {
	if given && utf8.RuneCount(esc) > 1 {
		return nil, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
	}
	out := []byte("^(?:")
	escaped, parts := false, 1
	brackets := 0 // how deep, as a class may have [:alpha:] in it
	begun := 0    // in a class: 0 behind its '[', 1 behind '[^', where ']' is an element
	for i := 0; i < len(p); {
		_, w := utf8.DecodeRune(p[i:])
		ch := p[i : i+w]
		i += w
		switch {
		case escaped:
			escaped = false
			if ch[0] != '"' || brackets > 0 {
				begun = 2
				out = append(append(out, '\\'), ch...)
				break
			}
			switch parts++; parts {
			case 2:
				out = append(out, "){1,1}?("...)
			case 3:
				out = append(out, "){1,1}(?:"...)
			default:
				return nil, sqlerr.New(sqlerr.InvalidUseOfEscape,
					"SQL regular expression may not contain more than two escape-double-quote separators")
			}
		case len(esc) > 0 && string(ch) == string(esc):
			escaped = true
		case brackets > 0:
			if ch[0] == '\\' {
				out = append(out, '\\')
			}
			out = append(out, ch...)
			switch {
			case ch[0] == ']' && begun > 1:
				brackets--
			case ch[0] == '^':
				begun++
			default:
				if ch[0] == '[' {
					brackets++
				}
				begun = 2
			}
		case ch[0] == '[':
			out = append(out, '[')
			brackets, begun = 1, 0
		case ch[0] == '%':
			out = append(out, ".*"...)
		case ch[0] == '_':
			out = append(out, '.')
		case ch[0] == '(':
			out = append(out, "(?:"...)
		case ch[0] == '\\' || ch[0] == '.' || ch[0] == '^' || ch[0] == '$':
			out = append(append(out, '\\'), ch...)
		default:
			out = append(out, ch...)
		}
	}
	return append(out, ")$"...), nil
}
