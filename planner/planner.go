package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// ConstEvaluator evaluates an expression without columns; the executor has it.
type ConstEvaluator interface {
	EvalConst(e plan.Expr) (types.Datum, error)
	// HoldsFor tells for which values a condition over one column, number 0 and of type t,
	// is true.
	HoldsFor(cond plan.Expr, t types.T, vals ...[]types.Datum) ([]bool, error)
}

// TextParser parses the SQL texts that the catalog stores.
type TextParser interface {
	ParseExpr(sql string) (ast.Expr, error)
	ParseQuery(sql string) (*ast.Select, error)
	// ParseBody parses the body of a function: statements, or with standard RETURN
	// or BEGIN ATOMIC.
	ParseBody(sql string, standard bool) ([]ast.Stmt, error)
}

// Context is what a statement is planned against. It is used for one statement.
type Context struct {
	Snap       *catalog.Snapshot
	DB         types.OID
	SearchPath []string // schemas in order, pg_catalog included where it applies
	Fmt        *types.FmtOpts
	// Reading is how untyped literals are read, nil for Fmt: those of a prepared statement
	// keep what the settings made of them when it was prepared.
	Reading  *types.FmtOpts
	Consts   ConstEvaluator
	literals ConstEvaluator // reads literals of user-defined types where nothing is folded
	Texts    TextParser
	// ParamTypes are the declared parameter types; OID 0 means to infer.
	ParamTypes []types.T
	// ParamValues are values of parameters that the costs are estimated with. The
	// plan is right for any others, too. nil: not known.
	ParamValues []types.Datum
	// Calls are what the statement may mean of user-defined functions, operators and casts,
	// when it is a stored query; nil: any.
	Calls catalog.Calls
	// Notice sends a warning about the text to the client; nil keeps it back.
	Notice func(*sqlerr.Error)
	// Cursor plans a query that a cursor will stand on (see plan.Query.Places).
	Cursor bool
	// NoOptimizer plans literally: full scans, loop joins in the written order.
	NoOptimizer bool
	// TempSchema is the session's own schema for temporary tables, or "".
	TempSchema string
	// Routine is the function that the statement is in the body of; nil for none.
	Routine *Routine
	// User is the role whose rights on schemas count; "" checks nothing.
	User string
	// RowSecurityOff makes it an error that policies would hide rows.
	RowSecurityOff bool
	// NoViews makes it an error to read or change views that are not the system's.
	NoViews bool
	// NullEquals reads x = NULL as x IS NULL.
	NullEquals bool
	// Stored: the query is not going to run, a view or a policy is made of it. It may read
	// materialized views that have no rows yet, and policies count only where it
	// is read.
	Stored bool
	// System lets the statement read and write the tables behind system relations; it
	// is the server's own.
	System bool
	// Behind reports whether an index became valid after the snapshot that the statement
	// reads, in which it lacks rows: it is not read. nil: none is.
	Behind func(*catalog.Index) bool
	// Runs reports whether there is code for a built-in function, by its prosrc: others
	// are refused by name where they are called. nil: there is for all.
	Runs func(src string) bool
	// Rows estimates a table's rows from a live counter; nil or -1: not known.
	Rows func(*catalog.Table) float64
	// Interrupted is asked now and then and ends the planning with its error: the
	// statement was cancelled or took too long. nil never does.
	Interrupted func() error
}

// planner is the state of planning one statement.
type planner struct {
	*Context
	params  []types.T     // inferred; OUnknown while open
	untold  []*plan.Param // places that tell no type
	nrel    int           // range-table entries handed out
	slots   int           // parameters of subplans
	steps   []plan.StepNote
	ctes    []*plan.CTE
	uses    []plan.TableUse
	useAt   map[*catalog.Table]int // places in uses, when they are many
	volatil bool                   // a volatile function or a lock was seen
	writes  bool
	depth   int
	// expanding are the views whose queries are being bound, each in the one before.
	expanding []types.OID
	ticks     int
	base      relSet      // entries that are tables
	fault     error       // of a constant part, see blockFaults
	avoidable bool        // parameters may make the part at hand unreachable
	doubts    []plan.Expr // parts that parameters may make one
	subs      map[*query]*plannedSub
	domains   map[types.OID]*plan.CoerceDomain // rules of domains met so far, nil: none
	readTypes []types.T                        // of literals that are read by what the catalog says of them
	called    []types.OID                      // user-defined functions
	inlining  []types.OID                      // functions whose bodies stand in the place of calls
	inlines   *int                             // how many bodies do in the statement
	sets      setCalls
	routine   *plan.Call     // the user-defined function that was bound last
	queries   map[int]*query // by the entry that stands for them in FROM
	lockAt    map[int]int    // target with the row key, per entry to lock
	lockRels  map[int]*rel
	rights    []*catalog.Right
	calls     []*catalog.Function      // that the caller must be allowed to execute
	limited   []*catalog.Function      // the same, of built-in ones
	watched   map[int]*catalog.Right   // by range-table entry
	dest      *catalog.Right           // of the table that is being changed
	as        string                   // owner of the view that is being bound, "" outside
	parts     map[[2]int]*partUse      // by entry and column: how columns stored by elements are looked at
	subNames  map[*ast.Subquery]string // of the scalar subqueries' columns
	trusted   int                      // stored texts around what is being bound; see usable
	kept      bool                     // a stored text is being bound, whose literals were in their domains then
	only      catalog.Calls            // what the innermost of them was bound to; see within
	byField   bool                     // see plan.Query.Fields
	whole     int                      // calls of operators are looked for: see operatorCall
	policing  []policed                // conditions of policies that are being bound
	secured   bool                     // a table with row-level security was seen
	passes    bool                     // an index was left out, see Context.Behind
	// forValues: what the plan leaves out, it does for the values of the parameters
	forValues bool
	subCost   float64               // of the subplans
	implied   map[*plan.Or]float64  // share of rows that the restrictions drawn from it leave
	orders    map[*query][]orderCol // in which queries with windows have their rows, by target
	rec       *recorder             // nil unless the query is bound for its text
	fields    *[]catalog.ColRef     // what readField notes without a recorder
	stored    bool                  // the text that is bound was written by the binder
	coll      collated              // what it has of collations

	cursorQuery *query // whose rows a cursor passes
	places      []plan.Place
}

// Plan plans a SELECT, INSERT, UPDATE, DELETE or VALUES statement.
func Plan(c *Context, stmt ast.Stmt) (q *plan.Query, err error) {
	p := newPlanner(c)
	p.trusted = 0
	defer p.recover(&err)
	return p.statement(stmt), nil
}

func newPlanner(c *Context) *planner {
	p := &planner{Context: c, trusted: 1, only: c.Calls, inlines: new(int)} // who binds what a user has just written says so
	if c.Routine != nil {
		p.only = c.Routine.Calls
	}
	for _, t := range c.ParamTypes {
		if t.OID == 0 {
			t = types.TUnknown
		}
		p.params = append(p.params, t)
	}
	return p
}

// fault carries an error up through the binder, whose functions return values
// only; recover turns it into the result of the exported function.
type fault struct{ err error }

func fail(err error) { panic(fault{err}) }

func failf(code sqlerr.Code, off int, format string, args ...any) {
	panic(fault{sqlerr.New(code, format, args...).At(off)})
}

func unsupported(off int, format string, args ...any) {
	panic(fault{sqlerr.Unsupported(off, format, args...)})
}

func (p *planner) recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case fault:
		*err = r.err
	default:
		panic(r)
	}
}

// tickEvery is the number of steps after which planning looks for an interrupt.
const tickEvery = 256

// tick counts a step of planning: an expression bound, a pair of joined sets, an
// access path.
func (p *planner) tick() {
	if p.ticks++; p.ticks%tickEvery == 0 && p.Interrupted != nil {
		if err := p.Interrupted(); err != nil {
			fail(err)
		}
	}
}

func (p *planner) newRel() int {
	p.nrel++
	return p.nrel
}

// statement binds and plans a whole statement.
func (p *planner) statement(stmt ast.Stmt) *plan.Query {
	out := &plan.Query{ReadOnly: true}
	switch s := stmt.(type) {
	case *ast.Select:
		out.Tag, out.Returns = "SELECT", true
		q := p.bindSelect(s, nil)
		p.resolveUnknowns(q)
		if p.Cursor {
			p.standing(q)
		}
		out.Root = p.finish(p.planQuery(q), q)
		out.Collations = p.outCollations(q)
		p.finishCursor(out, q)
		if p.Cursor {
			stepwise(out.Root)
		}
	case *ast.Insert:
		out.Tag = "INSERT"
		out.Root = p.planInsert(s, nil)
		out.Returns = s.Returning != nil
	case *ast.Update:
		out.Tag = "UPDATE"
		out.Root = p.planUpdate(s, nil)
		out.Returns = s.Returning != nil
	case *ast.Delete:
		out.Tag = "DELETE"
		out.Root = p.planDelete(s, nil)
		out.Returns = s.Returning != nil
	case *ast.Merge:
		out.Tag = "MERGE"
		out.Root = p.planMerge(s)
	case *ast.CallProc:
		p.planCall(s, out)
	default:
		unsupported(stmt.Pos(), "this statement")
	}
	p.returned(out)
	p.allTold()
	out.Params = p.params
	p.shiftSlots(out)
	out.CTEs, out.SubCost = p.ctes, p.subCost
	out.ReadOnly = !p.writes
	out.Tables = p.lockedUses(out)
	out.KeyTables = p.keyUses(out)
	out.Rights, out.Calls, out.Limited = p.rights, p.calls, p.limited
	out.Fields = p.byField
	out.RowSecurity, out.ForValues, out.Passes = p.secured, p.forValues, p.passes
	out.Steps = p.steps
	out.Fault, out.Doubts = p.fault, p.doubts
	number(out)
	return out
}

// slotBase separates subplans' parameter slots from the statement's own while
// their number is not known yet.
const slotBase = 1 << 20

// shiftSlots moves the subplans' slots behind the statement's parameters.
func (p *planner) shiftSlots(q *plan.Query) {
	n := len(p.params)
	q.NumSlots = n + p.slots
	if p.slots == 0 {
		return
	}
	fix := func(e plan.Expr) plan.Expr {
		switch e := e.(type) {
		case *plan.Param:
			if e.Idx >= slotBase {
				c := *e
				c.Idx = n + e.Idx - slotBase
				return &c
			}
		case *plan.SubPlan:
			for i := range e.Outer {
				if e.Outer[i].Idx >= slotBase {
					e.Outer[i].Idx += n - slotBase
				}
			}
		}
		return e
	}
	seen := map[plan.Node]bool{}
	shift := func(root plan.Node) { p.mapNodeExprs(root, fix, seen) }
	shift(q.Root)
	for _, c := range p.ctes {
		shift(c.Plan)
		if c.Step != nil {
			shift(c.Step)
		}
	}
}

// mapNodeExprs applies f to all expressions of a plan, subplans included.
func (p *planner) mapNodeExprs(root plan.Node, f func(plan.Expr) plan.Expr, seen map[plan.Node]bool) {
	if root == nil || seen[root] {
		return
	}
	seen[root] = true
	var deep func(e plan.Expr) plan.Expr
	deep = func(e plan.Expr) plan.Expr {
		if s, ok := e.(*plan.SubPlan); ok {
			p.mapNodeExprs(s.Plan, f, seen)
			if s.Test != nil {
				s.Test = plan.Map(s.Test, deep)
			}
		}
		return f(e)
	}
	plan.MapExprs(root, func(e plan.Expr) plan.Expr { return plan.Map(e, deep) })
	if a, ok := root.(*plan.Apply); ok {
		for i := range a.Outer {
			if a.Outer[i].Idx >= slotBase {
				a.Outer[i].Idx += len(p.params) - slotBase
			}
		}
	}
	for _, c := range root.Children() {
		p.mapNodeExprs(c, f, seen)
	}
}

// number gives the nodes their IDs in EXPLAIN's order.
func number(q *plan.Query) {
	id := 0
	q.Walk(func(n plan.Node) bool {
		if n.Base().ID != 0 {
			return false
		}
		id++
		n.Base().ID = id
		return true
	})
}

// use remembers that the statement touches a table.
func (p *planner) use(t *catalog.Table, write bool) {
	if u := p.useOf(t); u != nil {
		u.Write, u.Member = u.Write || write, false
		return
	}
	p.addUse(plan.TableUse{Table: t, Write: write})
}

// useMember is use for a table that the statement does not name: it is below one
// that it names.
func (p *planner) useMember(t *catalog.Table, write bool) {
	if u := p.useOf(t); u != nil {
		u.Write = u.Write || write
		return
	}
	p.addUse(plan.TableUse{Table: t, Write: write, Member: true})
}

// useOf returns what is remembered of a table, nil for nothing.
func (p *planner) useOf(t *catalog.Table) *plan.TableUse {
	if p.useAt == nil {
		for i := range p.uses {
			if p.uses[i].Table == t {
				return &p.uses[i]
			}
		}
		return nil
	}
	if i, ok := p.useAt[t]; ok {
		return &p.uses[i]
	}
	return nil
}

// fewUses is the number of tables that are looked through one by one.
const fewUses = 16

func (p *planner) addUse(u plan.TableUse) {
	p.uses = append(p.uses, u)
	if p.useAt == nil && len(p.uses) > fewUses {
		p.useAt = make(map[*catalog.Table]int)
		for i := range p.uses {
			p.useAt[p.uses[i].Table] = i
		}
	} else if p.useAt != nil {
		p.useAt[u.Table] = len(p.uses) - 1
	}
}
