package jsonpath

// Part is a piece of a document: an object's key, or a scalar.
type Part struct {
	Key    string
	Scalar []byte // its JSON text; nil for a key
}

// Where a path finds an item, or a predicate is true, the document has some pieces
// somewhere: all keys that lead there, and the scalars that an equality asks for. They
// are given as clauses, of each of which a document has one piece at least. Others than
// those documents may have them as well.
//
//	$.a ? (@.b == 1 && @.c > 2)            key a, key b, number 1, key c
//	$.a ? (@.b == 1 || exists(@.c))        key a, number 1 or key c
//	$.a ? (!(@.b == 1))                    key a
//	$.a.size() ? (@ == 3)                  key a
//
// Nothing is known of items that are not the document's own, those that methods and
// arithmetic make, so that a path is followed no further than there.

// Found are the clauses of documents in which the path finds an item.
func (p *Path) Found() [][]Part { return chain(p.Root) }

// True are the clauses of documents for which the path is a predicate that is true.
func (p *Path) True() [][]Part {
	if p.Root.Kind.IsPredicate() && p.Root.Next == nil {
		return predicate(p.Root)
	}
	return chain(p.Root)
}

// chain follows a path from its head.
func chain(it *Item) [][]Part {
	var out [][]Part
	switch it.Kind {
	case Root, Current:
	case Add, Sub, Mul, Div, Mod:
		return append(chain(it.Left), chain(it.Right)...)
	case Plus, Minus:
		return chain(it.Left)
	default:
		return nil
	}
	for it = it.Next; it != nil && it.accesses(); it = it.Next {
		switch it.Kind {
		case Key:
			out = append(out, []Part{{Key: it.Text}})
		case Filter:
			out = append(out, predicate(it.Left)...)
		}
	}
	return out
}

// accesses reports whether an item passes pieces of what it is given.
func (it *Item) accesses() bool {
	switch it.Kind {
	case Key, AnyKey, AnyArray, Index, Any, Filter:
		return true
	}
	return false
}

// stored reports whether a path passes pieces of the document alone.
func stored(it *Item) bool {
	if it.Kind != Root && it.Kind != Current {
		return false
	}
	for it = it.Next; it != nil; it = it.Next {
		if !it.accesses() {
			return false
		}
	}
	return true
}

// scalar is the value of a path that is a literal, nil for others.
func scalar(it *Item) []byte {
	if it.Next != nil {
		return nil
	}
	switch it.Kind {
	case Null, String, Number, Bool:
		return it.JSON
	}
	return nil
}

// predicate are the clauses of documents for which a predicate is true.
func predicate(it *Item) [][]Part {
	switch it.Kind {
	case And:
		return append(predicate(it.Left), predicate(it.Right)...)
	case Or:
		l, r := telling(predicate(it.Left)), telling(predicate(it.Right))
		if l == nil || r == nil {
			return nil
		}
		return [][]Part{append(append([]Part(nil), l...), r...)}
	case Exists:
		return chain(it.Left)
	case Equal:
		out := append(chain(it.Left), chain(it.Right)...)
		for _, side := range [][2]*Item{{it.Left, it.Right}, {it.Right, it.Left}} {
			if v := scalar(side[1]); v != nil && stored(side[0]) {
				out = append(out, []Part{{Scalar: v}})
			}
		}
		return out
	case NotEqual, Less, LessEqual, Greater, GreaterEqual:
		return append(chain(it.Left), chain(it.Right)...)
	case StartsWith, LikeRegex:
		return chain(it.Left)
	}
	return nil
}

// telling is the clause that probably tells documents best: the last one of scalars, or
// the last one.
func telling(clauses [][]Part) []Part {
	for i := len(clauses) - 1; i >= 0; i-- {
		if clauses[i][len(clauses[i])-1].Scalar != nil {
			return clauses[i]
		}
	}
	if len(clauses) == 0 {
		return nil
	}
	return clauses[len(clauses)-1]
}
