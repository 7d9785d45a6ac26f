package expr

import (
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func regexFuncs(r *registry) {
	match := func(fold, want bool) builder {
		return fn2(func(c *callCtx, s, p []byte) (bool, error) {
			re, err := regexOf(c, p, regexFlags{fold: fold})
			if err != nil {
				return false, err
			}
			return re.re.Match(padded(c, 0, s)) == want, nil
		})
	}
	r.add(match(false, true), "textregexeq", "nameregexeq")
	r.add(match(false, false), "textregexne", "nameregexne")
	r.add(match(true, true), "texticregexeq", "nameicregexeq")
	r.add(match(true, false), "texticregexne", "nameicregexne")
	r.add(fnD(regexpLike), "regexp_like", "regexp_like_no_flags")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return regexSubstr(c, a[0].B, a[1].B) }), "textregexsubstr")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if a[0].Null || a[1].Null || a[2].Null {
			return null, nil
		}
		p, err := similarToRegex(a[1].B, a[2].B, true)
		if err != nil {
			return null, err
		}
		return regexSubstr(c, a[0].B, p)
	}), "sql_substring_2074")
	r.add(fnD(regexReplace), "textregexreplace_noopt", "textregexreplace", "textregexreplace_extended",
		"textregexreplace_extended_no_flags", "textregexreplace_extended_no_n")
	r.add(fnD(regexpMatch), "regexp_match", "regexp_match_no_flags")
	r.addSet(rowsSet(regexpMatches), "regexp_matches", "regexp_matches_no_flags")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		parts, err := regexpSplit(c, a, "regexp_split_to_array()")
		return textArray(parts), err
	}), "regexp_split_to_array", "regexp_split_to_array_no_flags")
	r.addSet(rowsSet(func(c *callCtx, a []types.Datum) ([][]types.Datum, error) {
		parts, err := regexpSplit(c, a, "regexp_split_to_table()")
		return column1(parts), err
	}), "regexp_split_to_table", "regexp_split_to_table_no_flags")
	r.add(fnD(regexpCount), "regexp_count", "regexp_count_no_flags", "regexp_count_no_start")
	r.add(fnD(regexpInstr), "regexp_instr", "regexp_instr_no_subexpr", "regexp_instr_no_flags", "regexp_instr_no_endoption",
		"regexp_instr_no_n", "regexp_instr_no_start")
	r.add(fnD(regexpSubstr), "regexp_substr", "regexp_substr_no_subexpr", "regexp_substr_no_flags", "regexp_substr_no_n",
		"regexp_substr_no_start")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		esc := []byte(`\`)
		if len(a) > 1 {
			esc = a[1].B
		}
		p, err := similarToRegex(a[0].B, esc, len(a) > 1)
		return textDatum(c.keep(append(c.buf[:0], p...))), err
	}), "similar_to_escape_1", "similar_to_escape_2")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return null, nil
		}
		esc := []byte(`\`)
		if !a[1].Null {
			esc = a[1].B
		}
		p, err := similarToRegex(a[0].B, esc, true)
		return textDatum(c.keep(append(c.buf[:0], p...))), err
	}), "similar_escape")
}

// regexCache keeps the compiled patterns of one call.
type regexCache map[regexKey]*pattern

type regexKey struct {
	src   string
	flags regexFlags
}

const maxCachedRegexes = 64

func regexOf(c *callCtx, src []byte, f regexFlags) (*pattern, error) {
	cache, _ := c.state.(regexCache)
	if p := cache[regexKey{string(src), f}]; p != nil {
		return p, nil
	}
	p, err := compileRegex(string(src), f)
	if err != nil {
		return nil, err
	}
	if cache == nil || len(cache) >= maxCachedRegexes {
		cache = make(regexCache)
		c.state = cache
	}
	cache[regexKey{string(src), f}] = p
	return p, nil
}

// flagsArg reads argument k as flags. global tells whether g is allowed.
func flagsArg(a []types.Datum, k int, function string, global bool) (regexFlags, error) {
	if len(a) <= k {
		return regexFlags{}, nil
	}
	f, err := parseRegexFlags(a[k].B)
	if err == nil && f.global && !global {
		err = sqlerr.New(sqlerr.InvalidParameterValue, `%s does not support the "global" option`, function)
	}
	return f, err
}

// matches returns up to limit matches (-1: all) as submatch offsets, from byte
// offset start on. An empty match moves on by one character.
func (p *pattern) matches(s []byte, start, limit int) [][]int {
	if p.anchored && start == 0 {
		return p.re.FindAllSubmatchIndex(s, limit)
	}
	var out [][]int
	if p.anchored {
		for _, m := range p.re.FindAllSubmatchIndex(s, -1) {
			if m[0] >= start && (limit < 0 || len(out) < limit) {
				out = append(out, m)
			}
		}
		return out
	}
	for at := start; at <= len(s) && (limit < 0 || len(out) < limit); {
		m := p.re.FindSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		for k := range m {
			if m[k] >= 0 {
				m[k] += at
			}
		}
		out = append(out, m)
		if at = m[1]; m[0] == m[1] {
			if at >= len(s) {
				break
			}
			_, w := utf8.DecodeRune(s[at:])
			at += w
		}
	}
	return out
}

func regexpLike(c *callCtx, a []types.Datum) (types.Datum, error) {
	f, err := flagsArg(a, 2, "regexp_like()", false)
	if err != nil {
		return null, err
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil {
		return null, err
	}
	return types.Bool(p.re.Match(a[0].B)), nil
}

// regexSubstr is substring(s from pattern): the first group, or the whole match.
func regexSubstr(c *callCtx, s, src []byte) (types.Datum, error) {
	p, err := regexOf(c, src, regexFlags{})
	if err != nil {
		return null, err
	}
	m := p.re.FindSubmatchIndex(s)
	if m == nil {
		return null, nil
	}
	k := 0
	if p.re.NumSubexp() > 0 {
		k = 2
	}
	if m[k] < 0 {
		return null, nil
	}
	return textDatum(s[m[k]:m[k+1]]), nil
}

// regexReplace is every form of regexp_replace: (s, p, r [, flags]) and
// (s, p, r, start [, n [, flags]]).
func regexReplace(c *callCtx, a []types.Datum) (types.Datum, error) {
	var f regexFlags
	var err error
	start, nth := int64(1), int64(1)
	switch {
	case len(a) == 4 && a[3].T.Rep() == types.RepBytes:
		if len(a[3].B) > 0 && a[3].B[0] >= '0' && a[3].B[0] <= '9' {
			return null, sqlerr.New(sqlerr.InvalidParameterValue, `invalid regular expression option: "%c"`, a[3].B[0]).
				WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
		}
		f, err = parseRegexFlags(a[3].B)
	case len(a) == 6:
		f, err = flagsArg(a, 5, "", true)
	}
	if err != nil {
		return null, err
	}
	if f.global {
		nth = 0
	}
	if len(a) >= 4 && a[3].T.Rep() == types.RepInt {
		if start = a[3].I; start <= 0 {
			return null, errParameter("start", start)
		}
		if len(a) >= 5 {
			if nth = a[4].I; nth < 0 {
				return null, errParameter("n", nth)
			}
		}
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil {
		return null, err
	}
	s := a[0].B
	limit := int(nth)
	if nth == 0 {
		limit = -1
	}
	if start > int64(utf8.RuneCount(s))+1 {
		return a[0], nil
	}
	ms := p.matches(s, charOffset(s, start-1), limit)
	if nth > 0 {
		if len(ms) < int(nth) {
			return a[0], nil
		}
		ms = ms[nth-1:]
	}
	out, from := c.buf[:0], 0
	for _, m := range ms {
		out = append(out, s[from:m[0]]...)
		out = appendReplacement(out, a[2].B, s, m)
		from = m[1]
	}
	return textDatum(c.keep(append(out, s[from:]...))), nil
}

func errParameter(name string, v int64) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, `invalid value for parameter "%s": %d`, name, v)
}

// appendReplacement expands \1 … \9, \& and \\.
func appendReplacement(out, repl, s []byte, m []int) []byte {
	for i := 0; i < len(repl); i++ {
		if repl[i] != '\\' || i+1 == len(repl) {
			out = append(out, repl[i])
			continue
		}
		i++
		k := -1
		switch ch := repl[i]; {
		case ch == '&':
			k = 0
		case ch >= '1' && ch <= '9':
			k = int(ch - '0')
		case ch == '\\':
			out = append(out, '\\')
			continue
		default:
			out = append(out, '\\', ch)
			continue
		}
		if 2*k+1 < len(m) && m[2*k] >= 0 {
			out = append(out, s[m[2*k]:m[2*k+1]]...)
		}
	}
	return out
}

// groupsOf are a match's groups, or the whole match where there are none.
func groupsOf(s []byte, m []int) []types.Datum {
	if len(m) > 2 {
		m = m[2:]
	}
	out := make([]types.Datum, 0, len(m)/2)
	for k := 0; k < len(m); k += 2 {
		if m[k] < 0 {
			out = append(out, types.Null(types.TText))
		} else {
			out = append(out, textDatum(s[m[k]:m[k+1]]))
		}
	}
	return out
}

func textArray(elems []types.Datum) types.Datum {
	if len(elems) == 0 {
		return types.NewArray(types.TText, nil, nil, nil)
	}
	return types.NewArray(types.TText, []int{len(elems)}, []int{1}, elems)
}

func regexpMatch(c *callCtx, a []types.Datum) (types.Datum, error) {
	f, err := flagsArg(a, 2, "regexp_match()", false)
	if err != nil {
		if f.global {
			return null, sqlerr.New(sqlerr.InvalidParameterValue, `regexp_match() does not support the "global" option`).
				WithHint("Use the regexp_matches function instead.")
		}
		return null, err
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil {
		return null, err
	}
	m := p.re.FindSubmatchIndex(a[0].B)
	if m == nil {
		return null, nil
	}
	return textArray(groupsOf(a[0].B, m)), nil
}

func regexpMatches(c *callCtx, a []types.Datum) ([][]types.Datum, error) {
	f, err := flagsArg(a, 2, "regexp_matches()", true)
	if err != nil {
		return nil, err
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil {
		return nil, err
	}
	limit := 1
	if f.global {
		limit = -1
	}
	var rows [][]types.Datum
	for _, m := range p.matches(a[0].B, 0, limit) {
		rows = append(rows, []types.Datum{textArray(groupsOf(a[0].B, m))})
	}
	return rows, nil
}

// regexpSplit cuts at the matches; empty matches at the ends or right after a
// match do not cut.
func regexpSplit(c *callCtx, a []types.Datum, function string) ([]types.Datum, error) {
	f, err := flagsArg(a, 2, function, false)
	if err != nil {
		return nil, err
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil {
		return nil, err
	}
	s, from := a[0].B, 0
	var out []types.Datum
	for _, m := range p.matches(s, 0, -1) {
		if m[0] >= len(s) || m[1] <= from {
			continue
		}
		out = append(out, textDatum(s[from:m[0]]))
		from = m[1]
	}
	return append(out, textDatum(s[from:])), nil
}

// search runs the functions with a start position.
func search(c *callCtx, a []types.Datum, flagsAt, limit int, function string) ([][]int, *pattern, error) {
	f, err := flagsArg(a, flagsAt, function, false)
	if err != nil {
		return nil, nil, err
	}
	start := int64(1)
	if len(a) > 2 {
		if start = a[2].I; start <= 0 {
			return nil, nil, errParameter("start", start)
		}
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil || start > int64(utf8.RuneCount(a[0].B))+1 {
		return nil, p, err
	}
	return p.matches(a[0].B, charOffset(a[0].B, start-1), limit), p, nil
}

func regexpCount(c *callCtx, a []types.Datum) (types.Datum, error) {
	ms, _, err := search(c, a, 3, -1, "regexp_count()")
	return intDatum(int64(len(ms))), err
}

// nthMatch checks n and subexpr and returns the offsets asked for.
func nthMatch(c *callCtx, a []types.Datum, flagsAt, subAt int, function string) ([]int, error) {
	n, sub := int64(1), int64(0)
	if len(a) > 3 {
		if n = a[3].I; n <= 0 {
			return nil, errParameter("n", n)
		}
	}
	if len(a) > subAt {
		if sub = a[subAt].I; sub < 0 {
			return nil, errParameter("subexpr", sub)
		}
	}
	ms, p, err := search(c, a, flagsAt, int(n), function)
	if err != nil || len(ms) < int(n) || int(sub) > p.re.NumSubexp() {
		return nil, err
	}
	m := ms[n-1][2*sub : 2*sub+2]
	if m[0] < 0 {
		return nil, nil
	}
	return m, nil
}

func regexpInstr(c *callCtx, a []types.Datum) (types.Datum, error) {
	end := int64(0)
	if len(a) > 4 {
		if end = a[4].I; end != 0 && end != 1 {
			return null, errParameter("endoption", end)
		}
	}
	m, err := nthMatch(c, a, 5, 6, "regexp_instr()")
	if err != nil || m == nil {
		return intDatum(0), err
	}
	return intDatum(int64(utf8.RuneCount(a[0].B[:m[end]])) + 1), nil
}

func regexpSubstr(c *callCtx, a []types.Datum) (types.Datum, error) {
	m, err := nthMatch(c, a, 4, 5, "regexp_substr()")
	if err != nil || m == nil {
		return null, err
	}
	return textDatum(a[0].B[m[0]:m[1]]), nil
}

// similarToRegex turns an SQL regular expression into an advanced one.
func similarToRegex(p, esc []byte, given bool) ([]byte, error) {
	if given && utf8.RuneCount(esc) > 1 {
		return nil, sqlerr.New(sqlerr.InvalidEscapeSequence, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
	}
	out := []byte("^(?:")
	escaped, inBracket := false, false
	for i := 0; i < len(p); {
		_, w := utf8.DecodeRune(p[i:])
		ch := p[i : i+w]
		i += w
		switch {
		case escaped:
			if ch[0] == '"' && !inBracket {
				return nil, unsupportedRegex("the separator of SUBSTRING … SIMILAR")
			}
			out = append(append(out, '\\'), ch...)
			escaped = false
		case len(esc) > 0 && string(ch) == string(esc):
			escaped = true
		case inBracket:
			if ch[0] == '\\' {
				out = append(out, '\\')
			}
			out = append(out, ch...)
			inBracket = ch[0] != ']'
		case ch[0] == '[':
			out = append(out, '[')
			inBracket = true
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
