package planner

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
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
// the type's own. column tells the collation of a column.
func collation(e plan.Expr, column func(*plan.Var) string) string {
	out, explicit := "", false
	plan.Visit(e, func(x plan.Expr) bool {
		if explicit {
			return false
		}
		switch x := x.(type) {
		case *plan.Var:
			if c := column(x); c != "" {
				out = c
			}
		case *shown:
			if name, ok := strings.CutPrefix(x.word, collateWord); ok {
				if name = strings.Trim(name, `"`); name == "default" {
					name = ""
				}
				out, explicit = name, true
				return false
			}
		}
		return true
	})
	return out
}

// collationFor answers COLLATION FOR (x) where it is bound: what a value's collation
// is hangs on how the expression is written. NULL is the one of a literal.
func (b *binder) collationFor(e *ast.Call, x plan.Expr) plan.Expr {
	at := plan.At{T: types.TText, Off: e.Pos()}
	if isUnknown(x) {
		return &plan.Const{At: at, Val: types.Null(types.TText)}
	}
	base := b.Snap.BaseType(x.Type())
	info := b.info(base.OID)
	name := "default"
	if info.Elem != 0 && info.Category == 'A' {
		info = b.info(info.Elem)
	}
	switch {
	case info.Category != 'S' || info.OID == types.OChar:
		failf(sqlerr.DatatypeMismatch, -1, "collations are not supported by type %s", b.bareName(x.Type().OID))
	case info.OID == types.OName:
		name = "C"
	}
	written := ""
	ast.Walk(e.Args[0], func(n ast.Node) bool {
		if c, ok := n.(*ast.Collate); ok && written == "" {
			written = c.Name.Last()
		}
		return written == ""
	})
	v, isColumn := x.(*plan.Var)
	if isColumn && written == "" && b.scope != nil && b.scope.block != nil {
		if r := b.scope.block.rels[v.Rel]; r != nil && v.Col >= 0 && v.Col < len(r.cols) {
			o := r.cols[v.Col]
			if t := b.Snap.Table(o.Table); t != nil && o.AttNum > 0 && int(o.AttNum) <= len(t.Columns) {
				written = t.Columns[o.AttNum-1].Collation
			}
		}
	}
	if written != "" {
		name = written
	}
	return &plan.Const{At: at, Val: types.Text(catalog.QuoteIdent(name))}
}
