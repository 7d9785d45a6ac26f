package session

import (
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/storage/kv"
)

// readView makes a statement of READ COMMITTED that calls volatile functions with bodies,
// and writes and locks nothing itself, read a view until leave is called: each statement of
// such a body has a snapshot of its own then. Who takes a lock in one reads in the next
// what was committed before the lock was free.
func (s *Session) readView(p *plannedStmt) (leave func(), err error) {
	if s.tx.iso != kv.ReadCommitted || p.q.Tag != "CALL" && p.writes() ||
		!slices.ContainsFunc(p.q.Calls, func(f *catalog.Function) bool { return f.Volatile == 'v' }) {
		return func() {}, nil
	}
	v, err := s.tx.kv.View()
	if err != nil {
		return nil, err
	}
	outer := s.readsFrom
	s.readsFrom = v
	return func() { s.readsFrom = outer; v.Close() }, nil
}

// calledOnView reports whether a statement of READ COMMITTED that reads nothing but a view
// calls a function: the transaction's snapshot is nobody else's meanwhile.
func (s *Session) calledOnView(x *expr.Env) bool {
	_, view := x.Reads.(kv.View)
	return view && s.tx.iso == kv.ReadCommitted
}

// callNow runs the body of a function on a new snapshot, and again where a statement would
// (executor.ErrRetry): of a portal itself there are rows that the client has.
func (s *Session) callNow(ctx context.Context, body *routineBody, run func(rowYield) error, yield rowYield) error {
	for {
		if err := s.readAgain(ctx); err != nil {
			return err
		}
		mark, open, bodies := s.tx.kv.Savepoint(), s.tx.lobs.mark(), s.markBodies()
		err := s.keepWhileWriting(body, run, yield)
		if !isRetry(err) {
			s.tx.kv.Release(mark)
			return err
		}
		s.tx.kv.RollbackTo(mark)
		s.tx.lobs.rollbackTo(open)
		if err := s.undoBodies(bodies); err != nil {
			return err
		}
	}
}

// keepWhileWriting is one attempt of callNow. Rows that the next one may have to take back
// are passed on when the body has come to its end.
func (s *Session) keepWhileWriting(body *routineBody, run func(rowYield) error, yield rowYield) error {
	kept := s.rowBuffer()
	defer kept.release()
	err := run(func(b *vec.Batch) (bool, error) {
		if last := body.stmts[len(body.stmts)-1]; last.q.ReadOnly {
			return yield(b)
		}
		return true, kept.batch(b)
	})
	if err != nil {
		return err
	}
	return kept.yield(yield)
}
