package types

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The tags of JSON values in keys, in the order that jsonb has. Behind the tag of
// an array or an object is the number of its items, big-endian.
const (
	jsonKeyNull = 1 + iota
	jsonKeyString
	jsonKeyNumber
	jsonKeyBool
	jsonKeyArray
	jsonKeyObject
)

// errJSONKey reports bytes that AppendJSONBKey has not made.
var errJSONKey = errors.New("damaged jsonb key")

// AppendJSONBKey appends bytes that sort as stored jsonb documents compare: equal
// documents have equal keys, and no key is the beginning of another. number appends
// a number in a form of the same kind. A scalar document sorts as an array of one
// element, before the arrays of one element, as in PostgreSQL.
func AppendJSONBKey(dst, doc []byte, number func([]byte, Decimal) []byte) []byte {
	n := parseStoredJSONB(doc)
	switch n.kind {
	case jsonObject:
	case jsonArray:
		dst = binary.BigEndian.AppendUint32(append(dst, jsonKeyArray), uint32(len(n.items)))
		return n.appendItemKeys(append(dst, 1), number)
	default:
		dst = append(binary.BigEndian.AppendUint32(append(dst, jsonKeyArray), 1), 0)
	}
	return n.appendKey(dst, number)
}

func (n *jsonNode) appendItemKeys(dst []byte, number func([]byte, Decimal) []byte) []byte {
	for i := range n.items {
		if n.kind == jsonObject {
			dst = appendJSONKeyText(dst, n.keys[i])
		}
		dst = n.items[i].appendKey(dst, number)
	}
	return dst
}

func (n *jsonNode) appendKey(dst []byte, number func([]byte, Decimal) []byte) []byte {
	switch n.kind {
	case jsonNull:
		return append(dst, jsonKeyNull)
	case jsonString:
		return appendJSONKeyText(append(dst, jsonKeyString), n.text)
	case jsonNumber:
		return number(append(dst, jsonKeyNumber), n.num)
	case jsonBool:
		b := byte(0)
		if n.truth {
			b = 1
		}
		return append(dst, jsonKeyBool, b)
	}
	tag := byte(jsonKeyArray)
	if n.kind == jsonObject {
		tag = jsonKeyObject
	}
	return n.appendItemKeys(binary.BigEndian.AppendUint32(append(dst, tag), uint32(len(n.items))), number)
}

// appendJSONKeyText appends a string and its end; jsonb texts have no zero bytes.
func appendJSONKeyText(dst, text []byte) []byte { return append(append(dst, text...), 0) }

// JSONBOfKey returns a document that has the key; number reads a number and returns
// the rest.
func JSONBOfKey(key []byte, number func([]byte) (Decimal, []byte, error)) ([]byte, error) {
	p := jsonKeyReader{number: number}
	var n jsonNode
	var err error
	switch {
	case len(key) > 5 && key[0] == jsonKeyArray && key[5] == 0:
		n, err = p.value(&key, 6, 0)
	case len(key) > 5 && key[0] == jsonKeyArray:
		count := binary.BigEndian.Uint32(key[1:])
		key = key[6:]
		n, err = p.items(jsonArray, count, &key, 0)
	default:
		n, err = p.value(&key, 0, 0)
	}
	if err == nil && len(key) > 0 {
		err = errJSONKey
	}
	if err != nil {
		return nil, err
	}
	return n.append(nil), nil
}

// jsonKeyReader reads the values of a key, one behind the other.
type jsonKeyReader struct {
	number func([]byte) (Decimal, []byte, error)
}

// value reads the value that begins skip bytes behind the start of *key.
func (p *jsonKeyReader) value(key *[]byte, skip, depth int) (n jsonNode, err error) {
	b := (*key)[min(skip, len(*key)):]
	if len(b) == 0 || depth > maxJSONDepth {
		return n, errJSONKey
	}
	tag := b[0]
	*key = b[1:]
	switch tag {
	case jsonKeyNull:
		n.kind = jsonNull
	case jsonKeyString:
		n.kind = jsonString
		n.text, err = jsonKeyText(key)
	case jsonKeyNumber:
		n.kind = jsonNumber
		n.num, *key, err = p.number(*key)
	case jsonKeyBool:
		if len(*key) == 0 {
			return n, errJSONKey
		}
		n.kind, n.truth = jsonBool, (*key)[0] != 0
		*key = (*key)[1:]
	case jsonKeyArray, jsonKeyObject:
		if len(*key) < 4 {
			return n, errJSONKey
		}
		count := binary.BigEndian.Uint32(*key)
		*key = (*key)[4:]
		kind := jsonArray
		if tag == jsonKeyObject {
			kind = jsonObject
		}
		return p.items(kind, count, key, depth)
	default:
		err = errJSONKey
	}
	return n, err
}

func (p *jsonKeyReader) items(kind jsonKind, count uint32, key *[]byte, depth int) (jsonNode, error) {
	n := jsonNode{kind: kind}
	for range count {
		if kind == jsonObject {
			k, err := jsonKeyText(key)
			if err != nil {
				return n, err
			}
			n.keys = append(n.keys, k)
		}
		v, err := p.value(key, 0, depth+1)
		if err != nil {
			return n, err
		}
		n.items = append(n.items, v)
	}
	return n, nil
}

func jsonKeyText(key *[]byte) ([]byte, error) {
	i := bytes.IndexByte(*key, 0)
	if i < 0 {
		return nil, errJSONKey
	}
	text := (*key)[:i]
	*key = (*key)[i+1:]
	return text, nil
}
