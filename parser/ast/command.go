package ast

import (
	"fmt"
	"strings"
)

// Command names a statement as its command tag does.
func Command(st Stmt) string {
	switch x := st.(type) {
	case *CreateTable:
		if x.As != nil {
			return "CREATE TABLE AS"
		}
		return "CREATE TABLE"
	case *Drop:
		return "DROP " + x.Kind
	case *AlterTable:
		return "ALTER " + x.Kind
	case *AlterObject:
		return "ALTER " + x.Kind
	case *CreateView:
		if x.Materialized {
			return "CREATE MATERIALIZED VIEW"
		}
		return "CREATE VIEW"
	case *Truncate:
		return "TRUNCATE TABLE"
	case *Refresh:
		return "REFRESH MATERIALIZED VIEW"
	case *Transaction:
		return x.Kind
	case *SetVar:
		return "SET"
	case *Vacuum:
		return x.Kind
	case *Listen:
		return x.Kind
	case *CallProc:
		return "CALL"
	case *Unsupported:
		return x.What
	}
	// *ast.CreateIndex → CREATE INDEX
	name := strings.TrimPrefix(fmt.Sprintf("%T", st), "*ast.")
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}
