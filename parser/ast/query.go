package ast

type (
	// With is WITH [RECURSIVE] cte, ….
	With struct {
		Off
		Recursive bool
		CTEs      []CTE
	}
	// CTE is one named query of a WITH.
	CTE struct {
		Off
		Name         string
		Cols         []string
		Materialized *bool // nil: not said
		Stmt         Stmt  // *Select, *Insert, *Update, *Delete
		Search       *Search
		Cycle        *Cycle
	}
	// Search is SEARCH DEPTH|BREADTH FIRST BY By SET Set, behind a WITH query.
	Search struct {
		Off
		Breadth bool
		By      []string
		Set     string
	}
	// Cycle is CYCLE Cols SET Mark [TO Value DEFAULT Default] USING Path; Value and
	// Default are true and false where they are not written.
	Cycle struct {
		Off
		Cols           []string
		Mark           string
		Value, Default Expr
		Path           string
	}
	// Select is a whole query: WITH, a body (one of Values, SetOp or the select
	// core), and ORDER BY / LIMIT / locking, which apply to the body as a whole.
	Select struct {
		Off
		With *With

		// set operation: L op R; the core fields are empty then
		SetOp *SetOp
		// VALUES lists; the core fields are empty then
		Values [][]Expr

		// the core
		Return     bool // RETURN expr in a function's body
		Distinct   bool
		DistinctOn []Expr
		Targets    []Target
		Into       *Name // SELECT … INTO
		From       []FromItem
		Where      Expr
		GroupBy    []GroupItem
		GroupDist  bool
		Having     Expr
		Windows    []Window

		OrderBy  []SortItem
		Limit    Expr // nil: none; LIMIT ALL is NULL
		Offset   Expr
		WithTies bool
		Locking  []Locking
	}
	// SetOp is UNION, INTERSECT or EXCEPT of two queries.
	SetOp struct {
		Op   string // "UNION", "INTERSECT", "EXCEPT"
		All  bool
		L, R *Select
	}
	// Target is an output column: an expression and its alias ("" if none).
	Target struct {
		Off
		X     Expr
		Alias string
	}
	// GroupItem is a GROUP BY entry. Kind "" is Exprs[0]; otherwise ROLLUP, CUBE,
	// SETS (Sets holds the members) or EMPTY (the grouping set ()).
	GroupItem struct {
		Off
		Kind  string
		Exprs []Expr
		Sets  []GroupItem
	}
	// SortItem is an ORDER BY entry; Using is the operator of ORDER BY x USING op.
	SortItem struct {
		X          Expr
		Desc       bool
		NullsFirst *bool // nil: default (last for ASC, first for DESC)
		Using      string
		OpOff      Off // of the operator after USING
	}
	// Window is a window definition: OVER name, OVER (…), or WINDOW name AS (…).
	Window struct {
		Off
		Name        string // its own name in a WINDOW clause, or the whole of OVER name
		Base        string // OVER (base …)
		PartitionBy []Expr
		OrderBy     []SortItem
		Frame       *Frame
	}
	// Frame is a window frame.
	Frame struct {
		Mode       string // ROWS, RANGE, GROUPS
		Between    bool   // both ends are written
		Start, End Bound
		Exclude    string // "", CURRENT ROW, GROUP, TIES
	}
	// Bound is one end of a frame.
	Bound struct {
		Kind string // UNBOUNDED PRECEDING, PRECEDING, CURRENT ROW, FOLLOWING, UNBOUNDED FOLLOWING
		X    Expr
	}
	// Locking is FOR UPDATE and its relatives.
	Locking struct {
		Off
		Strength   string // UPDATE, NO KEY UPDATE, SHARE, KEY SHARE
		Of         []Name
		NoWait     bool
		SkipLocked bool
	}

	// TableRef is a named relation in FROM.
	TableRef struct {
		Off
		Name        Name
		Only        bool
		Alias       string
		Cols        []string
		Tablesample *Tablesample
	}
	// Tablesample is TABLESAMPLE method (args) REPEATABLE (seed).
	Tablesample struct {
		Off
		Method string
		Args   []Expr
		Seed   Expr
	}
	// SubqueryRef is (query) AS alias(cols) in FROM.
	SubqueryRef struct {
		Off
		Lateral bool
		Query   *Select
		Alias   string
		Cols    []string
	}
	// FuncRef is a table function (or ROWS FROM several) in FROM.
	FuncRef struct {
		Off
		Lateral    bool
		Calls      []FuncCall
		RowsFrom   bool
		Ordinality bool
		Alias      string
		Cols       []ColDef // names, with types for a column definition list
	}
	// FuncCall is a call in FROM; X is a *Call, *Special or *Cast.
	FuncCall struct {
		X    Expr
		Cols []ColDef // AS (a int, b text) inside ROWS FROM
	}
	// ColDef is a column's name with an optional type.
	ColDef struct {
		Off
		Name string
		Type *TypeName
	}
	// Join is L kind JOIN R [ON | USING | NATURAL]. Comma lists stay FROM items.
	Join struct {
		Off
		Kind       string // INNER, LEFT, RIGHT, FULL, CROSS
		Natural    bool
		L, R       FromItem
		On         Expr
		Using      []string
		UsingAlias string
		Alias      string // (a JOIN b) AS alias
		Cols       []string
	}
)

func (*TableRef) fromItem()    {}
func (*SubqueryRef) fromItem() {}
func (*FuncRef) fromItem()     {}
func (*Join) fromItem()        {}

type (
	// Insert is INSERT INTO.
	Insert struct {
		Off
		With       *With
		Table      Name
		Alias      string
		Cols       []AssignTarget
		Overriding string // "", SYSTEM, USER
		Default    bool   // DEFAULT VALUES
		Query      *Select
		OnConflict *OnConflict
		Returning  []Target
	}
	// AssignTarget is a column, possibly with subscripts or fields (a[1].b).
	AssignTarget struct {
		Off
		Col  string
		Path []PathStep
	}
	// PathStep is a subscript, slice or field of an assignment target.
	PathStep struct {
		Field  string
		Slice  bool
		Lo, Hi Expr
	}
	// OnConflict is ON CONFLICT.
	OnConflict struct {
		Off
		Targets    []ConflictTarget
		TargetOff  Off  // of the parenthesis before the targets
		Where      Expr // of the arbiter index
		Constraint string
		DoUpdate   bool
		Set        []Assign
		UpdWhere   Expr
	}
	// ConflictTarget is a column or expression of the arbiter.
	ConflictTarget struct {
		X       Expr
		Collate *Name
		Opclass *Name
	}
	// Assign is SET target = X, or SET (targets) = X (a Row or a Subquery).
	Assign struct {
		Off
		Targets []AssignTarget
		Multi   bool // written with parentheses
		X       Expr
	}
	// Update is UPDATE.
	Update struct {
		Off
		With      *With
		Table     *TableRef
		Set       []Assign
		From      []FromItem
		Where     Expr
		Current   string // WHERE CURRENT OF cursor
		Returning []Target
	}
	// Delete is DELETE.
	Delete struct {
		Off
		With      *With
		Table     *TableRef
		Using     []FromItem
		Where     Expr
		Current   string
		Returning []Target
	}
	// Merge is MERGE INTO.
	Merge struct {
		Off
		With  *With
		Table *TableRef
		Using FromItem
		On    Expr
		Whens []MergeWhen
	}
	// MergeWhen is one WHEN clause.
	MergeWhen struct {
		Off
		Matched    bool
		Cond       Expr
		Action     string // UPDATE, DELETE, INSERT, NOTHING
		Set        []Assign
		Cols       []AssignTarget
		Values     []Expr
		Default    bool
		Overriding string
	}
)

func (*Select) stmt() {}
func (*Insert) stmt() {}
func (*Update) stmt() {}
func (*Delete) stmt() {}
func (*Merge) stmt()  {}
