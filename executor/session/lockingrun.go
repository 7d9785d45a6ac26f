package session

import (
	"context"
	"maps"

	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// lockingRun is what a portal has beside its run when it locks rows: FOR UPDATE and its
// like. A row is locked as the portal comes to it. Where that meets a row that others have
// changed the query runs again (executor.ErrRetry), as any statement does, and passes over
// what the portal has already: those rows are locked, so that they are still what they were.
type lockingRun struct {
	again  func() error // starts the run anew
	places []plan.Place
	passed map[string]int // rows that came out of the run, by the rows of the tables they are made of
	skip   map[string]int // of those, what the run has to pass over
	left   int64          // number of those
	want   int64          // rows that will be asked for, 0: all
	mem    *executor.Memory
}

// passedBytes is about what a row that came out takes beside its key.
const passedBytes = 64

// locksAsAsked makes a portal lock its rows as they are asked for, if it is one that locks
// rows and may begin again in its midst: calls of functions would be made twice.
func (s *Session) locksAsAsked(ctx context.Context, p *portal) bool {
	x, ok := p.ps.stmt.(*ast.Select)
	if !ok || !p.planned.locks() || s.planNow(ctx, p.planned) != nil {
		return false
	}
	if !p.planned.streamsRows() || len(p.planned.q.Calls) > 0 {
		return false
	}
	pl := p.planned
	if !pl.cursor { // which rows the result is made of
		pl = &plannedStmt{stmt: x, declared: p.planned.q.Params, reading: p.planned.reading, cursor: true}
		if s.planNow(ctx, pl) != nil {
			return false
		}
	}
	if len(pl.q.Places) == 0 {
		return false
	}
	p.planned = pl
	p.locking = &lockingRun{places: pl.q.Places, passed: map[string]int{}, want: 1, again: func() error { return s.runAgain(p) },
		mem: &executor.Memory{Limit: s.srv.opts.MaxStatementMemory, Pool: &s.srv.memory}}
	return true
}

// startLocking starts an attempt of a portal's run, as runOnce does.
func (s *Session) startLocking(ctx context.Context, p *portal) (*executor.Run, error) {
	pl := p.planned
	if p.view == nil {
		if err := s.prepare(ctx, pl, p.params); err != nil {
			return nil, err
		}
		if err := p.open(s); err != nil {
			return nil, err
		}
	} else {
		defer p.enter()()
		if err := s.prepare(ctx, pl, p.params); err != nil {
			return nil, err
		}
	}
	if pl.writesKept() {
		if err := s.writable(pl.command()); err != nil {
			return nil, err
		}
	}
	pl.recheck.Begin(p.moves)
	pl.rechecks = true
	defer func() { pl.rechecks = false }()
	run, err := s.startOn(p)
	if err == nil {
		p.locking.places = pl.q.Places
		p.locking.ask(run)
	}
	return run, err
}

// runAgain is the next attempt of a portal's run, after executor.ErrRetry.
func (s *Session) runAgain(p *portal) error {
	l, pl := p.locking, p.planned
	pl.release(p.run)
	p.run, p.pending = nil, nil
	ctx := p.runCtx.ctx
	err := error(nil)
	if pl.recheck.Again() {
		err = p.renew()
	}
	if err == nil {
		l.skip, l.left = maps.Clone(l.passed), 0
		for _, n := range l.skip {
			l.left += int64(n)
		}
		p.run, err = s.startLocking(ctx, p)
	}
	if err != nil {
		p.runCtx.cancel(nil)
	}
	return err
}

// wants tells how many rows will be asked for, 0: all.
func (p *portalRows) wants(n int64) {
	if p.locking == nil {
		return
	}
	if p.locking.want = n; p.run != nil {
		p.locking.ask(p.run)
	}
}

func (l *lockingRun) ask(run *executor.Run) {
	if l.want == 0 {
		run.Want(0)
		return
	}
	run.Want(l.want + l.left)
}

// nextBatch returns the next rows of the run.
func (p *portalRows) nextBatch() (*vec.Batch, error) {
	for {
		b, err := p.step()
		l := p.locking
		switch {
		case l == nil:
			return b, err
		case isRetry(err):
			if err := l.again(); err != nil {
				return nil, err
			}
			continue
		case b == nil || err != nil:
			return b, err
		}
		if b, err = l.pass(b); err != nil || b.Rows() > 0 {
			return b, err
		}
	}
}

// pass passes over rows that the portal has already, and counts the others.
func (l *lockingRun) pass(b *vec.Batch) (*vec.Batch, error) {
	sel := make([]uint32, 0, b.Rows())
	var id []byte
	for i := range b.Rows() {
		r := b.Row(i)
		id = id[:0]
		for k := range l.places {
			keys := b.Cols[l.places[k].Col]
			if keys.IsNull(r) {
				id = append(id, 0)
				continue
			}
			key := keys.B[keys.Idx(r)]
			id = append(append(id, 1, byte(len(key)>>8), byte(len(key))), key...)
			if l.places[k].Tree != nil {
				oids := b.Cols[l.places[k].OIDCol]
				oid := oids.I64[oids.Idx(r)]
				id = append(id, byte(oid>>24), byte(oid>>16), byte(oid>>8), byte(oid))
			}
		}
		if l.skip[string(id)] > 0 {
			l.skip[string(id)]--
			l.left--
			continue
		}
		if l.passed[string(id)]++; l.passed[string(id)] == 1 {
			if err := l.mem.Grow(int64(len(id)) + passedBytes); err != nil {
				return nil, err
			}
		}
		sel = append(sel, uint32(r))
	}
	return &vec.Batch{Cols: b.Cols, N: b.N, Sel: sel}, nil
}

// end forgets the rows that came out.
func (l *lockingRun) end() {
	if l != nil {
		l.passed, l.skip = nil, nil
		l.mem.Release()
	}
}
