package ast

type (
	// ColumnDef is a column of CREATE TABLE or ADD COLUMN.
	ColumnDef struct {
		Off
		Name        string
		Type        TypeName // serial types keep their names: serial, bigserial, smallserial
		Collate     *Name
		Storage     string // STORAGE word, lower case, or ""
		Compression string
		Constraints []Constraint
	}
	// Constraint is a column or table constraint.
	Constraint struct {
		Off
		Name string // "" if not named
		Kind string // NOT NULL, NULL, DEFAULT, CHECK, UNIQUE, PRIMARY KEY, FOREIGN KEY, IDENTITY, GENERATED, EXCLUDE
		Expr Expr   // of DEFAULT, CHECK, GENERATED

		Cols         []string // table form of UNIQUE, PRIMARY KEY, FOREIGN KEY
		Include      []string
		UsingIndex   string
		NullsNotDist bool
		With         []Option
		Tablespace   string // of the index

		RefTable *Name
		RefCols  []string
		Match    string // "", FULL, PARTIAL, SIMPLE
		OnDelete string // "", NO ACTION, RESTRICT, CASCADE, SET NULL, SET DEFAULT
		OnUpdate string
		DelCols  []string // ON DELETE SET NULL (cols)

		Method  string        // of EXCLUDE, "" for the default
		Exclude []ExcludeElem // of EXCLUDE
		Where   Expr          // of EXCLUDE

		Always     bool // GENERATED ALWAYS
		SeqOptions []Option

		Deferrable *bool
		Initially  string // "", DEFERRED, IMMEDIATE
		NotValid   bool
		NoInherit  bool
	}
	// ExcludeElem is key WITH operator of EXCLUDE.
	ExcludeElem struct {
		IndexElem
		Schema, Op string
	}
	// Option is name [= value] of WITH (…), sequences, COPY and the like. Name is
	// lower case. X is nil when no value was written.
	Option struct {
		Off
		Name string
		X    Expr
		List []Expr  // option (a, b)
		Set  *SetVar // of SET and RESET in CREATE FUNCTION
	}
	// Like is LIKE table INCLUDING … in CREATE TABLE.
	Like struct {
		Off
		Table   Name
		Place   int      // how many column definitions come before it
		Options []string // "INCLUDING ALL", "EXCLUDING DEFAULTS", …
	}
	// CreateTable is CREATE TABLE [AS].
	CreateTable struct {
		Off
		Name        Name
		IfNotExists bool
		Temp        bool
		Global      Off // where GLOBAL stands before TEMPORARY, 0: it does not
		Unlogged    bool
		OfType      *Name
		Columns     []ColumnDef
		Constraints []Constraint
		Likes       []Like
		Inherits    []Name
		PartitionBy *PartitionKey
		PartitionOf *Name // then Columns have no types: they add constraints to those of the parent
		Bound       *PartitionBound
		Using       string
		With        []Option
		OnCommit    string // "", PRESERVE ROWS, DELETE ROWS, DROP
		Tablespace  string
		As          *Select // CREATE TABLE AS
		AsExecute   *Execute
		AsCols      []string
		WithNoData  bool
	}
	// PartitionKey is PARTITION BY strategy (elements).
	PartitionKey struct {
		Off
		Strategy string // as written: list, range, hash, or something else
		Elems    []IndexElem
	}
	// PartitionBound is DEFAULT or FOR VALUES …; its position is that of what
	// follows FOR VALUES.
	PartitionBound struct {
		Off
		Default            bool
		In                 []Expr
		From, To           []Expr // MINVALUE and MAXVALUE are column references
		Hash               bool
		Modulus, Remainder int
	}
	// IndexElem is a column or expression of an index.
	IndexElem struct {
		Off
		Col        string // or
		X          Expr
		Collate    *Name
		Opclass    *Name
		Desc       bool
		Asc        bool // was written, which ON CONFLICT refuses
		NullsFirst *bool
	}
	// CreateIndex is CREATE INDEX.
	CreateIndex struct {
		Off
		Name         string // "" for a generated name
		Table        Name
		Only         bool
		Unique       bool
		Concurrently bool
		IfNotExists  bool
		Method       string // "" is btree
		Elems        []IndexElem
		Include      []string
		NullsNotDist bool
		With         []Option
		Tablespace   string
		Where        Expr
	}
	// CreateView is CREATE [MATERIALIZED] VIEW.
	CreateView struct {
		Off
		Name         Name
		OrReplace    bool
		Temp         bool
		Global       Off  // as of CreateTable
		Unlogged     bool // which is refused
		Recursive    bool
		Materialized bool
		IfNotExists  bool
		Cols         []string
		Using        string // of a materialized view
		With         []Option
		Tablespace   string // of a materialized view
		Query        *Select
		CheckOption  string
		CheckOff     Off // of WITH CHECK OPTION
		WithNoData   bool
	}
	// CreateSequence is CREATE SEQUENCE; AlterSequence shares the options.
	CreateSequence struct {
		Off
		Name        Name
		IfNotExists bool
		Temp        bool
		Global      Off // as of CreateTable
		Unlogged    bool
		Options     []Option // as, increment, minvalue, maxvalue, start, restart, cache, cycle, owned_by; NO x has X=nil and Name "no minvalue"
	}
	// AlterSequence is ALTER SEQUENCE with options.
	AlterSequence struct {
		Off
		Name     Name
		IfExists bool
		Options  []Option
	}
	// CreateSchema is CREATE SCHEMA.
	CreateSchema struct {
		Off
		Name        string
		IfNotExists bool
		Owner       string
		Elements    []Stmt
	}
	// CreateDatabase is CREATE DATABASE.
	CreateDatabase struct {
		Off
		Name    string
		Options []Option
	}
	// CreateType is CREATE TYPE … AS ENUM, composite, range, or base.
	CreateType struct {
		Off
		Name    Name
		Kind    string // ENUM, COMPOSITE, RANGE, BASE, SHELL
		Labels  []string
		Columns []ColumnDef
		Options []Option
	}
	// CreateDomain is CREATE DOMAIN.
	CreateDomain struct {
		Off
		Name        Name
		Type        TypeName
		Collate     *Name
		Constraints []Constraint
	}
	// CreateFunction is CREATE FUNCTION or PROCEDURE.
	CreateFunction struct {
		Off
		Name      Name
		OrReplace bool
		Procedure bool
		Params    []FuncParam
		Returns   *TypeName
		RetTable  []FuncParam
		Language  string
		HasBody   bool   // AS was written
		Body      string // AS 'text'
		Body2     string // AS 'obj', 'link'
		SQLBody   []Stmt // RETURN expr or BEGIN ATOMIC
		BodyText  string // as it was written, with the quotes of a string
		BodyOff   Off
		Options   []Option // volatility, strict, security, cost, rows, set …
	}
	// FuncParam is a parameter of a function definition.
	FuncParam struct {
		Off
		Mode    string // "", IN, OUT, INOUT, VARIADIC
		Name    string
		Type    TypeName
		Default Expr
	}
	// CreateRole is CREATE ROLE/USER/GROUP; AlterRole ALTER of the same.
	CreateRole struct {
		Off
		Kind    string // ROLE, USER, GROUP
		Name    string
		Options []Option
	}
	// AlterRole is ALTER ROLE. Name is AllRoles for the settings of all.
	AlterRole struct {
		Off
		Name    string
		Options []Option
		Set     *SetVar
		InDB    string
	}
	// CreateExtension is CREATE EXTENSION.
	CreateExtension struct {
		Off
		Name        string
		IfNotExists bool
		Options     []Option
	}
	// Drop is DROP kind name, ….
	Drop struct {
		Off
		Kind         string // TABLE, INDEX, VIEW, MATERIALIZED VIEW, SEQUENCE, SCHEMA, TYPE, DOMAIN, FUNCTION, PROCEDURE, ROLE, EXTENSION, …
		Names        []Name
		Args         [][]TypeName // of functions, aligned with Names; nil if none were written
		On           *Name        // relation of a trigger, policy or rule; access method; server
		IfExists     bool
		Cascade      bool
		Concurrently bool
	}
	// DropDatabase is DROP DATABASE.
	DropDatabase struct {
		Off
		Name     string
		IfExists bool
		Force    bool
	}
	// AlterTable is ALTER TABLE/INDEX/VIEW/… with a list of actions.
	AlterTable struct {
		Off
		Kind     string // TABLE, INDEX, VIEW, MATERIALIZED VIEW, SEQUENCE, FOREIGN TABLE
		Name     Name
		IfExists bool
		Only     bool
		Actions  []AlterAction
	}
	// AlterAction is one action. Kind names it: ADD COLUMN, DROP COLUMN, ALTER
	// COLUMN TYPE, SET DEFAULT, DROP DEFAULT, SET NOT NULL, DROP NOT NULL, ADD
	// IDENTITY, SET IDENTITY, DROP IDENTITY, DROP EXPRESSION, SET STATISTICS,
	// SET STORAGE, SET COMPRESSION, ADD CONSTRAINT, DROP CONSTRAINT, VALIDATE
	// CONSTRAINT, ALTER CONSTRAINT, RENAME COLUMN, RENAME CONSTRAINT, RENAME, SET
	// SCHEMA, OWNER, SET OPTIONS, RESET OPTIONS, CLUSTER, LOGGED, UNLOGGED, INHERIT,
	// NO INHERIT, ATTACH PARTITION, DETACH PARTITION, OF, NOT OF, or the words of one
	// that turns something on or off, as ENABLE TRIGGER; Name is the trigger.
	AlterAction struct {
		Off
		Kind       string
		Name       string // column or constraint
		NewName    string
		IfExists   bool // also IF NOT EXISTS of ADD COLUMN
		Cascade    bool
		Column     *ColumnDef
		Constraint *Constraint
		Type       *TypeName
		Using      Expr
		Expr       Expr
		Options    []Option
		Other      *Name           // of INHERIT, NO INHERIT, ATTACH PARTITION, DETACH PARTITION, OF
		Bound      *PartitionBound // of ATTACH PARTITION; nil for an index
	}
	// AlterObject is ALTER of the other kinds: RENAME TO, OWNER TO, SET SCHEMA,
	// ADD VALUE of enums (Options), and so on.
	AlterObject struct {
		Off
		Kind        string // SCHEMA, DATABASE, TYPE, DOMAIN, FUNCTION, …
		Name        Name
		Args        []TypeName
		Action      string // RENAME, OWNER, SET SCHEMA, ADD VALUE, RENAME VALUE, SET, RESET, …
		NewName     string
		IfNotExists bool
		IfExists    bool // of ALTER STATISTICS
		Options     []Option
	}
	// Truncate is TRUNCATE.
	Truncate struct {
		Off
		Tables          []TableRef
		RestartIdentity bool
		Cascade         bool
	}
	// Comment is COMMENT ON, or SECURITY LABEL.
	Comment struct {
		Off
		Label    bool
		Provider string // of a label
		Kind     string // TABLE, COLUMN, INDEX, SCHEMA, …
		Name     Name   // for COLUMN: [schema.]table.column, up to 4 parts
		On       *Name  // CONSTRAINT c ON table
		Args     []TypeName
		Text     string
		Null     bool
	}
	// Grant is GRANT or REVOKE, kept as its parts.
	Grant struct {
		Off
		Revoke     bool
		Privileges []string   // upper case; empty for role grants: then Roles
		Cols       [][]string // of each privilege, nil for the whole object
		Roles      []string
		ObjKind    string // TABLE, SCHEMA, SEQUENCE, DATABASE, FUNCTION, ALL TABLES IN SCHEMA, …
		Objects    []Name
		Args       [][]TypeName // of functions; nil where none were written
		Grantees   []string
		GrantOpt   bool
		GrantedBy  string
		Cascade    bool
	}
	// AlterDefaults is ALTER DEFAULT PRIVILEGES; the grant's ObjKind is TABLES,
	// SEQUENCES, FUNCTIONS, TYPES or SCHEMAS, and it has no objects.
	AlterDefaults struct {
		Off
		Roles, Schemas []string
		Grant          *Grant
	}
	// Owned is REASSIGN OWNED (To is set) or DROP OWNED.
	Owned struct {
		Off
		Roles   []string
		To      string
		Cascade bool
	}
	// Refresh is REFRESH MATERIALIZED VIEW.
	Refresh struct {
		Off
		Name         Name
		Concurrently bool
		WithNoData   bool
	}
	// Unsupported is a statement that the parser recognises and nothing executes:
	// CREATE TRIGGER, CREATE RULE, CREATE POLICY …. What names it ("CREATE TRIGGER").
	Unsupported struct {
		Off
		What string
		Text string
	}
)

func (*CreateTable) stmt()     {}
func (*CreateIndex) stmt()     {}
func (*CreateView) stmt()      {}
func (*CreateSequence) stmt()  {}
func (*AlterSequence) stmt()   {}
func (*CreateSchema) stmt()    {}
func (*CreateDatabase) stmt()  {}
func (*CreateType) stmt()      {}
func (*CreateDomain) stmt()    {}
func (*CreateFunction) stmt()  {}
func (*CreateRole) stmt()      {}
func (*AlterRole) stmt()       {}
func (*CreateExtension) stmt() {}
func (*Drop) stmt()            {}
func (*DropDatabase) stmt()    {}
func (*AlterTable) stmt()      {}
func (*AlterObject) stmt()     {}
func (*Truncate) stmt()        {}
func (*Comment) stmt()         {}
func (*Grant) stmt()           {}
func (*AlterDefaults) stmt()   {}
func (*Owned) stmt()           {}
func (*Refresh) stmt()         {}
func (*Unsupported) stmt()     {}
