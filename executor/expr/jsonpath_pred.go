package expr

import (
	"bytes"
	"cmp"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/jsonpath"
	"kvsqld/executor/regex"
)

// predicate evaluates an item that has a truth value. Errors of the path
// language inside of it make it unknown.
func (r *pathRun) predicate(it *jsonpath.Item, v pathItem) (truth, error) {
	switch it.Kind {
	case jsonpath.And, jsonpath.Or:
		decides := pathFalse
		if it.Kind == jsonpath.Or {
			decides = pathTrue
		}
		left, err := r.predicate(it.Left, v)
		if err != nil || left == decides {
			return left, err
		}
		right, err := r.predicate(it.Right, v)
		if err != nil || right == decides || left != pathUnknown {
			return right, err
		}
		return pathUnknown, nil
	case jsonpath.Not:
		t, err := r.predicate(it.Left, v)
		switch t {
		case pathTrue:
			t = pathFalse
		case pathFalse:
			t = pathTrue
		}
		return t, err
	case jsonpath.IsUnknown:
		t, err := r.predicate(it.Left, v)
		return truthOf(t == pathUnknown), err
	case jsonpath.Exists:
		found, err := r.exists(it.Left, v)
		return r.outcome(truthOf(found), err)
	case jsonpath.LikeRegex:
		re, err := r.regex(it)
		if err != nil {
			return pathUnknown, err
		}
		return r.pairs(it, v, func(a, _ pathItem) (truth, error) {
			if a.kind() != '"' {
				return pathUnknown, nil
			}
			ok, err := re.match(r.c, jsonString(a.b))
			return truthOf(ok), err
		})
	case jsonpath.StartsWith:
		return r.pairs(it, v, func(a, b pathItem) (truth, error) {
			if a.kind() != '"' || b.kind() != '"' {
				return pathUnknown, nil
			}
			return truthOf(bytes.HasPrefix(jsonString(a.b), jsonString(b.b))), nil
		})
	}
	return r.pairs(it, v, func(a, b pathItem) (truth, error) { return r.compare(it.Kind, a, b) })
}

// outcome turns an error of the path language into unknown.
func (r *pathRun) outcome(t truth, err error) (truth, error) {
	if err != nil && isPathError(err) {
		return pathUnknown, nil
	}
	return t, err
}

// pairs applies a test to every pair of the operands' items. A lax path is true
// with the first true pair; a strict one unknown with the first unknown one.
func (r *pathRun) pairs(it *jsonpath.Item, v pathItem, test func(a, b pathItem) (truth, error)) (truth, error) {
	defer r.release(len(r.found))
	left, err := r.collect(it.Left, v, true)
	if err != nil {
		return r.outcome(pathUnknown, err)
	}
	var right []pathItem
	if it.Right == nil {
		right = noOperand
	} else {
		if right, err = r.collect(it.Right, v, it.Kind != jsonpath.StartsWith); err != nil {
			return r.outcome(pathUnknown, err)
		}
	}
	found, unknown := false, false
	for _, a := range left {
		for _, b := range right {
			t, err := test(a, b)
			if err != nil {
				return r.outcome(pathUnknown, err)
			}
			switch {
			case t == pathUnknown && !r.lax():
				return pathUnknown, nil
			case t == pathUnknown:
				unknown = true
			case t == pathTrue && r.lax():
				return pathTrue, nil
			case t == pathTrue:
				found = true
			}
		}
	}
	switch {
	case found:
		return pathTrue, nil
	case unknown:
		return pathUnknown, nil
	}
	return pathFalse, nil
}

// noOperand stands for the second operand of a test that has one.
var noOperand = []pathItem{{}}

// compare compares two items; values of different kinds are not comparable,
// except with null, which differs from everything else.
func (r *pathRun) compare(op jsonpath.Kind, a, b pathItem) (truth, error) {
	ka, kb := comparisonKind(a), comparisonKind(b)
	if ka != kb {
		if ka == 'n' || kb == 'n' {
			return truthOf(op == jsonpath.NotEqual), nil
		}
		return pathUnknown, nil
	}
	c := 0
	switch ka {
	case 'n':
	case 't':
		c = cmp.Compare(len(b.b), len(a.b)) // false is longer
	case '0':
		c = a.number().Cmp(b.number())
	case '"':
		c = bytes.Compare(jsonString(a.b), jsonString(b.b))
	case 'd':
		var ok bool
		var err error
		if c, ok, err = r.compareTimes(*a.time, *b.time); err != nil || !ok {
			return pathUnknown, err
		}
	default:
		return pathUnknown, nil
	}
	switch op {
	case jsonpath.Equal:
		return truthOf(c == 0), nil
	case jsonpath.NotEqual:
		return truthOf(c != 0), nil
	case jsonpath.Less:
		return truthOf(c < 0), nil
	case jsonpath.LessEqual:
		return truthOf(c <= 0), nil
	case jsonpath.Greater:
		return truthOf(c > 0), nil
	}
	return truthOf(c >= 0), nil
}

func comparisonKind(v pathItem) byte {
	switch k := v.kind(); {
	case v.isNumber():
		return '0'
	case k == 'f':
		return 't'
	default:
		return k
	}
}

// compareTimes compares dates and times; ok is false where the types have
// nothing in common. Between a type with a zone and one without, the session's
// zone decides, which only the functions with _tz may use.
func (r *pathRun) compareTimes(a, b types.Datum) (c int, ok bool, err error) {
	if a.T.OID == b.T.OID {
		return types.Compare(a, b), true, nil
	}
	isTime := func(d types.Datum) bool { return d.T.OID == types.OTime || d.T.OID == types.OTimetz }
	if isTime(a) != isTime(b) {
		return 0, false, nil
	}
	zoned := func(d types.Datum) bool { return d.T.OID == types.OTimetz || d.T.OID == types.OTimestamptz }
	to := types.OTimestamp
	switch {
	case isTime(a):
		to = types.OTimetz
	case zoned(a) || zoned(b):
		to = types.OTimestamptz
	}
	if zoned(a) != zoned(b) && !r.tz {
		from, into := a, b
		if zoned(a) {
			from, into = b, a
		}
		return 0, false, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert value from %s to %s without time zone usage",
			shortTimeName(from.T.OID), shortTimeName(into.T.OID)).WithHint("Use *_tz() function for time zone support.")
	}
	convert := func(d types.Datum) (types.Datum, error) {
		switch {
		case d.T.OID == types.ODate: // as comparisons of SQL do, out of the range of timestamps as well
			v, err := lateDates(to == types.OTimestamptz)(r.c, d.I)
			return types.Int(types.Of(to), v), err
		case d.T.OID == types.OTimestamp && to == types.OTimestamptz:
			return types.Int(types.Of(to), lateLocal(r.c, d.I)), nil
		}
		return types.Cast(d, types.Of(to), r.c.env.Fmt, true)
	}
	if a, err = convert(a); err == nil {
		b, err = convert(b)
	}
	if err != nil {
		return 0, false, pathError{err}
	}
	return types.Compare(a, b), true, nil
}

func shortTimeName(o types.OID) string { return types.Lookup(o).Name }

// regex compiles the pattern of like_regex. Its flags are those of XQuery: the
// dot stops at newlines unless s is given.
func (r *pathRun) regex(it *jsonpath.Item) (*pattern, error) {
	if re := r.regexes[it]; re != nil {
		return re, nil
	}
	re, err := pathPattern(it)
	if err != nil {
		return nil, err
	}
	if r.regexes == nil {
		r.regexes = map[*jsonpath.Item]*pattern{}
	}
	r.regexes[it] = re
	return re, nil
}

func pathPattern(it *jsonpath.Item) (*pattern, error) {
	has := func(flag string) bool { return strings.Contains(it.Flags, flag) }
	return compileRegex(it.Text, regex.Flags{Fold: has("i"), DotLine: !has("s"), Lines: has("m"), Literal: has("q")})
}

// checkPathPatterns compiles the patterns of a path that was read, so that a wrong
// one is an error of the input.
func checkPathPatterns(path []byte) error {
	if !bytes.Contains(path, []byte("like_regex")) {
		return nil
	}
	p, err := types.ParseJSONPath(string(path))
	if err != nil {
		return err
	}
	var check func(it *jsonpath.Item) error
	check = func(it *jsonpath.Item) error {
		for ; it != nil; it = it.Next {
			if it.Kind == jsonpath.LikeRegex {
				if _, err := pathPattern(it); err != nil {
					return err
				}
			}
			for _, s := range it.Subscripts {
				if err := cmp.Or(check(s.From), check(s.To)); err != nil {
					return err
				}
			}
			if err := cmp.Or(check(it.Left), check(it.Right)); err != nil {
				return err
			}
		}
		return nil
	}
	return check(p.Root)
}
