package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/wire"
)

// Session is one client's session. Its methods belong to the connection's
// goroutine; activity alone is read by others.
type Session struct {
	srv     *Server
	info    *wire.ConnInfo
	started time.Time

	db          types.OID
	dbName      string
	authUser    string // who logged in
	sessionUser string // after SET SESSION AUTHORIZATION
	user        string // after SET ROLE: the current user
	settings    *settings
	greeting    []*sqlerr.Error // notices about what the client asked for as it connected

	block       block
	tx          *transaction
	spent       *transaction // that has ended, for the next one to use its memory
	spill       writesSpill
	failedModes txModes   // of a failed block; without savepoints an error takes back what was set in it
	received    time.Time // when the message that is served came
	stmtStart   int64     // the same
	logged      bool      // its text is in the log

	prepared map[string]*prepared
	portals  portalSet
	spare    *portal // was unnamed and is closed
	cache    planCache
	kept     keptRuns
	fp       parser.Fingerprinter
	lits     []types.Datum
	keyBuf   []byte

	w        wire.ResultWriter // of the running call
	seqs     sequenceMemory
	rand     *expr.Rand
	path     pathCache
	exprs    tableExprsCache
	keyFaces map[types.OID]*keyFace
	system   map[string]*plannedStmt // the server's own statements on large objects
	// fastCalls are the calls of functions by the fast-path interface.
	fastCalls map[types.OID]*plannedStmt
	bodies    map[*plan.Call]*routineBody // of functions that were called
	depth     int                         // of functions that call each other
	readsFrom kv.Reader                   // what a portal, or the body of the stable function that runs, reads; nil: what the transaction sees
	// readsNothing tells that none of the statements around the body that runs reads a table
	readsNothing bool
	// The epochs of settings inside of functions that set some, and the last given.
	configEpochs map[configEpoch]uint64
	lastConfig   uint64
	onCommit     map[types.OID]string // of temporary tables: DROP, DELETE ROWS
	hasTemp      bool
	listens      bool // has run LISTEN
	hasLocks     bool // has taken an advisory lock
	idleTimer    *time.Timer
	clock        statementClock

	// Method values that every statement's environment has.
	currentOfFn   func(cursor string, t *catalog.Table) ([]byte, error)
	tableExprsFn  func(*catalog.Table) (*plan.TableExprs, error)
	mayCallFn     func(*catalog.Function) error
	noteMovedFn   func(types.OID, []byte, []byte)
	virtualFn     func(*catalog.Virtual, []int, []types.Datum, []int, func([]types.Datum) bool) error
	sequenceRowFn func(context.Context, *catalog.Sequence) (int64, int64, bool, error)
	tellFn        func(*sqlerr.Error)
	infoFn        expr.SessionInfo
	callSQLFn     func(*expr.Env, *plan.Call, []types.Datum, func(*vec.Batch) (bool, error)) error
	roomFn        func(int64) error
	grants        *executor.Grants
	flushFn       func(*executor.Tallied)

	// The cumulative statistics: what the open transaction does, and where it goes.
	tally   executor.Tally
	dbStats *dbStats
	shard   int
	calls   map[types.OID]callStats
	inCalls time.Duration // spent in the calls below the running one

	activity activity
}

var _ wire.Session = (*Session)(nil)

// activity is what pg_stat_activity shows.
type activity struct {
	mu           sync.Mutex
	query        string
	state        string
	calls        uint64 // that found a timeout's clock running
	queryStart   int64
	stateChanged int64
	xactStart    int64
	xact         kv.Txn // of which others may ask what anybody may; nil for none
	xacts        uint64 // transactions that the session has begun
	application  string
	done         dbCounts
	expired      *sqlerr.Error // what ends the connection that has been idle for too long
}

// enter and leave frame every call that a client makes.
func (s *Session) enter(w wire.ResultWriter) {
	s.w, s.logged = w, false
	if s.idleTimer != nil {
		s.idleTimer.Stop()
		s.idleTimer = nil
		a := &s.activity
		a.mu.Lock()
		a.expired = nil
		a.calls++
		a.mu.Unlock()
	}
}

// begin is enter for a call with a query, and tells others of it.
func (s *Session) begin(w wire.ResultWriter, query string) {
	s.enter(w)
	s.readClock()
	a := &s.activity
	a.mu.Lock()
	if s.block != idle && a.state != "active" {
		a.done.idleInTxn += s.stmtStart - a.stateChanged
	}
	a.state = "active"
	a.stateChanged = s.stmtStart
	if query != "" {
		a.query, a.queryStart = query, s.stmtStart
	}
	a.mu.Unlock()
}

// readClock takes the time for the message that is served.
func (s *Session) readClock() {
	s.received = time.Now()
	s.stmtStart = types.TimestampFromTime(s.received)
}

func (s *Session) leave() {
	s.w = nil
	s.grants.Release()
	s.armIdle()
}

// rest is leave for a call after which the client has the turn. What it has not asked for
// comes before that: notifications, and changed settings.
func (s *Session) rest(w wire.ResultWriter) {
	if s.block == idle && s.tx == nil && s.listens {
		s.deliver(w)
	}
	s.report(w)
	s.leave()
	changed := now()
	a := &s.activity
	a.mu.Lock()
	if a.state == "active" {
		a.done.active += changed - a.stateChanged
	}
	a.state, a.stateChanged = "idle", changed
	if a.xactStart = 0; s.tx == nil {
		a.xact = nil
	}
	switch s.block {
	case inBlock:
		a.state = "idle in transaction"
	case failed:
		a.state = "idle in transaction (aborted)"
	}
	if s.tx != nil {
		a.xactStart = s.tx.start
	}
	a.mu.Unlock()
}

// Notices implements wire.Session.
func (s *Session) Notices() []*sqlerr.Error {
	out := slices.DeleteFunc(s.greeting, func(n *sqlerr.Error) bool { return noticeLevel(n.Severity) < s.settings.minLevel })
	s.greeting = nil
	return out
}

// Parameters implements wire.Session.
func (s *Session) Parameters() []wire.Parameter {
	out := make([]wire.Parameter, 0, len(reported))
	for _, n := range reported {
		v, _ := s.showSetting(n)
		out = append(out, wire.Parameter{Name: n, Value: v})
	}
	return out
}

// Simple implements wire.Session.
func (s *Session) Simple(ctx context.Context, sql string, w wire.ResultWriter) error {
	s.begin(w, sql)
	defer s.rest(w)
	err := s.simple(ctx, sql, w)
	if err == nil && s.settings.logs.on {
		s.logDuration(s.received, "statement", sql, nil)
	}
	return err
}

func (s *Session) simple(ctx context.Context, sql string, w wire.ResultWriter) error {
	whole := ctx
	defer s.clock.stop()
	ctx, cancel, err := s.timed(whole)
	defer func() { cancel() }()
	if err != nil {
		return s.fail(ctx, err, sql)
	}
	delete(s.prepared, "") // as PostgreSQL
	if s.block != failed && len(sql) < longText {
		done, err := s.runCached(ctx, sql, w)
		if done {
			return s.fail(ctx, err, sql)
		}
	}
	list, err := s.strings(sql).Parse(sql)
	if err != nil {
		return s.fail(ctx, err, sql)
	}
	s.tellLongNames(sql)
	if len(list) == 0 {
		w.Empty()
		return nil
	}
	for i := range list {
		s.logStatement(list[i].Stmt, "statement", sql, nil)
	}
	pipelined := s.tx != nil
	for i := range list {
		if i > 0 { // each has its own time, and the one before may have changed it
			cancel()
			s.clock.stop()
			if ctx, cancel, err = s.timed(whole); err != nil {
				return s.fail(ctx, err, sql)
			}
		}
		c := call{stmt: list[i].Stmt, text: list[i].Text, several: len(list) > 1, pipelined: pipelined}
		err := s.simpleOne(ctx, &c, list[i].NumParams, i == len(list)-1, w)
		if err != nil {
			return s.fail(ctx, err, sql)
		}
	}
	return nil
}

// tellLongNames says which names of a text are cut.
func (s *Session) tellLongNames(sql string) {
	for _, n := range s.settings.literals.LongNames(sql) {
		s.tell(cutNotice(n.Written, n.Cut))
	}
}

// cutNotice says that a name is too long.
func cutNotice(written, cut string) *sqlerr.Error {
	return notice("NOTICE", sqlerr.NameTooLong, "identifier \"%s\" will be truncated to \"%s\"", written, cut)
}

// fail turns an error into the client's form, after what it means for the
// transaction has been done.
func (s *Session) fail(ctx context.Context, err error, text string) error {
	if err == nil {
		return nil
	}
	err = table.Explain(s.explainDeadlock(finishError(ctx, err, text)), s.settings.fmt, s.indexExpr)
	if e := new(sqlerr.Error); errors.As(err, &e) && e.Code == sqlerr.DeadlockDetected {
		s.activity.mu.Lock()
		s.activity.done.deadlocks++
		s.activity.mu.Unlock()
	}
	s.srv.refusals.add(err, s.settings.get("application_name"))
	s.logError(err, text)
	s.Abort()
	return err
}

// simpleOne runs one statement of a simple query. The last one's tag follows the
// commit of an implicit transaction.
func (s *Session) simpleOne(ctx context.Context, c *call, params int, last bool, w wire.ResultWriter) error {
	if s.block == failed && !isTxnExit(c.stmt) {
		return errFailedBlock()
	}
	if params > 0 {
		return noParam(c.stmt)
	}
	s.closePortal("")
	tag, n, err := s.run(ctx, c, wireSink{w: w})
	if err != nil {
		return err
	}
	if s.block == idle && (last || s.tx == nil) {
		if err := s.commit(ctx); err != nil {
			return err
		}
	}
	w.Complete(tag, n)
	return nil
}

// call is one execution of a statement.
type call struct {
	stmt     ast.Stmt
	text     string
	planned  *plannedStmt // of prepared statements
	params   []types.Datum
	unfilled types.OID // the index that CREATE INDEX CONCURRENTLY has begun
	// Other statements share the implicit transaction: those of the same message, or of
	// messages before the next Sync.
	several, pipelined bool

	// EXPLAIN ANALYZE of what stores a query's rows: counters of its plan, and the plan.
	stats *executor.Stats
	took  *plan.Query
}

// run executes a statement and returns its tag, with the number that follows it
// or -1.
func (s *Session) run(ctx context.Context, c *call, out sink) (string, int64, error) {
	if x, ok := c.stmt.(*ast.Transaction); ok {
		tag, err := s.transaction(ctx, x, c.several)
		return tag, -1, err
	}
	if tag, n, done, err := s.runSession(ctx, c, out); done {
		return tag, n, err
	}
	if err := s.ensureTx(ctx); err != nil {
		return "", 0, err
	}
	if !readsNothing(c.stmt) {
		if err := s.newStatement(ctx); err != nil {
			return "", 0, err
		}
	}
	if plannable(c.stmt) {
		p := c.planned
		if p == nil {
			p = &plannedStmt{stmt: c.stmt}
		}
		n, err := s.runPlanned(ctx, p, c.params, out, nil)
		if err != nil {
			return "", 0, err
		}
		return tagOf(p.q), n, nil
	}
	return s.utility(ctx, c, out)
}

// readsNothing reports whether a statement needs no snapshot: behind it the isolation level
// may still be chosen.
func readsNothing(st ast.Stmt) bool {
	_, is := st.(*ast.Listen)
	return is
}

// Close implements wire.Session.
func (s *Session) Close() {
	s.rollback()
	s.block = idle
	if s.idleTimer != nil {
		s.idleTimer.Stop()
	}
	s.dropTempSchema()
	s.srv.advisory.releaseAll(s)
	s.srv.notify.forget(s)
	s.stopCounting()
	s.srv.disconnect(s)
}

// noParam refuses the first parameter in the text of a statement that takes none.
func noParam(st ast.Stmt) error {
	off, num := -1, 1
	ast.Walk(st, func(n ast.Node) bool {
		if p, ok := n.(*ast.Param); ok && (off < 0 || p.Pos() < off) {
			off, num = p.Pos(), p.Num
		}
		return true
	})
	return sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", num).At(off)
}
