package planner

import (
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// ascending and descending are the operators that sort, by their names.
var (
	ascending  = []string{"<", "~<~"}
	descending = []string{">", "~>~"}
)

// usingName is the name of the operator of ORDER BY … USING, without its schema.
func usingName(o ast.SortItem) string { return o.Using[strings.LastIndexByte(o.Using, '.')+1:] }

// usingOther is the operator of an ORDER BY entry that is not the type's own < or >.
func usingOther(o ast.SortItem) string {
	if n := usingName(o); n != "<" && n != ">" {
		return n
	}
	return ""
}

// descends reports whether an ORDER BY entry that is bound is one from the greatest on.
func descends(o ast.SortItem) bool {
	return o.Desc || o.Using != "" && slices.Contains(descending, usingName(o))
}

// notOrdering refuses an operator that does not sort.
func (p *planner) notOrdering(name string, off int) {
	fail(sqlerr.New(sqlerr.WrongObjectType, "operator %s is not a valid ordering operator", name).At(off).
		WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families."))
}

// direction is the direction of an ORDER BY entry, whose operator, if it names
// one, must be one that sorts.
func (p *planner) direction(o ast.SortItem, x plan.Expr) (desc, nullsFirst bool) {
	if o.Using == "" {
		p.needOrder(x, startOf(o.X))
		desc = o.Desc
	} else {
		name := usingName(o)
		found := p.findOperator("", name, x, x, o.OpOff.Pos())
		switch {
		case found.Own != nil:
			p.notOrdering(name, o.OpOff.Pos())
		case slices.Contains(ascending, name):
		case slices.Contains(descending, name):
			desc = true
		case name == "*<" || name == "*>":
			unsupported(o.OpOff.Pos(), "ORDER BY USING %s", name)
		default:
			p.notOrdering(name, o.OpOff.Pos())
		}
	}
	nullsFirst = desc
	if o.NullsFirst != nil {
		nullsFirst = *o.NullsFirst
	}
	return desc, nullsFirst
}

// leftmost is the offset at which an expression begins.
func leftmost(e plan.Expr) int {
	off := e.Pos()
	plan.Visit(e, func(x plan.Expr) bool {
		if o := x.Pos(); o >= 0 && (o < off || off < 0) {
			off = o
		}
		return true
	})
	return off
}
