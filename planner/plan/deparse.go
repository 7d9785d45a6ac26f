package plan

import (
	"fmt"
	"strings"

	"kvsqld/catalog/types"
)

// DeparseOptions choose the form of a deparsed expression.
type DeparseOptions struct{}

// Deparse prints a bound expression.
func Deparse(e Expr, o DeparseOptions) string {
	list := func(l []Expr, sep string) string {
		var s []string
		for _, x := range l {
			s = append(s, Deparse(x, o))
		}
		return strings.Join(s, sep)
	}
	switch e := e.(type) {
	case *Const:
		if e.Val.Null {
			return "NULL"
		}
		return string(types.AppendText(nil, e.Val, nil))
	case *Col:
		return e.Name
	case *Param:
		return fmt.Sprintf("$%d", e.Idx+1)
	case *Call:
		if e.Op != "" && len(e.Args) == 2 {
			return "(" + Deparse(e.Args[0], o) + " " + e.Op + " " + Deparse(e.Args[1], o) + ")"
		}
		return e.Proc.Name + "(" + list(e.Args, ", ") + ")"
	case *And:
		return "(" + list(e.Args, " AND ") + ")"
	case *Or:
		return "(" + list(e.Args, " OR ") + ")"
	case *Relabel:
		return Deparse(e.X, o)
	}
	var kids []Expr
	MapChildren(e, func(x Expr) Expr { kids = append(kids, x); return x })
	return strings.TrimPrefix(fmt.Sprintf("%T", e), "*plan.") + "(" + list(kids, ", ") + ")"
}
