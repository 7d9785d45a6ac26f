package types

// JSONPartKind is what a walk through a jsonb value meets.
type JSONPartKind uint8

// The parts. Keys are strings.
const (
	JSONArrayBegins JSONPartKind = iota
	JSONObjectBegins
	JSONNull
	JSONString
	JSONNumber
	JSONBool
)

// JSONPart is one part of a jsonb value.
type JSONPart struct {
	Kind   JSONPartKind
	Text   []byte // of a string
	Number Decimal
	Truth  bool
}

// WalkJSONB calls visit with the parts of a stored jsonb value in the order of
// PostgreSQL's own walk: a container's beginning, then its keys and elements. A
// scalar alone comes as in an array.
func WalkJSONB(b []byte, visit func(JSONPart)) {
	n := parseStoredJSONB(b)
	if n.kind != jsonArray && n.kind != jsonObject {
		visit(JSONPart{Kind: JSONArrayBegins})
	}
	n.walk(visit)
}

func (n *jsonNode) walk(visit func(JSONPart)) {
	switch n.kind {
	case jsonNull:
		visit(JSONPart{Kind: JSONNull})
	case jsonString:
		visit(JSONPart{Kind: JSONString, Text: n.text})
	case jsonNumber:
		visit(JSONPart{Kind: JSONNumber, Number: n.num})
	case jsonBool:
		visit(JSONPart{Kind: JSONBool, Truth: n.truth})
	case jsonArray:
		visit(JSONPart{Kind: JSONArrayBegins})
	case jsonObject:
		visit(JSONPart{Kind: JSONObjectBegins})
	}
	for i := range n.items {
		if n.kind == jsonObject {
			visit(JSONPart{Kind: JSONString, Text: n.keys[i]})
		}
		n.items[i].walk(visit)
	}
}
