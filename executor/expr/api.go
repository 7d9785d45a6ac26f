package expr

import (
	"context"
	"time"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// Eval is a compiled expression. The result is valid until the next call; only
// the rows that b selects are meaningful. It may be one of b's own columns or a
// constant vector. Not safe for concurrent use: compile once per goroutine.
type Eval interface {
	Eval(env *Env, b *vec.Batch) (*vec.Vec, error)
}

// Pred is a compiled condition. Select narrows b.Sel to the rows for which the
// condition is true; the new selection belongs to the Pred and is valid until
// the next call.
type Pred interface {
	Select(env *Env, b *vec.Batch) error
}

// Env is what expressions may see beside their input. One Env belongs to one
// goroutine; Fork makes a copy for another.
type Env struct {
	// Ctx ends waiting functions (pg_sleep, lock waits) and long loops; never nil.
	Ctx context.Context
	// Params are the statement's parameters, then the slots that subplans set.
	Params []types.Datum
	// Fmt are the session settings that text forms depend on; never nil.
	Fmt *types.FmtOpts
	// TxnStart and StmtStart are in microseconds since 2000-01-01 UTC.
	TxnStart, StmtStart int64
	// Clock is the wall clock; nil is time.Now.
	Clock func() time.Time
	// Session answers for everything outside of the values; nil in plans that
	// have no session, where such functions fail with 0A000.
	Session SessionInfo
	// RunSub runs a subplan after its parameters were set in env.Params, and
	// calls yield with each batch of rows until yield returns false. Hidden
	// columns come last. Set by the executor.
	RunSub func(env *Env, sub *plan.SubPlan, yield func(*vec.Batch) (bool, error)) error
	// CallSQL runs the body of a user-defined function (Proc.SQL) for one row of
	// arguments, and calls yield with each batch of rows of its last statement
	// until yield returns false. Set by the session.
	CallSQL func(env *Env, c *plan.Call, args []types.Datum, yield func(*vec.Batch) (bool, error)) error
	// Reads is what the statement reads if it is not the transaction's newest state,
	// for the bodies of stable functions. Set by the executor.
	Reads any
	// ReadsNothing tells that the statement reads no tables, so that the bodies of
	// functions may change whatever they want. Set by the session.
	ReadsNothing bool
	// Alloc accounts for memory that outlives a batch, in bytes (negative when
	// freed); nil does not count. An error ends the statement.
	Alloc func(bytes int64) error
	// Room asks whether there is memory for a value of so many bytes that a function
	// is about to make; nil does not ask. It may be called by several goroutines.
	Room func(bytes int64) error
	// Subs keeps the results of uncorrelated subplans; nil keeps none.
	Subs *SubCache
	// Consts keeps what EvalConst compiles; nil keeps nothing.
	Consts *Consts
}

// Fork returns an Env for another goroutine: its own parameters and caches.
func (env *Env) Fork() *Env {
	e := *env
	e.Params = append([]types.Datum(nil), env.Params...)
	e.Consts = nil
	if env.Subs != nil {
		e.Subs = new(SubCache)
	}
	return &e
}

// SessionInfo is what functions ask of the session that runs the statement.
// Errors are *sqlerr.Error values with PostgreSQL's codes and messages.
type SessionInfo interface {
	CurrentUser() string
	SessionUser() string
	Database() string
	// SearchPath lists the existing schemas of the search path; implicit adds
	// pg_catalog (and the temporary schema) where they are searched first.
	SearchPath(implicit bool) []string
	// Setting returns a run-time setting's text; false when there is none of that name,
	// 42501 when the role may not see it.
	Setting(name string) (string, bool, error)
	// SetSetting changes a setting, or resets it where there is no value, for the
	// transaction alone when local, and returns its new text.
	SetSetting(name string, value *string, local bool) (string, error)
	// BackendPID is the connection's process number, as in BackendKeyData.
	BackendPID() int32

	// Nextval and the others work on a sequence by its OID, which they lock: ctx ends
	// the wait for who changes it.
	Nextval(ctx context.Context, seq types.OID) (int64, error)
	Currval(ctx context.Context, seq types.OID) (int64, error)
	Lastval(ctx context.Context) (int64, error)
	Setval(ctx context.Context, seq types.OID, value int64, called bool) (int64, error)

	// RegIn resolves the text of a reg* type (regclass, regtype, regproc …)
	// to an OID: 42P01, 42704, 42883 … when there is no such object.
	RegIn(t types.T, s string) (types.OID, error)
	// RegStored is RegIn for the text of a definition, whose schemas the role need not be
	// allowed to use.
	RegStored(t types.T, s string) (types.OID, error)
	// RegFind is RegIn with 0 for the name of nothing.
	RegFind(t types.OID, s string) (types.OID, error)
	// RegOut is the text of a reg* value; "-" for 0, the number when unknown.
	RegOut(t types.T, o types.OID) string

	// Catalog answers a function of the system information families whose
	// answer is the catalog's or the server's; src is its prosrc.
	// Arguments are not NULL where the function is strict.
	Catalog(src string, args []types.Datum, ret types.T) (types.Datum, error)
	// CatalogRows is Catalog for set-returning functions: one datum per column.
	CatalogRows(src string, args []types.Datum, cols []types.T) ([][]types.Datum, error)

	// KeyValue answers a key-value function other than kv_scan; src is its prosrc,
	// args its arguments, of which any may be NULL.
	KeyValue(ctx context.Context, src string, args []types.Datum) (types.Datum, error)
	// KeyScan returns the first KeyScanChunk pairs, in the order of their keys, of
	// a table's keys from "from" up to, and not including, "before" ("": the end).
	KeyScan(ctx context.Context, table types.OID, from, before string) ([][]types.Datum, error)

	// LargeObject answers a function of large objects; src is its prosrc.
	LargeObject(ctx context.Context, src string, args []types.Datum, ret types.T) (types.Datum, error)

	// AdvisoryLock takes (or tries to take) an advisory lock. key2 is used by
	// the two-key form alone. Without wait it reports whether it got the lock.
	AdvisoryLock(ctx context.Context, key AdvisoryKey, wait bool) (bool, error)
	// AdvisoryUnlock reports whether the lock was held by the session.
	AdvisoryUnlock(key AdvisoryKey) bool
	// AdvisoryUnlockAll releases the session's advisory locks.
	AdvisoryUnlockAll()
	// Random returns the session's random source of random() and setseed().
	Random() *Rand
}

// AdvisoryKey names an advisory lock: one 64-bit key or two of 32 bits.
type AdvisoryKey struct {
	Key    int64 // or the first key in the upper half, the second in the lower
	Two    bool  // two-key form, another name space
	Shared bool
	Txn    bool // released at the end of the transaction
}

// Compile makes an expression executable. A function that has no
// implementation is 0A000 with its name and position.
func Compile(e plan.Expr) (Eval, error) { return newCompiler().compile(e) }

// CompileAll compiles a list.
func CompileAll(es []plan.Expr) ([]Eval, error) { return newCompiler().compileAll(es) }

// CompilePredicate makes a boolean expression executable as a filter.
func CompilePredicate(e plan.Expr) (Pred, error) {
	p, err := newCompiler().predicate(e)
	if err == nil && Lengthy(e) {
		p = &pacedPred{p: p}
	}
	return p, err
}

// SetFunc is a compiled call of a table function: a set-returning function, or
// any other function or expression as a set of one row.
type SetFunc interface {
	// Cols are the types of the result's columns.
	Cols() []types.T
	// Start evaluates the arguments at row number row of b and begins the set.
	Start(env *Env, b *vec.Batch, row int) error
	// Next returns the next rows, at most vec.BatchSize of them, or nil at the
	// end. The batch is valid until the next call.
	Next(env *Env) (*vec.Batch, error)
}

// SetFiller is a set that appends its rows to those of others, so that the sets
// of many rows make one batch.
type SetFiller interface {
	SetFunc
	// Fill appends the next rows to b, which has columns of the types Cols, until it
	// has vec.BatchSize; false at the set's end.
	Fill(env *Env, b *vec.Builder) (more bool, err error)
}

// CompileRows compiles an expression in FROM whose value stands for these columns: a
// row that is a constant, or that no call makes, does not tell them.
func CompileRows(e plan.Expr, cols []types.T) (SetFunc, error) {
	s, err := newCompiler().compileSet(e)
	if one, ok := s.(*singleRow); ok && !one.rec && e.Type().Kind() == types.KRecord && (len(cols) != 1 || cols[0] != e.Type()) {
		one.cols, one.rec, one.free = cols, true, e.Type().OID == types.ORecord
	}
	return s, err
}

// Aggregator folds the argument vectors of one aggregate into numbered groups.
// FILTER, DISTINCT and ORDER BY are the caller's business: they decide which
// rows are added and in what order.
type Aggregator interface {
	// Grow makes room for n groups in all; new ones are empty.
	Grow(n int)
	// Add folds rows: sel lists the row numbers (nil: 0 … len(groups)-1) and
	// groups[i] is the group of the i-th of them. args are the evaluated
	// arguments, without the direct ones.
	Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error
	// Merge folds another aggregator's group src into group dst. The other one
	// was made from the same plan.Agg.
	Merge(other Aggregator, src, dst int) error
	// Result fills out, of the aggregate's type, with groups from … to-1 at rows
	// 0 …; it may be called again after more rows were added (window frames).
	Result(env *Env, out *vec.Vec, from, to int) error
	// Reset empties one group.
	Reset(group int)
	// Bytes is the memory held, in bytes.
	Bytes() int64
}

// Remover is implemented by aggregators that can take a row back, so that a
// moving window frame need not start over.
type Remover interface {
	Aggregator
	// Remove undoes one earlier Add of the row; false when it cannot be undone
	// and the frame must be computed anew.
	Remove(env *Env, group uint32, args []*vec.Vec, row int) bool
}

// NewAggregator returns the implementation of an aggregate. direct are the
// values of the direct arguments of an ordered-set aggregate.
func NewAggregator(a *plan.Agg, direct []types.Datum) (Aggregator, error) {
	return newAggregator(a, direct)
}

// Implemented reports whether the built-in function with that prosrc can be called.
func Implemented(src string) bool {
	r := functions()
	_, ok := r.scalar[src]
	if !ok {
		_, ok = r.sets[src]
	}
	return ok
}

// EvalConst evaluates an expression without input columns to a value that the
// caller may keep. Constants, parameters and conversions of them do not build
// batches.
func EvalConst(env *Env, e plan.Expr) (types.Datum, error) { return evalConst(env, e) }

// HoldsFor tells for which values a condition over one column, number 0 and of type t, is
// true.
func HoldsFor(env *Env, cond plan.Expr, t types.T, vals ...[]types.Datum) ([]bool, error) {
	ev, err := Compile(cond)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, list := range vals {
		n += len(list)
	}
	col, out := vec.New(t, n), make([]bool, n)
	i := 0
	for _, list := range vals {
		for _, d := range list {
			col.Set(i, d)
			i++
		}
	}
	v, err := ev.Eval(env, &vec.Batch{N: n, Cols: []*vec.Vec{col}})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = !v.IsNull(i) && v.Bool[v.Idx(i)]
	}
	return out, nil
}

// instant returns the wall clock in microseconds since 2000-01-01 UTC.
func (env *Env) instant() int64 {
	if env.Clock != nil {
		return types.TimestampFromTime(env.Clock())
	}
	return types.TimestampFromTime(time.Now())
}
