// Package ddl executes the statements that change the catalog.
//
// In: a syntax tree and the transaction's catalog.Change. Out: a command tag;
// the change's working snapshot has the new objects, and the key-value
// transaction has their files, filled and checked. Nothing is visible to
// others before the session commits both together.
//
// Invariant: after every statement the files of the transaction are those of
// the working snapshot (reconcile compares the two snapshots), so catalog and
// buckets agree at each commit.
package ddl

import (
	"context"
	"errors"
	"slices"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// Env is what the session lends to one DDL statement.
type Env struct {
	Ctx    context.Context
	Change *catalog.Change
	Txn    kv.Txn
	Tables *table.DB
	User   string
	// SessionUser is what User is without SET ROLE.
	SessionUser string
	// Path is the search path without the implicit schemas; the first existing
	// schema is where new objects go. Temp is the session's temporary schema.
	Path []string
	Temp string
	// UsesTemp is told that something is made there.
	UsesTemp func()
	// LockTimeout is how long table locks are waited for; 0 waits for ever.
	LockTimeout time.Duration
	// Inside runs f as the owner of a schema that comes first in the search path, which
	// f is told.
	Inside func(schema, owner string, f func(path []string) error) error
	// MayRun checks the current role's rights on what a plan uses. Exec does not ask: what
	// a definition runs of its own needs none.
	MayRun func(q *plan.Query) error
	// As runs f as another role.
	As func(role string, f func() error) error
	// Planner makes a planner context over the change's working snapshot.
	Planner func() *planner.Context
	// Exec makes a run of a plan in this transaction, over the working snapshot.
	Exec func(q *plan.Query) (*executor.Run, error)
	// Eval is the environment for expressions; a fresh one per call.
	Eval func() *expr.Env
	// QueryText lays a query out as text.
	QueryText planner.QueryWriter
	// FirstTrigger is the name of the first of the triggers that a table has for its
	// foreign keys.
	FirstTrigger func(table types.OID) string
	// BodyText does the same with the body of a function.
	BodyText planner.BodyWriter
	// BodiesUnchecked is check_function_bodies = off: the text of a function's body is
	// taken as it is, as what it names may come later.
	BodiesUnchecked bool
	// Configured runs f with the parameters that a function's SET options give.
	Configured func(fn *catalog.Function, f func() error) error
	// Text is the whole statement's text, for expressions kept as written.
	Text string
	// Notice sends a notice to the client.
	Notice func(*sqlerr.Error)
	// Unfilled is told of the index that CREATE INDEX CONCURRENTLY has made and the
	// caller fills; nil: it is made like any other.
	Unfilled func(index types.OID)
	// Beside has what a definition needs that copies rows while others write; nil where
	// the statement is not alone in its transaction.
	Beside *Beside
	// Filled is told of the rows that a new relation was made with.
	Filled func(table types.OID, rows int64)
	// Emptied is told of a table that TRUNCATE has emptied; nil: nobody counts rows.
	Emptied func(table types.OID)
	// Moved reports whether others have changed a relation since the state of the
	// catalog that Change stands on; nil: nobody can.
	Moved func(relation types.OID) bool
	// Newest returns the catalog that is published; nil: nobody else changes it.
	Newest func() *catalog.Snapshot
	// Unused fails with 55006 if the session itself still uses a table that is locked
	// for the command: with an open cursor, or with checks that wait for the commit,
	// which name its files and constraints as they are.
	Unused func(t *catalog.Table, command string) error
	// Unread is Unused for an index alone, and open cursors.
	Unread func(ix *catalog.Index, command string) error
	// Checked is Unused for the checks alone: for what cursors do not notice.
	Checked func(t *catalog.Table, command string) error
	// NewerIndex says that a table has got an index with rows, or without rows, that
	// the transaction's snapshot does not have, or has; or a file of a column that lacks
	// rows of that snapshot.
	NewerIndex func(table types.OID)
	// Restart sets where a sequence stands, for others with the commit, when they drop
	// the values that they keep.
	Restart func(q types.OID, last int64, called bool)
	// Unkept drops the values of a sequence that the session itself keeps, at once.
	Unkept func(q types.OID)
	// LastValue tells where a sequence stands; nil: nobody has drawn from it.
	LastValue func(q *catalog.Sequence) (last int64, called bool, err error)
	// Address finds an object as pg_get_object_address does.
	Address func(kind string, names, args []string) (class, oid types.OID, sub int, err error)
	// LargeObjects is nil where there are none.
	LargeObjects LargeObjects
	// Vacate waits a while until no other session is in a database, and returns how
	// many are left; with force it ends them.
	Vacate func(db types.OID, force bool) (int, error)
	// Setting checks the value that SET gives a parameter and returns its text.
	Setting func(*ast.SetVar) (string, error)
	// Verifier makes a SCRAM verifier of a password, "" of the empty one.
	Verifier func(password string) (string, error)
}

// ErrMoved: a table was changed by others while its lock was waited for. What the
// statement has done is to be rolled back, and it runs again, over the catalog as it
// is now; the lock stays.
var ErrMoved = errors.New("a table was changed while its lock was waited for")

// Execute runs one statement and returns its command tag. Errors are
// *sqlerr.Error values, or ErrMoved; the session then rolls back to its savepoint.
func Execute(e *Env, stmt ast.Stmt) (tag string, err error) {
	mark := e.Change.Mark()
	before := e.Change.Snapshot()
	e.Change.Notice = e.Notice
	e.Change.Uses = func(t catalog.StoredText) []types.OID { return planner.TextUses(e.Planner(), t) }
	e.Change.Calls = func(t catalog.StoredText, s *catalog.Snapshot) catalog.Calls {
		c := *e.Planner()
		c.Snap = s
		return planner.TextCalls(&c, t)
	}
	e.Change.Retext = func(t catalog.StoredText, before, after *catalog.Snapshot) (string, error) {
		c := *e.Planner()
		c.Snap = before
		return planner.Retext(&c, t, after, e.QueryText, e.BodyText)
	}
	e.Change.BodyReads = func(f *catalog.Function, rel types.OID) []int { return planner.BodyReads(e.Planner(), f, rel) }
	x := &exec{Env: e, before: before}
	if tag, err = x.run(stmt); err != nil {
		return "", err
	}
	if x.done {
		return tag, nil
	}
	switch stmt.(type) {
	case *ast.AlterTable:
		err = x.followRowTypes(stmt.Pos())
	case *ast.Drop, *ast.Owned:
		err = x.followAttributes(stmt.Pos())
	}
	if err != nil {
		return "", err
	}
	if err := x.countRewrites(); err != nil {
		return "", err
	}
	if err := x.holdDropped(before, e.Change.Snapshot()); err != nil {
		return "", err
	}
	if err := x.holdObjects(mark); err != nil {
		return "", err
	}
	if err := x.holdNames(mark); err != nil {
		return "", err
	}
	if err := x.reconcile(before, e.Change.Snapshot()); err != nil {
		return "", err
	}
	for _, f := range x.after {
		if err := f(); err != nil {
			return "", err
		}
	}
	return tag, nil
}

// holdObjects takes the right to change the objects that the statement changes or drops,
// as defining does for tables before anything else: schemas, functions, roles and others
// have no locks of their own. ErrMoved if others have changed one of them since the
// state of the catalog that the statement stands on.
func (x *exec) holdObjects(since catalog.ChangeMark) error {
	if x.Moved == nil {
		return nil
	}
	objects := x.Change.Changed(since)
	if err := table.LockObjects(x.Ctx, x.Txn, x.lockOpt(), objects); err != nil {
		return err
	}
	if slices.ContainsFunc(objects, x.Moved) {
		return ErrMoved
	}
	return nil
}

// holdNames makes sure that no other transaction gives the names that the statement
// gave: it waits for one that has and is not committed, and fails if it is.
func (x *exec) holdNames(since catalog.ChangeMark) error {
	if x.Newest == nil {
		return nil
	}
	names := x.Change.NewNames(since)
	if len(names) == 0 {
		return nil
	}
	keys := make([]string, len(names))
	for i := range names {
		keys[i] = names[i].Key()
	}
	if err := table.LockNames(x.Ctx, x.Txn, x.lockOpt(), keys); err != nil {
		return err
	}
	newest := x.Newest()
	for i := range names {
		if err := names[i].Taken(newest); err != nil {
			return err
		}
	}
	return nil
}

// Handles reports whether the statement is one that Execute runs.
func Handles(stmt ast.Stmt) bool {
	switch stmt.(type) {
	case *ast.CreateTable, *ast.CreateIndex, *ast.CreateView, *ast.CreateSequence, *ast.AlterSequence, *ast.CreateSchema,
		*ast.CreateType, *ast.CreateDomain, *ast.CreateFunction, *ast.CreateAggregate, *ast.CreateOperator, *ast.CreateCast, *ast.CreatePolicy, *ast.CreateStatistics, *ast.CreateRole, *ast.AlterRole, *ast.CreateExtension,
		*ast.Drop, *ast.AlterTable, *ast.AlterObject, *ast.Truncate, *ast.Comment, *ast.Grant, *ast.Refresh,
		*ast.CreateDatabase, *ast.DropDatabase, *ast.AlterDefaults, *ast.Owned:
		return true
	}
	return false
}

// exec is one statement's execution.
type exec struct {
	*Env
	before   *catalog.Snapshot
	after    []func() error // run when the files are there: filling and checking
	rewrites map[types.OID]rewrite
	done     bool               // files follow the catalog already
	unfilled types.OID          // the index that is to be filled later
	level    kv.TableLockMode   // the lock of the ALTER TABLE that runs; 0: AccessExclusive
	moved    map[types.OID]bool // tables whose rows get other files while others write
	only     bool               // ALTER TABLE ONLY
	ofType   types.OID          // whose change its typed tables follow just now
	retyped  []retyped          // by ALTER TABLE
	merging  bool               // a key that is there twice is the fault of a row, not of the index
}

// rewrite says how the rows of a table are computed anew.
type rewrite struct {
	// cols maps the new table's live columns to expressions over the old one's;
	// nil entries copy the column of the same number.
	cols map[int]plan.Expr
	// generated are the columns that are computed anew by their generation
	// expressions, over the new row.
	generated map[int]bool
	turn      int // tables are rewritten in the order in which this was asked for, from 1
	// place tells that the table has another place in a region-clustered file, or
	// none any more.
	place bool
	// renumber gives the OIDs in values that are copied into another database; nil
	// keeps them.
	renumber func(types.OID) types.OID
	// renewTids tells that tids may be in the form of an older format.
	renewTids bool
}

func (x *exec) snap() *catalog.Snapshot { return x.Change.Snapshot() }

// typeName is a type's name as messages give it.
// typeName is how messages name a type, with its modifier if it has one.
func (x *exec) typeName(t types.T) string {
	if t.Mod < 0 {
		return x.snap().FormatTypeNoMod(t.OID, x.db(), x.Change.Path)
	}
	return x.snap().FormatType(t, x.db(), x.Change.Path)
}

func (x *exec) db() types.OID { return x.Change.DB }

func (x *exec) run(stmt ast.Stmt) (string, error) {
	if err := x.authorize(stmt); err != nil {
		return "", err
	}
	switch s := stmt.(type) {
	case *ast.CreateTable:
		x.warnGlobal(s.Global)
		return x.createTable(s)
	case *ast.CreateIndex:
		return "CREATE INDEX", x.createIndex(s)
	case *ast.CreateView:
		x.warnGlobal(s.Global)
		return x.createView(s)
	case *ast.Refresh:
		return "REFRESH MATERIALIZED VIEW", x.refresh(s)
	case *ast.CreateSequence:
		x.warnGlobal(s.Global)
		return "CREATE SEQUENCE", x.createSequence(s)
	case *ast.AlterSequence:
		return "ALTER SEQUENCE", x.alterSequence(s)
	case *ast.CreateSchema:
		return "CREATE SCHEMA", x.createSchema(s)
	case *ast.CreateDatabase:
		return "CREATE DATABASE", x.createDatabase(s)
	case *ast.DropDatabase:
		return "DROP DATABASE", x.dropDatabase(s)
	case *ast.CreateType:
		return "CREATE TYPE", x.createType(s)
	case *ast.CreateDomain:
		return "CREATE DOMAIN", x.createDomain(s)
	case *ast.CreateFunction:
		return x.createFunction(s)
	case *ast.CreateAggregate:
		return "CREATE AGGREGATE", x.createAggregate(s)
	case *ast.CreateOperator:
		return "CREATE OPERATOR", x.createOperator(s)
	case *ast.CreateCast:
		return "CREATE CAST", x.createCast(s)
	case *ast.CreatePolicy:
		if s.Alter {
			return "ALTER POLICY", x.createPolicy(s)
		}
		return "CREATE POLICY", x.createPolicy(s)
	case *ast.CreateStatistics:
		return "CREATE STATISTICS", x.createStatistics(s)
	case *ast.CreateRole:
		return x.createRole(s)
	case *ast.AlterRole:
		return "ALTER ROLE", x.alterRole(s)
	case *ast.CreateExtension:
		return "CREATE EXTENSION", x.createExtension(s)
	case *ast.Drop:
		tag := "DROP " + s.Kind
		if s.Kind == "USER" || s.Kind == "GROUP" {
			tag = "DROP ROLE"
		}
		return tag, x.drop(s)
	case *ast.AlterTable:
		return "ALTER " + s.Kind, x.alterTable(s)
	case *ast.AlterObject:
		tag := "ALTER " + s.Kind
		if s.Kind == "GROUP" {
			tag = "ALTER ROLE"
		}
		return tag, x.alterObject(s)
	case *ast.Truncate:
		return "TRUNCATE TABLE", x.truncate(s)
	case *ast.Comment:
		return "COMMENT", x.comment(s)
	case *ast.Grant:
		tag := "GRANT"
		if s.Revoke {
			tag = "REVOKE"
		}
		if len(s.Roles) > 0 {
			tag += " ROLE"
		}
		return tag, x.grant(s)
	case *ast.AlterDefaults:
		return "ALTER DEFAULT PRIVILEGES", x.alterDefaults(s)
	case *ast.Owned:
		if s.To != "" {
			return "REASSIGN OWNED", x.owned(s)
		}
		return "DROP OWNED", x.owned(s)
	}
	if u, ok := stmt.(*ast.Unsupported); ok { // an element of CREATE SCHEMA
		return "", sqlerr.Unsupported(u.Pos(), "%s", u.What)
	}
	return "", sqlerr.Unsupported(stmt.Pos(), "this statement")
}

// changing is for definitions that nobody else meets, as GRANT. Objects that are no
// tables and no sequences have no lock.
func (x *exec) changing(o catalog.Object) error {
	switch o := o.(type) {
	case *catalog.Table:
		return x.defining(o)
	case *catalog.Sequence:
		return x.definingSequence(o)
	}
	return nil
}

// unused is Env.Unused, for who has one.
func (x *exec) unused(t *catalog.Table, command string) error {
	if x.Unused == nil {
		return nil
	}
	return x.Unused(t, command)
}

// checked is Env.Checked, for who has one.
func (x *exec) checked(t *catalog.Table, command string) error {
	if x.Checked == nil {
		return nil
	}
	return x.Checked(t, command)
}

func (x *exec) lockOpt() kv.LockOpt {
	o := kv.LockOpt{Wait: kv.WaitForever}
	if x.LockTimeout > 0 {
		o.Wait = x.LockTimeout
	}
	return o
}
