package catalog

import "kvsqld/catalog/types"

// Object is anything that has an OID, a name and an XML fragment of its own:
// *Database, *Schema, *Table, *Sequence, *View, *UserType, *Function, *Role.
// Objects are immutable once they are part of a Snapshot: a change makes a
// copy. Indexes and constraints live inside their Table.
type Object interface {
	ObjectOID() types.OID
	DatabaseOID() types.OID // 0 for databases and roles, which belong to the server
}

// Common is what every object has.
type Common struct {
	OID     types.OID
	DB      types.OID // OID of the database it lives in; 0 for server-wide objects
	Schema  string    // name of its schema; "" for databases, schemas and roles
	Name    string
	Owner   string
	Comment string
	ACL     ACL // nil: the default of the kind and the owner
	// Bindings tell what its texts mean; nil in objects that were made before they did.
	Bindings Bindings
}

// ObjectOID returns the OID.
func (c *Common) ObjectOID() types.OID { return c.OID }

// DatabaseOID returns the OID of the database the object lives in.
func (c *Common) DatabaseOID() types.OID { return c.DB }

// Database is a DataBase element.
type Database struct {
	Common
	Settings map[string]string // ALTER DATABASE … SET
	Defaults []DefaultPrivileges
	Notes    []SystemNote // in the order in which they were first made
	// ConnLimit is how many sessions there may be at a time, superusers apart, -1 for
	// any number. Nobody connects to a closed database; who may
	// create databases may copy a template.
	ConnLimit        int
	Closed, Template bool
	LargeObjects     LargeObjectFiles // none as long as there is no large object
}

// DefaultPrivileges are what new objects of a role get instead of the default:
// in every schema (Schema "", in place of the default), or in one (in addition).
type DefaultPrivileges struct {
	Role, Schema string
	Kind         ACLKind
	ACL          ACL
}

// Schema is a namespace.
type Schema struct{ Common }

// Role is a user or group.
type Role struct {
	Common
	Super, Login, CreateDB, CreateRole, Inherit, Replication, BypassRLS bool
	Verifier                                                            string // SCRAM verifier, "" for none; never logged
	ConnLimit                                                           int
	MemberOf                                                            []string
	AdminOf                                                             []string // those of MemberOf that it may grant on
	ValidUntil                                                          int64    // of the password, microseconds since 2000 in UTC; 0 for ever
	Settings                                                            map[string]string
	InDatabase                                                          map[string]map[string]string // settings in one database, by its name

	// Of the first superuser: the settings of all roles, and what the server keeps about
	// objects of its own, tablespaces and parameters.
	Everybody map[string]string
	Notes     []SystemNote
}

// SpaceID names a key-value file (a bucket). Zero is none.
type SpaceID uint64

// Table is a base table: a master file and its index files.
type Table struct {
	Common
	RowType types.OID // pg_type row of the table's row type
	// RowArray is that of the row type's array type; 0 in tables of stores made
	// before row types had one.
	RowArray types.OID
	Space    SpaceID
	File     string // fileName: the bucket's name inside the database's bucket
	// Columns in attnum order; dropped columns keep their place (attnum is index + 1).
	Columns []Column
	// PK lists the columns (indexes into Columns) of the primary key; empty: rows
	// have a hidden 8-byte row number as key.
	PK          []int
	Indexes     []*Index // including the primary key's, which has no file of its own unless Cluster is set
	Uniques     []*Unique
	Checks      []*Check
	ForeignKeys []*ForeignKey
	Temp        bool // lives in memory until the session ends
	Unlogged    bool // was asked for; its rows are as safe as any
	Options     Options
	Layout      string // LayoutRow or LayoutColumn
	// Groups are the attribute files: all columns outside of the primary key in the
	// column layout, and those stored by elements in any.
	Groups  []ColumnGroup
	Cluster *Cluster
	// Parents are the tables that it inherits from, or the one that it is a
	// partition of; Bound is set for partitions, Key for partitioned tables.
	Parents []types.OID
	Bound   *PartBound
	Key     *PartKey
	// OfType is the composite type that a typed table has its columns of, or 0.
	OfType types.OID
	// ReplicaIdentity is f FULL, n NOTHING, i that of an index, or 0 for the
	// default; it is only shown.
	ReplicaIdentity byte
	// RowSecurity makes the table's policies count, ForceRowSecurity for its owner too.
	RowSecurity, ForceRowSecurity bool
	// SystemGrants are the privileges on system columns that have any.
	SystemGrants []SystemGrant
	// Rewrites counts how often values of all rows were computed anew: rows of a state
	// before do not have what the columns say now.
	Rewrites int
}

// SystemGrant is the ACL of a system column.
type SystemGrant struct {
	Column string
	ACL    ACL
}

// Column is an attribute.
type Column struct {
	Name    string
	Type    types.T
	NotNull bool
	// Default is the SQL text of the default expression ("" for none); for
	// generated columns the generation expression.
	Default   string
	Generated bool
	Identity  byte      // 'a' ALWAYS, 'd' BY DEFAULT, 0 none
	Sequence  types.OID // owned sequence of serial and identity columns
	Dropped   bool
	// Missing is what rows written before the column was added have (NULL when nil).
	Missing *types.Datum
	Comment string
	// DefaultCols are the columns that a generation expression reads, DefaultDeps
	// the sequences, functions and types that the default needs.
	DefaultCols []int
	DefaultDeps []types.OID
	Dims        int // attndims
	// Storage is StorageElements, or the strategy of SET STORAGE, which is only
	// shown, as Compression and Options are; "" is the type's.
	Storage     string
	Compression string  // "" for the default method
	Options     Options // of SET (n_distinct = …)
	StatTarget  int     // of SET STATISTICS; 0: the default, -1: no statistics
	Collation   string  // that COLLATE named; "" is the type's
	ACL         ACL     // nil: none
	Inherited
}

// Inherited tells where a column or a check of a table with parents comes from.
type Inherited struct {
	Parents  int  // how many parents have it
	NotLocal bool // the table has it from its parents alone
}

// Index is an index of a table.
type Index struct {
	OID     types.OID
	Name    string
	Comment string
	Space   SpaceID // 0 for a primary key whose file is the master file
	File    string
	Unique  bool
	Primary bool
	Kind    string // KindBtree, …
	Keys    []IndexKey
	Include []int  // column indexes
	Where   string // predicate's SQL text, "" for none
	// ExprCols are the columns that the predicate and the expressions read.
	ExprCols []int
	// Constraint is the OID of the UNIQUE or PRIMARY KEY constraint it serves, or 0.
	Constraint       types.OID
	NullsNotDistinct bool
	Invalid          bool // rows may lack their entries: it is not read
	// Unready tells that writers take entries away but make none: the first state of an
	// index that is made beside them, which is Invalid as well.
	Unready bool
	// Clustered and Identity mark the index that CLUSTER ON and REPLICA IDENTITY
	// named, Options are those of WITH (fillfactor = …); they are only shown.
	Clustered, Identity bool
	Options             Options
	// ByLength keeps ranges with whole numbers as bounds by their length (see
	// types.KeptByLength), so that those are found that overlap one.
	ByLength bool
	Parent   types.OID // the index of the partitioned table that it is a part of, or 0
}

// The kinds of an index, as USING names them.
const (
	// KindBtree has an entry for each row under search key and row key.
	KindBtree = "btree"
	// KindHash is KindBtree under PostgreSQL's name, for equality alone.
	KindHash = "hash"
	// KindInverted has a list of row keys for each search key; of an array or jsonb
	// column for each element.
	KindInverted = "inverted"
	// KindGin is KindInverted under PostgreSQL's name, for arrays and jsonb alone.
	KindGin = "gin"
	// KindGist, KindSpgist and KindBrin are KindBtree under PostgreSQL's names.
	KindGist, KindSpgist, KindBrin = "gist", "spgist", "brin"
)

// IsIndexMethod tells the access methods of indexes.
func IsIndexMethod(name string) bool {
	switch name {
	case KindBtree, KindHash, KindInverted, KindGin, KindGist, KindSpgist, KindBrin:
		return true
	}
	return false
}

// IndexKey is a column or an expression of an index.
type IndexKey struct {
	Col        int    // index into Table.Columns; -1 for an expression
	Expr       string // SQL text of the expression
	Name       string // what the index calls the column, where that is not the column's name or the function that the expression calls
	Type       types.T
	Desc       bool
	NullsFirst bool
	Opclass    string // "" for the type's default
	Collation  string // that COLLATE named, where it is not that of the column or expression
	StatTarget int    // of an expression, as a Column has it; it is only shown
}

// Unique is a UNIQUE, PRIMARY KEY or EXCLUDE constraint, enforced by an index.
type Unique struct {
	OID               types.OID
	Name              string
	Primary           bool
	Cols              []int
	Index             types.OID
	Deferrable        bool
	InitiallyDeferred bool
	Comment           string
	Parent            types.OID // the constraint of the partitioned table that it is a part of, or 0
	Derived           bool      // was made for such a constraint, and has not become its part; only shown
	// Exclude are the built-in operators of an EXCLUDE constraint, one for each key of
	// the index: no two rows may have keys for which all of them are true.
	Exclude []string
}

// Check is a CHECK constraint.
type Check struct {
	OID       types.OID
	Name      string
	Expr      string // SQL text
	Cols      []int  // columns that the expression reads, in the order in which it does
	NotValid  bool
	NoInherit bool
	Comment   string
	Inherited
}

// ForeignKey is a FOREIGN KEY constraint. Actions are PostgreSQL's codes:
// a NO ACTION, r RESTRICT, c CASCADE, n SET NULL, d SET DEFAULT; match s or f.
type ForeignKey struct {
	OID                types.OID
	Name               string
	Cols               []int
	RefTable           types.OID
	RefCols            []int
	RefIndex           types.OID // the referenced unique index
	OnDelete, OnUpdate byte
	DelCols            []int
	Match              byte
	Deferrable         bool
	InitiallyDeferred  bool
	NotValid           bool
	Comment            string
	Parent             types.OID // the constraint of the partitioned table that it is a part of, or 0
	Targets            []FKTarget
	Unchecked          bool // DISABLE TRIGGER ALL of its table: values that are written are not looked up
	Unwatched          bool // DISABLE TRIGGER ALL of the referenced table: removed values are not looked for, nothing cascades
}

// Sequence is a sequence's definition; its current value is stored under its
// OID in the sequences file, outside transactions.
type Sequence struct {
	Common
	Type                        types.T
	Start, Inc, Min, Max, Cache int64
	Cycle                       bool
	OwnerTable                  types.OID // 0: not owned
	OwnerCol                    int       // index into the table's Columns
	Temp                        bool
	Unlogged                    bool // was asked for; its values are as safe as any
	Identity                    bool // made for an identity column
}

// View is a view or a materialized view's definition.
type View struct {
	Common
	RowType      types.OID
	RowArray     types.OID // the row type's array type, as a Table's
	Query        string    // the SELECT, deparsed
	Columns      []Column
	Materialized *Table // rows of a materialized view; nil for a plain view
	Populated    bool
	CheckOption  string
	Options      Options
	// MadeAliases are the aliases in the query that nobody wrote: relations without one that
	// had the name of another entry. They follow when the relation is renamed.
	MadeAliases []string
	// Deps are the OIDs of the relations that the query reads.
	Deps []types.OID
	// ColDeps are the columns that it reads; one with the column -1 says that of the
	// relation it reads none. A relation of Deps without an entry here is needed
	// with all of its columns.
	ColDeps []ColRef
	Temp    bool
}

// ColRef is a column of a relation.
type ColRef struct {
	Rel types.OID
	Col int // index into the relation's columns
}

// UserType is an enum, a domain, a composite type, a range type or its multirange
// type.
type UserType struct {
	Common
	Kind   byte // 'e' enum, 'd' domain, 'c' composite, 'r' range, 'm' multirange
	Array  types.OID
	Labels []EnumLabel
	Base   types.T // of a domain
	// Collation is what a domain's columns and values have, that of the domain below
	// included; "" is the base type's.
	Collation string
	NotNull   bool
	Default   string
	Checks    []*Check
	Columns   []Column // of a composite type
	RelOID    types.OID
	Range     *RangeDef // of a range or multirange type
}

// RangeDef is what a range type is made of; a multirange type has the first two.
type RangeDef struct {
	Subtype   types.T   // of the bounds
	Pair      types.OID // a range type's multirange type, a multirange type's range type
	Opclass   types.OID
	Collation string    // "" is the subtype's
	Diff      types.OID // of subtype_diff, 0 for none; kept and shown
}

// CheckNamed returns the domain's check of that name, or nil.
func (u *UserType) CheckNamed(name string) *Check {
	for _, k := range u.Checks {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// EnumLabel is a value of an enum.
type EnumLabel struct {
	OID   types.OID
	Label string
	Order float64
}

// Function is a SQL-language function or procedure.
type Function struct {
	Common
	Args      []types.T // all of them, those of a result table included
	ArgNames  []string  // nil when no argument has a name
	ArgModes  []byte    // i o b v t; nil when all are IN
	Ret       types.T
	RetSet    bool
	Volatile  byte // i s v
	Strict    bool
	Procedure bool
	Language  string
	Body      string
	// Standard tells that Body is RETURN … or BEGIN ATOMIC … END with the names
	// of its objects bound, and not the text of statements.
	Standard bool
	Defaults []string // of the last input arguments
	// Cost and Rows are the planner's estimates; Definer, LeakProof and Parallel
	// are kept and shown.
	Cost, Rows         float64
	Definer, LeakProof bool
	Parallel           byte // s r u
	// Config are the parameters that calls set, as name=value.
	Config []string
	// Agg makes the function an aggregate, which has no body; nil otherwise.
	Agg *AggregateDef
	// Window makes it a window function, in the language internal.
	Window bool
	// RangeType makes the function a constructor of a range or multirange type, which
	// it comes and goes with: its body is the name of a built-in implementation.
	RangeType types.OID
	// Extension is the name of the extension that the function is a member of.
	Extension string
}

// LanguageSQL is the language of functions whose body is statements.
const LanguageSQL = "sql"

// LanguageInternal is the language of functions whose body names a built-in
// implementation.
const LanguageInternal = "internal"

// Internal returns the built-in function that implements one in the language
// internal, or nil.
func (f *Function) Internal() *Proc {
	if f.Language != LanguageInternal || f.Agg != nil || f.RangeType != 0 {
		return nil
	}
	var args []types.OID
	for _, t := range f.inputs() {
		args = append(args, t.OID)
	}
	p, _ := InternalProc(f.Body, args, f.Kind())
	if p == nil || p.Ret != f.Ret.OID || p.RetSet != f.RetSet {
		return nil
	}
	return p
}

// Kind is the function's prokind: f, p procedure, a aggregate, w window function.
func (f *Function) Kind() byte {
	switch {
	case f.Procedure:
		return 'p'
	case f.Agg != nil:
		return 'a'
	case f.Window:
		return 'w'
	}
	return 'f'
}

// AggregateDef says how an aggregate is computed: Trans makes the next state of a
// state and the arguments, Final the result of the last state (0: the state is the
// result).
type AggregateDef struct {
	Trans, Final types.OID
	Combine      types.OID // kept and shown
	SortOp       types.OID // kept and shown
	State        types.T
	Init         *string // text of the first state; nil: NULL
}

// Uses lists the functions that the aggregate calls.
func (a *AggregateDef) Uses() []types.OID {
	return []types.OID{a.Trans, a.Final, a.Combine}
}

// defaultCost is the cost of a function that says nothing of it.
const defaultCost = 100

// defaultRows is the number of rows of a function that says nothing of it.
func (f *Function) defaultRows() float64 {
	if f.RetSet {
		return 1000
	}
	return 0
}

// Mode returns the mode of an argument: i o b v t.
func (f *Function) Mode(i int) byte {
	if i < len(f.ArgModes) {
		return f.ArgModes[i]
	}
	return 'i'
}

// Relation is what a name in FROM can mean: *Table, *View, *Sequence or
// *Virtual.
type Relation interface {
	Object
	RelName() (schema, name string)
	RelColumns() []Column
}

// Virtual is a declared relation (pg_catalog, information_schema): its rows are
// computed from the catalog by the provider that registered it.
type Virtual struct {
	Common
	RowType types.OID
	Columns []Column
	// Keys lists column index sets by which Rows can look rows up cheaply.
	Keys [][]int
	View bool // relkind v
}

// RelName returns the schema and the name.
func (c *Common) RelName() (string, string) { return c.Schema, c.Name }

// RelColumns returns the columns in attnum order.
func (t *Table) RelColumns() []Column { return t.Columns }

// RelColumns returns the columns of the view.
func (v *View) RelColumns() []Column { return v.Columns }

// RelColumns returns last_value, log_cnt and is_called.
func (s *Sequence) RelColumns() []Column { return sequenceColumns }

// RelColumns returns the declared columns.
func (v *Virtual) RelColumns() []Column { return v.Columns }

var sequenceColumns = []Column{
	{Name: "last_value", Type: types.TInt8, NotNull: true},
	{Name: "log_cnt", Type: types.TInt8, NotNull: true},
	{Name: "is_called", Type: types.TBool, NotNull: true},
}

// IndexByOID returns the table's index, or nil.
func (t *Table) IndexByOID(o types.OID) *Index {
	for _, ix := range t.Indexes {
		if ix.OID == o {
			return ix
		}
	}
	return nil
}

// PrimaryIndex returns the primary key's index, or nil.
func (t *Table) PrimaryIndex() *Index {
	for _, ix := range t.Indexes {
		if ix.Primary {
			return ix
		}
	}
	return nil
}

// Deferrable reports whether the index is that of a deferrable constraint, whose
// keys may occur more than once until the constraint is checked.
func (t *Table) Deferrable(ix *Index) bool {
	if ix == nil {
		return false
	}
	for _, u := range t.Uniques {
		if u.Index == ix.OID {
			return u.Deferrable
		}
	}
	return false
}

// Exclusion returns the EXCLUDE constraint that an index is of, or nil.
func (t *Table) Exclusion(ix *Index) *Unique {
	for _, u := range t.Uniques {
		if u.Index == ix.OID && u.Exclude != nil {
			return u
		}
	}
	return nil
}

// Col returns the index of the live column of that name, or -1.
func (t *Table) Col(name string) int {
	for i := range t.Columns {
		if !t.Columns[i].Dropped && t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}
