package plan

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Expr is a bound expression: every name resolved, every type known. Pos is
// the byte offset in the statement's text, or -1.
type Expr interface {
	Type() types.T
	Pos() int
}

// At is the part that every expression has: its type and its offset.
type At struct {
	T   types.T
	Off int
}

// Type returns the expression's type.
func (a At) Type() types.T { return a.T }

// Pos returns the byte offset in the statement, or -1.
func (a At) Pos() int { return a.Off }

type (
	// Const is a value known at planning.
	Const struct {
		At
		Val types.Datum
	}
	// Param is a statement parameter, or a value that an enclosing operator
	// sets (correlated subplans): Env.Params[Idx].
	Param struct {
		At
		Idx int
	}
	// Col is the Idx-th column of the operator's input batch.
	Col struct {
		At
		Idx  int
		Name string
	}
	// Var is a column of a range-table entry; only the planner sees it, every
	// Var is a Col when the plan is finished.
	Var struct {
		At
		Rel, Col int
		Level    int // 0: this query block, 1: the enclosing one, …
		Name     string
	}
	// Call is a function or operator call; Proc.Src names the implementation.
	// Arguments have exactly Proc's types (polymorphic ones resolved). VariadicArr
	// tells that the last argument is an array given with VARIADIC; otherwise a
	// variadic function's last arguments have been gathered into an ArrayCtor,
	// except for "any" variadics (concat, format), which get them one by one.
	Call struct {
		At
		Proc        *catalog.Proc
		Args        []Expr
		Op          string               // the operator's symbol when written as a built-in one
		Own         *catalog.OwnOperator // the user-defined operator it was written as, or nil
		OpSchema    string               // where Op is, which is an extension's; "" for others
		VariadicArr bool
		Defaults    int       // how many of the last Args are the function's defaults
		Written     []Arg     // the arguments as a call by name has them; nil for others
		Cast        CastForm  // the call is a conversion of Args[0]
		Syntax      string    // the grammar's own form: "extract", "CURRENT_DATE" …
		Cols        []types.T // of the row or rows that a user-defined function returns
		Defined     []OutCol  // columns that the query gives to the rows of a built-in function
	}
	// Arg is an argument of a call by name: Args[Idx], "" without a name.
	Arg struct {
		Name string
		Idx  int
	}
	// CoerceIO converts through the text form. Literal: X is the text of an
	// untyped literal whose reading needs the catalog. Stored: it is one of a
	// definition, whose names the role need not be allowed to use.
	CoerceIO struct {
		At
		X        Expr
		Explicit bool
		Literal  bool
		Stored   bool
		Cast     CastForm
	}
	// Relabel changes the type and not the bytes (varchar → text), or the collation
	// alone.
	Relabel struct {
		At
		X       Expr
		Cast    CastForm
		Collate string // of a COLLATE clause, else ""
	}
	// CoerceMod applies T's modifier: length, precision, scale.
	CoerceMod struct {
		At
		X        Expr
		Explicit bool
		Cast     CastForm
		Syntax   string // as in Call: "CURRENT_TIMESTAMP" …
	}
	// CoerceArray converts an array's elements; Elem is over Col 0 = the element. With
	// Check they stay as they are: Elem tells only whether they may.
	CoerceArray struct {
		At
		X     Expr
		Elem  Expr
		Check bool
		Cast  CastForm
	}
	// CoerceDomain makes a value of a domain out of one of its base type, which
	// every value must satisfy: 23502 for NULL with NotNull, 23514 for a Check that
	// is false, tested in order.
	CoerceDomain struct {
		At
		X            Expr
		Schema, Name string // the domain
		TypeName     string // as messages spell it
		NotNull      bool
		Checks       []DomainCheck
		Cast         CastForm
	}
	// KeyBound is a bound of a key of type T made of X, a value of another type on the
	// same line (a timestamp for a date): the greatest value of T that is not above X
	// or, with Up, the least that is not below. What lies beyond T's ends becomes a
	// value there.
	KeyBound struct {
		At
		X  Expr
		Up bool
	}
	// And, Or: three-valued, arguments in order, short-circuiting per row.
	And struct {
		At
		Args []Expr
		// Row is the whole row whose columns the arguments test, each by an Is, or nil: a
		// grouping by the row tests that in their place.
		Row *RowCtor
	}
	// Or is the disjunction.
	Or struct {
		At
		Args []Expr
	}
	// Not negates a boolean.
	Not struct {
		At
		X Expr
	}
	// Is is X IS [NOT] NULL, TRUE, FALSE or UNKNOWN. A row is NULL when all of its
	// fields are, and NOT NULL when none is; with Whole it is a value like others.
	Is struct {
		At
		X     Expr
		Test  IsTest
		Not   bool
		Whole bool
	}
	// Case evaluates Whens in order; only the rows that need an arm evaluate it.
	// With Operand, each Cond is over CaseVal.
	Case struct {
		At
		Operand Expr
		Whens   []When
		Else    Expr // nil: NULL
	}
	// CaseVal is the value of the innermost enclosing Case's Operand or NullIf's X.
	CaseVal struct{ At }
	// Coalesce is the first non-null argument.
	Coalesce struct {
		At
		Args []Expr
	}
	// NullIf is NULL where Eq holds, X elsewhere. Eq is boolean and compares CaseVal,
	// which stands for X, so that X is computed once.
	NullIf struct {
		At
		X  Expr
		Eq Expr
	}
	// MinMax is GREATEST or LEAST (NULLs ignored) by the types' order.
	MinMax struct {
		At
		Least bool
		Args  []Expr
	}
	// IsDistinct is L IS [NOT] DISTINCT FROM R; Eq is the equality function.
	IsDistinct struct {
		At
		L, R Expr
		Eq   *catalog.Proc
		Not  bool // IS NOT DISTINCT FROM
	}
	// InList is X IN (list); Eq compares X with an element. Elem is the type that
	// the elements had before they were converted to Eq's.
	InList struct {
		At
		X    Expr
		List []Expr
		Elem types.T
		Eq   *catalog.Proc
		Not  bool

		OpSchema string // where Eq's operator is, which is an extension's; "" for others
	}
	// AnyArray is X op ANY|ALL (array).
	AnyArray struct {
		At
		X     Expr
		Array Expr
		Proc  *catalog.Proc // boolean function of (X, element)
		Op    string
		All   bool
	}
	// ArrayCtor is ARRAY[…]; Nested when the elements are arrays of T's type.
	ArrayCtor struct {
		At
		Elems  []Expr
		Nested bool
	}
	// Subscript is X[i][j] or a slice.
	Subscript struct {
		At
		X     Expr
		Slice bool
		Lo    []Expr // indexes, or lower bounds (nil entries: open)
		Hi    []Expr
	}
	// SubscriptAssign is X, an array, jsonb, hstore or point value or NULL, with Val in the place
	// that the subscripts name, as in Subscript.
	SubscriptAssign struct {
		At
		X     Expr
		Slice bool
		Lo    []Expr
		Hi    []Expr
		Val   Expr
	}
	// RowCtor is ROW(…), of type record. Names has the column names of a whole
	// row of a table or subquery; those of ROW(…) are nil.
	RowCtor struct {
		At
		Elems []Expr
		Names []string
		Of    int // the range-table entry whose whole row it is, 0 for none
		// Cast tells that the row was converted to T, a composite type.
		Cast CastForm
		// Present is NULL where an outer join has no row and the value is NULL; nil:
		// there always is one.
		Present Expr
		// Was is the row before it passed as a record, nil for one that was always one or
		// that is of a type.
		Was *RowCtor
	}
	// FieldOf takes the Idx-th field of a record value.
	FieldOf struct {
		At
		X    Expr
		Idx  int
		Name string // of the field, where it has one
	}
	// SubPlan is a subquery inside an expression.
	SubPlan struct {
		At
		Kind SubKind
		Plan Node
		// Outer sets parameters of the subplan from the current row before it
		// runs; a subplan without them runs once and is kept.
		Outer []SubParam
		// For SubAny and SubAll: Test is a boolean over X's columns and the
		// subquery's. Hash says that Test is the conjunction of Eqs (X[i] = column
		// i), so an uncorrelated subquery can be kept as a hash table.
		X    []Expr
		Test Expr // over Cols: first len(X) the left values, then the subquery's columns
		Hash bool
		Not  bool // NOT IN / NOT EXISTS: negates the three-valued result
	}
	// SubParam sets Env.Params[Idx] to X's value.
	SubParam struct {
		Idx int
		X   Expr
	}
	// DomainCheck is a check of a domain; Cond is boolean over Col 0 = VALUE.
	DomainCheck struct {
		Name string
		Cond Expr
	}
	// When is an arm of a Case.
	When struct{ Cond, Result Expr }
)

// CastForm tells where a conversion comes from; only Deparse asks.
type CastForm uint8

// The forms: not a cast but a call (for conversion nodes the same as
// implicit), added by the binder, or written.
const (
	CastNone CastForm = iota
	CastImplicit
	CastExplicit
)

// IsTest is the test of an Is.
type IsTest uint8

// The tests.
const (
	IsNull IsTest = iota
	IsTrue
	IsFalse
	IsUnknown
)

// SubKind is the kind of a SubPlan.
type SubKind uint8

// The kinds: a scalar (21000 when it returns more than one row), EXISTS, op
// ANY, op ALL, ARRAY(query), and a row of several columns (record).
const (
	SubScalar SubKind = iota
	SubExists
	SubAny
	SubAll
	SubArray
	SubRow
)

// Agg is an aggregate call of a Group or Window node.
type Agg struct {
	Proc   *catalog.Proc
	Args   []Expr // over the input; direct arguments first for ordered-set aggregates
	Direct int
	// PerGroup tells that the direct arguments read grouped columns: each group has its
	// own. With grouping sets they are over the keys.
	PerGroup bool
	Star     bool
	Distinct bool
	Filter   Expr
	OrderBy  []SortKey
	T        types.T
	Off      int
	User     *UserAgg // of a user-defined aggregate; nil otherwise
}

// UserAgg computes a user-defined aggregate. Column 0 of its expressions is the
// state, the arguments follow.
type UserAgg struct {
	State types.T
	Init  Expr // the first state, without columns; nil: NULL
	Trans Expr // the next state
	// Strict tells that rows with a NULL argument are left out, and that a state
	// that is NULL takes the first argument.
	Strict bool
	Final  Expr // over the state; nil: the state is the result
	// FinalStrict tells that the result of a state that is NULL is NULL.
	FinalStrict bool
}

// SortKey is an ordering by a column of the input (after projection).
type SortKey struct {
	X          Expr
	Desc       bool
	NullsFirst bool
}

// KeyCol is the column that a join key is, be its varchar taken for text or not.
func KeyCol(e Expr) (*Col, bool) {
	text := func(t types.T) bool { return t.OID == types.OText || t.OID == types.OVarchar }
	if r, ok := e.(*Relabel); ok && text(r.T) && text(r.X.Type()) {
		e = r.X
	}
	c, ok := e.(*Col)
	return c, ok
}
