package session

import (
	"context"
	"strconv"

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
	opts    *types.FmtOpts

	started bool
	done    bool // everything was sent and the tag is known
	run     *executor.Run
	runCtx  *portalContext
	pending *vec.Batch // of the run, not yet sent from row sent on
	sent    int
	buffer  []*vec.Batch // rows that were copied because the run had to end
	tag     string
	rows    int64 // number for the tag, -1 for none
	total   int64 // rows sent so far

	cursor *cursor // of DECLARE
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
	s.enter(nil, "")
	defer s.leave(nil)
	ps, err := s.findPrepared(b.Statement)
	if err == nil {
		err = s.bind(ctx, ps, b)
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
	if s.block == failed && ps.stmt != nil && !isTxnExit(ps.stmt) {
		return errFailedBlock()
	}
	if b.Portal != "" && s.portals[b.Portal] != nil {
		return sqlerr.New(sqlerr.DuplicateCursor, "cursor \"%s\" already exists", b.Portal)
	}
	cols, err := s.describe(ctx, ps)
	if err != nil {
		return err
	}
	params, err := s.bindParams(ps, b)
	if err != nil {
		return err
	}
	if n := len(b.ResultFormats); n > 1 && n != len(cols) {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", n, len(cols))
	}
	s.closePortal(b.Portal)
	s.portals[b.Portal] = &portal{
		name: b.Portal, ps: ps, planned: ps.planned, params: params, cols: cols,
		formats: append([]int16(nil), b.ResultFormats...),
	}
	return nil
}

func (s *Session) findPortal(name string) (*portal, error) {
	p := s.portals[name]
	if p == nil {
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "portal \"%s\" does not exist", name)
	}
	return p, nil
}

// DescribePortal implements wire.Session.
func (s *Session) DescribePortal(ctx context.Context, name string) ([]wire.Column, []int16, error) {
	p, err := s.findPortal(name)
	if err != nil {
		return nil, nil, s.fail(ctx, err, "")
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
	s.enter(w, text)
	defer s.leave(w)
	if err != nil {
		return s.fail(ctx, err, "")
	}
	ctx, cancel := s.withTimeout(ctx)
	if cancel != nil {
		defer cancel()
	}
	return s.fail(ctx, s.executePortal(ctx, p, maxRows, w), text)
}

func (s *Session) executePortal(ctx context.Context, p *portal, maxRows int, w wire.ResultWriter) error {
	if p.ps.stmt == nil {
		w.Empty()
		return nil
	}
	if s.block == failed && !isTxnExit(p.ps.stmt) {
		return errFailedBlock()
	}
	if p.done && p.cursor == nil {
		if p.cols != nil {
			w.Rows(p.cols, p.formats, p.opts)
		}
		if p.rows >= 0 && p.cols != nil {
			w.Complete(p.tag, 0)
			return nil
		}
		w.Complete(p.tag, p.rows)
		return nil
	}
	if maxRows <= 0 && !p.started {
		tag, n, err := s.run(ctx, &call{stmt: p.ps.stmt, text: p.ps.text, planned: p.planned, params: p.params, several: s.tx != nil},
			wireSink{w: w, formats: p.formats})
		if err != nil {
			return withoutPosition(err)
		}
		p.started, p.done, p.tag, p.rows = true, true, tag, n
		if s.block == idle && p.planned == nil {
			// Utility statements commit at once, so that their errors are theirs.
			if _, isTxn := p.ps.stmt.(*ast.Transaction); !isTxn && commitsAlone(p.ps.stmt) {
				if err := s.commit(ctx); err != nil {
					return err
				}
			}
		}
		w.Complete(tag, n)
		return nil
	}
	n, more, err := s.advance(ctx, p, int64(maxRows), wireSink{w: w, formats: p.formats})
	if err != nil {
		return withoutPosition(err)
	}
	if more {
		w.Suspended()
		return nil
	}
	if p.rows < 0 || p.cols == nil {
		n = p.rows
	}
	if p.tag == "INSERT 0" || p.tag == "UPDATE" || p.tag == "DELETE" {
		n = p.rows
	}
	w.Complete(p.tag, n)
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
		out.begin(p.cols, p.opts)
	}
	var untie func() bool
	if p.run != nil {
		untie = p.runCtx.during(ctx)
		defer untie()
	}
	for limit == 0 || n < limit {
		b, err := p.next()
		if err != nil {
			p.end(s)
			return n, false, err
		}
		if b == nil {
			p.end(s)
			return n, false, nil
		}
		from, to := p.sent, b.Rows()
		if limit > 0 && int64(to-from) > limit-n {
			to = from + int(limit-n)
		}
		if err := out.batch(rowsOf(b, from, to)); err != nil {
			return n, false, err
		}
		n += int64(to - from)
		p.total += int64(to - from)
		p.sent = to
	}
	return n, true, nil
}

// next returns the batch that is being sent, the next one when all of it was
// sent, or nil at the end.
func (p *portal) next() (*vec.Batch, error) {
	if p.pending != nil && p.sent < p.pending.Rows() {
		return p.pending, nil
	}
	p.pending, p.sent = nil, 0
	if len(p.buffer) > 0 {
		p.pending, p.buffer = p.buffer[0], p.buffer[1:]
		return p.pending, nil
	}
	if p.run == nil {
		return nil, nil
	}
	b, err := p.run.Next()
	p.pending = b
	return b, err
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

// startPortal starts the statement. What changes data, and what is no query, is
// run to its end at once, its rows kept.
func (s *Session) startPortal(ctx context.Context, p *portal) error {
	if p.planned == nil || !s.streams(ctx, p) {
		buf := &rowBuffer{}
		tag, n, err := s.run(ctx, &call{stmt: p.ps.stmt, text: p.ps.text, planned: p.planned, params: p.params, several: s.tx != nil}, buf)
		if err != nil {
			return err
		}
		p.started, p.tag, p.rows, p.buffer, p.opts = true, tag, n, buf.batches, buf.opts
		if buf.cols != nil {
			p.cols = buf.cols
		}
		return nil
	}
	if _, err := s.ensureTx(ctx); err != nil {
		return err
	}
	if err := s.newStatement(ctx); err != nil {
		return err
	}
	if err := s.prepare(ctx, p.planned, p.params); err != nil {
		return err
	}
	p.runCtx = newPortalContext()
	run, err := s.start(p.runCtx.ctx, p.planned, p.params, nil)
	if err != nil {
		return err
	}
	p.run, p.started, p.tag, p.opts = run, true, tagOf(p.planned.q), s.tx.fmt
	return nil
}

// streams reports whether a portal's rows can be made as they are asked for.
func (s *Session) streams(ctx context.Context, p *portal) bool {
	return s.planNow(ctx, p.planned) == nil && p.planned.q.ReadOnly && p.planned.q.Returns
}

// end releases the run; the portal stays and has no more rows.
func (p *portal) end(*Session) {
	if p.run != nil {
		p.planned.release(p.run)
		p.runCtx.cancel(nil)
		p.run = nil
	}
	p.pending, p.buffer, p.done = nil, nil, true
}

// settle copies the rows still to come, so that the run can end (S1).
func (p *portal) settle(ctx context.Context) error {
	if p.run == nil {
		return nil
	}
	untie := p.runCtx.during(ctx)
	defer untie()
	var kept []*vec.Batch
	if p.pending != nil && p.sent < p.pending.Rows() {
		kept = append(kept, copyBatch(rowsOf(p.pending, p.sent, p.pending.Rows())))
	}
	for {
		b, err := p.run.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		kept = append(kept, copyBatch(b))
	}
	p.planned.release(p.run)
	p.runCtx.cancel(nil)
	p.run, p.pending, p.sent, p.buffer = nil, nil, 0, kept
	return nil
}

// settlePortals ends the runs of all portals, keeping their rows.
func (s *Session) settlePortals(ctx context.Context) error {
	for _, p := range s.portals {
		if err := p.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// closePortal drops a portal, if there is one of the name.
func (s *Session) closePortal(name string) {
	if p := s.portals[name]; p != nil {
		p.end(s)
		delete(s.portals, name)
	}
}

// dropPortals drops the portals that end with the transaction.
func (s *Session) dropPortals() {
	for n, p := range s.portals {
		if p.cursor == nil || !p.cursor.held {
			p.end(s)
			delete(s.portals, n)
		}
	}
}

// ClosePortal implements wire.Session.
func (s *Session) ClosePortal(name string) error {
	s.closePortal(name)
	return nil
}

// Sync implements wire.Session.
func (s *Session) Sync(ctx context.Context, w wire.ResultWriter) error {
	s.enter(w, "")
	defer s.leave(w)
	if s.block != idle {
		return nil
	}
	if s.tx == nil {
		s.dropPortals()
		return nil
	}
	return s.fail(ctx, s.commit(ctx), "")
}

func itoa(n int) string { return strconv.Itoa(n) }
