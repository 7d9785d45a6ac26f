package planner

import (
	"fmt"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// exprKey is a text that two expressions share when they compute the same
// value from the same row, offsets aside.
func exprKey(e plan.Expr) string {
	var k keyWriter
	k.expr(e)
	return k.String()
}

func (k *keyWriter) expr(e plan.Expr) {
	if e == nil {
		k.WriteByte('_')
		return
	}
	switch e := e.(type) {
	case *plan.Const:
		if e.Val.Null {
			fmt.Fprintf(k, "null:%d", e.T.OID)
			return
		}
		fmt.Fprintf(k, "c%d/%d:%q", e.T.OID, e.T.Mod, types.AppendBinary(nil, e.Val))
	case *plan.Param:
		fmt.Fprintf(k, "$%d:%d", e.Idx, e.T.OID)
	case *plan.Var:
		if n, ok := k.rels[e.Rel]; ok {
			fmt.Fprintf(k, "own%d.%d", n, e.Col)
			return
		}
		fmt.Fprintf(k, "v%d.%d", e.Rel, e.Col)
	case *plan.Col:
		fmt.Fprintf(k, "#%d", e.Idx)
	case *plan.CaseVal:
		k.WriteString("caseval")
	case *plan.Call:
		fmt.Fprintf(k, "f%d", e.Proc.OID)
		k.list(e.Args)
	case *subquery:
		k.subquery(e)
	case *aggRef:
		k.aggregate(e)
	case *groupingRef, *plan.SubPlan:
		fmt.Fprintf(k, "%T%p", e, e)
	default:
		fmt.Fprintf(k, "%T:%d/%d", e, e.Type().OID, e.Type().Mod)
		switch e := e.(type) {
		case *plan.Is:
			fmt.Fprintf(k, "%d%v%v", e.Test, e.Not, e.Whole)
		case *plan.IsDistinct:
			fmt.Fprintf(k, "%d%v", e.Eq.OID, e.Not)
		case *plan.InList:
			fmt.Fprintf(k, "%d%v", e.Eq.OID, e.Not)
		case *plan.AnyArray:
			fmt.Fprintf(k, "%d%v", e.Proc.OID, e.All)
		case *plan.MinMax:
			fmt.Fprintf(k, "%v", e.Least)
		case *plan.FieldOf:
			fmt.Fprintf(k, "%d", e.Idx)
		case *plan.RowCtor: // the names of the fields are part of the value: to_json shows them
			fmt.Fprintf(k, "%q", e.Names)
		case *plan.CoerceMod:
			fmt.Fprintf(k, "%v", e.Explicit)
		case *plan.Relabel:
			fmt.Fprintf(k, "%q", e.Collate)
		case *plan.CoerceArray:
			k.expr(e.Elem)
		case *plan.Case:
			fmt.Fprintf(k, "%v", e.Else != nil)
		case *plan.Subscript:
			fmt.Fprintf(k, "%v", e.Slice)
		case *shown:
			k.WriteString(e.form + e.word)
		case *plan.SubscriptAssign:
			fmt.Fprintf(k, "%v", e.Slice)
		}
		k.WriteByte('(')
		plan.EachChild(e, func(x plan.Expr) {
			k.expr(x)
			k.WriteByte(',')
		})
		k.WriteByte(')')
	}
}

// aggregate writes an aggregate or a window function. Whether its window is one of the
// clause WINDOW or is written out makes no difference.
func (k *keyWriter) aggregate(a *aggRef) {
	fmt.Fprintf(k, "agg%d/%d%v%v%p", a.agg.Proc.OID, a.agg.Direct, a.agg.Star, a.agg.Distinct, a.owner)
	k.list(a.agg.Args)
	if a.agg.Filter != nil {
		k.WriteString("filter")
		k.expr(a.agg.Filter)
	}
	for _, o := range a.agg.OrderBy {
		fmt.Fprintf(k, "order%v%v", o.Desc, o.NullsFirst)
		k.expr(o.X)
	}
	if w := a.win; w != nil {
		f := w.frame
		fmt.Fprintf(k, "over%s;%s,%s,%s,%s", w.key, f.Mode, f.StartKind, f.EndKind, f.Exclude)
		k.expr(f.Start)
		k.expr(f.End)
	}
}
