package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

func (b *binder) in(e *ast.In) plan.Expr {
	off := e.Pos()
	if e.Query != nil {
		s := b.quantSub(e.X, e.Query, "", "=", false, off)
		if e.Not {
			return negate(s, off)
		}
		return s
	}
	at := plan.At{T: types.TBool, Off: off}
	if row, ok := e.X.(*ast.Row); ok {
		args := make([]plan.Expr, len(e.List))
		for i, x := range e.List {
			r, ok := x.(*ast.Row)
			if !ok {
				failf(sqlerr.UndefinedFunction, off, "operator does not exist: record = %s", b.bareName(b.expr(x).Type().OID))
			}
			args[i] = b.rowCompare(row, r, "=", off)
		}
		var r plan.Expr = &plan.Or{At: at, Args: args}
		if len(args) == 1 {
			r = args[0]
		}
		if e.Not {
			return negate(r, off)
		}
		return r
	}
	before := b.sets
	x := b.expr(e.X)
	list, vars := make([]plan.Expr, 0, len(e.List)), []plan.Expr(nil)
	all := make([]plan.Expr, len(e.List))
	for i, l := range e.List {
		all[i] = b.expr(l)
		if b.readsHere(all[i]) {
			vars = append(vars, all[i])
		} else {
			list = append(list, all[i])
		}
	}
	op := "="
	if e.Not {
		op = "<>"
	}
	// two values or more make a list of one type; columns, and values without a
	// common type, are compared one by one
	var r plan.Expr
	rest := all
	if len(list) > 1 {
		if r = b.inList(x, list, e.Not, off); r != nil {
			rest = vars
		}
	}
	for _, l := range rest {
		c := b.single(before, b.operator("", op, x, l, off), "IN")
		switch {
		case r == nil:
			r = c
		case e.Not:
			r = &plan.And{At: at, Args: []plan.Expr{r, c}}
		default:
			r = &plan.Or{At: at, Args: []plan.Expr{r, c}}
		}
	}
	return r
}

// readsHere reports whether an expression reads a column that a value of a list may not.
// Written down, those of the queries around are values like others.
func (b *binder) readsHere(e plan.Expr) bool {
	if b.rec == nil || b.scope == nil {
		return readsColumn(e)
	}
	return b.scope.owns(relsOf(e))
}

func readsColumn(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		_, v := x.(*plan.Var)
		found = found || v
		return !found
	})
	return found
}

// inList is x IN (list) with one operator for all, nil when there is no common type.
func (b *binder) inList(x plan.Expr, list []plan.Expr, not bool, off int) plan.Expr {
	t := b.commonType("", append([]plan.Expr{x}, list...))
	if t.OID == 0 {
		return nil
	}
	for _, l := range list {
		if b.coerceKind(l, t) == nil {
			return nil
		}
	}
	for i := range list {
		list[i] = b.must(list[i], t, implicit)
	}
	// a value in list[0]'s place, as the comparison of two constants is not a call
	eq, ok := b.operatorCall("", "=", x, &plan.Var{At: plan.At{T: list[0].Type(), Off: off}, Rel: -2}, off)
	if !ok || len(eq.Args) != 2 || eq.Own != nil {
		return nil
	}
	lt := eq.Args[1].Type()
	for i := range list {
		list[i] = b.must(list[i], lt, implicit)
	}
	return &plan.InList{At: plan.At{T: types.TBool, Off: off}, X: eq.Args[0], List: list, Elem: t, Eq: eq.Proc, Not: not, OpSchema: eq.OpSchema}
}

func (b *binder) coerceKind(e plan.Expr, t types.T) plan.Expr {
	if isUnknown(e) || b.canCoerce(e.Type().OID, t.OID, implicit) {
		return e
	}
	return nil
}

func (b *binder) quantified(e *ast.Quantified) plan.Expr {
	off := e.Pos()
	if e.Query != nil {
		return b.quantSub(e.L, e.Query, e.Schema, e.Op, e.All, off)
	}
	x, arr := b.expr(e.L), b.expr(e.Array)
	at := plan.At{T: types.TBool, Off: off}
	var elem types.T
	arr = b.must(arr, b.Snap.BaseType(arr.Type()), implicit)
	switch in := b.info(arr.Type().OID); {
	case isUnknown(arr):
		if isUnknown(x) {
			x = b.known(x)
		}
		// The elements are what the operator takes at the right of x: of a domain's base
		// type, text for jsonb ? ANY.
		null := &plan.Const{At: plan.At{T: types.TUnknown, Off: -1}, Val: types.Null(types.TUnknown)}
		probe, ok := b.operatorCall(e.Schema, e.Op, &plan.Var{At: plan.At{T: x.Type(), Off: off}, Rel: -2}, null, off)
		if !ok || len(probe.Args) != 2 {
			failf(sqlerr.WrongObjectType, off, "op ANY/ALL (array) requires operator to yield boolean")
		}
		elem = probe.Args[1].Type()
		elem.Mod = -1
		ao := b.info(elem.OID).Array
		if ao == 0 {
			failf(sqlerr.UndefinedObject, off, "could not find array type for data type %s", b.bareName(elem.OID))
		}
		arr = b.must(arr, b.T(ao, -1), implicit)
	case in.Kind == types.KArray && in.Elem != 0:
		elem = b.T(in.Elem, -1)
	default:
		failf(sqlerr.WrongObjectType, off, "op ANY/ALL (array) requires array on right side")
	}
	ph := &plan.Var{At: plan.At{T: elem, Off: off}, Rel: -1}
	if isUnknown(x) {
		x = b.must(x, elem, implicit)
	}
	call, ok := b.operatorCall(e.Schema, e.Op, &plan.Var{At: plan.At{T: x.Type(), Off: off}, Rel: -2}, ph, off)
	if !ok || call.T.OID != types.OBool {
		failf(sqlerr.WrongObjectType, off, "op ANY/ALL (array) requires operator to yield boolean")
	}
	elems := arr
	if a, ok := arr.(*plan.CoerceArray); ok {
		elems = a.X
	}
	if c, ok := elems.(*plan.ArrayCtor); ok && call.Own == nil && constElems(c) && (e.Op == "=" && !e.All || e.Op == "<>" && e.All) {
		// an IN list is stored in this form: it is the list again
		eq := b.operator(e.Schema, "=", &plan.Var{At: plan.At{T: x.Type(), Off: off}, Rel: -2}, ph, off).(*plan.Call)
		list := make([]plan.Expr, len(c.Elems))
		for i, l := range c.Elems {
			list[i] = b.must(l, eq.Args[1].Type(), implicit)
		}
		if elems != arr {
			elem = b.T(b.info(c.T.OID).Elem, -1)
		}
		return &plan.InList{At: at, X: b.must(x, eq.Args[0].Type(), implicit), List: list, Elem: elem, Eq: eq.Proc, Not: e.All, OpSchema: eq.OpSchema}
	}
	op := e.Op
	if call.Own != nil {
		op = "OPERATOR(" + catalog.QuoteIdent(call.Own.Schema) + "." + call.Own.Name + ")"
		if call.Proc.SQL != nil {
			unsupported(off, "operator %s with ANY or ALL of an array", e.Op)
		}
	} else if call.OpSchema != "" {
		op = plan.OperatorIn(call.OpSchema, e.Op)
	}
	// Arrays have no arrays; the elements of one of domains over arrays stay as they are.
	if of := call.Args[1].Type(); of != elem && (b.info(of.OID).Array != 0 || b.Snap.BaseType(elem).OID != of.OID) {
		at := b.info(call.Args[1].Type().OID).Array
		arr = b.must(arr, b.T(at, -1), implicit)
	}
	return &plan.AnyArray{At: at, X: b.must(x, call.Args[0].Type(), implicit), Array: arr, Proc: call.Proc, Op: op, All: e.All}
}

func constElems(c *plan.ArrayCtor) bool {
	for _, x := range c.Elems {
		if _, ok := x.(*plan.Const); !ok {
			return false
		}
	}
	return !c.Nested && len(c.Elems) > 0
}
