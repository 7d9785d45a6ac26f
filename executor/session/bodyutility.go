package session

import (
	"context"
	"errors"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/parser/ast"
	"kvsqld/wire"
)

// Statements in the bodies of functions that the planner does not plan. They run as they
// would in a transaction block, on a newer snapshot: that is why nothing must be reading
// tables meanwhile.

// allowedInBody refuses those that a function can never run, before any other has run.
func allowedInBody(f *catalog.Function, st ast.Stmt) error {
	_, tx := st.(*ast.Transaction)
	switch {
	case tx:
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed in an SQL function", ast.Command(st))
	case f.Volatile != 'v' && !plannable(st):
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed in a non-volatile function", ast.Command(st))
	}
	return nil
}

// utilityInBody runs one of them.
func (s *Session) utilityInBody(ctx context.Context, f *catalog.Function, st ast.Stmt) error {
	what := ast.Command(st)
	if !s.readsNothing {
		return sqlerr.Unsupported(-1, "%s in a function that a statement on tables calls", what)
	}
	if f.Definer && s.user != f.Owner {
		outer := s.user
		s.actAs(f.Owner)
		defer s.actAs(outer)
	}
	_, _, err := s.run(ctx, &call{stmt: st, several: true}, noSink{})
	if e := new(sqlerr.Error); errors.As(err, &e) && e.Code == sqlerr.ActiveSQLTransaction {
		return sqlerr.New(e.Code, "%s cannot be executed from a function", what)
	}
	return err
}

// noSink takes rows that nobody wants.
type noSink struct{}

func (noSink) begin([]wire.Column, *types.FmtOpts) {}
func (noSink) batch(*vec.Batch) error              { return nil }

// bodyMark is where an attempt of a statement began in what the functions that it calls
// may change beside rows.
type bodyMark struct {
	change                    catalog.ChangeMark
	changed                   bool
	settings, notes, restarts int
	moved                     int
}

func (s *Session) markBodies() bodyMark {
	t := s.tx
	m := bodyMark{settings: s.settings.mark(), notes: len(t.notes), restarts: len(t.restarts), moved: len(t.moved)}
	if t.change != nil {
		m.change, m.changed = t.change.Mark(), true
	}
	return m
}

// undoBodies takes back what the attempt did; the rows are taken back already.
func (s *Session) undoBodies(m bodyMark) error {
	t := s.tx
	switch {
	case m.changed:
		t.change.RollbackTo(m.change)
		t.base = nil
	case t.change != nil:
		t.change = nil
	}
	s.dropScratch(t)
	s.rollbackSettings(m.settings)
	t.notes, t.restarts, t.moved = t.notes[:m.notes], t.restarts[:m.restarts], t.moved[:m.moved]
	return s.rebase()
}
