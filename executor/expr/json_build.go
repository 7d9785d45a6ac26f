package expr

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// buildFuncs registers the constructors of json and jsonb; p is the prefix.
func buildFuncs(r *registry, p string) {
	binary := p == "jsonb"
	// done makes the result of the text: canonical for jsonb.
	done := func(c *callCtx, out []byte) (types.Datum, error) {
		if binary {
			return toJSONB(c, out)
		}
		return types.Datum{B: c.keep(out)}, nil
	}
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		args, err := spread(c, a, 0)
		if err != nil || args == nil {
			return null, err
		}
		out, err := buildObject(c, args, binary)
		if err != nil {
			return null, err
		}
		return done(c, out)
	}), p+"_build_object")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		args, err := spread(c, a, 0)
		if err != nil || args == nil {
			return null, err
		}
		out := append(c.buf[:0], '[')
		for i, d := range args {
			if i > 0 {
				out = append(out, ", "...)
			}
			if out, err = appendJSON(c.env, out, d, rowNames(c.call, i)); err != nil {
				return null, err
			}
		}
		return done(c, append(out, ']'))
	}), p+"_build_array")
	r.add(fn0(func(*callCtx) ([]byte, error) { return []byte("{}"), nil }), p+"_build_object_noargs")
	r.add(fn0(func(*callCtx) ([]byte, error) { return []byte("[]"), nil }), p+"_build_array_noargs")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		out, err := objectOfTexts(c, a)
		if err != nil {
			return null, err
		}
		return done(c, out)
	}), p+"_object", p+"_object_two_arg")
	value := typedRow(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		out, err := appendJSON(c.env, c.buf[:0], a[0], rowNames(c.call, 0))
		if err != nil {
			return null, err
		}
		return done(c, out)
	})
	if binary {
		r.add(value, "to_jsonb")
	} else {
		r.add(value, "to_json", "row_to_json", "array_to_json")
		r.add(typedRow(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			out, err := appendJSONRow(c.env, c.buf[:0], a[0], rowNames(c.call, 0), a[1].I != 0)
			return types.Datum{B: c.keep(out)}, err
		}), "row_to_json_pretty")
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			p, err := partsOf(a[0])
			if err != nil {
				return null, err
			}
			out, err := appendJSONArray(c.env, c.buf[:0], p.dims, p.elems, a[1].I != 0)
			return types.Datum{B: c.keep(out)}, err
		}), "array_to_json_pretty")
	}
}

// typedRow takes its first argument as it was before it passed as a record: the
// row then knows its type, and that the names of its columns.
func typedRow(body datumBody) builder {
	plain := fnD(body)
	return func(c *compiler, call *plan.Call, args []Eval) (Eval, error) {
		if x := rowSource(call.Args[0]); x != call.Args[0] {
			e, err := c.compile(x)
			if err != nil {
				return nil, err
			}
			args = append([]Eval{e}, args[1:]...)
		}
		return plain(c, call, args)
	}
}

// rowSource is a row without the conversion to record.
func rowSource(x plan.Expr) plan.Expr {
	for {
		r, ok := x.(*plan.Relabel)
		if !ok || r.T.OID != types.ORecord {
			return x
		}
		x = r.X
	}
}

// rowNames are the column names of a row argument; those of ROW(…) are f1, f2 ….
func rowNames(call *plan.Call, arg int) []string {
	if arg >= len(call.Args) {
		return nil
	}
	if row, ok := rowSource(call.Args[arg]).(*plan.RowCtor); ok && row.T.OID == types.ORecord {
		return row.Names
	}
	return nil
}

func buildObject(c *callCtx, args []types.Datum, binary bool) ([]byte, error) {
	if len(args)%2 != 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "argument list must have even number of elements").
			WithHint("The arguments of %s must consist of alternating keys and values.", c.call.Proc.Name+"()")
	}
	out := append(c.buf[:0], '{')
	for i := 0; i < len(args); i += 2 {
		if i > 0 {
			out = append(out, ", "...)
		}
		if args[i].Null {
			return nil, errNullKey(i+1, binary)
		}
		var err error
		if out, err = appendJSONKey(c.env, out, args[i]); err != nil {
			return nil, err
		}
		out = append(out, " : "...)
		if out, err = appendJSON(c.env, out, args[i+1], rowNames(c.call, i+1)); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendJSONKey writes a value that is not NULL as the key of a member: in the form
// of a JSON scalar, as a string.
func appendJSONKey(env *Env, out []byte, d types.Datum) ([]byte, error) {
	switch d.T.Kind() {
	case types.KArray, types.KRecord, types.KJSON, types.KJSONB:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "key value must be scalar, not array, composite, or json")
	case types.KDate, types.KTimestamp, types.KTimestamptz:
		return appendJSON(env, out, d, nil)
	case types.KBool:
		return types.AppendJSONString(out, castText(env, d)), nil
	}
	return types.AppendJSONString(out, appendText(env, nil, d)), nil
}

func errNullKey(position int, binary bool) error {
	if binary {
		return sqlerr.New(sqlerr.InvalidParameterValue, "argument %d: key must not be null", position)
	}
	e := sqlerr.New(sqlerr.InvalidParameterValue, "argument %d cannot be null", position)
	return e.WithHint("Object keys should be text.")
}

// objectOfTexts is json_object(pairs) and json_object(keys, values).
func objectOfTexts(c *callCtx, a []types.Datum) ([]byte, error) {
	keys, err := partsOf(a[0])
	if err != nil {
		return nil, err
	}
	var ks, vs []types.Datum
	switch {
	case len(a) == 2:
		vals, err := partsOf(a[1])
		if err != nil {
			return nil, err
		}
		if len(keys.dims) > 1 || len(keys.dims) != len(vals.dims) {
			return nil, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
		}
		if len(keys.elems) != len(vals.elems) {
			return nil, sqlerr.New(sqlerr.ArraySubscriptError, "mismatched array dimensions")
		}
		ks, vs = keys.elems, vals.elems
	case len(keys.dims) == 1 && len(keys.elems)%2 != 0:
		return nil, sqlerr.New(sqlerr.ArraySubscriptError, "array must have even number of elements")
	case len(keys.dims) == 2 && keys.dims[1] != 2:
		return nil, sqlerr.New(sqlerr.ArraySubscriptError, "array must have two columns")
	case len(keys.dims) > 2:
		return nil, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	default:
		for i := 0; i+1 < len(keys.elems); i += 2 {
			ks, vs = append(ks, keys.elems[i]), append(vs, keys.elems[i+1])
		}
	}
	out := append(c.buf[:0], '{')
	for i, k := range ks {
		if k.Null {
			return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for object key")
		}
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(types.AppendJSONString(out, k.B), " : "...)
		if vs[i].Null {
			out = append(out, "null"...)
		} else {
			out = types.AppendJSONString(out, vs[i].B)
		}
	}
	return append(out, '}'), nil
}

// newJSONAgg returns json_agg, json_object_agg and their jsonb forms.
func newJSONAgg(a *plan.Agg) Aggregator {
	agg := &jsonAgg{binary: strings.HasPrefix(a.Proc.Name, "jsonb"), object: strings.Contains(a.Proc.Name, "object"), t: a.T,
		names: make([][]string, len(a.Args))}
	if k := a.Args[0].Type().Kind(); !agg.binary && !agg.object {
		agg.lines = k == types.KArray || k == types.KRecord
	}
	for i, x := range a.Args {
		if row, ok := x.(*plan.RowCtor); ok && row.T.OID == types.ORecord {
			agg.names[i] = row.Names
		}
	}
	return agg
}

// valueBytes is the length of a value that is stored in bytes, 0 of others.
func valueBytes(v *vec.Vec, i int) int {
	if v.B == nil || v.IsNull(i) {
		return 0
	}
	return len(v.B[v.Idx(i)])
}

// jsonAgg collects the text between the brackets; jsonb is made canonical at
// the end.
type jsonAgg struct {
	binary, object bool
	lines          bool // each array or row begins a line
	t              types.T
	names          [][]string
	bufs           [][]byte
	seen           []bool
	size           int64
}

func (a *jsonAgg) Grow(n int) { a.bufs, a.seen = growTo(a.bufs, n), growTo(a.seen, n) }

func (a *jsonAgg) Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	for k, i := range aggRows(groups, sel) {
		g := groups[k]
		before := len(a.bufs[g])
		value := args[len(args)-1]
		// Escapes and the text of what is stored in binary may take twice the bytes.
		buf, err := env.enlarge(a.bufs[g], 2*valueBytes(value, int(i))+datumBytes)
		if err != nil {
			return err
		}
		if a.seen[g] {
			buf = append(buf, ", "...)
			if a.lines && !args[0].IsNull(int(i)) {
				buf = append(buf, "\n "...)
			}
		}
		val := 0
		if a.object {
			key := args[0].Get(int(i))
			if key.Null {
				return sqlerr.New(sqlerr.InvalidParameterValue, "field name must not be null")
			}
			if buf, err = appendJSONKey(env, buf, key); err != nil {
				return err
			}
			if a.binary {
				buf = append(buf, ": "...)
			} else {
				buf = append(buf, " : "...)
			}
			val = 1
		}
		buf, err = appendJSON(env, buf, args[val].Get(int(i)), a.names[val])
		if err != nil {
			return err
		}
		a.bufs[g], a.seen[g] = buf, true
		a.size += int64(len(buf) - before)
	}
	return nil
}

func (a *jsonAgg) Merge(o Aggregator, src, dst int) error {
	b := o.(*jsonAgg)
	if !b.seen[src] {
		return nil
	}
	if a.seen[dst] {
		a.bufs[dst] = append(a.bufs[dst], ", "...)
	}
	a.bufs[dst], a.seen[dst] = append(a.bufs[dst], b.bufs[src]...), true
	a.size += int64(len(b.bufs[src]))
	return nil
}

func (a *jsonAgg) Result(env *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	open, end := "[", "]"
	if a.object {
		open, end = "{ ", " }"
	}
	for k := range to - from {
		g := from + k
		if !a.seen[g] {
			out.Nulls.Set(k)
			continue
		}
		if err := env.room(4 * int64(len(a.bufs[g]))); err != nil { // the text, its parts, and the value
			return err
		}
		text := append(append([]byte(open), a.bufs[g]...), end...)
		if a.binary {
			canon, err := types.CanonicalJSONB(make([]byte, 0, len(text)+len(text)/4), text)
			if err != nil {
				return err
			}
			text = canon
		}
		out.B[k] = text
	}
	return nil
}

func (a *jsonAgg) Reset(g int) {
	a.size -= int64(len(a.bufs[g]))
	a.bufs[g], a.seen[g] = nil, false
}

func (a *jsonAgg) Bytes() int64 { return a.size + int64(cap(a.bufs))*32 }
