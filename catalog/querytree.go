package catalog

// QueryTree is an analysed query taken apart for being written: names are
// resolved, stars are expanded, conversions are as the analysis has them.
type QueryTree struct {
	Recursive bool
	With      []WithTree

	SetOp    string // UNION, INTERSECT, EXCEPT; "" for others
	All      bool
	L, R     *QueryTree
	Values   [][]TreeExpr // VALUES lists
	Distinct bool
	On       []TreeExpr // DISTINCT ON
	Targets  []TreeTarget
	From     []FromTree
	Where    *TreeExpr
	Group    []GroupTree
	GroupDis bool // GROUP BY DISTINCT
	Having   *TreeExpr
	Windows  []WindowTree

	OrderBy  []SortTree
	Limit    *TreeExpr
	Offset   *TreeExpr
	WithTies bool
	Locking  []LockTree
}

// BodyTree is the body of a function: what it returns, or its statements.
type BodyTree struct {
	Return *TreeExpr
	Stmts  []StmtTree
}

// StmtTree is a statement of a body: one of RETURN, a query and a change.
type StmtTree struct {
	Return *TreeExpr
	Query  *QueryTree
	Change *ChangeTree
}

// WithTree is a query, or a change, of WITH.
type WithTree struct {
	Name         string
	Cols         []string
	Materialized *bool
	Query        *QueryTree
	Change       *ChangeTree
	Search       *SearchTree
	Cycle        *CycleTree
}

// ChangeTree is INSERT, UPDATE or DELETE.
type ChangeTree struct {
	Verb      string
	Recursive bool
	With      []WithTree

	Schema, Table string
	Only          bool
	Alias         string // "" for none

	Cols       [][]TreePart // of INSERT: columns, or parts of them
	Overriding string
	Source     *QueryTree
	Values     [][]TreeExpr // an expression without text is DEFAULT
	Conflict   *ConflictTree

	Set       []SetTree
	From      []FromTree // or USING
	Where     *TreeExpr
	Returning []TreeTarget

	On    *TreeExpr // of MERGE
	Whens []MergeWhenTree
}

// MergeWhenTree is a WHEN clause of MERGE. Action is INSERT, UPDATE, DELETE or NOTHING.
type MergeWhenTree struct {
	Matched    bool
	Cond       *TreeExpr
	Action     string
	Set        []SetTree
	Cols       [][]TreePart
	Overriding string
	Values     []TreeExpr // an expression without text is DEFAULT; none: DEFAULT VALUES
}

// ConflictTree is ON CONFLICT.
type ConflictTree struct {
	Keys       []ConflictKeyTree
	KeyWhere   *TreeExpr
	Constraint string
	Update     bool
	Set        []SetTree
	Where      *TreeExpr
}

// ConflictKeyTree is a column or an expression that must not be in the table twice.
type ConflictKeyTree struct {
	X                TreeExpr
	Collate, Opclass string
}

// SetTree is an assignment of SET: to one place, or to several what a query returns.
type SetTree struct {
	Places  [][]TreePart
	Several bool
	X       TreeExpr // without text DEFAULT
	Query   *QueryTree
}

// SearchTree is SEARCH DEPTH or BREADTH FIRST BY … SET …
type SearchTree struct {
	Breadth bool
	By      []string
	Set     string
}

// CycleTree is CYCLE … SET … TO … DEFAULT … USING …
type CycleTree struct {
	Cols           []string
	Mark, Path     string
	Value, Default TreeExpr
}

// TreeExpr is an expression: a text in the spelling of stored expressions. Each
// piece stands in the text as PieceMark, its number and PieceMark.
type TreeExpr struct {
	Text   string
	Pieces [][]TreePart
	Var    bool // nothing but a column
	Simple bool // a column, a whole row or a constant
	Call   bool // a function, aggregate or window function
	// Name is what a Var is called, which needs no AS.
	Name string
}

// PieceMark encloses the number of a piece in an expression's text.
const PieceMark = "\x01"

// TreePart is a part of a piece: text as it is with a cast behind it, an
// expression, or a query.
type TreePart struct {
	Lit  string
	Cast string // a type, as stored expressions spell it
	// Function is the name of a user-defined one, with its schema
	Schema, Function string

	Expr   *TreeExpr
	Left   bool // the expression is what an operator compares with a query
	Query  *QueryTree
	Sort   *SortTree
	Window *WindowTree
}

// TreeTarget is an output column.
type TreeTarget struct {
	X    TreeExpr
	Name string
}

// SortTree is an entry of ORDER BY: the number of an output column, or an
// expression. Using is an operator that is not the type's own < or >.
type SortTree struct {
	Num              int
	X                TreeExpr
	Desc, NullsFirst bool
	Using            string
}

// GroupTree is an entry of GROUP BY: Kind is "", EMPTY, ROLLUP, CUBE, SETS or
// LIST, several expressions as one element.
type GroupTree struct {
	Kind string
	X    TreeExpr
	Sets []GroupTree
}

// WindowTree is a window: Name alone refers to one of WINDOW.
type WindowTree struct {
	Name, Base string
	Def        bool // an entry of WINDOW
	Partition  []TreeExpr
	Order      []SortTree
	Frame      string // mode, "" without a frame clause
	Between    bool
	Start, End WindowBound
	Exclude    string
}

// WindowBound is an end of a frame.
type WindowBound struct {
	Kind string
	X    *TreeExpr
}

// LockTree is a FOR UPDATE or a relative.
type LockTree struct {
	Strength string
	Of       []string
	Wait     string // "", NOWAIT, SKIP LOCKED
}

// FromTree is an entry of FROM: a join, or one of the others.
type FromTree struct {
	Kind   string // JOIN, CROSS JOIN, LEFT JOIN …; "" for others
	L, R   *FromTree
	On     *TreeExpr
	Using  []string
	UseAs  string // JOIN … USING (…) AS name
	Schema string // of a relation
	Table  string // of a relation or WITH query
	Only   bool
	Sample *SampleTree // TABLESAMPLE, or nil

	Query      *QueryTree
	Values     [][]TreeExpr // the rows of VALUES, whose columns the query around them names
	Funcs      []FuncTree
	RowsFrom   bool // ROWS FROM (…)
	Unnest     bool // UNNEST of several arrays
	Ordinality bool
	Lateral    bool

	Alias string   // "" for none
	Cols  []string // column aliases
}

// SampleTree is TABLESAMPLE Method (Percent) REPEATABLE (Seed), which may be nil.
type SampleTree struct {
	Method  string
	Percent TreeExpr
	Seed    *TreeExpr
}

// FuncTree is a table function. Defs defines its columns; Arg is the array of
// unnest.
type FuncTree struct {
	Call, Arg TreeExpr
	Cast      string // the type of CAST (… AS type), which stands for a function, too
	Defs      []string
}
