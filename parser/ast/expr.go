package ast

// ConstKind tells how a literal was written.
type ConstKind uint8

const (
	ConstNull    ConstKind = iota
	ConstInt               // 42 (any size; the planner picks int4, int8, numeric)
	ConstNumeric           // 1.5, 1e3
	ConstString            // 'x', E'x', $$x$$, U&'x': value decoded, type unknown
	ConstBool              // TRUE, FALSE
	ConstBit               // B'01'
	ConstHexBit            // X'1F'
)

type (
	// Const is a literal. Val is decoded text ("true"/"false" for booleans).
	Const struct {
		Off
		Kind ConstKind
		Val  string
	}
	// Param is $1 (Num = 1).
	Param struct {
		Off
		Num int
	}
	// ColumnRef is a, t.a, s.t.a, or with Star t.* and * (Parts empty).
	ColumnRef struct {
		Off
		Parts []string
		Star  bool
	}
	// Unary is a prefix operator: -x, +x, @x, ~x, !!x. Schema for OPERATOR(s.op).
	Unary struct {
		Off        // of the operator
		Schema, Op string
		X          Expr
	}
	// Binary is an infix operator. Off is the operator's. LIKE is "~~", NOT LIKE
	// "!~~", ILIKE "~~*", NOT ILIKE "!~~*"; `!=` is "<>" already. SIMILAR TO,
	// LIKE … ESCAPE are calls of similar_to_escape / like_escape on the right.
	Binary struct {
		Off
		Schema, Op string
		L, R       Expr
	}
	// And is a conjunction of two or more: a AND b AND c is one; those in
	// parentheses are their own.
	And struct {
		Off
		Args []Expr
	}
	// Or is a disjunction of two or more, nested as And is.
	Or struct {
		Off
		Args []Expr
	}
	// Not negates.
	Not struct {
		Off
		X Expr
	}
	// Is is X IS [NOT] NULL|TRUE|FALSE|UNKNOWN|DOCUMENT|NORMALIZED (Test upper case).
	Is struct {
		Off
		X    Expr
		Not  bool
		Test string
	}
	// Distinct is L IS [NOT] DISTINCT FROM R.
	Distinct struct {
		Off
		L, R Expr
		Not  bool
	}
	// Between is X [NOT] BETWEEN [SYMMETRIC] Lo AND Hi.
	Between struct {
		Off
		X, Lo, Hi      Expr
		Not, Symmetric bool
	}
	// In is X [NOT] IN (list) or (query): exactly one of List, Query is set.
	In struct {
		Off
		X     Expr
		Not   bool
		List  []Expr
		Query *Select
	}
	// Quantified is L op ANY|ALL (array or query). SOME is ANY.
	Quantified struct {
		Off
		L          Expr
		Schema, Op string
		All        bool
		Array      Expr
		Query      *Select
	}
	// Exists is EXISTS (query).
	Exists struct {
		Off
		Query *Select
	}
	// Subquery is (query) as a value; Array for ARRAY(query).
	Subquery struct {
		Off
		Query *Select
		Array bool
	}
	// Case is CASE [Operand] WHEN … THEN … [ELSE …] END.
	Case struct {
		Off
		Operand Expr
		Whens   []When
		Else    Expr
	}
	// When is one arm of a CASE.
	When struct {
		Off
		Cond, Result Expr
	}
	// Cast is CAST(x AS t), x::t, or a typed literal t 'x' (Literal).
	Cast struct {
		Off
		X       Expr
		Type    TypeName
		Literal bool
	}
	// Collate is X COLLATE name.
	Collate struct {
		Off
		X    Expr
		Name Name
	}
	// Call is a function call. Forms with a grammar of their own are calls of
	// the function PostgreSQL uses: EXTRACT(f FROM x) → extract('f', x),
	// SUBSTRING(x FROM a FOR b) → substring(x, a, b), POSITION(a IN b) →
	// position(b, a), TRIM(BOTH a FROM b) → btrim(b, a), OVERLAY → overlay,
	// x AT TIME ZONE z → timezone(z, x), with Name pg_catalog-qualified; Form
	// remembers the written form for the column's name.
	Call struct {
		Off
		Name      Name
		Args      []Expr
		ArgNames  []string // names of named arguments, aligned with Args; nil if none
		Star      bool     // count(*)
		Distinct  bool
		Variadic  bool // last argument was marked VARIADIC
		OrderBy   []SortItem
		WithinGrp bool // OrderBy came from WITHIN GROUP
		Filter    Expr
		Over      *Window
		Form      string // "extract", "position", "substring", "trim", "overlay", "timezone", … or ""
	}
	// Special is a value function without parentheses or a construct of the
	// grammar with arguments: CURRENT_DATE, CURRENT_TIMESTAMP(p), LOCALTIME,
	// CURRENT_USER, SESSION_USER, USER, CURRENT_ROLE, CURRENT_CATALOG,
	// CURRENT_SCHEMA, COALESCE, NULLIF, GREATEST, LEAST, GROUPING, DEFAULT.
	Special struct {
		Off
		Kind string // upper case
		Args []Expr
	}
	// Array is ARRAY[…]; nested arrays are Array elements.
	Array struct {
		Off
		Elems []Expr
	}
	// Row is ROW(…) or (a, b); Explicit when ROW was written.
	Row struct {
		Off
		Elems    []Expr
		Explicit bool
	}
	// Index is X[Lo], or the slice X[Lo:Hi] with either side possibly nil. Apart:
	// X is a subscript itself, in parentheses, and not a further dimension.
	Index struct {
		Off
		X      Expr
		Apart  bool
		Slice  bool
		Lo, Hi Expr
	}
	// Field is (X).name, or (X).* with Name "*".
	Field struct {
		Off
		X    Expr
		Name string
	}
)

func (*Const) expr()      {}
func (*Param) expr()      {}
func (*ColumnRef) expr()  {}
func (*Unary) expr()      {}
func (*Binary) expr()     {}
func (*And) expr()        {}
func (*Or) expr()         {}
func (*Not) expr()        {}
func (*Is) expr()         {}
func (*Distinct) expr()   {}
func (*Between) expr()    {}
func (*In) expr()         {}
func (*Quantified) expr() {}
func (*Exists) expr()     {}
func (*Subquery) expr()   {}
func (*Case) expr()       {}
func (*Cast) expr()       {}
func (*Collate) expr()    {}
func (*Call) expr()       {}
func (*Special) expr()    {}
func (*Array) expr()      {}
func (*Row) expr()        {}
func (*Index) expr()      {}
func (*Field) expr()      {}
