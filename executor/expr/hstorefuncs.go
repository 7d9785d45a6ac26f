package expr

import (
	"bytes"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// hstoreFuncs registers what the extension hstore brings besides comparisons.
func hstoreFuncs(r *registry) {
	hstoreForms(r)
	hstoreLookups(r)
	hstoreEdits(r)
	hstoreMakers(r)
	hstoreFills(r)
	hstoreArrays(r)
}

// hstoreFunc is a function of an hstore that is not NULL and other arguments.
func hstoreFunc(f func(c *callCtx, pairs []types.HstorePair, a []types.Datum) (types.Datum, error)) builder {
	return fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) { return f(c, types.HstorePairs(a[0].B), a[1:]) })
}

func hstoreForms(r *registry) {
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Parse(types.Of(types.OHstore), string(a[0].B), c.env.Fmt)
	}), "hstore.hstore_in")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		return types.Bytes(types.Of(types.OCstring), types.AppendText(nil, a[0], c.env.Fmt)), nil
	}), "hstore.hstore_out")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) { return types.Bytes(types.TBytea, a[0].B), nil }), "hstore.hstore_send")
	json := func(loose bool) builder {
		return fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			return types.Bytes(types.Of(types.OJSON), appendHstoreJSON(nil, a[0].B, loose)), nil
		})
	}
	r.add(json(false), "hstore.hstore_to_json")
	r.add(json(true), "hstore.hstore_to_json_loose")
	jsonb := func(loose bool) builder {
		return fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			return toJSONB(c, appendHstoreJSON(nil, a[0].B, loose))
		})
	}
	r.add(jsonb(false), "hstore.hstore_to_jsonb")
	r.add(jsonb(true), "hstore.hstore_to_jsonb_loose")
}

// appendHstoreJSON appends an hstore as a JSON object of strings; loose makes t and f
// booleans and what looks like a number a number.
func appendHstoreJSON(out, b []byte, loose bool) []byte {
	out = append(out, '{')
	for i, p := range types.HstorePairs(b) {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(types.AppendJSONString(out, p.Key), ": "...)
		switch v := string(p.Val); {
		case p.Null:
			out = append(out, "null"...)
		case loose && v == "t":
			out = append(out, "true"...)
		case loose && v == "f":
			out = append(out, "false"...)
		case loose && types.IsJSONNumber(v):
			out = append(out, v...)
		default:
			out = types.AppendJSONString(out, p.Val)
		}
	}
	return append(out, '}')
}

// pairOf finds the pair of a key, or returns nil.
func pairOf(pairs []types.HstorePair, key []byte) *types.HstorePair {
	for i := range pairs {
		if bytes.Equal(pairs[i].Key, key) {
			return &pairs[i]
		}
	}
	return nil
}

// valueOf is a pair's value: NULL also where there is no pair.
func valueOf(p *types.HstorePair) types.Datum {
	if p == nil || p.Null {
		return types.Null(types.TText)
	}
	return textDatum(p.Val)
}

// textsOf returns the elements of a text array.
func textsOf(d types.Datum) ([]types.Datum, error) {
	p, err := partsOf(d)
	return p.elems, err
}

func hstoreLookups(r *registry) {
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		return valueOf(pairOf(h, a[0].B)), nil
	}), "hstore.fetchval")
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		keys, err := partsOf(a[0])
		if err != nil {
			return null, err
		}
		if len(keys.elems) == 0 {
			return textArray(nil), nil
		}
		out := make([]types.Datum, len(keys.elems))
		for i, k := range keys.elems {
			if out[i] = types.Null(types.TText); !k.Null {
				out[i] = valueOf(pairOf(h, k.B))
			}
		}
		return types.NewArray(types.TText, keys.dims, keys.lbs, out), nil
	}), "hstore.slice_array")
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		return types.Bool(pairOf(h, a[0].B) != nil), nil
	}), "hstore.exist", "hstore.isexists")
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		p := pairOf(h, a[0].B)
		return types.Bool(p != nil && !p.Null), nil
	}), "hstore.defined", "hstore.isdefined")
	// Keys that are NULL do not count; all of none are there, and any of none is not.
	exists := func(any bool) builder {
		return hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
			keys, err := textsOf(a[0])
			for _, k := range keys {
				if !k.Null && (pairOf(h, k.B) != nil) == any {
					return types.Bool(any), err
				}
			}
			return types.Bool(!any), err
		})
	}
	r.add(exists(true), "hstore.exists_any")
	r.add(exists(false), "hstore.exists_all")
	contains := func(h, other []types.HstorePair) types.Datum {
		for _, want := range other {
			if p := pairOf(h, want.Key); p == nil || p.Null != want.Null || !bytes.Equal(p.Val, want.Val) {
				return types.Bool(false)
			}
		}
		return types.Bool(true)
	}
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		return contains(h, types.HstorePairs(a[0].B)), nil
	}), "hstore.hs_contains")
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		return contains(types.HstorePairs(a[0].B), h), nil
	}), "hstore.hs_contained")
}

func hstoreEdits(r *registry) {
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		return types.NewHstore(append(types.HstorePairs(a[0].B), h...)), nil
	}), "hstore.hs_concat")
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		keys, err := textsOf(a[0])
		if err != nil {
			return null, err
		}
		var out []types.HstorePair
		for _, k := range keys {
			if p := pairOf(h, k.B); p != nil && !k.Null {
				out = append(out, *p)
			}
		}
		return types.NewHstore(out), nil
	}), "hstore.slice")
	// What is taken away is a key, several, or the pairs of another value.
	r.add(hstoreFunc(func(_ *callCtx, h []types.HstorePair, a []types.Datum) (types.Datum, error) {
		var gone func(p types.HstorePair) bool
		switch a[0].T.Kind() {
		case types.KHstore:
			other := types.HstorePairs(a[0].B)
			gone = func(p types.HstorePair) bool {
				o := pairOf(other, p.Key)
				return o != nil && o.Null == p.Null && bytes.Equal(o.Val, p.Val)
			}
		case types.KArray:
			keys, err := textsOf(a[0])
			if err != nil {
				return null, err
			}
			gone = func(p types.HstorePair) bool {
				for _, k := range keys {
					if !k.Null && bytes.Equal(k.B, p.Key) {
						return true
					}
				}
				return false
			}
		default:
			gone = func(p types.HstorePair) bool { return bytes.Equal(p.Key, a[0].B) }
		}
		var out []types.HstorePair
		for _, p := range h {
			if !gone(p) {
				out = append(out, p)
			}
		}
		return types.NewHstore(out), nil
	}), "hstore.delete")
}

// hstoreOf makes an hstore of keys and as many values; nil values are all NULL.
func hstoreOf(keys, vals []types.Datum) (types.Datum, error) {
	pairs := make([]types.HstorePair, len(keys))
	for i, k := range keys {
		if k.Null {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for hstore key")
		}
		if pairs[i] = (types.HstorePair{Key: k.B, Null: true}); vals != nil && !vals[i].Null {
			pairs[i].Val, pairs[i].Null = vals[i].B, false
		}
	}
	return types.NewHstore(pairs), nil
}

func hstoreMakers(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		if a[0].Null {
			return types.Null(types.Of(types.OHstore)), nil
		}
		return hstoreOf(a[:1], a[1:])
	}), "hstore.tconvert")
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		switch {
		case c.call.Args[0].Type().Kind() == types.KRecord:
			return hstoreOfRow(c, a[0])
		case a[0].Null:
			return types.Null(types.Of(types.OHstore)), nil
		case a[0].T.Kind() != types.KArray:
			return hstoreOf(a[:1], a[1:])
		case len(a) == 2:
			return hstoreOfArrays(a[0], a[1])
		}
		return hstoreOfArray(a[0])
	}), "hstore.hstore")
}

// hstoreFills registers the function that puts values into the columns of a row, as the
// same function of JSON does.
func hstoreFills(r *registry) {
	r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
		s, err := rowShape(c, []types.Datum{a[0], types.Null(types.Of(types.OJSON))}, 1)
		if err != nil || a[1].Null {
			return a[0], err
		}
		fields, err := s.object(appendHstoreJSON(nil, a[1].B, false))
		if err != nil {
			return null, err
		}
		return s.row(fields)
	}), "hstore.populate_record")
}

// hstoreOfArray makes an hstore of keys and values in turn, or of rows of both.
func hstoreOfArray(d types.Datum) (types.Datum, error) {
	a, err := partsOf(d)
	switch {
	case err != nil:
		return null, err
	case len(a.dims) == 1 && len(a.elems)%2 != 0:
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "array must have even number of elements")
	case len(a.dims) == 2 && a.dims[1] != 2:
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "array must have two columns")
	case len(a.dims) > 2:
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	var keys, vals []types.Datum
	for i := 0; i < len(a.elems); i += 2 {
		keys, vals = append(keys, a.elems[i]), append(vals, a.elems[i+1])
	}
	return hstoreOf(keys, vals)
}

func hstoreOfArrays(k, v types.Datum) (types.Datum, error) {
	keys, err := partsOf(k)
	if err != nil {
		return null, err
	}
	if len(keys.dims) > 1 {
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	}
	if v.Null {
		return hstoreOf(keys.elems, nil)
	}
	vals, err := partsOf(v)
	switch {
	case err != nil:
		return null, err
	case len(vals.dims) > 1:
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "wrong number of array subscripts")
	case len(vals.elems) != len(keys.elems) || len(keys.elems) > 0 && keys.lbs[0] != vals.lbs[0]:
		return null, sqlerr.New(sqlerr.ArraySubscriptError, "arrays must have same bounds")
	}
	return hstoreOf(keys.elems, vals.elems)
}

// hstoreOfRow makes an hstore of the columns of a row; of a NULL of a named row type
// all of them are NULL.
func hstoreOfRow(c *callCtx, d types.Datum) (types.Datum, error) {
	var fields []types.Datum
	if d.Null {
		// The function is called with a record, whatever the row's type was, which has
		// a key for each column.
		if d.T.OID == types.ORecord || c.env.Fmt.Reg == nil {
			return null, sqlerr.Unsupported(-1, "hstore of a row that is NULL")
		}
		names, _, err := c.env.Fmt.Reg.Attributes(d.T.OID)
		if err != nil {
			return null, err
		}
		for _, n := range names {
			fields = append(fields, textDatum([]byte(n)))
		}
		return hstoreOf(fields, nil)
	}
	fields, err := types.RecordFields(d)
	if err != nil {
		return null, err
	}
	names, err := fieldNames(c.env, d, len(fields), rowNames(c.call, 0))
	if err != nil {
		return null, err
	}
	keys, vals := make([]types.Datum, len(fields)), make([]types.Datum, len(fields))
	for i, f := range fields {
		keys[i], vals[i] = textDatum([]byte(names[i])), types.Null(types.TText)
		if !f.Null {
			vals[i] = types.Bytes(types.TText, appendText(c.env, nil, f))
		}
	}
	return hstoreOf(keys, vals)
}

// hstoreArrays registers what makes text arrays of an hstore: of keys, of values, or of
// both in turn.
func hstoreArrays(r *registry) {
	list := func(what string) builder {
		return hstoreFunc(func(_ *callCtx, h []types.HstorePair, _ []types.Datum) (types.Datum, error) {
			var out []types.Datum
			for i := range h {
				if strings.Contains(what, "k") {
					out = append(out, types.Bytes(types.TText, h[i].Key))
				}
				if strings.Contains(what, "v") {
					out = append(out, valueOf(&h[i]))
				}
			}
			if what == "kv by rows" && len(h) > 0 {
				return types.NewArray(types.TText, []int{len(h), 2}, []int{1, 1}, out), nil
			}
			return textArray(out), nil
		})
	}
	r.add(list("k"), "hstore.akeys")
	r.add(list("v"), "hstore.avals")
	r.add(list("kv"), "hstore.hstore_to_array")
	r.add(list("kv by rows"), "hstore.hstore_to_matrix")
}
