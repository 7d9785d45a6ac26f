package parser

import (
	"sort"

	"kvsqld/parser/ast"
)

// Literal is a literal that Fingerprint took out of a statement.
type Literal struct {
	Kind ast.ConstKind // ConstInt, ConstNumeric or ConstString
	Val  string        // decoded
	Off  int           // of the token
}

// literalParam returns the parameter number of a literal token, if it is one
// of those that ParseNormalized was given.
func (p *parser) literalParam(t Token) (int, bool) {
	if p.lits == nil {
		return 0, false
	}
	i := sort.Search(len(p.lits), func(i int) bool { return p.lits[i].Off >= int(t.Off) })
	if i == len(p.lits) || p.lits[i].Off != int(t.Off) {
		return 0, false
	}
	p.params = max(p.params, i+1)
	return i + 1, true
}
