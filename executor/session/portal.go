package session

import (
	"context"
	"slices"
	"strconv"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/parser/ast"
	"kvsqld/wire"
)

// portal is a statement with parameters that is run step by step: made by Bind
// or by DECLARE.
type portal struct {
	name    string
	ps      *prepared
	planned *plannedStmt // nil for other statements
	params  []types.Datum
	formats []int16
	cols    []wire.Column

	started bool
	done    bool // everything was sent and the tag is known
	failed  bool // an error came out of it
	running bool // it is being executed, or fetched from
	tag     string
	rows    int64 // number for the tag, -1 for none
	made    int64 // time
	level   int   // savepoints that were open when it was made
	portalRows

	cursor *cursor // of DECLARE

	// Of the execution to the end, kept so that another one makes none.
	call call
	sink wireSink
}

// portalContext is the context of a run that outlives the calls that advance it:
// it ends with the call in which it is working.
type portalContext struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newPortalContext() *portalContext {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &portalContext{ctx, cancel}
}

// during makes the run end when the call does by cancellation. The returned
// function ends the tie.
func (p *portalContext) during(call context.Context) func() bool {
	return context.AfterFunc(call, func() { p.cancel(context.Cause(call)) })
}

// Bind implements wire.Session.
func (s *Session) Bind(ctx context.Context, b *wire.Bind) error {
	s.enter(nil)
	defer s.leave()
	ctx, cancel, err := s.timed(ctx)
	defer cancel()
	if err != nil {
		return s.fail(ctx, err, "")
	}
	var began time.Time
	if s.settings.logs.on {
		began = time.Now()
	}
	ps, err := s.findPrepared(b.Statement)
	if err == nil {
		err = s.bind(ctx, ps, b)
	}
	if err == nil && s.settings.logs.on {
		s.logDuration(began, ps.named("bind", b.Portal), ps.text, s.portals.get(b.Portal).params)
	}
	if err != nil {
		text := ""
		if ps != nil {
			text = ps.text
		}
		return s.fail(ctx, err, text)
	}
	return nil
}

func (s *Session) bind(ctx context.Context, ps *prepared, b *wire.Bind) error {
	if err := b.CheckParams(len(ps.paramTypes())); err != nil {
		return err
	}
	if s.block == failed && (!isTxnExit(ps.stmt) || len(b.Params) > 0) {
		return errFailedBlock()
	}
	if b.Portal != "" && s.portals.get(b.Portal) != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", b.Portal)
	}
	if b.Portal != "" || ps.planned == nil || !ps.planned.fits(s, s.snapshot()) {
		s.readClock() // of the unnamed portal Execute is the beginning
	}
	s.closePortal(b.Portal)
	p := s.newPortal()
	p.name, p.ps, p.level = b.Portal, &emptyStatement, s.savepoints() // what it is when the next steps fail
	s.portals.put(p)
	var err error
	if p.params, err = s.bindParams(p.params, ps, b); err != nil {
		return err
	}
	cols, err := s.describe(ctx, ps)
	if err != nil {
		return err
	}
	if ps.planned != nil && ps.planned.q.Fault != nil {
		return ps.planned.q.Fault // PostgreSQL, too, meets it as it plans
	}
	p.ps = ps
	if err := b.CheckResults(cols); err != nil {
		return err
	}
	planned := ps.planned
	if x, ok := ps.stmt.(*ast.Select); ok && b.Portal != "" && x.Into == nil {
		// One with a name may become the cursor of WHERE CURRENT OF.
		planned = &plannedStmt{stmt: x, declared: ps.planned.q.Params, reading: ps.planned.reading, cursor: true}
	}
	p.planned, p.cols = planned, cols
	p.formats = append(p.formats, b.ResultFormats...)
	if b.Portal != "" {
		p.made = s.stmtStart
	}
	return nil
}

// emptyStatement is that of a portal whose Bind has failed.
var emptyStatement prepared

// newPortal returns an empty portal: the unnamed one that was closed last, if it is
// not in use again.
func (s *Session) newPortal() *portal {
	p := s.spare
	if s.spare = nil; p == nil {
		return new(portal)
	}
	clear(p.params)
	*p = portal{params: p.params[:0], formats: p.formats[:0]}
	return p
}

func (s *Session) findPortal(name string) (*portal, error) {
	p := s.portals.get(name)
	if p == nil {
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "portal \"%s\" does not exist", name)
	}
	return p, nil
}

// DescribePortal implements wire.Session.
func (s *Session) DescribePortal(ctx context.Context, name string) ([]wire.Column, []int16, error) {
	ctx, cancel, err := s.timed(ctx)
	defer cancel()
	if err != nil {
		return nil, nil, s.fail(ctx, err, "")
	}
	p, err := s.findPortal(name)
	if err != nil {
		return nil, nil, s.fail(ctx, err, "")
	}
	if s.block == failed && p.cols != nil {
		return nil, nil, s.fail(ctx, errFailedBlock(), "")
	}
	return p.cols, p.formats, nil
}

// Execute implements wire.Session.
func (s *Session) Execute(ctx context.Context, name string, maxRows int, w wire.ResultWriter) error {
	p, err := s.findPortal(name)
	text := ""
	if p != nil {
		text = p.ps.text
	}
	s.begin(w, text)
	if p != nil && p.made == 0 {
		p.made = s.stmtStart
	}
	defer s.leave()
	ctx, cancel, late := s.timed(ctx)
	defer cancel()
	if late != nil {
		err = late
	}
	if err != nil {
		return s.fail(ctx, err, "")
	}
	what, params := "execute", p.params
	if s.settings.logs.on {
		if p.started && !p.done {
			what = "execute fetch from"
		}
		what, params = p.ps.named(what, name), slices.Clone(params) // the portal may go with its transaction
		s.logStatement(p.ps.stmt, what, text, params)
	}
	suspended, err := s.executePortal(ctx, p, maxRows, w)
	if !suspended {
		s.clock.stop()
	}
	if err == nil && s.settings.logs.on {
		s.logDuration(s.received, what, text, params)
	}
	return s.fail(ctx, err, text)
}

// executePortal reports whether the portal may have more rows.
func (s *Session) executePortal(ctx context.Context, p *portal, maxRows int, w wire.ResultWriter) (suspended bool, err error) {
	if p.ps.stmt == nil {
		w.Empty()
		return false, nil
	}
	if s.block == failed && (p.failed || !isTxnExit(p.ps.stmt)) {
		return false, errFailedBlock()
	}
	if p.done && p.cursor == nil {
		if p.cols == nil {
			return false, p.cannotRun()
		}
		w.Rows(p.cols, p.formats, s.fmt())
		w.Complete(p.tag, min(p.rows, 0))
		return false, nil
	}
	if err := p.use(); err != nil {
		return false, err
	}
	defer p.unuse()
	if maxRows <= 0 && !p.started {
		p.call = call{stmt: p.ps.stmt, text: p.ps.text, planned: p.planned, params: p.params, pipelined: s.tx != nil}
		p.sink = wireSink{w: w, formats: p.formats}
		p.planned.countIn(&p.ps.uses)
		var out sink = &p.sink
		if p.planned != nil && p.planned.cursor {
			out = &visibleSink{sink: out}
		}
		tag, n, err := s.run(ctx, &p.call, out)
		if err != nil {
			return false, p.placed(err)
		}
		p.started, p.done, p.tag, p.rows = true, true, tag, n
		if err := s.ended(ctx, p); err != nil {
			return false, err
		}
		w.Complete(tag, n)
		return false, nil
	}
	n, more, err := s.advance(ctx, p, int64(maxRows), wireSink{w: w, formats: p.formats})
	if err != nil {
		return false, p.placed(err)
	}
	if more {
		w.Suspended()
		return true, nil
	}
	if p.rows < 0 || p.cols == nil {
		n = p.rows
	}
	if err := s.ended(ctx, p); err != nil {
		return false, err
	}
	w.Complete(p.tag, n)
	return false, nil
}

// ended does what follows the execution of a portal that is no query: some statements
// commit at once, so that their errors are theirs, and a portal that has ended the
// transaction goes with it.
func (s *Session) ended(ctx context.Context, p *portal) error {
	if x, is := p.ps.stmt.(*ast.Transaction); is && x.Kind != "ROLLBACK TO" && isTxnExit(x) {
		s.dropPortal(p)
	}
	if p.planned == nil && s.block == idle && commitsAlone(p.ps.stmt) {
		return s.commit(ctx)
	}
	return nil
}

// commitsAlone reports whether a statement ends its own implicit transaction.
func commitsAlone(st ast.Stmt) bool {
	switch st.(type) {
	case *ast.CreateDatabase, *ast.DropDatabase, *ast.Vacuum, *ast.Backup:
		return true
	}
	return false
}

// advance sends up to limit rows (0: all) of a portal and reports whether more
// may follow.
func (s *Session) advance(ctx context.Context, p *portal, limit int64, out sink) (n int64, more bool, err error) {
	if !p.started {
		if err := s.startPortal(ctx, p); err != nil {
			return 0, false, err
		}
	}
	if p.cols != nil {
		out.begin(p.cols, s.fmt())
	}
	defer p.during(ctx)()
	n, err = p.forward(limit, out)
	if err != nil {
		p.fail()
		return n, false, err
	}
	more = limit > 0 && n == limit
	if !more && p.cursor == nil {
		p.end()
	}
	return n, more, nil
}

// use begins an execution, which unuse ends. It refuses a portal that had an error, and one
// that runs: a FETCH may come back to the portal it is in.
func (p *portal) use() error {
	if p.failed || p.running {
		return p.cannotRun()
	}
	p.running = true
	if p.planned != nil {
		p.planned.promised = p.cols
	}
	return nil
}

func (p *portal) unuse() {
	p.running = false
	if p.planned != nil {
		p.planned.promised = nil
	}
}

// placed is an error of an execution with its position, where the statement is looked at
// only then.
func (p *portal) placed(err error) error {
	if p.planned == nil {
		return err
	}
	return withoutPosition(err)
}

func (p *portal) cannotRun() error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "portal \"%s\" cannot be run", p.name)
}

// rowsOf returns the selected rows from … to-1 of a batch.
func rowsOf(b *vec.Batch, from, to int) *vec.Batch {
	if from == 0 && to == b.Rows() {
		return b
	}
	if b.Sel != nil {
		return &vec.Batch{Cols: b.Cols, N: b.N, Sel: b.Sel[from:to]}
	}
	sel := make([]uint32, to-from)
	for i := range sel {
		sel[i] = uint32(from + i)
	}
	return &vec.Batch{Cols: b.Cols, N: b.N, Sel: sel}
}

// startPortal starts the statement. What changes data, and what is no query, is run to
// its end at once, its rows kept: such a statement may have to run again on a newer
// snapshot (executor.ErrRetry), before a row of it was seen.
func (s *Session) startPortal(ctx context.Context, p *portal) error {
	if s.tx != nil {
		p.moved = len(s.tx.moved)
	}
	p.store = func(cols []wire.Column) *executor.KeptRows { return s.keptRows(cols) }
	p.planned.countIn(&p.ps.uses)
	if p.planned == nil || !s.streams(ctx, p) && !s.locksAsAsked(ctx, p) {
		keep := &keptSink{p: p}
		tag, n, err := s.run(ctx, &call{stmt: p.ps.stmt, text: p.ps.text, planned: p.planned, params: p.params, pipelined: s.tx != nil}, keep)
		if err != nil {
			return err
		}
		p.started, p.tag, p.rows = true, tag, n
		if keep.cols != nil {
			p.cols = keep.cols
		}
		p.visible = len(p.cols)
		if p.locked != nil && s.tx != nil {
			return p.open(s)
		}
		return nil
	}
	if err := s.ensureTx(ctx); err != nil {
		return err
	}
	if err := s.newStatement(ctx); err != nil {
		return err
	}
	p.runCtx = newPortalContext()
	run, err := s.startRun(ctx, p)
	if err != nil {
		p.close()
		return err
	}
	p.all = p.planned.rowCols()
	p.run, p.owner, p.started, p.tag = run, p.planned, true, tagOf(p.planned.q)
	p.visible = len(p.cols)
	return nil
}

func (s *Session) startRun(ctx context.Context, p *portal) (*executor.Run, error) {
	if p.locking != nil {
		p.planned.recheck = executor.Recheck{}
		return s.startLocking(ctx, p)
	}
	if err := s.prepare(ctx, p.planned, p.params); err != nil {
		return nil, err
	}
	if err := p.open(s); err != nil {
		return nil, err
	}
	return s.startOn(p)
}

// startOn starts the run of a portal, which reads the portal's view.
func (s *Session) startOn(p *portal) (*executor.Run, error) {
	s.readsFrom = p.view
	defer func() { s.readsFrom = nil }()
	run, err := s.start(p.runCtx.ctx, p.planned, p.params, nil)
	if err == nil {
		run.RowByRow()
	}
	return run, err
}

// streams reports whether a portal's rows can be made as they are asked for: those of a
// query that, but for what volatile functions do, changes and locks nothing.
func (s *Session) streams(ctx context.Context, p *portal) bool {
	pl := p.planned
	if s.planNow(ctx, pl) != nil || !pl.q.Returns {
		return false
	}
	return pl.q.ReadOnly || pl.streamsRows() && !pl.writes()
}

// end releases the run; the portal stays and has no more rows.
func (p *portal) end() {
	p.release()
	p.done = true
}

// fail ends the portal after an error: it stays, and cannot be run.
func (p *portal) fail() {
	p.end()
	p.failed = true
}

// closePortal drops a portal, if there is one of the name.
func (s *Session) closePortal(name string) {
	if p := s.portals.get(name); p != nil {
		s.dropPortal(p)
	}
}

// dropPortals drops the portals that end with the transaction.
func (s *Session) dropPortals() { s.dropPortalsFrom(0) }

// dropPortalsFrom drops the portals that were made when as many savepoints, or
// more, were open, but for one whose statement is just what ends them.
func (s *Session) dropPortalsFrom(level int) {
	for p := range s.portals.all {
		if p.level >= level && !p.running && (p.cursor == nil || !p.cursor.held) {
			s.dropPortal(p)
		}
	}
}

// failPortalsFrom fails those that dropPortalsFrom would drop: after an error in a
// transaction block they are there until the block, or its savepoint, is left.
func (s *Session) failPortalsFrom(level int) {
	for p := range s.portals.all {
		if p.level >= level && (p.cursor == nil || !p.cursor.held) {
			p.fail()
		}
	}
}

func (s *Session) dropPortal(p *portal) {
	p.end()
	s.portals.drop(p)
	if p.name == "" {
		s.spare = p
	}
}

// savepoints is the number of open savepoints.
func (s *Session) savepoints() int {
	if s.tx == nil {
		return 0
	}
	return len(s.tx.saves)
}

// ClosePortal implements wire.Session.
func (s *Session) ClosePortal(name string) error {
	if err := s.clock.overdue(); err != nil {
		return s.fail(context.Background(), err, "")
	}
	s.closePortal(name)
	return nil
}

// Sync implements wire.Session.
func (s *Session) Sync(ctx context.Context, w wire.ResultWriter) error {
	s.enter(w)
	defer s.rest(w)
	late := s.clock.overdue()
	s.clock.stop()
	if late != nil {
		return s.fail(ctx, late, "")
	}
	if s.block != idle {
		return nil
	}
	return s.fail(ctx, s.commit(ctx), "")
}

func itoa(n int) string { return strconv.Itoa(n) }
