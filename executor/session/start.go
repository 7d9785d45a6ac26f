package session

import (
	"context"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/storage/kv"
	"kvsqld/wire"
)

// start makes the operators of a prepared plan ready. The run must be ended
// with release.
func (s *Session) start(ctx context.Context, p *plannedStmt, params []types.Datum, stats *executor.Stats) (*executor.Run, error) {
	if !p.busy {
		p.grants, p.asked = s.grants, s.grants.Asked()
	}
	if p.keeps {
		s.kept.use(p)
	}
	if p.run != nil && !p.busy && stats == nil {
		s.fillEnv(ctx, &p.env, &p.x, p, params)
		p.busy = true
		p.run.Reset(&p.env)
		return p.run, nil
	}
	env, x := &executor.Env{}, &expr.Env{}
	own := !p.busy && stats == nil
	if own {
		env, x = &p.env, &p.x
	}
	s.fillEnv(ctx, env, x, p, params)
	env.Stats = stats
	run, err := executor.Build(p.q, env)
	if err != nil {
		return nil, err
	}
	if p.cursor {
		run.ShowHidden()
	}
	if own {
		p.run, p.busy = run, true
	}
	return run, nil
}

// rowCols describes the rows of the statement's run: those of a cursor's query
// have the hidden columns as well.
func (p *plannedStmt) rowCols() []wire.Column {
	if !p.cursor {
		return p.cols
	}
	var out []wire.Column
	for _, c := range p.q.Root.Base().Cols {
		out = append(out, wire.Column{Type: c.T})
	}
	return out
}

// release closes a run; the statement keeps it for the next time if it is its own, and
// made no values so long that its buffers are better given up.
func (p *plannedStmt) release(run *executor.Run) {
	run.Close()
	if p.run != run {
		return
	}
	p.busy = false
	if p.asked != p.grants.Asked() {
		p.dropRun()
	}
}

func (p *plannedStmt) dropRun() { p.run, p.env, p.x = nil, executor.Env{}, expr.Env{} }

// keptRuns are the statements of a session that keep their run, with its buffers and hash
// tables, from one time to the next: those that were used last. A plan is small beside it.
type keptRuns struct {
	of   []*plannedStmt
	hand int
}

const maxKeptRuns = 64

// use notes that a statement runs now. In its stand another one lets go of its run, which
// is not running and has not been used since the hand came by it.
func (k *keptRuns) use(p *plannedStmt) {
	if p.kept {
		p.recent = true
		return
	}
	p.kept = true
	if len(k.of) < maxKeptRuns {
		k.of = append(k.of, p)
		return
	}
	for range 2 * maxKeptRuns {
		at := &k.of[k.hand]
		k.hand = (k.hand + 1) % maxKeptRuns
		if old := *at; old.recent || old.busy {
			old.recent = false
			continue
		}
		(*at).dropRun()
		(*at).kept = false
		*at = p
		return
	}
	p.kept = false // all are running
}

func (s *Session) fillEnv(ctx context.Context, env *executor.Env, x *expr.Env, p *plannedStmt, params []types.Datum) {
	t := s.tx
	*env = executor.Env{
		Ctx: ctx, Txn: t.kv, Tables: s.srv.Tables, Expr: x, Snap: p.snap, DB: s.db, User: s.user,
		WorkMem: s.settings.workMem, TempDir: s.srv.opts.TempDir, MaxParallel: s.srv.opts.MaxParallel, ParallelFrom: s.settings.parallelFrom,
		LockTimeout: s.settings.lockTimeout, ReadCommitted: t.iso == kv.ReadCommitted, Replica: s.settings.replica,
		Tally: &s.tally, CursorRow: s.currentOfFn, TableExprs: s.tableExprsFn, MayCall: s.mayCallFn, Virtual: s.virtualFn, SequenceRow: s.sequenceRowFn, Notice: s.tellFn,
	}
	env.From = s.readsFrom
	if s.portals.hasPlaces() {
		env.Moved = s.noteMovedFn
	}
	if s.seenBefore(p.snap) != nil {
		env.Behind = s.behind
	}
	if env.Mem = &p.mem; env != &p.env {
		env.Mem = new(executor.Memory)
	}
	env.Mem.Limit, env.Mem.Pool, env.Mem.TempLimit = s.srv.opts.MaxStatementMemory, &s.srv.memory, s.settings.tempLimit
	if p.inOrder || s.settings.serial {
		env.MaxParallel = 1
	}
	if !p.q.ReadOnly {
		if t.iso == kv.ReadCommitted && p.rechecks {
			env.Recheck = &p.recheck
		}
		if t.deferred == nil {
			t.deferred = new(executor.DeferredChecks)
		}
		env.Deferred = t.deferred
		if p.late {
			env.LockMember = func(t *catalog.Table) error { return s.lockMember(ctx, p, t) }
		}
	}
	s.fillExpr(ctx, x, params)
	x.ReadsNothing = len(p.q.Tables) == 0
}

// fillExpr makes the environment of expressions. Parameters are copied: slots of
// subplans are appended to them.
func (s *Session) fillExpr(ctx context.Context, x *expr.Env, params []types.Datum) {
	old, subs := x.Params, x.Subs
	*x = expr.Env{Ctx: ctx, Fmt: s.settings.fmt, StmtStart: s.stmtStart, Session: s.infoFn, Room: s.roomFn}
	x.Params = append(old[:0], params...)
	x.CallSQL = s.callSQLFn
	if s.tx != nil {
		x.Fmt, x.TxnStart = s.tx.fmt, s.tx.start
	} else {
		x.TxnStart = s.stmtStart
	}
	if subs == nil {
		subs = new(expr.SubCache)
	}
	subs.Reset()
	x.Subs = subs
}
