package session

import (
	"context"
)

// checkDeferred runs the checks that were put off to the end of the transaction.
func (s *Session) checkDeferred(ctx context.Context) error {
	if s.tx.deferred.Empty() {
		return nil
	}
	if s.tx.iso == 0 {
		if err := s.settlePortals(ctx); err != nil {
			return err
		}
		if err := s.tx.kv.Refresh(ctx); err != nil {
			return err
		}
	}
	return s.again(ctx, func() error { return s.tx.deferred.Check(s.plainEnv(ctx), true) })
}
