package session

import (
	"context"

	"kvsqld/storage/kv"
)

// checkDeferred runs the checks that were put off to the end of the transaction.
func (s *Session) checkDeferred(ctx context.Context) error {
	if s.tx.deferred.Empty() {
		return nil
	}
	if s.tx.iso == kv.ReadCommitted {
		if err := s.readAgain(ctx); err != nil {
			return err
		}
	}
	return s.again(ctx, func() error { return s.tx.deferred.Check(s.plainEnv(ctx), true) })
}
