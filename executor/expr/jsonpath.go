package expr

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/jsonpath"
)

// pathItem is a value in the course of a path: jsonb text, or a date or time
// that .datetime() made.
type pathItem struct {
	b    []byte
	time *types.Datum
	zone int // seconds east of UTC that a time with zone is shown with
}

func (v pathItem) kind() byte {
	if v.time != nil {
		return 'd'
	}
	return jsonKind(v.b)
}

func (v pathItem) isNumber() bool {
	k := v.kind()
	return k == '-' || k >= '0' && k <= '9'
}

func (v pathItem) number() types.Decimal {
	d, _ := types.ParseDecimal(string(v.b))
	return d
}

func textItem(s string) pathItem { return pathItem{b: types.AppendJSONString(nil, []byte(s))} }

func boolItem(v bool) pathItem { return pathItem{b: strconv.AppendBool(nil, v)} }

// truth is the outcome of a predicate.
type truth int8

const (
	pathFalse truth = iota
	pathTrue
	pathUnknown
)

func truthOf(v bool) truth {
	if v {
		return pathTrue
	}
	return pathFalse
}

// pathError is an error of the path language, which predicates turn into
// unknown and silent calls into nothing. Other errors always reach the client.
type pathError struct{ error }

func (e pathError) Unwrap() error { return e.error }

func pathFail(code sqlerr.Code, format string, args ...any) error {
	return pathError{sqlerr.New(code, format, args...)}
}

func isPathError(err error) bool {
	var e pathError
	return errors.As(err, &e)
}

// pathRun evaluates one path over one document, as SQL:2016 part 2, 9.39 says.
//
// A walk calls emit for each item found, in order, and ends early when emit
// returns false.
type pathRun struct {
	c    *callCtx
	path *jsonpath.Path
	root []byte
	vars []byte
	// places of the document's containers in its binary form, made when first asked for
	places map[int]int
	tz     bool // conversions may use the session's time zone
	// loose ignores structural errors, as inside of .**
	loose bool
	// probe tells that of the walk under way only whether it finds an item counts,
	// so that what comes to nothing is passed over and not an error
	probe   bool
	current pathItem   // @
	size    int        // of the innermost subscripted array, -1 outside
	found   []pathItem // a stack of what collect found, see there
	regexes map[*jsonpath.Item]*pattern
}

type emitItem func(pathItem) bool

func (r *pathRun) lax() bool    { return !r.path.Strict }
func (r *pathRun) strict() bool { return r.path.Strict && !r.loose }

// next passes v to the accessor after it, or out.
func (r *pathRun) next(it *jsonpath.Item, v pathItem, emit emitItem) (bool, error) {
	if it.Next == nil {
		return emit(v), nil
	}
	return r.item(it.Next, v, r.lax(), emit)
}

// exists tells whether a path finds an item. Strict ones are walked to the end, for
// their errors.
func (r *pathRun) exists(it *jsonpath.Item, v pathItem) (found bool, err error) {
	outer := r.probe
	r.probe = r.lax()
	defer func() { r.probe = outer }()
	if _, found, ok, err := r.direct(it, v); ok {
		return found, err
	}
	_, err = r.item(it, v, r.lax(), func(pathItem) bool {
		found = true
		return !r.lax()
	})
	return found, err
}

// direct follows a path along which each step finds one item or none, as most do:
// without a walk's closures. ok is false where a step may find several, or fail;
// the path is walked then.
func (r *pathRun) direct(it *jsonpath.Item, v pathItem) (x pathItem, found, ok bool, err error) {
	for x = v; it != nil; it = it.Next {
		switch it.Kind {
		case jsonpath.Null, jsonpath.String, jsonpath.Number, jsonpath.Bool:
			x = pathItem{b: it.JSON}
		case jsonpath.Root:
			x = pathItem{b: r.root}
		case jsonpath.Current:
			x = r.current
		case jsonpath.Key:
			if x.kind() != '{' {
				return x, false, false, nil
			}
			m := member(x.b, []byte(it.Text))
			if m == nil {
				return x, false, !r.path.Strict, nil
			}
			x = pathItem{b: m}
		case jsonpath.Variable:
			if x, err = r.variable(it.Text); err != nil {
				return x, false, true, err
			}
		case jsonpath.Filter: // only once for each item, so nothing that may have to be walked comes after
			if x.kind() == '[' || it.Next != nil {
				return x, false, false, nil
			}
			t, err := r.filter(it, x)
			return x, t == pathTrue, true, err
		default:
			return x, false, false, nil
		}
	}
	return x, true, true, r.c.env.Ctx.Err()
}

// filter evaluates a filter's predicate, in which @ is v.
func (r *pathRun) filter(it *jsonpath.Item, v pathItem) (truth, error) {
	outer := r.current
	r.current = v
	t, err := r.predicate(it.Left, v)
	r.current = outer
	return t, err
}

// each applies f to the elements of an array.
func (r *pathRun) each(v pathItem, f func(pathItem) (bool, error)) (more bool, err error) {
	more = true
	eachElement(v.b, func(e []byte) bool {
		more, err = f(pathItem{b: e})
		return more && err == nil
	})
	return more, err
}

// unwrapped applies the item itself to the elements of an array.
func (r *pathRun) unwrapped(it *jsonpath.Item, v pathItem, emit emitItem) (bool, error) {
	return r.each(v, func(e pathItem) (bool, error) { return r.item(it, e, false, emit) })
}

// item evaluates an item for v; unwrap says that an array stands for its
// elements where the item does not take arrays. It returns false when emit did.
func (r *pathRun) item(it *jsonpath.Item, v pathItem, unwrap bool, emit emitItem) (bool, error) {
	if r.c.env.Ctx.Err() != nil {
		return false, r.c.env.Ctx.Err()
	}
	array := v.kind() == '['
	switch it.Kind {
	case jsonpath.Null, jsonpath.String, jsonpath.Number, jsonpath.Bool:
		return r.next(it, pathItem{b: it.JSON}, emit)
	case jsonpath.Variable:
		x, err := r.variable(it.Text)
		if err != nil {
			return false, err
		}
		return r.next(it, x, emit)
	case jsonpath.Root:
		return r.next(it, pathItem{b: r.root}, emit)
	case jsonpath.Current:
		return r.next(it, r.current, emit)
	case jsonpath.Last:
		return r.next(it, pathItem{b: strconv.AppendInt(nil, int64(r.size-1), 10)}, emit)
	case jsonpath.Key:
		if v.kind() == '{' {
			if m := member(v.b, []byte(it.Text)); m != nil {
				return r.next(it, pathItem{b: m}, emit)
			}
			if r.strict() {
				return false, pathFail(sqlerr.JSONMemberNotFound, "JSON object does not contain key \"%s\"", it.Text)
			}
			return true, nil
		}
		if unwrap && array {
			return r.unwrapped(it, v, emit)
		}
		if r.strict() {
			return false, pathFail(sqlerr.JSONMemberNotFound, "jsonpath member accessor can only be applied to an object")
		}
		return true, nil
	case jsonpath.AnyKey:
		switch {
		case v.kind() == '{':
			return r.members(it, v, emit)
		case unwrap && array:
			return r.unwrapped(it, v, emit)
		case r.strict():
			return false, pathFail(sqlerr.JSONObjectNotFound, "jsonpath wildcard member accessor can only be applied to an object")
		}
		return true, nil
	case jsonpath.AnyArray:
		switch {
		case array:
			return r.each(v, func(e pathItem) (bool, error) { return r.next(it, e, emit) })
		case r.lax():
			return r.next(it, v, emit)
		case r.strict():
			return false, pathFail(sqlerr.JSONArrayNotFound, "jsonpath wildcard array accessor can only be applied to an array")
		}
		return true, nil
	case jsonpath.Index:
		return r.subscripts(it, v, emit)
	case jsonpath.Any:
		return r.anyLevel(it, v, 0, emit)
	case jsonpath.Filter:
		if unwrap && array {
			return r.unwrapped(it, v, emit)
		}
		if t, err := r.filter(it, v); err != nil || t != pathTrue {
			return true, err
		}
		return r.next(it, v, emit)
	case jsonpath.Add, jsonpath.Sub, jsonpath.Mul, jsonpath.Div, jsonpath.Mod:
		x, err := r.arithmetic(it, v)
		if err != nil {
			return false, err
		}
		return r.next(it, x, emit)
	case jsonpath.Plus, jsonpath.Minus:
		return r.sign(it, v, emit)
	}
	if it.Kind.IsPredicate() {
		t, err := r.predicate(it, v)
		if err != nil {
			return false, err
		}
		x := pathItem{b: []byte("null")}
		if t != pathUnknown {
			x = boolItem(t == pathTrue)
		}
		return r.next(it, x, emit)
	}
	return r.method(it, v, unwrap, emit)
}

func (r *pathRun) variable(name string) (pathItem, error) {
	if r.vars != nil {
		if m := member(r.vars, []byte(name)); m != nil {
			return pathItem{b: m}, nil
		}
	}
	return pathItem{}, sqlerr.New(sqlerr.UndefinedObject, "could not find jsonpath variable \"%s\"", name)
}

func (r *pathRun) members(it *jsonpath.Item, v pathItem, emit emitItem) (more bool, err error) {
	more = true
	eachMember(v.b, func(_, m []byte) bool {
		more, err = r.next(it, pathItem{b: m}, emit)
		return more && err == nil
	})
	return more, err
}

// anyLevel is .**: v, which is at the level, and everything inside of it.
func (r *pathRun) anyLevel(it *jsonpath.Item, v pathItem, level int, emit emitItem) (more bool, err error) {
	inner := v.kind() == '{' || v.kind() == '['
	here := level >= it.First && (it.Deep == jsonpath.AnyDepth || level <= it.Deep)
	if it.First == jsonpath.AnyDepth { // the leaves
		here = !inner
	}
	if here {
		loose := r.loose
		r.loose = true
		more, err = r.next(it, v, emit)
		r.loose = loose
		if err != nil || !more {
			return false, err
		}
	}
	more = true
	if it.Deep != jsonpath.AnyDepth && level >= it.Deep {
		return true, nil
	}
	visit := func(e []byte) bool {
		more, err = r.anyLevel(it, pathItem{b: e}, level+1, emit)
		return more && err == nil
	}
	switch v.kind() {
	case '{':
		eachMember(v.b, func(_, m []byte) bool { return visit(m) })
	case '[':
		eachElement(v.b, visit)
	}
	return more, err
}

func (r *pathRun) subscripts(it *jsonpath.Item, v pathItem, emit emitItem) (bool, error) {
	elems := [][]byte{v.b}
	if v.kind() == '[' {
		elems = jsonElements(v.b)
	} else if !r.lax() {
		if r.loose {
			return true, nil
		}
		return false, pathFail(sqlerr.JSONArrayNotFound, "jsonpath array accessor can only be applied to an array")
	}
	outer := r.size
	defer func() { r.size = outer }()
	for _, s := range it.Subscripts {
		r.size = len(elems)
		from, err := r.index(s.From, v)
		if err != nil {
			return false, err
		}
		to := from
		if s.To != nil {
			if to, err = r.index(s.To, v); err != nil {
				return false, err
			}
		}
		if r.strict() && (from < 0 || from > to || to >= len(elems)) {
			return false, pathFail(sqlerr.InvalidJSONSubscript, "jsonpath array subscript is out of bounds")
		}
		for i := max(from, 0); i <= min(to, len(elems)-1); i++ {
			e := pathItem{b: elems[i]}
			if v.kind() != '[' {
				e = v
			}
			if more, err := r.next(it, e, emit); err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

func (r *pathRun) index(it *jsonpath.Item, v pathItem) (int, error) {
	defer r.release(len(r.found))
	found, err := r.collect(it, v, false)
	if err != nil {
		return 0, err
	}
	if len(found) != 1 || !found[0].isNumber() {
		return 0, pathFail(sqlerr.InvalidJSONSubscript, "jsonpath array subscript is not a single numeric value")
	}
	n, err := found[0].number().Trunc(0).ToInt64()
	if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, pathFail(sqlerr.InvalidJSONSubscript, "jsonpath array subscript is out of integer range")
	}
	return int(n), nil
}

// collect returns all items of it; in lax mode unwrap replaces arrays by their
// elements. The items are on top of a stack: who has collected calls release with
// its height before.
func (r *pathRun) collect(it *jsonpath.Item, v pathItem, unwrap bool) ([]pathItem, error) {
	outer := r.probe
	r.probe = false
	defer func() { r.probe = outer }()
	unwrap = unwrap && r.lax()
	from := len(r.found)
	if x, found, ok, err := r.direct(it, v); ok {
		if found {
			r.push(x, unwrap)
		}
		return r.found[from:], err
	}
	r.found = r.found[:from]
	_, err := r.item(it, v, r.lax(), func(x pathItem) bool {
		r.push(x, unwrap)
		return true
	})
	return r.found[from:], err
}

func (r *pathRun) push(x pathItem, unwrap bool) {
	if !unwrap || x.kind() != '[' {
		r.found = append(r.found, x)
		return
	}
	eachElement(x.b, func(e []byte) bool {
		r.found = append(r.found, pathItem{b: e})
		return true
	})
}

// release forgets what was collected since the stack had the given height.
func (r *pathRun) release(height int) {
	clear(r.found[height:])
	r.found = r.found[:height]
}

func (r *pathRun) arithmetic(it *jsonpath.Item, v pathItem) (pathItem, error) {
	defer r.release(len(r.found))
	var ops [2]types.Decimal
	for i, x := range []*jsonpath.Item{it.Left, it.Right} {
		found, err := r.collect(x, v, true)
		if err != nil {
			return pathItem{}, err
		}
		if len(found) != 1 || !found[0].isNumber() {
			return pathItem{}, pathFail(sqlerr.SingletonJSONItemRequired, "%s operand of jsonpath operator %s is not a single numeric value",
				[]string{"left", "right"}[i], it.Kind.Operator())
		}
		ops[i] = found[0].number()
	}
	var d types.Decimal
	var err error
	switch it.Kind {
	case jsonpath.Add:
		d = ops[0].Add(ops[1])
	case jsonpath.Sub:
		d = ops[0].Sub(ops[1])
	case jsonpath.Mul:
		d, err = ops[0].Mul(ops[1])
	case jsonpath.Div:
		d, err = ops[0].Div(ops[1])
	default:
		d, err = ops[0].Mod(ops[1])
	}
	if err != nil {
		return pathItem{}, pathError{err}
	}
	return pathItem{b: d.AppendText(nil)}, nil
}

func (r *pathRun) sign(it *jsonpath.Item, v pathItem, emit emitItem) (bool, error) {
	height := len(r.found)
	found, err := r.collect(it.Left, v, true)
	found = slices.Clone(found) // what is emitted may be collected
	r.release(height)
	if err != nil {
		return false, err
	}
	for _, x := range found {
		if !x.isNumber() {
			if r.probe && it.Next == nil {
				continue
			}
			return false, pathFail(sqlerr.JSONNumberNotFound, "operand of unary jsonpath operator %s is not a numeric value", it.Kind.Operator())
		}
		if it.Kind == jsonpath.Minus {
			x.b = x.number().Neg().AppendText(nil)
		}
		if more, err := r.next(it, x, emit); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
