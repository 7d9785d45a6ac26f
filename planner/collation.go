package planner

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// KnownCollation checks the name of a collation. Those that order as C does, which
// is the only order here, can be named; the others are refused.
func KnownCollation(n *ast.Name) error {
	switch n.Last() {
	case "C", "POSIX", "default", "ucs_basic":
		return nil
	}
	for _, c := range catalog.Collations() {
		if c.Name == n.Last() {
			return sqlerr.Unsupported(n.Pos(), "collation \"%s\"", n.Last())
		}
	}
	return sqlerr.New(sqlerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", strings.Join(n.Parts, ".")).At(n.Pos())
}

// collateWord stands before the name in what is shown of COLLATE.
const collateWord = " COLLATE "

// collation derives the collation that the values of an expression have, as it is
// shown: that of COLLATE, or else the one that its operands share. It is "" for
// the type's own; conflict tells that the operands' differ. column tells the collation
// of a column.
func collation(e plan.Expr, column func(*plan.Var) string) (out string, conflict bool) {
	explicit := false
	plan.Visit(e, func(x plan.Expr) bool {
		if explicit {
			return false
		}
		switch x := x.(type) {
		case *plan.Var:
			if c := column(x); c != "" {
				conflict = conflict || out != "" && out != c
				out = c
			}
		case *shown:
			if name, ok := strings.CutPrefix(x.word, collateWord); ok {
				if name = strings.Trim(name, `"`); name == "default" {
					name = ""
				}
				out, explicit, conflict = name, true, false
				return false
			}
		}
		return true
	})
	return out, conflict
}
