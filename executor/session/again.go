package session

import (
	"context"

	"kvsqld/storage/kv"
)

// again runs f, a part of a statement that is no query, and where a query would begin
// again (executor.ErrRetry) undoes what f has written and runs it again on a new snapshot.
func (s *Session) again(ctx context.Context, f func() error) error {
	for {
		mark := s.tx.kv.Savepoint()
		err := f()
		if !isRetry(err) {
			if err == nil {
				s.tx.kv.Release(mark)
			}
			return err
		}
		s.tx.kv.RollbackTo(mark)
		if err := s.readAgain(ctx); err != nil {
			return err
		}
	}
}

// readAgain gives a READ COMMITTED statement that runs again a new snapshot.
func (s *Session) readAgain(ctx context.Context) error {
	s.tx.moves = s.srv.Tables.Moves()
	if s.tx.iso == kv.ReadCommitted {
		s.tx.seen = s.srv.Catalog.Current()
	}
	return s.tx.kv.Refresh(ctx)
}
