package expr

import (
	"bytes"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// maxJSONGap bounds the nulls that an assignment beyond an array's end may add.
const maxJSONGap = 10_000_000

// json puts a value, NULL being the JSON null, at a path of keys and numbers.
// What is missing on the way is made: an array where the next key is a number,
// with nulls before it, and an object elsewhere.
func (e *subscriptAssign) json(x, val types.Datum, row int) (types.Datum, error) {
	path := make([][]byte, len(e.lo))
	for k, v := range e.vecs[0] {
		if v.IsNull(row) {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "jsonb subscript in assignment must not be null")
		}
		if d := v.Get(row); d.T.Rep() == types.RepInt {
			path[k] = strconv.AppendInt(nil, d.I, 10)
		} else {
			path[k] = d.B
		}
	}
	old, now := x.B, val.B
	if x.Null {
		old = []byte("{}")
		if e.first.Rep() == types.RepInt {
			old = []byte("[]")
		}
	}
	if val.Null {
		now = []byte("null")
	}
	text, err := putJSON(old, path, 0, now)
	if err != nil {
		return null, err
	}
	out, err := types.CanonicalJSONB(make([]byte, 0, len(text)+len(text)/4), text)
	return types.Datum{B: out}, err
}

// putJSON returns the text of v with val at path[level:].
func putJSON(v []byte, path [][]byte, level int, val []byte) ([]byte, error) {
	if level == len(path) {
		return val, nil
	}
	switch jsonKind(v) {
	case '{':
		return putMember(v, path, level, val)
	case '[':
		return putElement(v, path, level, val)
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
		WithDetail("The path assumes key is a composite object, but it is a scalar value.")
}

func putMember(v []byte, path [][]byte, level int, val []byte) (out []byte, err error) {
	seen := false
	out = rewriteJSON(v, func(key []byte, _ int, old []byte) ([]byte, bool) {
		if seen || err != nil || !bytes.Equal(jsonString(key), path[level]) {
			return old, true
		}
		seen = true
		var now []byte
		now, err = putJSON(old, path, level+1, val)
		return now, true
	})
	if err != nil || seen {
		return out, err
	}
	now, err := newJSON(path, level+1, val)
	if err != nil {
		return nil, err
	}
	out = out[:len(out)-1]
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(types.AppendJSONString(out, path[level]), ':')
	return append(append(out, now...), '}'), nil
}

func putElement(v []byte, path [][]byte, level int, val []byte) ([]byte, error) {
	at, err := strconv.ParseInt(string(path[level]), 10, 32)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, `path element at position %d is not an integer: "%s"`, level+1, path[level])
	}
	items := jsonElements(v)
	i := int(at)
	if i < 0 {
		if i += len(items); i < 0 {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "path element at position %d is out of range: %d", level+1, at)
		}
	}
	if i < len(items) {
		if items[i], err = putJSON(items[i], path, level+1, val); err != nil {
			return nil, err
		}
	} else {
		if i-len(items) > maxJSONGap {
			return nil, errJSONGap()
		}
		for len(items) < i {
			items = append(items, []byte("null"))
		}
		now, err := newJSON(path, level+1, val)
		if err != nil {
			return nil, err
		}
		items = append(items, now)
	}
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']'), nil
}

// newJSON is val inside of the containers of path[level:].
func newJSON(path [][]byte, level int, val []byte) ([]byte, error) {
	for i := len(path) - 1; i >= level; i-- {
		at, err := strconv.Atoi(string(path[i]))
		if err != nil {
			val = append(append(append(types.AppendJSONString([]byte{'{'}, path[i]), ':'), val...), '}')
			continue
		}
		if at > maxJSONGap {
			return nil, errJSONGap()
		}
		out := append([]byte{'['}, bytes.Repeat([]byte("null,"), max(0, at))...)
		val = append(append(out, val...), ']')
	}
	return val, nil
}

func errJSONGap() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "an assignment may add at most %d elements to a jsonb array", maxJSONGap)
}
