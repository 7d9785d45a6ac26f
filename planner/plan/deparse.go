package plan

import (
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// DeparseOptions are what an expression's text depends on besides the
// expression; nil fields stand for what is right for built-in types.
type DeparseOptions struct {
	Fmt *types.FmtOpts
	// Column spells a column's name.
	Column func(name string) string
	// TypeName names a type with its modifier.
	TypeName func(types.T) string
	// Literal is the canonical text of a literal that only the catalog can read,
	// such as the name of a relation.
	Literal func(t types.T, text string) string
	// Function names a user-defined function; nil for the name it has.
	Function func(f *catalog.Function) (schema, name string)
	// Operator names a user-defined operator; nil for the name it has.
	Operator func(o *catalog.OwnOperator) (schema, name string)
	// Constant is the text of a value that the catalog names anew, such as a label
	// of an enum; false for others.
	Constant func(t types.T, v types.Datum) (string, bool)
	// Field is what a field of a row is called.
	Field func(x Expr, idx int) string
	// Other writes an expression in a way of its own, or returns false; sub is the
	// text of a part.
	Other func(e Expr, sub func(x Expr, implicit bool) string) (string, bool)
}

// Deparse returns the SQL text of a bound expression whose columns have names,
// spelled as pg_get_expr spells it but on one line: operators are in
// parentheses, constants show their types, conversions that the binder added
// are shown where an operator or a function needs them and hidden elsewhere. The
// text of an expression that was not folded binds to the same expression.
func Deparse(e Expr, opt DeparseOptions) string { return DeparseTop(e, false, opt) }

// DeparseTop is Deparse; implicit tells that a conversion at the top is shown
// even if the binder added it.
func DeparseTop(e Expr, implicit bool, opt DeparseOptions) string {
	if opt.Fmt == nil {
		opt.Fmt = types.DefaultFmt
	}
	if opt.TypeName == nil {
		opt.TypeName = types.FormatType
	}
	if opt.Column == nil {
		opt.Column = catalog.QuoteIdent
	}
	d := &deparser{opt: opt}
	d.expr(e, implicit)
	return d.b.String()
}

type deparser struct {
	b   strings.Builder
	opt DeparseOptions
}

func (d *deparser) str(s string) { d.b.WriteString(s) }

// list writes expressions with commas.
func (d *deparser) list(l []Expr, implicit bool) {
	for i, x := range l {
		if i > 0 {
			d.str(", ")
		}
		d.expr(x, implicit)
	}
}

// call writes name(list).
func (d *deparser) call(name string, l []Expr) {
	d.str(name + "(")
	d.list(l, true)
	d.str(")")
}

// join writes (a sep b sep c).
func (d *deparser) join(l []Expr, sep string) {
	d.str("(")
	for i, x := range l {
		if i > 0 {
			d.str(sep)
		}
		d.expr(x, false)
	}
	d.str(")")
}

// expr writes e; implicit tells that a conversion at its top is shown even if
// the binder added it.
func (d *deparser) expr(e Expr, implicit bool) {
	if d.opt.Other != nil {
		if s, ok := d.opt.Other(e, func(x Expr, implicit bool) string { return DeparseTop(x, implicit, d.opt) }); ok {
			d.str(s)
			return
		}
	}
	switch e := e.(type) {
	case *Const:
		d.constant(e, true)
	case *Col:
		d.str(d.opt.Column(e.Name))
	case *Var:
		d.str(d.opt.Column(e.Name))
	case *Param:
		d.str("$" + strconv.Itoa(e.Idx+1))
	case *SubPlan:
		d.str("(" + subPlanName(e) + ")")
	case *CaseVal:
		d.str("CASE_TEST_EXPR")
	case *Call:
		d.function(e, implicit)
	case *CoerceIO:
		if e.Literal {
			d.literal(e)
			return
		}
		d.cast(e.X, e.T, e.Cast, implicit, true)
	case *Relabel:
		d.cast(e.X, e.T, e.Cast, implicit, true)
	case *CoerceMod:
		if e.Syntax != "" {
			d.str(e.Syntax)
			d.precision(e.T)
			return
		}
		d.cast(e.X, e.T, e.Cast, implicit, false)
	case *KeyBound:
		d.expr(e.X, implicit)
	case *CoerceDomain:
		d.cast(e.X, e.T, e.Cast, implicit, true)
	case *CoerceArray:
		d.cast(e.X, e.T, e.Cast, implicit, true)
	case *And:
		d.join(e.Args, " AND ")
	case *Or:
		d.join(e.Args, " OR ")
	case *Not:
		d.str("(NOT ")
		d.expr(e.X, false)
		d.str(")")
	case *Is:
		d.str("(")
		d.expr(e.X, e.Test == IsNull)
		if e.Whole && isRow(e.X) { // IS NULL would be about its columns
			d.str(map[bool]string{false: " IS NOT DISTINCT FROM NULL)", true: " IS DISTINCT FROM NULL)"}[e.Not])
			return
		}
		d.str(" IS ")
		if e.Not {
			d.str("NOT ")
		}
		d.str([...]string{"NULL", "TRUE", "FALSE", "UNKNOWN"}[e.Test] + ")")
	case *Case:
		d.caseExpr(e)
	case *Coalesce:
		d.call("COALESCE", e.Args)
	case *NullIf:
		args := []Expr{e.X}
		if c, ok := e.Eq.(*Call); ok {
			args = append(args, c.Args[1])
		}
		d.call("NULLIF", args)
	case *MinMax:
		name := "GREATEST"
		if e.Least {
			name = "LEAST"
		}
		d.call(name, e.Args)
	case *IsDistinct:
		if e.Not {
			d.str("(NOT ")
		}
		d.str("(")
		d.expr(e.L, true)
		d.str(" IS DISTINCT FROM ")
		d.expr(e.R, true)
		d.str(")")
		if e.Not {
			d.str(")")
		}
	case *InList:
		d.inList(e)
	case *AnyArray:
		d.str("(")
		d.expr(e.X, true)
		d.str(" " + e.Op + quantifier(e.All))
		d.expr(e.Array, true)
		d.str("))")
	case *ArrayCtor:
		d.str("ARRAY[")
		d.list(e.Elems, true)
		d.str("]")
		if len(e.Elems) == 0 {
			d.str("::" + d.opt.TypeName(e.T))
		}
	case *Subscript:
		d.subscript(e)
	case *SubscriptAssign:
		d.subscript(&Subscript{X: e.X, Slice: e.Slice, Lo: e.Lo, Hi: e.Hi})
		d.str(" := ")
		d.expr(e.Val, true)
	case *RowCtor:
		d.call("ROW", e.Elems)
		if e.Cast == CastExplicit && e.T.OID != types.ORecord {
			d.str("::" + d.opt.TypeName(e.T))
		}
	case *FieldOf:
		name := e.Name
		if d.opt.Field != nil {
			name = d.opt.Field(e.X, e.Idx)
		}
		if name == "" {
			name = "f" + strconv.Itoa(e.Idx+1)
		}
		switch e.X.(type) {
		case *FieldOf, *Subscript:
			d.expr(e.X, true)
		default:
			d.str("(")
			d.expr(e.X, true)
			d.str(")")
		}
		d.str("." + catalog.QuoteIdent(name))
	}
}

func isRow(e Expr) bool {
	t := e.Type()
	return t.OID == types.ORecord || t.Kind() == types.KRecord
}

func quantifier(all bool) string {
	if all {
		return " ALL ("
	}
	return " ANY ("
}

// cast writes a conversion of x to t, or x alone when the conversion is hidden. thin
// tells that no function does it.
func (d *deparser) cast(x Expr, t types.T, form CastForm, implicit, thin bool) {
	if form != CastExplicit && !implicit {
		if call, ok := x.(*Call); ok && (call.Op != "" || call.Own != nil) {
			open, end := "(", ")" // so that the pretty form keeps the operator's
			if thin {
				open, end = "((", "))"
			}
			d.str(open)
			d.expr(x, false)
			d.str(end)
			return
		}
		d.expr(x, false)
		return
	}
	if c, ok := x.(*Const); ok && c.T.OID == t.OID && c.T.Mod < 0 {
		d.constant(c, false) // the modifier's cast labels the constant
	} else {
		d.str("(")
		d.expr(x, false)
		d.str(")")
	}
	d.str("::" + d.opt.TypeName(t))
}

// constant writes a literal, and its type unless the text alone would be read
// as that type.
func (d *deparser) constant(c *Const, label bool) {
	if c.Val.Null {
		d.str("NULL")
		if label {
			d.str("::" + d.opt.TypeName(c.T))
		}
		return
	}
	text := ""
	if d.opt.Constant != nil {
		if s, ok := d.opt.Constant(c.T, c.Val); ok {
			text = s
		}
	}
	if text == "" {
		text = string(types.AppendText(nil, c.Val, d.opt.Fmt))
	}
	switch {
	case c.T.OID == types.OBool:
		text, label = "false", false
		if c.Val.I != 0 {
			text = "true"
		}
	case c.T.OID == types.OInt4 && text[0] != '-':
		label = false
	case c.T.OID == types.ONumeric && text[0] >= '0' && text[0] <= '9' && strings.Contains(text, "."):
		label = false
	default:
		text = quote(text)
		label = label && c.T.OID != types.OUnknown
	}
	d.str(text)
	if label {
		d.str("::" + d.opt.TypeName(c.T))
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (d *deparser) literal(e *CoerceIO) {
	c, ok := e.X.(*Const)
	if !ok {
		d.cast(e.X, e.T, e.Cast, true, true)
		return
	}
	text := string(c.Val.B)
	if d.opt.Literal != nil {
		text = d.opt.Literal(e.T, text)
	}
	d.str(quote(text) + "::" + d.opt.TypeName(e.T))
}

func (d *deparser) caseExpr(e *Case) {
	d.str("CASE")
	if e.Operand != nil {
		d.str(" ")
		d.expr(e.Operand, true)
	}
	for _, w := range e.Whens {
		d.str(" WHEN ")
		cond := w.Cond
		if c, ok := cond.(*Call); ok && e.Operand != nil && len(c.Args) == 2 {
			cond = c.Args[1] // the other one is the operand
		}
		d.expr(cond, false)
		d.str(" THEN ")
		d.expr(w.Result, true)
	}
	d.str(" ELSE ")
	if e.Else != nil {
		d.expr(e.Else, true)
	} else {
		d.str("NULL::" + d.opt.TypeName(types.T{OID: e.T.OID, Mod: -1, User: e.T.User, Elem: e.T.Elem}))
	}
	d.str(" END")
}

// inList writes x = ANY (ARRAY[…]); the array is of the list's common type and
// converted as a whole when the operator wants another one.
func (d *deparser) inList(e *InList) {
	op := "="
	if e.Not {
		op = "<>"
	}
	op = " " + OperatorIn(e.OpSchema, op)
	if e.Elem.Kind() == types.KArray {
		d.inArrays(e, op)
		return
	}
	d.str("(")
	d.expr(e.X, true)
	d.str(op + quantifier(e.Not))
	elems := e.List
	want := e.Eq.Args[1]
	converted := want != e.Elem.OID && types.Lookup(want) != nil && types.Lookup(want).Array != 0
	if converted {
		elems = make([]Expr, len(e.List))
		for i, x := range e.List {
			in, ok := converts(x)
			if !ok || in.Type().OID != e.Elem.OID {
				elems, converted = e.List, false
				break
			}
			elems[i] = in
		}
	}
	if converted {
		d.str("(")
	}
	d.str("ARRAY[")
	d.list(elems, true)
	d.str("]")
	if converted {
		d.str(")::" + d.opt.TypeName(types.Of(types.Lookup(want).Array)))
	}
	d.str("))")
}

// inArrays writes ((x = a) OR (x = b)): an array of arrays would have the elements of
// these.
func (d *deparser) inArrays(e *InList, op string) {
	d.str(strings.Repeat("(", len(e.List)-1))
	for i, elem := range e.List {
		if i > 0 && e.Not {
			d.str(" AND ")
		} else if i > 0 {
			d.str(" OR ")
		}
		d.str("(")
		d.expr(e.X, true)
		d.str(op + " ")
		d.expr(elem, true)
		d.str(")")
		if i > 0 {
			d.str(")")
		}
	}
}

// converts returns what an added conversion is applied to.
func converts(e Expr) (Expr, bool) {
	switch e := e.(type) {
	case *Relabel:
		return e.X, e.Cast != CastExplicit
	case *CoerceIO:
		return e.X, e.Cast != CastExplicit && !e.Literal
	case *Call:
		if e.Cast == CastImplicit {
			return e.Args[0], true
		}
	}
	return nil, false
}

func (d *deparser) subscript(e *Subscript) {
	switch e.X.(type) {
	case *Col, *Var, *FieldOf:
		d.expr(e.X, true)
	default:
		d.str("(")
		d.expr(e.X, true)
		d.str(")")
	}
	bound := func(l []Expr, i int) {
		if i < len(l) && l[i] != nil {
			d.expr(l[i], false)
		}
	}
	for i := range e.Lo {
		d.str("[")
		bound(e.Lo, i)
		if e.Slice {
			d.str(":")
			bound(e.Hi, i)
		}
		d.str("]")
	}
}
