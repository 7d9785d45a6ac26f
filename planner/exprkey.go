package planner

import (
	"fmt"
	"strings"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// exprKey is a text that two expressions share when they compute the same
// value from the same row, offsets aside. Subqueries are told apart by identity.
func exprKey(e plan.Expr) string {
	var b strings.Builder
	writeKey(&b, e)
	return b.String()
}

func writeKey(b *strings.Builder, e plan.Expr) {
	if e == nil {
		b.WriteByte('_')
		return
	}
	list := func(l []plan.Expr) {
		b.WriteByte('(')
		for _, x := range l {
			writeKey(b, x)
			b.WriteByte(',')
		}
		b.WriteByte(')')
	}
	switch e := e.(type) {
	case *plan.Const:
		if e.Val.Null {
			fmt.Fprintf(b, "null:%d", e.T.OID)
			return
		}
		fmt.Fprintf(b, "c%d/%d:%q", e.T.OID, e.T.Mod, types.AppendBinary(nil, e.Val))
	case *plan.Param:
		fmt.Fprintf(b, "$%d:%d", e.Idx, e.T.OID)
	case *plan.Var:
		fmt.Fprintf(b, "v%d.%d", e.Rel, e.Col)
	case *plan.Col:
		fmt.Fprintf(b, "#%d", e.Idx)
	case *plan.CaseVal:
		b.WriteString("caseval")
	case *plan.Call:
		fmt.Fprintf(b, "f%d", e.Proc.OID)
		list(e.Args)
	case *subquery, *aggRef, *groupingRef, *plan.SubPlan:
		fmt.Fprintf(b, "%T%p", e, e)
	default:
		fmt.Fprintf(b, "%T:%d/%d", e, e.Type().OID, e.Type().Mod)
		switch e := e.(type) {
		case *plan.Is:
			fmt.Fprintf(b, "%d%v%v", e.Test, e.Not, e.Whole)
		case *plan.IsDistinct:
			fmt.Fprintf(b, "%d%v", e.Eq.OID, e.Not)
		case *plan.InList:
			fmt.Fprintf(b, "%d%v", e.Eq.OID, e.Not)
		case *plan.AnyArray:
			fmt.Fprintf(b, "%d%v", e.Proc.OID, e.All)
		case *plan.MinMax:
			fmt.Fprintf(b, "%v", e.Least)
		case *plan.FieldOf:
			fmt.Fprintf(b, "%d", e.Idx)
		case *plan.CoerceMod:
			fmt.Fprintf(b, "%v", e.Explicit)
		case *plan.CoerceArray:
			writeKey(b, e.Elem)
		case *plan.Case:
			fmt.Fprintf(b, "%v", e.Else != nil)
		case *plan.Subscript:
			fmt.Fprintf(b, "%v", e.Slice)
		case *shown:
			b.WriteString(e.form + e.word)
		case *plan.SubscriptAssign:
			fmt.Fprintf(b, "%v", e.Slice)
		}
		b.WriteByte('(')
		plan.MapChildren(e, func(x plan.Expr) plan.Expr {
			writeKey(b, x)
			b.WriteByte(',')
			return x
		})
		b.WriteByte(')')
	}
}
