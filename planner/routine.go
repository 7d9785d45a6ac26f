package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// Routine is the function whose body a statement is of: its statements may name
// the parameters, and the last one must return what the function does.
type Routine struct {
	Name      string
	Procedure bool
	Names     []string // of the parameters by number, "" for none
	// Ret is what rows are returned as, by the last statement alone: nil checks
	// and converts nothing. Cols are the columns that Ret stands for when it is a
	// row; nil: whatever the statement returns.
	Ret  *types.T
	Cols []types.T
	// Calls are what a body that was bound when it was made means of user-defined
	// functions, operators and casts; nil: any.
	Calls catalog.Calls
}

// RoutineOf describes a function for the planning of its body: last says that
// the statement is the one that returns, ret what, and cols what columns a row
// of that has.
func RoutineOf(f *catalog.Function, last bool, ret types.T, cols []types.T) *Routine {
	r := &Routine{Name: f.Name, Procedure: f.Procedure}
	if f.Standard {
		r.Calls = f.CallsOf(f.Body)
	}
	for i := range f.Args {
		if m := f.Mode(i); m == 'o' || m == 't' {
			continue
		}
		name := ""
		if i < len(f.ArgNames) {
			name = f.ArgNames[i]
		}
		r.Names = append(r.Names, name)
	}
	if last && ret.OID != types.OVoid && !(f.Procedure && cols == nil) {
		r.Ret, r.Cols = &ret, cols
	}
	return r
}

// argument resolves a name that no relation has: a parameter, also with the
// function's name before it.
func (b *binder) argument(parts []string, off int) plan.Expr {
	r := b.Routine
	if r == nil {
		return nil
	}
	find := func(name string) plan.Expr {
		if i := slices.Index(r.Names, name); i >= 0 && name != "" {
			return b.param(&ast.Param{Off: ast.Off(off), Num: i + 1})
		}
		return nil
	}
	var x plan.Expr
	whole := parts
	if len(parts) > 1 && parts[0] == r.Name {
		if x = find(parts[1]); x != nil {
			parts = parts[2:]
		}
	}
	if x == nil {
		if x = find(parts[0]); x == nil {
			return nil
		}
		parts = parts[1:]
	}
	for i, name := range parts {
		of := &ast.ColumnRef{Off: ast.Off(off), Parts: whole[:len(whole)-len(parts)+i]}
		x = b.field(of, x, name, off)
	}
	return x
}

// returned checks and converts the rows of a body's last statement to what the
// function returns.
func (p *planner) returned(q *plan.Query) {
	r := p.Routine
	if r == nil || r.Ret == nil {
		return
	}
	mismatch := func(format string, args ...any) {
		e := sqlerr.New(sqlerr.InvalidFunctionDefinition, "return type mismatch in function declared to return %s", p.typeName(p.noMod(*r.Ret)))
		fail(e.WithDetail(format, args...))
	}
	if !q.Returns {
		mismatch("Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.")
	}
	var cols []plan.OutCol
	for _, c := range q.Root.Base().Cols {
		if !c.Hidden {
			cols = append(cols, c)
		}
	}
	// in is column i as it is converted to t: a row that the statement writes down
	// has types for its fields, which another row of type record has not.
	in := func(i int, t types.T) plan.Expr {
		col := &plan.Col{At: plan.At{T: cols[i].T, Off: -1}, Idx: i}
		if row := writtenRow(q.Root, i); row != nil && p.rowColumns(p.Snap.BaseType(t)) != nil {
			return rowOver(row, col)
		}
		return col
	}
	to := func(xs []plan.Expr) {
		pr := &plan.Project{Input: q.Root, Exprs: xs}
		pr.Common.Rows, pr.Cost = q.Root.Base().Rows, q.Root.Base().Cost
		same := len(xs) == len(q.Root.Base().Cols)
		for i, x := range xs {
			pr.Cols = append(pr.Cols, plan.OutCol{Name: cols[i].Name, T: x.Type()})
			_, plain := x.(*plan.Col)
			same = same && plain
		}
		if !same {
			q.Root = pr
		}
	}
	row := r.Ret.OID == types.ORecord || p.rowColumns(*r.Ret) != nil
	if !row {
		if len(cols) != 1 {
			mismatch("Final statement must return exactly one column.")
		}
		x := p.coerce(in(0, *r.Ret), *r.Ret, assignment)
		if x == nil {
			mismatch("Actual return type is %s.", p.typeName(p.noMod(cols[0].T)))
		}
		to([]plan.Expr{x})
		return
	}
	// a procedure gives its output parameters back and no row as a whole
	if len(cols) == 1 && !r.Procedure {
		t := cols[0].T
		if t.OID == r.Ret.OID || r.Ret.OID == types.ORecord && t.Kind() == types.KRecord {
			return
		}
		if r.Ret.OID != types.ORecord && p.canCoerce(t.OID, r.Ret.OID, assignment) {
			to([]plan.Expr{p.must(in(0, *r.Ret), *r.Ret, assignment)})
			return
		}
	}
	if r.Cols == nil {
		return
	}
	xs := make([]plan.Expr, 0, len(r.Cols))
	for i, t := range r.Cols {
		if i >= len(cols) {
			mismatch("Final statement returns too few columns.")
		}
		x := p.coerce(in(i, t), t, assignment)
		if x == nil {
			mismatch("Final statement returns %s instead of %s at column %d.", p.typeName(p.noMod(cols[i].T)), p.typeName(p.noMod(t)), i+1)
		}
		xs = append(xs, x)
	}
	if len(cols) > len(r.Cols) {
		mismatch("Final statement returns too many columns.")
	}
	to(xs)
}

// rowOver writes a row down again, of the fields of its value x.
func rowOver(row *plan.RowCtor, x plan.Expr) *plan.RowCtor {
	out := &plan.RowCtor{At: plan.At{T: row.T, Off: -1}}
	for k, e := range row.Elems {
		var f plan.Expr = &plan.FieldOf{At: plan.At{T: e.Type(), Off: -1}, X: x, Idx: k}
		if r, ok := e.(*plan.RowCtor); ok && r.T.OID == types.ORecord {
			f = rowOver(r, f)
		}
		out.Elems = append(out.Elems, f)
	}
	return out
}

// writtenRow is the ROW(…) that column i of a statement's result is, nil for none.
func writtenRow(n plan.Node, i int) *plan.RowCtor {
	for {
		var out []plan.Expr
		switch x := n.(type) {
		case *plan.Project:
			if c, ok := x.Exprs[i].(*plan.Col); ok {
				n, i = x.Input, c.Idx
				continue
			}
			out = x.Exprs
		case *plan.Limit:
			n = x.Input
			continue
		case *plan.Sort:
			n = x.Input
			continue
		case *plan.Insert:
			out = x.Returning
		case *plan.Update:
			out = x.Returning
		case *plan.Delete:
			out = x.Returning
		}
		if i < len(out) {
			if e, ok := out[i].(*plan.RowCtor); ok && e.T.OID == types.ORecord {
				return e
			}
		}
		return nil
	}
}

// rowColumns lists the columns of a composite type or of a table's rows, nil for
// other types.
func (p *planner) rowColumns(t types.T) []plan.OutCol {
	var out []plan.OutCol
	for _, c := range p.columnsOf(t) {
		out = append(out, plan.OutCol{Name: c.Name, T: c.Type})
	}
	return out
}

// columnsOf are the live columns of a composite type or of a table's rows, nil for other
// types.
func (p *planner) columnsOf(t types.T) (live []catalog.Column) {
	var cols []catalog.Column
	if u := p.Snap.TypeByOID(t.OID); u != nil {
		if u.Kind != 'c' {
			return nil
		}
		cols = u.Columns
	} else if in := p.Snap.TypeInfo(t.OID); in != nil && in.RelID != 0 && in.Elem == 0 {
		if r := p.Snap.RelationByOID(p.DB, in.RelID); r != nil {
			cols = r.RelColumns()
		}
	}
	for _, c := range cols {
		if !c.Dropped {
			live = append(live, c)
		}
	}
	return live
}

// routineCall completes the call of a user-defined function: its row's columns,
// and what it may do.
func (b *binder) routineCall(c *plan.Call) plan.Expr {
	f := c.Proc.SQL
	b.called, b.calls = append(b.called, f.OID), append(b.calls, f)
	if f.Volatile == 'v' {
		b.writes = true
	}
	for _, col := range b.recordCols(c) {
		c.Cols = append(c.Cols, col.T)
	}
	if b.whole == 0 {
		if x := b.inline(c); x != nil {
			return x
		}
	}
	return b.fold(c)
}

// maxInlines is how many bodies are put in the place of calls in a statement, those of
// bodies among them: functions that each call another one twice would double the
// expression again and again.
const maxInlines = 2000

// inline puts the expression that a function is in the place of its call, when
// the body is one SELECT of one expression and that changes nothing: the
// arguments are evaluated as often as before, and errors and NULLs stay.
//
//	CREATE FUNCTION add1(x int) RETURNS int LANGUAGE sql IMMUTABLE RETURN x + 1
//	add1(a)    a + 1
//
// It returns nil when the call must stay.
func (b *binder) inline(c *plan.Call) plan.Expr {
	f := c.Proc.SQL
	if b.Consts == nil || b.NoOptimizer || f.RetSet || f.Procedure || f.Definer || len(f.Config) > 0 || c.Cols != nil || c.T.OID == types.OVoid || c.T.OID == types.ORecord || slices.Contains(b.inlining, f.OID) || *b.inlines >= maxInlines {
		return nil
	}
	*b.inlines++
	body, err := Body(b.Texts, f)
	if err != nil || len(body) != 1 {
		return nil
	}
	s, ok := body[0].(*ast.Select)
	if !ok || !bareExpr(s) {
		return nil
	}
	in := *b.planner.Context
	in.Routine = RoutineOf(f, false, c.T, nil)
	in.ParamTypes = nil
	for _, a := range c.Args {
		in.ParamTypes = append(in.ParamTypes, a.Type())
	}
	p := newPlanner(&in)
	p.inlining, p.inlines = append(slices.Clone(b.inlining), f.OID), b.inlines // a recursive call stays one
	x, ok := p.bareBody(s.Targets[0].X, c.T)
	if !ok {
		return nil
	}
	uses := make([]int, len(c.Args))
	fit := true
	plan.Visit(x, func(y plan.Expr) bool {
		switch y := y.(type) {
		case *plan.Param:
			uses[y.Idx]++
		case *plan.Call:
			v := y.Proc.Volatile
			fit = fit && (f.Volatile == 'v' || v == 'i' || v == 's' && f.Volatile == 's') && (!f.Strict || y.Proc.Strict)
		case *plan.Const, *plan.Relabel:
		case *subquery:
			fit = false
		default:
			fit = fit && !f.Strict
		}
		return fit
	})
	for i, n := range uses {
		if f.Strict && n == 0 || n != 1 && !cheap(c.Args[i]) {
			fit = false
		}
	}
	if !fit {
		return nil
	}
	b.called, b.calls = append(b.called, p.called...), append(b.calls, p.calls...)
	b.volatil, b.writes = b.volatil || p.volatil, b.writes || p.writes
	return plan.Map(stripPos(x), func(y plan.Expr) plan.Expr {
		if v, ok := y.(*plan.Param); ok {
			return c.Args[v.Idx]
		}
		return b.fold(y)
	})
}

// bareBody binds the expression of a body; false when it is no plain expression
// or does not bind, which the call then reports.
func (p *planner) bareBody(e ast.Expr, want types.T) (x plan.Expr, ok bool) {
	var err error
	defer func() { ok = err == nil && x != nil && len(p.params) == len(p.ParamTypes) }()
	defer p.recover(&err)
	b := &binder{planner: p, scope: &scope{}, what: "SELECT", noAgg: true, noWin: true, noSub: true}
	return p.coerce(p.known(b.expr(e)), want, assignment), true
}

// bareExpr reports whether a query is SELECT expression, or RETURN expression, and nothing more.
func bareExpr(s *ast.Select) bool {
	if len(s.Targets) != 1 {
		return false
	}
	if c, ok := s.Targets[0].X.(*ast.ColumnRef); ok && c.Star {
		return false
	}
	bare := ast.Select{Off: s.Off, Targets: s.Targets, Return: s.Return}
	return ast.Format(s) == ast.Format(&bare)
}

// cheap reports whether an argument may be evaluated more or less often than it
// is written.
func cheap(e plan.Expr) bool {
	ok := true
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			ok = ok && x.Proc.Volatile != 'v' && x.Proc.SQL == nil && x.Proc.Cost <= 10
		case *subquery, *aggRef, *groupingRef:
			ok = false
		}
		return ok
	})
	return ok
}

// planCall plans CALL: a query of the one row that the procedure gives back.
func (p *planner) planCall(s *ast.CallProc, out *plan.Query) {
	off := s.Call.Pos()
	b := &binder{planner: p, scope: &scope{}, what: "CALL arguments", noAgg: true, noWin: true, noSub: true}
	fc := &funcCall{schema: s.Call.Name.Schema(), name: s.Call.Name.Last(), variadic: s.Call.Variadic, off: off, argNames: s.Call.ArgNames, procedure: true}
	for _, a := range s.Call.Args {
		fc.args = append(fc.args, b.expr(a))
	}
	p.checkNamespace(&s.Call.Name)
	p.usable(&s.Call.Name)
	cand, args := p.findFunction(fc)
	if cand == nil {
		other := *fc
		other.functions = true
		if f, _ := p.findFunction(&other); f != nil {
			fail(sqlerr.New(sqlerr.WrongObjectType, "%s is not a procedure", p.signature(fc)).At(off).WithHint("To call a function, use SELECT."))
		}
		fail(sqlerr.New(sqlerr.UndefinedFunction, "procedure %s does not exist", p.signature(fc)).At(off).
			WithHint("No procedure matches the given name and argument types. You might need to add explicit type casts."))
	}
	args, ret := p.callArgs(cand.proc, args, cand.args, off)
	args = b.completeArgs(cand, args, cand.defaults)
	f := cand.proc.SQL
	c := &plan.Call{At: plan.At{T: ret, Off: off}, Proc: p.userProc(f, false)}
	for i := range args {
		if f.Mode(i) != 'o' {
			c.Args = append(c.Args, args[i])
		}
	}
	cols := p.outCols(c.Proc, c.Args)
	for _, col := range cols {
		c.Cols = append(c.Cols, col.T)
	}
	p.writes, p.volatil = true, true
	p.called, p.calls = append(p.called, f.OID), append(p.calls, f)
	n := &plan.FuncScan{Funcs: p.planExprs([]plan.Expr{c}, nil), FuncCols: []int{max(len(cols), 1)}}
	n.Common.Rows = 1
	n.Cols = cols
	if cols == nil {
		n.Cols = []plan.OutCol{{Name: f.Name, T: types.T{OID: types.OVoid, Mod: -1}}}
	}
	out.Tag, out.Root, out.Returns = "CALL", n, cols != nil
}

func argTypes(xs []plan.Expr) []types.OID {
	out := make([]types.OID, len(xs))
	for i, x := range xs {
		out[i] = x.Type().OID
	}
	return out
}

// TextUses lists the user-defined functions that a stored text calls and the
// relations and types that it names. Texts that do not bind use nothing.
func TextUses(c *Context, t catalog.StoredText) []types.OID {
	p := textPlanner(c)
	// The text was bound when it was stored; what has gone since is not used.
	if p.bindText(t) != nil {
		return nil
	}
	out := p.called
	for _, u := range p.uses {
		if !u.Member {
			out = append(out, u.Table.OID)
		}
	}
	return out
}

// TextCalls finds which user-defined functions, operators and casts a stored text is bound
// to, nil when it does not bind.
func TextCalls(c *Context, t catalog.StoredText) catalog.Calls {
	p := textPlanner(c)
	if p.bindText(t) != nil {
		return nil
	}
	return p.Snap.CallsAmong(p.called)
}

// Binds tells why a stored text does not bind, nil when it does.
func Binds(c *Context, t catalog.StoredText) error {
	bare := *c
	bare.Consts = nil
	return newPlanner(&bare).bindText(t)
}

// LiteralTypes returns the types of those literals in a stored text that are read by what
// the catalog says of their types.
func LiteralTypes(c *Context, t catalog.StoredText) []types.T {
	bare := *c
	bare.Consts = nil
	p := newPlanner(&bare)
	if p.bindText(t) != nil {
		return nil
	}
	return p.readTypes
}

// namedIn adds the user-defined types and the relations in literals that an
// expression names to those that are used.
func (p *planner) namedIn(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.CoerceIO:
		if k, ok := x.X.(*plan.Const); ok && x.Literal {
			if oid := p.objectNamed(x.T, string(k.Val.B)); oid != 0 {
				p.called = append(p.called, oid)
			}
		}
	case *plan.Const, *plan.Relabel, *plan.CoerceMod, *plan.CoerceDomain, *plan.CoerceArray, *plan.RowCtor:
	default:
		return e
	}
	t := e.Type()
	if in := p.Snap.TypeInfo(t.OID); t.OID >= types.FirstUserOID || in != nil && in.Extension != "" {
		p.called = append(p.called, t.OID)
		if in != nil && in.Kind == types.KArray && in.Elem != 0 {
			p.called = append(p.called, in.Elem)
		}
	}
	return e
}

// bindNamed binds a query for what it names.
func (p *planner) bindNamed(s *ast.Select) (err error) {
	defer p.recover(&err)
	mapQuery(p.bindForText(s), p.namedIn)
	return nil
}

func (p *planner) bindText(t catalog.StoredText) (err error) {
	defer p.recover(&err)
	p.only = t.Calls()
	switch {
	case t.Function != nil:
		body, err := p.Texts.ParseBody(t.Text, true)
		if err != nil {
			return err
		}
		for _, s := range body {
			in := *p.Context
			in.Routine = RoutineOf(t.Function, false, t.Function.Ret, nil)
			in.ParamTypes = t.Function.Inputs()
			q := newPlanner(&in)
			if query, ok := s.(*ast.Select); !ok {
				err = q.bindStatement(s)
			} else {
				err = q.bindNamed(query)
			}
			if err != nil {
				return err
			}
			p.called = append(p.called, q.called...)
			for _, r := range q.rights {
				if r.As == "" { // the body names it, and no view that it reads
					p.called = append(p.called, r.Rel.ObjectOID())
				}
			}
		}
	case t.View != nil:
		s, err := p.Texts.ParseQuery(t.Text)
		if err != nil {
			return err
		}
		return p.bindNamed(s)
	default:
		x, err := p.Texts.ParseExpr(t.Text)
		if err != nil {
			return err
		}
		table := t.Table
		if t.Value.OID != 0 {
			table = valueTable(p.Snap.BaseType(t.Value))
		}
		b := &binder{planner: p, scope: &scope{}, what: "expressions", noAgg: true, noWin: true}
		if table != nil {
			b.scope.items = []*nsItem{p.relNames(p.tableRel(table, table.Name), nil)}
		}
		plan.Map(p.known(b.expr(x)), p.namedIn)
	}
	return nil
}

// CheckBody plans a statement of a function's body as its definition does; last
// is the statement that returns. A body without statements is nil.
func CheckBody(c *Context, f *catalog.Function, s ast.Stmt, last bool) error {
	in := *c
	cols := []types.T(nil)
	in.ParamTypes = f.Inputs()
	p := newPlanner(&in)
	p.trusted = 0
	for _, col := range p.outCols(p.userProc(f, false), nil) {
		cols = append(cols, col.T)
	}
	if f.Ret.OID != types.ORecord {
		cols = nil
		for _, col := range p.rowColumns(f.Ret) {
			cols = append(cols, col.T)
		}
	}
	in.Routine = RoutineOf(f, last, f.Ret, cols)
	if q, ok := s.(*ast.Select); ok && q.Into != nil && !f.Standard {
		if in.Routine.Ret != nil {
			return p.noStatement()
		}
		made := *q
		made.Into = nil
		return p.bindStatement(&made)
	}
	switch s.(type) {
	case nil:
		return p.noStatement()
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return p.bindStatement(s)
	}
	if _, call := s.(*ast.CallProc); call {
		if err := p.bindCall(s); err != nil || !f.Standard {
			return err
		}
	}
	if f.Standard {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not yet supported in unquoted SQL function body", ast.Command(s))
	}
	if last && in.Routine.Ret != nil {
		return p.noStatement()
	}
	switch s := s.(type) {
	case *ast.Unsupported:
		return sqlerr.Unsupported(s.Pos(), "%s", s.What)
	case *ast.Do, *ast.Copy, *ast.Explain, *ast.Show, *ast.Prepare, *ast.Execute, *ast.Deallocate, *ast.DeclareCursor, *ast.Fetch, *ast.CloseCursor, *ast.Backup:
		return sqlerr.Unsupported(s.Pos(), "%s in the body of a function", ast.Command(s))
	}
	return nil // it is read when it runs
}

// noStatement checks a body whose end returns no rows.
func (p *planner) noStatement() (err error) {
	defer p.recover(&err)
	p.returned(&plan.Query{})
	return nil
}

func (p *planner) bindStatement(s ast.Stmt) (err error) {
	defer p.recover(&err)
	p.statement(s)
	return nil
}

// bindCall binds CALL in a function's body: what the procedure gives back would have no
// place to go.
func (p *planner) bindCall(s ast.Stmt) (err error) {
	defer p.recover(&err)
	if p.statement(s).Returns {
		failf(sqlerr.FeatureNotSupported, -1, "calling procedures with output arguments is not supported in SQL functions")
	}
	return nil
}

// functionOf is x.f where f is no field of x but a function, a cast or an aggregate that
// takes it: f(x). It is nil where none does; x was bound from of.
func (b *binder) functionOf(of ast.Expr, x plan.Expr, name string, off int) plan.Expr {
	fc := &funcCall{name: name, args: []plan.Expr{x}, off: off}
	if b.castCall(fc) == nil {
		if cand, _ := b.findFunction(fc); cand == nil {
			return nil
		}
	}
	e := &ast.Call{Off: ast.Off(off), Name: ast.Name{Parts: []string{name}}, Args: []ast.Expr{of}}
	if b.isAggName("", name) {
		return b.call(e) // binds the argument as an aggregate's
	}
	return b.callOf(e, fc, b, b.sets)
}
