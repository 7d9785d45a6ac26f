package expr

import (
	"bytes"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func jsonFuncs(r *registry) {
	found := func(v []byte) types.Datum {
		if v == nil {
			return null
		}
		return types.Datum{B: v}
	}
	text := func(v []byte) types.Datum {
		if v == nil {
			return null
		}
		return jsonText(v)
	}
	for _, p := range []string{"json", "jsonb"} {
		for suffix, out := range map[string]func([]byte) types.Datum{"": found, "_text": text} {
			if p == "json" {
				r.add(fnD(withTexts(func(_ *callCtx, a []types.Datum) (types.Datum, error) { return out(lastMember(a[0].B, a[1].B)), nil })), p+"_object_field"+suffix)
			}
			r.add(fnD(withTexts(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
				if k := jsonKind(a[0].B); p == "jsonb" && k != '[' && k != '{' && (a[1].I == 0 || a[1].I == -1) {
					return out(a[0].B), nil // a scalar is an array of one
				}
				return out(element(a[0].B, a[1].I)), nil
			})), p+"_array_element"+suffix)
			r.add(fnD(withTexts(func(c *callCtx, a []types.Datum) (types.Datum, error) {
				path, _, err := c.iter(a[1])
				if err != nil {
					return null, err
				}
				v := a[0].B
				for whole := p == "json"; ; whole = false {
					name, isNull, ok, err := path.NextRaw()
					if err != nil || isNull || v == nil {
						return null, err
					}
					if !ok {
						if whole {
							v = jsonWhole(v)
						}
						return out(v), nil
					}
					v = jsonStep(v, name, p == "jsonb")
				}
			})), p+"_extract_path"+suffix)
			r.addSet(jsonParts(arrayFaults, out, suffix != "", false), p+"_array_elements"+suffix)
			r.addSet(jsonParts(objectFaults, out, true, true), p+"_each"+suffix)
		}
		r.add(fnD(jsonTypeof), p+"_typeof")
		r.add(fnD(jsonArrayLength), p+"_array_length")
		r.addSet(jsonParts(keysFaults, nil, true, true), p+"_object_keys")
		r.add(jsonStripNulls(p == "jsonb"), p+"_strip_nulls")
		buildFuncs(r, p)
	}
	r.add(fnPart(member), "jsonb_object_field")
	r.add(fnPart(func(v, key []byte) []byte { return jsonText(member(v, key)).B }), "jsonb_object_field_text")
	r.add(fnD(jsonbContains), "jsonb_contains")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return jsonbContains(c, []types.Datum{a[1], a[0]})
	}), "jsonb_contained")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Bool(jsonbHas(a[0].B, a[1].B)), nil
	}), "jsonb_exists")
	r.add(jsonbHasMany(true), "jsonb_exists_all")
	r.add(jsonbHasMany(false), "jsonb_exists_any")
	r.add(fnD(jsonbPretty), "jsonb_pretty")
	for src, to := range map[string]types.T{"jsonb_bool": types.TBool, "jsonb_numeric": types.TNumeric, "jsonb_int2": types.TInt2,
		"jsonb_int4": types.TInt4, "jsonb_int8": types.TInt8, "jsonb_float4": types.TFloat4, "jsonb_float8": types.TFloat8} {
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return jsonbScalar(c, a[0].B, to) }), src)
	}
	jsonEditFuncs(r)
	jsonRecordFuncs(r)
}

// checkTexts fails for json text whose strings cannot all be read; jsonb's can.
func checkTexts(d types.Datum) error {
	if d.Null || d.T.Kind() != types.KJSON {
		return nil
	}
	return types.CheckJSONTexts(d.B)
}

// withTexts is a function of a value whose strings can all be read.
func withTexts(body datumBody) datumBody {
	return func(c *callCtx, a []types.Datum) (types.Datum, error) {
		if err := checkTexts(a[0]); err != nil {
			return null, err
		}
		return body(c, a)
	}
}

var jsonKindNames = map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}

func kindName(s []byte) string {
	if n, ok := jsonKindNames[jsonKind(s)]; ok {
		return n
	}
	return "number"
}

func jsonTypeof(_ *callCtx, a []types.Datum) (types.Datum, error) {
	return types.Text(kindName(a[0].B)), nil
}

func jsonArrayLength(_ *callCtx, a []types.Datum) (types.Datum, error) {
	switch jsonKind(a[0].B) {
	case '[':
		return intDatum(jsonCount(a[0].B)), nil
	case '{':
		return null, sqlerr.New(sqlerr.InvalidParameterValue, "cannot get array length of a non-array")
	}
	return null, sqlerr.New(sqlerr.InvalidParameterValue, "cannot get array length of a scalar")
}

// jsonParts is the set of the parts of a value: its elements or members, which out
// turns into results; keyed sets have the keys in a column of their own, alone when
// there is no out. Of json, checked sets read all strings first.
func jsonParts(fault func(fn string, v []byte) error, out func([]byte) types.Datum, checked, keyed bool) setBuilder {
	return func(*plan.Call) setBody {
		var at jsonCursor
		put := func(b *vec.Builder, col, n int, d types.Datum) {
			if d.B != nil {
				d.B = b.Copy(d.B)
			}
			b.Col(col).Set(n, d)
		}
		next := func(e *emitter) (bool, error) {
			for !e.full() {
				key, val, ok := at.next()
				if !ok {
					return false, nil
				}
				n, col := e.b.Extend(), 0
				if keyed {
					put(e.b, 0, n, textDatum(jsonString(key)))
					col = 1
				}
				if out != nil {
					put(e.b, col, n, out(val))
				}
			}
			return true, nil
		}
		return func(c *callCtx, a []types.Datum) (func(*emitter) (bool, error), error) {
			if checked {
				if err := checkTexts(a[0]); err != nil {
					return nil, err
				}
			}
			if err := fault(c.call.Proc.Name, a[0].B); err != nil {
				return nil, err
			}
			at.start(a[0].B)
			return next, nil
		}
	}
}

func arrayFaults(fn string, s []byte) error {
	switch jsonKind(s) {
	case '[':
		return nil
	case '{':
		if !strings.HasPrefix(fn, "jsonb") {
			return sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a non-array", fn)
		}
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot extract elements from an object")
	}
	if !strings.HasPrefix(fn, "jsonb") {
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a scalar", fn)
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot extract elements from a scalar")
}

func objectFaults(fn string, s []byte) error {
	switch k := jsonKind(s); {
	case k == '{':
		return nil
	case k == '[' && !strings.HasPrefix(fn, "jsonb"):
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot deconstruct an array as an object")
	case !strings.HasPrefix(fn, "jsonb"):
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot deconstruct a scalar")
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a non-object", fn)
}

func keysFaults(fn string, s []byte) error {
	switch jsonKind(s) {
	case '{':
		return nil
	case '[':
		return sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on an array", fn)
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "cannot call %s on a scalar", fn)
}

// jsonStripNulls drops object members that are null, at every level. Strings are
// read and written again, so that json's lose escapes that they do not need.
func jsonStripNulls(binary bool) builder {
	var strip func(out, v []byte) []byte
	strip = func(out, v []byte) []byte {
		first := true
		comma := func() {
			if !first {
				out = append(out, ',')
			}
			first = false
		}
		switch jsonKind(v) {
		case '{':
			out = append(out, '{')
			eachMember(v, func(k, m []byte) bool {
				if jsonKind(m) != 'n' {
					comma()
					out = strip(append(types.AppendJSONString(out, jsonString(k)), ':'), m)
				}
				return true
			})
			return append(out, '}')
		case '[':
			out = append(out, '[')
			eachElement(v, func(m []byte) bool {
				comma()
				out = strip(out, m)
				return true
			})
			return append(out, ']')
		case '"':
			return types.AppendJSONString(out, jsonString(bytes.TrimSpace(v)))
		}
		return append(out, bytes.TrimSpace(v)...)
	}
	return fnD(withTexts(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		out := strip(c.buf[:0], a[0].B)
		if binary {
			return toJSONB(c, out)
		}
		return types.Datum{B: c.keep(out)}, nil
	}))
}

// jsonbContains is @>: objects member by member, arrays as sets, and an array
// contains a scalar that is one of its elements.
func jsonbContains(_ *callCtx, a []types.Datum) (types.Datum, error) {
	if jsonKind(a[0].B) == '[' && jsonKind(a[1].B) != '[' && jsonKind(a[1].B) != '{' {
		return types.Bool(hasJSONElement(a[0].B, a[1].B)), nil
	}
	return types.Bool(contains(a[0].B, a[1].B)), nil
}

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a[0] != b[0] && (a[0] > '9' || b[0] > '9') { // of different kinds, but for numbers
		return false
	}
	t := types.Of(types.OJSONB)
	return types.Compare(types.Bytes(t, a), types.Bytes(t, b)) == 0
}

func hasJSONElement(arr, v []byte) (found bool) {
	eachElement(arr, func(e []byte) bool {
		found = sameJSON(e, v)
		return !found
	})
	return found
}

func contains(a, b []byte) bool {
	ka, kb := jsonKind(a), jsonKind(b)
	ok := true
	switch {
	case ka == '{' && kb == '{':
		eachMember(b, func(k, v []byte) bool {
			m := member(a, jsonString(k))
			ok = m != nil && contains(m, v)
			return ok
		})
		return ok
	case ka == '[' && kb == '[':
		eachElement(b, func(v []byte) bool {
			ok = false
			if k := jsonKind(v); k != '{' && k != '[' {
				ok = hasJSONElement(a, v)
				return ok
			}
			eachElement(a, func(e []byte) bool {
				ok = jsonKind(e) == jsonKind(v) && contains(e, v)
				return !ok
			})
			return ok
		})
		return ok
	case ka == '{' || ka == '[' || kb == '{' || kb == '[':
		return false
	}
	return sameJSON(a, b)
}

// jsonbHas reports whether a key, a string element or the string itself exists.
func jsonbHas(v, key []byte) (found bool) {
	switch jsonKind(v) {
	case '{':
		return member(v, key) != nil
	case '[':
		eachElement(v, func(e []byte) bool {
			found = jsonKind(e) == '"' && bytes.Equal(jsonString(e), key)
			return !found
		})
		return found
	case '"':
		return bytes.Equal(jsonString(v), key)
	}
	return false
}

func jsonbHasMany(all bool) builder {
	return fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		keys, _, err := c.iter(a[1])
		if err != nil {
			return null, err
		}
		for {
			k, isNull, ok, err := keys.NextRaw()
			if err != nil || !ok {
				return types.Bool(all), err
			}
			if !isNull && jsonbHas(a[0].B, k) != all {
				return types.Bool(!all), nil
			}
		}
	})
}

func jsonbScalar(c *callCtx, v []byte, to types.T) (types.Datum, error) {
	name := kindName(v)
	isBool := to == types.TBool
	if name == "boolean" && !isBool || name == "number" && isBool || name != "boolean" && name != "number" {
		if name == "number" {
			name = "numeric"
		}
		return null, sqlerr.New(sqlerr.InvalidParameterValue, "cannot cast jsonb %s to type %s", name, types.FormatType(to))
	}
	if isBool {
		return types.Bool(v[0] == 't'), nil
	}
	d, err := types.ParseDecimal(string(v))
	if err != nil {
		return null, err
	}
	switch to.Rep() {
	case types.RepInt:
		n, err := numericToInt(c, d)
		return types.Int(to, n), err
	case types.RepFloat:
		f, err := strconv.ParseFloat(string(v), map[types.Kind]int{types.KFloat4: 32, types.KFloat8: 64}[to.Kind()])
		if err != nil {
			return null, sqlerr.New(sqlerr.NumericValueOutOfRange, `"%s" is out of range for type %s`, v, types.FormatType(to))
		}
		return types.Float(to, f), nil
	}
	return types.Datum{T: to, Dec: d}, nil
}

// jsonbPretty indents by four blanks.
func jsonbPretty(c *callCtx, a []types.Datum) (types.Datum, error) {
	var put func(out, v []byte, depth int) []byte
	line := func(out []byte, depth int) []byte {
		out = append(out, '\n')
		for range depth * 4 {
			out = append(out, ' ')
		}
		return out
	}
	put = func(out, v []byte, depth int) []byte {
		first := true
		next := func() {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = line(out, depth+1)
		}
		switch jsonKind(v) {
		case '{':
			out = append(out, '{')
			eachMember(v, func(k, m []byte) bool {
				next()
				out = put(append(append(out, k...), ": "...), m, depth+1)
				return true
			})
			return append(line(out, depth), '}')
		case '[':
			out = append(out, '[')
			eachElement(v, func(m []byte) bool {
				next()
				out = put(out, m, depth+1)
				return true
			})
			return append(line(out, depth), ']')
		}
		return append(out, v...)
	}
	return textDatum(c.keep(put(c.buf[:0], a[0].B, 0))), nil
}

// compileJSONSubscript is X['key'][0]… of jsonb: a path.
func (c *compiler) compileJSONSubscript(e *plan.Subscript) (Eval, error) {
	args, err := c.compileAll(append([]plan.Expr{e.X}, e.Lo...))
	if err != nil {
		return nil, err
	}
	return &jsonSubscript{t: e.T, args: args}, nil
}
