// Package jsonpath reads and prints SQL/JSON path expressions, the values of the
// type jsonpath.
//
// In: the text of a path. Out: its syntax tree, and the canonical text that
// PostgreSQL prints. Invariant: the canonical text of a tree parses to an equal
// tree, so that it is the stored form. Grammar: SQL:2016 part 2, 9.39, with
// PostgreSQL 15's methods. Evaluation is the executor's.
package jsonpath

// Kind tells what an item of a path does.
type Kind uint8

// The kinds of items.
const (
	Null Kind = iota
	String
	Number
	Bool
	Variable  // $name
	Root      // $
	Current   // @
	Last      // last
	Key       // .name
	AnyKey    // .*
	AnyArray  // [*]
	Index     // [from to to, …]
	Any       // .**{first to last}
	Filter    // ?(predicate)
	Exists    // exists(path)
	Not       // !(predicate)
	IsUnknown // (predicate) is unknown
	And
	Or
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	StartsWith
	LikeRegex
	Add
	Sub
	Mul
	Div
	Mod
	Plus  // +path
	Minus // -path
	Type
	Size
	Abs
	Floor
	Ceiling
	Double
	Datetime
	KeyValue
)

// AnyDepth is a level of .** that stands for the deepest one.
const AnyDepth = -1

// Range is a subscript: From alone when To is nil.
type Range struct{ From, To *Item }

// Item is one step of a path, or an operator. Next is the accessor that is
// applied to its result.
type Item struct {
	Kind        Kind
	Next        *Item
	Text        string  // of String, Number (as numeric prints it), Variable, Key; the pattern of LikeRegex
	Truth       bool    // of Bool
	JSON        []byte  // the value of String, Number, Bool and Null; nobody looks at it for others
	Left, Right *Item   // operands; Left alone for unary ones, filters and Exists; the template of Datetime
	Subscripts  []Range // of Index
	First, Deep int     // levels of Any, AnyDepth for last
	Flags       string  // of LikeRegex: letters of "ismxq" in this order
}

// Path is a whole path.
type Path struct {
	Strict bool
	Root   *Item
}

var operators = map[Kind]string{
	And: "&&", Or: "||", Equal: "==", NotEqual: "!=", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">=",
	StartsWith: "starts with", Add: "+", Sub: "-", Mul: "*", Div: "/", Mod: "%", Plus: "+", Minus: "-",
}

// Operator returns the operator's text, "" for other kinds.
func (k Kind) Operator() string { return operators[k] }

var methods = map[Kind]string{
	Type: "type", Size: "size", Abs: "abs", Floor: "floor", Ceiling: "ceiling", Double: "double",
	Datetime: "datetime", KeyValue: "keyvalue",
}

// Method returns the name of an item method, "" for other kinds.
func (k Kind) Method() string { return methods[k] }

// IsPredicate reports whether the item has a truth value instead of a sequence.
func (k Kind) IsPredicate() bool {
	return k >= Exists && k <= LikeRegex
}

// priority orders operators by how tightly they bind.
func (k Kind) priority() int {
	switch k {
	case Or:
		return 0
	case And:
		return 1
	case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, StartsWith:
		return 2
	case Add, Sub:
		return 3
	case Mul, Div, Mod:
		return 4
	case Plus, Minus:
		return 5
	}
	return 6
}
