package ddl

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// A stored expression that reads the row of its table as a whole, written t.*, is of that
// table alone: other tables, though they have the same columns, have rows of other types.

// wholeRow reports whether a stored expression reads the row as a whole.
func (x *exec) wholeRow(text string) bool {
	if !strings.Contains(text, ".*") {
		return false
	}
	e, err := x.Planner().Texts.ParseExpr(text)
	if err != nil {
		return false
	}
	found := false
	ast.Walk(e, func(n ast.Node) bool {
		r, ok := n.(*ast.ColumnRef)
		found = found || ok && r.Star
		return !found
	})
	return found
}

// noWholeRow refuses to give another table a check that reads the row as a whole.
func (x *exec) noWholeRow(t *catalog.Table, k *catalog.Check) error {
	if !x.wholeRow(k.Expr) {
		return nil
	}
	return wholeRowError().WithDetail("Constraint \"%s\" contains a whole-row reference to table \"%s\".", k.Name, t.Name)
}

// noWholeRows refuses to give other tables indexes that read the row as a whole.
func (x *exec) noWholeRows(indexes []*catalog.Index) error {
	for _, ix := range indexes {
		found := x.wholeRow(ix.Where)
		for _, k := range ix.Keys {
			found = found || x.wholeRow(k.Expr)
		}
		if found {
			return wholeRowError().WithDetail("Index \"%s\" contains a whole-row table reference.", ix.Name)
		}
	}
	return nil
}

func wholeRowError() *sqlerr.Error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert whole-row table reference")
}
