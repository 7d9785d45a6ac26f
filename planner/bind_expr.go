package planner

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// binder binds the expressions of one clause of one block.
type binder struct {
	*planner
	scope   *scope
	what    string // the clause, for messages: "WHERE", "GROUP BY" …
	noAgg   bool
	noWin   bool
	srf     bool    // set-returning functions are allowed
	inAgg   bool    // in the arguments of an aggregate
	seen    *relSet // in the arguments of an aggregate: the entries read there
	inWin   bool    // in the arguments of a window function
	sawAgg  bool
	sawWin  bool
	sawSRF  bool
	windows map[string]*ast.Window
	colHook func(name string) plan.Expr
	noSub   bool
}

// clause is what the clause is called where something is not allowed in it.
func (b *binder) clause() string {
	switch b.what {
	case "JOIN/ON":
		return "JOIN conditions"
	case whenAnd:
		return "MERGE WHEN conditions"
	}
	return b.what
}

const maxExprDepth = 10000

// enter counts the depth of an expression, until leave.
func (b *binder) enter() {
	b.tick()
	b.depth++
	if b.depth > maxExprDepth {
		fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
			WithHint("Simplify the expression."))
	}
}

func (b *binder) leave() { b.depth-- }

// expr binds e; the result may still be of type unknown.
func (b *binder) expr(e ast.Expr) plan.Expr {
	b.enter()
	defer b.leave()
	switch e := e.(type) {
	case *ast.Const:
		return b.constant(e)
	case *ast.Param:
		return b.param(e)
	case *ast.ColumnRef:
		return b.columnRef(e)
	case *ast.Unary:
		return b.unary(e)
	case *ast.Binary:
		return b.binary(e)
	case *ast.And:
		args := e.Args
		for in, ok := args[0].(*ast.And); ok && !b.stored; in, ok = args[0].(*ast.And) {
			args = append(slices.Clone(in.Args), args[1:]...)
		}
		return &plan.And{At: plan.At{T: types.TBool, Off: e.Pos()}, Args: b.bools(args, "AND")}
	case *ast.Or:
		args := e.Args
		for in, ok := args[0].(*ast.Or); ok && !b.stored; in, ok = args[0].(*ast.Or) {
			args = append(slices.Clone(in.Args), args[1:]...)
		}
		return &plan.Or{At: plan.At{T: types.TBool, Off: e.Pos()}, Args: b.bools(args, "OR")}
	case *ast.Not:
		x := b.truth(e.X, "NOT")
		if s, ok := x.(*subquery); ok && s.not && b.rec != nil { // written down, both NOT stay
			return &plan.Not{At: plan.At{T: types.TBool, Off: e.Pos()}, X: x}
		}
		return negate(x, e.Pos())
	case *ast.Is:
		return b.is(e)
	case *ast.Distinct:
		for _, side := range [][2]ast.Expr{{e.L, e.R}, {e.R, e.L}} {
			if isNullConst(side[1]) { // the test of one value, of any type
				return &plan.Is{At: plan.At{T: types.TBool, Off: e.Pos()}, X: b.anyArg(b.expr(side[0])), Test: plan.IsNull, Not: !e.Not, Whole: true}
			}
		}
		l, ok1 := e.L.(*ast.Row)
		r, ok2 := e.R.(*ast.Row)
		if !ok1 || !ok2 {
			l, r := b.expr(e.L), b.expr(e.R)
			lr, ok1 := l.(*plan.RowCtor)
			rr, ok2 := r.(*plan.RowCtor)
			if !ok1 || !ok2 || lr.Names != nil || rr.Names != nil { // the row of an entry of FROM is one value
				return b.isDistinct(l, r, e.Not, e.Pos())
			}
			sameEntries(lr.Elems, rr.Elems, e.Pos())
			return b.distinctRows(lr.Elems, rr.Elems, e.Not, e.Pos())
		}
		// literals take their types from the other side's fields
		ls, rs := b.entries(l), b.entries(r)
		sameEntries(ls, rs, e.Pos())
		return b.distinctRows(ls, rs, e.Not, e.Pos())
	case *ast.Between:
		return b.between(e)
	case *ast.In:
		return b.in(e)
	case *ast.Quantified:
		return b.quantified(e)
	case *ast.Exists:
		q := b.subselect(e.Query, e.Pos())
		if b.rec == nil {
			bare(q)
		}
		return &subquery{At: plan.At{T: types.TBool, Off: e.Pos()}, kind: plan.SubExists, q: q}
	case *ast.Subquery:
		return b.scalarSub(e)
	case *ast.Case:
		return b.caseExpr(e)
	case *ast.Cast:
		return b.cast(e)
	case *ast.Collate:
		return b.collate(e)
	case *ast.Call:
		return b.call(e)
	case *ast.Special:
		return b.special(e)
	case *ast.Array:
		return b.array(e, nil)
	case *ast.Row:
		r := &plan.RowCtor{At: plan.At{T: types.TRecord, Off: e.Pos()}}
		for _, x := range e.Elems {
			for _, f := range b.spread(x) {
				if _, ok := f.(*plan.Param); ok {
					f = b.settled(f)
				}
				r.Elems = append(r.Elems, f)
			}
		}
		return r
	case *ast.Index:
		return b.subscript(e)
	case depthOf:
		return &plan.FieldOf{At: plan.At{T: types.TInt8, Off: -1}, X: b.expr(e.of)}
	case *ast.Field:
		if e.Name == "*" {
			failf(sqlerr.SyntaxError, e.Pos(), "row expansion via \"*\" is not supported here")
		}
		of := e.X
		if c, ok := of.(*ast.ColumnRef); ok && c.Star && len(c.Parts) > 0 {
			of = &ast.ColumnRef{Off: c.Off, Parts: c.Parts} // t.* is the row itself
		}
		x := b.expr(of)
		at := leftmost(x)
		if at < 0 {
			at = e.X.Pos()
		}
		if r, ok := x.(*plan.RowCtor); ok && r.Names != nil && !slices.Contains(r.Names, e.Name) {
			if f := b.functionOf(of, x, e.Name, at); f != nil {
				return f
			}
			if c, ok := of.(*ast.ColumnRef); ok {
				failf(sqlerr.UndefinedColumn, c.Pos(), "column %s.%s does not exist", c.Parts[len(c.Parts)-1], e.Name)
			}
		}
		return b.field(of, x, e.Name, at)
	}
	unsupported(e.Pos(), "this expression")
	return nil
}

func (b *binder) bools(list []ast.Expr, where string) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i, x := range list {
		out[i] = b.truth(x, where)
	}
	return out
}

// truth binds an expression that is true or false, once for a row.
func (b *binder) truth(e ast.Expr, where string) plan.Expr {
	before := b.sets
	return b.single(before, b.mustBool(b.expr(e), where), where)
}

// single refuses an expression with a set that came after before.
func (b *binder) single(before setCalls, x plan.Expr, where string) plan.Expr {
	if b.sets.n > before.n && holdsSet(x) {
		failf(sqlerr.DatatypeMismatch, leftmost(x), "argument of %s must not return a set", where)
	}
	return x
}

// noSetIn refuses sets among the members of a row comparison, which came after before.
func (b *binder) noSetIn(before setCalls, members []plan.Expr, off int) {
	if b.sets.n > before.n && slices.ContainsFunc(members, holdsSet) {
		failf(sqlerr.DatatypeMismatch, off, "row comparison operator must not return a set")
	}
}

// cond binds a boolean clause into its conjuncts. In HAVING the tests of a row's columns
// stay one.
func (b *binder) cond(e ast.Expr) []plan.Expr {
	if e == nil {
		return nil
	}
	x := b.mustBool(b.expr(e), b.what)
	if b.rec != nil {
		return []plan.Expr{x} // in the parentheses that it was written with
	}
	return conjunctsBut(x, func(a *plan.And) bool { return a.Row != nil && b.what == "HAVING" }, nil)
}

func conjuncts(e plan.Expr, out []plan.Expr) []plan.Expr {
	return conjunctsBut(e, func(*plan.And) bool { return false }, out)
}

// conjunctsBut is conjuncts that leaves some conjunctions whole.
func conjunctsBut(e plan.Expr, whole func(*plan.And) bool, out []plan.Expr) []plan.Expr {
	if a, ok := e.(*plan.And); ok && !whole(a) {
		for _, x := range a.Args {
			out = conjunctsBut(x, whole, out)
		}
		return out
	}
	if c, ok := e.(*plan.Const); ok && !c.Val.Null && c.Val.I != 0 && c.T.OID == types.OBool {
		return out
	}
	return append(out, e)
}

func conjunction(list []plan.Expr) plan.Expr {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &plan.And{At: plan.At{T: types.TBool, Off: list[0].Pos()}, Args: list}
}

func negate(x plan.Expr, off int) plan.Expr {
	if s, ok := x.(*subquery); ok && (s.kind == plan.SubExists || s.kind == plan.SubAny || s.kind == plan.SubAll) {
		c := *s
		c.not = !s.not
		return &c
	}
	return &plan.Not{At: plan.At{T: types.TBool, Off: off}, X: x}
}

func (b *binder) constant(e *ast.Const) plan.Expr {
	off := e.Pos()
	switch e.Kind {
	case ast.ConstNull:
		return &plan.Const{At: plan.At{T: types.TUnknown, Off: off}, Val: types.Null(types.TUnknown)}
	case ast.ConstBool:
		c := constBool(e.Val == "true").(*plan.Const)
		c.Off = off
		return c
	case ast.ConstInt, ast.ConstNumeric:
		return numberConst(e.Val, e.Kind == ast.ConstInt, off)
	case ast.ConstString:
		return &plan.Const{At: plan.At{T: types.TUnknown, Off: off}, Val: types.Bytes(types.TUnknown, []byte(e.Val))}
	}
	t := types.Of(types.OBit)
	d, err := types.Parse(t, map[ast.ConstKind]string{ast.ConstBit: "b", ast.ConstHexBit: "x"}[e.Kind]+e.Val, b.Fmt)
	if err != nil {
		fail(at(err, off))
	}
	return &plan.Const{At: plan.At{T: t, Off: off}, Val: d}
}

// NumberType is the type of a numeric literal: int4, int8 or numeric.
func NumberType(text string, integer bool) types.T {
	if integer {
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			if v == int64(int32(v)) {
				return types.TInt4
			}
			return types.TInt8
		}
	}
	return types.TNumeric
}

func numberConst(text string, integer bool, off int) plan.Expr {
	t := NumberType(text, integer)
	if t.OID != types.ONumeric {
		v, _ := strconv.ParseInt(text, 10, 64)
		return &plan.Const{At: plan.At{T: t, Off: off}, Val: types.Int(t, v)}
	}
	d, err := types.ParseDecimal(text)
	if err != nil {
		fail(at(err, off))
	}
	return &plan.Const{At: plan.At{T: t, Off: off}, Val: types.Datum{T: t, Dec: d}}
}

// maxParams is the highest number of a parameter. The protocol passes 65535 values,
// but statements with more can be prepared and described.
const maxParams = 1 << 20

func (b *binder) param(e *ast.Param) plan.Expr {
	if e.Num < 1 || e.Num > maxParams {
		failf(sqlerr.UndefinedParameter, e.Pos(), "there is no parameter $%d", e.Num)
	}
	if b.Routine != nil && e.Num > len(b.ParamTypes) {
		failf(sqlerr.UndefinedParameter, e.Pos(), "there is no parameter $%d", e.Num)
	}
	for len(b.params) < e.Num {
		b.params = append(b.params, types.TUnknown)
	}
	x := &plan.Param{At: plan.At{T: b.params[e.Num-1], Off: e.Pos()}, Idx: e.Num - 1}
	if b.Routine != nil { // whose call has checked it
		return x
	}
	return b.told(x, x.T)
}

// told is a parameter of the type that it was told to have. What a client passes for
// one of a domain is of the domain by name only: its checks are still to be made.
func (p *planner) told(x *plan.Param, t types.T) plan.Expr {
	c := *x
	c.T = t
	if checked := p.columnDomain(&c); checked != nil {
		return checked
	}
	return &c
}

func (b *binder) unary(e *ast.Unary) plan.Expr {
	if c, ok := e.X.(*ast.Const); ok && e.Op == "-" && (c.Kind == ast.ConstInt || c.Kind == ast.ConstNumeric) {
		return numberConst("-"+c.Val, c.Kind == ast.ConstInt, e.Pos())
	}
	return b.operator(e.Schema, e.Op, nil, b.expr(e.X), e.Pos())
}

func (b *binder) binary(e *ast.Binary) plan.Expr {
	if lr, ok := e.L.(*ast.Row); ok {
		if rr, ok := e.R.(*ast.Row); ok {
			return b.rowCompare(lr, rr, e.Op, e.Pos())
		}
		if s, ok := e.R.(*ast.Subquery); ok && !s.Array {
			return b.rowSub(lr, s, e.Op, e.Pos())
		}
	}
	if b.NullEquals && e.Op == "=" && e.Schema == "" {
		switch {
		case isNullConst(e.R):
			return b.is(&ast.Is{Off: e.Off, X: e.L, Test: "NULL"})
		case isNullConst(e.L):
			return b.is(&ast.Is{Off: e.Off, X: e.R, Test: "NULL"})
		}
	}
	l, r := b.expr(e.L), b.expr(e.R)
	// x = NULL literal keeps PostgreSQL's typing: the other side decides
	return b.operator(e.Schema, e.Op, l, r, e.Pos())
}

// isNullConst reports whether an expression is the word NULL.
func isNullConst(e ast.Expr) bool {
	c, ok := e.(*ast.Const)
	return ok && c.Kind == ast.ConstNull
}

// entries binds what a row is written of; t.* and (x).* stand for their columns.
func (b *binder) entries(r *ast.Row) []plan.Expr {
	out := make([]plan.Expr, 0, len(r.Elems))
	for _, x := range r.Elems {
		out = append(out, b.spread(x)...)
	}
	return out
}

// sameEntries refuses the comparison of rows of different lengths.
func sameEntries(l, r []plan.Expr, off int) {
	if len(l) != len(r) {
		failf(sqlerr.SyntaxError, off, "unequal number of entries in row expressions")
	}
}

// rowCompare expands (a, b) op (c, d).
func (b *binder) rowCompare(l, r *ast.Row, op string, off int) plan.Expr {
	before := b.sets
	ls, rs := b.entries(l), b.entries(r)
	sameEntries(ls, rs, off)
	if len(ls) > 1 {
		b.noSetIn(before, append(ls[:len(ls):len(ls)], rs...), off)
	}
	x := b.rowOp(ls, rs, op, off)
	if b.rec == nil || op == "=" || op == "<>" {
		return x
	}
	s := &shown{At: plan.At{T: types.TBool, Off: off}, form: formRows, word: op}
	for i := range ls {
		l, r := b.operands(op, ls[i], rs[i], off)
		ls[i], rs[i] = l, r
	}
	s.args = append(ls, rs...)
	return s
}

// operands are the sides of an operator converted to what it takes.
func (b *binder) operands(op string, l, r plan.Expr, off int) (plan.Expr, plan.Expr) {
	if c, ok := b.operator("", op, l, r, off).(*plan.Call); ok && len(c.Args) == 2 {
		return c.Args[0], c.Args[1]
	}
	return l, r
}

func (b *binder) rowOp(ls, rs []plan.Expr, op string, off int) plan.Expr {
	if len(ls) == 0 {
		failf(sqlerr.FeatureNotSupported, off, "cannot compare rows of zero length")
	}
	boolAt := plan.At{T: types.TBool, Off: off}
	switch op {
	case "=", "<>":
		args := make([]plan.Expr, len(ls))
		for i := range ls {
			args[i] = b.operator("", op, ls[i], rs[i], off)
		}
		if len(args) == 1 {
			return args[0]
		}
		if op == "=" {
			return &plan.And{At: boolAt, Args: args}
		}
		return &plan.Or{At: boolAt, Args: args}
	case "<", "<=", ">", ">=", "~<~", "~<=~", "~>~", "~>=~":
		// (a,b) < (c,d)  is  a < c OR (a = c AND b < d)
		strict := strings.Replace(op, "=", "", 1)
		last := len(ls) - 1
		before, equal := make([]plan.Expr, last), make([]plan.Expr, last)
		for i := range last {
			before[i] = b.operator("", strict, ls[i], rs[i], off)
			equal[i] = b.operator("", "=", ls[i], rs[i], off)
		}
		x := b.operator("", op, ls[last], rs[last], off)
		for i := last - 1; i >= 0; i-- {
			x = &plan.Or{At: boolAt, Args: []plan.Expr{before[i], &plan.And{At: boolAt, Args: []plan.Expr{equal[i], x}}}}
		}
		return x
	}
	for i := range ls {
		if x := b.operator("", op, ls[i], rs[i], off); x.Type().OID != types.OBool {
			failf(sqlerr.DatatypeMismatch, off, "row comparison operator must yield type boolean, not type %s", b.typeName(x.Type()))
		}
	}
	fail(sqlerr.New(sqlerr.FeatureNotSupported, "could not determine interpretation of row comparison operator %s", op).At(off).
		WithHint("Row comparison operators must be associated with btree operator families."))
	return nil
}

// otherRow reports whether x.* is the row of something else than an entry of FROM.
func (b *binder) otherRow(c *ast.ColumnRef) bool {
	return c.Star && len(c.Parts) > 0 && (len(c.Parts) > 1 || b.scope.item("", c.Parts[0], c.Pos()) == nil)
}

func (b *binder) is(e *ast.Is) plan.Expr {
	at := plan.At{T: types.TBool, Off: e.Pos()}
	operand := e.X
	if c, ok := operand.(*ast.ColumnRef); ok && b.otherRow(c) {
		operand = &ast.ColumnRef{Off: c.Off, Parts: c.Parts} // t.* is the row itself
	}
	before := b.sets
	x := b.expr(operand)
	switch e.Test {
	case "NULL":
		if r, ok := x.(*plan.RowCtor); ok {
			if b.rec != nil {
				s := &shown{At: at, form: formTest, word: " IS NULL", args: []plan.Expr{r}}
				if e.Not {
					s.word = " IS NOT NULL"
				}
				return s
			}
			if len(r.Elems) == 0 { // no column says otherwise
				return &plan.Const{At: at, Val: types.Bool(true)}
			}
			args := make([]plan.Expr, len(r.Elems))
			for i, el := range r.Elems {
				args[i] = &plan.Is{At: at, X: el, Test: plan.IsNull, Not: e.Not, Whole: true}
			}
			return &plan.And{At: at, Args: args, Row: r}
		}
		return &plan.Is{At: at, X: b.anyArg(x), Test: plan.IsNull, Not: e.Not}
	case "TRUE", "FALSE", "UNKNOWN":
		test := map[string]plan.IsTest{"TRUE": plan.IsTrue, "FALSE": plan.IsFalse, "UNKNOWN": plan.IsUnknown}[e.Test]
		where := "IS " + e.Test
		if e.Not {
			where = "IS NOT " + e.Test
		}
		return &plan.Is{At: at, X: b.single(before, b.mustBool(x, where), where), Test: test, Not: e.Not}
	}
	if form, ok := strings.CutSuffix(e.Test, "NORMALIZED"); ok {
		if form = strings.TrimSpace(form); form == "" {
			form = "NFC"
		}
		s := b.coerce(x, types.TText, implicit)
		if s == nil {
			failf(sqlerr.UndefinedFunction, e.Pos(), "function pg_catalog.is_normalized(%s) does not exist", b.bareName(x.Type().OID))
		}
		f := &plan.Const{At: plan.At{T: types.TText, Off: -1}, Val: types.Text(form)}
		y := b.makeCall(catalog.ProcBySrc("unicode_is_normalized"), []plan.Expr{s, f}, []types.OID{types.OText, types.OText}, "", e.Pos())
		if c, ok := y.(*plan.Call); ok {
			c.Syntax = "is_normalized"
			if e.Test == "NORMALIZED" {
				c.Defaults = 1
			}
		}
		if e.Not {
			return negate(y, e.Pos())
		}
		return y
	}
	unsupported(e.Pos(), "IS %s", e.Test)
	return nil
}

// distinctRows compares rows column by column.
func (b *binder) distinctRows(ls, rs []plan.Expr, not bool, off int) plan.Expr {
	at := plan.At{T: types.TBool, Off: off}
	outside := not && b.rec != nil // written down, NOT stays before the whole
	args := make([]plan.Expr, len(ls))
	for i := range args {
		args[i] = b.isDistinct(ls[i], rs[i], not && !outside, off)
	}
	switch {
	case outside:
		return &plan.Not{At: at, X: &plan.Or{At: at, Args: args}}
	case not:
		return &plan.And{At: at, Args: args}
	}
	return &plan.Or{At: at, Args: args}
}

func (b *binder) isDistinct(l, r plan.Expr, not bool, off int) plan.Expr {
	at := plan.At{T: types.TBool, Off: off}
	c, ok := b.operatorCall("", "=", l, r, off)
	if !ok { // folded: constants
		o := b.findOperator("", "=", l, r, off)
		pr := b.procByOID(o.Proc)
		args, _ := b.callArgs(pr, []plan.Expr{l, r}, []types.OID{o.Left, o.Right}, off)
		return &plan.IsDistinct{At: at, L: args[0], R: args[1], Eq: pr, Not: not}
	}
	if c.Proc.SQL != nil {
		unsupported(off, "IS DISTINCT FROM by a user-defined operator")
	}
	return &plan.IsDistinct{At: at, L: c.Args[0], R: c.Args[1], Eq: c.Proc, Not: not}
}

func (b *binder) between(e *ast.Between) plan.Expr {
	off := e.Pos()
	if _, ok := e.X.(*ast.Row); ok {
		return b.expr(rowBetween(e))
	}
	before := b.sets
	x, lo, hi := b.expr(e.X), b.expr(e.Lo), b.expr(e.Hi)
	at := plan.At{T: types.TBool, Off: off}
	where := "AND"
	if e.Not {
		where = "OR"
	}
	compare := func(op string, y plan.Expr) plan.Expr {
		return b.single(before, b.operator("", op, b.resolved(x), b.resolved(y), off), where)
	}
	both := func(lo, hi plan.Expr) plan.Expr {
		return &plan.And{At: at, Args: []plan.Expr{compare(">=", lo), compare("<=", hi)}}
	}
	beyond := func(lo, hi plan.Expr) plan.Expr {
		return &plan.Or{At: at, Args: []plan.Expr{compare("<", lo), compare(">", hi)}}
	}
	switch {
	case e.Not && e.Symmetric:
		return &plan.And{At: at, Args: []plan.Expr{beyond(lo, hi), beyond(hi, lo)}}
	case e.Not:
		return beyond(lo, hi)
	case e.Symmetric:
		return &plan.Or{At: at, Args: []plan.Expr{both(lo, hi), both(hi, lo)}}
	}
	return both(lo, hi)
}

// resolved gives a parameter the type that another use of the same expression has
// found for it, as in $1 BETWEEN 1 AND 2.
func (b *binder) resolved(e plan.Expr) plan.Expr {
	if x, ok := e.(*plan.Param); ok && isUnknown(x) && x.Idx < len(b.params) && b.params[x.Idx].OID != types.OUnknown {
		return b.told(x, b.params[x.Idx])
	}
	return e
}

// rowBetween writes BETWEEN as the comparisons that it stands for: those of rows are
// made of their columns.
func rowBetween(e *ast.Between) ast.Expr {
	compare := func(op string, y ast.Expr) ast.Expr { return &ast.Binary{Off: e.Off, Op: op, L: e.X, R: y} }
	both := func(lo, hi ast.Expr) ast.Expr {
		return &ast.And{Off: e.Off, Args: []ast.Expr{compare(">=", lo), compare("<=", hi)}}
	}
	beyond := func(lo, hi ast.Expr) ast.Expr {
		return &ast.Or{Off: e.Off, Args: []ast.Expr{compare("<", lo), compare(">", hi)}}
	}
	switch {
	case e.Not && e.Symmetric:
		return &ast.And{Off: e.Off, Args: []ast.Expr{beyond(e.Lo, e.Hi), beyond(e.Hi, e.Lo)}}
	case e.Not:
		return beyond(e.Lo, e.Hi)
	case e.Symmetric:
		return &ast.Or{Off: e.Off, Args: []ast.Expr{both(e.Lo, e.Hi), both(e.Hi, e.Lo)}}
	}
	return both(e.Lo, e.Hi)
}

func (b *binder) caseExpr(e *ast.Case) plan.Expr {
	c := &plan.Case{At: plan.At{Off: e.Pos()}}
	before := b.sets
	var val plan.Expr
	if e.Operand != nil {
		c.Operand = b.known(b.expr(e.Operand))
		val = &plan.CaseVal{At: plan.At{T: c.Operand.Type(), Off: e.Operand.Pos()}}
	}
	// ELSE decides first, as PostgreSQL's select_common_type sees it last but one
	results := make([]plan.Expr, 0, len(e.Whens)+1)
	for _, w := range e.Whens {
		var cond plan.Expr
		if val != nil {
			cond = b.operator("", "=", val, b.expr(w.Cond), w.Pos())
		} else {
			cond = b.truth(w.Cond, "CASE/WHEN")
		}
		c.Whens = append(c.Whens, plan.When{Cond: cond})
		results = append(results, b.expr(w.Result))
	}
	if e.Else != nil {
		results = append([]plan.Expr{b.expr(e.Else)}, results...)
	} else {
		results = append([]plan.Expr{&plan.Const{At: plan.At{T: types.TUnknown, Off: -1}, Val: types.Null(types.TUnknown)}}, results...)
	}
	results, t := b.toCommonOf("CASE", results, func(i int) string {
		if i == 0 {
			return "CASE/ELSE"
		}
		return "CASE/WHEN"
	})
	b.sets.none(before, "set-returning functions are not allowed in CASE")
	c.T = t
	if e.Else != nil {
		c.Else = results[0]
	}
	for i := range c.Whens {
		c.Whens[i].Result = results[i+1]
	}
	return c
}

// vectorElems refuses the array constructors that are no int2vector or oidvector: these
// have one dimension and no NULL.
func (b *binder) vectorElems(a *ast.Array, t types.T) {
	ok := len(a.Elems) > 0
	for _, x := range a.Elems {
		k, constant := x.(*ast.Const)
		_, nested := x.(*ast.Array)
		ok = ok && !nested && !(constant && k.Kind == ast.ConstNull)
	}
	if !ok {
		failf(sqlerr.DatatypeMismatch, -1, "array is not a valid %s", types.FormatTypeNoMod(t.OID))
	}
}

func (b *binder) cast(e *ast.Cast) plan.Expr {
	t := b.typeOf(&e.Type)
	base := b.Snap.BaseType(t)
	vector := base.OID == types.OOidVector || base.OID == types.OInt2Vector
	if a, ok := e.X.(*ast.Array); ok && b.info(t.OID).Kind == types.KArray && (!b.stored || len(a.Elems) == 0 || vector) {
		et := b.T(b.info(base.OID).Elem, base.Mod)
		x := b.array(a, &et)
		if vector { // which no other array becomes
			b.vectorElems(a, base)
			x = &plan.Relabel{At: plan.At{T: base, Off: e.Pos()}, X: x, Cast: plan.CastExplicit}
		}
		return b.must(x, t, explicit)
	}
	of := e.X
	if c, ok := of.(*ast.Collate); ok && !b.collatable(t) {
		if k, ok := c.X.(*ast.Const); ok && (k.Kind == ast.ConstString || k.Kind == ast.ConstNull) { // it becomes a value of the type at once
			b.namedCollation(c)
			of = c.X
		}
	}
	x := b.expr(of)
	off := e.Pos()
	if c, ok := x.(*plan.Const); ok && isUnknown(x) && !c.Val.Null {
		return b.coerceUnknown(x, t, explicit)
	}
	if row, ok := x.(*plan.RowCtor); ok {
		at := *row // what does not fit is an error of the cast
		at.Off = off
		x = &at
	}
	r := b.coerce(x, t, explicit)
	if r == nil {
		failf(sqlerr.CannotCoerce, off, "cannot cast type %s to %s", b.bareName(x.Type().OID), b.bareName(t.OID))
	}
	if r == x && x.Type() != t && t.Mod < 0 && x.Type().OID == t.OID {
		return &plan.Relabel{At: plan.At{T: t, Off: off}, X: x, Cast: plan.CastExplicit} // the cast forgets the modifier
	}
	return r
}

// namedCollation refuses a COLLATE with a collation that is not there.
func (b *binder) namedCollation(e *ast.Collate) {
	if s := e.Name.Schema(); s != "" && s != catalog.SchemaPgCatalog {
		if b.Snap.Schema(b.DB, s) == nil {
			failf(sqlerr.InvalidSchemaName, e.Pos(), "schema \"%s\" does not exist", s)
		}
		failf(sqlerr.UndefinedObject, e.Pos(), "collation \"%s\" for encoding \"UTF8\" does not exist", strings.Join(e.Name.Parts, "."))
	}
	if err := KnownCollation(&e.Name); err != nil {
		fail(err)
	}
}

func (b *binder) collate(e *ast.Collate) plan.Expr {
	x := b.expr(e.X)
	b.namedCollation(e)
	x = b.known(x)
	if !b.collatable(x.Type()) {
		failf(sqlerr.DatatypeMismatch, e.Pos(), "collations are not supported by type %s", b.bareName(x.Type().OID))
	}
	if b.rec != nil {
		return &shown{At: plan.At{T: x.Type(), Off: e.Pos()}, form: formTest, word: collateWord + catalog.QuoteIdent(e.Name.Last()), args: []plan.Expr{x}}
	}
	b.coll.any = true
	return &plan.Relabel{At: plan.At{T: x.Type(), Off: e.Pos()}, X: x, Collate: e.Name.Last()}
}
