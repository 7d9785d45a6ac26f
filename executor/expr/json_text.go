package expr

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"kvsqld/catalog/types"
)

// JSON values, also jsonb's, are held as text that has been checked when it was
// made. So the functions work on spans of text: a part of a canonical text is
// canonical itself, and whatever is put together is made canonical by the
// input function of jsonb.

func jsonBlanks(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// jsonKind is the first byte of a value: { [ " t f n, or a digit or minus.
func jsonKind(s []byte) byte {
	if i := jsonBlanks(s, 0); i < len(s) {
		return s[i]
	}
	return 0
}

// eachMember calls f for the members of an object, keys still quoted.
func eachMember(s []byte, f func(key, val []byte) bool) {
	i := jsonBlanks(s, 0) + 1
	for i = jsonBlanks(s, i); i < len(s) && s[i] != '}'; {
		end := types.JSONEnd(s, i)
		key := s[i:end]
		i = jsonBlanks(s, jsonBlanks(s, end)+1)
		end = types.JSONEnd(s, i)
		if !f(key, s[i:end]) {
			return
		}
		if i = jsonBlanks(s, end); i < len(s) && s[i] == ',' {
			i = jsonBlanks(s, i+1)
		}
	}
}

// eachElement calls f for the elements of an array.
func eachElement(s []byte, f func(val []byte) bool) {
	i := jsonBlanks(s, 0) + 1
	for i = jsonBlanks(s, i); i < len(s) && s[i] != ']'; {
		end := types.JSONEnd(s, i)
		if !f(s[i:end]) {
			return
		}
		if i = jsonBlanks(s, end); i < len(s) && s[i] == ',' {
			i = jsonBlanks(s, i+1)
		}
	}
}

// jsonCursor walks the members of an object or the elements of an array.
type jsonCursor struct {
	s      []byte
	i      int
	object bool
}

func (c *jsonCursor) start(s []byte) {
	c.s, c.i = s, jsonBlanks(s, 0)
	c.object = s[c.i] == '{'
	c.i = jsonBlanks(s, c.i+1)
}

// next returns the next value, with its key, still quoted, in an object.
func (c *jsonCursor) next() (key, val []byte, ok bool) {
	s, i := c.s, c.i
	if i >= len(s) || s[i] == '}' || s[i] == ']' {
		return nil, nil, false
	}
	end := types.JSONEnd(s, i)
	if c.object {
		key = s[i:end]
		i = jsonBlanks(s, jsonBlanks(s, end)+1)
		end = types.JSONEnd(s, i)
	}
	val = s[i:end]
	if i = jsonBlanks(s, end); i < len(s) && s[i] == ',' {
		i = jsonBlanks(s, i+1)
	}
	c.i = i
	return key, val, true
}

// jsonCount is the number of elements or members.
func jsonCount(s []byte) (n int64) {
	var c jsonCursor
	for c.start(s); ; n++ {
		if _, _, ok := c.next(); !ok {
			return n
		}
	}
}

func jsonElements(s []byte) (out [][]byte) {
	eachElement(s, func(v []byte) bool { out = append(out, v); return true })
	return out
}

// jsonString takes the quotes and escapes off a string. Without escapes it is a
// part of s.
func jsonString(s []byte) []byte {
	body := s[1 : len(s)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out = append(out, body[i])
			continue
		}
		i++
		switch c := body[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := jsonHex(body[i+1:])
			i += 4
			if r >= 0xd800 && r < 0xdc00 && i+6 < len(body) && body[i+1] == '\\' && body[i+2] == 'u' {
				r = (r-0xd800)<<10 + (jsonHex(body[i+3:]) - 0xdc00) + 0x10000
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return out
}

func jsonHex(s []byte) rune {
	v, _ := strconv.ParseUint(string(s[:4]), 16, 32) // checked when the value was made
	return rune(v)
}

// jsonText is a value as text: strings without quotes, null as NULL.
func jsonText(v []byte) types.Datum {
	switch jsonKind(v) {
	case 'n':
		return types.Null(types.TText)
	case '"':
		return textDatum(jsonString(v[jsonBlanks(v, 0):]))
	}
	return textDatum(v)
}

// jsonWhole is what the empty path gives of a json document: blanks stay in front of
// a scalar alone.
func jsonWhole(v []byte) []byte {
	start := jsonBlanks(v, 0)
	end := types.JSONEnd(v, start)
	if v[start] == '{' || v[start] == '[' {
		return v[start:end]
	}
	return v[:end]
}

// isKey reports whether a quoted key is the given one.
func isKey(quoted, key []byte) bool { return bytes.Equal(jsonString(quoted), key) }

// member returns a member of an object of jsonb, whose keys are unique and come
// by their lengths.
func member(s []byte, key []byte) []byte {
	if len(s) == 0 || s[0] != '{' {
		return nil
	}
	var c jsonCursor
	for c.start(s); ; {
		k, v, ok := c.next()
		if !ok {
			return nil
		}
		if len(k)-2 < len(key) { // escapes only make it longer
			continue
		}
		if text := jsonString(k); len(text) >= len(key) {
			if bytes.Equal(text, key) {
				return v
			}
			if len(text) > len(key) {
				return nil
			}
		}
	}
}

// lastMember returns a member of an object of json, the last of equal keys.
func lastMember(s []byte, key []byte) (found []byte) {
	if jsonKind(s) != '{' {
		return nil
	}
	eachMember(s, func(k, v []byte) bool {
		if isKey(k, key) {
			found = v
		}
		return true
	})
	return found
}

// element returns an array's element; negative numbers count from the end.
func element(s []byte, n int64) []byte {
	if jsonKind(s) != '[' {
		return nil
	}
	if n < 0 {
		if n += jsonCount(s); n < 0 {
			return nil
		}
	}
	var c jsonCursor
	for c.start(s); ; n-- {
		_, v, ok := c.next()
		if !ok || n == 0 {
			return v
		}
	}
}

// follow walks a path of keys and array positions through jsonb, or json.
func follow(s []byte, path []types.Datum, jsonb bool) []byte {
	for _, p := range path {
		if p.Null {
			return nil
		}
		if s = jsonStep(s, p.B, jsonb); s == nil {
			return nil
		}
	}
	return s
}

// jsonStep goes to a member by its key, or to an element by its number.
func jsonStep(s, name []byte, jsonb bool) []byte {
	switch jsonKind(s) {
	case '{':
		if jsonb {
			return member(s, name)
		}
		return lastMember(s, name)
	case '[':
		n, err := strconv.ParseInt(string(name), 10, 32)
		if err != nil {
			return nil
		}
		return element(s, n)
	}
	return nil
}

// appendJSON appends any value as JSON; names are those of a row's columns.
func appendJSON(env *Env, out []byte, d types.Datum, names []string) ([]byte, error) {
	if d.Null {
		return append(out, "null"...), nil
	}
	switch d.T.Kind() {
	case types.KBool:
		return strconv.AppendBool(out, d.I != 0), nil
	case types.KInt2, types.KInt4, types.KInt8:
		return strconv.AppendInt(out, d.I, 10), nil
	case types.KFloat4, types.KFloat8:
		if d.F-d.F == 0 {
			return appendText(env, out, d), nil
		}
	case types.KNumeric:
		if d.Dec.IsFinite() {
			return d.Dec.AppendText(out), nil
		}
	case types.KJSON, types.KJSONB:
		return append(out, d.B...), nil
	case types.KArray:
		p, err := partsOf(d)
		if err != nil {
			return nil, err
		}
		return appendJSONArray(env, out, p.dims, p.elems, false)
	case types.KHstore:
		return appendHstoreJSON(out, d.B, false), nil
	case types.KRecord:
		return appendJSONRow(env, out, d, names, false)
	case types.KDate, types.KTimestamp, types.KTimestamptz:
		return appendJSONTime(env, out, d), nil
	case types.KText:
		if o := d.T.OID; o == types.OText || o == types.OVarchar || o == types.OName {
			return types.AppendJSONString(out, d.B), nil
		}
	}
	return types.AppendJSONString(out, appendText(env, nil, d)), nil
}

// appendJSONTime writes ISO 8601 with a T, whatever the session's style is.
func appendJSONTime(env *Env, out []byte, d types.Datum) []byte {
	o := env.Fmt
	if o.DateStyle != types.DateISO {
		iso := *env.Fmt
		iso.DateStyle = types.DateISO
		o = &iso
	}
	out = append(out, '"')
	from := len(out)
	out = types.AppendText(out, d, o)
	if text := out[from:]; len(text) > 10 && d.T.Kind() != types.KDate {
		if i := bytes.IndexByte(text, ' '); i >= 0 {
			text[i] = 'T'
		}
		// Offsets have minutes: +00 is +00:00.
		if n := len(text); d.T.Kind() == types.KTimestamptz && n > 3 && (text[n-3] == '+' || text[n-3] == '-') {
			out = append(out, ":00"...)
		}
	}
	return append(out, '"')
}

// appendJSONArray appends an array; pretty puts its elements on lines of their own.
func appendJSONArray(env *Env, out []byte, dims []int, elems []types.Datum, pretty bool) ([]byte, error) {
	out = append(out, '[')
	if len(elems) > 0 { // an empty oidvector has a dimension
		step := len(elems) / dims[0]
		for i := range dims[0] {
			if i > 0 {
				out = append(out, jsonComma(pretty)...)
			}
			var err error
			if len(dims) > 1 {
				out, err = appendJSONArray(env, out, dims[1:], elems[i*step:(i+1)*step], false)
			} else {
				out, err = appendJSON(env, out, elems[i], nil)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return append(out, ']'), nil
}

// fieldNames are the names of a row's n fields: those that are known of it, those of
// its type, or else f1, f2 and so on.
func fieldNames(env *Env, d types.Datum, n int, known []string) ([]string, error) {
	names := known
	switch {
	case names != nil:
	case d.T.OID == types.ORecord:
		names = types.RecordNames(d)
	case env.Fmt.Reg != nil:
		var err error
		if names, _, err = env.Fmt.Reg.Attributes(d.T.OID); err != nil {
			return nil, err
		}
	}
	names = slices.Clip(names)
	for i := len(names); i < n; i++ {
		names = append(names, "f"+strconv.Itoa(i+1))
	}
	return names, nil
}

func appendJSONRow(env *Env, out []byte, d types.Datum, names []string, pretty bool) ([]byte, error) {
	fields, err := types.RecordFields(d)
	if err != nil {
		return nil, err
	}
	if names, err = fieldNames(env, d, len(fields), names); err != nil {
		return nil, err
	}
	out = append(out, '{')
	for i, f := range fields {
		if i > 0 {
			out = append(out, jsonComma(pretty)...)
		}
		out = append(types.AppendJSONString(out, []byte(names[i])), ':')
		if out, err = appendJSON(env, out, f, nil); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// toJSONB makes canonical jsonb out of JSON text, which may be in c.buf.
func toJSONB(c *callCtx, text []byte) (types.Datum, error) {
	out, err := types.CanonicalJSONB(c.canon[:0], text)
	if err != nil {
		return null, err
	}
	if len(out) >= largeValue {
		c.buf, c.canon = nil, nil
		return types.Datum{B: out[:len(out):len(out)]}, nil
	}
	c.canon = out
	if cap(text) < largeValue {
		c.buf = text[:0]
	}
	return types.Datum{B: c.arena.Copy(out)}, nil
}

// jsonComma parts elements; pretty forms break the line.
func jsonComma(pretty bool) string {
	if pretty {
		return ",\n "
	}
	return ","
}
