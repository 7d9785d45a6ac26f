package plan

import (
	"kvsqld/catalog"
)

type (
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
		System       []int // the system columns that Returning reads, which follow the others: ColCtid, ColXmin, ColXmax
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
		System       []int // the system columns that Returning reads, which follow the others: ColCtid, ColXmin, ColXmax
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
		System       []int // the system columns that Returning reads, which follow the others: ColCtid, ColXmin, ColXmax
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
	// Calls are the functions that these expressions but for Defaults call and that not
	// everybody may execute of right: those with bodies, and limited built-in ones.
	// DefaultCalls[i] are those of Defaults[i].
	Calls        []*catalog.Function
	DefaultCalls [][]*catalog.Function
}

// Children returns the node's inputs.
func (n *LockRows) Children() []Node { return one(n.Input) }
func (n *Insert) Children() []Node   { return one(n.Input) }
func (n *Update) Children() []Node   { return one(n.Input) }
func (n *Delete) Children() []Node   { return one(n.Input) }
func (n *Merge) Children() []Node    { return one(n.Input) }
