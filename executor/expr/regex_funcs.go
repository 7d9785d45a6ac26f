package expr

import (
	"bytes"
	"context"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/regex"
)

func regexFuncs(r *registry) {
	match := func(fold, want bool) builder {
		return fn2(func(c *callCtx, s, p []byte) (bool, error) {
			re, err := regexOf(c, p, regexFlags{Flags: regex.Flags{Fold: fold}})
			if err != nil {
				return false, err
			}
			ok, err := re.match(c, padded(c, 0, s))
			return ok == want, err
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

func regexpLike(c *callCtx, a []types.Datum) (types.Datum, error) {
	f, err := flagsArg(a, 2, "regexp_like()", false)
	if err != nil {
		return null, err
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil {
		return null, err
	}
	ok, err := p.match(c, a[0].B)
	return types.Bool(ok), err
}

// regexSubstr is substring(s from pattern): the first group, or the whole match.
func regexSubstr(c *callCtx, s, src []byte) (types.Datum, error) {
	p, err := regexOf(c, src, regexFlags{})
	if err != nil {
		return null, err
	}
	m, err := p.find(c, s, true)
	if m == nil || err != nil {
		return null, err
	}
	k := 0
	if p.re.Groups() > 0 {
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
	if f.global && len(a) < 5 {
		nth = 0
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
	ms, err := p.matches(c, s, charOffset(s, start-1), limit, bytes.IndexByte(a[2].B, '\\') >= 0)
	if err != nil {
		return null, err
	}
	if nth > 0 {
		if len(ms) < int(nth) {
			return a[0], nil
		}
		ms = ms[nth-1:]
	}
	out, from, asked := c.buf[:0], 0, largeValue/2
	for i, m := range ms {
		if i%1024 == 0 && c.env.Ctx.Err() != nil {
			return null, context.Cause(c.env.Ctx)
		}
		if len(out) > asked { // it may double before the next question
			asked *= 2
			if len(out) > maxText {
				_, err := c.text(int64(len(out)))
				return null, err
			}
			if err := c.room(4 * int64(asked)); err != nil {
				return null, err
			}
		}
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
	m, err := p.find(c, a[0].B, true)
	if m == nil || err != nil {
		return null, err
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
	ms, err := p.matches(c, a[0].B, 0, limit, true)
	if err != nil {
		return nil, err
	}
	var rows [][]types.Datum
	for _, m := range ms {
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
	ms, err := p.matches(c, s, 0, -1, false)
	if err != nil {
		return nil, err
	}
	var out []types.Datum
	for _, m := range ms {
		if m[0] >= len(s) || m[1] <= from {
			continue
		}
		out = append(out, textDatum(s[from:m[0]]))
		from = m[1]
	}
	return append(out, textDatum(s[from:])), nil
}

// search runs the functions with a start position.
func search(c *callCtx, a []types.Datum, flagsAt, limit int, groups bool, function string) ([][]int, *pattern, error) {
	if err := checkStart(a); err != nil {
		return nil, nil, err
	}
	f, err := flagsArg(a, flagsAt, function, false)
	if err != nil {
		return nil, nil, err
	}
	start := int64(1)
	if len(a) > 2 {
		start = a[2].I
	}
	p, err := regexOf(c, a[1].B, f)
	if err != nil || start > int64(utf8.RuneCount(a[0].B))+1 {
		return nil, p, err
	}
	ms, err := p.matches(c, a[0].B, charOffset(a[0].B, start-1), limit, groups)
	return ms, p, err
}

// checkStart checks the start position, which comes before all other arguments.
func checkStart(a []types.Datum) error {
	if len(a) > 2 && a[2].I <= 0 {
		return errParameter("start", a[2].I)
	}
	return nil
}

func regexpCount(c *callCtx, a []types.Datum) (types.Datum, error) {
	ms, _, err := search(c, a, 3, -1, false, "regexp_count()")
	return intDatum(int64(len(ms))), err
}

// nthMatch checks n and subexpr and returns the offsets asked for.
func nthMatch(c *callCtx, a []types.Datum, flagsAt, subAt int, function string) ([]int, error) {
	n, sub := int64(1), int64(0)
	if err := checkStart(a); err != nil {
		return nil, err
	}
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
	ms, p, err := search(c, a, flagsAt, int(n), sub > 0, function)
	if err != nil || len(ms) < int(n) || int(sub) > p.re.Groups() {
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
	if err := checkStart(a); err != nil {
		return null, err
	}
	if len(a) > 3 && a[3].I <= 0 {
		return null, errParameter("n", a[3].I)
	}
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
