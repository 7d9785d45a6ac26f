package expr

import (
	"bytes"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// jsonSubscript follows the subscripts of a jsonb value.
type jsonSubscript struct {
	t    types.T
	args []Eval
	out  vec.Vec
}

func (e *jsonSubscript) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	vecs := make([]*vec.Vec, len(e.args))
	for k, a := range e.args {
		v, err := a.Eval(env, b)
		if err != nil {
			return nil, err
		}
		vecs[k] = v
	}
	e.out.Reset(e.t, max(b.N, 1))
	path := make([]types.Datum, len(vecs)-1)
	for _, i := range rowsOf(b) {
		for k, v := range vecs[1:] {
			d := v.Get(int(i))
			if !d.Null && d.T.Rep() == types.RepInt {
				d = types.Text(strconv.FormatInt(d.I, 10))
			}
			path[k] = d
		}
		var found []byte
		if !vecs[0].IsNull(int(i)) {
			found = follow(vecs[0].B[vecs[0].Idx(int(i))], path, true)
		}
		if found == nil {
			e.out.Nulls.Set(int(i))
		} else {
			e.out.B[i] = found
		}
	}
	return &e.out, nil
}

func jsonEditFuncs(r *registry) {
	r.add(fnD(jsonbConcat), "jsonb_concat")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return jsonbDelete(c, a[0].B, []types.Datum{a[1]})
	}), "jsonb_delete")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		p, err := partsOf(a[1])
		if err != nil {
			return null, err
		}
		if len(p.dims) > 1 {
			return null, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
		}
		return jsonbDelete(c, a[0].B, p.elems)
	}), "jsonb_delete_array")
	r.add(fnD(jsonbDeleteIdx), "jsonb_delete_idx")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return jsonbEdit(c, a[0].B, a[1], jsonEdit{remove: true})
	}), "jsonb_delete_path")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return jsonbEdit(c, a[0].B, a[1], jsonEdit{val: a[2].B, create: a[3].I != 0})
	}), "jsonb_set")
	r.add(fnD(jsonbSetLax), "jsonb_set_lax")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return jsonbEdit(c, a[0].B, a[1], jsonEdit{val: a[2].B, create: true, insert: true, after: a[3].I != 0})
	}), "jsonb_insert")
}

// isEmptyJSON reports an array or object without members, in which no path is looked at.
func isEmptyJSON(b []byte) bool { return string(b) == "[]" || string(b) == "{}" }

// jsonbSetLax is jsonb_set with a rule for a NULL value.
func jsonbSetLax(c *callCtx, a []types.Datum) (types.Datum, error) {
	if a[0].Null || a[1].Null || a[3].Null {
		return null, nil
	}
	if a[4].Null {
		return null, sqlerr.New(sqlerr.InvalidParameterValue, "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
	}
	e := jsonEdit{val: a[2].B, create: a[3].I != 0}
	if a[2].Null {
		switch string(a[4].B) {
		case "raise_exception":
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "JSON value must not be null").
				WithDetail(`Exception was raised because null_value_treatment is "raise_exception".`).
				WithHint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.")
		case "use_json_null":
			e.val = []byte("null")
		case "delete_key":
			e = jsonEdit{remove: true}
		case "return_target":
			return a[0], nil
		default:
			return null, sqlerr.New(sqlerr.InvalidParameterValue, "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
		}
	}
	return jsonbEdit(c, a[0].B, a[1], e)
}

// jsonbConcat is ||: members of objects, elements of arrays; a scalar counts as
// an array of one.
func jsonbConcat(c *callCtx, a []types.Datum) (types.Datum, error) {
	x, y := a[0].B, a[1].B
	kx, ky := jsonKind(x), jsonKind(y)
	out := c.buf[:0]
	if kx == '{' && ky == '{' {
		out = append(out, '{')
		for _, v := range [][]byte{x, y} {
			eachMember(v, func(k, m []byte) bool {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(append(append(out, k...), ':'), m...)
				return true
			})
		}
		return toJSONB(c, append(out, '}'))
	}
	out = append(out, '[')
	for _, v := range [][]byte{x, y} {
		items := [][]byte{v}
		if jsonKind(v) == '[' {
			items = jsonElements(v)
		}
		for _, m := range items {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, m...)
		}
	}
	return toJSONB(c, append(out, ']'))
}

// rewriteJSON builds a container from what keep lets pass; change may replace a
// value.
func rewriteJSON(v []byte, keep func(key []byte, i int, val []byte) ([]byte, bool)) []byte {
	out, n := append(make([]byte, 0, len(v)+len(v)/4+64), jsonKind(v)), 0
	put := func(key, val []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		if key != nil {
			out = append(append(out, key...), ':')
		}
		out = append(out, val...)
	}
	if out[0] == '{' {
		eachMember(v, func(k, m []byte) bool {
			if nv, ok := keep(k, n, m); ok {
				put(k, nv)
			}
			n++
			return true
		})
		return append(out, '}')
	}
	eachElement(v, func(m []byte) bool {
		if nv, ok := keep(nil, n, m); ok {
			put(nil, nv)
		}
		n++
		return true
	})
	return append(out, ']')
}

func errScalar(what string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot %s", what)
}

func isContainer(v []byte) bool { return jsonKind(v) == '{' || jsonKind(v) == '[' }

// jsonbDelete drops keys, or string elements.
func jsonbDelete(c *callCtx, v []byte, keys []types.Datum) (types.Datum, error) {
	if !isContainer(v) {
		return null, errScalar("delete from scalar")
	}
	return toJSONB(c, rewriteJSON(v, func(key []byte, _ int, val []byte) ([]byte, bool) {
		if key == nil {
			key = val
			if jsonKind(val) != '"' {
				return val, true
			}
		}
		name := jsonString(key)
		for _, k := range keys {
			if !k.Null && bytes.Equal(k.B, name) {
				return nil, false
			}
		}
		return val, true
	}))
}

func jsonbDeleteIdx(c *callCtx, a []types.Datum) (types.Datum, error) {
	switch jsonKind(a[0].B) {
	case '{':
		return null, errScalar("delete from object using integer index")
	case '[':
	default:
		return null, errScalar("delete from scalar")
	}
	at := a[1].I
	if at < 0 {
		at += jsonCount(a[0].B)
	}
	return toJSONB(c, rewriteJSON(a[0].B, func(_ []byte, i int, val []byte) ([]byte, bool) { return val, int64(i) != at }))
}

// jsonEdit is what happens at the end of a path.
type jsonEdit struct {
	val            []byte
	remove, create bool
	insert, after  bool
}

func jsonbEdit(c *callCtx, v []byte, pathArr types.Datum, e jsonEdit) (types.Datum, error) {
	p, err := partsOf(pathArr)
	if err != nil {
		return null, err
	}
	if len(p.dims) > 1 {
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	if !isContainer(v) {
		if e.remove {
			return null, errScalar("delete path in scalar")
		}
		return null, errScalar("set path in scalar")
	}
	if len(p.elems) == 0 || (e.remove || !e.create) && isEmptyJSON(v) {
		return types.Datum{B: v}, nil
	}
	out, err := e.apply(v, p.elems, 1)
	if err != nil {
		return null, err
	}
	return toJSONB(c, out)
}

func (e *jsonEdit) apply(v []byte, path []types.Datum, depth int) ([]byte, error) {
	if path[0].Null {
		return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "path element at position %d is null", depth)
	}
	if jsonKind(v) == '{' {
		return e.object(v, path, depth)
	}
	if jsonKind(v) != '[' {
		return v, nil
	}
	n, err := strconv.Atoi(string(path[0].B))
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, `path element at position %d is not an integer: "%s"`, depth, path[0].B)
	}
	return e.array(v, n, path, depth)
}

func (e *jsonEdit) object(v []byte, path []types.Datum, depth int) (out []byte, err error) {
	name, last, seen := string(path[0].B), len(path) == 1, false
	out = rewriteJSON(v, func(key []byte, _ int, val []byte) ([]byte, bool) {
		if string(jsonString(key)) != name {
			return val, true
		}
		seen = true
		switch {
		case last && e.remove:
			return nil, false
		case last && e.insert:
			err = sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
				WithHint("Try using the function jsonb_set to replace key value.")
			return val, true
		case last:
			return e.val, true
		}
		nv, ferr := e.apply(val, path[1:], depth+1)
		if ferr != nil {
			err = ferr
		}
		return nv, true
	})
	if err == nil && !seen && last && e.create && !e.remove {
		out = out[:len(out)-1]
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(types.AppendJSONString(out, path[0].B), ':')
		out = append(append(out, e.val...), '}')
	}
	return out, err
}

func (e *jsonEdit) array(v []byte, n int, path []types.Datum, depth int) (out []byte, err error) {
	items, last := jsonElements(v), len(path) == 1
	at := n
	if at < 0 {
		at += len(items)
	}
	if at < 0 || at >= len(items) {
		if !last || !e.create || e.remove {
			return v, nil
		}
		// Beyond either end: a new element there.
		if n < 0 {
			items = append([][]byte{e.val}, items...)
		} else {
			items = append(items, e.val)
		}
	} else if !last {
		if items[at], err = e.apply(items[at], path[1:], depth+1); err != nil {
			return nil, err
		}
	} else {
		head, tail := items[:at:at], items[at+1:]
		switch {
		case e.remove:
			items = append(head, tail...)
		case e.insert && e.after:
			items = append(append(head, items[at], e.val), tail...)
		case e.insert:
			items = append(append(head, e.val, items[at]), tail...)
		default:
			items[at] = e.val
		}
	}
	out = append(out, '[')
	for i, it := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, it...)
	}
	return append(out, ']'), nil
}
