package types

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
	"kvsqld/catalog/types/jsonpath"
)

// OJSONPath is the type jsonpath, which is held as its canonical text.
const OJSONPath OID = 4072

// jsonPathVersion begins the binary form; the text follows.
const jsonPathVersion = 1

// ParseJSONPath reads the text of a jsonpath value.
func ParseJSONPath(s string) (*jsonpath.Path, error) {
	return jsonpath.Parse(s, func(num string) (string, error) {
		d, err := ParseDecimal(num)
		return d.String(), err
	}, AppendJSONString)
}

func canonicalJSONPath(s string) ([]byte, error) {
	p, err := ParseJSONPath(s)
	if err != nil {
		return nil, err
	}
	return []byte(p.String(AppendJSONString)), nil
}

func jsonPathText(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errBinaryShort()
	}
	if b[0] != jsonPathVersion {
		return nil, sqlerr.New(sqlerr.InternalError, "unsupported jsonpath version number: %d", b[0])
	}
	if err := charset.CheckUTF8(b[1:]); err != nil {
		return nil, err
	}
	return canonicalJSONPath(string(b[1:]))
}

// PathKeys returns the element keys that the jsonb values have of which a jsonpath finds an
// item or, with truth, is true: one at least of each group.
func PathKeys(d Datum, truth bool) ([][]Datum, error) {
	p, err := ParseJSONPath(string(d.B))
	if err != nil {
		return nil, err
	}
	clauses := p.Found()
	if truth {
		clauses = p.True()
	}
	groups := make([][]Datum, len(clauses))
	for i, c := range clauses {
		var tokens [][]byte
		for _, part := range c {
			if part.Scalar == nil {
				tokens = append(tokens, token('K', []byte(part.Key)))
				continue
			}
			parser := jsonParser{src: string(part.Scalar), build: true}
			n, err := parser.document()
			if err != nil {
				return nil, err
			}
			tokens = jsonTokens(tokens, &n, false)
			if n.kind == jsonString {
				tokens = jsonTokens(tokens, &n, true)
			}
		}
		groups[i] = sortedTokens(tokens)
	}
	return groups, nil
}
