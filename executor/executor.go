package executor

import (
	"context"
	"errors"
	"slices"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// ErrRetry is returned when a READ COMMITTED statement locked a row that
// another transaction has changed since the statement's snapshot. The session
// rolls back to the statement's savepoint, refreshes the snapshot unless Recheck
// says that it may stay, and runs the statement again; the locks stay.
var ErrRetry = errors.New("executor: a locked row has changed, run the statement again")

// Env is what a statement's operators share. It belongs to one statement; the
// fields are set before Build or Reset and not changed until Close.
type Env struct {
	Ctx    context.Context
	Txn    kv.Txn
	Tables *table.DB
	Expr   *expr.Env
	Snap   *catalog.Snapshot
	// Unproven tells that constraints of the tables need not hold yet: a command that
	// makes or checks them runs the plan.
	Unproven bool
	// DB is the current database, for lookups in Snap.
	DB types.OID
	// User is the role that runs the statement; details of errors tell no more of a
	// row than it may read or has written. "" may read all.
	User string

	// WorkMem is the number of bytes an operator may keep before it spills to
	// TempDir ("" is the system's); 0 never spills.
	WorkMem int64
	TempDir string
	// Mem is the statement's budget; nil is unlimited.
	Mem *Memory
	// MaxParallel is the number of goroutines a full scan may use; below 2 none
	// are started.
	MaxParallel int
	// ParallelFrom is the estimated number of rows from which starting goroutines pays.
	ParallelFrom float64
	// Split is the part of a scan that a worker reads; nil: nothing is cut up.
	Split *Split

	// LockTimeout is how long a lock is waited for; 0 waits for ever.
	LockTimeout time.Duration
	// Replica is session_replication_role = replica: foreign keys are neither checked nor
	// acted on, save where a row is stored under its parent's key.
	Replica bool
	// ReadCommitted tells that a changed row means ErrRetry, not 40001.
	ReadCommitted bool
	// Recheck is that of the statement's attempts; nil takes a new snapshot for each.
	Recheck *Recheck
	// Deferred collects constraint checks for the end of the transaction; nil
	// checks all at the end of the statement.
	Deferred *DeferredChecks

	// Behind reports whether an index lacks rows of what is read: see planner.Context.
	// nil: none does.
	Behind func(*catalog.Index) bool
	// TableExprs returns the bound expressions that writing to the table needs.
	TableExprs func(*catalog.Table) (*plan.TableExprs, error)
	// MayCall fails with 42501 if the current role may not execute a function; nil: it may
	// execute all.
	MayCall func(*catalog.Function) error
	// LockMember, if it is there, locks a partition that rows are about to be stored in, and
	// that was not locked before. ErrRetry if its definition may have changed.
	LockMember func(*catalog.Table) error
	// Virtual emits the rows of a declared relation, of which the columns cols are
	// read; keyCols and keyVals are an optional equality lookup. It stops when emit
	// returns false.
	Virtual func(rel *catalog.Virtual, keyCols []int, keyVals []types.Datum, cols []int, emit func(row []types.Datum) bool) error
	// SequenceRow returns a sequence's last_value, log_cnt and is_called.
	SequenceRow func(context.Context, *catalog.Sequence) (last int64, logCnt int64, called bool, err error)
	// CursorRow returns the key of the table's row that a cursor stands on.
	CursorRow func(cursor string, t *catalog.Table) ([]byte, error)
	// Moved is told of rows that get another key, and of those that are deleted (now is
	// nil), or that all rows are (was is nil, too); nil: nobody asks.
	Moved func(table types.OID, was, now []byte)
	// Notice sends a notice to the client; nil drops it.
	Notice func(*sqlerr.Error)
	// Stats collects counters per node for EXPLAIN ANALYZE; nil collects none.
	Stats *Stats
	// Tally counts for the cumulative statistics; attach makes one if it is nil.
	Tally *Tally

	// From is what a portal reads, which keeps what it saw at its beginning, and the body
	// of a stable function: the state that the statement which calls it reads. nil: Txn.
	From kv.Reader

	run *Run
	// reader is what scans read: Txn, or the state before the statement when WITH
	// queries change tables that others read.
	reader kv.Reader
	met    kv.Reader // what scans that lead to locks read instead, if not nil: see Recheck
}

// Operator is a running plan node. Open prepares a run (X2), Next returns the
// next batch with at least one selected row or nil at the end (X1), Close frees
// everything and may be called at any time, more than once.
type Operator interface {
	Open(*Env) error
	Next() (*vec.Batch, error)
	Close()
}

// Run is a statement's tree of operators.
type Run struct {
	query    *plan.Query
	env      *Env
	root     Operator
	opened   bool
	ended    bool
	visible  int // columns that are part of the result
	out      vec.Batch
	want     int64 // rows that will be taken, 0: all
	first    bool  // see First
	affected int64
	turn     func(row int) int // of a row that is written among those of its batch, see inTurn
	ctes     map[*plan.CTE]*cte
	subs     map[*plan.SubPlan]*subplan
	build    *builder
	retained []retainer
	fks      *fkQueue
	consts   expr.Consts
	writers  map[*catalog.Table]*tableWriter
	writing  []*tableWriter          // those that this run has used
	changes  map[types.OID]RowChange // of tables with members
	touched  map[types.OID]*keySet   // rows changed so far, of tables that several parts of the statement change

	checked, impure bool  // see pure
	acting          bool  // foreign keys are acting: what they find was not scanned
	seesWrites      *bool // see overlaps; nil: not known yet

	// Method values of the environment, kept so that running again makes none.
	runSubFn func(*expr.Env, *plan.SubPlan, func(*vec.Batch) (bool, error)) error
	growOf   *Memory
	growFn   func(int64) error
}

// Build makes the operators of a plan. They start to work at the first Next.
func Build(q *plan.Query, env *Env) (*Run, error) {
	if q.Fault != nil {
		return nil, q.Fault
	}
	r := &Run{query: q, env: env}
	r.build = &builder{run: r, stats: env.Stats, bodies: runsBodies(q)}
	for _, c := range q.CTEs {
		if err := r.build.cte(c); err != nil {
			return nil, err
		}
	}
	root, err := r.build.node(q.Root)
	if err != nil {
		return nil, err
	}
	r.root = root
	if _, is := writes(root); !is && slices.ContainsFunc(q.CTEs, func(c *plan.CTE) bool { return c.Modifying }) {
		r.RowByRow()
	}
	cols := q.Root.Base().Cols
	r.visible = len(cols)
	for r.visible > 0 && cols[r.visible-1].Hidden {
		r.visible--
	}
	r.attach(env)
	return r, nil
}

// Formats makes the rows to come convert values and texts as the session does by now.
func (r *Run) Formats(f *types.FmtOpts) { r.env.Expr.Fmt = f }

// attach connects the run with the statement's environment.
func (r *Run) attach(env *Env) {
	r.env = env
	env.run, env.reader, env.met = r, env.Txn, nil
	if env.From != nil {
		env.reader = env.From
	}
	r.acting = false
	if env.Mem == nil {
		env.Mem = new(Memory)
	}
	if env.Tally == nil {
		env.Tally = new(Tally)
	}
	x := env.Expr
	if r.runSubFn == nil {
		r.runSubFn = r.runSub
	}
	x.RunSub, x.Consts = r.runSubFn, &r.consts
	if x.Alloc == nil {
		if r.growOf != env.Mem {
			r.growOf, r.growFn = env.Mem, env.Mem.Grow
		}
		x.Alloc = r.growFn
	}
	for len(x.Params) < r.query.NumSlots {
		x.Params = append(x.Params, types.Datum{Null: true})
	}
}

// Reset makes a closed run ready to run again in a new environment, with new
// parameters.
func (r *Run) Reset(env *Env) {
	r.Close()
	r.ended, r.affected, r.changes, r.want = false, 0, nil, 0
	r.attach(env)
}

// Want tells that so many rows will be taken, 0: all. No more of them are locked, where
// the locks come last; then each row more is one that was asked for.
func (r *Run) Want(n int64) {
	if r.want = n; r.opened {
		demand(r.root, n)
	}
}

// First tells that only the first row will be taken: no other one is computed, as far as
// that might be noticed.
func (r *Run) First() {
	if !r.first {
		r.first = true
		stepping{calls: acts, distinct: true}.down(r.root, false)
	}
	r.Want(1)
}

// Next returns the next batch of result rows without hidden columns, nil at the
// end. It is valid until the next call. The statement's end — unread
// data-modifying CTEs, foreign key checks — is part of the call that returns
// nil, so a statement must be read to its end to have happened.
func (r *Run) Next() (*vec.Batch, error) {
	if r.ended {
		return nil, nil
	}
	if !r.opened {
		r.opened = true
		if err := r.open(); err != nil {
			return nil, r.fail(err)
		}
		if r.want > 0 {
			demand(r.root, r.want)
		}
	}
	if err := ctxErr(r.env.Ctx); err != nil {
		return nil, r.fail(err)
	}
	b, err := r.root.Next()
	if err != nil {
		return nil, r.fail(err)
	}
	if b == nil {
		r.ended = true
		if err := r.complete(); err != nil {
			return nil, r.fail(err)
		}
		return nil, nil
	}
	if _, ok := writes(r.root); !ok {
		r.affected += int64(b.Rows())
	}
	if r.visible == len(b.Cols) {
		return b, nil
	}
	r.out = vec.Batch{Cols: b.Cols[:r.visible], N: b.N, Sel: b.Sel}
	return &r.out, nil
}

func (r *Run) open() error {
	if err := r.readMet(); err != nil {
		return err
	}
	r.readBefore()
	before, _ := r.modifyingOrder()
	if err := r.fill(before); err != nil {
		return err
	}
	return r.root.Open(r.env)
}

// complete does what belongs to the end of the statement.
func (r *Run) complete() error {
	if d, ok := writes(r.root); ok {
		r.affected = d.count
	}
	before, after := r.modifyingOrder()
	for _, c := range before {
		if err := r.ctes[c].finish(r.env); err != nil {
			return err
		}
	}
	if len(after) > 0 {
		r.root.Close() // nobody reads any more while they write
		if err := r.fill(after); err != nil {
			return err
		}
	}
	r.acting = true
	return r.fks.finish(r.env)
}

// retainer is an operator that keeps something from one of its runs to the next,
// until the end of the statement.
type retainer interface{ release() }

// fail ends the run with an error.
func (r *Run) fail(err error) error {
	r.ended = true
	return wrapErr(r.env.Ctx, err)
}

// ShowHidden makes Next pass the hidden columns as well, behind the others: the
// keys of the rows that a cursor stands on.
func (r *Run) ShowHidden() { r.visible = len(r.query.Root.Base().Cols) }

// Affected returns the number of rows inserted, updated, deleted or returned:
// the number of the command tag.
func (r *Run) Affected() int64 { return r.affected }

// RowChange counts what a statement did to the rows of one table.
type RowChange struct{ Inserted, Deleted, Updated int64 }

// Changes returns what the statement did to each of several tables whose rows it
// changed together; nil for statements on one table.
func (r *Run) Changes() map[types.OID]RowChange { return r.changes }

func (r *Run) count(t *catalog.Table, c RowChange) {
	if r.changes == nil {
		r.changes = make(map[types.OID]RowChange)
	}
	was := r.changes[t.OID]
	r.changes[t.OID] = RowChange{was.Inserted + c.Inserted, was.Deleted + c.Deleted, was.Updated + c.Updated}
}

// Close frees everything the run holds, temporary files included.
func (r *Run) Close() {
	if r.opened {
		r.root.Close()
		r.opened = false
	}
	for _, c := range r.ctes {
		c.close()
	}
	for _, s := range r.subs {
		s.close()
	}
	for _, x := range r.retained {
		x.release()
	}
	for _, w := range r.writing {
		w.env = nil
	}
	clear(r.writing)
	r.writing = r.writing[:0]
	r.fks, r.touched = nil, nil
	r.ended = true
	if r.env != nil && r.env.Mem != nil {
		r.env.Mem.Release()
	}
}

// outTypes returns the types of a node's output columns.
func outTypes(n plan.Node) []types.T {
	cols := n.Base().Cols
	ts := make([]types.T, len(cols))
	for i, c := range cols {
		ts[i] = c.T
	}
	return ts
}

func exprTypes(es []plan.Expr) []types.T {
	ts := make([]types.T, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	return ts
}

// evalAll evaluates expressions over one batch into out.
func evalAll(env *Env, es []expr.Eval, b *vec.Batch, out []*vec.Vec) error {
	for i, e := range es {
		v, err := e.Eval(env.Expr, b)
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}
