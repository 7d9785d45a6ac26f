package planner

import (
	"fmt"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// maxArgs is how many arguments a function has at most.
const maxArgs = 100

func (b *binder) call(e *ast.Call) plan.Expr {
	off := e.Pos()
	fc := &funcCall{schema: e.Name.Schema(), name: e.Name.Last(), variadic: e.Variadic, off: off, argNames: e.ArgNames}
	if len(e.Name.Parts) > 2 {
		b.checkNamespace(&e.Name)
	}
	if len(e.Args) > maxArgs {
		failf(sqlerr.TooManyArguments, off, "cannot pass more than %d arguments to a function", maxArgs)
	}
	inner := *b
	switch {
	case e.Over != nil:
		inner.inWin = true
	case b.isAggName(fc.schema, fc.name) || e.WithinGrp:
		inner.inAgg, inner.seen = true, new(relSet)
	}
	before := b.sets
	for _, a := range e.Args {
		// t.* in count(t.*) is the row itself
		if c, ok := a.(*ast.ColumnRef); ok && b.otherRow(c) {
			a = &ast.ColumnRef{Off: c.Off, Parts: c.Parts}
		}
		x := inner.expr(a)
		if isVoidParam(x) {
			continue
		}
		fc.args = append(fc.args, x)
	}
	if e.WithinGrp {
		for _, s := range e.OrderBy {
			fc.args = append(fc.args, inner.expr(s.X))
		}
	}
	b.sawSRF, b.sawAgg, b.sawWin = b.sawSRF || inner.sawSRF, b.sawAgg || inner.sawAgg, b.sawWin || inner.sawWin
	return b.callOf(e, fc, &inner, before)
}

// callOf is the call e once its arguments are bound, by inner, where there were the
// set-returning calls of before.
func (b *binder) callOf(e *ast.Call, fc *funcCall, inner *binder, before setCalls) plan.Expr {
	off := e.Pos()
	plain := len(fc.args) == 1 && fc.argNames == nil && !e.Star && e.Over == nil && !e.Distinct && e.OrderBy == nil
	if plain {
		if x := b.castCall(fc); x != nil {
			return x
		}
	}
	if e.WithinGrp {
		b.hypothetical(fc, len(e.Args))
	}
	b.usable(&e.Name)
	cand, args := b.findFunction(fc)
	if cand == nil {
		// f(row) is row.f where no function takes the row
		if plain && fc.schema == "" && slices.ContainsFunc(b.recordCols(fc.args[0]), func(c plan.OutCol) bool { return c.Name == fc.name }) {
			return b.field(e.Args[0], fc.args[0], fc.name, off)
		}
		b.checkNamespace(&e.Name)
		err := sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", b.signature(fc)).At(off)
		if e.OrderBy != nil && !e.WithinGrp {
			err.WithHint("No aggregate function matches the given name and argument types. Perhaps you misplaced ORDER BY; ORDER BY must appear after all regular arguments of the aggregate.")
		} else {
			err.WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
		}
		fail(err)
	}
	pr := cand.proc
	if pr.Kind == 'p' {
		fail(sqlerr.New(sqlerr.WrongObjectType, "%s is a procedure", b.signature(fc)).At(off).WithHint("To call a procedure, use CALL."))
	}
	if pr.Kind == 'a' && fc.argNames != nil {
		failf(sqlerr.FeatureNotSupported, off, "aggregates cannot use named arguments")
	}
	b.limit(pr)
	want := cand.args
	if fc.variadic && pr.Variadic == types.OAny {
		last := args[len(args)-1]
		if t := b.Snap.BaseType(last.Type()); b.info(t.OID).Elem == 0 {
			failf(sqlerr.DatatypeMismatch, last.Pos(), "VARIADIC argument must be an array")
		}
	}
	if len(args) == 1 && pr.Src == "pg_collation_for" && b.rec == nil {
		return b.collationFor(args[0], off)
	}
	if len(args) == 1 && pr.Src == "pg_typeof" {
		if c, ok := args[0].(*plan.Const); ok && isUnknown(c) {
			t := types.Of(types.ORegtype)
			return &plan.Const{At: plan.At{T: t, Off: off}, Val: types.Int(t, int64(types.OUnknown))}
		}
	}
	defaults := cand.defaults
	if slices.ContainsFunc(pr.Args[len(pr.Args)-defaults:], isPoly) { // their types count, too
		args, want = slices.Concat(args, b.defaultArgs(cand)), pr.Args
		defaults = 0
	}
	args, ret := b.callArgs(pr, args, want, off)
	args = b.completeArgs(cand, args, defaults)
	for i, x := range args {
		// results take their type from such arguments, without the modifier
		if b.rec == nil && x.Type().OID == types.OBpchar && (pr.Kind != 'f' || i < len(pr.Args) && isPoly(pr.Args[i])) {
			args[i] = b.coerceMod(x, types.TBpchar, implicit)
		}
	}
	if pr.Volatile == 'v' {
		b.volatil = true
	}
	b.writes = b.writes || pr.Modifies
	if e.Star && (pr.Kind == 'f') {
		failf(sqlerr.WrongObjectType, off, "%s(*) specified, but %s is not an aggregate function", strings.Join(e.Name.Parts, "."), strings.Join(e.Name.Parts, "."))
	}
	if pr.Kind == 'f' {
		switch {
		case e.Distinct:
			failf(sqlerr.WrongObjectType, off, "DISTINCT specified, but %s is not an aggregate function", strings.Join(e.Name.Parts, "."))
		case e.OrderBy != nil && !e.WithinGrp:
			failf(sqlerr.WrongObjectType, off, "ORDER BY specified, but %s is not an aggregate function", strings.Join(e.Name.Parts, "."))
		case e.WithinGrp:
			failf(sqlerr.WrongObjectType, off, "WITHIN GROUP specified, but %s is not an aggregate function", strings.Join(e.Name.Parts, "."))
		case e.Filter != nil:
			failf(sqlerr.WrongObjectType, off, "FILTER specified, but %s is not an aggregate function", strings.Join(e.Name.Parts, "."))
		case e.Over != nil:
			failf(sqlerr.WrongObjectType, off, "OVER specified, but %s is not a window function nor an aggregate function", strings.Join(e.Name.Parts, "."))
		}
		if pr.RetSet {
			b.setCall(off)
		}
		b.mustRun(pr, args, "", off)
		c := &plan.Call{At: plan.At{T: ret, Off: off}, Proc: pr, Args: args, VariadicArr: e.Variadic, Syntax: e.Form, Defaults: cand.defaults, Written: fc.written(cand)}
		if pr.SQL != nil {
			x := b.routineCall(c)
			b.routine = c
			return x
		}
		if pr.Own != nil {
			b.called = append(b.called, pr.OID)
		}
		return b.fold(c)
	}
	kind := "aggregate"
	if pr.Kind == 'w' || e.Over != nil {
		kind = "window"
	}
	b.sets.none(before, kind+" function calls cannot contain set-returning function calls")
	return b.aggregate(e, pr, args, ret, inner)
}

// isVoidParam reports whether an argument is a parameter declared void: drivers
// send one in place of a function's OUT parameter, and it is no argument.
func isVoidParam(x plan.Expr) bool {
	p, ok := x.(*plan.Param)
	return ok && p.T.OID == types.OVoid
}

// defaultArgs are the defaults of the arguments that a call leaves out.
func (b *binder) defaultArgs(c *candidate) []plan.Expr {
	out := make([]plan.Expr, c.defaults)
	for i := range out {
		out[i] = b.defaultArg(c.proc, len(c.proc.Defaults)-c.defaults+i)
	}
	return out
}

// completeArgs adds the last defaults and gathers variadic arguments into an array.
func (b *binder) completeArgs(c *candidate, args []plan.Expr, defaults int) []plan.Expr {
	pr := c.proc
	if c.variadic && pr.Variadic != types.OAny {
		fixed := len(pr.Args) - 1
		rest := args[fixed:]
		at := plan.At{Off: -1}
		if len(rest) > 0 {
			at.T = b.T(b.info(rest[0].Type().OID).Array, -1)
		} else {
			at.T = b.T(pr.Args[fixed], -1)
		}
		arr := &plan.ArrayCtor{At: at, Elems: append([]plan.Expr(nil), rest...)}
		args = append(append([]plan.Expr(nil), args[:fixed]...), b.fold(arr))
	}
	if defaults > 0 {
		for i, d := range b.defaultArgs(c) {
			args = append(args, b.must(d, b.T(pr.Args[len(pr.Args)-defaults+i], -1), assignment))
		}
	}
	return args
}

// castCall treats name(x) as a cast when name is a type, no function has exactly
// such an argument, and the cast needs no function of its own. Like functions, types of
// the temporary schema must be asked for by its name.
func (b *binder) castCall(fc *funcCall) plan.Expr {
	in := b.typeByName(fc.schema, fc.name)
	if in == nil || in.Type == 'p' || in.RelID != 0 || fc.schema == "" && in == b.Snap.Type(b.DB, b.TempSchema, fc.name) {
		return nil
	}
	src := fc.args[0].Type().OID
	for _, pr := range b.procs(fc.schema, fc.name) {
		if len(pr.Args) == 1 && pr.Args[0] == src {
			return nil
		}
	}
	if src != types.OUnknown {
		ok, how, _ := b.castPath(src, in.OID, explicit)
		if !ok || how == pathFunc || how == pathIO && in.Category == 'S' && b.recordCols(fc.args[0]) != nil {
			return nil
		}
	}
	return b.must(fc.args[0], b.T(in.OID, -1), explicit)
}

// special binds value functions and constructs of the grammar.
func (b *binder) special(e *ast.Special) plan.Expr {
	off := e.Pos()
	at := func(t types.T) plan.At { return plan.At{T: t, Off: off} }
	args := func() []plan.Expr {
		out := make([]plan.Expr, len(e.Args))
		for i, a := range e.Args {
			out[i] = b.expr(a)
		}
		return out
	}
	fn := func(name string) plan.Expr {
		c, _ := b.findFunction(&funcCall{schema: "pg_catalog", name: name, off: off})
		return &plan.Call{At: at(b.T(c.proc.Ret, -1)), Proc: c.proc}
	}
	timeFn := func(t types.T) plan.Expr {
		if len(e.Args) == 1 {
			if c, ok := e.Args[0].(*ast.Const); ok && c.Kind == ast.ConstInt {
				var m int32
				fmt.Sscan(c.Val, &m)
				t.Mod = min(m, 6)
				if w := types.PrecisionReduced(t.OID, []int{int(m)}); w != nil && b.Notice != nil {
					b.Notice(w)
				}
			}
		}
		return syntax(b.must(fn("now"), t, explicit), e.Kind)
	}
	switch e.Kind {
	case "COALESCE":
		before := b.sets
		xs, t := b.toCommon("COALESCE", args())
		b.sets.none(before, "set-returning functions are not allowed in COALESCE")
		return &plan.Coalesce{At: at(t), Args: xs}
	case "GREATEST", "LEAST":
		xs, t := b.toCommon(e.Kind, args())
		return &plan.MinMax{At: at(t), Least: e.Kind == "LEAST", Args: xs}
	case "NULLIF":
		xs := args()
		// the type is that of the comparison's left side
		x, t := xs[0], b.findOperator("", "=", xs[0], xs[1], off).Left
		if isUnknown(x) && b.info(t).Category == 'P' {
			t = xs[1].Type().OID
		}
		if t != x.Type().OID && b.info(t).Category != 'P' {
			x = b.must(x, b.T(t, -1), implicit)
		}
		x = b.known(x)
		val := &plan.CaseVal{At: plan.At{T: x.Type(), Off: xs[0].Pos()}}
		return &plan.NullIf{At: at(x.Type()), X: x, Eq: b.operator("", "=", val, xs[1], off)}
	case "CURRENT_DATE":
		return timeFn(types.TDate)
	case "CURRENT_TIME":
		return timeFn(types.TTimetz)
	case "CURRENT_TIMESTAMP":
		return timeFn(types.TTimestamptz)
	case "LOCALTIME":
		return timeFn(types.TTime)
	case "LOCALTIMESTAMP":
		return timeFn(types.TTimestamp)
	case "CURRENT_USER", "CURRENT_ROLE", "USER":
		return syntax(fn("current_user"), e.Kind)
	case "SESSION_USER":
		return syntax(fn("session_user"), e.Kind)
	case "CURRENT_CATALOG":
		return syntax(fn("current_database"), e.Kind)
	case "CURRENT_SCHEMA":
		return syntax(fn("current_schema"), e.Kind)
	case "GROUPING":
		g := &groupingRef{At: at(types.TInt4)}
		var in relSet
		for _, a := range e.Args {
			x := b.expr(a)
			g.args = append(g.args, x)
			in.addAll(relsOf(x))
		}
		owner := b.ownerOf(in)
		switch {
		case owner.noAgg && owner.what == "FILTER":
			failf(sqlerr.GroupingError, off, "grouping operations are not allowed in FILTER")
		case owner.inAgg:
			failf(sqlerr.GroupingError, off, "aggregate function calls cannot be nested")
		case owner.noAgg:
			failf(sqlerr.GroupingError, off, "grouping operations are not allowed in %s", owner.clause())
		}
		owner.sawAgg = true
		g.owner = owner.scope.block
		return g
	case "DEFAULT":
		failf(sqlerr.SyntaxError, off, "DEFAULT is not allowed in this context")
	}
	unsupported(off, "%s", e.Kind)
	return nil
}

// syntax remembers that a value function was written without parentheses.
func syntax(e plan.Expr, kind string) plan.Expr {
	switch e := e.(type) {
	case *plan.Call:
		e.Syntax = kind
	case *plan.CoerceMod:
		e.Syntax = kind
	}
	return e
}

// groupingRef is GROUPING(…) until the block's grouping is known.
type groupingRef struct {
	plan.At
	args  []plan.Expr
	owner *block
}

// MapChildren maps the arguments.
func (g *groupingRef) MapChildren(f func(plan.Expr) plan.Expr) plan.Expr {
	c := *g
	c.args = make([]plan.Expr, len(g.args))
	for i, x := range g.args {
		c.args[i] = f(x)
	}
	return &c
}

// subselect binds a nested query.
func (b *binder) subselect(s *ast.Select, off int) *query {
	if b.noSub {
		failf(sqlerr.FeatureNotSupported, off, "cannot use subquery in %s", strings.TrimSuffix(b.what, "s"))
	}
	user, sets := b.scope.user, b.sets
	b.scope.user = b
	q := b.bindSelect(s, b.scope)
	b.sets = sets
	b.scope.user = user
	b.resolveUnknowns(q)
	return q
}

func (b *binder) scalarSub(e *ast.Subquery) plan.Expr {
	off := e.Pos()
	q := b.subselect(e.Query, off)
	if len(q.cols) != 1 {
		failf(sqlerr.SyntaxError, off, "subquery must return only one column")
	}
	if b.subNames == nil {
		b.subNames = map[*ast.Subquery]string{}
	}
	b.subNames[e] = q.cols[0].Name
	t := q.cols[0].T
	if e.Array {
		ao := b.info(t.OID).Array
		if ao == 0 && b.info(t.OID).Kind == types.KArray { // not a vector, which has arrays of its own
			ao = t.OID
		}
		if ao == 0 {
			failf(sqlerr.UndefinedObject, off, "could not find array type for data type %s", b.bareName(t.OID))
		}
		return &subquery{At: plan.At{T: b.T(ao, -1), Off: off}, kind: plan.SubArray, q: q}
	}
	return &subquery{At: plan.At{T: t, Off: off}, kind: plan.SubScalar, q: q}
}

// quantSub is x op ANY|ALL (query), and x IN (query).
func (b *binder) quantSub(l ast.Expr, s *ast.Select, schema, op string, all bool, off int) plan.Expr {
	q := b.subselect(s, off) // which PostgreSQL looks at first
	before := b.sets
	var xs []plan.Expr
	if r, ok := l.(*ast.Row); ok {
		xs = b.entries(r)
	} else {
		xs = []plan.Expr{b.expr(l)}
	}
	b.noSetIn(before, xs, off)
	switch {
	case len(q.cols) < len(xs):
		failf(sqlerr.SyntaxError, off, "subquery has too few columns")
	case len(q.cols) > len(xs):
		failf(sqlerr.SyntaxError, off, "subquery has too many columns")
	}
	sub := &subquery{At: plan.At{T: types.TBool, Off: off}, kind: plan.SubAny, q: q, xrel: b.newRel(), op: op, eq: op == "="}
	if all {
		sub.kind = plan.SubAll
	}
	var ls, rs []plan.Expr
	for i, x := range xs {
		c := q.cols[i]
		v := &plan.Var{At: plan.At{T: c.T, Off: off}, Rel: q.rel, Col: i, Name: c.Name}
		o := b.findOperator(schema, op, x, v, off)
		sub.eq = sub.eq && o.Own == nil
		t := o.Left
		if isPoly(t) || t == types.OAny {
			t = x.Type().OID
			if isUnknown(x) {
				t = c.T.OID
			}
		}
		x = b.must(x, b.T(t, -1), implicit)
		sub.x = append(sub.x, x)
		ls = append(ls, &plan.Var{At: plan.At{T: x.Type(), Off: off}, Rel: sub.xrel, Col: i})
		rs = append(rs, v)
	}
	if len(xs) == 1 {
		sub.test = b.operator(schema, op, ls[0], rs[0], off)
	} else {
		sub.test = b.rowOp(ls, rs, op, off)
	}
	return sub
}

// rowSub is (a, b) op (query).
func (b *binder) rowSub(l *ast.Row, s *ast.Subquery, op string, off int) plan.Expr {
	q := b.subselect(s.Query, s.Pos())
	ls := b.entries(l)
	if len(q.cols) != len(ls) {
		failf(sqlerr.SyntaxError, off, "subquery has too %s columns", map[bool]string{true: "many", false: "few"}[len(q.cols) > len(ls)])
	}
	row := &subquery{At: plan.At{T: types.TRecord, Off: off}, kind: plan.SubRow, q: q}
	rs := make([]plan.Expr, len(ls))
	for i := range ls {
		rs[i] = &plan.FieldOf{At: plan.At{T: q.cols[i].T, Off: off}, X: row, Idx: i}
	}
	x := b.rowOp(ls, rs, op, off)
	if b.rec == nil {
		return x
	}
	for i := range ls {
		ls[i], _ = b.operands(op, ls[i], rs[i], off)
	}
	return &shown{At: plan.At{T: types.TBool, Off: off}, form: formRowQuery, word: op, args: append(ls, row)}
}

// typeOf resolves the type of a value.
func (p *planner) typeOf(n *ast.TypeName) types.T {
	t := p.typeNamed(n)
	if base := t.OID; base == types.OXML {
		unsupported(n.Pos(), "type %s", types.FormatTypeNoMod(base))
	}
	return t
}

// checkNamespace refuses the qualified name of a function that was not found by what
// is wrong with its qualification.
func (p *planner) checkNamespace(n *ast.Name) {
	parts, schema := n.Parts, n.Schema()
	switch {
	case len(parts) > 3:
		failf(sqlerr.SyntaxError, n.Pos(), "improper qualified name (too many dotted names): %s", strings.Join(parts, "."))
	case len(parts) == 3 && (p.Snap.Database(parts[0]) == nil || p.Snap.Database(parts[0]).OID != p.DB):
		failf(sqlerr.FeatureNotSupported, n.Pos(), "cross-database references are not implemented: %s", strings.Join(parts, "."))
	case schema != "" && p.Snap.Schema(p.DB, schema) == nil && schema != "pg_catalog" && schema != "information_schema" && schema != "pg_temp":
		failf(sqlerr.InvalidSchemaName, n.Pos(), "schema \"%s\" does not exist", schema)
	}
}

// typeNamed resolves a type name, also of a type that values cannot have.
func (p *planner) typeNamed(n *ast.TypeName) types.T {
	schema, name := n.Name.Schema(), n.Name.Last()
	if n.SetOf {
		failf(sqlerr.SyntaxError, n.Pos(), "type %s cannot be a set here", name)
	}
	if n.PctType {
		unsupported(n.Pos(), "%%TYPE")
	}
	switch parts := n.Name.Parts; {
	case len(parts) > 3:
		failf(sqlerr.SyntaxError, n.Pos(), "improper qualified name (too many dotted names): %s", strings.Join(parts, "."))
	case len(parts) == 3 && p.Snap.Database(parts[0]) == nil || len(parts) == 3 && p.Snap.Database(parts[0]).OID != p.DB:
		failf(sqlerr.FeatureNotSupported, n.Pos(), "cross-database references are not implemented: %s", strings.Join(parts, "."))
	}
	p.usable(&n.Name)
	in := p.typeByName(schema, name)
	if in == nil {
		full := name
		if schema != "" {
			full = schema + "." + name
			if p.Snap.Schema(p.DB, schema) == nil && schema != "pg_catalog" && schema != "information_schema" && schema != "pg_temp" {
				failf(sqlerr.InvalidSchemaName, n.Pos(), "schema \"%s\" does not exist", schema)
			}
		}
		if n.Dims > 0 {
			full += "[]"
		}
		failf(sqlerr.UndefinedObject, n.Pos(), "type \"%s\" does not exist", full)
	}
	mod := int32(-1)
	if len(n.Mods) > 0 || n.Interval != "" {
		mod = p.typmod(in, n)
	}
	if n.Dims > 0 {
		if in.Array == 0 {
			failf(sqlerr.UndefinedObject, n.Pos(), "could not find array type for data type %s", in.SQLName)
		}
		return p.T(in.Array, mod)
	}
	return p.T(in.OID, mod)
}

func (p *planner) typmod(in *types.Info, n *ast.TypeName) int32 {
	var mods []int
	if n.Interval != "" {
		mask, ok := types.IntervalFields(strings.ToLower(n.Interval))
		if !ok {
			failf(sqlerr.SyntaxError, n.Pos(), "invalid interval fields %s", n.Interval)
		}
		mods = append(mods, mask)
	}
	if !types.HasTypmod(in.OID) {
		failf(sqlerr.SyntaxError, n.Pos(), "type modifier is not allowed for type \"%s\"", strings.Join(n.Name.Parts, "."))
	}
	for _, m := range n.Mods {
		v, err := types.ParseModifier(modifierText(n, m))
		if err != nil {
			fail(at(err, n.Pos()))
		}
		mods = append(mods, v)
	}
	if n.Interval == "" && len(mods) == 1 && (in.OID == types.OInterval || in.Elem == types.OInterval) {
		mods = []int{types.IntervalAllFields, mods[0]}
	}
	mod, err := types.TypmodIn(in.OID, mods)
	if err != nil {
		fail(at(err, n.Pos()))
	}
	if p.Notice != nil && len(mods) > 0 {
		if w := types.PrecisionReduced(in.OID, mods); w != nil {
			p.Notice(w.At(n.Pos()))
		}
	}
	return mod
}

// modifierText is a modifier as the type's input of modifiers reads it: a
// constant, or a name.
func modifierText(n *ast.TypeName, m ast.Expr) string {
	sign := ""
	if u, ok := m.(*ast.Unary); ok && u.Op == "-" {
		if c, ok := u.X.(*ast.Const); ok && (c.Kind == ast.ConstInt || c.Kind == ast.ConstNumeric) {
			sign, m = "-", c
		}
	}
	switch x := m.(type) {
	case *ast.Const:
		if x.Kind == ast.ConstInt || x.Kind == ast.ConstNumeric || x.Kind == ast.ConstString {
			return sign + x.Val
		}
	case *ast.ColumnRef:
		if len(x.Parts) == 1 {
			return x.Parts[0]
		}
	}
	failf(sqlerr.SyntaxError, n.Pos(), "type modifiers must be simple constants or identifiers")
	return ""
}

// typeByName finds a type along the search path.
func (p *planner) typeByName(schema, name string) *types.Info {
	if schema == "pg_temp" && p.TempSchema != "" {
		schema = p.TempSchema
	}
	if schema != "" {
		return p.Snap.Type(p.DB, schema, name)
	}
	if in := p.Snap.Type(p.DB, "pg_catalog", name); in != nil {
		return in
	}
	for _, s := range p.SearchPath {
		if in := p.Snap.Type(p.DB, s, name); in != nil {
			return in
		}
	}
	return nil
}
