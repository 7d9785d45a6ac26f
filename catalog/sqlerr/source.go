package sqlerr

import (
	"path"
	"runtime"
	"strings"
)

// Raise returns e as an error that was raised by the caller.
func Raise(e Error) *Error {
	e.raised = caller()
	return &e
}

// caller is where the function that calls caller's caller is.
func caller() uintptr {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	return pc[0]
}

// Source returns where the error was raised, the fields F, L and R of ErrorResponse: the
// file and the line, empty and 0 if nobody noted them, and the routine. That is the one in
// which PostgreSQL 15 raises the error where that is known, since applications tell errors
// by it, and the file's own function elsewhere.
func (e *Error) Source() (file string, line int, routine string) {
	if e.raised != 0 {
		at, _ := runtime.CallersFrames([]uintptr{e.raised}).Next()
		file, line = path.Base(at.File), at.Line
		_, routine, _ = strings.Cut(path.Base(at.Function), ".")
	}
	if e.Routine != "" {
		return file, line, e.Routine
	}
	for _, r := range routines[e.Code] {
		if strings.Contains(e.Message, r.says) {
			return file, line, r.name
		}
	}
	return file, line, routine
}

// raisedIn is a routine of PostgreSQL that raises the errors whose message has some words.
type raisedIn struct{ says, name string }

// routines are those of PostgreSQL 15 by SQLSTATE; the first whose words the message has
// counts.
var routines = map[Code][]raisedIn{
	UniqueViolation:     {{"could not create unique index", "comparetup_index_btree"}, {"", "_bt_check_unique"}},
	ForeignKeyViolation: {{"", "ri_ReportViolation"}},
	NotNullViolation:    {{"domain ", "ExecEvalConstraintNotNull"}, {"", "ExecConstraints"}},
	CheckViolation: {
		{"value for domain", "ExecEvalConstraintCheck"}, {"no partition of relation", "ExecFindPartition"},
		{"check option", "ExecWithCheckOptions"}, {"violates partition constraint", "ExecPartitionCheckEmitError"}, {"", "ExecConstraints"},
	},
	ExclusionViolation: {{"", "check_exclusion_or_unique_constraint"}},

	UndefinedTable: {
		{"missing FROM-clause entry", "errorMissingRTE"}, {"invalid reference to FROM-clause entry", "errorMissingRTE"},
		{"relation ", "parserOpenTable"}, {"", "DropErrorMsgNonExistent"},
	},
	UndefinedColumn:    {{" of relation ", "checkInsertTargets"}, {"", "errorMissingColumn"}},
	UndefinedFunction:  {{"operator ", "op_error"}, {"function ", "ParseFuncOrColumn"}},
	UndefinedParameter: {{"", "transformParamRef"}},
	UndefinedObject: {
		{"unrecognized configuration parameter", "find_option"}, {"type ", "typenameType"}, {"role ", "get_role_oid"},
	},
	InvalidSchemaName:  {{"schema ", "get_namespace_oid"}},
	InvalidCatalogName: {{"database ", "InitPostgres"}},
	DuplicateTable:     {{"", "heap_create_with_catalog"}},
	DuplicateColumn:    {{" of relation ", "check_for_column_name_collision"}},
	DuplicateSchema:    {{"", "NamespaceCreate"}},
	DuplicateDatabase:  {{"", "createdb"}},
	DuplicateObject:    {{"role ", "CreateRole"}},
	DuplicateAlias:     {{"", "checkNameSpaceConflicts"}},
	AmbiguousColumn:    {{"", "colNameToVar"}},
	DatatypeMismatch:   {{"cannot be matched", "select_common_type"}},
	GroupingError: {
		{"must appear in the GROUP BY clause", "check_ungrouped_columns_walker"},
		{"cannot be nested", "check_agg_arguments"}, {"aggregate functions are not allowed", "check_agglevels_and_constraints"},
	},
	SyntaxError:                {{"syntax error at", "scanner_yyerror"}, {"more expressions than target columns", "transformInsertRow"}},
	InsufficientPrivilege:      {{"permission denied", "aclcheck_error"}, {"must be owner", "aclcheck_error"}},
	DependentObjectsStillExist: {{"because other objects depend on it", "reportDependentObjects"}},

	InvalidTextRepresentation: {
		{"for type smallint", "pg_strtoint16"}, {"for type integer", "pg_strtoint32"}, {"for type bigint", "pg_strtoint64"},
		{"for type numeric", "set_var_from_str"}, {"for type double precision", "float8in_internal_opt_error"},
		{"for type real", "float4in_internal"}, {"for type uuid", "string_to_uuid"}, {"for type boolean", "boolin"},
		{"for type json", "json_ereport_error"}, {"for enum", "enum_in"}, {"malformed array literal", "array_in"},
	},
	InvalidDatetimeFormat: {{"invalid input syntax for type", "DateTimeParseError"}},
	DatetimeFieldOverflow: {{"date/time field value out of range", "DateTimeParseError"}},
	DivisionByZero:        {{"", "int4div"}},
	NumericValueOutOfRange: {
		{"out of range for type smallint", "pg_strtoint16"}, {"out of range for type integer", "pg_strtoint32"},
		{"out of range for type bigint", "pg_strtoint64"}, {"numeric field overflow", "apply_typmod"},
	},
	StringDataRightTruncation: {{"character varying", "varchar"}, {"for type character(", "bpchar"}},

	SerializationFailure: {
		{"due to concurrent delete", "ExecDelete"}, {"due to read/write dependencies", "OnConflict_CheckForSerializationFailure"}, {"", "ExecUpdate"},
	},
	DeadlockDetected:   {{"", "DeadLockReport"}},
	LockNotAvailable:   {{"lock timeout", "ProcessInterrupts"}, {"could not obtain lock on row", "heap_lock_tuple"}, {"", "RangeVarCallbackForLockTable"}},
	QueryCanceled:      {{"", "ProcessInterrupts"}},
	AdminShutdown:      {{"", "ProcessInterrupts"}},
	TooManyConnections: {{"", "InitProcess"}},
	InvalidPassword:    {{"", "auth_failed"}},

	InFailedSQLTransaction:     {{"", "exec_simple_query"}},
	ReadOnlySQLTransaction:     {{"", "PreventCommandIfReadOnly"}},
	NoActiveSQLTransaction:     {{"can only be used in transaction blocks", "CheckTransactionBlock"}},
	ActiveSQLTransaction:       {{"cannot run inside a transaction block", "PreventInTransactionBlock"}},
	InvalidSQLStatementName:    {{"", "FetchPreparedStatement"}},
	DuplicatePreparedStatement: {{"", "StorePreparedStatement"}},
	CardinalityViolation:       {{"used as an expression", "ExecSetParamPlan"}},
}
