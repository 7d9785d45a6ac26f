package plan

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Query is a whole planned statement.
type Query struct {
	Root Node
	// Fault is the error of a constant part, which running the query is.
	Fault error
	// Doubts are the parts that would be constant, were the parameters constants, and
	// that may fail then: whoever has put parameters in the place of literals evaluates
	// them before.
	Doubts []Expr
	// CTEs in the order in which they must be prepared.
	CTEs []*CTE
	// Params are the parameter types, inferred or declared; further slots up to
	// NumSlots are set by subplans.
	Params   []types.T
	NumSlots int
	// SubCost is what one run of each subplan is estimated to cost.
	SubCost float64
	// ReadOnly: no row is written, no lock taken, no volatile catalog change.
	ReadOnly bool
	// Tag is the command tag's verb: SELECT, INSERT, UPDATE, DELETE.
	Tag string
	// Returns tells whether rows come out (SELECT, RETURNING).
	Returns bool
	// Tables are the relations that must be locked, with the mode.
	Tables []TableUse
	// KeyTables must be locked as well: foreign keys lead from the tables that are
	// written to them.
	KeyTables []TableUse
	// Collations are those of the columns, nil when all have their type's.
	Collations []OutCollation
	// Rights are what the statement needs of relations; checked before it runs.
	Rights []*catalog.Right
	// RowSecurity tells that the plan is for the role and the setting row_security
	// that it was made with.
	RowSecurity bool
	// ForValues tells that the plan is right only for the values of the parameters that
	// it was made with.
	ForValues bool
	// Passes tells that the plan does without an index that the snapshot is too old for.
	Passes bool
	// Calls are the user-defined functions that are called, in views as well.
	Calls []*catalog.Function
	// Fields tells that a parameter stands where an interval with fields is wanted, like
	// INTERVAL HOUR: a literal there is read by them, so that '2' is two hours, which no
	// value of a parameter is.
	Fields bool
	// Limited are the built-in functions that are called and that not everybody may execute.
	Limited []*catalog.Function
	// Places are, of a cursor's query, the tables whose rows it stands on.
	Places []Place
	// JoinOrder and other lines that EXPLAIN prints for the five steps.
	Steps []StepNote
}

// Cost is what the query is estimated to cost, its common table expressions and one run
// of each of its subplans included.
func (q *Query) Cost() float64 {
	sum := q.Root.Base().Cost + q.SubCost
	for _, c := range q.CTEs {
		if c.Plan != nil {
			sum += c.Plan.Base().Cost
		}
	}
	return sum
}

// OutCollation is the collation of a column that a statement returns: "" is the type's.
// Conflict: those of its parts differ.
type OutCollation struct {
	Name     string
	Conflict bool
}

// Place is a table of a cursor's query of which each result row names a row: Col
// is the hidden column with the row's key. Locked tells that FOR UPDATE, or one of
// its relatives, names the table.
type Place struct {
	Table  *catalog.Table
	Col    int
	Locked bool
	// Tree are the tables that rows of Table lie in, nil where it is the only one;
	// OIDCol tells which.
	Tree   []*catalog.Table
	OIDCol int
}

// Walk calls enter for each node of the plan, those of subplans as well, in EXPLAIN's
// order, and again for one that several lead to. It goes on below a node if enter says so.
func (q *Query) Walk(enter func(Node) bool) {
	var walk func(n Node)
	walk = func(n Node) {
		if n == nil || !enter(n) {
			return
		}
		for _, c := range n.Children() {
			walk(c)
		}
		MapExprs(n, func(e Expr) Expr {
			Visit(e, func(x Expr) bool {
				if s, ok := x.(*SubPlan); ok {
					walk(s.Plan)
				}
				return true
			})
			return e
		})
	}
	walk(q.Root)
	for _, c := range q.CTEs {
		walk(c.Plan)
		walk(c.Step)
	}
}

// TableUse is a table that the statement touches.
type TableUse struct {
	Table *catalog.Table
	Write bool
	Lock  bool // FOR UPDATE/SHARE
	// Member: the statement names a table above it.
	Member bool
	// Prune, if it is there, tells from the parameters whether the table is read: it is an
	// input of its Append, the Input-th.
	Prune *Prune
	Input int
	// Late: a partition that the statement may store rows in, but neither reads nor names.
	// It may be locked when the first row comes to it.
	Late bool
}

// StepNote is a line of EXPLAIN about one of the five steps.
type StepNote struct{ Step, Text string }
