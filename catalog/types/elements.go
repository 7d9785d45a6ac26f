package types

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// An index by elements has a key for each element of a value: the distinct
// elements of an array that are not NULL, or the tokens of a jsonb or hstore value. A token
// is a letter and a text: K for an object's key or a string in an array (which ?
// takes for the same), S for any other string, N for a number, B for a boolean, Z
// for null. All tokens of a value are among those of every value that contains it.

// maxToken is the length from which a token's text is replaced by a hash of it.
const maxToken = 256

// ElementKeyType returns the type of the element keys of values of a type; false
// for types that are not indexed by elements.
func ElementKeyType(t T) (T, bool) {
	switch t.Kind() {
	case KArray:
		if e := t.ElemType(); e.OID != 0 {
			return T{OID: e.OID, Mod: -1, User: e.User}, true
		}
	case KJSONB, KHstore:
		return TText, true
	}
	return T{}, false
}

// ElementKeys returns the element keys of a value in order, each once. null tells
// that an array has a NULL among its elements.
func ElementKeys(d Datum) (keys []Datum, null bool, err error) {
	if d.Null {
		return nil, false, nil
	}
	switch d.T.Kind() {
	case KHstore:
		return sortedTokens(hstoreTokens(nil, d.B)), false, nil
	case KJSONB:
		p := jsonParser{src: string(d.B), build: true}
		n, err := p.document()
		if err != nil {
			return nil, false, err
		}
		return sortedTokens(jsonTokens(make([][]byte, 0, 16), &n, n.kind == jsonString)), false, nil
	}
	_, _, _, elems, err := ArrayElems(d)
	if err != nil {
		return nil, false, err
	}
	for _, e := range elems {
		if e.Null {
			null = true
		} else {
			keys = append(keys, e)
		}
	}
	slices.SortFunc(keys, Compare)
	return slices.CompactFunc(keys, func(a, b Datum) bool { return Compare(a, b) == 0 }), null, nil
}

// sortedTokens are tokens as keys in order, each once.
func sortedTokens(tokens [][]byte) []Datum {
	slices.SortFunc(tokens, bytes.Compare)
	tokens = slices.CompactFunc(tokens, bytes.Equal)
	keys := make([]Datum, len(tokens))
	for i, t := range tokens {
		keys[i] = Bytes(TText, t)
	}
	return keys
}

// KeyToken returns the element key that every jsonb value with an object key, or
// a string in an array, of this text has.
func KeyToken(text []byte) Datum { return Bytes(TText, token('K', text)) }

// IsKeyToken reports whether a token is that of an object key.
func IsKeyToken(token []byte) bool { return len(token) > 0 && token[0] == 'K' }

func token(kind byte, text []byte) []byte {
	if len(text) > maxToken {
		sum := sha256.Sum256(text)
		text = append([]byte("#"), sum[:16]...)
	}
	return append(append(make([]byte, 0, 1+len(text)), kind), text...)
}

// PrettyToken shows a token of a jsonb value as people read it.
func PrettyToken(token []byte) string {
	if len(token) == 0 {
		return "<no token>"
	}
	text := string(token[1:])
	shown := strconv.Quote(text)
	if len(text) == 1+sha256.Size/2 && text[0] == '#' && !utf8.ValidString(text) {
		shown = fmt.Sprintf("of hash %x", text[1:])
	}
	switch token[0] {
	case 'K':
		return "key " + shown
	case 'S':
		return "string " + shown
	case 'N':
		return text
	case 'B':
		return map[string]string{"t": "true", "f": "false"}[text]
	case 'P':
		return "pair " + shown
	case 'Z':
		return "null"
	}
	return strconv.Quote(string(token))
}

// jsonTokens appends the tokens of a value; isKey tells that a string counts as a
// key.
func jsonTokens(out [][]byte, n *jsonNode, isKey bool) [][]byte {
	switch n.kind {
	case jsonNull:
		return append(out, token('Z', nil))
	case jsonString:
		if isKey {
			return append(out, token('K', n.text))
		}
		return append(out, token('S', n.text))
	case jsonNumber:
		return append(out, token('N', trimNumber(n.num.AppendText(nil))))
	case jsonBool:
		if n.truth {
			return append(out, token('B', []byte("t")))
		}
		return append(out, token('B', []byte("f")))
	}
	for i := range n.items {
		if n.kind == jsonObject {
			out = append(out, token('K', n.keys[i]))
		}
		out = jsonTokens(out, &n.items[i], n.kind == jsonArray)
	}
	return out
}

// trimNumber removes zeros at the end of a fraction: 1.50 equals 1.5.
func trimNumber(b []byte) []byte {
	if !slices.Contains(b, '.') {
		return b
	}
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	return b
}
