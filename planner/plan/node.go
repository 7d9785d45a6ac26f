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

// Special column numbers in Scan.Cols, beside indexes into Table.Columns.
const (
	ColRowKey   = -1 // the encoded master key, bytea: the row's handle for DML and locking
	ColTableOID = -2 // tableoid
	ColCtid     = -3 // a tid-like text made from the handle
	ColXmin     = -4 // constant
	ColXmax     = -5 // in RETURNING of ON CONFLICT DO UPDATE: 0 of a row that was inserted
)

// The values of a PartKey: a member's name or an array's subscript; an array of
// text, whose first element or all of whose elements are names; an object that
// has the names.
const (
	PartOne PartHow = iota
	PartFirst
	PartEach
	PartMembers
)

type (
	// Scan passes the rows of a table, by the master file or by an index, that lie
	// in Ranges and satisfy Filter. Output: Cols in order. Order: that of the
	// file scanned (reversed with Reverse) when there is at most one range.
	Scan struct {
		Common
		Table   *catalog.Table
		Index   *catalog.Index // nil: the master file. The primary key's index means the master as well.
		Access  Access
		Ranges  []KeyRange // nil: the whole file
		Cols    []int
		Parts   []Part
		Filter  Expr // over Cols
		Reverse bool
		// EntryFilter is tested on the entries of Index before their rows are
		// fetched, over EntryCols, which are all in an entry.
		EntryFilter Expr
		EntryCols   []int
		// Tail restricts key column TailAt of an index, the one behind that of Ranges:
		// entries outside are passed over before they are decoded. nil: all are wanted.
		Tail   *KeyRange
		TailAt int
		// IndexOnly: all Cols are in the index's key, its INCLUDE or the master key.
		IndexOnly bool
		Limit     Expr // stop early hint, or nil
		// Area restricts a region-clustered table to the regions of a place, instead
		// of Ranges. Filter decides about each row.
		Area *Area
		// Nearest asks for rows from near to far, as far as needed: a Sort above
		// orders them.
		Nearest *Nearest
		Lock    *Lock
		Cursor  string // of CurrentRow
		// Below tells that the master file has rows of other tables below the table's.
		Below bool
		// Ordered tells that a node above relies on the order.
		Ordered bool
		// Narrow are other ways to read the rows, for when a hash join above has
		// told how far the values of one of the columns reach.
		Narrow []Narrow
	}
	// Narrow is a file whose key begins with column Cols[Out] of a scan of the whole
	// table: its range between two values of that column has all rows with such a
	// value.
	Narrow struct {
		Out       int
		Index     *catalog.Index // nil: the master file
		IndexOnly bool
		RowCost   float64           // of one row, where a row of the scan costs 1
		Stats     *catalog.ColStats // of the column; nil: unknown
	}
	// Part says that a column stored by elements is looked at only in the elements
	// that Keys name: its values may lack the others.
	Part struct {
		Col  int
		Keys []PartKey
		// Span: the bounds of arrays are looked at.
		Span bool
	}
	// PartKey names elements by an expression without columns.
	PartKey struct {
		X   Expr
		How PartHow
	}
	// PartHow says how a PartKey's value names elements.
	PartHow uint8
	// Area is a place on the Earth: the intersection of its circles and boxes. A
	// position that is not in it satisfies no row's filter.
	Area struct {
		Circles []Circle
		Boxes   []Box
		// South … East are bounds of the two columns; nil is none. Unlike a Box, West >
		// East is empty.
		South, West, North, East Expr
		// Known tells that rows without a position cannot satisfy the filter.
		Known bool
	}
	// Circle holds the positions within Metres of a position.
	Circle struct{ Lat, Lon, Metres Expr }
	// Box is a box of degrees; West > East is one over the date line.
	Box struct{ South, West, North, East Expr }
	// Nearest orders rows by their distance from a position until Count rows have
	// passed the filter, and Skip before them.
	Nearest struct {
		Lat, Lon    Expr
		Count, Skip Expr
		// Planar tells that the distance is that of <-> between points: in degrees,
		// on a plane.
		Planar bool
	}
	// ClusterScan passes the joined rows of tables that are stored with each other,
	// read in one walk over their file: Levels from the top, each the child of the
	// one before it. Output: the levels' columns one after the other.
	ClusterScan struct {
		Common
		Levels []ClusterLevel
		// Of the first level: at most one of these. Without any the whole file is read.
		Area *Area
		Key  []Expr // the whole primary key
		// Nearest as in a Scan, by the first level's position.
		Nearest *Nearest
	}
	// ClusterLevel is a table of a ClusterScan.
	ClusterLevel struct {
		Table *catalog.Table
		Cols  []int
		// Ranges restrict the columns of catalog.Table.ClusterTail; nil: all rows.
		Ranges []KeyRange
		Filter Expr // over Cols
		// Outer keeps rows of the level above without a row that passes here, padded
		// with NULLs.
		Outer bool
	}
	// Access names the access path for EXPLAIN.
	Access uint8
	// KeyRange is a range of the index's or master's key: equality on the first
	// len(Eq) columns, then an optional range on the next one. Any bound that
	// evaluates to NULL makes the range empty.
	KeyRange struct {
		Eq []Expr
		// EqAny: the column after Eq equals any element of this array expression
		// (IN lists, = ANY); expands to one range per distinct element, in key order.
		EqAny Expr
		// IsNull: the column after Eq is NULL. NotNull: it is not.
		IsNull       bool
		NotNull      bool
		Lo, Hi       Expr
		LoInc, HiInc bool
		// LoRest and HiRest make Lo and Hi the first columns of rows, which bound the
		// columns from that after Eq on. A NULL among them ends the row there.
		LoRest, HiRest []Expr
		// Elems: the key column ElemKey, of an index by elements, and this expression
		// satisfy ElemOp: @> <@ && ? ?| ?&, or = for an array that has the element.
		// The range finds rows that may; the filter decides.
		Elems   Expr
		ElemOp  string
		ElemKey int
		// Like: the next column matches this LIKE pattern's fixed prefix.
		Like Expr
	}
	// IndexUnion passes the rows of a table whose keys one or more of Scans pass, in the
	// order of the keys, if they satisfy Filter. Output: Cols in order.
	IndexUnion struct {
		Common
		Table  *catalog.Table
		Scans  []Node // of row keys
		Cols   []int
		Parts  []Part
		Filter Expr // over Cols
	}
	// VirtualScan passes the rows of a declared relation. KeyCols/KeyVals are an
	// optional equality lookup. Output: Cols. No order.
	VirtualScan struct {
		Common
		Rel     *catalog.Virtual
		Cols    []int
		KeyCols []int
		KeyVals []Expr
		Filter  Expr
	}
	// SequenceScan passes a sequence's single row.
	SequenceScan struct {
		Common
		Seq *catalog.Sequence
	}
	// Values passes rows of expressions that see no input columns.
	Values struct {
		Common
		Rows [][]Expr
	}
	// FuncScan passes the rows of table functions side by side (ROWS FROM),
	// NULL-padded, with an ordinality column last if wanted.
	FuncScan struct {
		Common
		Funcs      []Expr // Calls, set-returning or not
		FuncCols   []int  // number of columns of each
		Ordinality bool
	}
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
	// keys equal Vals, for which Cond is the condition. It keeps order.
	Kept struct {
		Common
		Input      Node
		Keys, Vals []Expr // over the input's columns; over parameters
		Cond       Expr
	}
	// HashJoin builds a hash table of Right (the build side) on RightKeys and
	// probes it with Left. Output: left columns, then right columns (only the
	// left's for Semi and Anti). It keeps the left's order when it does not spill.
	HashJoin struct {
		Common
		Kind                JoinKind
		Left, Right         Node
		LeftKeys, RightKeys []Expr // over each side's columns, pairwise of the same type
		NullEq              []bool // IS NOT DISTINCT FROM keys; nil: none
		Residual            Expr   // over left ++ right columns, part of the join condition
		// NullAware makes Anti behave as NOT IN: no row passes when the build side
		// has a NULL key, and NULL probe keys pass only an empty build side.
		NullAware bool
		// Retain keeps the table for the next run: Right is the same in all.
		Retain bool
	}
	// LookupJoin gets, for batches of Left's rows, the matching rows of a table by
	// point gets or index ranges. Output as HashJoin. It keeps the left's order.
	LookupJoin struct {
		Common
		Kind     JoinKind
		Left     Node
		Table    *catalog.Table
		Index    *catalog.Index // nil or primary: the master file
		Keys     []Expr         // over Left's columns: equality on the first len(Keys) key columns
		Cols     []int
		Parts    []Part
		Filter   Expr // over Cols alone
		Residual Expr // over left ++ Cols
		// EntryFilter and EntryCols are as in Scan.
		EntryFilter Expr
		EntryCols   []int
		IndexOnly   bool
	}
	// MergeJoin joins two inputs ordered on their keys (ascending, nulls last).
	MergeJoin struct {
		Common
		Kind                JoinKind
		Left, Right         Node
		LeftKeys, RightKeys []Expr
		Residual            Expr
	}
	// LoopJoin keeps Right in memory and tests every pair. Output as HashJoin.
	LoopJoin struct {
		Common
		Kind        JoinKind
		Left, Right Node
		Cond        Expr // nil: cross join
	}
	// Apply runs Right once per left row with Outer's parameters set from it
	// (LATERAL). Output as HashJoin.
	Apply struct {
		Common
		Kind        JoinKind
		Left, Right Node
		Outer       []SubParam
		Cond        Expr
	}
	// Group groups by Keys and computes Aggs. Output: keys, then aggregates.
	// Without Keys there is exactly one row. Ordered input by the keys is used
	// when Ordered. With Sets, each grouping set lists the key numbers that it
	// keeps (others are NULL), and a last int4 column holds GROUPING's bit mask.
	Group struct {
		Common
		Input   Node
		Keys    []Expr
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
	}
	// Limit passes Count rows after skipping Offset; with ties by TieKeys.
	Limit struct {
		Common
		Input         Node
		Count, Offset Expr
		TieKeys       []SortKey
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
	// CTEScan reads the rows of a materialized CTE, computed once per statement.
	CTEScan struct {
		Common
		CTE *CTE
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
	// WorkScan reads the working table of a recursive CTE.
	WorkScan struct {
		Common
		CTE *CTE
	}
	// LockRows locks the rows that the input's row-key columns name (FOR UPDATE).
	LockRows struct {
		Common
		Input Node
		Locks []Lock
	}
	// Lock is a row lock on a table: KeyCol is the input column with the row key.
	// With a Tree, the rows are in these tables, and OIDCol is the column with the
	// OID of the one that a row is in.
	Lock struct {
		Table      *catalog.Table
		Tree       []*catalog.Table
		KeyCol     int
		OIDCol     int
		Strength   string
		NoWait     bool
		SkipLocked bool
	}
	// Insert inserts its input's rows. Input columns are the table's live columns
	// in order, defaults filled in. Returning is over the table's live columns. With
	// a Tree the rows go to the partitions among these tables, and Returning has one
	// more column, the OID of the row's table.
	Insert struct {
		Common
		Table        *catalog.Table
		Tree         []*catalog.Table
		Input        Node
		OnConflict   *OnConflict
		Returning    []Expr
		HasReturning bool
		Ctid         bool // Returning reads the row's ctid, one more column
		Checks       []RowCheck
	}
	// RowCheck is what WITH CHECK OPTION of a view, or a policy of row-level security,
	// asks of rows, over the table's live columns.
	RowCheck struct {
		View string
		Cond Expr
		// Security tells a policy's condition: of Table, by its name if it is
		// restrictive, on new rows or with Target on those that are there, for MERGE or
		// for ON CONFLICT.
		Security, Target, Merge bool
		Table, Policy           string
	}
	// OnConflict is the resolved ON CONFLICT clause.
	OnConflict struct {
		Indexes  []*catalog.Index // arbiters; nil: any
		DoUpdate bool
		SetCols  []int  // table column indexes
		Set      []Expr // over live columns of the existing row ++ of the excluded row
		Where    Expr   // over the same
		// Existing are checked of the rows that are there, Checks of what they become.
		Existing, Checks []RowCheck
		// Xmax: RETURNING reads the xmax of the rows, one more column.
		Xmax bool
	}
	// Update changes rows. Input columns: the row key, the table's live columns,
	// then one new value per SetCols, then the columns that Returning needs from
	// FROM. Returning is over: new live columns ++ the input's extra columns. With a
	// Tree the rows are in these tables; the input and Returning have one more column,
	// the OID of the row's table.
	Update struct {
		Common
		Table        *catalog.Table
		Tree         []*catalog.Table
		Input        Node
		SetCols      []int
		Parts        []Part // columns whose old and new values are in part
		Unread       []int  // columns for whose old values NULL stands: nobody looks at them
		Extra        int    // number of trailing input columns
		Returning    []Expr
		HasReturning bool
		Ctid         bool // Returning reads the row's ctid, one more column
		Checks       []RowCheck
	}
	// Delete removes rows. Input columns: the row key, the live columns, extras.
	// Returning is over live columns ++ extras. Tree is as in Update.
	Delete struct {
		Common
		Table        *catalog.Table
		Tree         []*catalog.Table
		Input        Node
		Unread       []int // columns for which NULL stands: nobody looks at them
		Extra        int
		Returning    []Expr
		HasReturning bool
		Ctid         bool // Returning reads the row's ctid, one more column
	}
	// Merge inserts, updates and deletes rows. Input columns: the row key, NULL
	// where the source matched nothing, the live columns, the source's columns. With
	// a Tree the rows are in these tables, and the input has the OID of the row's as
	// one more column.
	Merge struct {
		Common
		Table *catalog.Table
		Tree  []*catalog.Table
		Input Node
		Whens []MergeWhen
	}
	// MergeWhen is a WHEN clause of MERGE. Cond and Values are over the input
	// without the row key. Values are those of Cols for an update, and of all live
	// columns for an insertion.
	MergeWhen struct {
		Matched bool
		Cond    Expr
		Action  MergeAction
		Cols    []int
		Values  []Expr
		// Existing are checked of rows that are updated or deleted, Checks of new rows.
		Existing, Checks []RowCheck
	}
)

// MergeAction is what a WHEN clause does.
type MergeAction uint8

// The actions.
const (
	MergeNothing MergeAction = iota
	MergeUpdate
	MergeDelete
	MergeInsert
)

// The access paths.
const (
	FullScan   Access = iota // whole master file
	PointGet                 // whole primary key given
	UniqueGet                // whole key of a unique index given
	RangeScan                // range of the master key
	IndexRange               // range of an index
	IndexFull                // whole index, for its order or because it covers
	Regions                  // some regions of a region-clustered table
	CurrentRow               // the row that a cursor stands on
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds. Right joins are planned as Left with sides exchanged where the
// method allows, Semi and Anti pass left rows with and without a match.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
)

// OutCollation is the collation of a column that a statement returns: "" is the type's.
// Conflict: those of its parts differ.
type OutCollation struct {
	Name     string
	Conflict bool
}

// Query is a whole planned statement.
type Query struct {
	Root Node
	// Fault is the error of a constant part, which running the query is.
	Fault error
	// CTEs in the order in which they must be prepared.
	CTEs []*CTE
	// Params are the parameter types, inferred or declared; further slots up to
	// NumSlots are set by subplans.
	Params   []types.T
	NumSlots int
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
	// Calls are the user-defined functions that are called, in views as well.
	Calls []*catalog.Function
	// Places are, of a cursor's query, the tables whose rows it stands on.
	Places []Place
	// JoinOrder and other lines that EXPLAIN prints for the five steps.
	Steps []StepNote
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

// TableUse is a table that the statement touches.
type TableUse struct {
	Table *catalog.Table
	Write bool
	Lock  bool // FOR UPDATE/SHARE
	// Member: the statement names a table above it.
	Member bool
}

// StepNote is a line of EXPLAIN about one of the five steps.
type StepNote struct{ Step, Text string }

// TableExprs are the bound expressions that writing to a table needs, over the
// table's live columns in order.
type TableExprs struct {
	Live      []int  // live column indexes of the table
	Domains   []Expr // of columns whose domains restrict them: evaluated for the errors
	Checks    []Expr // aligned with Table.Checks
	Defaults  []Expr // per live column, nil without one; see no columns
	PartKeys  []Expr // aligned with Table.Key.Keys, nil for plain columns
	Generated []Expr // per live column, nil unless generated
	// IndexKeys[i] are the key expressions of Table.Indexes[i]: nil entries for
	// plain columns. Preds[i] is its predicate or nil.
	IndexKeys [][]Expr
	Preds     []Expr
	// Exclusions[i] are the tests of the exclusion constraint of Table.Indexes[i], nil
	// for other indexes: over a new row's keys and then those of another row.
	Exclusions [][]Expr
}

func one(n Node) []Node { return []Node{n} }

// Children returns the node's inputs.
func (n *Scan) Children() []Node         { return nil }
func (n *ClusterScan) Children() []Node  { return nil }
func (n *IndexUnion) Children() []Node   { return n.Scans }
func (n *VirtualScan) Children() []Node  { return nil }
func (n *SequenceScan) Children() []Node { return nil }
func (n *Values) Children() []Node       { return nil }
func (n *FuncScan) Children() []Node     { return nil }
func (n *CTEScan) Children() []Node      { return nil }
func (n *WorkScan) Children() []Node     { return nil }
func (n *Project) Children() []Node      { return one(n.Input) }
func (n *ProjectSet) Children() []Node   { return one(n.Input) }
func (n *Filter) Children() []Node       { return one(n.Input) }
func (n *Kept) Children() []Node         { return one(n.Input) }
func (n *HashJoin) Children() []Node     { return []Node{n.Left, n.Right} }
func (n *LookupJoin) Children() []Node   { return one(n.Left) }
func (n *MergeJoin) Children() []Node    { return []Node{n.Left, n.Right} }
func (n *LoopJoin) Children() []Node     { return []Node{n.Left, n.Right} }
func (n *Apply) Children() []Node        { return []Node{n.Left, n.Right} }
func (n *Group) Children() []Node        { return one(n.Input) }
func (n *Distinct) Children() []Node     { return one(n.Input) }
func (n *Window) Children() []Node       { return one(n.Input) }
func (n *Sort) Children() []Node         { return one(n.Input) }
func (n *Limit) Children() []Node        { return one(n.Input) }
func (n *Append) Children() []Node       { return n.Inputs }
func (n *SetOp) Children() []Node        { return []Node{n.Left, n.Right} }
func (n *LockRows) Children() []Node     { return one(n.Input) }
func (n *Insert) Children() []Node       { return one(n.Input) }
func (n *Update) Children() []Node       { return one(n.Input) }
func (n *Delete) Children() []Node       { return one(n.Input) }
func (n *Merge) Children() []Node        { return one(n.Input) }
