// Package plan is the finished plan of a statement: a tree of nodes with bound
// expressions, as values that print.
//
// In: nothing but the catalog's descriptors. Out: what the executor builds its
// operators from. Invariant: every expression of a node is over the columns of
// that node's input (Col), over statement parameters, or constant; a node's
// output columns are Out().
package plan

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Node is an operator of the plan.
type Node interface {
	Base() *Base
	Children() []Node
}

// Base is what every node has.
type Base struct {
	ID    int    // numbered from 1 in EXPLAIN's order
	Step  string // which of the five steps chose the node: "filter", "join", "group", "sort", or ""
	Cols  []OutCol
	Rows  float64  // estimate
	Cost  float64  // estimate; unit: one sequentially scanned row
	Notes []string // extra lines for EXPLAIN
}

// Common is Base as nodes embed it: under a field name other than that of the
// method Base, which Go wants distinct.
type Common = Base

// OutCol is an output column.
type OutCol struct {
	Name string
	T    types.T
	// Table and AttNum are set when the column is a table's, for RowDescription.
	Table  types.OID
	AttNum int16
	Hidden bool // junk: needed by an operator above, not part of the result
}

// Base returns itself.
func (b *Base) Base() *Base { return b }

type (
	// Project computes Exprs over each input row. It keeps order.
	Project struct {
		Common
		Input Node
		Exprs []Expr
		// Stepwise says that a row is computed when it is asked for: a cursor may
		// stop before the next one, whose effects and errors are not due yet.
		Stepwise bool
	}

	// ProjectSet is a Project in which some expressions are calls of set-returning
	// functions: each input row gives as many rows as the longest set, shorter
	// sets padded with NULL.
	ProjectSet struct {
		Common
		Input Node
		Exprs []Expr
	}

	// Filter passes rows for which Cond is true. It keeps order.
	Filter struct {
		Common
		Input Node
		Cond  Expr
	}

	// Kept keeps the rows of its input, which are the same in all runs of a
	// correlated subplan, from one run to the next. With Keys it passes those whose
	// keys equal Vals, for which Cond is the condition. A run for which a join above
	// wants few values of a column in Lookups reads those of the input, and keeps none.
	// It keeps order.
	Kept struct {
		Common
		Input      Node
		Keys, Vals []Expr // over the input's columns; over parameters
		Cond       Expr
		Lookups    []int
	}

	// Group groups by Keys and computes Aggs. Output: keys, then aggregates.
	// Without Keys there is exactly one row. Ordered input by the keys is used
	// when Ordered. With Sets, each grouping set lists the key numbers that it
	// keeps (others are NULL), and a last int4 column holds GROUPING's bit mask.
	Group struct {
		Common
		Input   Node
		Keys    []Expr
		Given   int // the last so many keys have one value wherever the others have
		Aggs    []Agg
		Ordered bool
		Sets    [][]int
	}

	// Distinct passes one row per distinct value of On (output columns' indexes;
	// nil: all columns); DISTINCT ON keeps the first row in input order.
	Distinct struct {
		Common
		Input   Node
		On      []int
		Ordered bool // input is ordered by On
	}

	// Window adds one column per function to its input's columns. Input is sorted by
	// Partition and OrderBy, and its order is the output's. All functions share
	// partition and order. Stop, over the output, is a condition that no row of a
	// partition meets after one that does not: rows that do not meet it are left out,
	// and what follows them is not computed.
	Window struct {
		Common
		Input     Node
		Partition []Expr
		OrderBy   []SortKey
		Funcs     []WindowFunc
		Stop      Expr
	}

	// WindowFunc is a window or aggregate function over the node's window.
	WindowFunc struct {
		Agg
		Frame Frame
	}

	// Frame is a resolved frame; offsets are evaluated once.
	Frame struct {
		Mode               string // ROWS, RANGE, GROUPS
		StartKind, EndKind string // as in ast.Bound
		Start, End         Expr
		Exclude            string
		// For RANGE with offsets: in_range support function's types
		InRange *catalog.Proc
	}

	// Sort orders its input by Keys; with Limit (a count of rows) only the first
	// Limit+Offset rows are kept (top-N). Input that is sorted by the first Presorted
	// keys is sorted in runs of rows that these do not tell apart, and read no
	// further than is wanted.
	Sort struct {
		Common
		Input     Node
		Keys      []SortKey
		Presorted int
		Limit     Expr // nil: all
		Offset    Expr
		Stable    bool
		// Of each group of rows with the same first FirstOf keys only the first First are
		// wanted, and others may be left out; First is 0 where all are.
		FirstOf, First int
	}

	// Limit passes Count rows after skipping Offset; with ties by TieKeys.
	Limit struct {
		Common
		Input         Node
		Count, Offset Expr
		TieKeys       []SortKey
		// Pass: the scan below may pass over the rows of Offset without reading them.
		Pass bool
	}

	// Append passes the rows of its inputs one after the other: those of UNION ALL,
	// or the tables that the rows of Table are in. With Keys, in whose order each
	// input's rows come, it merges them: the output is in that order.
	Append struct {
		Common
		Inputs []Node
		Keys   []SortKey      // columns of the output
		Table  *catalog.Table // nil: UNION ALL
		Total  int            // of Table: how many tables there are
		Prune  *Prune         // nil: all inputs are read
	}

	// SetOp is INTERSECT or EXCEPT, [ALL].
	SetOp struct {
		Common
		Op          string
		All         bool
		Left, Right Node
	}

	// CTE is a WITH query that is kept; data-modifying ones run even when unread.
	CTE struct {
		ID        int
		Name      string
		Plan      Node
		Modifying bool
		Recursive bool
		// Of a recursive one: Plan is the non-recursive term, Step the recursive
		// one, reading the working table by WorkScan; Union all or distinct.
		Step     Node
		UnionAll bool
	}
)

func one(n Node) []Node { return []Node{n} }

// Children returns the node's inputs.
func (n *Project) Children() []Node    { return one(n.Input) }
func (n *ProjectSet) Children() []Node { return one(n.Input) }
func (n *Filter) Children() []Node     { return one(n.Input) }
func (n *Kept) Children() []Node       { return one(n.Input) }
func (n *Group) Children() []Node      { return one(n.Input) }
func (n *Distinct) Children() []Node   { return one(n.Input) }
func (n *Window) Children() []Node     { return one(n.Input) }
func (n *Sort) Children() []Node       { return one(n.Input) }
func (n *Limit) Children() []Node      { return one(n.Input) }
func (n *Append) Children() []Node     { return n.Inputs }
func (n *SetOp) Children() []Node      { return []Node{n.Left, n.Right} }
